"""Which entities the files of an import named, and in which order: what a relation that gives no type means.

Only names that several entities share are kept; of all others it is enough to know whether a file named them.
"""

from collections.abc import Container, Iterable

from mmem.lookup import Found


class Seen:
    """What the files named in one category."""

    def __init__(self, first: int) -> None:
        """Begin with none; `first` is the least id that this import gives, to entities that were not there."""
        self._first = first
        self._met = bytearray()  # a bit for each entity that was there before
        self._shared: dict[str, list[int]] = {}  # by name, the ids in the order of the files

    def add(self, entities: Iterable[Found], known: dict[str, list[int]], new: Container[int]) -> None:
        """Note entities in the files' order, of which some are new; `known` has the ids of all that share a name."""
        for found in entities:
            ids = known[found.name]
            if len(ids) > 1:
                order = self._shared.setdefault(found.name, [id for id in ids if id not in new and self.is_named(id)])
                if found.id not in order:
                    order.append(found.id)
            elif found.id < self._first:
                self._meet(found.id)

    def order(self, name: str) -> list[int]:
        """Return the ids of entities that share a name, those that a file named, in their order."""
        return self._shared.get(name, [])

    def is_named(self, id: int) -> bool:
        """Tell whether a file named an entity, or made it."""
        if id >= self._first:
            return True
        place = id >> 3
        return place < len(self._met) and bool(self._met[place] >> (id & 7) & 1)

    def _meet(self, id: int) -> None:
        place = id >> 3
        if place >= len(self._met):
            self._met.extend(bytes(place + 1 - len(self._met)))
        self._met[place] |= 1 << (id & 7)

"""Which entities the relations of a seed file go between: the file's own first, then the category's."""

from collections.abc import Iterator

from mmem.errors import Ambiguous, NotFound
from mmem.lookup import Found, entities_by_id, entities_by_name, near_names
from mmem.names import did_you_mean, nearest
from mmem.seeding.graphs import End, Related, Way
from mmem.seeding.joining import Joined, Key
from mmem.transaction import Transaction
from mmem.values import nfc
from mmem.yamltext import fault, place

NEW = 0  # the id of an entity that isn't stored yet
_SUGGESTIONS = 5  # how many missing names get a "did you mean"
_LISTED = 10

_Types = dict[str, Found]


class Ends:
    """Knows the entities of a file and those of a category that it names."""

    def __init__(self, transaction: Transaction, graph: Joined) -> None:
        """Look up everything that the graph could mean, with one query for the names and one for the ids."""
        self._transaction = transaction
        ends = [end for related in graph.relations for way in related.ways for end in (way.source, way.target)]
        names = {entity.name for entity in graph.entities.values()} | {end.name for end in ends}
        names |= {nfc(name) for name in names if not name.isascii()}
        self._stored: dict[str, _Types] = {}
        for found in entities_by_name(transaction, names - {""}):
            self._stored.setdefault(found.name, {})[found.entity_type] = found
        ids = {end.id for end in ends if end.id is not None}
        self._by_id = {found.id: found for found in entities_by_id(transaction, ids)}
        self._own: dict[str, _Types] = {}
        self._own_ends: dict[Key, Found] = {}
        for key, entity in graph.entities.items():
            own = self._of(self._stored, entity.name, entity.entity_type)
            self._own_ends[key] = found = own[0] if own else Found(NEW, *key)
            self._own.setdefault(key[0], {})[key[1]] = found

    def own(self, key: Key) -> Found:
        """Return an entity of the file as it is stored; with the id 0 where it isn't yet."""
        return self._own_ends[key]

    def resolve(self, relations: list[Related]) -> list[tuple[Found, str, Found]]:
        """Return both ends of each relation.

        Raises `NotFound` that names every missing end with its place, `Ambiguous` where several types share a
        name, and `InvalidArguments` for a line that can be read in two ways.
        """
        resolved = []
        missing: list[str] = []
        for related in relations:
            way = self._way(related)
            if way is None:
                missing += self._missing(related, suggest=len(missing) < _SUGGESTIONS)
            else:
                resolved.append((self._one(way.source), nfc(way.relation_type), self._one(way.target)))
        if missing:
            more = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
            raise NotFound(f"{'; '.join(missing[:_LISTED])}{more} (nothing was written)", {"missing": missing})
        return resolved

    def _way(self, related: Related) -> Way | None:
        """Return the way to read a relation in which both ends are known."""
        known = [way for way in related.ways if self._found(way.source) and self._found(way.target)]
        if len(known) > 1:  # a file that is complete in itself means the same beside whatever a category holds
            known = [way for way in known if self._is_own(way.source) and self._is_own(way.target)] or known
        if len(known) > 1:
            first, second = map(_written, known[:2])
            problem = f"this can be read as {first} and as {second}; put names in double quotes, or write a record"
            raise fault(related.mark, problem)
        return known[0] if known else None

    def _found(self, end: End) -> list[Found]:
        """Return the entities that an end can be: one if all is well."""
        if end.id is not None:
            found = self._by_id.get(end.id)
            fits = found is not None and end.name in {"", found.name} and end.entity_type in {None, found.entity_type}
            return [found] if found is not None and fits else []
        return self._of(self._own, end.name, end.entity_type) or self._of(self._stored, end.name, end.entity_type)

    def _is_own(self, end: End) -> bool:
        return end.id is None and bool(self._of(self._own, end.name, end.entity_type))

    @staticmethod
    def _of(known: dict[str, _Types], name: str, entity_type: str | None) -> list[Found]:
        for key in dict.fromkeys((name, nfc(name))):
            types = known.get(key, {})
            for kind in dict.fromkeys((entity_type or "", nfc(entity_type or ""))):
                if kind in types:
                    return [types[kind]]
            if types and entity_type is None:
                return list(types.values())
        return []

    def _one(self, end: End) -> Found:
        found = self._found(end)
        if len(found) > 1:
            types = ", ".join(f"'{one.entity_type}'" for one in found[:_LISTED])
            example = f"'{end.name} ({found[0].entity_type})'"
            message = f"{place(end.mark)}: {len(found)} entities are named {end}, of the types {types}"
            raise Ambiguous(
                f"{message}; give the type in a line as {example}, in a record as {{name, type}}",
                {"place": place(end.mark), "name": end.name, "types": [one.entity_type for one in found]},
            )
        return found[0]

    def _missing(self, related: Related, *, suggest: bool) -> Iterator[str]:
        """Yield a sentence for each end that is missing, in the way to read a relation that comes nearest."""
        way = max(related.ways, key=lambda way: bool(self._found(way.source)) + bool(self._found(way.target)))
        ends = [end for end in (way.source, way.target) if not self._found(end)]
        if len(ends) == 2 and len(related.ways) > 1:
            yield (
                f"{place(related.mark)}: however this line is read, no entities of such names are in the file or in "
                f"category '{self._transaction.category}'; put names in double quotes, or write a record"
            )
            return
        for end in ends:
            where = f"in the file or in category '{self._transaction.category}'"
            yield f"{place(end.mark)}: no entity {end} {where}{self._hint(end) if suggest else ''}"

    def _hint(self, end: End) -> str:
        types = {**self._stored.get(end.name, {}), **self._own.get(end.name, {})}
        if types:
            return "; the name exists with the type " + ", ".join(f"'{kind}'" for kind in list(types)[:_LISTED])
        near = nearest(end.name, list(self._own)) or near_names(self._transaction, end.name)
        return did_you_mean(near)


def _written(way: Way) -> str:
    begin, end = (
        f'"{end.name}"' + ("" if end.entity_type is None else f" ({end.entity_type})")
        for end in (way.source, way.target)
    )
    return f"{begin} {way.relation_type} {end}"

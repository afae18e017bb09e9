"""Results that would be too large for a host: cut where an entity ends, and said.

Claude Desktop, for one, refuses a result of more than 1 MB as a whole.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec
from msgspec import structs

from mmem.outcomes import Notice
from mmem.records import AddedObservations, Entity, Graph, Relation
from mmem.server.answers import Write, size_in_frame

_SHRINK = 0.95
_LARGE = 500  # bytes of a large item: of no more items than would fit if all were large, the size isn't asked first
_TERSEST = 4  # how many times less than JSON a format may take
_TEXTS: dict[type, str] = {Entity: "observations", AddedObservations: "added_observations"}

Owner = Callable[[Sequence[int]], int]  # of a relation's ends on the page: the place of the entity that brings it
first_end: Owner = itemgetter(0)

Fits = Callable[[Any], bool]


class Cut(NamedTuple):
    """A result's text within its limit, and what was left out: of `total` items `kept` are there."""

    text: str
    result: Any
    kept: int
    total: int
    whole: bool  # False where a part of the one item that is kept is missing

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return self.whole and self.kept == self.total


def cut(
    result: object, write: Write, most: int, owner: Owner = min, measure: Callable[[Any], int] | None = None
) -> Cut:
    """Return a result that takes at most so many bytes in a frame.

    `owner` tells with which entity of a graph a relation goes: `first_end` with the one that it comes from, `min`
    with either, `max` where both have to be there. `measure` returns the bytes of one item, for a `write` that
    leaves much out.
    """
    if not isinstance(result, Graph | list):
        return Cut(write(result), result, 0, 0, True)
    whole = _Whole(result, owner)
    raw = len(msgspec.json.encode(result)) if whole.count > most // _LARGE else 0
    if raw <= _TERSEST * most:
        text = write(result)
        if (size := size_in_frame(text)) <= most:
            return Cut(text, result, whole.count, whole.count, True)
        share = most / size
    else:  # to write all of it would take long, for nothing: a part tells how much fits
        share = most / raw
        share *= _SHRINK * most / size_in_frame(write(whole.first(whole.how_many(share, measure or _size))))
    kept = whole.how_many(share, measure or _size)
    while kept > 0:
        part = whole.first(kept)
        text = write(part)
        if (size := size_in_frame(text)) <= most:
            return Cut(text, part, kept, whole.count, True)
        kept = min(kept - 1, max(1, int(kept * most / size * _SHRINK)))
    part, kept = _piece(whole.first(1), lambda part: size_in_frame(write(part)) <= most)
    return Cut(write(part), part, kept, whole.count, False)


class _Whole:
    """A result to be cut: entities with the relations that each brings, or a list."""

    def __init__(self, result: Graph | list[Any], owner: Owner) -> None:
        self._result = result
        self._items: list[Any] = result.entities if isinstance(result, Graph) else result
        self._owner = owner

    @property
    def count(self) -> int:
        return len(self._items)

    def first(self, number: int) -> Graph | list[Any]:
        """Return the first items."""
        if not isinstance(self._result, Graph):
            return self._items[:number]
        relations = [relation for relation, place in self._owned if place < number]
        return Graph(entities=self._items[:number], relations=relations)

    def how_many(self, share: float, measure: Callable[[Any], int]) -> int:
        """Return how many items make up a share of the whole, as far as their sizes tell; at least one."""
        sizes = [measure(item) for item in self._items]
        for relation, place in self._owned:
            sizes[place] += measure(relation)
        most = sum(sizes) * share
        return max(1, sum(1 for size in accumulate(sizes) if size <= most))

    @cached_property
    def _owned(self) -> list[tuple[Relation, int]]:
        """Each relation with the place of the entity that brings it."""
        if not isinstance(self._result, Graph):
            return []
        places = {entity.id: place for place, entity in enumerate(self._items)}
        owned = []
        for relation in self._result.relations:
            ends = [places[id] for id in (relation.from_id, relation.to_id) if id in places]
            owned.append((relation, self._owner(ends)))
        return owned


def _size(item: object) -> int:
    return size_in_frame(msgspec.json.encode(item).decode())


def _piece(first: Graph | list[Any], fits: Fits) -> tuple[Graph | list[Any], int]:
    """Return what fits of an item that is too large on its own, and whether that is 1 or 0 items.

    That is its first observations, then its first relations; nothing where a name and a type are too large already.
    """
    if not isinstance(first, Graph):
        item = _shortened(first[0], lambda item: fits([item]))
        return ([], 0) if item is None else ([item], 1)
    entity = _shortened(first.entities[0], lambda entity: fits(Graph(entities=[entity], relations=[])))
    if entity is None:
        return Graph(entities=[], relations=[]), 0
    relations = first.relations
    return _largest(lambda number: Graph(entities=[entity], relations=relations[:number]), len(relations), fits), 1


def _shortened(item: Any, fits: Fits) -> Any:
    """Return an item with as many of its observations as fit, without properties where these are too large.

    None where nothing of it fits.
    """
    if fits(item):
        return item
    name = _TEXTS.get(type(item))
    every = getattr(item, name) if name else []

    def with_observations(number: int) -> Any:
        return structs.replace(item, **{name: every[:number]}) if name else item

    if not fits(with_observations(0)):
        if not hasattr(item, "properties"):
            return None
        item = structs.replace(item, properties=None)
        if not fits(with_observations(0)):
            return None
    return _largest(with_observations, len(every), fits)


def _largest(make: Callable[[int], Any], count: int, fits: Fits) -> Any:
    """Return what is made of as many of so many things as fit."""
    low, high = 0, 1
    while high <= count and fits(make(high)):
        low, high = high, high * 2
    high = min(high, count + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if fits(make(middle)):
            low = middle
        else:
            high = middle
    return make(low)


def said(part: Cut, hint: str, total: int | None = None, *, at_least: bool = False, **details: object) -> Notice:
    """Return the notice that something was left out of so many items; `hint` says how to get it."""
    known = part.total if total is None else total
    of = f"{'more than ' if at_least else ''}{known:,}"
    if part.whole:
        message = f"these are {part.kept:,} of {of}: more wouldn't fit into one result; {hint}"
    elif part.kept:
        message = f"this is a part of 1 of {of}, which is too large for one result; {hint}"
    else:
        message = f"the one of {of} that comes next is too large for any result and was left out; {hint}"
    return Notice("truncated", message, total=known, returned=part.kept, **details)

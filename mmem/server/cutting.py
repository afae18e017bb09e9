"""Results that would be too large for a host: cut where an entity ends, and said.

Claude Desktop, for one, refuses a result of more than 1 MB as a whole.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import msgspec
from msgspec import structs

from mmem.outcomes import Notice
from mmem.records import AddedObservations, Graph, Relation
from mmem.server.answers import Write, size_in_frame

_FRAME = 64  # bytes around a result's items
_SHRINK = 0.9

Owner = Callable[[Sequence[int]], int]  # of a relation's ends on the page: the place of the entity that brings it


class Cut(NamedTuple):
    """A result's text within its limit, and what was left out: of `total` items `kept` are there."""

    text: str
    result: Any
    kept: int
    total: int
    whole: bool  # False where a part of the one item that is kept is missing


def cut(
    result: object, write: Write, most: int, owner: Owner = min, measure: Callable[[object], int] | None = None
) -> Cut:
    """Return a result that takes at most so many bytes in a frame.

    `owner` tells with which entity of a graph a relation goes: `max` where both ends have to be there. `measure`
    returns the bytes of one item, for a `write` that leaves much out.
    """
    total = _count(result)
    text = write(result)
    if size_in_frame(text) <= most or total == 0:
        return Cut(text, result, total, total, True)
    kept = _how_many(result, most, owner, measure or _size)
    while kept > 0:
        part = _first(result, kept, owner)
        text = write(part)
        if (size := size_in_frame(text)) <= most:
            return Cut(text, part, kept, total, True)
        kept = min(kept - 1, int(kept * most / size * _SHRINK))
    part = _piece(result, write, most, owner)
    return Cut(write(part), part, min(1, total), total, False)


def _count(result: object) -> int:
    if isinstance(result, Graph):
        return len(result.entities)
    return len(result) if isinstance(result, list) else 0


def _how_many(result: object, most: int, owner: Owner, measure: Callable[[object], int]) -> int:
    """Return how many items fit, as far as their sizes tell."""
    sizes = [measure(item) for item in (result.entities if isinstance(result, Graph) else _items(result))]
    if isinstance(result, Graph):
        for relation, place in _owned(result, owner):
            sizes[place] += measure(relation)
    return sum(1 for size in accumulate(sizes) if size + _FRAME <= most)


def _items(result: object) -> list[Any]:
    assert isinstance(result, list)
    return result


def _size(item: object) -> int:
    raw = msgspec.json.encode(item)
    return len(raw) + raw.count(b'"') + raw.count(b"\\") + 1


def _owned(graph: Graph, owner: Owner) -> list[tuple[Relation, int]]:
    """Return each relation with the place of the entity that brings it."""
    places = {entity.id: place for place, entity in enumerate(graph.entities)}
    owned = []
    for relation in graph.relations:
        ends = [places[id] for id in (relation.from_id, relation.to_id) if id in places]
        owned.append((relation, owner(ends)))
    return owned


def _first(result: object, number: int, owner: Owner) -> object:
    """Return the first items of a result."""
    if not isinstance(result, Graph):
        return _items(result)[:number]
    relations = [relation for relation, place in _owned(result, owner) if place < number]
    return Graph(entities=result.entities[:number], relations=relations)


def _piece(result: object, write: Write, most: int, owner: Owner) -> object:
    """Return what fits of the first item, which is too large on its own: its first observations, then relations."""
    first = _first(result, 1, owner)
    if not isinstance(first, Graph):
        return [_shortened(item, write, most) for item in _items(first)]
    entities = [_shortened(entity, write, most) for entity in first.entities]

    def with_relations(number: int) -> Graph:
        return Graph(entities=entities, relations=first.relations[:number])

    return with_relations(_largest(with_relations, len(first.relations), write, most))


def _shortened(item: Any, write: Write, most: int) -> Any:
    """Return an item with as many of its observations as fit, and without properties where these are too large."""
    most -= _FRAME
    if size_in_frame(write([item])) <= most:
        return item
    name = "added_observations" if isinstance(item, AddedObservations) else "observations"
    every = getattr(item, name, [])
    if every and size_in_frame(write([structs.replace(item, **{name: []})])) > most:
        item = structs.replace(item, properties=None)

    def with_observations(number: int) -> Any:
        return structs.replace(item, **{name: every[:number]}) if every else item

    return with_observations(_largest(lambda number: [with_observations(number)], len(every), write, most))


def _largest(make: Callable[[int], object], count: int, write: Write, most: int) -> int:
    """Return up to which number what is made of so many things fits."""
    low, high = 0, 1
    while high <= count and size_in_frame(write(make(high))) <= most:
        low, high = high, high * 2
    high = min(high, count + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if size_in_frame(write(make(middle))) <= most:
            low = middle
        else:
            high = middle
    return low


def said(part: Cut, hint: str, total: int | None = None, *, at_least: bool = False, **details: object) -> Notice:
    """Return the notice that something was left out of so many items; `hint` says how to get it."""
    known = part.total if total is None else total
    of = f"{'more than ' if at_least else ''}{known:,}"
    if part.whole:
        message = f"these are {part.kept:,} of {of}: more wouldn't fit into one result; {hint}"
    else:
        message = f"this is a part of 1 of {of}, which is too large for one result; {hint}"
    return Notice("truncated", message, total=known, returned=part.kept, **details)

"""Entities that go to another category: copied there first, then deleted here, so that a crash loses nothing."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from msgspec import Struct, field

from mmem import semantic
from mmem.arguments import Reference
from mmem.errors import InvalidArguments, MmemError
from mmem.lookup import Found, entities_by_name, near_twins, remember_names
from mmem.named import all_named, shown
from mmem.outcomes import Notice, Outcome
from mmem.records import Named
from mmem.store import Store
from mmem.transaction import Transaction, id_list
from mmem.visible import plural

_LISTED = 5
_TWINS_UP_TO = 20  # moved entities; more are a bulk move


class Moved(Struct, frozen=True, kw_only=True, rename="camel"):
    """What went from a category to another: `{from, to, entities, observations, relations, droppedRelations}`.

    `entities` are there as they are in the other category; the rest are counts.
    """

    source: str = field(name="from")
    target: str = field(name="to")
    entities: list[Named]
    observations: int
    relations: int
    dropped_relations: int

    def __str__(self) -> str:
        counts = [plural(self.observations, "observation"), plural(self.relations, "relation")]
        names = ", ".join(map(str, self.entities[:_LISTED])) + (" ..." if len(self.entities) > _LISTED else "")
        dropped = f"; {plural(self.dropped_relations, 'relation')} to others dropped" if self.dropped_relations else ""
        return f"Moved {names} from category '{self.source}' to '{self.target}', with {' and '.join(counts)}{dropped}"


def move(
    store: Store, category: str | None, named: Sequence[tuple[str, Reference]], to: str, *, drop: bool
) -> Outcome[Moved]:
    """Move entities, with their observations and the relations among them, to another category.

    Both categories are held until the end. The other one is committed first: whoever is cut off in between finds the
    entities in both. Raises `InvalidArguments` where one is there already, and, unless they are to be dropped, where
    relations lead to entities that stay.
    """
    source, target = store.category(category), store.category(to)
    if source == target:
        raise InvalidArguments(f"$.to: the entities are in category '{source}' already", {"path": "$.to"})
    with store.reading(source) as transaction:
        all_named(transaction, named, reading=True)  # else the other category would come to be, and go again
    semantic.model()  # so that no lock is held while it is loaded
    with ExitStack() as all_held:
        all_held.enter_context(store.durable(target))  # or a power failure could undo it, and not what follows
        held = {name: all_held.enter_context(ExitStack()) for name in sorted({source, target})}
        opened = {  # in one order, so that no two wait for each other
            name: held[name].enter_context(store.writing(name, create=name == target and bool(named))) for name in held
        }
        moved = _carried(opened[source], opened[target], named, drop)
        held[target].close()
        try:
            held[source].close()
        except MmemError as error:
            error.message += f"; the entities are in category '{target}' now, and in '{source}' still: delete them here"
            raise
    notices = [*opened[source].notices, *(one for one in opened[target].notices if one.code != "no_such_category")]
    return Outcome(moved, notices)


def _carried(source: Transaction, target: Transaction, named: Sequence[tuple[str, Reference]], drop: bool) -> Moved:
    """Insert what moves into one transaction and delete it in the other."""
    paths: dict[Found, str] = {}
    for found, (path, _) in zip(all_named(source, named), named, strict=True):
        paths.setdefault(found, path)
    _require_absent(target, paths)
    ids = [found.id for found in paths]
    inside, outside = _relations(source, ids)
    if outside and not drop:
        _refuse(source, outside, set(ids))
    new = _insert_entities(source, target, ids)
    observations = _insert_observations(source, target, new)
    first = target.next_id("relations")
    rows = [(id, new[begin], new[end], *rest) for id, (_, begin, end, *rest) in enumerate(inside, first)]
    target.insert("relations", "id, from_entity_id, to_entity_id, relation_type, properties, created_at", rows)
    there = [Found(new[found.id], found.name, found.entity_type) for found in paths]
    remember_names(target, there)
    _say_twins(target, there)
    source.delete("entities", "id", ids)
    return Moved(
        source=source.category,
        target=target.category,
        entities=[Named(id=str(one.id), name=one.name, entity_type=one.entity_type) for one in there],
        observations=observations,
        relations=len(rows),
        dropped_relations=len(outside),
    )


def _require_absent(target: Transaction, paths: dict[Found, str]) -> None:
    there = {(one.name, one.entity_type): one for one in entities_by_name(target, {found.name for found in paths})}
    for found, path in paths.items():
        other = there.get((found.name, found.entity_type))
        if other is not None:
            raise InvalidArguments(
                f"{path}: category '{target.category}' has {shown(found)} already (id {other.id}), and nothing was "
                "moved; rename one of them, or, where a `move` was cut off after it had copied it, delete the one here",
                {"path": path, "id": str(found.id), "otherId": str(other.id)},
            )


def _relations(source: Transaction, ids: Sequence[int]) -> tuple[list[Any], list[Any]]:
    """Return the rows of the relations among the entities, and of those to others."""
    inside: list[Any] = []
    outside: list[Any] = []
    moving = set(ids)
    for row in source.conn.execute(_TOUCHING, (id_list(ids),)):
        (inside if row[1] in moving and row[2] in moving else outside).append(row)
    return inside, outside


def _refuse(source: Transaction, outside: Sequence[Any], moving: set[int]) -> None:
    others = dict.fromkeys(id for row in outside for id in row[1:3] if id not in moving)
    listed = list(others)[:_LISTED]
    names = [name for (name,) in source.conn.execute(_NAMES, (id_list(listed),))]
    quoted = ", ".join(f"'{name}'" for name in names) + (" ..." if len(others) > _LISTED else "")
    raise InvalidArguments(
        f"$: {plural(len(outside), 'relation')} to {quoted} can't go along, since relations stay within a "
        "category; move these as well, or drop the relations with `dropRelations`",
        {"path": "$.entities", "relations": [str(row[0]) for row in outside[:100]], "count": len(outside)},
    )


def _insert_entities(source: Transaction, target: Transaction, ids: Sequence[int]) -> dict[int, int]:
    """Copy the entities; return the new ids by the old ones."""
    first = target.next_id("entities")
    target.defer_index()
    rows = source.conn.execute(_ENTITIES, (id_list(ids),)).fetchall()
    new = {old: id for id, (old, *_) in enumerate(rows, first)}
    columns = "id, name, entity_type, properties, created_at, updated_at"
    target.insert("entities", columns, [(new[old], *rest) for old, *rest in rows])
    return new


def _insert_observations(source: Transaction, target: Transaction, new: dict[int, int]) -> int:
    first = target.next_id("observations")
    rows = [
        (id, new[entity_id], *rest)
        for id, (entity_id, *rest) in enumerate(source.conn.execute(_OBSERVATIONS, (id_list(new),)), first)
    ]
    columns = "id, entity_id, observation_type, content, timestamp, source, properties, created_at"
    target.insert("observations", columns, rows)
    return len(rows)


def _say_twins(target: Transaction, there: Sequence[Found]) -> None:
    if len(there) > _TWINS_UP_TO:
        return
    by_id = {found.id: found for found in there}
    for id, twin in near_twins(target, there).items():
        message = (
            f"{shown(by_id[id])} differs from {shown(twin)} (id {twin.id}) in category '{target.category}' only in "
            "spelling"
        )
        target.notice(Notice("near_twin", message, id=str(id), twinId=str(twin.id), twinName=twin.name))


_TOUCHING = (
    "SELECT r.id, r.from_entity_id, r.to_entity_id, r.relation_type, r.properties, r.created_at FROM ("
    "SELECT r.id FROM json_each(?1) j CROSS JOIN relations r ON r.from_entity_id = j.value "
    "UNION SELECT r.id FROM json_each(?1) j CROSS JOIN relations r ON r.to_entity_id = j.value"
    ") k CROSS JOIN relations r ON r.id = k.id ORDER BY r.id"
)
_NAMES = "SELECT e.name FROM json_each(?) j CROSS JOIN entities e ON e.id = j.value"
_ENTITIES = (
    "SELECT e.id, e.name, e.entity_type, e.properties, e.created_at, e.updated_at FROM json_each(?) j "
    "CROSS JOIN entities e ON e.id = j.value ORDER BY e.id"
)
_OBSERVATIONS = (
    "SELECT o.entity_id, o.observation_type, o.content, o.timestamp, o.source, o.properties, o.created_at "
    "FROM json_each(?) j CROSS JOIN observations o ON o.entity_id = j.value ORDER BY o.id"
)

"""Two entities made one: what the second has goes to the first, and nothing is stored twice or lost unsaid."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct

from mmem import jsontext
from mmem.arguments import EntityInput
from mmem.errors import InvalidArguments
from mmem.importing.given import Text
from mmem.importing.placing import Held
from mmem.lookup import Found
from mmem.named import shown
from mmem.outcomes import Notice
from mmem.reading import Reader
from mmem.records import Entity, Named, Observation, Properties, Relation
from mmem.relations import Key as RelationKey
from mmem.relations import existing
from mmem.transaction import Transaction
from mmem.visible import plural


class Merged(Struct, frozen=True, kw_only=True, rename="camel"):
    """What came to an entity from another, and how much of that it had already.

    `{into, from, observations, relations, properties, foldedObservations, foldedRelations}`; the last five are counts.
    """

    into: Named
    source: Named = msgspec.field(name="from")
    observations: int
    relations: int
    properties: int
    folded_observations: int
    folded_relations: int

    def __str__(self) -> str:
        counts = [
            (self.observations, plural(self.observations, "observation")),
            (self.relations, plural(self.relations, "relation")),
            (self.properties, plural(self.properties, "property", "properties")),
        ]
        moved = ", ".join(text for number, text in counts if number) or "nothing"
        folded = self.folded_observations + self.folded_relations
        there = f"; {plural(folded, 'duplicate')} folded" if folded else ""
        return f"Merged {self.source} into {self.into} (id {self.into.id}): {moved} moved{there}"


@dataclass(slots=True)
class _Moves:
    """Rows to change, and how many needn't be."""

    rows: list[tuple[object, ...]] = field(default_factory=list)
    folded: int = 0


def merge(transaction: Transaction, into: Found, source: Found) -> Merged:
    """Give one entity the observations, relations and properties of another, which is deleted then.

    What both have stays once. Where both have a property with different values, the first one's stays, with a notice.
    Raises `InvalidArguments` where the two are the same.
    """
    if into.id == source.id:
        raise InvalidArguments(f"$.from: this is {shown(into)} (id {into.id}) itself; name two entities")
    kept, gone = Reader(transaction).entities([into.id, source.id])
    observations = _observations(transaction, kept, gone)
    relations = _relations(transaction, into, source)
    new = _joined_properties(transaction, f"'{into.name}'", kept.properties, gone.properties)
    if new != kept.properties:
        _require_fit(into, new)
        text = jsontext.encode(new) if new else None
        transaction.update("entities", ["properties"], [(into.id, text)], extra=", updated_at = unixepoch()")
    transaction.update("observations", ["entity_id", "observation_type"], observations.rows)
    transaction.update("relations", ["from_entity_id", "to_entity_id"], relations.rows)
    transaction.delete("entities", "id", [source.id])
    return Merged(
        into=Named(id=kept.id, name=kept.name, entity_type=kept.entity_type),
        source=Named(id=gone.id, name=gone.name, entity_type=gone.entity_type),
        observations=len(observations.rows),
        relations=len(relations.rows),
        properties=len(new or {}) - len(kept.properties or {}),
        folded_observations=observations.folded,
        folded_relations=relations.folded,
    )


def _require_fit(into: Found, properties: Properties | None) -> None:
    try:
        EntityInput(name="-", properties=properties)
    except ValueError as error:
        raise InvalidArguments(f"$.from: together, the {error}; {shown(into)} and the other were left") from None


def _observations(transaction: Transaction, kept: Entity, gone: Entity) -> _Moves:
    """Return the place that each observation gets on the entity that stays, and say what is lost of the others."""
    held = Held()
    known: dict[str, list[Observation]] = {}
    for one in kept.observations:
        held.hold((one.observation_type, one.source), (one.text, "", _json(one)))
        known.setdefault(one.text, []).append(one)
    moves = _Moves()
    times = []
    for one in gone.observations:
        same = known.setdefault(one.text, [])
        key = held.place(Text(one.text, one.observation_type, one.source, None, _json(one)))
        if key is None:
            moves.folded += 1
            if one.timestamp not in {other.timestamp for other in same}:
                times.append({"id": one.id, "text": one.text, "timestamp": one.timestamp})
            continue
        same.append(one)
        moves.rows.append((int(one.id), int(kept.id), key[0]))
    if times:
        what = "observation had another time" if len(times) == 1 else "observations had other times"
        message = f"{len(times):,} folded {what} than the one that '{kept.name}' keeps"
        transaction.notice(Notice("skipped", message, observations=times))
    return moves


def _json(observation: Observation) -> str:
    return jsontext.encode(observation.properties) if observation.properties else ""


def _relations(transaction: Transaction, into: Found, source: Found) -> _Moves:
    """Return the ends that each relation of the second entity gets, and give those that are there its properties."""

    def moved(relation: Relation) -> RelationKey:
        begin, end = (into.id if id == source.id else id for id in (int(relation.from_id), int(relation.to_id)))
        return begin, end, relation.relation_type

    reader = Reader(transaction)
    touching = [(moved(relation), relation) for relation in reader.relations_touching([source.id])]
    stored = existing(transaction, [key for key, _ in touching]) if touching else {}
    by_id = {int(one.id): one for one in reader.relations(stored.values())}
    holders = {key: by_id[id] for key, id in stored.items()}
    moves = _Moves()
    properties: dict[str, Properties | None] = {}
    for key, relation in touching:
        holder = holders.setdefault(key, relation)
        if holder is relation:
            moves.rows.append((int(relation.id), *key[:2]))
            continue
        moves.folded += 1
        before = properties.get(holder.id, holder.properties)
        whose = f"'{holder.from_name}' {holder.relation_type} '{holder.to_name}'"
        properties[holder.id] = _joined_properties(transaction, whose, before, relation.properties)
    rows = [(int(id), jsontext.encode(new)) for id, new in properties.items() if new]
    if rows:
        transaction.update("relations", ["properties"], rows)
    _say_loops(transaction, into, [relation for key, relation in touching if key[0] == key[1]], source)
    return moves


def _say_loops(transaction: Transaction, into: Found, loops: Sequence[Relation], source: Found) -> None:
    """Say which relations, that went between the two, now go from the one to itself."""
    between = [one for one in loops if one.from_id != one.to_id]
    if between:
        kinds = ", ".join(dict.fromkeys(one.relation_type for one in between))
        what = "a relation" if len(between) == 1 else f"{len(between):,} relations"
        message = f"{what} between {shown(into)} and {shown(source)} ({kinds}) now leads from {shown(into)} to itself"
        transaction.notice(Notice("replaced", message, relations=[one.id for one in between]))


def _joined_properties(
    transaction: Transaction, whose: str, kept: Properties | None, gone: Properties | None
) -> Properties | None:
    """Return the properties of both; where they differ, those of the first, with a notice."""
    for key, value in (gone or {}).items():
        if kept and key in kept and not _same(kept[key], value):
            message = f"the property '{key}' of {whose} stays {_short(kept[key])}; the other value was {_short(value)}"
            transaction.notice(Notice("skipped", message, property=key, kept=kept[key], dropped=value))
    return {**(kept or {}), **{key: value for key, value in (gone or {}).items() if key not in (kept or {})}} or None


def _same(first: object, second: object) -> bool:
    """Tell whether two JSON values are the same; to Python, true would be 1."""
    return msgspec.json.encode(first, order="sorted") == msgspec.json.encode(second, order="sorted")


def _short(value: object) -> str:
    text = jsontext.encode(value)
    return text if len(text) <= 60 else text[:57] + "..."

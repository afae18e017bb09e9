"""A seed file's graph compared with a category: what it lacks, and what is otherwise in it."""

from collections.abc import Mapping

from mmem.arguments import ObservationInput
from mmem.lookup import Found
from mmem.outcomes import Notice
from mmem.reading import Reader
from mmem.records import Entity, Observation, Properties
from mmem.relations import Key as RelationKey
from mmem.relations import existing
from mmem.seeding.changes import (
    ChangedEntity,
    ChangedRelation,
    Changes,
    NewEntity,
    NewRelation,
    PropertyChange,
)
from mmem.seeding.ends import NEW, Ends
from mmem.seeding.graphs import Node, Related
from mmem.seeding.joining import Joined, merged, same_value
from mmem.seeding.matching import matched
from mmem.transaction import Transaction
from mmem.yamltext import Mark, place

_OVERRIDE = "replace it with `override`"


def compare(transaction: Transaction, graph: Joined, *, override: bool) -> Changes:
    """Return what has to change so that a category holds a graph.

    Without `override`, what it lacks is added and what differs is left; with it, the properties and observations of
    the graph's entities, and the properties of its relations, become the graph's. Raises what `Ends.resolve` does.
    """
    changes = Changes(graph.category, notices=list(graph.notices))
    ends = Ends(transaction, graph)
    resolved = ends.resolve(graph.relations)
    stored = {key: found for key in graph.entities if (found := ends.own(key)).id != NEW}
    entities = Reader(transaction).entities([found.id for found in stored.values()])
    by_id = {entity.id: entity for entity in entities}
    for key, node in graph.entities.items():
        if key in stored:
            _compare_entity(changes, node, stored[key], by_id[str(stored[key].id)], override)
        else:
            changes.new.append(NewEntity(node, matched(node.observations, [], override=override).added))
    _compare_relations(transaction, changes, _distinct(changes, graph.relations, resolved), override)
    return changes


def _compare_entity(changes: Changes, node: Node, found: Found, entity: Entity, override: bool) -> None:
    match = matched(node.observations, entity.observations, override=override)
    changed = ChangedEntity(found, added=match.added, removed=match.removed)
    shown = f"'{found.name}'" + (f" ({found.entity_type})" if found.entity_type else "")
    if override:
        changed.replaced = [(before, noted.given) for before, noted in match.differing]
    else:
        for before, noted in match.differing:
            changes.leave(_left(noted.mark, _otherwise(shown, before, noted.given), id=before.id))
    changed.properties = _properties(changes, shown, entity.properties, node.properties, node.mark, override)
    if changed:
        changes.changed.append(changed)


def _otherwise(shown: str, before: Observation, given: ObservationInput) -> str:
    """Return the sentence about an observation that isn't what is given."""
    kind, source = given.key
    where = (f" of type '{kind}'" if kind else "") + (f" from source '{source}'" if source else "")
    if before.text == given.text:
        return f"{shown} has the observation{where} (id {before.id}) with other details, which were left: {_OVERRIDE}"
    return f"{shown} has an observation{where} (id {before.id}) with another text, which was left: {_OVERRIDE}"


def _left(mark: Mark, message: str, **details: object) -> Notice:
    return Notice("skipped", f"{place(mark)}: {message}", place=place(mark), **details)


def _properties(
    changes: Changes, whose: str, stored: Properties | None, given: Properties | None, mark: Mark, override: bool
) -> PropertyChange | None:
    """Return how properties change: with `override` to those given, else by those that are lacking."""
    before, after = stored or {}, given or {}
    if not override:
        for key in after.keys() & before.keys():
            if not same_value(before[key], after[key]):
                changes.leave(
                    _left(mark, f"{whose} has another value in its property '{key}', which was left: {_OVERRIDE}")
                )
        after = {**before, **{key: value for key, value in after.items() if key not in before}}
    return None if same_value(before, after) else PropertyChange(stored, after or None)


def _distinct(
    changes: Changes, relations: list[Related], resolved: list[tuple[Found, str, Found]]
) -> dict[tuple[Found, str, Found], tuple[Properties | None, Mark]]:
    """Return the relations' properties and places, those that are given twice once."""
    distinct: dict[tuple[Found, str, Found], tuple[Properties | None, Mark]] = {}
    for related, key in zip(relations, resolved, strict=True):
        if key in distinct:
            properties, mark = distinct[key]
            distinct[key] = merged(properties, related.properties, mark, related.mark), mark
            message = f"'{key[0].name}' {key[1]} '{key[2].name}' stands in {place(mark)} already"
            changes.notices.append(_left(related.mark, message))
        else:
            distinct[key] = related.properties, related.mark
    return distinct


def _compare_relations(
    transaction: Transaction,
    changes: Changes,
    relations: Mapping[tuple[Found, str, Found], tuple[Properties | None, Mark]],
    override: bool,
) -> None:
    keys: list[RelationKey] = [
        (source.id, target.id, kind) for source, kind, target in relations if source.id and target.id
    ]
    ids = existing(transaction, keys) if keys else {}
    stored = {int(one.id): one.properties for one in Reader(transaction).relations(ids.values())} if ids else {}
    for (source, kind, target), (properties, mark) in relations.items():
        relation = NewRelation(source, kind, target, properties)
        id = ids.get((source.id, target.id, kind))
        if id is None:
            changes.relations.append(relation)
            continue
        whose = f"'{source.name}' {kind} '{target.name}'"
        change = _properties(changes, whose, stored[id], properties, mark, override)
        if change is not None:
            changes.changed_relations.append(ChangedRelation(id, relation, change))

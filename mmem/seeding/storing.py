"""Changes written to a category, with a statement for many rows of a kind."""

from typing import Any

from mmem import jsontext
from mmem.arguments import EntityInput
from mmem.observations import Writer
from mmem.outcomes import Notice
from mmem.records import Properties
from mmem.registry import carry_out, tool
from mmem.relations import COLUMNS
from mmem.seeding.changes import Changes, NewEntity
from mmem.seeding.joining import Key
from mmem.store import Store
from mmem.timestamps import now
from mmem.transaction import Transaction
from mmem.yamltext import place


def write(store: Store, transaction: Transaction, changes: Changes) -> list[Notice]:
    """Carry out changes in a transaction on their category; return what there is to say of new names."""
    moment = now()
    _remove(transaction, changes)
    _replace(transaction, changes, moment)
    _set_properties(transaction, changes)
    ids, notices = _create(store, changes) if changes.new else ({}, [])
    _observe(transaction, changes, ids, moment)
    _relate(transaction, changes, ids)
    return notices


def _remove(transaction: Transaction, changes: Changes) -> None:
    transaction.delete("observations", "id", [int(one.id) for entity in changes.changed for one in entity.removed])


def _replace(transaction: Transaction, changes: Changes, moment: str) -> None:
    rows = []
    for entity in changes.changed:
        for before, given in entity.replaced:
            kept = before.timestamp if before.text == given.text else moment
            timestamp = given.timestamp or kept
            rows.append((int(before.id), given.text, timestamp, _text(given.properties)))
    if rows:
        transaction.update("observations", ["content", "timestamp", "properties"], rows)


def _set_properties(transaction: Transaction, changes: Changes) -> None:
    entities = [(one.found.id, _text(one.properties.after)) for one in changes.changed if one.properties]
    if entities:
        transaction.update("entities", ["properties"], entities, extra=", updated_at = unixepoch()")
    relations = [(one.id, _text(one.properties.after)) for one in changes.changed_relations]
    if relations:
        transaction.update("relations", ["properties"], relations)


def _create(store: Store, changes: Changes) -> tuple[dict[Key, int], list[Notice]]:
    """Create entities, whose observations come later; return their ids by name and type."""
    found = tool("create_entities")
    make: Any = found.request
    request = make(category=changes.category, entities=[_input(one) for one in changes.new])
    outcome = carry_out(store, found, request)
    ids = {one.node.key: int(made.id) for one, made in zip(changes.new, outcome.result, strict=True)}
    return ids, [_placed(notice, changes.new) for notice in outcome.notices if notice.code != "no_such_category"]


def _input(one: NewEntity) -> EntityInput:
    node = one.node
    return EntityInput(name=node.name, entity_type=node.entity_type or None, properties=node.properties)


def _placed(notice: Notice, new: list[NewEntity]) -> Notice:
    """Return a notice about an entity of a request with the entity's place in its file."""
    path = notice.details.get("path")
    if not isinstance(path, str):
        return notice
    at = place(new[int(path.removeprefix("$.entities[").removesuffix("]"))].node.mark)
    details = {key: value for key, value in notice.details.items() if key != "path"}
    return Notice(notice.code, at + notice.message.removeprefix(path), place=at, **details)


def _observe(transaction: Transaction, changes: Changes, ids: dict[Key, int], moment: str) -> None:
    writer = Writer(transaction, moment, override=False)
    given = [(one.found.id, one.added) for one in changes.changed]
    given += [(ids[one.node.key], one.observations) for one in changes.new]
    for entity_id, observations in given:
        for observation in observations:
            writer.place_only(entity_id, observation)
    if writer.inserted > 1:
        transaction.defer_index()
    writer.store()


def _relate(transaction: Transaction, changes: Changes, ids: dict[Key, int]) -> None:
    first = transaction.next_id("relations")
    rows = []
    for id, (source, kind, target, properties) in enumerate(changes.relations, first):
        begin, end = (one.id or ids[one.name, one.entity_type] for one in (source, target))
        rows.append((id, begin, end, kind, _text(properties)))
    transaction.insert("relations", COLUMNS, rows)


def _text(properties: Properties | None) -> str | None:
    return jsontext.encode(properties) if properties else None

"""Relations in SQL: which ones exist, and the statements that store and find them."""

from collections.abc import Iterable, Sequence

import msgspec

from mmem.transaction import Transaction

Key = tuple[int, int, str]  # the ends' ids and the relationType: unique in a category

COLUMNS = "id, from_entity_id, to_entity_id, relation_type, properties"


def existing(transaction: Transaction, keys: Sequence[Key]) -> dict[Key, int]:
    """Return the ids of those relations that exist already."""
    if len(keys) == 1:
        where = "r.from_entity_id = ? AND r.to_entity_id = ? AND r.relation_type = ?"
        rows = transaction.conn.execute(f"SELECT {_KEY}, r.id FROM relations r WHERE {where}", keys[0])
    else:
        rows = transaction.conn.execute(
            f"SELECT {_KEY}, r.id FROM json_each(?) j CROSS JOIN relations r ON r.from_entity_id = j.value ->> 0 "
            "AND r.to_entity_id = j.value ->> 1 AND r.relation_type = j.value ->> 2",
            (msgspec.json.encode(keys).decode(),),
        )
    return {(source, target, kind): id for source, target, kind, id in rows}


def between(transaction: Transaction, pairs: Iterable[tuple[int, int]]) -> dict[tuple[int, int], list[str]]:
    """Return the types of the relations between each pair of entities, for messages."""
    rows = transaction.conn.execute(
        "SELECT r.from_entity_id, r.to_entity_id, r.relation_type FROM json_each(?) j CROSS JOIN relations r "
        "ON r.from_entity_id = j.value ->> 0 AND r.to_entity_id = j.value ->> 1 ORDER BY r.id",
        (msgspec.json.encode(list(pairs)).decode(),),
    )
    types: dict[tuple[int, int], list[str]] = {}
    for source, target, kind in rows:
        types.setdefault((source, target), []).append(kind)
    return types


_KEY = "r.from_entity_id, r.to_entity_id, r.relation_type"

"""A category in figures: how much it holds, of which types, what stands out, and how large its file is."""

import os
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from mmem.files import path_of
from mmem.outcomes import Outcome
from mmem.store import Store
from mmem.transaction import Transaction


class Held(Struct, frozen=True, kw_only=True, rename="camel"):
    """How much a category holds: `{category, entities, observations, relations, bytes, changed}`.

    The bytes are those of the file and its log, and the file was changed last at that moment; both are None
    where there is none.
    """

    category: str
    entities: int
    observations: int
    relations: int
    bytes: int | None
    changed: str | None


class OfType(Struct, frozen=True):
    """A type and how many have it: `{type, count}`."""

    type: str
    count: int


class Counted(Struct, frozen=True, kw_only=True, rename="camel"):
    """An entity and how many relations or observations it has: `{id, name, entityType, count}`."""

    id: str
    name: str
    entity_type: str
    count: int


class Dated(Struct, frozen=True, kw_only=True, rename="camel"):
    """An entity and when it was stored, where the file tells: `{id, name, entityType, created}`."""

    id: str
    name: str
    entity_type: str
    created: str | None


class Types(Struct, frozen=True):
    """How many different types there are: `{entities, relations, observations}`."""

    entities: int
    relations: int
    observations: int


class Statistics(Struct, frozen=True, kw_only=True, rename="camel"):
    """A category in figures; each list holds as many as were asked for at most."""

    category: str
    file: str
    bytes: int | None
    log_bytes: int | None
    changed: str | None
    entities: int
    observations: int
    relations: int
    types: Types
    entity_types: list[OfType]
    relation_types: list[OfType]
    observation_types: list[OfType]
    most_connected: list[Counted]
    most_observations: list[Counted]
    newest: list[Dated]
    oldest: list[Dated]


def held(store: Store, category: str) -> Outcome[Held]:
    """Return how much a category holds, by three counts; nothing, with a notice, where it doesn't exist."""
    with store.reading(category) as transaction:
        entities, observations, relations = _counts(transaction)
    database, log, changed = _file(store, category)
    size = None if database is None else database + (log or 0)
    result = Held(
        category=category,
        entities=entities,
        observations=observations,
        relations=relations,
        bytes=size,
        changed=changed,
    )
    return Outcome(result, transaction.notices)


def statistics(store: Store, category: str, most: int) -> Outcome[Statistics]:
    """Return a category in figures, `most` rows of each list, all of one state of it."""
    with store.reading(category) as transaction:
        entities, observations, relations = _counts(transaction)
        entity_types = _by_type(transaction, _ENTITY_TYPES)
        relation_types = _by_type(transaction, _RELATION_TYPES)
        observation_types = _by_type(transaction, _OBSERVATION_TYPES)
        connected = _counted(transaction, _CONNECTED, most)
        observed = _counted(transaction, _OBSERVED, most)
        newest, oldest = (_dated(transaction, order, most) for order in ("DESC", "ASC"))
    database, log, changed = _file(store, category)
    result = Statistics(
        category=category,
        file=path_of(store.base_dir, category),
        bytes=database,
        log_bytes=log,
        changed=changed,
        entities=entities,
        observations=observations,
        relations=relations,
        types=Types(len(entity_types), len(relation_types), len(observation_types)),
        entity_types=entity_types[:most],
        relation_types=relation_types[:most],
        observation_types=observation_types[:most],
        most_connected=connected,
        most_observations=observed,
        newest=newest,
        oldest=oldest,
    )
    return Outcome(result, transaction.notices)


def _counts(transaction: Transaction) -> tuple[int, int, int]:
    entities, observations, relations = transaction.conn.execute(_COUNTS).fetchone()
    return entities, observations, relations


def _by_type(transaction: Transaction, statement: str) -> list[OfType]:
    return [OfType(kind, count) for kind, count in transaction.conn.execute(statement)]


def _counted(transaction: Transaction, statement: str, most: int) -> list[Counted]:
    return [
        Counted(id=str(id), name=name, entity_type=kind, count=count)
        for id, name, kind, count in transaction.conn.execute(statement, (most,))
    ]


def _dated(transaction: Transaction, order: str, most: int) -> list[Dated]:
    """Return the entities that were stored last or first: ids ascend and are never given twice."""
    columns = {row[1] for row in transaction.conn.execute("PRAGMA table_info(entities)")}
    created = "created_at" if "created_at" in columns else "NULL"  # a predecessor's old files have none
    statement = f"SELECT id, name, entity_type, {created} FROM entities ORDER BY id {order} LIMIT ?"
    return [
        Dated(id=str(id), name=name, entity_type=kind, created=_moment(seconds, "seconds"))
        for id, name, kind, seconds in transaction.conn.execute(statement, (most,))
    ]


def _moment(seconds: Any, timespec: str = "milliseconds") -> str | None:
    """Return seconds since 1970 as a timestamp; None for whatever else another program stored there."""
    if not isinstance(seconds, int | float):
        return None
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return moment.isoformat(timespec=timespec).replace("+00:00", "Z")


def _file(store: Store, category: str) -> tuple[int | None, int | None, str | None]:
    """Return the bytes of a category's file and of its log, and when one of them was changed last."""
    path = path_of(store.base_dir, category)
    try:
        database = os.stat(path)
    except OSError:
        return None, None, None
    try:
        log = os.stat(path + "-wal")
    except OSError:
        return database.st_size, 0, _moment(database.st_mtime)
    changed = max(database.st_mtime, log.st_mtime) if log.st_size else database.st_mtime
    return database.st_size, log.st_size, _moment(changed)


_COUNTS = (
    "SELECT (SELECT count(*) FROM entities), (SELECT count(*) FROM observations), (SELECT count(*) FROM relations)"
)
_ENTITY_TYPES = "SELECT entity_type, count(*) AS n FROM entities GROUP BY entity_type ORDER BY n DESC, entity_type"
_RELATION_TYPES = (
    "SELECT relation_type, count(*) AS n FROM relations GROUP BY relation_type ORDER BY n DESC, relation_type"
)
_OBSERVATION_TYPES = (
    "SELECT observation_type, count(*) AS n FROM observations "
    "GROUP BY observation_type ORDER BY n DESC, observation_type"
)
# Each half is counted along its own index; a relation from an entity to itself is one relation, so it is taken off.
_CONNECTED = (
    "WITH half(id, n) AS (SELECT from_entity_id, count(*) FROM relations GROUP BY from_entity_id "
    "UNION ALL SELECT to_entity_id, count(*) FROM relations GROUP BY to_entity_id "
    "UNION ALL SELECT from_entity_id, -count(*) FROM relations WHERE from_entity_id = to_entity_id "
    "GROUP BY from_entity_id), whole(id, n) AS (SELECT id, sum(n) FROM half GROUP BY id) "
    "SELECT e.id, e.name, e.entity_type, w.n FROM whole w JOIN entities e ON e.id = w.id "
    "ORDER BY w.n DESC, e.id LIMIT ?"
)
_OBSERVED = (
    "WITH whole(id, n) AS (SELECT entity_id, count(*) FROM observations GROUP BY entity_id) "
    "SELECT e.id, e.name, e.entity_type, w.n FROM whole w JOIN entities e ON e.id = w.id "
    "ORDER BY w.n DESC, e.id LIMIT ?"
)

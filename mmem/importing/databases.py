"""The records of a multi-memory-mcp database, or of one of our own, read without changing the user's files."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import msgspec

from mmem.errors import Storage
from mmem.files import COLUMNS
from mmem.importing.fields import require_length, stored
from mmem.importing.given import Aside, EntityRecord, RelationRecord, Text
from mmem.importing.pieces import Piece
from mmem.importing.records import Found
from mmem.importing.sources import Source
from mmem.timestamps import is_timestamp
from mmem.values import nfc, text_fault

_WAL = 2  # in byte 18 of a file whose changes go to a log (see SQLite's file format, 1.3.3)


class NoMemory(Storage):
    """A database of something else."""


def rows_of(source: Source) -> Iterator[Found]:
    """Yield a database's entities, then its relations. Raises `Storage` for what isn't a memory."""
    with ExitStack() as stack:
        conn = _opened(source, stack)
        try:
            _require_memory(conn, source)
            yield from _entities(conn)
            yield from _relations(conn)
        except sqlite3.DatabaseError as error:
            raise Storage(f"{source.name} is damaged ({error})", {"path": source.path}) from None


def _opened(source: Source, stack: ExitStack) -> sqlite3.Connection:
    """Open a database that is in use where it is, or else a copy of it with its log: SQLite would change that."""
    if not source.path:
        raise Storage("a database can't come from standard input; name the file")
    path = source.path
    if not os.path.exists(path + "-shm"):
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        path = os.path.join(folder, "copy.db")
        for ending in ("", "-wal", "-journal"):
            if os.path.exists(source.path + ending):
                shutil.copyfile(source.path + ending, path + ending)
    mode = "rw" if path != source.path else "ro"
    try:
        conn = sqlite3.connect(f"{_uri(path)}?mode={mode}", uri=True, isolation_level=None)
        stack.enter_context(closing(conn))
        conn.execute("BEGIN")
        conn.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.DatabaseError as error:
        raise Storage(f"{source.name} can't be read as a database ({error})", {"path": source.path}) from None
    return conn


def _uri(path: str) -> str:
    from pathlib import Path

    return Path(os.path.abspath(path)).as_uri()


def _require_memory(conn: sqlite3.Connection, source: Source) -> None:
    tables = sorted(name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))
    if not tables and _wants_log(source.path) and not os.path.exists(source.path + "-wal"):
        raise Storage(
            f"{source.name} is an empty shell: what was stored is in the file {os.path.basename(source.path)}-wal, "
            "which isn't beside it; copy both",
            {"path": source.path},
        )
    for table, needed in COLUMNS.items():
        if table not in tables or not needed <= {row[1] for row in conn.execute(f"PRAGMA table_info({table})")}:
            own = ", ".join(name for name in tables if not name.startswith("sqlite_"))[:200] or "none"
            raise NoMemory(
                f"{source.name} is a database, but no memory of multi-memory-mcp or mmem (its tables: {own})",
                {"path": source.path, "tables": tables},
            )


def _wants_log(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(19)[18:] == bytes([_WAL])


def _column(conn: sqlite3.Connection, table: str) -> str:
    has = any(row[1] == "properties" for row in conn.execute(f"PRAGMA table_info({table})"))
    return "properties" if has else "NULL"


def _entities(conn: sqlite3.Connection) -> Iterator[Found]:
    observed = conn.execute(
        "SELECT entity_id, id, observation_type, content, timestamp, source, "
        f"{_column(conn, 'observations')} FROM observations WHERE typeof(entity_id) = 'integer' ORDER BY entity_id, id"
    )
    pending = next(observed, None)
    rows = conn.execute(f"SELECT id, name, entity_type, {_column(conn, 'entities')} FROM entities ORDER BY id")
    for id, name, kind, properties in rows:
        texts: list[tuple[Any, ...]] = []
        while pending is not None and pending[0] <= id:
            if pending[0] == id:
                texts.append(pending[1:])
            else:
                yield _lost(pending)
            pending = next(observed, None)
        repairs: list[str] = []
        yield _found(lambda: _entity(id, name, kind, properties, texts, repairs), (name, kind, texts), id, repairs)  # noqa: B023
    while pending is not None:
        yield _lost(pending)
        pending = next(observed, None)
    for row in conn.execute("SELECT entity_id, id, content FROM observations WHERE typeof(entity_id) <> 'integer'"):
        yield _lost(row)


def _found(make: Any, shown: object, id: int, repairs: list[str]) -> Found:
    try:
        return Found(Piece(b"", id, 0), make(), repairs)
    except Aside as error:
        return Found(Piece(_told(shown), id, 0), fault=str(error))


def _told(row: object) -> bytes:
    return msgspec.json.encode(row, enc_hook=repr)


def _lost(row: tuple[Any, ...]) -> Found:
    return Found(Piece(_told(row), row[1], 0), fault=f"an observation of an entity that isn't there (id {row[0]})")


def _entity(
    id: int, name: Any, kind: Any, properties: Any, texts: list[tuple[Any, ...]], repairs: list[str]
) -> EntityRecord:
    observations = []
    for text_id, text_kind, text, timestamp, text_source, own in texts:
        _require_texts(text=text, observationType=text_kind, source=text_source)
        require_length(text)
        kept = _properties(own)
        if timestamp and not (isinstance(timestamp, str) and is_timestamp(timestamp)):
            kept, timestamp = {**kept, "timestamp": timestamp if isinstance(timestamp, str) else repr(timestamp)}, None
            repairs.append("a timestamp that isn't ISO 8601 became a property")
        encoded = msgspec.json.encode(kept).decode() if kept else None
        observations.append(Text(text, nfc(text_kind), text_source, timestamp or None, encoded, text_id))
    _require_texts(name=name, entityType=kind)
    key = stored(name, "name"), stored(kind, "entityType", empty=True)
    return EntityRecord(*key, observations, _properties(properties), id)


def _relations(conn: sqlite3.Connection) -> Iterator[Found]:
    rows = conn.execute(
        "SELECT r.id, f.name, f.entity_type, t.name, t.entity_type, r.relation_type, "
        f"r.{_column(conn, 'relations')} FROM relations r LEFT JOIN entities f ON f.id = r.from_entity_id "
        "LEFT JOIN entities t ON t.id = r.to_entity_id ORDER BY r.id".replace("r.NULL", "NULL")
    )
    for row in rows:
        yield _found(lambda: _relation(*row), row, row[0], [])  # noqa: B023


def _relation(id: int, source: Any, kind: Any, target: Any, target_kind: Any, name: Any, own: Any) -> RelationRecord:
    if source is None or target is None:
        raise Aside("a relation to an entity that isn't there")
    _require_texts(**{"from": source, "fromType": kind, "to": target, "toType": target_kind, "relationType": name})
    ends = stored(source, "from"), nfc(kind), stored(target, "to"), nfc(target_kind)
    return RelationRecord(*ends, stored(name, "relationType"), _properties(own), id)


def _require_texts(**given: object) -> None:
    for label, value in given.items():
        if not isinstance(value, str):
            raise Aside(f'"{label}" is no text')
        if fault := text_fault(value):
            raise Aside(f'"{label}": {fault}')


def _properties(text: Any) -> dict[str, Any]:
    """Return stored properties; what isn't a JSON object is kept under a key, as every reading shows it."""
    if not text:
        return {}
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, TypeError):
        value = text if isinstance(text, str) else repr(text)
    return value if isinstance(value, dict) else {"_value": value}

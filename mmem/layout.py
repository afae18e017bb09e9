"""What a category file is: ours, a predecessor's, of a newer schema, or something else."""

import sqlite3
from typing import NamedTuple

from mmem import schema
from mmem.errors import Storage

_NEEDED = {
    "entities": {"id", "name", "entity_type"},
    "observations": {"id", "entity_id", "observation_type", "content", "timestamp", "source"},
    "relations": {"id", "from_entity_id", "to_entity_id", "relation_type"},
}


class Layout(NamedTuple):
    """How to read a file: whether the index is ours, whether there is one, whether rows have properties."""

    own: bool
    full_text: bool
    properties: bool


OWN = Layout(own=True, full_text=True, properties=True)


def inspect(conn: sqlite3.Connection, path: str) -> Layout:
    """Return the file's layout without changing it.

    Raises `Storage` where it isn't a memory database or has a newer schema than this program knows.
    """
    objects = {name: (kind, sql) for kind, name, sql in conn.execute("SELECT type, name, sql FROM sqlite_master")}
    _require_memory(conn, path, {name for name, (kind, _) in objects.items() if kind == "table"})
    version = _version(conn, "schema_version" in objects)
    if version > schema.SCHEMA_VERSION:
        raise Storage(
            f"{path} was made by a newer program (schema {version}; this one knows {schema.SCHEMA_VERSION}); "
            "it was left as it is: upgrade mmem",
            {"path": path, "schemaVersion": version, "known": schema.SCHEMA_VERSION},
        )
    foreign = any(
        kind == "trigger" and name.startswith("fts_") and name not in schema.OWN_OBJECTS
        for name, (kind, _) in objects.items()
    )
    same = all(objects.get(name, ("", ""))[1] == sql for name, sql in schema.OWN_OBJECTS.items())
    if same and not foreign and version == schema.SCHEMA_VERSION:
        return OWN
    return Layout(
        own=False,
        full_text="fts_content" in objects and "fts_map" in objects,
        properties=all(_has_properties(conn, table) for table in _NEEDED),
    )


def _columns(conn: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in conn.execute(f"PRAGMA table_info({table})")}


def _has_properties(conn: sqlite3.Connection, table: str) -> bool:
    return "properties" in _columns(conn, table)


def _require_memory(conn: sqlite3.Connection, path: str, tables: set[str]) -> None:
    for table, needed in _NEEDED.items():
        if table not in tables or not needed <= _columns(conn, table):
            own = ", ".join(sorted(name for name in tables if not name.startswith("sqlite_"))[:8])
            raise Storage(
                f"{path} is a database but not a memory (its tables: {own or 'none'}); it was left as it is: "
                "move it out of the base directory",
                {"path": path, "tables": sorted(tables)},
            )


def _version(conn: sqlite3.Connection, recorded: bool) -> int:
    version: int = conn.execute("PRAGMA user_version").fetchone()[0]  # a later mmem may mark its files here
    if version == 0 and recorded:
        version = conn.execute("SELECT COALESCE(max(version), 0) FROM schema_version").fetchone()[0]
        return int(version)
    return max(version, schema.SCHEMA_VERSION + 1) if version else 0

"""What a category file is: ours, a predecessor's, of a newer schema, or something else."""

import sqlite3
from typing import NamedTuple

from mmem import schema
from mmem.errors import Storage
from mmem.files import COLUMNS


class Layout(NamedTuple):
    """How to read a file: whether the index is ours, whether there is one, whether rows have properties."""

    own: bool
    full_text: bool
    properties: bool
    broken: bool = False  # ours, but parts of the index are missing


_MARKS = {"mmem_names", "fts_observation_insert"}  # what tells a file of ours of which something is missing
OWN = Layout(own=True, full_text=True, properties=True)
PLAIN = Layout(own=True, full_text=False, properties=True)  # ours, where SQLite was built without FTS5


def own_layout(conn: sqlite3.Connection) -> Layout:
    """Return how our files are with this Python's SQLite."""
    return OWN if schema.has_full_text(conn) else PLAIN


def inspect(conn: sqlite3.Connection, path: str) -> Layout:
    """Return the file's layout without changing it.

    Raises `Storage` where it isn't a memory database or has a newer schema than this program knows.
    """
    objects = {name: (kind, sql) for kind, name, sql in conn.execute("SELECT type, name, sql FROM sqlite_master")}
    _require_memory(conn, path, {name for name, (kind, _) in objects.items() if kind == "table"})
    version = _version(conn) if "schema_version" in objects else 0
    require_known(conn, path, version)
    best = own_layout(conn)
    ours = schema.OWN_OBJECTS if best.full_text else schema.PLAIN_OBJECTS
    foreign = any(
        kind == "trigger" and name.startswith("fts_") and name not in ours for name, (kind, _) in objects.items()
    )
    same = all(objects.get(name, ("", ""))[1] == sql for name, sql in ours.items())
    if same and not foreign and version == schema.SCHEMA_VERSION:
        return best
    present = {name for name in ours if name in objects}
    intact = all(objects[name][1] == ours[name] for name in present)
    if intact and not foreign and present >= _MARKS and version == schema.SCHEMA_VERSION:
        return Layout(own=False, full_text=False, properties=True, broken=True)
    has_index = isinstance(version, int) and version >= 2 and {"fts_content", "fts_map"} <= objects.keys()
    return Layout(
        own=False,
        full_text=best.full_text and has_index,
        properties=all(_has_properties(conn, table) for table in COLUMNS),
    )


def _columns(conn: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in conn.execute(f"PRAGMA table_info({table})")}


def _has_properties(conn: sqlite3.Connection, table: str) -> bool:
    return "properties" in _columns(conn, table)


def _require_memory(conn: sqlite3.Connection, path: str, tables: set[str]) -> None:
    for table, needed in COLUMNS.items():
        if table not in tables or not needed <= _columns(conn, table):
            own = ", ".join(sorted(name for name in tables if not name.startswith("sqlite_"))[:8])
            raise Storage(
                f"{path} is a database but not a memory (its tables: {own or 'none'}); it was left as it is: "
                "move it out of the base directory",
                {"path": path, "tables": sorted(tables)},
            )


def state(conn: sqlite3.Connection, path: str) -> int:
    """Return SQLite's counter of changes to the schema. Raises `Storage` once a newer program took the file over."""
    cookie: int = conn.execute("PRAGMA schema_version").fetchone()[0]
    require_known(conn, path, _version(conn))
    return cookie


def _version(conn: sqlite3.Connection) -> object:
    """Return the newest schema version that the file records, as multi-memory-mcp does."""
    try:
        return conn.execute("SELECT max(version) FROM schema_version").fetchone()[0] or 0
    except sqlite3.OperationalError as error:
        if "no such" in str(error):
            return "unknown"
        raise


def require_known(conn: sqlite3.Connection, path: str, version: object) -> None:
    """Raise `Storage` for a schema version that this program doesn't know."""
    marked: int = conn.execute("PRAGMA user_version").fetchone()[0]  # a later mmem may mark its files here
    if not isinstance(version, int) or version > schema.SCHEMA_VERSION or marked:
        found = marked or version
        raise Storage(
            f"{path} was made by a newer program (schema {found}; this one knows {schema.SCHEMA_VERSION}); "
            "it was left as it is: upgrade mmem",
            {"path": path, "schemaVersion": found, "known": schema.SCHEMA_VERSION},
        )

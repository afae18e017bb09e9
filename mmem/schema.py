"""The tables and the full-text index of a category file: created and migrated here, nowhere else.

The tables are multi-memory-mcp's, and so is the contract around the index: that program reads
`fts_content MATCH ...` joined to `fts_map(fts_rowid, entity_id)` and never looks at what these are. Ours is an
external-content index over a view, so that no text is stored twice, and `fts_map` is a view over FTS5's own
docsize table. Its row numbers ascend with every batch (entities below, observations above), because FTS5
writes a new segment whenever they don't.
"""

import sqlite3
from collections.abc import Iterable

SCHEMA_VERSION = 3  # multi-memory-mcp refuses to search a file without this row in schema_version
GATE = -1  # stands in schema_version only inside a transaction that indexes its new rows by itself
UNKNOWN_KEY = " "  # stands in mmem_names for a name that another program changed; no twin key has a space
ENTITY_ROWS = 1 << 40  # an entity's row in the index is its id minus this; an observation's is its id

TABLES = {
    "entities": """CREATE TABLE entities (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  properties TEXT,
  created_at INTEGER DEFAULT (unixepoch()),
  updated_at INTEGER DEFAULT (unixepoch()),
  UNIQUE(name, entity_type)
)""",
    "observations": """CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  entity_id INTEGER NOT NULL,
  observation_type TEXT NOT NULL DEFAULT '',
  content TEXT NOT NULL,
  timestamp TEXT,
  source TEXT NOT NULL DEFAULT '',
  properties TEXT,
  created_at INTEGER DEFAULT (unixepoch()),
  FOREIGN KEY (entity_id) REFERENCES entities(id) ON DELETE CASCADE,
  UNIQUE(entity_id, observation_type, source)
)""",
    "relations": """CREATE TABLE relations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  from_entity_id INTEGER NOT NULL,
  to_entity_id INTEGER NOT NULL,
  relation_type TEXT NOT NULL,
  properties TEXT,
  created_at INTEGER DEFAULT (unixepoch()),
  FOREIGN KEY (from_entity_id) REFERENCES entities(id) ON DELETE CASCADE,
  FOREIGN KEY (to_entity_id) REFERENCES entities(id) ON DELETE CASCADE,
  UNIQUE(from_entity_id, to_entity_id, relation_type)
)""",
    "schema_version": "CREATE TABLE schema_version (version INTEGER PRIMARY KEY)",
}

INDEXES = {
    "idx_entities_name": "entities(name)",
    "idx_entities_type": "entities(entity_type)",
    "idx_entities_name_type": "entities(name, entity_type)",
    "idx_observations_entity": "observations(entity_id)",
    "idx_relations_from": "relations(from_entity_id)",
    "idx_relations_to": "relations(to_entity_id)",
    "idx_relations_type": "relations(relation_type)",
}

_COLUMNS = "rowid, entity_name, entity_type, observation_content"
# JSON's escapes of backslashes, line ends and tabs, or `\n` would make one word of the lines around it.
_PROPERTIES = "replace(replace(replace(replace({row}.properties, '\\\\', ' '), '\\n', ' '), '\\r', ' '), '\\t', ' ')"
_ENTITY_ROW = f"{{row}}.id - {ENTITY_ROWS}, {{row}}.name, {{row}}.entity_type, COALESCE({_PROPERTIES}, '')"
_TEXT = f"CASE WHEN {{row}}.properties IS NULL THEN {{row}}.content ELSE {{row}}.content || ' ' || {_PROPERTIES} END"


def _entity(row: str) -> str:
    return _ENTITY_ROW.format(row=row)


def _text(row: str) -> str:
    return _TEXT.format(row=row)


def _add(values: str) -> str:
    return f"INSERT INTO fts_content({_COLUMNS}) {values}"


def _remove(values: str) -> str:
    # FTS5 forgets an external row only when it is told the old values exactly: see its section 4.4.3.
    return f"INSERT INTO fts_content(fts_content, {_COLUMNS}) {values}"


_UNGATED = f"WHEN NOT EXISTS (SELECT 1 FROM schema_version WHERE version = {GATE})"
_NAMES_RENAMED = f"UPDATE mmem_names SET twin_key = '{UNKNOWN_KEY}' WHERE entity_id = NEW.id"
_RENAMED = "WHEN OLD.name IS NOT NEW.name OR OLD.entity_type IS NOT NEW.entity_type"


def _observations_of(entity: str) -> str:
    return f"o.id, {entity}.name, {entity}.entity_type, {_text('o')} FROM observations o"


_TRIGGERS = {
    "fts_entity_insert": f"AFTER INSERT ON entities {_UNGATED} BEGIN " + _add(f"VALUES ({_entity('NEW')})") + "; END",
    # AFTER, with the old values: an UPDATE OR IGNORE runs BEFORE triggers and then may not update.
    "fts_entity_update": "AFTER UPDATE OF id, name, entity_type, properties ON entities BEGIN "
    + _remove(f"VALUES ('delete', {_entity('OLD')})")
    + "; "
    + _add(f"VALUES ({_entity('NEW')})")
    + "; END",
    "fts_entity_rename": f"AFTER UPDATE OF name, entity_type ON entities {_RENAMED} BEGIN "
    + _remove(f"SELECT 'delete', {_observations_of('OLD')} WHERE o.entity_id = NEW.id")
    + "; "
    + _add(f"SELECT {_observations_of('NEW')} WHERE o.entity_id = NEW.id")
    + f"; {_NAMES_RENAMED}; END",
    # BEFORE: afterwards the cascade has removed the observations whose old values are needed here.
    "fts_entity_delete": "BEFORE DELETE ON entities BEGIN "
    + _remove(f"SELECT 'delete', {_observations_of('OLD')} WHERE o.entity_id = OLD.id")
    + "; "
    + _remove(f"VALUES ('delete', {_entity('OLD')})")
    + "; END",
    "fts_observation_insert": f"AFTER INSERT ON observations {_UNGATED} BEGIN "
    + _add(f"SELECT NEW.id, e.name, e.entity_type, {_text('NEW')} FROM entities e WHERE e.id = NEW.entity_id")
    + "; END",
    "fts_observation_update": "AFTER UPDATE OF id, content, properties, entity_id ON observations BEGIN "
    + _remove(
        f"SELECT 'delete', OLD.id, e.name, e.entity_type, {_text('OLD')} FROM entities e WHERE e.id = OLD.entity_id"
    )
    + "; "
    + _add(f"SELECT NEW.id, e.name, e.entity_type, {_text('NEW')} FROM entities e WHERE e.id = NEW.entity_id")
    + "; END",
    # During a cascade the entity is gone already, and so is this row of the index.
    "fts_observation_delete": "AFTER DELETE ON observations BEGIN "
    + _remove(
        f"SELECT 'delete', OLD.id, e.name, e.entity_type, {_text('OLD')} FROM entities e WHERE e.id = OLD.entity_id"
    )
    + "; END",
}

# What only our files have. `mmem_names` holds each name's twin key (see `values.twin_key`).
OWN_OBJECTS = {
    "fts_source": f"CREATE VIEW fts_source AS SELECT e.id - {ENTITY_ROWS} AS rid, e.name AS entity_name, "
    "e.entity_type AS entity_type, COALESCE("
    + _PROPERTIES.format(row="e")
    + ", '') AS observation_content FROM entities e "
    f"UNION ALL SELECT o.id, e.name, e.entity_type, {_text('o')} "
    "FROM observations o JOIN entities e ON e.id = o.entity_id",
    "fts_content": "CREATE VIRTUAL TABLE fts_content USING fts5(entity_name, entity_type, observation_content, "
    "content='fts_source', content_rowid='rid', tokenize='unicode61 remove_diacritics 2')",
    "fts_map": "CREATE VIEW fts_map AS SELECT d.id AS fts_rowid, "
    f"CASE WHEN d.id < 0 THEN d.id + {ENTITY_ROWS} "
    "ELSE (SELECT o.entity_id FROM observations o WHERE o.id = d.id) END AS entity_id, "
    "CASE WHEN d.id > 0 THEN d.id END AS observation_id FROM fts_content_docsize d",
    "mmem_names": "CREATE TABLE mmem_names (entity_id INTEGER PRIMARY KEY REFERENCES entities(id) "
    "ON DELETE CASCADE ON UPDATE CASCADE, twin_key TEXT NOT NULL)",
    "idx_mmem_names_key": "CREATE INDEX idx_mmem_names_key ON mmem_names(twin_key)",
    **{name: f"CREATE TRIGGER {name} {body}" for name, body in _TRIGGERS.items()},
}

# And what they have where SQLite was built without FTS5: no index, and no trigger that would need one.
PLAIN_OBJECTS = {
    **{name: OWN_OBJECTS[name] for name in ("mmem_names", "idx_mmem_names_key")},
    "fts_entity_rename": "CREATE TRIGGER fts_entity_rename AFTER UPDATE OF name, entity_type ON entities "
    f"{_RENAMED} BEGIN {_NAMES_RENAMED}; END",
}

INDEX_NEW_ROWS = _add(
    f"SELECT {_entity('e')} FROM entities e WHERE e.id >= ?1 "
    f"UNION ALL SELECT o.id, e.name, e.entity_type, {_text('o')} "
    "FROM observations o CROSS JOIN entities e ON e.id = o.entity_id WHERE o.id >= ?2"
)
_REBUILD = "INSERT INTO fts_content(fts_content) VALUES ('rebuild')"
OPTIMIZE = "INSERT INTO fts_content(fts_content) VALUES ('optimize')"


def has_full_text(conn: sqlite3.Connection) -> bool:
    """Tell whether this Python's SQLite was built with FTS5."""
    found = "SELECT EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'fts5')"
    return bool(conn.execute(found).fetchone()[0])


def install(conn: sqlite3.Connection) -> None:
    """Give a file what it lacks of our schema, inside the caller's transaction: an empty one all of it.

    A predecessor's rows stay as they are. Its index goes, and with it the texts of deleted entities that it keeps.
    Without FTS5 an index can't be dropped; it is cut off, so that nobody takes it for a sound one.
    """
    from sqlite_utils import Database

    db = Database(conn, execute_plugins=False)
    _complete(conn)
    for trigger in db.triggers:
        if trigger.name.startswith("fts_"):
            conn.execute(f'DROP TRIGGER "{trigger.name}"')
    views, tables = set(db.view_names()), set(db.table_names())
    full_text = has_full_text(conn)
    for name in ("fts_map", "fts_source", *(["fts_content"] if full_text else []), "mmem_names"):
        if name in views:
            conn.execute(f"DROP VIEW {name}")
        elif name in tables:
            conn.execute(f"DROP TABLE {name}")
    if not full_text:
        _execute(conn, PLAIN_OBJECTS.values())
        return
    _execute(conn, OWN_OBJECTS.values())
    conn.execute(_REBUILD)


def has_index(conn: sqlite3.Connection) -> bool:
    """Tell whether a file has a full-text index, sound or not."""
    return bool(conn.execute("SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'fts_content')").fetchone()[0])


def is_plain(conn: sqlite3.Connection) -> bool:
    """Tell whether mmem wrote a file last where SQLite has no FTS5."""
    objects = dict(conn.execute("SELECT name, sql FROM sqlite_master"))
    return all(objects.get(name) == sql for name, sql in PLAIN_OBJECTS.items())


def is_begun(conn: sqlite3.Connection) -> bool:
    """Tell whether a file holds nothing yet but some of our tables: its program is creating them, or has died.

    multi-memory-mcp asks for the write-ahead log and then creates one table after the other.
    """
    objects = dict(conn.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite%'"))
    if not objects.keys() <= {*TABLES, *INDEXES} or objects.keys() >= {"entities", "observations", "relations"}:
        return False
    as_documented = all(_words(sql) == _words(TABLES[name]) for name, sql in objects.items() if name in TABLES)
    return as_documented and conn.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


_NAMES = "SELECT name FROM sqlite_master"


def is_being_made(conn: sqlite3.Connection) -> bool:
    """Tell whether a file has the columns of version 3 but not its number, which multi-memory-mcp records last."""
    try:
        number = conn.execute("SELECT max(version) FROM schema_version").fetchone()[0]
    except sqlite3.OperationalError:
        number = None if "schema_version" not in {name for (name,) in conn.execute(_NAMES)} else "unknown"
    if number is not None and (not isinstance(number, int) or number >= SCHEMA_VERSION):
        return False
    return any(row[1] == "properties" for row in conn.execute("PRAGMA table_info(entities)"))


def _words(sql: str) -> str:
    return " ".join(sql.split()).replace("( ", "(").replace(" )", ")")


_NAMES_KEY = "idx_mmem_names_key"


def drop_indexes(conn: sqlite3.Connection) -> None:
    """Drop the indexes that only make reading fast, inside the caller's transaction, which makes them again."""
    for name in (*INDEXES, _NAMES_KEY):
        conn.execute(f"DROP INDEX IF EXISTS {name}")


def make_indexes(conn: sqlite3.Connection) -> None:
    """Make them again: of sorted rows, which takes a fraction of what it takes row by row."""
    _execute(conn, (f"CREATE INDEX IF NOT EXISTS {name} ON {columns}" for name, columns in INDEXES.items()))
    conn.execute(OWN_OBJECTS[_NAMES_KEY])


def rebuild(conn: sqlite3.Connection) -> None:
    """Make the index anew from the tables, inside the caller's transaction."""
    try:
        conn.execute(_REBUILD)
    except sqlite3.DatabaseError:  # FTS5 can't even open it, nor drop it
        conn.execute("PRAGMA writable_schema = ON")
        conn.execute("DELETE FROM sqlite_master WHERE name = 'fts_content'")
        conn.execute("PRAGMA writable_schema = RESET")
        for part in ("data", "idx", "docsize", "config", "content"):
            conn.execute(f"DROP TABLE IF EXISTS fts_content_{part}")
        conn.execute(OWN_OBJECTS["fts_content"])
        conn.execute(_REBUILD)


def _complete(conn: sqlite3.Connection) -> None:
    """Add the tables, columns, indexes and the version row that are missing."""
    from sqlite_utils import Database

    db = Database(conn, execute_plugins=False)
    present = set(db.table_names())
    _execute(conn, (sql for name, sql in TABLES.items() if name not in present))
    for name in ("entities", "observations", "relations"):
        if "properties" not in db.table(name).columns_dict:
            db.table(name).add_column("properties", str)
    _execute(conn, (f"CREATE INDEX IF NOT EXISTS {name} ON {columns}" for name, columns in INDEXES.items()))
    conn.execute("INSERT OR IGNORE INTO schema_version VALUES (?)", (SCHEMA_VERSION,))


def _execute(conn: sqlite3.Connection, statements: Iterable[str]) -> None:
    for statement in statements:
        conn.execute(statement)

"""The vectors of observations in a category file: their tables, which only a file that needs them has.

Triggers keep them right whoever writes: a text that changes loses its vector, and so do all of an entity's when it
is renamed, for its name is a part of what is embedded. What has no vector since waits in `mmem_unembedded` for the
next write with the extra.
"""

import sqlite3
from collections.abc import Sequence

from mmem.semantic import Model
from mmem.transaction import id_list

SPARE = 2_000  # observations of others that a write embeds as well: a tenth of a second

_WAIT = "INSERT INTO mmem_unembedded SELECT {ids} AND NOT EXISTS (SELECT 1 FROM mmem_unembedded u WHERE {same})"
_ONE = _WAIT.format(ids="NEW.id WHERE 1", same="u.observation_id = NEW.id")  # an OR IGNORE would not be heard here
_ALL = _WAIT.format(ids="o.id FROM observations o WHERE o.entity_id = NEW.id", same="u.observation_id = o.id")
_IS_NEW = "OLD.id IS NOT NEW.id OR OLD.entity_id IS NOT NEW.entity_id OR OLD.content IS NOT NEW.content"

TABLES = {
    # Vectors that a process has read hold good in the same `epoch`, in which all that come are of observations
    # after `last`.
    "mmem_models": "CREATE TABLE mmem_models "
    "(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL, last INTEGER NOT NULL)",
    "mmem_vectors": "CREATE TABLE mmem_vectors (observation_id INTEGER PRIMARY KEY REFERENCES observations(id) "
    "ON DELETE CASCADE ON UPDATE CASCADE, model INTEGER NOT NULL, vector BLOB NOT NULL)",
    "mmem_unembedded": "CREATE TABLE mmem_unembedded (observation_id INTEGER PRIMARY KEY REFERENCES observations(id) "
    "ON DELETE CASCADE ON UPDATE CASCADE)",
}
_TRIGGERS = {
    # For an INSERT OR REPLACE by id where neither foreign keys nor recursive triggers are on.
    "mmem_vector_insert": "AFTER INSERT ON observations BEGIN "
    f"DELETE FROM mmem_vectors WHERE observation_id = NEW.id; {_ONE}; END",
    "mmem_vector_update": f"AFTER UPDATE OF id, entity_id, content ON observations WHEN {_IS_NEW} BEGIN "
    "DELETE FROM mmem_vectors WHERE observation_id IN (OLD.id, NEW.id); "
    f"DELETE FROM mmem_unembedded WHERE observation_id = OLD.id; {_ONE}; END",
    "mmem_vector_delete": "AFTER DELETE ON observations BEGIN "
    "DELETE FROM mmem_vectors WHERE observation_id = OLD.id; "
    "DELETE FROM mmem_unembedded WHERE observation_id = OLD.id; END",
    "mmem_vector_rename": "AFTER UPDATE OF name ON entities WHEN OLD.name IS NOT NEW.name BEGIN "
    "DELETE FROM mmem_vectors WHERE observation_id IN (SELECT id FROM observations WHERE entity_id = NEW.id); "
    f"{_ALL}; END",
}
_OBJECTS = {**TABLES, **{name: f"CREATE TRIGGER {name} {body}" for name, body in _TRIGGERS.items()}}

_CHUNK = 1_000  # observations embedded at a time
# Those of no entity, which a program without foreign keys left behind, wait on.
_WAITING = (
    "FROM mmem_unembedded u CROSS JOIN observations o ON o.id = u.observation_id "
    "CROSS JOIN entities e ON e.id = o.entity_id"
)


def are_kept(conn: sqlite3.Connection) -> bool:
    """Tell whether a file has the tables and triggers of vectors, just as they are made here."""
    found = conn.execute("SELECT name, sql FROM sqlite_master WHERE name LIKE 'mmem\\_%' ESCAPE '\\'")
    return {name: sql for name, sql in found if name in _OBJECTS} == _OBJECTS


def write(conn: sqlite3.Connection, model: Model, own: int) -> list[int]:
    """Embed what has waited for it: a transaction's own observations, so many, and some of others.

    Returns the observations that got a vector. A file without the tables gets them, and the newest of its
    observations their vectors; `mmem reindex` embeds the rest.
    """
    if not are_kept(conn):
        _create(conn)
        newest = "SELECT id FROM observations ORDER BY id DESC LIMIT ?"
        conn.execute(f"INSERT INTO mmem_unembedded {newest}", (own + SPARE,))
    return embed_waiting(conn, model, own + SPARE)


def _create(conn: sqlite3.Connection) -> None:
    for kind, names in (("TRIGGER", _TRIGGERS), ("TABLE", TABLES)):
        for name in names:
            conn.execute(f"DROP {kind} IF EXISTS {name}")
    for statement in _OBJECTS.values():
        conn.execute(statement)


def let_wait(conn: sqlite3.Connection, model: Model) -> int:
    """Let every observation wait that has no vector of the model; return how many wait now."""
    if not are_kept(conn):
        _create(conn)
    conn.execute(
        "INSERT OR IGNORE INTO mmem_unembedded SELECT o.id FROM observations o WHERE NOT EXISTS "
        "(SELECT 1 FROM mmem_vectors v WHERE v.observation_id = o.id AND v.model = ?)",
        (_key(conn, model),),
    )
    waiting: int = conn.execute(f"SELECT count(*) {_WAITING}").fetchone()[0]
    return waiting


def forget_models(conn: sqlite3.Connection) -> None:
    """Forget the models of which there are no vectors any more."""
    conn.execute("DELETE FROM mmem_models WHERE id NOT IN (SELECT model FROM mmem_vectors)")


def embed_waiting(conn: sqlite3.Connection, model: Model, most: int) -> list[int]:
    """Embed the newest of the observations that wait, at most so many; return them, the first one first."""
    statement = f"SELECT o.id {_WAITING} ORDER BY u.observation_id DESC LIMIT ?"
    ids = [id for (id,) in conn.execute(statement, (most,))][::-1]
    if not ids:
        return []
    key = _key(conn, model)
    for start in range(0, len(ids), _CHUNK):
        _embed(conn, model, key, ids[start : start + _CHUNK])
    epoch = "epoch = CASE WHEN last < ?1 THEN epoch ELSE random() END"
    conn.execute(f"UPDATE mmem_models SET {epoch}, last = max(last, ?2) WHERE id = ?3", (ids[0], ids[-1], key))
    return ids


def _key(conn: sqlite3.Connection, model: Model) -> int:
    """Return the id under which a model's vectors are kept."""
    known = find(conn, model)
    if known is None:
        conn.execute("INSERT INTO mmem_models(name, epoch, last) VALUES (?, random(), 0)", (model.name,))
        return _key(conn, model)
    return known[0]


def _embed(conn: sqlite3.Connection, model: Model, key: int, ids: Sequence[int]) -> None:
    statement = (
        "SELECT o.id, CAST(e.name || ': ' || substr(o.content, 1, 2000) AS BLOB) FROM json_each(?) j "
        "CROSS JOIN observations o ON o.id = j.value CROSS JOIN entities e ON e.id = o.entity_id ORDER BY o.id"
    )
    rows = conn.execute(statement, (id_list(ids),)).fetchall()
    made = model.embed([text.decode("utf-8", "replace") for _, text in rows])  # others may store anything
    values = ((id, key, vector) for (id, _), vector in zip(rows, made, strict=True))
    conn.executemany("INSERT OR REPLACE INTO mmem_vectors VALUES (?, ?, ?)", values)
    done = "DELETE FROM mmem_unembedded WHERE observation_id IN (SELECT value FROM json_each(?))"
    conn.execute(done, (id_list(ids),))


def find(conn: sqlite3.Connection, model: Model) -> tuple[int, int] | None:
    """Return the id and the epoch of a model's vectors, None where there are none of it."""
    found: tuple[int, int] | None = conn.execute(
        "SELECT id, epoch FROM mmem_models WHERE name = ?", (model.name,)
    ).fetchone()
    return found


def renew_epochs(conn: sqlite3.Connection) -> None:
    """Let no process go on with vectors that it has read: the file's content is to stand in another's place."""
    if are_kept(conn):
        conn.execute("UPDATE mmem_models SET epoch = random()")

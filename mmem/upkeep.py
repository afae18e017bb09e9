"""Looking after a category's file: its search index checked and made anew, deleted texts made unreadable."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import Struct

from mmem import schema, semantic, vectors
from mmem.category_file import Missing
from mmem.errors import Storage
from mmem.faults import primary_code
from mmem.lookup import remember_names
from mmem.outcomes import Outcome
from mmem.store import Store
from mmem.transaction import Transaction

Progress = Callable[[int, int], None]  # takes how many observations are embedded, of how many

_AT_ONCE = 5_000  # observations embedded in a transaction: others that write wait for half a second at most

_LEFT_BEHIND = {  # rows of entities that a program deleted with SQLite's foreign keys off; no tool shows them
    "observations": "entity_id NOT IN (SELECT id FROM entities)",
    "relations": "from_entity_id NOT IN (SELECT id FROM entities) OR to_entity_id NOT IN (SELECT id FROM entities)",
    "mmem_names": "entity_id NOT IN (SELECT id FROM entities)",
    **dict.fromkeys(("mmem_vectors", "mmem_unembedded"), "observation_id NOT IN (SELECT id FROM observations)"),
}


class Reindexed(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What a category's index was and what it holds; `embedded` only with the extra `semantic`."""

    category: str
    sound: bool
    entities: int
    observations: int
    embedded: int | None = None


class Purged(Struct, frozen=True, rename="camel"):
    """The bytes of a category's file and its log, before and after."""

    category: str
    bytes_before: int
    bytes_after: int


def reindex(store: Store, category: str, progress: Progress = lambda done, total: None) -> Outcome[Reindexed]:
    """Check a category's search index, make it anew from the rows, and embed what has no vector of this model.

    Raises `NotFound` where there is no such category, and `Storage` where SQLite has no FTS5.
    """
    with _holding(store, category) as transaction:
        _require_full_text(transaction, "there is no search index to rebuild")
        sound = index_is_sound(transaction.conn) and not any("part" in notice.details for notice in transaction.notices)
        transaction.rebuild_index()
        transaction.forget_names()
        remember_names(transaction, [])
        count = "SELECT (SELECT count(*) FROM entities), (SELECT count(*) FROM observations)"
        entities, observations = transaction.conn.execute(count).fetchone()
    embedded = _embed(store, category, progress)
    return Outcome(Reindexed(category, sound, entities, observations, embedded), transaction.notices)


def purge(store: Store, category: str) -> Outcome[Purged]:
    """Leave no byte of what was deleted from a category in its file. What is stored stays as it is.

    Raises `NotFound` where there is no such category, and `Busy` where another process is at work on it.
    """
    before = store.size(category)
    with _holding(store, category) as transaction:
        if schema.has_index(transaction.conn):
            _require_full_text(transaction, "the words that its search index held before stay in the file")
            transaction.rebuild_index()  # the triggers write to it, and it may be damaged
        _delete_what_was_left_behind(transaction.conn)
        if schema.has_index(transaction.conn):
            transaction.rebuild_index()
            transaction.conn.execute(schema.OPTIMIZE)
    store.compact(category)
    return Outcome(Purged(category, before, store.size(category)), transaction.notices)


@contextmanager
def _holding(store: Store, category: str) -> Iterator[Transaction]:
    try:
        with store.holding(category, create=False) as transaction:
            yield transaction
    except Missing:
        raise store.no_category(category) from None


def _require_full_text(transaction: Transaction, otherwise: str) -> None:
    if not transaction.layout.full_text:
        category = transaction.category
        message = f"SQLite was built without FTS5 here: {otherwise}; use a Python whose SQLite has it"
        raise Storage(f"category '{category}': {message}", {"category": category})


def index_is_sound(conn: sqlite3.Connection) -> bool:
    """Tell whether the index holds just what the rows do, as FTS5 compares them (see its section 6.4)."""
    try:
        conn.execute("INSERT INTO fts_content(fts_content, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError as error:
        if primary_code(error) == sqlite3.SQLITE_INTERRUPT:
            raise
        return False
    rows = "SELECT count(*) FROM fts_source"
    return bool(conn.execute(f"SELECT ({rows}) = (SELECT count(*) FROM fts_content_docsize)").fetchone()[0])


def _embed(store: Store, category: str, progress: Progress) -> int | None:
    """Embed what has no vector of the model; return how many got one, None without the extra."""
    model = semantic.model()
    if model is None:
        return None
    with _holding(store, category) as transaction:
        total = vectors.let_wait(transaction.conn, model)
    done = 0
    while done < total:
        store.give_way(category)
        with _holding(store, category) as transaction:
            some = vectors.embed_waiting(transaction.conn, model, _AT_ONCE)
        if not some:
            break
        done += len(some)
        progress(done, total)
    with _holding(store, category) as transaction:
        vectors.forget_models(transaction.conn)
    return done


def _delete_what_was_left_behind(conn: sqlite3.Connection) -> None:
    tables = {name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table, condition in _LEFT_BEHIND.items():
        if table in tables:
            conn.execute(f"DELETE FROM {table} WHERE {condition}")

"""A copy of a memory checked from end to end: its pages, its rows and indexes, and what it holds."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from mmem import schema
from mmem.copies import Progress, about_target
from mmem.faults import from_sqlite, primary_code
from mmem.files import TIMEOUT, connect
from mmem.layout import inspect
from mmem.upkeep import index_is_sound

_STEPS = 100_000  # of SQLite's machine between looks at the clock: about 10 ms
_STEPS_A_PAGE = 750  # that a check takes, as measured on 36,000 pages; only the bar depends on it
_FULL_TEXT = ("fts5", "fts_content")  # in what newer versions of SQLite say of a full-text index
_UNOPENED = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT_VTAB}  # what they say of one that FTS5 can't even open
BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class Damaged(Exception):
    """The file isn't whole; the text is SQLite's."""


class Contents(NamedTuple):
    """How many rows a memory has, and how many of them belong to entities that are gone."""

    entities: int
    observations: int
    relations: int
    left_behind: int = 0


class Checked(NamedTuple):
    """What a copy holds, and whether its search index had to be made anew."""

    contents: Contents
    healed: bool


def contents(conn: sqlite3.Connection) -> Contents:
    """Return how many rows there are."""
    counts = ", ".join(f"(SELECT count(*) FROM {table})" for table in ("entities", "observations", "relations"))
    return Contents(*conn.execute(f"SELECT {counts}").fetchone())


def check(fresh: str, path: str, progress: Progress = lambda done, total: None) -> Checked:
    """Check a finished copy, and make its search index anew where that doesn't fit the rows.

    A predecessor's index is left as it is: the first write replaces it. `path` is what errors name. Raises `Damaged`,
    and `Storage` where the copy isn't a memory of a known schema.
    """
    with closing(connect(fresh, "rw", TIMEOUT)) as conn:
        try:
            with hearing(conn, progress):
                layout = inspect(conn, path)
                _require_whole(conn)
                held = contents(conn)._replace(left_behind=left_behind(conn))
                sound = not (layout.own and layout.full_text) or index_is_sound(conn)
            if not sound:
                with about_target(path):
                    conn.execute("BEGIN IMMEDIATE")
                    schema.rebuild(conn)
                    conn.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            if primary_code(error) in BROKEN:
                raise Damaged(str(error)) from error
            raise from_sqlite(error, path, TIMEOUT) from error
    return Checked(held, not sound)


def _require_whole(conn: sqlite3.Connection) -> None:
    if fault := fault_of(conn, "integrity_check"):
        raise Damaged(fault)


def fault_of(conn: sqlite3.Connection, pragma: str) -> str | None:
    """Return what is wrong with a database's pages and rows, but for full-text indexes; None where nothing is.

    `pragma` is SQLite's integrity_check or its quick_check, which doesn't compare indexes with rows.
    """
    try:
        found = _faults(conn, pragma, "20")
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", None) not in _UNOPENED:
            raise
        tables = conn.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'").fetchall()
        found = [fault for (name,) in tables for fault in _faults(conn, pragma, f'"{name}"')]
    faults = [fault for fault in found if not any(word in fault.lower() for word in _FULL_TEXT)]
    if not faults:
        return None
    lines = [line for line in faults[0].splitlines() if not line.startswith("***")]
    return (lines or faults)[0]


def _faults(conn: sqlite3.Connection, pragma: str, what: str) -> list[str]:
    return [fault for (fault,) in conn.execute(f"PRAGMA {pragma}({what})") if fault != "ok"]


def left_behind(conn: sqlite3.Connection) -> int:
    """Return how many rows belong to entities that a program deleted with SQLite's foreign keys off."""
    count: int = conn.execute("SELECT count(*) FROM pragma_foreign_key_check").fetchone()[0]
    return count


@contextmanager
def hearing(conn: sqlite3.Connection, progress: Progress) -> Iterator[None]:
    """Hear Ctrl-C within long statements, which SQLite reports as its own interruption; tell how far they are."""
    done, total = 0, conn.execute("PRAGMA page_count").fetchone()[0] * _STEPS_A_PAGE

    def look() -> None:
        nonlocal done
        done = min(done + _STEPS, total)
        progress(done, total)

    conn.set_progress_handler(look, _STEPS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if primary_code(error) == sqlite3.SQLITE_INTERRUPT:
            raise KeyboardInterrupt from error
        raise
    finally:
        conn.set_progress_handler(None, 0)

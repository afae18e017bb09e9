"""The Python and the SQLite that mmem runs on."""

import sqlite3
import sys
from contextlib import closing

from mmem import __version__
from mmem.checkup.remarks import About, Findings
from mmem.schema import has_full_text

_VARIABLES = 4_000  # placeholders in the longest statement
_ANOTHER = "use a Python whose SQLite has it"


def machine() -> Findings:
    """Look at the interpreter and at how its SQLite was built; one that is too old has been refused before."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield About("Python", sys.executable or None).ok("python", f"{version}, with mmem {__version__}")
    about = About("SQLite")
    with closing(sqlite3.connect(":memory:")) as conn:
        wrong = list(_faults(conn, about))
    yield from wrong
    if not wrong:
        yield about.ok("sqlite", f"{sqlite3.sqlite_version}, with full-text search, JSON and thread safety")


def _faults(conn: sqlite3.Connection, about: About) -> Findings:
    version = sqlite3.sqlite_version
    options = {option for (option,) in conn.execute("PRAGMA compile_options")}
    if not has_full_text(conn):
        yield about.warn("full_text", f"{version} was built without FTS5: searches find substrings, unranked", _ANOTHER)
    if sqlite3.threadsafety == 0:
        yield about.problem("threads", f"{version} was built for a single thread: mmem serve can't run on it", _ANOTHER)
    if not _has_json(conn):
        yield about.problem("json", f"{version} was built without JSON functions, which every look-up needs", _ANOTHER)
    if "OMIT_WAL" in options:
        yield about.warn("log", f"{version} has no write-ahead log: those who read wait for those who write", _ANOTHER)
    if conn.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) < _VARIABLES:
        yield about.problem("limits", f"{version} allows fewer than {_VARIABLES:,} variables in a statement", _ANOTHER)


def _has_json(conn: sqlite3.Connection) -> bool:
    try:
        return bool(conn.execute("SELECT count(*) FROM json_each('[1]')").fetchone()[0])
    except sqlite3.OperationalError:
        return False

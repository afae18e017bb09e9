"""One category's file: opened, watched, locked, committed.

Whatever a transaction here reports as stored can be read by a new process: the file is compared with its path
after the lock is taken and after the COMMIT, because another process may have deleted the category meanwhile.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mmem import schema
from mmem.errors import Conflict
from mmem.faults import from_os, from_sqlite, primary_code, translated
from mmem.layout import OWN, inspect
from mmem.outcomes import Notice
from mmem.transaction import Transaction

Identity = tuple[int, int]

_SLICE = 0.2  # seconds between looks at the clock while another process writes, so that Ctrl-C is heard
_MOVES = 20  # how often a file may be replaced under us before we give up


class Missing(Exception):
    """There is no file at the path."""


def identity(path: Path) -> Identity | None:
    """Return what tells this file from any other, or None where there is none (or an empty one)."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise from_os(error, path) from error
    return (found.st_dev, found.st_ino) if found.st_size else None


def has_log(path: Path) -> bool:
    """Tell whether a database has a write-ahead log with something in it."""
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def connect(path: Path, mode: str, timeout: float) -> sqlite3.Connection:
    """Return a connection to an existing file; `mode` is `rw` or `ro`. The timeout holds from the start.

    Closing the last writable connection moves a log into the database, so what must not change is read with
    `ro` while there is a log; without one, `rw` is what leaves no files behind.
    """
    return sqlite3.connect(
        f"{path.as_uri()}?mode={mode}", uri=True, timeout=timeout, isolation_level=None, cached_statements=256
    )


@contextmanager
def directory_lock(directory: Path, *, exclusive: bool) -> Iterator[None]:
    """Keep opening files and deleting them apart, between processes; a no-op where the system can't."""
    try:
        import fcntl

        descriptor = os.open(directory, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with suppress(OSError):  # some network file systems refuse
            fcntl.flock(descriptor, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def create_file(path: Path) -> None:
    """Put an empty memory at the path, whole at once; one that another process put there first stays."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.new")
    try:
        _make_directories(path.parent)
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        try:
            conn = sqlite3.connect(fresh, isolation_level=None)
            try:
                conn.execute("PRAGMA journal_mode = WAL")
                conn.execute("BEGIN IMMEDIATE")
                schema.create(conn)
                conn.execute("COMMIT")
            finally:
                conn.close()
            with suppress(FileExistsError):
                os.link(fresh, path)
        finally:
            for suffix in ("", "-wal", "-shm"):
                fresh.with_name(fresh.name + suffix).unlink(missing_ok=True)
    except sqlite3.Error as error:
        raise from_sqlite(error, path, 0) from error
    except OSError as error:
        raise from_os(error, path) from error


def _make_directories(directory: Path) -> None:
    """Create a directory and its missing parents, all 0700."""
    missing = []
    while not directory.is_dir():
        missing.append(directory)
        if directory.parent == directory:
            break
        directory = directory.parent
    for path in reversed(missing):
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
        if not path.is_dir():
            raise NotADirectoryError(20, "not a directory", str(path))


class CategoryFile:
    """A connection to one category's file, kept right while other processes write, convert or delete it."""

    def __init__(self, category: str, path: Path, *, synchronous: str = "NORMAL", timeout: float = 30.0) -> None:
        """Open nothing yet. `timeout` is in seconds; `synchronous` is SQLite's NORMAL or FULL."""
        self.category = category
        self.path = path
        self.timeout = timeout
        self._synchronous = synchronous
        self._conn: sqlite3.Connection | None = None
        self._identity: Identity | None = None
        self._cookie = -1
        self._layout = OWN
        self._wal = False
        self._grown = False
        self._active: Transaction | None = None

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._conn is not None and self._conn.in_transaction

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        if self._conn is not None:
            self._conn.close()
            self._conn = None

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Read one consistent state: inside `write`, its own. Raises `Missing` where there is no file."""
        if self._active is not None:
            self._active.flush_index()
            with translated(self.path, self.timeout), self._active.nested() as part:
                yield part
            return
        with translated(self.path, self.timeout):
            conn = self._connection()
            conn.execute("BEGIN")
        try:
            with translated(self.path, self.timeout):
                self._refresh(conn)
                yield Transaction(self.category, conn, self._layout)
        finally:
            if conn.in_transaction:
                conn.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Write in one `BEGIN IMMEDIATE` transaction: all of it is stored, or nothing and an error is raised.

        A predecessor's file is converted first, with a `repaired` notice. Inside another `write` it is a
        savepoint of that. Raises `Missing`, `Busy`, `Conflict` or `Storage`.
        """
        if self._active is not None:
            with translated(self.path, self.timeout), self._active.nested() as part:
                yield part
            return
        with translated(self.path, self.timeout):
            conn = self._begin()
            try:
                self._refresh(conn)
                self._active = transaction = Transaction(self.category, conn, OWN)
                if not self._layout.own:
                    schema.convert(conn)
                    transaction.notices.append(_converted(self.category))
                yield transaction
                transaction.finish()
                conn.execute("COMMIT")
            except BaseException:
                if conn.in_transaction:
                    conn.execute("ROLLBACK")
                raise
            finally:
                self._active = None
            self._grown = transaction.wrote_many
        if identity(self.path) != self._identity:
            self.close()
            raise Conflict(
                f"category '{self.category}' was deleted by another process at the same moment: "
                "nothing is stored; try again",
                {"category": self.category},
            )

    def delete(self, condition: Callable[[sqlite3.Connection], bool] = lambda conn: True) -> bool:
        """Delete the file and what SQLite keeps beside it, while no writer is at work; tell whether it was.

        With a condition, only where that holds once the lock is taken. Raises `Missing`.
        """
        with translated(self.path, self.timeout):
            conn = self._begin()
            try:
                if not condition(conn):
                    return False
                with directory_lock(self.path.parent, exclusive=True):
                    # The database last: whoever opens it in between gets an old file, never a new one's log.
                    for suffix in ("-wal", "-shm", ""):
                        self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
                return True
            finally:
                conn.execute("ROLLBACK")
                self.close()

    def heal_index(self) -> None:
        """Rebuild the index from the tables, in a transaction of its own."""
        with self.write() as transaction:
            transaction.conn.execute(schema.REBUILD)

    def _connection(self) -> sqlite3.Connection:
        """Return a connection to the file that is at the path now."""
        if self._conn is not None and self._conn.in_transaction:
            return self._conn
        for _ in range(_MOVES):
            current = identity(self.path)
            if current is None:
                self.close()
                raise Missing
            if self._conn is not None and current == self._identity:
                return self._conn
            self.close()
            with directory_lock(self.path.parent, exclusive=False):
                self._open()
            if identity(self.path) == current:
                self._identity = current
                return self._conn_or_fail()
        raise Conflict(f"{self.path} is being replaced again and again; try again", {"category": self.category})

    def _conn_or_fail(self) -> sqlite3.Connection:
        if self._conn is None:  # pragma: no cover - _open sets it or raises
            raise Missing
        return self._conn

    def _open(self) -> None:
        if has_log(self.path):
            self._probe()
        conn = connect(self.path, "rw", self.timeout)
        try:
            for pragma in (
                "foreign_keys = ON",
                "recursive_triggers = ON",  # or INSERT OR REPLACE would skip the index's delete triggers
                f"synchronous = {self._synchronous}",
                "temp_store = MEMORY",
                "cache_size = -65536",
            ):
                conn.execute(f"PRAGMA {pragma}")
            self._layout = inspect(conn, self.path)
            self._cookie = _cookie(conn)
            self._wal = conn.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        except BaseException:
            conn.close()
            raise
        self._conn = conn

    def _probe(self) -> None:
        """Refuse a file of a newer schema before a writable connection could change its bytes."""
        conn = connect(self.path, "ro", self.timeout)
        try:
            inspect(conn, self.path)
        finally:
            conn.close()

    def _begin(self) -> sqlite3.Connection:
        """Take the write lock on the file that is at the path now."""
        for _ in range(_MOVES):
            if self._grown:  # FTS5's buffer of a connection stays large after a large batch and slows small ones
                self.close()
                self._grown = False
            conn = self._connection()
            if conn.in_transaction:
                raise Conflict(f"category '{self.category}' is in a transaction already", {"category": self.category})
            if not self._wal:
                self._wal = _use_wal(conn)
            self._lock(conn)
            if identity(self.path) == self._identity:
                return conn
            conn.execute("ROLLBACK")
            self.close()
        raise Conflict(f"{self.path} is being replaced again and again; try again", {"category": self.category})

    def _lock(self, conn: sqlite3.Connection) -> None:
        deadline = time.monotonic() + self.timeout
        try:
            conn.execute(f"PRAGMA busy_timeout = {int(_SLICE * 1000)}")
            while True:
                try:
                    conn.execute("BEGIN IMMEDIATE")
                    return
                except sqlite3.OperationalError as error:
                    if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                        raise
        finally:
            conn.execute(f"PRAGMA busy_timeout = {int(self.timeout * 1000)}")

    def _refresh(self, conn: sqlite3.Connection) -> None:
        """Look at the file's layout again if another process changed it."""
        cookie = _cookie(conn)
        if cookie != self._cookie:
            self._layout = inspect(conn, self.path)
            self._cookie = cookie


def _cookie(conn: sqlite3.Connection) -> int:
    """Return SQLite's counter of changes to the schema."""
    cookie: int = conn.execute("PRAGMA schema_version").fetchone()[0]
    return cookie


def _use_wal(conn: sqlite3.Connection) -> bool:
    """Ask for the write-ahead log; other readers may hold it back for now, which only costs speed."""
    with suppress(sqlite3.OperationalError):
        return bool(conn.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal")
    return False


def _converted(category: str) -> Notice:
    return Notice(
        "repaired",
        f"category '{category}' was made by another program: its search index was replaced by mmem's; "
        "that program can go on using the file",
        category=category,
    )

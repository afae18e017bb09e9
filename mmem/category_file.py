"""One category's file: opened, watched, locked, committed.

Whatever a transaction here reports as stored can be read by a new process: the file is compared with its path
after the lock is taken and after the COMMIT, because another process may have deleted the category meanwhile.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType

from mmem import schema
from mmem.errors import Busy, Conflict, IndexDamaged, Storage
from mmem.faults import primary_code, raise_ours
from mmem.files import (
    Identity,
    connect,
    connect_to_read,
    directory_lock,
    has_log,
    identity,
    inode,
    is_frozen,
    remove,
    set_log_aside,
    waiting,
)
from mmem.layout import OWN, Layout, inspect, own_layout, state
from mmem.outcomes import Notice
from mmem.transaction import Pending, Transaction

_SLICE = 0.02  # seconds between looks at the clock while another process writes, so that Ctrl-C is heard
_PAUSE = 0.1  # seconds to leave a program that creates tables
_PATIENCE = 3  # how often to look again at a file whose tables are being created
_MOVES = 10  # how often a file may be replaced under us before we give up


_PASSING = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR}  # what opening a file that is just being deleted gives


class Missing(Exception):
    """There is no file at the path."""


class Patience:
    """How long a write waits for the lock, in seconds; files that share it change together."""

    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


class _Unfinished(Exception):
    """Another program is creating the file's tables just now."""


class CategoryFile:
    """A connection to one category's file, kept right while other processes write, convert or delete it."""

    def __init__(
        self,
        category: str,
        path: str,
        *,
        synchronous: str = "NORMAL",
        timeout: float = 30.0,
        patience: "Patience | None" = None,
        temp_store: str = "MEMORY",
        keep_mode: bool = False,
    ) -> None:
        """Open nothing yet. `timeout` is in seconds, `patience` that of writes where it differs.

        `synchronous` is SQLite's NORMAL or FULL, `temp_store` MEMORY or FILE: where it sorts what is large. With
        `keep_mode` a file without a write-ahead log doesn't get one: nothing written to it is to stay.
        """
        self.category = category
        self.path = path
        self.timeout = timeout
        self._patience = patience or Patience(timeout)
        self._synchronous = synchronous
        self._temp_store = temp_store
        self._keep_mode = keep_mode
        self._conn: sqlite3.Connection | None = None
        self._identity: Identity | None = None
        self._log: Identity | None = None
        self._aside: str | None = None
        self._cookie: int | None = None
        self._changes: int | None = None
        self._layout = OWN
        self._wal = False
        self._frozen = False
        self._grown = False
        self._active: Transaction | None = None
        self._known: Pending | None = None  # from our last write, until another connection writes

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._conn is not None and self._conn.in_transaction

    @property
    def has_log(self) -> bool:
        """Whether the file is in WAL mode, so that nobody who reads waits; False before it is opened."""
        return self._wal

    @contextmanager
    def durable(self) -> Iterator[None]:
        """Let each COMMIT within outlast a power failure; inside a transaction nothing is changed."""
        if self.in_transaction:
            yield
            return
        before = self._synchronous
        self._set_synchronous("FULL")
        try:
            yield
        finally:
            self._set_synchronous(before)

    def _set_synchronous(self, level: str) -> None:
        self._synchronous = level
        if self._conn is not None and not self._conn.in_transaction:
            self._conn.execute(f"PRAGMA synchronous = {level}")

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        if self._conn is not None:
            self._set_log_aside()
            self._conn.close()
            self._conn = None
            self._identity = None
            self._log = None
            self._known = None

    def version(self) -> tuple[Identity | None, int] | None:
        """Return what differs once another connection has changed or replaced the file; None where there is none."""
        try:
            with self._translated():
                return self._identity_of(self._connection())
        except Missing:
            return None

    def _identity_of(self, conn: sqlite3.Connection) -> tuple[Identity | None, int]:
        return self._identity, conn.execute("PRAGMA data_version").fetchone()[0]

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Read one consistent state: inside another `read` or `write`, its own.

        Raises `Missing` where there is no file.
        """
        if self._active is not None:
            with self._translated():
                yield self._active.part()
            return
        with self._translated():
            conn = self._connection()
            conn.execute("BEGIN")
        try:
            with self._translated():
                self._refresh(conn)
                self._active = Transaction(self.category, conn, self._layout)
                part = self._active.part()
                self._say_aside(part)
                yield part
        finally:
            self._active = None
            if conn.in_transaction:
                conn.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Write in one `BEGIN IMMEDIATE` transaction: all of it is stored, or nothing and an error is raised.

        A predecessor's file is converted first, with a `repaired` notice. Inside another `write` it is a
        savepoint of that. Raises `Missing`, `Busy`, `Conflict` or `Storage`.
        """
        if self._active is not None:
            if not self._active.writes:
                raise Conflict(
                    f"category '{self.category}' is being read in the same process", {"category": self.category}
                )
            with self._translated(), self._active.nested() as part:
                yield part
            return
        with self._translated():
            conn = self._begin()
            try:
                self._refresh(conn)
                known, self._known = self._known, None
                layout = self._layout if self._layout.own else own_layout(conn)
                self._active = transaction = Transaction(self.category, conn, layout, known, writes=True)
                self._say_aside(transaction)
                if not self._layout.own:
                    self._changes = None
                    indexless = schema.is_plain(conn)
                    schema.install(conn)
                    was = "broken" if self._layout.broken else "indexless" if indexless else "another's"
                    transaction.notices.append(_converted(self.category, layout, was))
                yield transaction
                transaction.require_open()
                transaction.finish()
                conn.execute("COMMIT")
                self._known = transaction.following()
            except BaseException:
                if conn.in_transaction:
                    conn.execute("ROLLBACK")
                raise
            finally:
                self._active = None
        if identity(self.path) != self._identity:
            self.close()
            raise Conflict(
                f"category '{self.category}' was deleted by another process at the same moment: "
                "nothing is stored; try again",
                {"category": self.category},
            )
        self._keep_small_writes_fast(transaction.wrote_many)

    def _translated(self) -> "_Translated":
        """Return a context in which errors become ours."""
        return _Translated(self)

    def raise_ours(self, error: BaseException | None) -> None:
        """Raise our error for another's; what SQLite says of a file that is gone from its path is a lost race."""
        gone = isinstance(error, sqlite3.DatabaseError) and self._identity is not None
        if gone and identity(self.path) != self._identity:
            self.close()
            message = f"category '{self.category}' was deleted by another process at the same moment; try again"
            raise Conflict(message, {"category": self.category}) from error
        try:
            raise_ours(error, self.path, self.timeout)
        except IndexDamaged as damaged:
            damaged.details["category"] = self.category
            raise

    def _keep_small_writes_fast(self, wrote_many: bool) -> None:
        """Close a connection after its first small write since a large one.

        FTS5's buffer of a connection stays as large as its largest batch, and every later flush walks it.
        """
        if self._grown and not wrote_many:
            self.close()
        self._grown = wrote_many

    def delete(self, condition: Callable[[sqlite3.Connection], bool] = lambda conn: True) -> bool:
        """Delete the file and what SQLite keeps beside it, while no writer is at work; tell whether it was.

        With a condition, only where that holds once the lock is taken. Raises `Missing`.
        """
        with self._translated():
            conn = self._begin()
            try:
                self._refresh(conn)
                if not os.access(self.path, os.W_OK):
                    raise Storage(f"{self.path} can't be deleted: permission denied; check its owner and mode")
                if not condition(conn):
                    return False
                with directory_lock(os.path.dirname(self.path), exclusive=True):
                    remove(self.path)
                return True
            finally:
                conn.execute("ROLLBACK")
                self.close()

    def heal_index(self) -> None:
        """Rebuild the index from the tables, in a transaction of its own."""
        with self.write() as transaction:
            transaction.rebuild_index()

    def compact(self) -> None:
        """Write the file anew from its rows and empty its log, so that no byte of what was deleted stays in them.

        Raises `Busy` where another process reads an older state, which has to be kept for it.
        """
        with self._translated():
            conn = self._connection()
            conn.execute("PRAGMA temp_store = FILE")  # VACUUM makes a copy, which may be large
            conn.execute("PRAGMA secure_delete = ON")  # what a page has room for beyond its rows is overwritten
            conn.execute("VACUUM")
            held_back = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        self.close()
        if held_back:
            raise Busy(
                f"another process is reading category '{self.category}' as it was, so {self.path} keeps that for it: "
                "end that process, or wait for it, and do this again",
                {"category": self.category, "path": self.path},
            )

    def _connection(self) -> sqlite3.Connection:
        """Return a connection to the file that is at the path now."""
        if self._conn is not None and self._conn.in_transaction:
            return self._conn
        for turn in range(_MOVES):
            current = identity(self.path)
            if current is None:
                self.close()
                raise Missing
            if self._conn is not None and current == self._identity and not self._frozen:
                return self._conn
            self.close()
            try:
                with directory_lock(os.path.dirname(self.path), exclusive=False):
                    self._conn = self._open(patient=turn < _PATIENCE)
            except _Unfinished:
                time.sleep(_PAUSE)
                continue
            except sqlite3.OperationalError as error:
                passing = primary_code(error) in _PASSING and turn < _PATIENCE
                if identity(self.path) == current and not passing:
                    raise
                continue  # it was deleted or replaced meanwhile; a new file may have got the same number
            if identity(self.path) == current:
                self._identity = current
                self._log = inode(self.path + "-wal")
                return self._conn
        raise Conflict(f"another program is creating or replacing {self.path}; try again", {"category": self.category})

    def _set_log_aside(self) -> None:
        """Rename the log of a file in whose place there is another now, or SQLite would read it into that one.

        It finds a log by its name. While our connection holds it open, no other log can have its number.
        """
        if self._is_replaced():
            with directory_lock(os.path.dirname(self.path), exclusive=True):
                if self._is_replaced():
                    self._aside = set_log_aside(self.path)

    def _is_replaced(self) -> bool:
        """Tell whether another file stands at the path, and beside it still the log of ours."""
        if self._identity is None or self._log is None or self._log != inode(self.path + "-wal"):
            return False
        return inode(self.path) not in {None, self._identity}

    def _say_aside(self, transaction: Transaction) -> None:
        """Say once where the log of a file that was replaced is now."""
        if self._aside is not None:
            message = (
                f"the file of category '{self.category}' was replaced while it was in use; what the one before hadn't "
                f"got from its log yet is kept in {self._aside}"
            )
            transaction.notice(Notice("repaired", message, category=self.category, log=self._aside))
            self._aside = None

    def _open(self, *, patient: bool) -> sqlite3.Connection:
        if has_log(self.path):
            self._probe()
        conn = connect_to_read(self.path, self.timeout)
        try:
            for pragma in (
                "foreign_keys = ON",
                "recursive_triggers = ON",  # or INSERT OR REPLACE would skip the index's delete triggers
                f"synchronous = {self._synchronous}",
                f"temp_store = {self._temp_store}",
                "cache_size = -24576",  # 24 MiB: a batch of any length stays small
                "wal_autocheckpoint = 4000",  # 16 MiB: small writes dirty the same few pages, so rarer is less work
            ):
                conn.execute(f"PRAGMA {pragma}")
            begun = schema.is_begun(conn)
            if patient and (begun or schema.is_being_made(conn)):
                raise _Unfinished
            if begun:
                raise Missing
            self._layout = inspect(conn, self.path)
            self._cookie = self._changes = None
            self._frozen = is_frozen(conn)
            self._wal = conn.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        except BaseException:
            conn.close()
            raise
        return conn

    def _probe(self) -> None:
        """Refuse a file of a newer schema before a writable connection could change its bytes."""
        conn = connect(self.path, "ro", self.timeout)
        try:
            if not schema.is_begun(conn):
                inspect(conn, self.path)
        finally:
            conn.close()

    def _begin(self) -> sqlite3.Connection:
        """Take the write lock on the file that is at the path now."""
        for _ in range(_MOVES):
            conn = self._connection() if self._conn is None or self._frozen else self._conn
            if conn.in_transaction:
                raise Conflict(f"category '{self.category}' is in a transaction already", {"category": self.category})
            if not self._wal and not self._keep_mode:
                self._wal = _use_wal(conn)
            try:
                self._lock(conn)
                if identity(self.path) == self._identity:
                    return conn
                conn.execute("ROLLBACK")
            except BaseException as error:
                if conn.in_transaction:
                    conn.execute("ROLLBACK")
                if not isinstance(error, sqlite3.DatabaseError) or identity(self.path) == self._identity:
                    raise
            self.close()
        raise Conflict(f"{self.path} is being replaced again and again; try again", {"category": self.category})

    def _lock(self, conn: sqlite3.Connection) -> None:
        """Take the write lock, waiting for others as long as the timeout says."""
        deadline = time.monotonic() + self._patience.seconds
        try:
            conn.execute("PRAGMA busy_timeout = 0")
            if _begun(conn):
                return
            conn.execute(f"PRAGMA busy_timeout = {int(_SLICE * 1000)}")
            while True:
                with waiting(self.path):
                    if _begun(conn):
                        return
                if time.monotonic() > deadline:
                    conn.execute("BEGIN IMMEDIATE")  # the last try, whose error says why
                    return
        finally:
            conn.execute(f"PRAGMA busy_timeout = {int(self.timeout * 1000)}")

    def _refresh(self, conn: sqlite3.Connection) -> None:
        """Look at the file's layout again if another process changed the file."""
        changes = conn.execute("PRAGMA data_version").fetchone()[0]
        if changes == self._changes:
            return
        self._known = None
        cookie = state(conn, self.path) if self._layout.own else None
        if cookie is None or cookie != self._cookie:
            self._layout = inspect(conn, self.path)
            self._cookie = cookie
        self._changes = changes


class _Translated:
    """A context in which a file's errors become ours; a class, since every request enters it several times."""

    __slots__ = ("_file",)

    def __init__(self, file: CategoryFile) -> None:
        self._file = file

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._file.raise_ours(error)


def _begun(conn: sqlite3.Connection) -> bool:
    """Tell whether a write transaction could be begun; False where another process writes."""
    try:
        conn.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if primary_code(error) != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _use_wal(conn: sqlite3.Connection) -> bool:
    """Ask for the write-ahead log; other readers may hold it back for now, which only costs speed."""
    with suppress(sqlite3.OperationalError):
        return bool(conn.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal")
    return False


def _converted(category: str, layout: Layout, was: str) -> Notice:
    if not layout.full_text:
        what = "has no search index any more, for SQLite has no FTS5 here; the next write where it has makes one anew"
    elif was == "broken":
        what = "had lost parts of its search index: it was made anew"
    elif was == "indexless":
        what = "was last written where SQLite has no FTS5: its search index was made anew"
    else:
        what = (
            "was made by another program: its search index was replaced by mmem's; "
            "that program can go on using the file"
        )
    details = {"part": "index"} if was == "broken" else {}
    return Notice("repaired", f"category '{category}' {what}", category=category, **details)

"""A category's file given the content of another: in one step, with what it held before kept in a file of its own."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress

from mmem.copies import Progress, about_folder, about_target, copy, put, unnamed
from mmem.errors import Busy, Conflict, Storage
from mmem.faults import how_to_see, primary_code
from mmem.files import TIMEOUT, connect, directory_lock, inode, remove, waiting

_SLICE = 0.02  # seconds between looks at the clock while another process writes, so that Ctrl-C is heard
_SHOWN = 250  # pages between what the bar shows
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def place(fresh: str, path: str) -> None:
    """Give a finished database the name of a category that isn't there. Raises `Conflict` where it is by now."""
    with closing(connect(fresh, "rw", TIMEOUT)) as conn, about_target(path):
        conn.execute("PRAGMA journal_mode = WAL")
    with directory_lock(os.path.dirname(path), exclusive=True):
        _place(fresh, path)


def place_beside(fresh: str, path: str, kept: str) -> None:
    """Move a file that is no database any more out of the way, with its log, and put a finished one there."""
    with closing(connect(fresh, "rw", TIMEOUT)) as conn, about_target(path):
        conn.execute("PRAGMA journal_mode = WAL")
    with directory_lock(os.path.dirname(path), exclusive=True):
        with about_folder(os.path.dirname(kept)):
            with suppress(FileNotFoundError):
                os.rename(path + "-wal", kept + "-wal")
            os.rename(path, kept)
        _place(fresh, path)


def _place(fresh: str, path: str) -> None:
    if not os.path.lexists(path):
        remove(path)  # the log of a file that is gone would be read into the new one
    put(fresh, path)


def overwrite(fresh: str, path: str, kept: str | None, progress: Progress) -> None:
    """Give a category's database the content of another, in one transaction; keep what it held until then.

    A rename would leave programs that have the file open with one that nobody else sees, and what they write there
    would be lost; so they just see another change. What they had stored before is in the file `kept`, what they store
    later comes on top of the new. Raises `Busy`, `Conflict`, `Storage`, and SQLite's own error for what is no database.
    """
    with directory_lock(os.path.dirname(path), exclusive=False):
        found = inode(path)
        if found is None:
            raise Conflict(f"{path} is gone: another program deleted it meanwhile; try again", {"path": path})
        target, reader = connect(path, "rw", _SLICE), connect(path, "rw", TIMEOUT)
    deadline = time.monotonic() + TIMEOUT
    with closing(target), closing(reader), closing(connect(fresh, "rw", TIMEOUT)) as source, _Held(path) as held:
        _use_log(target, path, deadline)
        _make_alike(source, target, path)

        def step(status: int, left: int, total: int) -> None:
            if status & 0xFF in _BUSY:
                held.wait(deadline)
                return
            if not held.begun:  # the lock is ours now, and a reader still sees what was there before
                held.begin(reader, found, kept)
            if left % _SHOWN == 0:
                progress(total - left, total)

        source.execute("BEGIN")
        source.execute("SELECT 1 FROM sqlite_master").fetchone()
        with about_target(path):
            source.backup(target, pages=1, progress=step, sleep=0.001)
        if inode(path) != found:
            raise Conflict(f"{path} was deleted by another program at the same moment; try again")
        with suppress(sqlite3.OperationalError):  # readers may hold it back for now
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class _Held:
    """The write lock on a category's file, from waiting for it to the end, and the copy of what the file held."""

    def __init__(self, path: str) -> None:
        self.begun = False
        self._path = path
        self._queue = ExitStack()
        self._kept: str | None = None
        self._reader: sqlite3.Connection | None = None
        self._before: int | None = None

    def __enter__(self) -> "_Held":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._queue.close()
        if error is not None and self._kept is not None and self._version() == self._before:
            os.unlink(self._kept)  # only where nothing was replaced, or it would be the last copy

    def wait(self, deadline: float) -> None:
        """Let those who write see that we wait. Raises `Busy` after the deadline."""
        self._queue.close()
        if time.monotonic() > deadline:
            raise Busy(
                f"{self._path} is locked: another process has been writing for more than {TIMEOUT:g} s; "
                f"{how_to_see(self._path)}",
                {"path": self._path},
            )
        self._queue.enter_context(waiting(self._path))

    def begin(self, reader: sqlite3.Connection, found: object, kept: str | None) -> None:
        """Keep what a file holds, once nobody else can write to it. Raises `Conflict` where it is another now."""
        self._queue.close()
        if inode(self._path) != found:
            raise Conflict(f"{self._path} is being replaced by another program; try again", {"path": self._path})
        self._reader, self._before = reader, None
        self._before = self._version()
        if kept is not None:
            with unnamed(os.path.dirname(kept)) as old, _reading(reader):
                copy(reader, old, kept)
                put(old, kept)
                self._kept = kept
        self.begun = True

    def _version(self) -> int | None:
        """Return what differs once another connection has committed."""
        if self._reader is None:
            return None
        version: int = self._reader.execute("PRAGMA data_version").fetchone()[0]
        return version


@contextmanager
def _reading(conn: sqlite3.Connection) -> Iterator[None]:
    conn.execute("BEGIN")
    try:
        conn.execute("SELECT 1 FROM sqlite_master").fetchone()
        yield
    finally:
        conn.execute("ROLLBACK")


def _use_log(conn: sqlite3.Connection, path: str, deadline: float) -> None:
    """Have the file use a write-ahead log, without which nobody could read what it holds once the lock is taken."""
    conn.execute("PRAGMA synchronous = FULL")
    while True:
        try:
            if conn.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal":
                return
        except sqlite3.OperationalError as error:
            if primary_code(error) not in _BUSY:
                raise
        if time.monotonic() > deadline:
            raise Busy(f"{path} is being used by a program that keeps others out of it; try again", {"path": path})
        time.sleep(_SLICE)


def _make_alike(fresh: sqlite3.Connection, target: sqlite3.Connection, path: str) -> None:
    """Give a database the form of the one that it replaces; who has that open takes it for unchangeable."""
    encoding = "PRAGMA encoding"
    if fresh.execute(encoding).fetchone() != target.execute(encoding).fetchone():
        raise Storage(
            f"{path} stores its texts in another encoding than the backup does: delete the category first, then restore"
        )
    wanted = {name: target.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "auto_vacuum")}
    if any(fresh.execute(f"PRAGMA {name}").fetchone()[0] != value for name, value in wanted.items()):
        for name, value in wanted.items():
            fresh.execute(f"PRAGMA {name} = {value}")
        with about_target(path):
            fresh.execute("VACUUM")

"""One state of a database copied into a file of its own, which gets its name only once it is whole."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

from mmem.errors import Conflict, Storage
from mmem.faults import from_sqlite, primary_code
from mmem.files import TIMEOUT, connect, make_directories, remove, sync_directory

Progress = Callable[[int, int], None]  # takes what is done, and all there is to do

_PAGES = 1_000  # copied at a time: a few milliseconds, so that Ctrl-C is heard
_BESIDE = ("-wal", "-journal")  # what a database in use has beside it
_UNWRITABLE = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
_READING = {sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ}


def copy(source: sqlite3.Connection, fresh: str, path: str, progress: Progress = lambda done, total: None) -> None:
    """Copy what a connection reads into an empty file, which becomes a database without a log.

    The connection must be in a transaction. Without one, SQLite's backup reads anew between its steps and begins
    again whenever somebody has written: a busy writer let no copy of 148 MB come to its end. In a transaction it took
    0.25 s, `VACUUM INTO` 0.56 s for 4 % less, and nobody waited. `path` is what the file will be called. Raises
    `Storage` where it can't be written.
    """
    with closing(connect(fresh, "rw", TIMEOUT)) as target:
        target.execute("PRAGMA journal_mode = OFF")  # until it has its name, nobody misses it
        target.execute("PRAGMA synchronous = OFF")  # `put` sees to that
        with about_target(path):
            source.backup(target, pages=_PAGES, progress=lambda status, left, total: progress(total - left, total))
            target.execute("PRAGMA journal_mode = DELETE")


@contextmanager
def about_target(path: str) -> Iterator[None]:
    """Raise `Storage` about the file that is written, where SQLite's error is about that; let any other pass."""
    try:
        yield
    except sqlite3.Error as error:
        code = primary_code(error)
        writing = code == sqlite3.SQLITE_IOERR and getattr(error, "sqlite_errorcode", 0) not in _READING
        if writing or code in _UNWRITABLE:
            raise from_sqlite(error, path, TIMEOUT) from error
        raise


@contextmanager
def folder_at(path: str) -> Iterator[str]:
    """Yield a folder, made with its missing parents; on an error what was made goes again. Raises `Storage`."""
    folder = os.path.abspath(path)
    made: list[str] = []
    while not os.path.lexists(folder):
        made.append(folder)
        folder = os.path.dirname(folder)
    try:
        with about_folder(path):
            make_directories(os.path.abspath(path))
        yield path
    except BaseException:
        for empty in made:
            with suppress(OSError):
                os.rmdir(empty)
        raise


@contextmanager
def unnamed(folder: str) -> Iterator[str]:
    """Yield an empty file in a folder; what is left of it at the end goes. Raises `Storage`."""
    fresh = os.path.join(folder, f".mmem-{os.getpid()}-{os.urandom(4).hex()}.new")
    try:
        with about_folder(folder):
            os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        yield fresh
    finally:
        remove(fresh)
        with suppress(FileNotFoundError):
            os.unlink(fresh + "-journal")


def put(fresh: str, path: str, *, replace: bool = False) -> None:
    """Give a finished file its name, on the disk for good; another's only with `replace`. Raises `Conflict`."""
    with about_folder(os.path.dirname(path)):
        descriptor = os.open(fresh, os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if replace:
            os.replace(fresh, path)
        else:
            link(fresh, path)
        sync_directory(os.path.dirname(path) or ".")


def link(fresh: str, path: str) -> None:
    """Give a file a name that no other has. Raises `Conflict`."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise Conflict(f"{path} was made by another program meanwhile and is left as it is: try again") from None
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise Conflict(f"{path} was made by another program meanwhile and is left as it is: try again") from None
        os.rename(fresh, path)


def in_use(path: str) -> str | None:
    """Return the log or journal that stands beside a path, which makes a database in use of what is there."""
    return next((path + suffix for suffix in _BESIDE if os.path.lexists(path + suffix)), None)


@contextmanager
def about_folder(folder: str) -> Iterator[None]:
    """Turn the system's errors about writing in a folder into ours."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Storage(f"{folder or '.'}: {reason}; no file was written there", {"path": folder}) from error

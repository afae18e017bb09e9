"""SQLite's and the operating system's errors, turned into ours with a sentence that says what to do."""

import errno
import os
import shlex
import sqlite3

from mmem.errors import Busy, IndexDamaged, Internal, MmemError, Storage

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_FULL = {errno.ENOSPC, errno.EDQUOT} if hasattr(errno, "EDQUOT") else {errno.ENOSPC}


def primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code of an error, 0 where there is none."""
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else 0


# What FTS5 says of some damage: a constraint without a name, where those of our tables have one, or no more than this.
_OF_FTS5 = {"constraint failed", "SQL logic error"}


def from_sqlite(error: sqlite3.Error, path: str, timeout: float) -> MmemError:
    """Return our error for one of SQLite's about the file at `path`."""
    code, details = primary_code(error), {"path": path}
    if code in _BUSY:
        return Busy(
            f"{path} is locked: another process has been writing for more than {timeout:g} s; {how_to_see(path)}",
            details,
        )
    if code == sqlite3.SQLITE_NOTADB:
        return Storage(f"{path} is not a database; it was left as it is: move it out of the base directory", details)
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(path)):
        return Storage(f"the disk is full: nothing was written to {path}; make room and try again", details)
    in_index = any(word in str(error) for word in ("fts5", "fts_content")) or str(error) in _OF_FTS5
    if in_index or getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CORRUPT_VTAB:
        return IndexDamaged(f"the search index in {path} is damaged and couldn't be rebuilt", details)
    if code == sqlite3.SQLITE_CORRUPT:
        return Storage(f"{path} is damaged ({error}); bring a backup back with mmem restore", details)
    if code == sqlite3.SQLITE_READONLY:
        return Storage(
            f"{path} can't be written: permission denied; check the owner and mode of it and of its directory",
            details,
        )
    if code in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}:
        return Storage(f"{path} can't be opened ({_why_unopenable(path)}); check its owner and mode", details)
    if code == sqlite3.SQLITE_IOERR:
        return Storage(f"reading or writing {path} failed ({error}); check the disk and its free space", details)
    return Internal(f"SQLite said '{error}' about {path}; this is a bug in mmem: please report it", details)


def how_to_see(path: str) -> str:
    """Return what to do where another process holds a file."""
    return f"try again; `lsof {shlex.quote(path)}` shows which one" if os.name == "posix" else "try again"


def _is_full(path: str) -> bool:
    try:
        return os.statvfs(os.path.dirname(path)).f_bavail == 0
    except (OSError, AttributeError):
        return False


def _why_unopenable(path: str) -> str:
    if os.path.isdir(path):
        return "it is a directory"
    if not os.access(path, os.R_OK):
        return "permission denied"
    folder = os.path.dirname(path)
    if not os.access(folder, os.W_OK):
        return f"no permission to write in {folder}, which SQLite needs beside the file"
    return "unable to open it"


def from_os(error: OSError, path: str) -> MmemError:
    """Return our error for one of the operating system's about the file at `path`."""
    details = {"path": path}
    if error.errno in _FULL:
        return Storage(f"the disk is full: nothing was written to {path}; make room and try again", details)
    reason = (error.strerror or str(error)).lower()
    return Storage(f"{path}: {reason}; choose another place with --base-dir or MEMORY_BASE_DIR", details)


def raise_ours(error: BaseException | None, path: str, timeout: float) -> None:
    """Raise ours for one of SQLite's or the system's errors about the file at `path`; return for any other."""
    if isinstance(error, sqlite3.Error):
        raise from_sqlite(error, path, timeout) from error
    if isinstance(error, OSError):
        raise from_os(error, path) from error

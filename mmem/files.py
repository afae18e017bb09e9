"""The files of a base directory: which ones are categories, how one is opened, created and told from another.

Light on purpose: `mmem list-categories` and TAB need nothing more than this.
"""

import errno
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from mmem.errors import Storage
from mmem.faults import from_os, from_sqlite
from mmem.names import category_fault

Identity = tuple[int, int]

TIMEOUT = 30.0  # seconds to wait for another process's write
COLUMNS = {  # what a memory has at least, in the tables of every schema version
    "entities": {"id", "name", "entity_type"},
    "observations": {"id", "entity_id", "observation_type", "content", "timestamp", "source"},
    "relations": {"id", "from_entity_id", "to_entity_id", "relation_type"},
}

_OLDEST_SQLITE = (3, 38, 0)  # for the schema's unixepoch()


def require_sqlite() -> None:
    """Raise `Storage` where this Python's SQLite is too old."""
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        oldest = ".".join(map(str, _OLDEST_SQLITE))
        raise Storage(f"this Python has SQLite {sqlite3.sqlite_version}; mmem needs {oldest}: use a newer Python")


def categories(base_dir: str, timeout: float = TIMEOUT) -> list[str]:
    """Return the names of the categories, sorted: files that are named like one and hold a memory."""
    require_sqlite()
    try:
        with os.scandir(base_dir) as entries:
            stems = [entry.name[:-3] for entry in entries if entry.name.endswith(".db")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise from_os(error, base_dir) from error
    return sorted(
        stem for stem in stems if category_fault(stem) is None and holds_memory(path_of(base_dir, stem), timeout)
    )


def path_of(base_dir: str, category: str) -> str:
    """Return the path of a category's file."""
    return os.path.join(base_dir, f"{category}.db")


def holds_memory(path: str, timeout: float = TIMEOUT) -> bool:
    """Tell whether a file is a database with the tables of a memory, without changing it."""
    if not os.path.isfile(path) or identity(path) is None:
        return False
    try:
        conn = connect(path, "ro", timeout) if has_log(path) else connect_to_read(path, timeout)
        try:
            return all(
                needed <= {row[1] for row in conn.execute(f"PRAGMA table_info({table})")}
                for table, needed in COLUMNS.items()
            )
        finally:
            conn.close()
    except sqlite3.OperationalError:  # locked, or not readable here: it is a database, and reading it says more
        return _is_database(path)
    except sqlite3.Error:
        return False


def _is_database(path: str) -> bool:
    """Tell whether a file is a database at all, whoever holds it.

    It is asked of SQLite, never read here: on POSIX, a process that closes a file loses its locks on it, those of its
    other connections too, and the next program to leave the database would take itself for the last and delete the log.
    """
    try:
        conn = sqlite3.connect(f"{_uri(path)}?mode=ro&immutable=1", uri=True)
        try:
            conn.execute("PRAGMA schema_version").fetchone()
            return True
        finally:
            conn.close()
    except sqlite3.Error:
        _require_descriptors(path)
        return False


def _require_descriptors(path: str) -> None:
    """Raise `Storage` where no more files can be opened, which says nothing of this one."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        raise from_os(error, path) from error


def identity(path: str) -> Identity | None:
    """Return what tells this file from any other, or None where there is none (or an empty one)."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise from_os(error, path) from error
    return (found.st_dev, found.st_ino) if found.st_size else None


def inode(path: str) -> Identity | None:
    """Return what tells a file from any other, also an empty one; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def has_log(path: str) -> bool:
    """Tell whether a database has a write-ahead log with something in it."""
    try:
        return os.stat(path + "-wal").st_size > 0
    except OSError:
        return False


def connect(path: str, mode: str, timeout: float) -> sqlite3.Connection:
    """Return a connection to an existing file; `mode` is `rw` or `ro`. The timeout holds from the start.

    Closing the last writable connection moves a log into the database, so what must not change is read with
    `ro` while there is a log; without one, `rw` is what leaves no files behind. Any thread may use it, one at a time.
    """
    return sqlite3.connect(
        f"{_uri(path)}?mode={mode}",
        uri=True,
        timeout=timeout,
        isolation_level=None,
        cached_statements=256,
        check_same_thread=False,
    )


def _uri(path: str) -> str:
    """Return a path as SQLite's URI."""
    escaped = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return "file:" + ("/" + escaped.replace("\\", "/") if os.name == "nt" else escaped)


def connect_to_read(path: str, timeout: float) -> sqlite3.Connection:
    """Return a connection that can at least read: also where SQLite may not put its files beside the database.

    That is so on a read-only medium or a full disk. Then the file is read as it is: a connection that
    `is_frozen` sees no later change, so the next use has to open the file again.
    """
    conn = connect(path, "rw", timeout)
    try:
        conn.execute("SELECT 1 FROM sqlite_master").fetchone()
        return conn
    except sqlite3.Error as error:
        conn.close()
        if not isinstance(error, sqlite3.OperationalError) or has_log(path) or not os.access(path, os.R_OK):
            raise
    conn = connect(path, "ro&immutable=1", timeout)
    conn.execute("PRAGMA query_only = ON")
    return conn


def is_frozen(conn: sqlite3.Connection) -> bool:
    """Tell whether a connection reads a file as if nobody could change it."""
    return bool(conn.execute("PRAGMA query_only").fetchone()[0])


@contextmanager
def directory_lock(directory: str, *, exclusive: bool) -> Iterator[None]:
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


def _queue(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.queue")


@contextmanager
def waiting(path: str) -> Iterator[None]:
    """Let others see, for a moment, that this process waits for a database's write lock."""
    with suppress(OSError):
        os.close(os.open(_queue(path), os.O_CREAT | os.O_WRONLY, 0o600))
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(_queue(path))  # whoever else waits puts it there again


def give_way(path: str) -> None:
    """Let a process that waits for a database's write lock have it; for at most a tenth of a second."""
    queue = _queue(path)
    if not os.path.exists(queue):
        return
    deadline = time.monotonic() + 0.1
    while os.path.exists(queue):
        if time.monotonic() > deadline:  # left behind by a process that was killed
            with suppress(OSError):
                os.unlink(queue)
            return
        time.sleep(0.001)


def create_file(path: str, timeout: float) -> None:
    """Put an empty memory at the path, whole at once; what another process put there first stays."""
    folder, name = os.path.split(path)
    fresh = os.path.join(folder, f".{name}.{os.getpid()}-{os.urandom(4).hex()}.new")
    try:
        make_directories(folder)
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        try:
            _fill(fresh, timeout)
            _put(fresh, path, timeout)
        finally:
            remove(fresh)
    except sqlite3.Error as error:
        raise from_sqlite(error, path, timeout) from error
    except OSError as error:
        raise from_os(error, path) from error


def _fill(path: str, timeout: float) -> None:
    """Create what is missing in a file that holds nothing yet; one that holds something stays as it is."""
    from mmem import schema

    empty = os.stat(path).st_size == 0
    conn = connect(path, "rw", timeout)
    try:
        if empty:
            conn.execute("PRAGMA journal_mode = WAL")
        conn.execute("BEGIN IMMEDIATE")
        if empty or schema.is_begun(conn):
            schema.install(conn)
        conn.execute("COMMIT")
    finally:
        conn.close()


def _put(fresh: str, path: str, timeout: float) -> None:
    """Give a finished file its name, unless another has it."""
    try:
        with directory_lock(os.path.dirname(path), exclusive=True):
            if not os.path.lexists(path):
                remove(path)  # the log of a file that is gone would be read into the new one
            os.link(fresh, path)
    except FileExistsError:
        if os.path.islink(path) and not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, "a link to a file that isn't there", path) from None
        try:
            _fill(path, timeout)  # an empty file, or one that another program has begun
        except (FileNotFoundError, sqlite3.OperationalError):
            if os.path.exists(path):
                raise
    except OSError:  # a file system without hard links
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        _fill(path, timeout)
    sync_directory(os.path.dirname(path))


def sync_directory(directory: str) -> None:
    """Have the names in a directory on the disk, or a power cut could take them back; a no-op on Windows."""
    if os.name != "nt":
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove(path: str) -> None:
    """Remove a database and what SQLite keeps beside it, the database last.

    Whoever opens it in between gets the old file, never a new one's log.
    """
    for suffix in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            os.unlink(path + suffix)


def set_log_aside(path: str) -> str | None:
    """Rename the log beside a database that it doesn't belong to; return its new path, or None for an empty one."""
    aside = f"{path}-wal-of-the-one-before-{os.urandom(4).hex()}"
    try:
        empty = os.stat(path + "-wal").st_size == 0
        os.rename(path + "-wal", aside)
        os.unlink(path + "-shm")  # only an index of the log
        if empty:
            os.unlink(aside)
    except FileNotFoundError:
        return None
    return None if empty else aside


def make_directories(directory: str) -> None:
    """Create a directory and its missing parents, all 0700."""
    missing = []
    while not os.path.isdir(directory):
        missing.append(directory)
        parent = os.path.dirname(directory)
        if parent == directory:
            break
        directory = parent
    for path in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(path, mode=0o700)
        if not os.path.isdir(path):
            raise NotADirectoryError(errno.ENOTDIR, "not a directory", path)

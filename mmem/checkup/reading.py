"""Files of the base directory read while others use them, with little patience and nothing changed."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from mmem import files
from mmem.errors import Busy
from mmem.files import connect, connect_to_read, directory_lock, has_log, is_frozen

PATIENCE = 2.0  # seconds to wait for another process


def is_memory(path: str) -> bool:
    """Tell whether a file holds a memory."""
    return files.holds_memory(path, PATIENCE)


def memories(base_dir: str) -> list[str]:
    """Return the names of the categories, sorted."""
    return files.categories(base_dir, PATIENCE)


@contextmanager
def reading(path: str) -> Iterator[sqlite3.Connection]:
    """Read one state of a file while others write to it. Nothing but a temporary table can be made.

    Raises `Busy` where another program keeps the whole file to itself.
    """
    folder = os.path.dirname(path)
    with directory_lock(folder, exclusive=False):
        conn = connect(path, "ro", PATIENCE) if has_log(path) else connect_to_read(path, PATIENCE)
    with closing(conn):
        if is_frozen(conn):
            if os.access(path, os.W_OK) and os.access(folder, os.W_OK):
                raise Busy(f"another program keeps {path} to itself", {"path": path})
            conn.execute("PRAGMA query_only = OFF")  # it is opened for reading alone, and needs a temporary table
        conn.execute("BEGIN")
        yield conn
        conn.execute("ROLLBACK")

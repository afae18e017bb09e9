"""Whether a category's search index fits its rows, told without a write to the file."""

import os
import sqlite3
from contextlib import closing
from tempfile import TemporaryDirectory

from mmem.copies import copy
from mmem.faults import primary_code
from mmem.files import TIMEOUT, connect
from mmem.upkeep import index_is_sound

# Every row of the tables in the index, and no other: FTS5 keeps a row for each in its docsize table.
_ROWS_DIFFER = """SELECT EXISTS (SELECT rid FROM fts_source EXCEPT SELECT id FROM fts_content_docsize)
OR (SELECT count(*) FROM fts_source) <> (SELECT count(*) FROM fts_content_docsize)"""


def seems_sound(conn: sqlite3.Connection) -> bool:
    """Tell whether every part of the index can be read and it holds the rows that there are.

    FTS5's own check is an INSERT, which would take the write lock; this reads, and doesn't compare the words.
    """
    try:
        conn.execute("CREATE VIRTUAL TABLE temp.mmem_checkup USING fts5vocab(main, fts_content, 'row')")
        conn.execute("SELECT sum(cnt) FROM temp.mmem_checkup").fetchone()
        conn.execute("SELECT rowid FROM fts_content WHERE fts_content MATCH 'a' LIMIT 1").fetchone()
        return not conn.execute(_ROWS_DIFFER).fetchone()[0]
    except sqlite3.DatabaseError as error:
        if primary_code(error) == sqlite3.SQLITE_INTERRUPT:
            raise
        return False


def is_sound(conn: sqlite3.Connection) -> bool:
    """Tell whether the index holds the very words of the rows: FTS5's own check, on a copy that goes at once.

    Raises `Storage` where the copy can't be made.
    """
    with TemporaryDirectory(prefix="mmem-") as folder:  # which nobody else may read
        fresh = os.path.join(folder, "copy.db")
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        copy(conn, fresh, fresh)
        with closing(connect(fresh, "rw", TIMEOUT)) as copied:
            return index_is_sound(copied)

"""A category that exists only in memory, while a dry run lasts."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from mmem import schema
from mmem.layout import own_layout
from mmem.transaction import Transaction


class ImaginaryFile:
    """Stands in for the `CategoryFile` of a category that a dry run would create."""

    def __init__(self, category: str) -> None:
        """Begin with an empty category."""
        self.conn = sqlite3.connect(":memory:", isolation_level=None)
        self.conn.execute("PRAGMA foreign_keys = ON")
        self.conn.execute("BEGIN IMMEDIATE")
        schema.install(self.conn)
        self._transaction = Transaction(category, self.conn, own_layout(self.conn), writes=True)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Read what the dry run has written."""
        yield self._transaction.part()

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Write a part that fails alone."""
        with self._transaction.nested() as part:
            yield part

    def close(self) -> None:
        """Forget everything."""
        self.conn.close()

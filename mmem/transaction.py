"""One transaction on a category: its connection, its notices, and the rows the index doesn't hold yet."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from operator import itemgetter
from typing import cast

from mmem import schema, semantic
from mmem.errors import Storage
from mmem.layout import Layout
from mmem.outcomes import Notice

Row = Sequence[object]

_ROWS_A_STATEMENT = 500  # times eight columns stays far below SQLite's 32,766 variables
_MANY = 300  # rows that make FTS5's buffer large
_WORTH_MERGING = 5_000  # new rows whose segments are worth merging at once

_OBSERVATIONS_OF = "SELECT count(*) FROM json_each(?) j CROSS JOIN observations o ON o.entity_id = j.value"


class Pending:
    """What a transaction has inserted so far, shared by its parts."""

    def __init__(self) -> None:
        self.unindexed: tuple[int, int] | None = None  # the first ids of entities and observations not indexed
        self.inserted = 0
        self.next_ids: dict[str, int] = {}  # nobody else can give ids while we hold the lock
        self.names_are_known = False
        self.unembedded = 0  # observations that were inserted or changed, and may have no vector yet
        self.first_vector: int | None = None  # the first observation that was given one

    def following(self) -> "Pending":
        """Return what the next transaction may know already, where nobody else has written in between."""
        other = Pending()
        other.next_ids = self.next_ids
        other.names_are_known = self.names_are_known
        return other

    def copy(self) -> "Pending":
        """Return what to go back to when a part fails."""
        other = Pending()
        other.__dict__.update(self.__dict__, next_ids=dict(self.next_ids))
        return other


class Transaction:
    """What SQL statements run in. Rows go in by `insert`, so that a batch is indexed by one statement."""

    def __init__(
        self,
        category: str,
        conn: sqlite3.Connection,
        layout: Layout,
        pending: Pending | None = None,
        *,
        writes: bool = False,
    ) -> None:
        """Wrap a connection in which a transaction is open."""
        self.category = category
        self.conn = conn
        self.layout = layout
        self.notices: list[Notice] = []
        self.wrote_many = False
        self.writes = writes
        self._pending = pending or Pending()

    def part(self) -> "Transaction":
        """Return the same transaction with notices of its own, for a part of it that only reads."""
        return Transaction(self.category, self.conn, self.layout, self._pending, writes=self.writes)

    def following(self) -> Pending:
        """Return what the next transaction of this connection may know already."""
        return self._pending.following()

    def require_open(self) -> None:
        """Raise `Storage` where SQLite has ended the transaction by itself, as it does when the disk is full."""
        if not self.conn.in_transaction:
            raise Storage(
                f"an error before ended the transaction on category '{self.category}': nothing of it is stored; "
                "see that the disk isn't full and try again"
            )

    @contextmanager
    def nested(self) -> Iterator["Transaction"]:
        """Run a part of the transaction that fails alone, with notices of its own."""
        self.require_open()
        before = self._pending.copy()
        self.conn.execute("SAVEPOINT part")
        try:
            yield self.part()
        except BaseException:
            self._pending.__dict__.update(before.__dict__)
            if self.conn.in_transaction:  # a full disk may have ended it already
                self.conn.execute("ROLLBACK TO part")
            raise
        finally:
            if self.conn.in_transaction:
                self.conn.execute("RELEASE part")

    def notice(self, notice: Notice) -> None:
        """Add a notice to the outcome."""
        self.notices.append(notice)

    @property
    def first_vector(self) -> int | None:
        """The first observation that this transaction gave a vector; None where it gave none."""
        return self._pending.first_vector

    def next_id(self, table: str) -> int:
        """Return the id that the next row of a table gets; ids are never given twice."""
        known = self._pending.next_ids
        if table not in known:
            row = self.conn.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
            known[table] = (row[0] if row else 0) + 1
        return known[table]

    def catches_up_names(self) -> bool:
        """Tell, once in a transaction, to look for names that another program stored."""
        first, self._pending.names_are_known = not self._pending.names_are_known, True
        return first

    def forget_names(self) -> None:
        """Let go of what is known of names, so that every entity's is looked at again."""
        self.conn.execute("DELETE FROM mmem_names")
        self._pending.names_are_known = False

    def defer_index(self) -> None:
        """Let the rows inserted from now on be indexed together, by `flush_index`."""
        if self._pending.unindexed is None and self.layout.full_text:
            self._pending.unindexed = (self.next_id("entities"), self.next_id("observations"))
            self.conn.execute("INSERT INTO schema_version VALUES (?)", (schema.GATE,))

    def flush_index(self) -> None:
        """Index the rows that were deferred: before a search, an update, a deletion or the COMMIT."""
        if self._pending.unindexed is not None:
            self.conn.execute(schema.INDEX_NEW_ROWS, self._pending.unindexed)
            self._open_gate()

    def rebuild_index(self) -> None:
        """Make the index anew from all rows, those that were deferred among them."""
        if self.layout.full_text:
            schema.rebuild(self.conn)
        self._open_gate()

    def flush_vectors(self) -> None:
        """Give the observations written so far their vectors, where the extra `semantic` is there."""
        written, self._pending.unembedded = self._pending.unembedded, 0
        model = semantic.model() if written else None
        if model is not None:
            from mmem.vectors import write

            given, known = write(self.conn, model, written)[:1], self._pending.first_vector
            self._pending.first_vector = min([*given, *([] if known is None else [known])], default=None)

    def _open_gate(self) -> None:
        """Let the triggers index what is inserted from now on."""
        if self._pending.unindexed is not None:
            self.conn.execute("DELETE FROM schema_version WHERE version = ?", (schema.GATE,))
            self._pending.unindexed = None

    def finish(self) -> None:
        """Make the transaction ready for its COMMIT."""
        self.flush_index()
        self.flush_vectors()
        self.wrote_many = self._pending.inserted > _MANY
        if self._pending.inserted >= _WORTH_MERGING and self.layout.full_text:
            last = self.next_id("entities") + self.next_id("observations")
            if self._pending.inserted * 4 >= last:  # else the next few hundred small writes would pay for merging
                self.conn.execute(schema.OPTIMIZE)

    def insert(self, table: str, columns: str, rows: Sequence[Row], *, or_ignore: bool = False) -> int:
        """Insert rows, whose ids ascend, with multi-row VALUES; return how many were new, where others are ignored.

        One statement is one flush of the index, whatever its size.
        """
        before = self.conn.total_changes if or_ignore else 0
        one = f"({', '.join('?' * (columns.count(',') + 1))})"
        for first in range(0, len(rows), _ROWS_A_STATEMENT):
            chunk = rows[first : first + _ROWS_A_STATEMENT]
            self.conn.execute(
                f"INSERT {'OR IGNORE ' if or_ignore else ''}INTO {table}({columns}) VALUES "
                + ", ".join([one] * len(chunk)),
                list(chain.from_iterable(chunk)),
            )
        if rows:
            self._pending.inserted += len(rows)
            self._pending.unembedded += len(rows) if table == "observations" else 0
            if table in self._pending.next_ids:
                last = cast(int, max(map(itemgetter(0), rows)))
                self._pending.next_ids[table] = max(self._pending.next_ids[table], last + 1)
        return self.conn.total_changes - before if or_ignore else len(rows)

    def update(self, table: str, columns: Sequence[str], rows: Sequence[Row], extra: str = "") -> None:
        """Set columns of rows, each given as `(id, value, ...)`, in one statement for many rows."""
        self.flush_index()
        if table == "entities" and "name" in columns:
            self._pending.names_are_known = False
            renamed = id_list(cast(int, row[0]) for row in rows)
            self._pending.unembedded += self.conn.execute(_OBSERVATIONS_OF, (renamed,)).fetchone()[0]
        if table == "observations" and not {"content", "entity_id"}.isdisjoint(columns):
            self._pending.unembedded += len(rows)
        one = f"({', '.join('?' * (len(columns) + 1))})"
        assignments = ", ".join(f"{name} = new.{name}" for name in columns) + extra
        for first in range(0, len(rows), _ROWS_A_STATEMENT):
            chunk = rows[first : first + _ROWS_A_STATEMENT]
            self.conn.execute(
                f"WITH new(id, {', '.join(columns)}) AS (VALUES {', '.join([one] * len(chunk))}) "
                f"UPDATE {table} SET {assignments} FROM new WHERE {table}.id = new.id",
                list(chain.from_iterable(chunk)),
            )

    def delete(self, table: str, column: str, ids: Iterable[int]) -> int:
        """Delete the rows whose column is one of the ids; return how many there were."""
        wanted = list(ids)
        if not wanted:
            return 0
        self.flush_index()
        statement = f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))"
        return self.conn.execute(statement, (id_list(wanted),)).rowcount


def id_list(ids: Iterable[int]) -> str:
    """Return ids as the JSON array that `json_each(?)` takes, so that any number is one placeholder."""
    return f"[{','.join(map(str, ids))}]"

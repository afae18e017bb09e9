"""The base directory: its categories, opened as they are needed, at most fifty at a time."""

import os
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from mmem.category_file import CategoryFile, Missing, connect, create_file, has_log, identity
from mmem.errors import InvalidArguments, NotFound, Storage
from mmem.faults import from_os
from mmem.layout import OWN, is_memory
from mmem.names import category_fault, did_you_mean, nearest, require_category
from mmem.outcomes import Notice
from mmem.settings import DEFAULT_CATEGORY
from mmem.transaction import Transaction

MAX_OPEN = 50
TIMEOUT = 30.0  # seconds to wait for another process's write
_OLDEST_SQLITE = (3, 38, 0)  # for the schema's unixepoch()


class Store:
    """The categories below one base directory."""

    def __init__(
        self,
        base_dir: Path,
        default_category: str = DEFAULT_CATEGORY,
        *,
        synchronous: str = "NORMAL",
        timeout: float = TIMEOUT,
    ) -> None:
        """Open nothing yet. `synchronous` is SQLite's NORMAL or FULL; `timeout` is in seconds."""
        if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
            raise Storage(
                f"this Python brings SQLite {sqlite3.sqlite_version}; mmem needs "
                f"{'.'.join(map(str, _OLDEST_SQLITE))} or newer: use a newer Python"
            )
        self.base_dir = base_dir
        self.default_category = default_category
        self._synchronous = synchronous
        self._timeout = timeout
        self._open: OrderedDict[str, CategoryFile] = OrderedDict()

    def __enter__(self) -> "Store":
        """Return the store itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every category."""
        self.close()

    def close(self) -> None:
        """Close every category."""
        while self._open:
            self._open.popitem()[1].close()

    def category(self, given: str | None) -> str:
        """Return the category a request means: its own, or the default for None and `""`."""
        return require_category(given) if given else self.default_category

    def path(self, category: str) -> Path:
        """Return the path of a category's file."""
        return self.base_dir / f"{category}.db"

    def categories(self) -> list[str]:
        """Return the names of the categories, sorted: files that are named like one and hold a memory."""
        try:
            with os.scandir(self.base_dir) as entries:
                stems = [entry.name[:-3] for entry in entries if entry.name.endswith(".db")]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise from_os(error, self.base_dir) from error
        return sorted(stem for stem in stems if category_fault(stem) is None and _holds_memory(self.path(stem)))

    @contextmanager
    def reading(self, given: str | None) -> Iterator[Transaction]:
        """Read one consistent state of a category; of one that doesn't exist, an empty one with a notice."""
        category = self.category(given)
        opened = False
        try:
            with self._file(category).read() as transaction:
                opened = True
                yield transaction
                return
        except Missing:
            if opened:
                raise
        with self._absent(category) as empty:
            yield empty

    @contextmanager
    def writing(self, given: str | None, *, create: bool = False) -> Iterator[Transaction]:
        """Write to a category in one transaction. Only with `create` does a missing one come to be.

        Without it, a write to a missing category runs on an empty one in memory that is thrown away: it can
        fail, or find nothing, just as it should.
        """
        category = self.category(given)
        file = self._file(category)
        created = create and identity(file.path) is None
        if created:
            create_file(file.path)
        opened = False
        try:
            with file.write() as transaction:
                opened = True
                yield transaction
                return
        except Missing:
            if opened:
                raise
        except BaseException:
            if created:
                with suppress(Missing):
                    file.delete(_is_empty)
            raise
        with self._absent(category) as empty:
            yield empty

    def delete(self, category: str) -> None:
        """Delete a category's file. Raises `NotFound` where there is none."""
        require_category(category)
        file = self._file(category)
        try:
            file.delete()
        except Missing:
            names = self.categories()
            near = nearest(category, names)
            message = f"there is no category '{category}'{did_you_mean(near)}"
            raise NotFound(message, {"category": category, "nearest": near}) from None
        finally:
            self._open.pop(category, None)

    def heal_index(self, category: str) -> None:
        """Rebuild a category's search index from its rows."""
        self._file(category).heal_index()

    def _file(self, category: str) -> CategoryFile:
        file = self._open.get(category)
        if file is not None:
            self._open.move_to_end(category)
            return file
        while len(self._open) >= MAX_OPEN:
            oldest = next((name for name, held in self._open.items() if not held.in_transaction), None)
            if oldest is None:
                raise InvalidArguments(f"more than {MAX_OPEN} categories are being written at once")
            self._open.pop(oldest).close()
        file = CategoryFile(category, self.path(category), synchronous=self._synchronous, timeout=self._timeout)
        self._open[category] = file
        return file

    @contextmanager
    def _absent(self, category: str) -> Iterator[Transaction]:
        """Yield an empty memory that nobody keeps, with the notice `no_such_category`."""
        from mmem import schema

        conn = sqlite3.connect(":memory:", isolation_level=None)
        try:
            conn.execute("PRAGMA foreign_keys = ON")
            conn.execute("BEGIN IMMEDIATE")
            schema.create(conn)
            transaction = Transaction(category, conn, OWN)
            near = nearest(category, self.categories())
            message = f"there is no category '{category}' in {self.base_dir}{did_you_mean(near)}"
            transaction.notice(Notice("no_such_category", message, category=category, nearest=near))
            yield transaction
        finally:
            conn.close()


def _is_empty(conn: sqlite3.Connection) -> bool:
    """Tell whether nothing was ever stored in a file."""
    unused = "SELECT NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE seq > 0)"
    return bool(conn.execute(unused).fetchone()[0])


def _holds_memory(path: Path) -> bool:
    """Tell whether a file is a database with the tables of a memory, without changing it."""
    if identity(path) is None or path.is_dir():
        return False
    try:
        conn = connect(path, "ro" if has_log(path) else "rw", TIMEOUT)
        try:
            return is_memory(conn)
        finally:
            conn.close()
    except sqlite3.Error:
        return False

"""The base directory: its categories, opened as they are needed, at most fifty at a time."""

import os
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType

from mmem.category_file import CategoryFile, Missing, Patience
from mmem.errors import Busy, Conflict, InvalidArguments, NotFound, Storage
from mmem.files import (
    TIMEOUT,
    categories,
    create_file,
    give_way,
    holds_memory,
    path_of,
    require_sqlite,
)
from mmem.imaginary import ImaginaryFile
from mmem.layout import own_layout
from mmem.names import did_you_mean, nearest, require_category
from mmem.outcomes import Notice
from mmem.settings import DEFAULT_CATEGORY
from mmem.transaction import Transaction

MAX_OPEN = 50
_GLANCE = 0.1  # seconds that a watch waits for a lock
_HURRY = 0.02  # seconds that a hurrying write waits for a lock
_TRIES = 20  # to create a category that other processes delete


class Store:
    """The categories below one base directory."""

    def __init__(
        self,
        base_dir: str | os.PathLike[str],
        default_category: str = DEFAULT_CATEGORY,
        *,
        synchronous: str = "NORMAL",
        timeout: float = TIMEOUT,
        dry_run: bool = False,
        temp_store: str = "MEMORY",
    ) -> None:
        """Open nothing yet. `synchronous` is SQLite's NORMAL or FULL; `timeout` is in seconds.

        `temp_store` is MEMORY or FILE: where SQLite sorts what is large.

        With `dry_run`, categories that would be created live in memory.
        """
        require_sqlite()
        self.base_dir = os.path.abspath(base_dir)
        self.default_category = default_category
        self._synchronous = synchronous
        self._temp_store = temp_store
        self._timeout = timeout
        self._patience = Patience(timeout)
        self._dry_run = dry_run
        self._imaginary: dict[str, ImaginaryFile] = {}
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
        for file in self._open.values():
            file.close()
        for imaginary in self._imaginary.values():
            imaginary.close()
        self._open.clear()
        self._imaginary.clear()

    def category(self, given: str | None) -> str:
        """Return the category a request means: its own, or the default for None and `""`."""
        return require_category(given) if given else self.default_category

    def categories(self) -> list[str]:
        """Return the names of the categories, sorted: files that are named like one and hold a memory."""
        return sorted({*categories(self.base_dir), *self._imaginary})

    def is_empty(self, given: str | None) -> bool:
        """Tell whether a category holds no entity, or doesn't exist."""
        with self.reading(given) as transaction:
            return not transaction.conn.execute("SELECT EXISTS (SELECT 1 FROM entities)").fetchone()[0]

    @contextmanager
    def reading(self, given: str | None) -> Iterator[Transaction]:
        """Read one consistent state of a category; of one that doesn't exist, an empty one with a notice."""
        category = self.category(given)
        opened = False
        try:
            with (self._imaginary.get(category) or self._file(category)).read() as transaction:
                opened = True
                yield transaction
                return
        except Missing:
            if opened:
                raise
        with self._absent(category) as empty:
            yield empty

    @contextmanager
    def holding_still(self, category: str) -> Iterator[Transaction]:
        """Hold one state of a category: all that is read within is of that state.

        Raises `Missing` where there is no such category.
        """
        with (self._imaginary.get(category) or self._file(category)).read() as transaction:
            yield transaction

    @contextmanager
    def holding(self, category: str, *, create: bool) -> Iterator[Transaction]:
        """Hold a category's write lock: what runs within becomes a part of one transaction.

        Raises `Missing` where there is no such category, unless it is to be created.
        """
        if category in self._imaginary:
            with self._imaginary[category].write() as transaction:
                yield transaction
            return
        file = self._file(category)
        opened = created = False
        try:
            for _ in range(_TRIES if create else 1):
                try:
                    with file.write() as transaction:
                        opened = True
                        yield transaction
                        return
                except Missing:
                    if opened or not create:
                        raise
                    if self._dry_run:
                        self._imaginary[category] = ImaginaryFile(category)
                        with self._imaginary[category].write() as transaction:
                            opened = True
                            yield transaction
                        return
                    create_file(file.path, self._timeout)
                    created = True
        except BaseException:
            if created:
                with suppress(Missing):
                    file.delete(_is_empty)
            raise
        raise Conflict(f"category '{category}' is being deleted again and again; try again")

    @contextmanager
    def durable(self, category: str) -> Iterator[None]:
        """Let each COMMIT to a category within outlast a power failure, however the store is opened."""
        if category in self._imaginary:
            yield
            return
        with self._file(category).durable():
            yield

    @contextmanager
    def writing(self, given: str | None, *, create: bool = False) -> Iterator[Transaction]:
        """Write to a category in one transaction. Only with `create` does a missing one come to be.

        Without it, a write to a missing category runs on an empty one in memory that is thrown away: it can
        fail, or find nothing, just as it should.
        """
        category = self.category(given)
        opened = False
        try:
            with self.holding(category, create=create) as transaction:
                opened = True
                yield transaction
                return
        except Missing:
            if opened or create:
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
            raise self.no_category(category) from None

    def no_category(self, category: str) -> NotFound:
        """Return the error that says that a category doesn't exist, with the nearest names."""
        near = nearest(category, self.categories())
        message = f"there is no category '{category}' in {self.base_dir}{did_you_mean(near)}"
        return NotFound(message, {"category": category, "nearest": near})

    def watch(self, category: str) -> "Watch":
        """Return what tells when a category changes."""
        return Watch(CategoryFile(category, path_of(self.base_dir, category), timeout=_GLANCE))

    def has(self, category: str) -> bool:
        """Tell whether a category exists."""
        return category in self._imaginary or holds_memory(path_of(self.base_dir, category))

    def size(self, category: str) -> int:
        """Return the bytes of a category's file and its log; 0 where there is none."""
        path = path_of(self.base_dir, category)
        return sum(os.path.getsize(one) for one in (path, path + "-wal") if os.path.exists(one))

    def may_wait(self, category: str) -> bool:
        """Tell whether even a read of a category may have to wait for others: its file has no write-ahead log.

        That is known once it was opened; until then it may be so.
        """
        file = self._open.get(category)
        return file is None or not file.has_log

    def changed_at(self) -> int | None:
        """Return when files last came to or went from the base directory, in nanoseconds; None where there is none."""
        try:
            return os.stat(self.base_dir).st_mtime_ns
        except OSError:
            return None

    @contextmanager
    def hurrying(self) -> Iterator[None]:
        """Wait for no lock within: raise `Busy` at once where another process writes, before anything is done."""
        self._patience.seconds = _HURRY
        try:
            yield
        finally:
            self._patience.seconds = self._timeout

    def give_way(self, category: str) -> None:
        """Let another process have a category's write lock, if one is waiting for it."""
        give_way(path_of(self.base_dir, category))

    def heal_index(self, category: str) -> None:
        """Rebuild a category's search index from its rows. Raises `NotFound` where there is no such category."""
        try:
            self._file(category).heal_index()
        except Missing:
            raise self.no_category(category) from None

    def compact(self, category: str) -> None:
        """Write a category's file anew, so that no byte of what was deleted stays in it. Raises `NotFound`."""
        try:
            self._file(category).compact()
        except Missing:
            raise self.no_category(category) from None

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
        file = CategoryFile(
            category,
            path_of(self.base_dir, category),
            synchronous=self._synchronous,
            timeout=self._timeout,
            patience=self._patience,
            temp_store=self._temp_store,
            keep_mode=self._dry_run,
        )
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
            schema.install(conn)
            transaction = Transaction(category, conn, own_layout(conn))
            near = nearest(category, self.categories())
            message = f"there is no category '{category}' in {self.base_dir}{did_you_mean(near)}"
            transaction.notice(Notice("no_such_category", message, category=category, nearest=near))
            yield transaction
        finally:
            conn.close()


class Watch:
    """Tells when a category's file was changed, replaced, created or deleted; by its own connection."""

    def __init__(self, file: CategoryFile) -> None:
        """Begin with the file as it is now."""
        self._file = file
        self._seen = self._version()

    def changed(self) -> bool:
        """Tell whether anything was committed to the file, by whomever, since it was last asked."""
        before, self._seen = self._seen, self._version()
        return self._seen != before

    def close(self) -> None:
        """Close the connection."""
        self._file.close()

    def _version(self) -> object:
        try:
            return self._file.version()
        except (Storage, Busy, Conflict) as error:
            return error.code


def _is_empty(conn: sqlite3.Connection) -> bool:
    """Tell whether nothing was ever stored in a file."""
    unused = "SELECT NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE seq > 0)"
    return bool(conn.execute(unused).fetchone()[0])

"""Categories brought back from backups, or from any other file that holds a memory."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import NamedTuple

from msgspec import Struct

from mmem import vectors
from mmem.category_file import Missing
from mmem.copies import Progress, copy, folder_at, unnamed
from mmem.errors import MmemError, Storage, Usage
from mmem.faults import from_sqlite, primary_code
from mmem.files import COLUMNS, TIMEOUT, connect, connect_to_read, has_log, inode, path_of
from mmem.layout import inspect
from mmem.outcomes import Notice, Outcome
from mmem.places import free_name, named, stamp
from mmem.soundness import BROKEN, Checked, Damaged, check, contents
from mmem.store import Store
from mmem.swapping import overwrite, place, place_beside
from mmem.visible import plural

KEPT = "replaced"  # the folder in the base directory where replaced categories are kept


class Restored(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A category that was restored and what it holds; `replaced` is where what it held before is kept."""

    category: str
    path: str
    bytes: int
    entities: int
    observations: int
    relations: int
    left_behind: int = 0
    replaced: str | None = None


class Planned(NamedTuple):
    """A file, the category that it is to become, and what stands there now."""

    source: str
    category: str
    standing: "Standing"

    @property
    def question(self) -> str | None:
        """What to ask before it is done; None where nothing is replaced."""
        if self.standing.entities is None and not self.standing.damaged:
            return None
        held = plural(self.standing.entities or 0, "entity", "entities")
        what = ", whose file is damaged," if self.standing.damaged else f" ({held})"
        return f"Replace category '{self.category}'{what} with {self.source}? What it is now is kept."


class Standing(NamedTuple):
    """What a category's path leads to: how many entities a memory there has, or that it can't be read."""

    exists: bool
    entities: int | None = None
    damaged: bool = False


class _Ready(NamedTuple):
    """A checked copy of what is to be restored."""

    plan: Planned
    fresh: str
    checked: Checked


def plan(store: Store, sources: Sequence[str], category: str | None) -> list[Planned]:
    """Return what restoring files would do. Nothing is changed.

    The category is told by a file's name unless it is given. Raises `Usage` and `Storage` for files that can't be
    restored, and where something else than a memory stands in a category's place.
    """
    chosen = [(path, category or _category(path)) for path in sources]
    for number, (path, name) in enumerate(chosen):
        for other, same in chosen[:number]:
            if same == name:
                raise Usage(f"{other} and {path} would both become category '{name}': restore one of them")
    planned = []
    for path, name in chosen:
        if os.path.exists(path) and inode(path) == inode(path_of(store.base_dir, name)):
            raise Usage(f"{path} is category '{name}' itself: name a backup of it, or another category with -c")
        with reading(path):
            planned.append(Planned(path, name, _standing(store, name)))
    return planned


def _category(path: str) -> str:
    found = named(path)
    if found is None:
        raise Usage(f"{path}: its name doesn't say which category it is: say it with -c")
    return found.category


def _standing(store: Store, category: str) -> Standing:
    try:
        with store.holding_still(category) as transaction:
            return Standing(True, contents(transaction.conn).entities)
    except Missing:
        return Standing(os.path.lexists(path_of(store.base_dir, category)))
    except Storage as error:
        cause = error.__cause__
        if isinstance(cause, sqlite3.Error) and primary_code(cause) in BROKEN:
            return Standing(True, damaged=True)
        raise


@contextmanager
def reading(path: str) -> Iterator[sqlite3.Connection]:
    """Read one state of a file that is to be restored, its log included; no byte of them changes.

    Raises `Usage` where there is no such file, and `Storage` where it isn't a memory of a known schema.
    """
    _require_file(path)
    try:
        with closing(connect(path, "ro", TIMEOUT) if has_log(path) else connect_to_read(path, TIMEOUT)) as conn:
            conn.execute("BEGIN")
            _require_memory(conn, path)
            yield conn
    except sqlite3.Error as error:
        raise _unreadable(error, path) from error


def _require_file(path: str) -> None:
    if not os.path.exists(path):
        raise Usage(f"there is no file {path}")
    if not os.path.isfile(path):
        raise Usage(f"{path} isn't a file")
    if os.path.getsize(path) == 0:
        raise Storage(f"{path} is empty: there is nothing in it to restore", {"path": path})
    if os.path.exists(path + "-journal") and os.path.getsize(path + "-journal") > 0:
        raise Storage(
            f"{path} is being written, or a program was stopped while it wrote it: {path}-journal says what has to be "
            "undone, and opening the file with that program does it",
            {"path": path},
        )


def _require_memory(conn: sqlite3.Connection, path: str) -> None:
    statement = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    tables = sorted(name for (name,) in conn.execute(statement))
    if not tables and conn.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        log = "is no log of it" if has_log(path) else "isn't there"
        raise Storage(
            f"{path} holds no tables: it is the shell of a database whose content is in its log, and {path}-wal {log}; "
            "copy both files from where it comes from",
            {"path": path},
        )
    if not COLUMNS.keys() <= set(tables):
        own = ", ".join(tables[:8])
        raise Storage(
            f"{path} is a database but not a memory (its tables: {own or 'none'}): name a file that mmem backup wrote, "
            "or another memory's",
            {"path": path, "tables": tables},
        )
    inspect(conn, path)


def _unreadable(error: sqlite3.Error, path: str) -> MmemError:
    if primary_code(error) == sqlite3.SQLITE_NOTADB:
        return Storage(f"{path} is not a database: name a file that mmem backup wrote", {"path": path})
    if primary_code(error) == sqlite3.SQLITE_CORRUPT:
        return _damaged(path, str(error))
    return from_sqlite(error, path, TIMEOUT)


def _damaged(path: str, fault: str) -> Storage:
    return Storage(f"{path} is damaged ({fault}): nothing was restored; take an earlier backup", {"path": path})


def restore(
    store: Store, planned: Sequence[Planned], progress: Progress = lambda done, total: None
) -> Iterator[Outcome[Restored]]:
    """Bring categories back as planned, and yield each once it is; all files are checked before any category changes.

    A category that is replaced is kept, whole, in the folder `replaced` of the base directory. Raises `Busy`,
    `Conflict` and `Storage`; the category then is as it was.
    """
    with ExitStack() as stack:
        base = stack.enter_context(folder_at(store.base_dir))
        ready = [_Ready(one, *_checked(one, base, stack, progress)) for one in planned]
        for one in ready:
            yield _brought_in(store, one, progress)


def _checked(one: Planned, base: str, stack: ExitStack, progress: Progress) -> tuple[str, Checked]:
    """Copy a file to where it is to be, and check the copy."""
    path = path_of(base, one.category)
    fresh = stack.enter_context(unnamed(base))
    with reading(one.source) as conn:
        copy(conn, fresh, path, progress)
    try:
        checked = check(fresh, one.source, progress)
    except Damaged as damage:
        raise _damaged(one.source, str(damage)) from damage
    with closing(connect(fresh, "rw", TIMEOUT)) as conn:
        vectors.renew_epochs(conn)
    return fresh, checked


def _brought_in(store: Store, one: _Ready, progress: Progress) -> Outcome[Restored]:
    path, standing, category = path_of(store.base_dir, one.plan.category), one.plan.standing, one.plan.category
    size = os.path.getsize(one.fresh)
    kept = None
    try:
        if one.plan.question is None:
            (_fill if standing.exists else place)(one.fresh, path)
        else:
            with folder_at(os.path.join(store.base_dir, KEPT)) as folder:
                kept = free_name(folder, category, stamp())
                _replace(one.fresh, path, kept, standing, progress)
    except sqlite3.Error as error:
        raise from_sqlite(error, path, TIMEOUT) from error
    message = f"the search index in {one.plan.source} didn't fit its rows and was made anew; nothing is lost"
    notices = [Notice("index_healed", message, category=category)] if one.checked.healed else []
    return Outcome(Restored(category, one.plan.source, size, *one.checked.contents, kept), notices)


def _replace(fresh: str, path: str, kept: str, standing: Standing, progress: Progress) -> None:
    """Replace a category's file; a damaged one is moved away, before SQLite could touch it or its log."""
    if not standing.damaged:
        try:
            overwrite(fresh, path, kept, progress)
            return
        except sqlite3.DatabaseError as error:
            if primary_code(error) not in BROKEN:
                raise
    place_beside(fresh, path, kept)


def _fill(fresh: str, path: str) -> None:
    """Fill a file that holds nothing yet, as a program leaves it that was stopped before it had made its tables."""
    overwrite(fresh, path, None, lambda done, total: None)

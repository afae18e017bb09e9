"""Backups of categories: consistent copies, checked before they get their names."""

import os

from msgspec import Struct

from mmem.category_file import Missing
from mmem.copies import Progress, copy, folder_at, put, unnamed
from mmem.errors import Storage
from mmem.files import path_of
from mmem.outcomes import Notice, Outcome
from mmem.soundness import Contents, Damaged, check, contents
from mmem.store import Store


class BackedUp(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A backup and what it holds; `leftBehind` rows of entities that are gone, which no tool shows."""

    category: str
    path: str
    bytes: int
    entities: int
    observations: int
    relations: int
    left_behind: int = 0


def backup(
    store: Store,
    category: str,
    path: str,
    *,
    replace: bool = False,
    progress: Progress = lambda done, total: None,
) -> Outcome[BackedUp]:
    """Copy one state of a category, its log included, into a file of its own while others go on writing.

    What stands at the path stays unless it is to be replaced. Raises `NotFound` where there is no such category,
    `Conflict` where somebody takes the path meanwhile, and `Storage` where the category is damaged or the copy can't
    be written; then nothing lies around.
    """
    with folder_at(os.path.dirname(path)) as folder, unnamed(folder) as fresh:
        expected = _copied(store, category, fresh, path, progress)
        try:
            held, healed = check(fresh, path, progress)
        except Damaged as damage:
            raise _damaged(store, category, str(damage)) from damage
        if held[:3] != expected[:3]:
            raise Storage(f"the copy in {path} didn't get every row ({held[:3]} of {expected[:3]}): see to the disk")
        size = os.path.getsize(fresh)
        put(fresh, path, replace=replace)
    notices = [_healed(category)] if healed else []
    return Outcome(BackedUp(category, path, size, *held), notices)


def _copied(store: Store, category: str, fresh: str, path: str, progress: Progress) -> Contents:
    """Copy a category and return what the state that was copied holds."""
    try:
        with store.holding_still(category) as transaction:
            expected = contents(transaction.conn)
            copy(transaction.conn, fresh, path, progress)
            return expected
    except Missing:
        raise store.no_category(category) from None


def _damaged(store: Store, category: str, fault: str) -> Storage:
    path = path_of(store.base_dir, category)
    message = (
        f"{path} is damaged ({fault}), so no backup was made of it: restore an earlier one with mmem restore, or save "
        "what can be read with mmem read-graph -f jsonl"
    )
    return Storage(message, {"path": path, "category": category})


def _healed(category: str) -> Notice:
    message = f"the search index of category '{category}' didn't fit its rows; in the backup it was made anew"
    return Notice("index_healed", message, category=category)

"""The whole checkup, one remark after the other."""

import os
from collections.abc import Callable, Iterator

from mmem.checkup.category import File, category
from mmem.checkup.folder import folder
from mmem.checkup.hostentries import Here, host_entries
from mmem.checkup.leftovers import is_ours, leftovers
from mmem.checkup.machine import machine
from mmem.checkup.reading import memories
from mmem.checkup.remarks import Findings, Remark
from mmem.files import path_of
from mmem.store import Store

Progress = Callable[[int, int], None]  # takes how many categories were looked at, and how many there are


def checkup(
    store: Store,
    here: Here,
    only: str | None = None,
    *,
    thorough: bool = False,
    fix: bool = False,
    progress: Progress = lambda done, total: None,
) -> Iterator[Remark]:
    """Look at the machine, the base directory, its categories and files, and the hosts; or at one category only.

    Nothing is changed without `fix`. Raises `NotFound` where the one category isn't there.
    """
    if only is not None and not os.path.lexists(path_of(store.base_dir, only)):
        raise store.no_category(only)
    for found in _findings(store, here, only, thorough=thorough, progress=progress):
        yield found.mended() if fix else found.remark


def _findings(store: Store, here: Here, only: str | None, *, thorough: bool, progress: Progress) -> Findings:
    base_dir = store.base_dir
    yield from machine()
    yield from folder(base_dir, is_ours=is_ours(base_dir))
    if os.path.isdir(base_dir) and os.access(base_dir, os.R_OK | os.X_OK):
        every = memories(base_dir)
        names = every if only is None else [name for name in every if name == only]
        for done, name in enumerate(names):
            progress(done, len(names))
            yield from category(File(base_dir, name, path_of(base_dir, name), thorough))
        for found in leftovers(base_dir, every):
            if only is None or found.remark.path == path_of(base_dir, only):
                yield found
    if only is None:
        yield from host_entries(here)

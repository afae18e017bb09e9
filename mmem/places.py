"""Where backups lie, and what their names say."""

import os
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mmem.copies import in_use
from mmem.errors import Usage
from mmem.names import category_fault
from mmem.outcomes import Notice
from mmem.timestamps import now

# No category's name has a capital letter, so that a backup is never taken for one.
_NAMED = re.compile(r"(?P<category>.+?)(?P<time>-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(?:-\d+)?)?\.db", re.ASCII)


class Named(NamedTuple):
    """What the name of a backup says: its category, and when it was made (`""`: nothing)."""

    category: str
    time: str


def stamp() -> str:
    """Return this second as names of files can hold it: `2026-01-31T09-30-00Z`."""
    return now()[:19].replace(":", "-") + "Z"


def free_name(folder: str, category: str, time: str) -> str:
    """Return a path in a folder, that nothing has, for what a category held at a time as `stamp` gives it."""
    name = os.path.join(folder, f"{category}-{time}")
    number, suffix = 1, ""
    while os.path.lexists(f"{name}{suffix}.db"):
        number += 1
        suffix = f"-{number}"
    return f"{name}{suffix}.db"


def named(path: str) -> Named | None:
    """Return what a file's name says, None where no category can be told from it."""
    found = _NAMED.fullmatch(os.path.basename(path))
    if found is None or category_fault(found["category"]) is not None:
        return None
    return Named(found["category"], found["time"] or "")


def newest(sources: Sequence[str]) -> tuple[list[str], list[Notice]]:
    """Return files as they are, and of folders the newest backup of each category; and what was passed over there.

    Raises `Usage` for a folder where none is, or where a file without a time leaves open which is the newest.
    """
    files: list[str] = []
    notices: list[Notice] = []
    for source in sources:
        if not os.path.isdir(source):
            files.append(source)
            continue
        by_category: dict[str, list[tuple[str, str]]] = {}
        for path in _databases(source):
            if name := named(path):
                by_category.setdefault(name.category, []).append((name.time, path))
            else:
                message = f"{path} isn't named for a category: to restore it, name it and the category with -c"
                notices.append(Notice("skipped", message, path=path))
        if not by_category:
            raise Usage(f"there is no backup in {source}: no file there is named CATEGORY.db or CATEGORY-TIME.db")
        files += [_newest(one) for _, one in sorted(by_category.items())]
    return files, notices


def _databases(folder: str) -> list[str]:
    try:
        return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".db"))
    except OSError as error:
        raise Usage(f"{folder} can't be read: {(error.strerror or str(error)).lower()}") from None


def _newest(dated: list[tuple[str, str]]) -> str:
    undated = [path for time, path in dated if not time]
    if undated and len(dated) > 1:
        raise Usage(f"{undated[0]} has no time in its name, so that it may be newer than others there: name one file")
    second = len("-2026-01-31T09-30-00Z")
    return max(dated, key=lambda one: (one[0][:second], len(one[0]), one))[1]


def target(base_dir: str, output: str | None, *, every: bool) -> Callable[[str], str]:
    """Return what gives each category the path of its backup. Raises `Usage` for a place that can't be.

    Without `output` that is a new name in this folder or, for every category, in a new folder here. A folder that
    isn't there is made, for one file only where its name ends like a folder's.
    """
    if output == "-":
        raise Usage("a backup can't be written to standard output: name a file or a folder with -o")
    time = stamp()  # the same for all
    if output is None:
        folder = f"mmem-backup-{time}" if every else ""
    elif every or os.path.isdir(output) or output.endswith(("/", os.sep)):
        folder = output
    else:
        folder = os.path.dirname(output)
        if not os.path.isdir(folder or "."):
            raise Usage(f"there is no folder {folder} for {output}: make it, or name another with -o")
        _require_elsewhere(base_dir, folder)
        return lambda category: output
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise Usage(f"{folder} isn't a folder, which the backups of all categories need: name another with -o")
    _require_elsewhere(base_dir, folder)
    return lambda category: free_name(folder, category, time)


def _require_elsewhere(base_dir: str, folder: str) -> None:
    if os.path.realpath(folder or ".") == os.path.realpath(base_dir):
        raise Usage(
            f"a backup in the base directory {base_dir} would stand among the categories: name another place with -o"
        )


def is_taken(path: str) -> bool:
    """Tell whether a file stands at a path that may be replaced. Raises `Usage` for what may not be."""
    if beside := in_use(path):
        raise Usage(f"{path} is the name of a database in use, whose log is {beside}: name another with -o")
    if os.path.lexists(path) and not os.path.isfile(path):
        raise Usage(f"{path} isn't a file, and is left as it is: name another with -o")
    return os.path.lexists(path)

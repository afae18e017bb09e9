"""What lies in the base directory beside the categories: files of others, and what stopped programs left behind."""

import os
import re
import sqlite3
import time
from collections.abc import Container
from contextlib import suppress

from mmem.checkup.folder import size
from mmem.checkup.mounts import mount_of
from mmem.checkup.permissions import quoted
from mmem.checkup.reading import is_memory, reading
from mmem.checkup.remarks import About, Findings, Mend
from mmem.errors import MmemError
from mmem.faults import from_sqlite
from mmem.files import has_log
from mmem.layout import inspect
from mmem.names import category_fault
from mmem.restores import KEPT
from mmem.visible import plural

_BESIDE = ("-wal", "-shm", "-journal")
# What is written beside its place before it gets its name: see `create_file`, `unnamed` and `rewrite`.
_UNFINISHED = re.compile(r"\.(?:.+\.|mmem-)(?P<process>\d+)-[0-9a-f]{8}\.new(?:-wal|-shm|-journal)?")
_QUEUE = re.compile(r"\..+\.db\.queue")
_ASIDE = re.compile(r".+\.db-wal-of-the-one-before-[0-9a-f]{8}")
_OURS = re.compile(r".+\.db(?:-wal|-shm|-journal)?")
_STILL = 600.0  # seconds without a change, after which nobody is taken to be at work on a file


def is_ours(base_dir: str) -> bool:
    """Tell whether a folder holds nothing but databases and what mmem puts beside them."""
    patterns = (_OURS, _UNFINISHED, _QUEUE, _ASIDE)
    return all(name == KEPT or any(one.fullmatch(name) for one in patterns) for name in _names(base_dir))


def leftovers(base_dir: str, categories: Container[str]) -> Findings:
    """Look at every file that isn't a category's, given those that are known.

    Only what mmem itself leaves behind may be removed.
    """
    names = _names(base_dir)
    for name in names:
        path = os.path.join(base_dir, name)
        if name == KEPT and os.path.isdir(path):
            yield from _kept(path)
        elif name.endswith(".db"):
            if (stem := name.removesuffix(".db")) not in categories:
                yield from _database(path, stem)
        elif _UNFINISHED.fullmatch(name) or _QUEUE.fullmatch(name):
            yield from _unfinished(path, name)
        elif _ASIDE.fullmatch(name):
            message = f"{path} is the log of a file that was replaced while it was in use"
            yield About("log set aside", path).info("aside", message, "delete it when nothing is missing")
        else:
            yield from _orphan(path, name, names)


def _names(base_dir: str) -> list[str]:
    with suppress(OSError):
        return sorted(os.listdir(base_dir))
    return []


def _kept(path: str) -> Findings:
    files = [os.path.join(path, name) for name in _names(path)]
    total = sum(os.path.getsize(file) for file in files if os.path.isfile(file))
    if total:
        message = f"{path} keeps {size(total)} in {plural(len(files), 'file')} that restores replaced"
        yield About("replaced categories", path).info("replaced", message, "delete those that you don't need")


def _database(path: str, stem: str) -> Findings:
    """Look at a file that is named like a database; a category that holds a memory is looked at elsewhere."""
    about, fault = About("other file", path), category_fault(stem)
    if is_memory(path):
        if fault is not None:
            message = f"{path} holds a memory, but no category can have its name: {fault}"
            fit = stem.lower() if category_fault(stem.lower()) is None else "NAME"
            yield about.warn("name", message, f"mmem restore {quoted([path])} -c {fit} brings it in under another")
        return
    if not os.path.isfile(path):
        what = "is a link to what isn't there" if os.path.islink(path) else "isn't a file"
        yield about.warn("foreign", f"{path} {what}", "move it out of the base directory")
    elif not os.path.getsize(path):
        remedy = "the first write makes a category of it, or delete it" if fault is None else "delete it"
        yield about.info("foreign", f"{path} is empty", remedy)
    else:
        yield from _refusal(about if fault else About(f"category '{stem}'", path), path)


def _refusal(about: About, path: str) -> Findings:
    """Say why a file is no category, unless it has become one meanwhile."""
    try:
        with reading(path) as conn:
            inspect(conn, path)
    except MmemError as error:
        yield about.warn("foreign", error.message, None)
    except sqlite3.Error as error:
        yield about.problem("foreign", from_sqlite(error, path, 0).message)


def _unfinished(path: str, name: str) -> Findings:
    if not _is_left(path, _UNFINISHED.fullmatch(name)):
        return
    far = mount_of(path)
    about = About("leftover", path)
    message = f"{path} was left by a program that was stopped in the middle of its work"
    if far is not None and far.distance:
        yield about.info("leftover", f"{message}, here or on another machine", "delete it when none is at work")
    else:
        yield about.warn("leftover", message, "mmem doctor --fix removes it", _removal(path))


def _is_left(path: str, unfinished: re.Match[str] | None) -> bool:
    """Tell whether nobody is at work on a file: its process is gone, and it hasn't changed for ten minutes."""
    try:
        age = time.time() - os.stat(path).st_mtime
    except OSError:
        return False
    return age > _STILL and (unfinished is None or not _runs(int(unfinished["process"]), age))


def _runs(process: int, age: float) -> bool:
    if os.name != "posix":
        return age < 86_400  # to ask Windows with a signal would end the process
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass
    return True


def _orphan(path: str, name: str, names: list[str]) -> Findings:
    """Look at what SQLite keeps beside a database: without the database, or after a program was stopped."""
    suffix = next((one for one in _BESIDE if name.endswith(f".db{one}")), None)
    if suffix is None:
        return
    database, about = path.removesuffix(suffix), About("leftover", path)
    if name.removesuffix(suffix) in names:
        if suffix == "-journal" and not has_log(database) and _holds_something(path) and _is_left(path, None):
            message = f"{path} says what a program that was stopped had begun to change in {database}"
            yield about.warn("journal", message, "the next opening of that file undoes it; leave both together")
        return
    if suffix == "-shm" or not _holds_something(path):
        message = f"{path} belongs to a database that isn't there, and holds nothing of it"
        if _is_left(path, None):
            yield about.warn("orphan", message, "mmem doctor --fix removes it", _removal(path))
        return
    message = f"{path} belongs to a database that isn't there, and may hold texts of it"
    yield about.warn(
        "orphan", message, f"put {database} back beside it, or delete it, as a new category of that name would"
    )


def _holds_something(path: str) -> bool:
    with suppress(OSError):
        return os.path.getsize(path) > 0
    return False


def _removal(path: str) -> Mend:
    def remove() -> str:
        with suppress(FileNotFoundError):
            os.unlink(path)
        return f"{path}, left by a program that was stopped, was removed"

    return remove

"""A file of another program, rewritten so that it is whole at every moment: a backup, a new file, one rename."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from typing import NamedTuple

from mmem.errors import Conflict, Storage

_PRIVATE = 0o600
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


class Original(NamedTuple):
    """A file as it was found."""

    path: str
    target: str  # where the path leads, links followed: a file that is managed elsewhere stays linked
    content: bytes | None  # None: there is no file
    status: os.stat_result | None


def read(path: str) -> Original:
    """Return what stands at a path. Raises `Storage` where that is no file, or can't be read."""
    with _said(path):
        target = os.path.realpath(path)
        try:
            status = os.stat(target)
        except FileNotFoundError:
            return Original(path, target, None, None)
        if not stat.S_ISREG(status.st_mode):
            raise Storage(f"{path} isn't a file", {"path": path})
        return Original(path, target, _content(target), status)


def rewrite(original: Original, content: bytes) -> str | None:
    """Put new content in the place of what was read; return the path of the backup, None for a file that is new.

    Raises `Conflict` where the file was changed since it was read, and `Storage` where writing fails; then
    nothing has changed and nothing lies around.
    """
    folder, name = os.path.split(original.target)
    fresh = os.path.join(folder, f".{name}.{os.getpid()}-{os.urandom(4).hex()}.new")
    with _said(original.path), ExitStack() as undone:
        _make_folders(folder)
        _require_writable(original)
        undone.callback(_remove, fresh)
        _write(fresh, content, original.status)
        backup = _backed_up(original, undone)
        if _content(original.target) != original.content:
            raise Conflict(f"{original.path} was changed by another program meanwhile; nothing was written: try again")
        os.replace(fresh, original.target)
        undone.pop_all()
    return backup


def backup_names(path: str) -> Iterator[str]:
    """Yield the names for a backup that aren't taken, best first."""
    for number in count():
        name = f"{path}.bak.{number}" if number else f"{path}.bak"
        if not os.path.lexists(name):
            yield name


def _backed_up(original: Original, undone: ExitStack) -> str | None:
    if original.content is None:
        return None
    while True:
        name = next(backup_names(original.path))
        with suppress(FileExistsError):  # another process was quicker
            _write(name, original.content, original.status)
            undone.callback(_remove, name)
            return name


def _write(path: str, content: bytes, like: os.stat_result | None) -> None:
    """Write a file that isn't there yet, private from its first moment, then with the mode and owner of another."""
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, _PRIVATE)) as file:
        try:
            file.write(content)
            file.flush()
            if like is not None:
                _give(path, like)
            os.fsync(file.fileno())
        except BaseException:
            _remove(path)
            raise


def _give(path: str, like: os.stat_result) -> None:
    """Give a file the owner and mode of another; the owner only as far as the system lets us."""
    own = os.stat(path)
    if hasattr(os, "chown") and (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
        with suppress(OSError):
            os.chown(path, like.st_uid, like.st_gid)
    os.chmod(path, stat.S_IMODE(like.st_mode))


def _require_writable(original: Original) -> None:
    """Raise where the file is read-only, which a rename would get round, or its folder is."""
    if original.content is not None and not os.access(original.target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only")
    folder = os.path.dirname(original.target)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, f"no permission to write in {folder}")


def _make_folders(folder: str) -> None:
    """Create a folder and its missing parents, all 0700."""
    if os.path.isdir(folder):
        return
    if (parent := os.path.dirname(folder)) != folder:
        _make_folders(parent)
    with suppress(FileExistsError):
        os.mkdir(folder, mode=0o700)


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


@contextmanager
def _said(path: str) -> Iterator[None]:
    """Turn the system's errors about a file into ours."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise Storage("the disk is full: make room and try again", {"path": path}) from error
        reason = error.strerror or str(error)
        raise Storage(f"{path}: {reason[:1].lower()}{reason[1:]}", {"path": path}) from error

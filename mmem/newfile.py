"""A file that is there whole or not at all: written beside its place, private, then renamed."""

import errno
import os
import tempfile
from contextlib import suppress

from mmem.errors import Storage, Usage

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


def write_file(path: str, content: bytes) -> None:
    """Write a file that only its owner may read, in the place of one that is there; links are followed.

    A pipe or a device is written to as it is. Raises `Usage` where the path can't be a file's, and `Storage` where
    writing fails; then nothing has changed and nothing lies around.
    """
    if not path:
        raise Usage("'' isn't a file's name")
    try:
        target = os.path.realpath(path)
        _require_place(path, target)
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as special:
                special.write(content)
            return
        _replace(target, content)
    except OSError as error:
        reason = "the disk is full: make room and try again" if error.errno in _FULL else _reason(error)
        raise Storage(f"{path}: {reason}", {"path": path}) from error
    except ValueError:
        raise Usage(f"{path!r} isn't a file's name") from None


def _require_place(path: str, target: str) -> None:
    if os.path.isdir(target):
        raise Usage(f"{path} is a folder; name a file in it")
    if not os.path.isdir(os.path.dirname(target)):
        raise Usage(f"there is no folder {os.path.dirname(path)} to write {os.path.basename(path)} in; make it first")


def _replace(target: str, content: bytes) -> None:
    folder, name = os.path.split(target)
    descriptor, fresh = tempfile.mkstemp(prefix=f".{name[:100]}.", suffix=".new", dir=folder)  # it is 0600
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(fresh)
        raise


def _reason(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{reason[:1].lower()}{reason[1:]}"

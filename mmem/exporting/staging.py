"""Files that are written beside their places and put there together, once all of them are whole."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self

from mmem.errors import Storage
from mmem.exporting.sink import Sink

_PRIVATE = 0o600
_BINARY = getattr(os, "O_BINARY", 0)
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


class _Opened(NamedTuple):
    path: str
    file: BinaryIO
    sink: Sink
    is_special: bool


class _Move(NamedTuple):
    path: str  # as it was given
    fresh: str
    target: str  # where the path leads, links followed


class Staging:
    """As a context it puts the files in their places at its end, or after an error leaves everything as it was."""

    def __init__(self) -> None:
        """Begin without files."""
        self._open: list[_Opened] = []
        self._moves: list[_Move] = []
        self._undone = ExitStack()

    def __enter__(self) -> Self:
        """Return the files themselves."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Put the files in their places, or take them away."""
        with self._undone:
            if kind is None:
                self.close()
                for path, fresh, target in self._moves:
                    with _said(path):
                        os.replace(fresh, target)
                self._undone.pop_all()
        for folder in {os.path.dirname(target) for _, _, target in self._moves}:
            _sync(folder)

    def folder(self, path: str) -> None:
        """Make a folder, where it isn't there. Raises `Storage`."""
        with _said(path), suppress(FileExistsError):
            os.mkdir(path, mode=0o700)
            self._undone.callback(_quietly, os.rmdir, path)

    def file(self, path: str) -> Sink:
        """Return what writes to a file. Raises `Storage`.

        What is no file but, say, a pipe is written to as it is.
        """
        with _said(path):
            target = os.path.realpath(path)
            special = is_special(path)
            name, flags = path, os.O_WRONLY
            if not special:
                _require_writable(target)
                name = os.path.join(os.path.dirname(target), f".mmem-{os.getpid()}-{os.urandom(4).hex()}.new")
                flags |= os.O_CREAT | os.O_EXCL
                self._undone.callback(_quietly, os.unlink, name)
                self._moves.append(_Move(path, name, target))
            file = self._undone.enter_context(os.fdopen(os.open(name, flags | _BINARY, _PRIVATE), "wb"))

        def write(block: bytes) -> None:
            with _said(path):
                file.write(block)

        sink = Sink(write)
        self._open.append(_Opened(path, file, sink, special))
        return sink

    def close(self) -> None:
        """Bring what was written to the disk. Raises `Storage`."""
        for path, file, sink, special in self._open:
            sink.flush()
            with _said(path), file:
                file.flush()
                if not special:
                    os.fsync(file.fileno())
        self._open.clear()


def is_special(path: str) -> bool:
    """Tell whether something stands at a path that can't be replaced: a device, a pipe."""
    try:
        mode = os.stat(path).st_mode
    except OSError:  # what is wrong there is said when it is opened
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _require_writable(target: str) -> None:
    """Raise where a file is read-only, which a rename would get round."""
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only")


def _sync(folder: str) -> None:
    """Bring a folder's names to the disk, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _quietly(undo: Callable[..., object], *arguments: object) -> None:
    with suppress(OSError):
        undo(*arguments)


@contextmanager
def _said(path: str) -> Iterator[None]:
    """Turn the system's errors about a file into ours."""
    try:
        yield
    except OSError as error:
        folder = os.path.dirname(path)
        if error.errno in _FULL:
            reason = "the disk is full; make room and try again"
        elif isinstance(error, FileNotFoundError | NotADirectoryError) and folder and not os.path.isdir(folder):
            reason = f"there is no folder {folder}; make it first, or choose another with -o"
        else:
            words = error.strerror or str(error)
            reason = f"{words[:1].lower()}{words[1:]}; choose another place with -o"
        raise Storage(f"{path}: {reason}", {"path": path}) from error

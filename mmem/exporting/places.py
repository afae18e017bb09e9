"""Where an export goes: to standard output, into one file, or into a folder; decided before anything is read."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from mmem.errors import Usage
from mmem.exporting.formats import FORMATS, Format
from mmem.exporting.sink import Sink
from mmem.exporting.staging import Staging, is_special
from mmem.visible import visible

_ENDINGS = (".db", ".db-wal", ".db-shm", ".db-journal")


class Place(ABC):
    """Gives writers their sinks; what it has begun is finished or undone by its context."""

    is_stream = True  # several categories go into one text
    shows_result = False  # nobody else writes to standard output

    def opened(self) -> AbstractContextManager[object]:
        """Return the context to write in."""
        return nullcontext()

    @abstractmethod
    def sink(self, category: str, table: str) -> Sink:
        """Return where a category goes, or a table of it."""

    @abstractmethod
    def close(self) -> None:
        """Pass on what was written."""

    def path(self, category: str) -> str | None:
        """Return the path of the file or folder that a category goes to, None where it is no file."""
        return None


class StandardOutput(Place):
    """One text on standard output."""

    def __init__(self, write: Callable[[bytes], object], dress: Callable[[bytes], bytes] | None) -> None:
        """Write through a function, dressed for a terminal where there is one."""
        self._sink = Sink(write, dress)

    def sink(self, category: str, table: str) -> Sink:
        """Return the one sink."""
        return self._sink

    def close(self) -> None:
        """Pass on what was written."""
        self._sink.flush()


class File(Place):
    """One file."""

    def __init__(self, path: str) -> None:
        """Write to the file at a path."""
        self._path = path
        self._staging = Staging()
        self.shows_result = not is_special(path)

    def opened(self) -> AbstractContextManager[object]:
        """Return the context at whose end the file is in its place."""
        return self._staging

    def sink(self, category: str, table: str) -> Sink:
        """Return what writes to the file."""
        return self._staging.file(self._path)

    def close(self) -> None:
        """Bring the file to the disk."""
        self._staging.close()

    def path(self, category: str) -> str | None:
        """Return the file's path."""
        return self._path


class Folder(Place):
    """A folder with a file for each category; of tables one with these, or a folder of them for each category."""

    is_stream = False
    shows_result = True

    def __init__(self, path: str, form: Format, *, nested: bool) -> None:
        """Write below a path."""
        self._path = path
        self._form = form
        self._nested = nested
        self._staging = Staging()

    def opened(self) -> AbstractContextManager[object]:
        """Return the context at whose end the files are in their places."""
        return self._staging

    def sink(self, category: str, table: str) -> Sink:
        """Return what writes to a file, whose folders are made where they are missing."""
        self._staging.folder(self._path)
        path = self.path(category)
        if table:
            self._staging.folder(path)
            path = os.path.join(path, table + self._form.ending)
        require_file(path)
        return self._staging.file(path)

    def close(self) -> None:
        """Bring what was written so far to the disk."""
        self._staging.close()

    def path(self, category: str) -> str:
        """Return the path of a category's file, or of the folder of its tables."""
        if self._form.tables:
            return os.path.join(self._path, category) if self._nested else self._path
        return os.path.join(self._path, category + self._form.ending)


def place(name: str, output: str, category: str | None, base_dir: str) -> File | Folder:
    """Return the place that `-o` names, for a format and a category (None: all of them). Raises `Usage`."""
    form = FORMATS[name]
    if not output:
        raise Usage("-o names no file")
    require_outside(output, base_dir)
    is_folder = os.path.isdir(output) or output.endswith(os.sep)
    if form.tables or (category is None and (is_folder or not form.several)):
        if os.path.lexists(output) and not os.path.isdir(output):
            files = "csv is three tables" if form.tables else f"{name} takes a file for each category"
            raise Usage(f"{output} is a file, and {files}: name a folder with -o")
        return Folder(output, form, nested=category is None)
    require_file(output, f": name a file in it, such as {os.path.join(output, (category or 'all') + form.ending)}")
    return File(output)


def standard_output(name: str, write: Callable[[bytes], object], *, every: bool, on_terminal: bool) -> StandardOutput:
    """Return standard output as the place, for a format and one category or every one. Raises `Usage`."""
    form = FORMATS[name]
    if form.tables:
        raise Usage("csv is three tables: name a folder for them with -o FOLDER")
    if every and not form.several:
        listed = ", ".join(known for known, one in FORMATS.items() if one.several)
        message = f"{name} takes a file for each category: name a folder for them with -o FOLDER"
        raise Usage(f"{message} (one text for all of them: {listed})")
    if name == "html" and on_terminal:
        raise Usage("a page is nothing to read on a terminal: name a file for it with -o FILE")
    if not on_terminal:
        return StandardOutput(write, None)
    return StandardOutput(write, _escaped if form.json else _visible)


def require_file(path: str, hint: str = "") -> None:
    """Raise `Usage` where a folder stands in the place of a file."""
    if os.path.isdir(path) or path.endswith(os.sep):
        raise Usage(f"{path} is a folder{hint}")


def require_outside(path: str, base_dir: str) -> None:
    """Raise `Usage` where an export would take the place of a category's own file."""
    target = os.path.realpath(path)
    if os.path.dirname(target) == os.path.realpath(base_dir) and target.endswith(_ENDINGS):
        raise Usage(f"{path} is where mmem keeps a category itself: choose another place with -o")


def _escaped(block: bytes) -> bytes:
    from mmem.formats import escaped

    return escaped(block)


def _visible(block: bytes) -> bytes:
    return visible(block.decode(), keep="\n\t").encode()

"""The files to import: found below the paths that were given, opened, told apart by their content."""

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, NamedTuple

from mmem.errors import Storage, Usage
from mmem.importing.lines import BOM
from mmem.names import category_fault

SQLITE = b"SQLite format 3\0"

_HEAD = 64 << 10
_ENDINGS = (".jsonl", ".json", ".ndjson", ".yaml", ".yml", ".db", ".sqlite", ".sqlite3")
_PASSED_OVER = re.compile(r"^\.|\.rejects(-\d+)?\.jsonl$|-wal$|-shm$|-journal$|\.lock$")
_WIDE_MARKS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class Source(NamedTuple):
    """A file to import, how messages call it, and whether it only lay in a folder that was named."""

    path: str  # "" is standard input
    name: str
    listed: bool = False


def sources(paths: Sequence[str]) -> tuple[list[Source], list[str]]:
    """Return the files that the paths name, those of a folder in order, and what in folders is passed over.

    Raises `Usage` for a path where nothing is, or that is named twice.
    """
    found: list[Source] = []
    passed: list[str] = []
    for path in paths:
        if path == "-":
            found.append(Source("", "standard input"))
        elif os.path.isdir(path):
            inside, others = _below(path)
            found += inside
            passed += others
        elif os.path.exists(path):
            found.append(Source(path, path))
        else:
            raise Usage(f"there is no file or folder '{path}'")
    once: dict[str, Source] = {}
    for one in found:
        real = os.path.realpath(one.path) if one.path else "-"
        if real in once and not one.listed:
            raise Usage(f"{one.name} is named twice")
        once.setdefault(real, one)
    return list(once.values()), passed


def _below(folder: str) -> tuple[list[Source], list[str]]:
    found, passed = [], []
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise Storage(f"{folder}: {(error.strerror or 'unreadable').lower()}", {"path": folder}) from None
    for name in names:
        path = os.path.join(folder, name)
        if _PASSED_OVER.search(name):
            continue
        if not os.path.isfile(path):
            passed.append(path)
            continue
        if name.lower().endswith(_ENDINGS):
            found.append(Source(path, path, listed=True))
        else:
            passed.append(path)
    return found, passed


def category_of(source: Source, default: str, *, is_marked: bool = False) -> str:
    """Return the category that a file's name gives; `memory` and standard input mean the default one.

    A fork that marks its files calls them `memory-work.jsonl`. Raises `Usage` for a name that gives none.
    """
    if not source.path:
        return default
    stem = os.path.basename(source.path).split(".")[0]
    name = re.sub(r"[^a-z0-9_-]+", "-", stem.lower()).strip("-")
    if is_marked:
        name = name.removeprefix("memory-")
    if name == "memory":
        return default
    if category_fault(name):
        raise Usage(f"{source.name}: its name gives no category; say --category")
    return name


def opened(source: Source, stdin: Callable[[], BinaryIO]) -> BinaryIO:
    """Return a file that can be read from any place. Raises `Storage`."""
    try:
        file = open(source.path, "rb") if source.path else None  # noqa: SIM115  # whoever asked closes it
        if file is not None and file.seekable():
            return file
        read = (file or stdin()).read
        return _spooled(iter(lambda: read(1 << 20), b""))
    except OSError as error:
        raise Storage(f"{source.name}: {(error.strerror or str(error)).lower()}", {"path": source.path}) from None


def as_utf8(file: BinaryIO, encoding: str | None, name: str) -> BinaryIO:
    """Return a file in UTF-8: itself, or a copy of one that is wholly in another encoding.

    Raises `Usage` where the bytes aren't in the encoding that was given.
    """
    head = file.read(4)
    file.seek(0)
    chosen = encoding or next((one for mark, one in _WIDE_MARKS.items() if head.startswith(mark)), None)
    if chosen is None or chosen.lower().replace("_", "-") in {"utf-8", "utf8"}:
        return file
    return _spooled(_recoded(file, chosen, name))


def _recoded(file: BinaryIO, encoding: str, name: str) -> Iterator[bytes]:
    import codecs

    try:
        "".encode(encoding)  # refuses what turns no text into bytes
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise Usage(f"there is no encoding '{encoding}'; cp1252, cp932, gb18030 and utf-16 are some") from None
    read = 0
    while True:
        some = file.read(1 << 20)
        try:
            yield decoder.decode(some, final=not some).removeprefix("\ufeff").encode()
        except UnicodeError as error:
            at = read + getattr(error, "start", 0)
            raise Usage(f"{name}: not {encoding} from about byte {at + 1} on; --encoding names another one") from None
        if not some:
            return
        read += len(some)


def _spooled(parts: Iterator[bytes]) -> BinaryIO:
    file = tempfile.TemporaryFile()  # noqa: SIM115  # whoever asked closes it
    try:
        for part in parts:
            file.write(part)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def head_of(file: BinaryIO) -> bytes:
    """Return how a file begins; it is at its start again."""
    head = file.read(_HEAD)
    file.seek(0)
    return head


def is_yaml(head: bytes, name: str) -> bool:
    """Tell whether a text is YAML: by its name, or because its first line begins as none of JSON does."""
    if name.lower().endswith((".yaml", ".yml")):
        return True
    lines = (line.strip() for line in head.removeprefix(BOM).splitlines())
    first = next((line for line in lines if line and not line.startswith((b"#", b"//"))), b"{")
    return b"\0" not in head and not first.startswith((b"{", b"[", b'"', b"}", b"]", b",", b"<<<<", b"```"))


def has_json(head: bytes) -> bool:
    """Tell whether some line of a text begins as a JSON object does."""
    return any(line.lstrip().startswith(b"{") for line in head.split(b"\n"))

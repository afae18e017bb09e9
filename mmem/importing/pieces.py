"""The JSON values of a file, with their bytes and places: whatever its framing is.

A file is JSON lines, a document, an array, records printed over several lines, objects glued together, or any of these
with damage in between. What is sound comes out as a value; what isn't, as a fault with the bytes that are wrong.
"""

import json
import re
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple, NoReturn

import msgspec

from mmem.importing.lines import BOM, Lines
from mmem.importing.usual import usual
from mmem.jsontext import may_repeat_keys
from mmem.values import faults, may_hold_faults

WHOLE = 256 << 20  # bytes of a file that are read at once, where its first line is no value of its own

_JOINED_LINES = 200_000  # lines that one record may be printed over
_JOINED_BYTES = 16 << 20
_BUDGET = 1_000_000  # lines that are read again in a file whose records don't end
_SPACE = re.compile(r"[\s\ufeff]*")
_COMMA = re.compile(r"[\s\ufeff]*(?:,[\s\ufeff,]*)?")
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*(?P<end>"?)|[{}\[\]]', re.DOTALL)
_BRACKETS = {b"[", b"]", b",", b"],", b"[,"}
_NOT_JSON = (
    ((b"//", b"#", b"/*"), "a comment; JSON has none"),
    ((b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||"), "a conflict marker of git: resolve the conflict first"),
    ((b"```",), "a code fence; only JSON belongs here"),
)


NOTHING = object()  # the value of a piece that only says what was passed over


class Piece(NamedTuple):
    """A value of a file: its bytes and place, and what is wrong with it or was mended."""

    raw: bytes
    line: int
    column: int
    value: object = None
    fault: str | None = None
    repairs: tuple[str, ...] = ()


class NotJson(Exception):
    """A text isn't one JSON value."""


class Unfit(Exception):
    """JSON that can't be stored."""


def decoded(raw: bytes) -> tuple[object, tuple[str, ...]]:
    """Return the value of a JSON text, and what was mended in it. Raises `NotJson` and `Unfit`."""
    try:
        value: object = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise NotJson from None
    plain = b"\\" not in raw and b'" :' not in raw
    if type(value) is dict and plain and raw.count(b'":') == len(value):  # so many keys, and none below
        if may_hold_faults(raw):
            _require_storable(value)
        return value, ()
    repairs: list[str] = []
    if may_repeat_keys(raw, value):
        value = json.loads(raw, object_pairs_hook=lambda pairs: _object(pairs, repairs))
    if may_hold_faults(raw):
        _require_storable(value)
    return value, tuple(repairs)


def _require_storable(value: object) -> None:
    for path, fault in faults(value):
        raise Unfit(f"{path}: {fault}")


def _object(pairs: list[tuple[str, Any]], repairs: list[str]) -> dict[str, Any]:
    """Return an object in which no value is lost where a key stands twice: the last one wins, as everywhere."""
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made and made[key] != value:
            if isinstance(made[key], list) and isinstance(value, list):
                made[key] = [*made[key], *value]
                repairs.append(f'the key "{key}" stands twice; both lists were taken')
                continue
            other = next(name for number in count(1) if (name := f"{key}#{number}") not in made)
            repairs.append(f'the key "{key}" stands twice; an earlier value was kept as "{other}"')
            made[other] = made[key]
        made[key] = value
    return made


def pieces(lines: Lines) -> Iterator[Piece]:
    """Yield the values of a file in their order, top level first: a document is one value."""
    reader = _Reader(lines)
    for number, raw in lines:
        known = usual(raw)
        if known is not None:
            yield Piece(raw, number, 1, known)
            continue
        try:
            value, repairs = decoded(raw)
        except NotJson:
            yield from reader.slowly(number, raw)
        except Unfit as error:
            yield Piece(raw.rstrip(b"\r\n"), number, 1, None, str(error))
        else:
            yield Piece(raw, number, 1, value, None, repairs)
    for number in lines.recoded:
        yield Piece(b"", number, 1, NOTHING, repairs=("a run of UTF-16 among UTF-8 was read as what it is",))


def whole(raw: bytes) -> Piece | None:
    """Return a file's content as one value, None where it isn't one."""
    raw = raw.removeprefix(BOM)
    try:
        value, repairs = decoded(raw)
    except NotJson:
        return None
    except Unfit:  # the records are looked at one by one
        return Piece(raw, 1, 1, msgspec.json.decode(raw))
    return Piece(raw, 1, 1, value, None, repairs)


def elements(piece: Piece, raw: bytes, start: int = 0) -> Iterator[Piece]:
    """Yield the elements of an array that stands in a piece, with their own bytes and places."""
    line, line_start = piece.line + piece.raw.count(b"\n", 0, start), piece.raw.rfind(b"\n", 0, start) + 1
    at = start
    for element in msgspec.json.decode(raw, type=list[msgspec.Raw]):
        own = bytes(element)
        found = piece.raw.index(own, at)
        newlines = piece.raw.count(b"\n", at, found)
        if newlines:
            line, line_start = line + newlines, piece.raw.rfind(b"\n", at, found) + 1
        before = len(piece.raw[line_start:found].decode("utf-8", "replace"))
        column = before + (piece.column if line == piece.line else 1)
        at = found + len(own)
        try:
            value, repairs = decoded(own)
        except Unfit as error:
            yield Piece(own, line, column, fault=str(error))
        else:
            yield Piece(own, line, column, value, None, repairs)
        inside = own.count(b"\n")
        if inside:
            line, line_start = line + inside, piece.raw.rfind(b"\n", found, at) + 1


def members(piece: Piece) -> dict[str, tuple[bytes, int]]:
    """Return the bytes of each member of an object, and where in the piece they stand."""
    found: dict[str, tuple[bytes, int]] = {}
    for key, value in msgspec.json.decode(piece.raw, type=dict[str, msgspec.Raw]).items():
        own = bytes(value)
        written, beginning = json.dumps(key, ensure_ascii=False).encode(), own[:200]
        behind = re.compile(re.escape(written) + rb"\s*:\s*" + re.escape(beginning))
        places = (match.end() - len(beginning) for match in behind.finditer(piece.raw))
        found[key] = own, next((at for at in places if piece.raw.startswith(own, at)), piece.raw.index(own))
    return found


class _Reader:
    """Reads lines that aren't one sound value each."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._budget = _BUDGET

    def slowly(self, number: int, raw: bytes) -> Iterator[Piece]:
        stripped = raw.removeprefix(BOM).strip()
        if not stripped:
            return
        if stripped in _BRACKETS:
            yield Piece(
                stripped, number, 1, NOTHING, repairs=("a bracket or comma on a line of its own was passed over",)
            )
            return
        for beginnings, fault in _NOT_JSON:
            if stripped.startswith(beginnings):
                yield Piece(raw.rstrip(b"\r\n"), number, 1, fault=fault)
                return
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            fault = f"byte 0x{raw[error.start]:02x} isn't UTF-8; --encoding NAME reads the file in another encoding"
            yield Piece(raw.rstrip(b"\r\n"), number, error.start + 1, fault=fault)
            return
        yield from self._values(number, text)

    def _values(self, number: int, text: str) -> Iterator[Piece]:
        """Yield the values on a line, of which the last may go on over the next lines."""
        at = _SPACE.match(text).end()  # type: ignore[union-attr]  # it matches everywhere
        line, start, before = number, 0, 0
        while at < len(text):
            repairs: list[str] = []
            column = at - start + 1
            try:
                value, end = _value_at(text, at, repairs)
            except json.JSONDecodeError as error:
                more = self._joined(text[at:]) if _is_unfinished(text, at, error) else None
                if more is None:
                    yield _damaged(text, at, line, start, error)
                    return
                text = text[:at] + more
                continue
            except (Unfit, RecursionError) as error:
                fault = str(error) if isinstance(error, Unfit) else "nested too deep"
                yield Piece(text[at:].rstrip("\r\n").encode(), line, column, fault=fault)
                return
            if before and line == number:
                repairs.append("two JSON objects on one line were taken apart")
            before += 1
            after = _COMMA.match(text, end).end()  # type: ignore[union-attr]
            if "," in text[end:after]:
                repairs.append("a comma between records was passed over")
            yield _checked(text[at:end], line, column, value, repairs)
            newlines = text.count("\n", at, end)
            if newlines:
                line, start = line + newlines, text.rfind("\n", at, end) + 1
            at = after

    def _joined(self, text: str) -> str | None:
        """Return a text with the lines that follow, up to where what it opens is closed; None where it isn't."""
        depth = _depth(text)
        taken: list[tuple[int, bytes]] = []
        parts, size = [text], len(text)
        for number, raw in self._lines:
            taken.append((number, raw))
            size += len(raw)
            self._budget -= 1
            more = _continuation(raw)
            if more is None or len(taken) > _JOINED_LINES or size > _JOINED_BYTES or self._budget < 0:
                break
            parts.append(more)
            inner = _depth(more)
            if inner is None:
                break
            depth = (depth or 0) + inner
            if depth <= 0:
                return "".join(parts)
        self._lines.give_back(taken)
        return None


def _continuation(raw: bytes) -> str | None:
    """Return a line as what a record goes on with; None where it can't be, or is a record of its own."""
    if raw.startswith(b"{"):
        try:
            value, _ = decoded(raw.strip().rstrip(b","))
        except (NotJson, Unfit):
            pass
        else:
            if isinstance(value, dict) and isinstance(value.get("type"), str):
                return None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _value_at(text: str, at: int, repairs: list[str]) -> tuple[object, int]:
    reader = json.JSONDecoder(
        object_pairs_hook=lambda pairs: _object(pairs, repairs), parse_constant=_refuse, parse_int=_integer
    )
    value, end = reader.raw_decode(text, at)
    _require_storable(value)
    return value, end


def _refuse(word: str) -> NoReturn:
    raise Unfit(f"{word} isn't JSON; write null or text")


def _integer(digits: str) -> int:
    return int(digits) if len(digits) < 40 else 10**39  # beyond 64 bits either way


def _checked(text: str, line: int, column: int, value: object, repairs: list[str]) -> Piece:
    raw = text.encode()
    if not isinstance(value, dict | list):
        return Piece(raw, line, column, fault="a record is a JSON object")
    return Piece(raw, line, column, value, None, tuple(repairs))


def _is_unfinished(text: str, at: int, error: json.JSONDecodeError) -> bool:
    """Tell whether a line just ends before what it opens is closed; no string goes on over a line's end."""
    return bool(_depth(text[at:])) and error.pos >= len(text.rstrip())


def _depth(text: str) -> int | None:
    """Return how many more brackets a text opens than it closes; None where it ends inside a string."""
    depth = 0
    for match in _STRUCTURE.finditer(text):
        token = match[0]
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
        elif not match["end"]:
            return None
    return depth


def _damaged(text: str, at: int, line: int, start: int, error: json.JSONDecodeError) -> Piece:
    raw = text[at:].rstrip("\r\n").encode()
    line += text.count("\n", at, error.pos)
    start = max(start, text.rfind("\n", 0, error.pos) + 1)
    if _depth(text[at:]) is None:
        fault = "not valid JSON: it ends inside a string; was the file cut off in mid-write?"
    elif error.pos >= len(text.rstrip()):
        fault = "not valid JSON: it ends before it is complete; was the file cut off in mid-write?"
    else:
        fault = f"not valid JSON: {error.msg.lower()}"
    return Piece(raw, line, error.pos - start + 1, fault=fault)

"""JSON read strictly, with the places of an object's members.

Python's reader keeps no places. So the objects that matter are walked here, and what stands inside them is left to it.
"""

import json
import re
from typing import NamedTuple, NoReturn

from mmem.errors import Storage

MARK = "\ufeff"

_NOT_STRICT = "which strict JSON doesn't have"
_SPACE = re.compile(r"[ \t\n\r]*")
_STRING_OR_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN)')


class _Constant(Exception):
    """NaN or Infinity, which Python's reader lets pass."""


def _refuse_constant(word: str) -> NoReturn:
    raise _Constant(word)


_READER = json.JSONDecoder(parse_constant=_refuse_constant)


class Member(NamedTuple):
    """A member of an object: its key and value, and where they stand."""

    key: str
    key_at: int
    colon: str  # from the key's end to the value
    value: object
    value_at: int
    end: int


def decoded(raw: bytes) -> str:
    """Return the text of a file. Raises `Storage` for what isn't UTF-8, with the line and column."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode()
        raise refused(before, len(before), f"byte 0x{raw[error.start]:02x} isn't UTF-8") from None


def start_of(text: str) -> int:
    """Return where the object begins that the text is. Raises `Storage` where it isn't one."""
    start = _past_space(text, 1 if text.startswith(MARK) else 0)
    value, end = read(text, start)
    if (behind := _past_space(text, end)) < len(text):
        raise refused(text, behind, _comment(text, behind) or "something stands behind the JSON")
    if not isinstance(value, dict):
        raise refused(text, start, "the top level is not an object")
    return start


def read(text: str, at: int) -> tuple[object, int]:
    """Return the value that begins at a place, and where it ends."""
    try:
        return _READER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise refused(text, *_fault(text, error)) from None
    except _Constant as error:
        place = next(match.start() for match in _STRING_OR_CONSTANT.finditer(text, at) if match[1])
        raise refused(text, place, f"{error}, {_NOT_STRICT}") from None
    except (RecursionError, ValueError):  # ValueError: Python reads no integer of more than 4300 digits
        raise refused(text, at, "nested too deep, or a number too long, to be read") from None


def members_at(text: str, at: int) -> list[Member]:
    """Return the members of the object at a place, which was read before. Raises `Storage` for a key that repeats."""
    found: list[Member] = []
    seen: set[str] = set()
    at = _past_space(text, at + 1)
    while text[at] != "}":
        key, key_end = read(text, at)
        value_at = _past_space(text, text.index(":", key_end) + 1)
        value, end = read(text, value_at)
        member = Member(str(key), at, text[key_end:value_at], value, value_at, end)
        if member.key in seen:
            raise refused(text, at, f"the key {json.dumps(member.key)} stands twice")
        seen.add(member.key)
        found.append(member)
        at = _past_space(text, end)
        if text[at] == ",":
            at = _past_space(text, at + 1)
    return found


def refused(text: str, at: int, fault: str) -> Storage:
    """Return the error for a fault at a place, with its line and column."""
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return Storage(f"line {line}, column {column}: {fault}", {"line": line, "column": column})


def _fault(text: str, error: json.JSONDecodeError) -> tuple[int, str]:
    """Return where the reader stumbled, and over what in our words."""
    at, before = error.pos, text[: error.pos].rstrip()
    if comment := _comment(text, at):
        return at, comment
    trailing = before.endswith(",") and text.startswith(("}", "]"), at)
    if trailing or error.msg.startswith("Illegal trailing comma"):  # so says Python 3.13, of the comma's place
        return len(before) - 1 if trailing else at, f"a comma with nothing behind it, {_NOT_STRICT}"
    if at == len(text):
        return at, "it ends too early"
    return at, f"{error.msg[:1].lower()}{error.msg[1:]}".removesuffix(" at").removesuffix(" starting")


def _comment(text: str, at: int) -> str | None:
    return f"a comment, {_NOT_STRICT}" if text.startswith(("//", "/*"), at) else None


def _past_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at

"""Checks on values that every face shares: what JSON can carry, what the store can hold."""

import json
import math
import unicodedata
from collections.abc import Iterator
from typing import Any

from mmem.errors import InvalidArguments
from mmem.twins import twin_key as twin_key

MAX_NAME = 1_000  # characters, for names, types and sources
MAX_TEXT = 1 << 20  # bytes of UTF-8, for one observation
MAX_PROPERTIES = 1 << 20  # bytes of JSON, for one properties object
MAX_DEPTH = 64  # levels of nesting in properties
MAX_INTEGER = (1 << 64) - 1
MIN_INTEGER = -(1 << 63)


def child_path(path: str, key: str) -> str:
    """Return the path of `key` below `path`: `$.a.b`, or `$.a["b c"]` where the key isn't a plain word."""
    if key.isidentifier():
        return f"{path}.{key}"
    shown = key.encode("utf-8", "backslashreplace").decode().replace('"', '\\"')
    return f'{path}["{shown[:60]}"]'


def text_fault(text: str) -> str | None:
    """Say what makes a text unfit to be stored (NUL, a lone surrogate), or None."""
    if text.isascii():
        return "a NUL character can't be stored" if "\0" in text else None
    if "\0" in text:
        return "a NUL character can't be stored"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "a lone surrogate (bytes that aren't UTF-8) isn't valid Unicode"
    return None


def scalar_fault(value: object) -> str | None:
    """Say what makes a JSON scalar unfit to be stored, or None."""
    if isinstance(value, str):
        return text_fault(value)
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        if MIN_INTEGER <= value <= MAX_INTEGER:
            return None
        return "the integer is beyond 64 bits; write it as text"
    if isinstance(value, float):
        return None if math.isfinite(value) else "NaN and Infinity aren't JSON; write null or text"
    return f"a {type(value).__name__} isn't a JSON value"


def is_too_deep(value: object, json_text: bytes) -> bool:
    """Tell whether a value, which `json_text` is the JSON of, is nested deeper than `MAX_DEPTH` levels."""
    if json_text.count(b"[") + json_text.count(b"{") <= MAX_DEPTH:
        return False
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        containers = (item.values() if isinstance(item, dict) else item for item in level)
        level = [inner for items in containers for inner in items if isinstance(inner, dict | list | tuple)]
        if not level:
            return False
    return True


def faults(value: object, path: str = "$") -> Iterator[tuple[str, str]]:
    """Yield `(path, fault)` for everything below `value` that can't be stored, in order."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                yield path, f"the key {key!r} isn't text"
            elif fault := text_fault(key):
                yield child_path(path, key), f"in a key, {fault}"
            else:
                yield from faults(item, child_path(path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from faults(item, f"{path}[{index}]")
    elif fault := scalar_fault(value):
        yield path, fault


def require_storable(value: object) -> None:
    """Raise `InvalidArguments` with the path of the first value that can't be stored."""
    if _is_plainly_storable(value):
        return
    try:
        found = next(faults(value), None)
    except RecursionError:
        raise InvalidArguments(f"$: nested deeper than {MAX_DEPTH} levels") from None
    if found is not None:
        path, fault = found
        raise InvalidArguments(f"{path}: {fault}", {"path": path})


_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")


def may_hold_faults(json_text: bytes) -> bool:
    """Tell whether a valid JSON text could hold a NUL or an integer beyond 64 bits."""
    return b"\\u0000" in json_text or b"0" * 19 in json_text.translate(_DIGITS_ALIKE)


def _is_plainly_storable(value: object) -> bool:
    """Tell, by writing the value as JSON in C, that a walk through it would find nothing."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        return not may_hold_faults(text.encode())
    except (TypeError, ValueError, RecursionError):
        return False


def nfc(text: str) -> str:
    """Return the text in Unicode's normal form C, in which names and types are stored."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)

"""JSON text in, checked values out: strict where a sloppy reader would lose or change data.

msgspec reads nearly everything. What it lets pass or can't locate (duplicate keys, lone surrogates, NaN)
is found by a slower second reading, which runs only where the first one failed or the text looks suspicious.
"""

import json
import re
from typing import NoReturn

import msgspec

from mmem.errors import InvalidArguments, InvalidJson
from mmem.values import MAX_DEPTH, child_path, faults, may_hold_faults, text_fault

_KEY_COLON = re.compile(rb'"\s*:')
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"


def decode(text: bytes | str) -> object:
    """Return the value of one JSON text.

    Raises `InvalidJson` for what isn't JSON, isn't UTF-8, repeats a key or holds NaN or a lone surrogate,
    and `InvalidArguments` for what is JSON but can't be stored (NUL, integers beyond 64 bits).
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    raw = raw.removeprefix(_BOM)
    try:
        value: object = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        _explain(raw)
    if may_repeat_keys(raw, value):
        _second_reading(raw)
    if may_hold_faults(raw):
        for path, fault in faults(value):
            raise InvalidArguments(f"{path}: {fault}", {"path": path})
    return value


def may_repeat_keys(raw: bytes, value: object) -> bool:
    """Tell whether keys were lost in reading: the text has other `":` than the value written out again."""
    if b'"' not in raw:
        return False
    if b"\\u" in raw:  # an escaped quote or colon would spoil the count
        return True
    again = msgspec.json.encode(value)
    if b'" :' in raw or b'"  ' in raw or b'"\t' in raw or b'"\n' in raw or b'"\r' in raw:  # a colon apart from its key
        return len(_KEY_COLON.findall(raw)) != again.count(b'":')
    return raw.count(b'":') != again.count(b'":')


class _Pairs(list[tuple[str, object]]):
    """A JSON object as it was written, repeated keys and all."""


def _second_reading(raw: bytes) -> None:
    """Raise for repeated keys, NaN and lone surrogates, with their path."""
    loose = json.loads(raw.decode("utf-8", "surrogatepass"), object_pairs_hook=_Pairs, parse_int=_integer)
    _check(loose, "$")


def _integer(digits: str) -> int:
    return int(digits) if len(digits) < 40 else 10**39  # beyond 64 bits either way


def _check(value: object, path: str) -> None:
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, item in value:
            if key in seen:
                raise InvalidJson(f"{path}: the key {json.dumps(key)} stands twice", {"path": path, "key": key})
            seen.add(key)
            if fault := text_fault(key):
                error = InvalidArguments if "\0" in key else InvalidJson
                raise error(f"{child_path(path, key)}: in a key, {fault}", {"path": child_path(path, key)})
            _check(item, child_path(path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check(item, f"{path}[{index}]")
    else:
        for _, fault in faults(value, path):
            is_json = isinstance(value, int) or (isinstance(value, str) and "\0" in value)
            error = InvalidArguments if is_json else InvalidJson
            raise error(f"{path}: {fault}", {"path": path})


def _explain(raw: bytes) -> NoReturn:
    """Raise `InvalidJson` that says why msgspec couldn't read the text."""
    if raw.startswith(_UTF16_MARKS) or b"\0" in raw[:4]:
        raise InvalidJson("the input is UTF-16 or UTF-32; JSON is UTF-8: convert it (iconv -f UTF-16 -t UTF-8)")
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        fault = f"byte {error.start + 1} (0x{raw[error.start]:02x}) isn't UTF-8"
        raise InvalidJson(f"not valid JSON: {fault}", {"byte": error.start + 1}) from None
    if not raw.strip():
        raise InvalidJson("not valid JSON: the input is empty")
    try:
        _second_reading(raw)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        details = {"line": error.lineno, "column": error.colno}
        raise InvalidJson(f"not valid JSON: {error.msg.lower()} at {where}", details) from None
    except RecursionError:
        raise InvalidJson(f"not valid JSON for a request: nested deeper than {MAX_DEPTH} levels") from None
    raise InvalidJson("not valid JSON")


def encode(value: object) -> str:
    """Return compact JSON text, as it is stored."""
    return msgspec.json.encode(value).decode()

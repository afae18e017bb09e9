"""One line of the wire as a message, or the reason why it is refused.

pydantic reads nearly every line. What it doesn't take is read a second time, to say what is wrong and, where the
frame tells, whose call it was: a client that gets no answer with its id waits until it gives up.
"""

import json
import re
from typing import Any

from mcp.types import INVALID_REQUEST, PARSE_ERROR, JSONRPCRequest
from mcp.types.jsonrpc import JSONRPCMessage, jsonrpc_message_adapter

from mmem.values import MAX_DEPTH, faults, is_too_deep, text_fault

MAX_FRAME = 16 << 20  # bytes, as a line of `mmem batch`

Id = int | str | None

_ID = rb'"id"\s*:\s*(-?\d{1,18}|"(?:[^"\\]|\\.){0,200}")'
_ID_BEFORE = re.compile(_ID)
_ID_AFTER = re.compile(_ID + rb'\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*){0,2}\}\s*$')
_ENDS = 1_000  # bytes at either end of a frame in which its id is looked for
_DIGITS = 40  # of an integer that is read; pydantic and Python refuse those of more than 4,300
_BEYOND = 10**_DIGITS  # stands for a longer one


class Refused(Exception):
    """A frame that can't be taken: the JSON-RPC error to answer with, and the id where it could be told."""

    def __init__(self, code: int, message: str, id: Id = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = id


class LineCutter:
    """Cuts what arrives into lines; of one that grows too large, only both ends are kept."""

    def __init__(self) -> None:
        """Begin with an empty line."""
        self._parts: list[bytes] = []  # of the line that is arriving
        self._size = 0
        self._tail = b""

    def cut(self, chunk: bytes) -> list[bytes | Refused]:
        """Return the lines that end in a chunk."""
        first, *more = chunk.split(b"\n")
        self._add(first)
        if not more:
            return []
        lines = [self._whole(), *more[:-1]]
        self._parts, self._size, self._tail = [], 0, b""
        self._add(more[-1])
        return lines

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= MAX_FRAME:
            self._parts.append(part)
            return
        if len(self._parts) > 1:
            joined = b"".join(self._parts)
            self._parts, self._tail = [joined[:_ENDS]], joined[-_ENDS:]
        self._tail = (self._tail + part)[-_ENDS:]

    def _whole(self) -> bytes | Refused:
        if self._size <= MAX_FRAME:
            return b"".join(self._parts)
        return _too_large(b"".join(self._parts), self._tail)


def message_of(line: bytes) -> JSONRPCMessage:
    """Return the message that a line holds. Raises `Refused`."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        raise _refusal(line) from None
    if not isinstance(message, JSONRPCRequest):
        _require_no_request(json.loads(line, parse_int=_integer))
    return message


def _require_no_request(value: dict[str, Any]) -> None:
    """Raise `Refused` for what pydantic reads as a notification or a response, though it asks for something."""
    if "method" in value and ("result" in value or "error" in value):
        message = "Invalid Request: it has a method, as a request, and a result or an error, as a response"
        raise Refused(INVALID_REQUEST, message, _valid_id(value.get("id")))
    if "method" in value and "id" in value:
        raise Refused(INVALID_REQUEST, "Invalid Request: an id is a text or a whole number")


def _too_large(head: bytes, tail: bytes) -> Refused:
    """Return the refusal of a frame of which only both ends were kept."""
    limit = f"{MAX_FRAME >> 20} MiB"
    return Refused(INVALID_REQUEST, f"Invalid Request: a frame has at most {limit}; send less at once", _id(head, tail))


def _id(head: bytes, tail: bytes) -> Id:
    """Return the id that stands before a frame's params, or at its very end."""
    found = _ID_BEFORE.search(head[:_ENDS].partition(b'"params"')[0]) or _ID_AFTER.search(tail[-_ENDS:])
    try:
        return None if found is None else _valid_id(json.loads(found[1]))
    except ValueError:
        return None


def _valid_id(id: object) -> Id:
    """Return an id that an answer can carry, else None."""
    if isinstance(id, str):
        return None if text_fault(id) else id
    return id if isinstance(id, int) and not isinstance(id, bool) and abs(id) < _BEYOND else None


def _integer(digits: str) -> int:
    return int(digits) if len(digits) <= _DIGITS else _BEYOND


def _refusal(line: bytes) -> Refused:
    """Return why pydantic didn't take a line."""
    try:
        value: Any = json.loads(line.decode("utf-8", "surrogateescape"), parse_int=_integer)
    except RecursionError:
        return _too_deep(_id(line, line))
    except ValueError as error:
        return Refused(PARSE_ERROR, f"Parse error: {_sentence(error)}")
    id = _valid_id(value.get("id")) if isinstance(value, dict) else None
    try:
        line.decode()
    except UnicodeDecodeError as error:
        where = f"byte {error.start + 1} (0x{line[error.start]:02x})"
        return Refused(PARSE_ERROR, f"Parse error: {where} isn't UTF-8; nothing was done", id)
    try:
        for path, fault in faults(value):
            if "surrogate" in fault or "integer" in fault:
                return Refused(PARSE_ERROR, f"Parse error: {path}: {fault}; nothing was done", id)
    except RecursionError:
        return _too_deep(id)
    if is_too_deep(value, line):
        return _too_deep(id)
    return Refused(INVALID_REQUEST, "Invalid Request: not a JSON-RPC 2.0 request, notification or response", id)


def _too_deep(id: Id) -> Refused:
    return Refused(PARSE_ERROR, f"Parse error: nested deeper than {MAX_DEPTH} levels; nothing was done", id)


def _sentence(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower().removesuffix(' at')} at column {error.colno}"
    return "not valid JSON"

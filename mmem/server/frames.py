"""One line of the wire as a message, or the reason why it is refused.

pydantic reads nearly every line. What it doesn't take is read a second time, to say what is wrong and, where the
frame tells, whose call it was: a client that gets no answer with its id waits until it gives up.
"""

import json
import re
from typing import Any

from mcp.types import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification
from mcp.types.jsonrpc import JSONRPCMessage, jsonrpc_message_adapter

from mmem.values import MAX_DEPTH, faults

MAX_FRAME = 16 << 20  # bytes, as a line of `mmem batch`

Id = int | str | None

_ID = rb'"id"\s*:\s*(-?\d{1,18}|"(?:[^"\\]|\\.){0,200}")'
_ID_BEFORE = re.compile(_ID)
_ID_AFTER = re.compile(_ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')
_ENDS = 1_000  # bytes at either end of a frame in which its id can stand outside its params


class Refused(Exception):
    """A frame that can't be taken: the JSON-RPC error to answer with, and the id where it could be told."""

    def __init__(self, code: int, message: str, id: Id = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = id


def message_of(line: bytes) -> JSONRPCMessage:
    """Return the message that a line holds. Raises `Refused`."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        raise _refusal(line) from None
    if isinstance(message, JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line):
        raise Refused(INVALID_REQUEST, "Invalid Request: an id is a text or a whole number")
    return message


def too_large(head: bytes, tail: bytes) -> Refused:
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
    return id if isinstance(id, int | str) and not isinstance(id, bool) else None


def _refusal(line: bytes) -> Refused:
    """Return why pydantic didn't take a line."""
    try:
        value: Any = json.loads(line.decode("utf-8", "surrogateescape"))
    except RecursionError:
        return Refused(PARSE_ERROR, f"Parse error: nested deeper than {MAX_DEPTH} levels", _id(line, line))
    except ValueError as error:
        return Refused(PARSE_ERROR, f"Parse error: {_sentence(error)}")
    id = _valid_id(value.get("id")) if isinstance(value, dict) else None
    if isinstance(id, str) and not id.isprintable():
        id = None
    try:
        line.decode()
    except UnicodeDecodeError as error:
        where = f"byte {error.start + 1} (0x{line[error.start]:02x})"
        return Refused(PARSE_ERROR, f"Parse error: {where} isn't UTF-8; nothing was done", id)
    try:
        path, fault = next(((path, fault) for path, fault in faults(value) if "surrogate" in fault), ("", ""))
    except RecursionError:
        return Refused(PARSE_ERROR, f"Parse error: nested deeper than {MAX_DEPTH} levels", id)
    if path:
        return Refused(PARSE_ERROR, f"Parse error: {path}: {fault}; nothing was done", id)
    return Refused(INVALID_REQUEST, "Invalid Request: not a JSON-RPC 2.0 request, notification or response", id)


def _sentence(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} at column {error.colno}"
    return "not valid JSON"

"""The envelope of a batch: `{"id", "tool", "arguments"}` in, `{"id", "ok", "result" or "error"}` out."""

from typing import Any, NamedTuple

import msgspec

from mmem import jsontext
from mmem.arguments import Request
from mmem.errors import InvalidRequest, MmemError
from mmem.lines import MAX_LINE
from mmem.names import did_you_mean, nearest
from mmem.outcomes import Outcome
from mmem.registry import Tool, tool
from mmem.requests import parse_checked

Id = str | int | float | bool | None

_KEYS = ("id", "tool", "arguments")

_encode = msgspec.json.Encoder().encode


class Asked(NamedTuple):
    """A request and where it came from."""

    line: int
    id: Id
    name: str
    tool: Tool
    request: Request


class Refused(NamedTuple):
    """A line that is no request, and why."""

    line: int
    id: Id
    name: str | None
    error: MmemError


def read(number: int, line: bytes | None) -> Asked | Refused:
    """Return the request on a line; whatever is wrong with it comes back as its error."""
    id: Id = None
    name: str | None = None
    try:
        if line is None:
            raise InvalidRequest(f"the line has more than {MAX_LINE >> 20} MiB; split the request")
        envelope = _object(jsontext.decode(line))
        given = envelope.get("id")
        if not isinstance(given, str | int | float | None):  # bool is an int
            raise InvalidRequest("$.id: must be a text, a number, true, false or null")
        id = given
        _require_keys(envelope)
        asked = _tool_name(envelope)
        found = _tool(asked)
        name = asked.replace("-", "_")
        arguments = envelope.get("arguments")
        if arguments is not None and not isinstance(arguments, dict):
            raise InvalidRequest("$.arguments: must be an object")
        return Asked(number, id, name, found, parse_checked(found.request, arguments))
    except MmemError as error:
        return Refused(number, id, name, error)


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidRequest('a request is an object such as {"id": 1, "tool": "read_graph", "arguments": {}}')
    return value


def _require_keys(envelope: dict[str, Any]) -> None:
    for key in envelope:
        if key not in _KEYS:
            near = did_you_mean(nearest(key, list(_KEYS), 1))
            raise InvalidRequest(f"$: unknown key '{key[:60]}'{near} (valid here: {', '.join(_KEYS)})")


def _tool_name(envelope: dict[str, Any]) -> str:
    name = envelope.get("tool")
    if not isinstance(name, str):
        raise InvalidRequest("$.tool: name the tool" if name is None else "$.tool: must be a text")
    return name


_tools: dict[str, Tool] = {}


def _tool(name: str) -> Tool:
    found = _tools.get(name)
    if found is None:
        found = tool(name)
        _tools[name] = found
    return found


def answer(asked: Asked, outcome: Outcome[Any]) -> bytes:
    """Return the response to a request that was carried out, as a line."""
    response: dict[str, object] = {"id": asked.id, "ok": True, "result": outcome.result}
    if outcome.notices:
        response["notices"] = [notice.to_dict() for notice in outcome.notices]
    return _encode(response) + b"\n"


def refusal(line: int, id: Id, error: MmemError) -> bytes:
    """Return the response to a request that failed, as a line."""
    return _encode({"id": id, "ok": False, "line": line, "error": error.to_dict()}) + b"\n"

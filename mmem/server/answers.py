"""What a tool's outcome or error becomes on the wire: text that a host can show and a model can read."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from mmem.formats import formatted
from mmem.outcomes import Notice

Result = dict[str, Any]  # a `CallToolResult` in the spelling of the wire
Write = Callable[[object], str]

_ALIKE = 20  # notices of one code that are said each


def writer(name: str) -> Write:
    """Return the function that writes results in a format; JSON is compact, since models pay for every space."""
    if name == "json":
        return _compact
    return lambda value: formatted(value, name).decode().removesuffix("\n")


def _compact(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def answer(text: str, notices: Sequence[Notice] = (), structured: object = None, *, room: int) -> Result:
    """Return a tool's result; notices are a second text item, which fits into `room` bytes."""
    content = [{"type": "text", "text": text}]
    if notices:
        content.append({"type": "text", "text": "\n".join(lines(notices, room))})
    result: Result = {"content": content, "isError": False, "resultType": "complete"}
    if structured is not None:
        result["structuredContent"] = structured
    return result


def lines(notices: Sequence[Notice], room: int) -> list[str]:
    """Return notices as lines, as many as fit into so many bytes; of what is left out the number is said."""
    counts: dict[str, int] = {}
    kept: list[str] = []
    left: dict[str, int] = {}
    for notice in notices:
        counts[notice.code] = counts.get(notice.code, 0) + 1
        line = f"{notice.code}: {notice.message}"
        size = size_in_frame(line)
        if counts[notice.code] > _ALIKE or (size > room and kept):
            left[notice.code] = left.get(notice.code, 0) + 1
            continue
        room -= size
        kept.append(line)
    return [*kept, *(f"{code}: {number} more" for code, number in left.items())]


def failure(text: str) -> Result:
    """Return a result that is an error of the given text."""
    return {"content": [{"type": "text", "text": text}], "isError": True, "resultType": "complete"}


def size_in_frame(text: str) -> int:
    """Return the bytes that a text takes inside a frame, where quotes and backslashes are escaped once more."""
    raw = text.encode()
    return len(raw) + raw.count(b'"') + raw.count(b"\\") + raw.count(b"\n") + 2

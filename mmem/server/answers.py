"""What a tool's outcome or error becomes on the wire: text that a host can show and a model can read."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from mmem.formats import formatted
from mmem.outcomes import Notice

Result = dict[str, Any]  # a `CallToolResult` in the spelling of the wire
Write = Callable[[object], str]

_ALIKE = 20  # notices of one code that are said each
_SHRINK = 0.9


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
    """Return notices as lines, as many as fit into so many bytes; of what is left out the number is said.

    The first one is always among them, if need be without its middle.
    """
    counts: Counter[str] = Counter()
    left: Counter[str] = Counter()
    kept: list[str] = []
    for notice in notices:
        line = f"{notice.code}: {notice.message}"
        if not kept:
            line = shortened(line, room, size_in_frame)
        size = size_in_frame(line)
        counts[notice.code] += 1
        if counts[notice.code] > _ALIKE or size > room:
            left[notice.code] += 1
            continue
        room -= size
        kept.append(line)
    return [*kept, *(f"{code}: {number} more" for code, number in left.items())]


def shortened(text: str, room: int, measure: Callable[[str], int]) -> str:
    """Return a text that measures at most so many bytes: what is too much is left out of its middle."""
    kept = text
    while (size := measure(kept)) > room and len(kept) > 1:
        half = int(len(kept) * room / size * _SHRINK / 2)
        kept = f"{text[:half]}…{text[len(text) - half :]}"
    return kept


def failure(text: str) -> Result:
    """Return a result that is an error of the given text."""
    return {"content": [{"type": "text", "text": text}], "isError": True, "resultType": "complete"}


def size_in_frame(text: str) -> int:
    """Return the bytes that a text takes inside a frame, where quotes and backslashes are escaped once more."""
    return len(msgspec.json.encode(text))

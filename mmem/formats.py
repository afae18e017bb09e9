"""A result as text: JSON, JSON lines, TOON or YAML. Tables and trees are `mmem.render`'s.

msgspec is imported only for records: a list of names needs no more than the standard library.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from mmem.visible import visible

_CONTROLS = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def formatted(result: object, name: str, *, on_terminal: bool = False) -> bytes:
    """Return a result in the named format, as UTF-8 that ends in a newline (unless it is empty).

    On a terminal, control characters are written in a way that the terminal doesn't obey.
    """
    if name in {"json", "jsonl"}:
        lines = _json(result) if name == "json" else _json_lines(result)
        return escaped(lines) if on_terminal else lines
    plain = plain_value(result)
    if name == "toon":
        from toon_format import encode

        toon = encode(plain) + "\n"
        return (visible(toon, keep="\n") if on_terminal else toon).encode()
    text = _yaml(plain)
    if on_terminal and _CONTROLS.search(text):
        text = _yaml(plain, escaped=True)
    return text.encode()


def separated(result: object) -> bytes:
    """Return the names that a result lists, or the names of its entities, as they are and each ended by a NUL."""
    listed: Any = getattr(result, "entities", result)
    names = [one if isinstance(one, str) else one.name for one in listed]
    return "".join(f"{name}\0" for name in names).encode()


def plain_value(result: object) -> Any:
    """Return a result as dicts, lists and scalars."""
    if _is_plain(result):
        return result
    import msgspec

    return msgspec.to_builtins(result)


def _is_plain(result: object) -> bool:
    """Tell whether a result is a text or a list of texts."""
    return isinstance(result, str) or (isinstance(result, list) and all(isinstance(item, str) for item in result))


def _json(result: object) -> bytes:
    """Return JSON with an indentation of two spaces."""
    if _is_plain(result):
        return (json.dumps(result, ensure_ascii=False, indent=2) + "\n").encode()
    import msgspec

    return msgspec.json.format(msgspec.json.encode(result), indent=2) + b"\n"


def _json_lines(result: object) -> bytes:
    """Return a line for each record: `{"type": "entity", ...}`, which `mmem import` reads back."""
    if _is_plain(result):
        items = result if isinstance(result, list) else [result]
        return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items).encode()
    import msgspec

    return b"".join(msgspec.json.encode(line) + b"\n" for line in _records(result))


def _records(result: object) -> Iterator[object]:
    from mmem.records import AddedObservations, Entity, Graph, Relation

    kinds = ((Entity, "entity"), (Relation, "relation"), (AddedObservations, "observations"))
    if isinstance(result, Graph):
        items: list[Any] = [*result.entities, *result.relations]
    else:
        items = result if isinstance(result, list) else [result]
    for item in items:
        kind = next((name for record, name in kinds if isinstance(item, record)), None)
        yield item if kind is None else {"type": kind, **plain_value(item)}


def escaped(text: bytes) -> bytes:
    """Return JSON with the controls that JSON may hold raw written as escapes: the same data."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text.decode()).encode()


def _yaml(plain: object, *, escaped: bool = False) -> str:
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(plain, Dumper=dumper, allow_unicode=not escaped, sort_keys=False, width=100)
    return text.removesuffix("...\n")

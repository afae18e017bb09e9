"""A result as text: JSON, JSON lines, TOON or YAML. Tables and trees are `mmem.render`'s."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from mmem.records import AddedObservations, Entity, Graph, Relation
from mmem.streams import visible

_KINDS = ((Entity, "entity"), (Relation, "relation"), (AddedObservations, "observations"))
_CONTROLS = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def formatted(result: object, name: str, *, on_terminal: bool = False) -> bytes:
    """Return a result in the named format, as UTF-8 that ends in a newline (unless it is empty).

    On a terminal, control characters are written in a way that the terminal doesn't obey.
    """
    if name == "json":
        text = msgspec.json.format(msgspec.json.encode(result), indent=2) + b"\n"
        return _escaped(text) if on_terminal else text
    if name == "jsonl":
        text = b"".join(msgspec.json.encode(line) + b"\n" for line in _lines(result))
        return _escaped(text) if on_terminal else text
    plain = plain_value(result)
    if name == "toon":
        from toon_format import encode

        toon = encode(plain) + "\n"
        return (visible(toon, keep="\n") if on_terminal else toon).encode()
    return _yaml(plain).encode()


def plain_value(result: object) -> Any:
    """Return a result as dicts, lists and scalars."""
    return msgspec.to_builtins(result)


def _lines(result: object) -> Iterator[object]:
    """Yield what stands on each line: `{"type": "entity", ...}` for the records of a graph."""
    if isinstance(result, Graph):
        yield from map(_tagged, result.entities)
        yield from map(_tagged, result.relations)
    elif isinstance(result, list):
        yield from map(_tagged, result)
    else:
        yield result


def _tagged(record: object) -> object:
    for kind, name in _KINDS:
        if isinstance(record, kind):
            return {"type": name, **plain_value(record)}
    return record


def _escaped(text: bytes) -> bytes:
    """Return JSON with the controls that JSON may hold raw written as escapes: the same data."""
    decoded = text.decode()
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", decoded).encode()


def _yaml(plain: object) -> str:
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(plain, Dumper=dumper, allow_unicode=True, sort_keys=False, width=100)
    return text.removesuffix("...\n")

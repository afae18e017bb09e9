"""Graphs in YAML, as pieces of JSON: what `mmem seed` reads."""

from collections.abc import Iterator

from mmem import jsontext, yamltext
from mmem.errors import InvalidArguments
from mmem.importing.pieces import Piece


def graphs_of(text: bytes, name: str) -> Iterator[Piece]:
    """Yield the graphs of a YAML text. Raises `InvalidArguments` with the name, line and column."""
    value = yamltext.load(text, name)
    if value is None:
        return
    if not isinstance(value, dict):
        raise InvalidArguments(f"{name}: neither JSON nor a graph in YAML, which is a mapping with entities")
    yield Piece(jsontext.encode(value).encode(), 1, 1, value)

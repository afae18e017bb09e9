"""Graphs in YAML, as `mmem seed` reads them, in the shape of records."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from mmem import jsontext
from mmem.importing.pieces import Piece
from mmem.seeding.documents import read
from mmem.seeding.graphs import Document, End, Node, Noted, Related, Way
from mmem.values import nfc
from mmem.yamltext import Mark


class Listed(NamedTuple):
    """A record of a graph, the list that it is of, and the graph's category, None where it gives none."""

    piece: Piece
    listed: str
    category: str | None


def graphs_of(text: bytes, name: str) -> Iterator[Listed]:
    """Yield the records of a YAML text. Raises `InvalidArguments` with the name, line and column."""
    documents = read(text, name)
    lines = text.split(b"\n")
    given: dict[str | None, _Names] = {}
    for document in documents:
        given.setdefault(document.category, _Names()).add(document)
    for document in documents:
        names = given[document.category]
        for entity in document.entities:
            yield Listed(_piece(_entity(entity), entity.mark), "entities", document.category)
        for related in document.relations:
            yield Listed(_relation(related, names, lines), "relations", document.category)


def _piece(value: dict[str, Any], mark: Mark) -> Piece:
    return Piece(jsontext.encode(value).encode(), mark.line + 1, mark.column + 1, value)


def _entity(node: Node) -> dict[str, Any]:
    value: dict[str, Any] = {"name": node.name, "entityType": node.entity_type}
    if node.properties:
        value["properties"] = node.properties
    return {**value, "observations": [_observation(noted) for noted in node.observations]}


def _observation(noted: Noted) -> str | dict[str, Any]:
    given = noted.given
    fields = {
        "observationType": given.observation_type,
        "timestamp": given.timestamp,
        "source": given.source,
        "properties": given.properties,
    }
    more = {key: value for key, value in fields.items() if value}
    return {"text": given.text, **more} if more else given.text


class _Names:
    """The entities that the documents of a category give."""

    def __init__(self) -> None:
        self.keys: set[tuple[str, str]] = set()
        self.names: set[str] = set()

    def add(self, document: Document) -> None:
        self.keys |= {entity.key for entity in document.entities}
        self.names = {name for name, _ in self.keys}


def _relation(related: Related, given: _Names, lines: list[bytes]) -> Piece:
    """Return a relation as its names say that it is to be read."""
    mark = related.mark
    names = given.names
    known = [way for way in related.ways if nfc(way.source.name) in names and nfc(way.target.name) in names]
    fitting = known or related.ways
    fault = None
    if len(fitting) > 1:
        fault = f"this line can be read in {len(fitting)} ways: put the names in double quotes"
    elif fitting[0].source.id is not None or fitting[0].target.id is not None:
        fault = "an id is another category's here: name the entity"
    if fault is not None:
        return Piece(lines[mark.line].rstrip(b"\r"), mark.line + 1, mark.column + 1, None, fault)
    return _piece(_record(fitting[0], related.properties, given.keys), mark)


def _record(way: Way, properties: dict[str, object] | None, keys: set[tuple[str, str]]) -> dict[str, Any]:
    value: dict[str, Any] = {"relationType": way.relation_type}
    ends: tuple[tuple[str, End], ...] = (("from", way.source), ("to", way.target))
    for side, end in ends:
        value[side] = end.name
        if end.entity_type is not None:
            value[f"{side}Type"] = end.entity_type
        elif (nfc(end.name), "") in keys:  # what a left-out type means
            value[f"{side}Type"] = ""
    return {**value, "properties": properties} if properties else value

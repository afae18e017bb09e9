"""The records of one file, whatever it is: JSON of any framing, YAML, or a predecessor's database."""

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from mmem import jsontext
from mmem.errors import InvalidArguments
from mmem.importing.given import Aside, EntityRecord, Record, RelationRecord
from mmem.importing.lines import Lines
from mmem.importing.pieces import NOTHING, WHOLE, NotJson, Piece, Unfit, decoded, elements, members, pieces, whole
from mmem.importing.shapes import is_document, is_marker, record, without_relations
from mmem.importing.sources import SQLITE, Source, as_utf8, has_json, head_of, is_yaml
from mmem.importing.usual import usual

_OPENERS = {b"[", b"{", b"[{"}  # lines with which a value begins that goes on
_EARLY = 50  # lines, of which one that is a record tells a file of them
_JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
_LISTS = ("entities", "relations", "observations")


class Found(NamedTuple):
    """A record with what was mended in it, or a fault, or a mark of the fork that wrote the file."""

    piece: Piece
    record: Record | None = None
    repairs: list[str] = []  # noqa: RUF012  # never changed where it isn't given
    fault: str | None = None
    marks: bool = False
    category: str | None = None


def records_of(source: Source, file: BinaryIO, encoding: str | None) -> Iterator[Found]:
    """Yield the records of a file in their order. Raises `Usage`, `InvalidJson`, `InvalidArguments` or `Storage`."""
    if head_of(file).startswith(SQLITE):
        from mmem.importing.databases import rows_of

        yield from rows_of(source)
        return
    text = as_utf8(file, encoding, source.name)
    try:
        yield from _text_records(text, source.name)
    finally:
        if text is not file:
            text.close()


def _text_records(file: BinaryIO, name: str) -> Iterator[Found]:
    if is_yaml(head_of(file), name):
        from mmem.importing.yamlgraphs import graphs_of

        try:
            graphs = list(graphs_of(file.read(), name))
        except InvalidArguments:
            file.seek(0)
            if not (name.lower().endswith(_JSON_ENDINGS) or has_json(head_of(file))):
                raise
        else:
            for piece, listed, category in graphs:
                for found in _record(piece, listed):
                    yield found._replace(category=category)
            return
    for piece in _top_level(file, name):
        value = piece.value
        if isinstance(value, EntityRecord | RelationRecord):
            yield Found(piece, value)
        else:
            yield from _records(piece)


def _top_level(file: BinaryIO, name: str) -> Iterator[Piece]:
    """Yield the values of a file: each line's, where the first line has one of its own, or else the whole."""
    lines = Lines(file, name)
    first = next((raw for _, raw in lines if raw.strip()), b"")
    file.seek(0)
    try:
        decoded(first)
    except Unfit:
        pass
    except NotJson:
        size = file.seek(0, 2)
        file.seek(0)
        is_lines = first.strip() not in _OPENERS and any(usual(line) for line in head_of(file).split(b"\n")[:_EARLY])
        one = whole(file.read()) if 0 < size <= WHOLE and not is_lines else None
        if one is not None:
            yield one
            return
        file.seek(0)
    yield from pieces(Lines(file, name))


def _records(piece: Piece) -> Iterator[Found]:
    value = piece.value
    if piece.fault is not None:
        yield Found(piece, fault=piece.fault)
    elif value is NOTHING:
        yield Found(piece, None, list(piece.repairs))
    elif is_marker(value):
        yield Found(piece, marks=True)
    elif isinstance(value, list):
        for element in elements(piece, piece.raw):
            yield from _records(element)
    elif is_document(value):
        yield from _document(piece)
    else:
        yield from _record(piece)


def _record(piece: Piece, listed: str | None = None) -> Iterator[Found]:
    """Yield a record, and the relations that stand in it."""
    if piece.fault is not None:
        yield Found(piece, fault=piece.fault)
        return
    repairs = [*piece.repairs]
    value, nested = without_relations(piece.value)
    try:
        made = record(value, repairs, listed)
    except Aside as error:
        yield Found(piece, fault=str(error))
        return
    yield Found(piece, made, repairs)
    if isinstance(made, EntityRecord):
        for one in nested:
            yield Found(piece, _nested(made, one), ["a relation that stands in its entity was read as one"])


def _nested(entity: EntityRecord, given: dict[str, Any]) -> Record:
    relation = record({**given, "from": entity.name, "fromType": entity.entity_type}, [], "relations")
    return relation._replace(category=entity.category)


def _document(piece: Piece) -> Iterator[Found]:
    """Yield the records of a document: the elements of its lists; what else it holds is said."""
    value: Any = piece.value
    category = value.get("category") if isinstance(value.get("category"), str) else None
    if piece.repairs:
        yield Found(piece._replace(value=NOTHING), None, list(piece.repairs))
    for key, (raw, start) in members(piece).items():
        inner = value.get(key)
        at = piece._replace(raw=raw, line=piece.line + piece.raw.count(b"\n", 0, start), column=_column(piece, start))
        if key in _LISTS and isinstance(inner, list):
            found = list(elements(piece, raw, start))
            if len(found) != len(inner):  # a key that stands twice: its lists are one
                found = [at._replace(raw=jsontext.encode(one).encode(), value=one, repairs=()) for one in inner]
            for element in found:
                for one in _record(element, key):
                    yield one._replace(category=category)
        elif key in _LISTS and inner is not None:
            yield Found(at, fault=f'"{key}" is no list')
        elif isinstance(inner, dict | list) and inner:
            yield Found(at, fault=f'"{key[:60]}" is no part of a graph that a memory has')
        elif key != "category" and inner:
            yield Found(at._replace(value=NOTHING), None, [f'"{key[:60]}" of the document isn\'t stored'])


def _column(piece: Piece, start: int) -> int:
    before = piece.raw.rfind(b"\n", 0, start)
    return start - before if before >= 0 else start + piece.column

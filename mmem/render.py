"""Results for a person: trees of entities and tables of relations, drawn by rich.

Stored text is only ever shown: no markup, no emoji codes, no links, no control characters.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import Any

import msgspec
from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style

from mmem.matches import Matches
from mmem.records import (
    AddedObservations,
    Entity,
    EntityElsewhere,
    Graph,
    NamedElsewhere,
    Observation,
    Properties,
    Relation,
)
from mmem.streams import Streams
from mmem.visible import visible

Line = list[Segment]
Key = tuple[str, str]  # the category, where there are several, and the id of an entity
_length = Segment.get_line_length

_LONG, _AROUND = 600, 200  # characters of a text that a search shows, and of those before the first match
_NARROWEST, _UNKNOWN, _WIDEST = 20, 80, 100  # longer lines are hard to read, however wide the terminal is

# Of the named ANSI colours, those that themes keep readable on dark and on light: not yellow, not blue.
_NAME, _ASIDE, _MATCH = Style(bold=True), Style(dim=True), Style(bold=True, underline=True)
_TYPE, _LABEL, _VERB = Style(color="cyan"), Style(color="green"), Style(color="magenta")

_FORK, _LAST, _STEM, _BLANK = (Segment(guide, _ASIDE) for guide in ("├─ ", "└─ ", "│  ", "   "))
_INDENT = Segment("  ")

# Chinese and Japanese have no spaces: a line may end after any character, but not before a closing mark.
_WIDE = "\u2e80-\u2fff\u3001-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff"
_OPENING = "（［｛〈《「『【〔"
_CLOSING = "、。，．：；？！）］｝〉》」』】〕…・ー々っゃゅょッャュョ\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
_WORD = re.compile(rf"(\s*[{_OPENING}]*(?:[{_WIDE}]|[^\s{_WIDE}]+)[{_CLOSING}]*)(\s*)")

# Text that would be taken for a number, a list, nothing at all; JSON's quotes make it clear.
_UNCLEAR = re.compile(r'-?\d+(\.\d+)?([eE][-+]?\d+)?|true|false|null|["\[{].*|\s.*|.*\s|', re.ASCII | re.DOTALL)
_MOMENT = re.compile(r"^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?::\d\d(?:[.,]\d+)?)?(Z|z|[+-]\d\d(?::?\d\d)?)?$", re.ASCII)


def render(result: object, streams: Streams, matches: Matches | None = None) -> str:
    """Return a tool's result as text for a person, at most as wide as the terminal; it ends in a newline.

    What a search matched is highlighted, and of long texts only the part around it is shown.
    """
    colored = streams.colored(streams.shows_terminal)
    output = StringIO()
    console = Console(
        file=output,
        width=None if streams.shows_terminal or "COLUMNS" in streams.environ else _UNKNOWN,
        force_terminal=colored,
        color_system="standard" if colored else None,
        no_color=not colored,
        _environ=streams.environ,
    )
    console.width = min(max(console.width or _UNKNOWN, _NARROWEST), _WIDEST)
    segments = (each for line in _lines(result, console.width, matches) for each in (*line, Segment.line()))
    console.print(Segments(segments), crop=False)
    return output.getvalue()


def _lines(result: object, width: int, matches: Matches | None) -> Iterable[Line]:
    if result == [] or result == Graph(entities=[], relations=[]):
        return [[Segment("Nothing to show.")]]
    if isinstance(result, Graph):
        return _graph(result, width, matches)
    records: list[Any] = result if isinstance(result, list) else [result]
    if isinstance(records[0], Relation):
        return _table(records, width)
    if isinstance(records[0], Entity):
        return _spaced(_entity(entity, [], [], width) for entity in records)
    if isinstance(records[0], AddedObservations):
        return _spaced(_added(added, width) for added in records)
    if isinstance(records[0], NamedElsewhere):
        return [[Segment(f"{one.category}: ", _ASIDE), Segment(visible(one.name))] for one in records]
    return [[Segment(visible(str(record)))] for record in records]


def _graph(graph: Graph, width: int, matches: Matches | None) -> Iterator[Line]:
    def key(entity: Entity) -> Key:
        return getattr(entity, "category", ""), entity.id

    shown = {key(entity) for entity in graph.entities}
    outgoing: defaultdict[Key, list[Relation]] = defaultdict(list)
    incoming: defaultdict[Key, list[Relation]] = defaultdict(list)
    elsewhere = []
    for relation in graph.relations:
        category = getattr(relation, "category", "")
        begin, end = (category, relation.from_id), (category, relation.to_id)
        outgoing[begin].append(relation)
        if end != begin:
            incoming[end].append(relation)
        if begin not in shown and end not in shown:
            elsewhere.append(relation)
    blocks = [
        _entity(entity, outgoing[key(entity)], incoming[key(entity)], width, matches) for entity in graph.entities
    ]
    if elsewhere:
        blocks.append([[Segment("Between entities that aren't shown:")], *_table(elsewhere, width)])
    yield from _spaced(blocks)
    yield []
    yield [Segment(_summary(graph), _ASIDE)]


def _summary(graph: Graph) -> str:
    entities, relations = len(graph.entities), len(graph.relations)
    observations = sum(len(entity.observations) for entity in graph.entities)
    return (
        f"{entities} {'entity' if entities == 1 else 'entities'}, "
        f"{observations} observation{'s' * (observations != 1)}, {relations} relation{'s' * (relations != 1)}"
    )


def _spaced(blocks: Iterable[list[Line]]) -> Iterator[Line]:
    """Yield the lines of the blocks, a blank line around each block of several."""
    before = 0
    for block in blocks:
        if before and max(before, len(block)) > 1:
            yield []
        yield from block
        before = len(block)


def _entity(
    entity: Entity, outgoing: list[Relation], incoming: list[Relation], width: int, matches: Matches | None = None
) -> list[Line]:
    room = width - len(_FORK.text)
    branches = [_observation(observation, room, matches) for observation in entity.observations]
    branches += [_edge("→ ", relation, relation.to_name, relation.to_type, room) for relation in outgoing]
    branches += [_edge("← ", relation, relation.from_name, relation.from_type, room) for relation in incoming]
    where = f" in {entity.category}" if isinstance(entity, EntityElsewhere) else ""
    score = matches.score_of(entity) if matches else ""
    name = _marked(visible(entity.name), matches, _NAME)
    header = [*name, *_kind(entity.entity_type), Segment(f" #{visible(entity.id)}{where}{score}", _ASIDE)]
    return _tree([*_folded(header, room), *_details(entity.properties, room)], branches)


def _added(added: AddedObservations, width: int) -> list[Line]:
    name, kind, texts = added.entity_name, added.entity_type, added.added_observations
    return _entity(Entity(id=added.entity_id, name=name, entity_type=kind, observations=texts), [], [], width)


def _tree(root: list[Line], branches: list[list[Line]]) -> list[Line]:
    stem = _STEM if branches else _BLANK
    lines = [root[0], *([stem, *line] for line in root[1:])]
    for index, (first, *rest) in enumerate(branches, 1):
        fork, stem = (_LAST, _BLANK) if index == len(branches) else (_FORK, _STEM)
        lines.append([fork, *first])
        lines += [[stem, *line] for line in rest]
    return lines


def _end(name: str, entity_type: str, style: Style | None = None) -> Line:
    """Return an entity's name, and its type in parentheses if it has one."""
    return [Segment(visible(name), style), *_kind(entity_type)]


def _kind(entity_type: str) -> Line:
    return [Segment(f" ({visible(entity_type)})", _TYPE)] if entity_type else []


def _marked(text: str, matches: Matches | None, style: Style | None = None) -> Line:
    """Return a text with what matched in it highlighted."""
    line, at = [], 0
    for start, end in matches.spans(text) if matches else ():
        line += [Segment(text[at:start], style), Segment(text[start:end], _MATCH)]
        at = end
    return [segment for segment in (*line, Segment(text[at:], style)) if segment.text]


def _excerpt(text: str, matches: Matches | None) -> str:
    """Return the part of a long text around the first match."""
    spans = matches.spans(text) if matches else []
    if len(text) <= _LONG or not spans:
        return text
    start = max(0, spans[0][0] - _AROUND)
    end = min(len(text), start + _LONG)
    start = text.rfind(" ", 0, start) + 1 if start else 0
    return ("… " if start else "") + text[start:end].strip() + (" …" if end < len(text) else "")


def _details(properties: Properties | None, width: int) -> Iterator[Line]:
    for key, value in (properties or {}).items():
        line = [Segment(f"{visible(key)}: ", _ASIDE), Segment(_block(_value(value)))]
        yield from _branch("", line, [], width)


def _observation(observation: Observation, width: int, matches: Matches | None) -> list[Line]:
    kind = observation.observation_type
    label = [Segment(f"{visible(kind)}: ", _LABEL)] if kind else []
    notes = [visible(observation.source), _moment(observation.timestamp or ""), *_pairs(observation.properties)]
    text = _excerpt(_block(observation.text), matches) or '""'
    return _branch("• ", [*label, *_marked(text, matches)], notes, width)


def _edge(arrow: str, relation: Relation, name: str, entity_type: str, width: int) -> list[Line]:
    line = [Segment(visible(relation.relation_type) + " ", _VERB), *_end(name, entity_type)]
    return _branch(arrow, line, _pairs(relation.properties), width)


def _branch(mark: str, content: Line, notes: list[str], width: int) -> list[Line]:
    """Return a mark, the folded content beside it, and the notes in brackets behind or below it."""
    room = width - len(_INDENT.text)
    lines = _folded(content, room)
    if any(notes):
        note = Segment(f"[{' · '.join(filter(None, notes))}]", _ASIDE)
        if _length(lines[-1]) + 2 + cell_len(note.text) <= room:
            lines[-1] = [*lines[-1], _INDENT, note]
        else:
            lines += _folded([note], room)
    return [[Segment(mark), *lines[0]], *([_INDENT, *line] for line in lines[1:])]


def _table(relations: list[Relation], width: int) -> list[Line]:
    """Return a line per relation, in columns where they fit."""
    rows = [
        (
            _end(relation.from_name, relation.from_type),
            [Segment(f" → {visible(relation.relation_type)}", _VERB)],
            [Segment(" → ", _VERB), *_end(relation.to_name, relation.to_type)],
        )
        for relation in relations
    ]
    first, second, third = (max(map(_length, cells)) for cells in zip(*rows, strict=True))
    if first + second + third + len(_INDENT.text) > width:
        first = second = 0
    lines: list[Line] = []
    for relation, (begin, verb, end) in zip(relations, rows, strict=True):
        begin.append(Segment(" " * (first - _length(begin))))
        verb.append(Segment(" " * (second - _length(verb))))
        lines += _branch("", [*begin, *verb, *end], _pairs(relation.properties), width)
    return lines


def _pairs(properties: Properties | None) -> list[str]:
    return [visible(f"{key}: {_value(value)}") for key, value in (properties or {}).items()]


def _value(value: object) -> str:
    """Return a property's value as JSON, without quotes where text is clear without them."""
    if isinstance(value, str) and not _UNCLEAR.fullmatch(value):
        return value
    return msgspec.json.encode(value).decode()


def _moment(timestamp: str) -> str:
    """Return a timestamp without `T` and seconds, in the zone in which it is stored."""
    shown = _MOMENT.sub(r"\1 \2 \3", timestamp).rstrip()
    return visible(f"{shown[:-1]}UTC" if shown.endswith((" Z", " z")) else shown)


def _block(text: str) -> str:
    return visible(text.replace("\r\n", "\n").rstrip(" \t\n").expandtabs(4), keep="\n")


def _folded(content: Line, width: int) -> list[Line]:
    """Return the content as lines, each broken where it is wider than the width."""
    plain = "".join(segment.text for segment in content)
    if "\n" not in plain and cell_len(plain) <= width:
        return [content]
    lines, at = [], 0
    for paragraph in plain.split("\n"):
        lines += [list(_cut(content, at + start, at + end)) for start, end in _spans(paragraph, width)]
        at += len(paragraph) + 1
    return lines


def _cut(content: Line, start: int, end: int) -> Iterator[Segment]:
    for text, style, _ in content:
        if part := text[max(start, 0) : max(end, 0)]:
            yield Segment(part, style)
        start, end = start - len(text), end - len(text)


def _spans(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Yield where each line starts and ends: between words, within one only where it is wider than the width."""
    start = end = used = 0
    for match in _WORD.finditer(text):
        word, gap = match.groups()
        if end > start and used + cell_len(word) > width:
            yield start, end
            start, used = match.start(), 0
        *full, rest = chop_cells(word, width) if cell_len(word) > width else [word]
        for part in full:
            yield start, start + len(part)
            start += len(part)
        end = match.end(1)
        used += cell_len(rest) + cell_len(gap)
    yield start, end

"""Results for a person: trees of entities and tables of relations, drawn by rich.

Stored text is only ever shown: no markup, no emoji codes, no links, no control characters.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import Any

import msgspec
from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style

from mmem.dashboard import dashboard, holdings
from mmem.folding import Line, folded
from mmem.marking import excerpted, marked
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
from mmem.statistics import Held, Statistics
from mmem.streams import Streams
from mmem.styles import ASIDE, LABEL, NAME, TYPE, VERB, moment
from mmem.visible import visible

Key = tuple[str, str]  # the category, where there are several, and the id of an entity
_length = Segment.get_line_length

_NARROWEST, _UNKNOWN, _WIDEST = 20, 80, 100  # longer lines are hard to read, however wide the terminal is

_FORK, _LAST, _STEM, _BLANK = (Segment(guide, ASIDE) for guide in ("├─ ", "└─ ", "│  ", "   "))
_INDENT = Segment("  ")

# Text that would be taken for a number, a list, nothing at all; JSON's quotes make it clear.
_UNCLEAR = re.compile(r'-?\d+(\.\d+)?([eE][-+]?\d+)?|true|false|null|["\[{].*|\s.*|.*\s|', re.ASCII | re.DOTALL)


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
    if isinstance(records[0], Statistics):
        return dashboard(records[0], width)
    if isinstance(records[0], Held):
        return holdings(records, width)
    if isinstance(records[0], NamedElsewhere):
        return [[Segment(f"{one.category}: ", ASIDE), Segment(visible(one.name))] for one in records]
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
    yield [Segment(_summary(graph, with_relations=matches is None or matches.with_relations), ASIDE)]


def _summary(graph: Graph, *, with_relations: bool) -> str:
    entities, relations = len(graph.entities), len(graph.relations)
    observations = sum(len(entity.observations) for entity in graph.entities)
    counts = [
        f"{entities} {'entity' if entities == 1 else 'entities'}",
        f"{observations} observation{'s' * (observations != 1)}",
        *([f"{relations} relation{'s' * (relations != 1)}"] if with_relations else []),
    ]
    return ", ".join(counts)


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
    name = marked(visible(entity.name), matches, NAME)
    header = [*name, *_kind(entity.entity_type, matches), Segment(f" #{visible(entity.id)}{where}{score}", ASIDE)]
    return _tree([*folded(header, room), *_details(entity.properties, room, matches)], branches)


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


def _kind(entity_type: str, matches: Matches | None = None) -> Line:
    return marked(f" ({visible(entity_type)})", matches, TYPE) if entity_type else []


def _details(properties: Properties | None, width: int, matches: Matches | None) -> Iterator[Line]:
    for key, value in (properties or {}).items():
        line = [*marked(f"{visible(key)}: ", matches, ASIDE), *marked(_block(_value(value)), matches)]
        yield from _branch("", line, [], width)


def _observation(observation: Observation, width: int, matches: Matches | None) -> list[Line]:
    kind = observation.observation_type
    label = [Segment(f"{visible(kind)}: ", LABEL)] if kind else []
    facts = [visible(observation.source), moment(observation.timestamp or "")]
    notes = [*_aside(facts), *_pairs(observation.properties, matches)]
    text = excerpted(_block(observation.text), matches, width - len(_INDENT.text)) or [Segment('""')]
    return _branch("• ", [*label, *text], notes, width)


def _edge(arrow: str, relation: Relation, name: str, entity_type: str, width: int) -> list[Line]:
    line = [Segment(visible(relation.relation_type) + " ", VERB), *_end(name, entity_type)]
    return _branch(arrow, line, _pairs(relation.properties), width)


def _branch(mark: str, content: Line, notes: list[Line], width: int) -> list[Line]:
    """Return a mark, the folded content beside it, and the notes in brackets behind or below it."""
    room = width - len(_INDENT.text)
    lines = folded(content, room)
    if notes:
        dots = [segment for note in notes for segment in (Segment(" · ", ASIDE), *note)][1:]
        note = [Segment("[", ASIDE), *dots, Segment("]", ASIDE)]
        if _length(lines[-1]) + 2 + _length(note) <= room:
            lines[-1] = [*lines[-1], _INDENT, *note]
        else:
            lines += folded(note, room)
    return [[Segment(mark), *lines[0]], *([_INDENT, *line] for line in lines[1:])]


def _table(relations: list[Relation], width: int) -> list[Line]:
    """Return a line per relation, in columns where they fit."""
    rows = [
        (
            _end(relation.from_name, relation.from_type),
            [Segment(f" → {visible(relation.relation_type)}", VERB)],
            [Segment(" → ", VERB), *_end(relation.to_name, relation.to_type)],
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


def _pairs(properties: Properties | None, matches: Matches | None = None) -> list[Line]:
    return [marked(visible(f"{key}: {_value(value)}"), matches, ASIDE) for key, value in (properties or {}).items()]


def _aside(texts: Iterable[str]) -> list[Line]:
    return [[Segment(text, ASIDE)] for text in texts if text]


def _value(value: object) -> str:
    """Return a property's value as JSON, without quotes where text is clear without them."""
    if isinstance(value, str) and not _UNCLEAR.fullmatch(value):
        return value
    return msgspec.json.encode(value).decode()


def _block(text: str) -> str:
    return visible(text.replace("\r\n", "\n").rstrip(" \t\n").expandtabs(4), keep="\n")

"""Figures for a person: the dashboard of a category, and the table of all categories."""

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest

from rich.cells import cell_len
from rich.segment import Segment

from mmem.folding import Line, folded, shortened
from mmem.statistics import Counted, Dated, Held, OfType, Statistics
from mmem.styles import ASIDE, LABEL, NAME, TYPE, moment
from mmem.visible import plural, visible

_GAP = "  "
_TWO_COLUMNS = 72  # from this width on, blocks stand in pairs
_BAR = 8  # columns
_NARROW, _DATE = 32, 10  # columns below which a moment is only its date
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HEADINGS = ("category", "entities", "observations", "relations", "size", "changed (UTC)")

_length = Segment.get_line_length


def holdings(rows: list[Held], width: int) -> list[Line]:
    """Return a table of categories, or two lines each where the table would be wider than the terminal."""
    texts = [_held(row) for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(_HEADINGS, *texts, strict=True)]
    if sum(widths) + len(_GAP) * (len(widths) - 1) > width:
        return [line for row in rows for line in _in_two_lines(row, width)]
    lines: list[Line] = [[Segment(_row(_HEADINGS, widths), ASIDE)]]
    for name, *figures in texts:
        first = Segment(name + " " * (widths[0] - cell_len(name)), NAME)
        lines.append([first, Segment(_GAP + _row(figures, widths[1:], right=True))])
    return lines


def _held(row: Held) -> tuple[str, ...]:
    counts = (f"{number:,}" for number in (row.entities, row.observations, row.relations))
    return (row.category, *counts, size_of(row.bytes), _minute(row.changed))


def _row(texts: Iterable[str], widths: list[int], *, right: bool = False) -> str:
    """Return texts in columns: all of them to the right, or all but the first."""
    cells = [
        text.rjust(wide) if right or number else text.ljust(wide)
        for number, (text, wide) in enumerate(zip(texts, widths, strict=True))
    ]
    return _GAP.join(cells)


def _in_two_lines(row: Held, width: int) -> list[Line]:
    facts = f"{_counts(row)}\n{size_of(row.bytes)}, changed {_minute(row.changed)} UTC"
    inner = [[Segment(_GAP), *line] for line in folded([Segment(facts)], width - len(_GAP))]
    return [*folded([Segment(row.category, NAME)], width), *inner]


def _counts(row: Held | Statistics) -> str:
    return (
        f"{plural(row.entities, 'entity', 'entities')}, {plural(row.observations, 'observation')}, "
        f"{plural(row.relations, 'relation')}"
    )


def _minute(timestamp: str | None) -> str:
    return moment(timestamp).removesuffix(" UTC") if timestamp else "–"


def size_of(number: int | None) -> str:
    """Return a number of bytes as a person reads it: `104 KiB`."""
    if number is None:
        return "–"
    amount, units = float(number), iter(("B", "KiB", "MiB", "GiB", "TiB"))
    unit = next(units)
    while amount >= 1000 and unit != "TiB":
        amount, unit = amount / 1024, next(units)
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"


def dashboard(figures: Statistics, width: int) -> list[Line]:
    """Return a category in figures, in two columns of blocks where they fit."""
    wide = (width - len(_GAP) * 2) // 2 if width >= _TWO_COLUMNS else width
    types = figures.types
    blocks = [
        _types("Entity types", figures.entity_types, types.entities, wide),
        _types("Relation types", figures.relation_types, types.relations, wide),
        _entities("Most relations", figures.most_connected, _count, wide),
        _entities("Most observations", figures.most_observations, _count, wide),
        _entities("Newest", figures.newest, _created, wide),
        *([_entities("Oldest", figures.oldest, _created, wide)] if figures.entities > len(figures.newest) else []),
        _types("Observation types", figures.observation_types, types.observations, wide),
    ]
    filled = [block for block in blocks if len(block) > 1]
    each = 1 if width < _TWO_COLUMNS else 2
    lines = _head(figures, width)
    for first in range(0, len(filled), each):
        lines.append([])
        lines += _beside(filled[first : first + each], wide)
    return lines


def _head(figures: Statistics, width: int) -> list[Line]:
    title = [Segment(figures.category, NAME), Segment(f"{_GAP}{visible(figures.file)}", ASIDE)]
    facts = [_counts(figures)]
    if figures.bytes is not None:
        facts.append(
            size_of(figures.bytes) + (f" and a log of {size_of(figures.log_bytes)}" if figures.log_bytes else "")
        )
        facts.append(f"changed {_minute(figures.changed)} UTC")
    together = " · ".join(facts)
    apart = together if cell_len(together) <= width else "\n".join([facts[0], " · ".join(facts[1:])])
    return [*folded(title, width), *folded([Segment(apart)], width)]


def _types(title: str, rows: list[OfType], total: int, width: int) -> list[Line]:
    more = f" ({len(rows)} of {total:,})" if total > len(rows) else ""
    more = more if len(title + more) <= width else ""
    digits = max((len(f"{row.count:,}") for row in rows), default=0)
    room = width - digits - _BAR - len(_GAP) * 2
    lines: list[Line] = [[Segment(title, LABEL), Segment(more, ASIDE)]]
    for row in rows:
        kind = shortened(visible(row.type), room) if row.type else "(none)"
        label = Segment(kind + " " * (room - cell_len(kind)), TYPE if row.type else ASIDE)
        bar = _bar(row.count / rows[0].count)
        lines.append([label, Segment(f"{_GAP}{row.count:>{digits},}"), Segment(_GAP + bar, ASIDE)])
    return lines


def _bar(share: float) -> str:
    eighths = max(1, round(share * _BAR * 8))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).strip()


def _entities(
    title: str, rows: Sequence[Counted | Dated], fact: Callable[[Counted | Dated], str], width: int
) -> list[Line]:
    """Return a block of entities, each with its id and a fact at the end of the line; a long name is cut."""
    facts = [fact(row)[: _DATE if width < _NARROW else None] for row in rows]
    last = max(map(len, facts), default=0)
    lines: list[Line] = [[Segment(title, LABEL)]]
    for row, text in zip(rows, facts, strict=True):
        mark = f" #{row.id}"
        room = width - last - len(_GAP) - len(mark)
        name = shortened(visible(row.name), room)
        kind = f" ({visible(row.entity_type)})" if row.entity_type else ""
        kind = kind if cell_len(name + kind) <= room else ""
        gap = " " * (room - cell_len(name) - cell_len(kind))
        lines.append(
            [Segment(name, NAME), Segment(kind, TYPE), Segment(mark, ASIDE), Segment(f"{gap}{_GAP}{text:>{last}}")]
        )
    return lines


def _count(row: Counted | Dated) -> str:
    return f"{row.count:,}" if isinstance(row, Counted) else ""


def _created(row: Counted | Dated) -> str:
    return _minute(row.created) if isinstance(row, Dated) else ""


def _beside(blocks: list[list[Line]], width: int) -> list[Line]:
    """Return blocks next to each other, each of that width."""
    rows = []
    for parts in zip_longest(*blocks, fillvalue=[]):
        line: Line = []
        for number, part in enumerate(parts):
            line += part
            if number < len(parts) - 1:
                line.append(Segment(" " * (width - _length(part) + len(_GAP) * 2)))
        rows.append(line if any(segment.text.strip() for segment in line) else [])
    return rows

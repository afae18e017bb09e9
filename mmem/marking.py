"""What a search matched, in a text that is shown: highlighted, and of a long text the part around it."""

from itertools import takewhile

from rich.segment import Segment
from rich.style import Style

from mmem.folding import Line, cut, excerpt
from mmem.matches import Matches, Span
from mmem.styles import ASIDE, MATCH

_MARKS, _CANDIDATES = 4, 100  # columns of the marks around an excerpt; matches among which its place is chosen


def marked(text: str, matches: Matches | None, style: Style | None = None) -> Line:
    """Return a text with what matched in it highlighted."""
    line, at = [], 0
    for start, end in matches.spans(text) if matches else ():
        line += [Segment(text[at:start], style), Segment(text[start:end], _matched(style))]
        at = end
    return [segment for segment in (*line, Segment(text[at:], style)) if segment.text]


def excerpted(text: str, matches: Matches | None, width: int) -> Line:
    """Return the lines of a long text that are around the first match, or all of any other text."""
    spans = matches.spans(text) if matches else []
    if not spans:
        return marked(text, matches)
    start, end = excerpt(text, _richest(text, spans, width), width - _MARKS)
    before, after = "… " if start else "", " …" if end < len(text) else ""
    line = marked(text, matches)
    return [Segment(before), *cut(line, start, end), Segment(after)] if before or after else line


def _richest(text: str, spans: list[Span], width: int) -> int:
    """Return where a match begins that has the most other words that matched close behind it."""

    def words(first: int) -> tuple[int, int]:
        start, reach = spans[first][0], 0
        seen: set[str] = set()
        for begin, end in takewhile(lambda span: span[0] < start + width, spans[first : first + _CANDIDATES]):
            if (word := text[begin:end].casefold()) not in seen:
                seen.add(word)
                reach = begin - start
        return len(seen), -reach

    return spans[max(range(min(len(spans), _CANDIDATES)), key=words)][0]


def _matched(style: Style | None) -> Style:
    return MATCH if style in {None, ASIDE} else style + MATCH  # bold and dim at once is neither

"""Lines for a terminal: folded between words, measured in columns, which are two for a Chinese character."""

import re
from collections.abc import Iterator

from rich.cells import cell_len, chop_cells
from rich.segment import Segment

Line = list[Segment]

_EXCERPT = 3  # lines of a long text that are shown of it

# Chinese and Japanese have no spaces: a line may end after any character, but not before a closing mark.
_WIDE = "\u2e80-\u2fff\u3001-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff"
_OPENING = "（［｛〈《「『【〔"
_CLOSING = "、。，．：；？！）］｝〉》」』】〕…・ー々っゃゅょッャュョ\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
_WORD = re.compile(rf"(\s*[{_OPENING}]*(?:[{_WIDE}]|[^\s{_WIDE}]+)[{_CLOSING}]*)(\s*)")


def folded(content: Line, width: int) -> list[Line]:
    """Return the content as lines, each broken where it is wider than the width."""
    plain = "".join(segment.text for segment in content)
    if "\n" not in plain and cell_len(plain) <= width:
        return [content]
    lines, at = [], 0
    for paragraph in plain.split("\n"):
        lines += [list(cut(content, at + start, at + end)) for start, end in _line_spans(paragraph, width)]
        at += len(paragraph) + 1
    return lines


def cut(content: Line, start: int, end: int) -> Iterator[Segment]:
    """Yield what stands between two places of a line."""
    for text, style, _ in content:
        if part := text[max(start, 0) : max(end, 0)]:
            yield Segment(part, style)
        start, end = start - len(text), end - len(text)


def _line_spans(text: str, width: int) -> Iterator[tuple[int, int]]:
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


def excerpt(text: str, start: int, width: int) -> tuple[int, int]:
    """Return where the three lines around a place in a text begin and end; the whole text where it is hardly longer."""
    first = max(0, start - 2 * width)  # folding a text of a megabyte takes its time
    last = min(len(text), start + 4 * width)
    lines = _lines_of(text, first, last, width)
    whole = first == 0 and last == len(text)
    if whole and len(lines) <= _EXCERPT + 1:
        return 0, len(text)
    place = next((at for at, (_, end) in enumerate(lines) if start < end), len(lines) - 1)
    top = max(place - 1, 0 if first == 0 else min(1, place))  # the first line may begin within a word
    shown = lines[top : top + _EXCERPT]
    return shown[0][0], shown[-1][1]


def _lines_of(text: str, first: int, last: int, width: int) -> list[tuple[int, int]]:
    lines, at = [], first
    for paragraph in text[first:last].split("\n"):
        lines += [(at + start, at + end) for start, end in _line_spans(paragraph, width)]
        at += len(paragraph) + 1
    return lines


def shortened(text: str, width: int) -> str:
    """Return a text that is at most so wide, with a mark where it was cut."""
    if cell_len(text) <= width:
        return text
    return next(iter(chop_cells(text, max(width - 1, 2))), "") + "…"

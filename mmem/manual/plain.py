"""Pages as text for a terminal or a pipe, where no `man` shows them."""

from collections.abc import Iterable, Iterator

from mmem.manual.page import Block, Code, Items, Page, Text, spans

_INDENT = 3
_DEEPER = 8
_WIDEST = 80
_NARROWEST = 40
_BOLD, _NORMAL = "\x1b[1m", "\x1b[0m"


def plain(page: Page, width: int = _WIDEST, *, colored: bool = False) -> str:
    """Return a page as lines of at most so many columns, 40 to 80; with colours what is typed stands bold."""
    width = max(_NARROWEST, min(width, _WIDEST))
    lines = [*_title("name", colored), *_paragraph(f"`{page.name}` - {page.summary}", _INDENT, width, colored)]
    for section in page.sections:
        lines += ["", *_title(section.title, colored)]
        for place, block in enumerate(section.blocks):
            lines += [""] * (place > 0) + _block(block, width, colored)
    return "".join(f"{line}\n" for line in lines)


def _title(title: str, colored: bool) -> list[str]:
    return [_bold(title.upper(), colored)]


def _block(block: Block, width: int, colored: bool) -> list[str]:
    match block:
        case Text(text):
            return _paragraph(text, _INDENT, width, colored)
        case Items(items):
            lines: list[str] = []
            for term, text in items:
                lines += [""] * bool(lines) + _paragraph(term, _INDENT, width, colored)
                lines += _paragraph(text, _DEEPER, width, colored)
            return lines
        case Code(code):
            return [f"{' ' * (_INDENT + 4)}{line}".rstrip() for line in code]


def _paragraph(text: str, indent: int, width: int, colored: bool) -> list[str]:
    """Return a text in lines; words are never cut."""
    lines: list[str] = []
    line, used = "", indent
    for word, columns in _words(spans(text), colored):
        if line and used + 1 + columns > width:
            lines.append(line)
            line, used = "", indent
        line, used = (f"{line} {word}", used + 1 + columns) if line else (word, used + columns)
    return [f"{' ' * indent}{one}" for one in [*lines, line]]


def _words(parts: Iterable[tuple[str, bool]], colored: bool) -> Iterator[tuple[str, int]]:
    """Yield the words of a text, dressed, with the columns that each takes."""
    word, columns = "", 0
    for part, typed in parts:
        for place, piece in enumerate(part.split(" ")):
            if place and word:
                yield word, columns
                word, columns = "", 0
            word += _bold(piece, colored and typed)
            columns += len(piece)
    if word:
        yield word, columns


def _bold(text: str, colored: bool) -> str:
    return f"{_BOLD}{text}{_NORMAL}" if colored and text else text

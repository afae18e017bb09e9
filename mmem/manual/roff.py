"""Pages as roff, with the macros of man(7)."""

import re
from collections.abc import Iterable
from textwrap import wrap

from mmem import __date__, __version__
from mmem.manual.page import Block, Code, Items, Page, Text, spans

_WIDTH = 78  # of a line of the file; mandoc frowns upon more than 80 bytes
_PLAIN = {"\\": "\\e", "-": "\\-"}
_TYPED = {**_PLAIN, "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}  # or groff sets curly ones
_PLACEHOLDER = re.compile(r"[^\s,]+")


def roff(page: Page) -> str:
    """Return a page as the text of its file. It holds the version's date, so the same commands give the same file."""
    title = page.name.upper().replace("-", "\\-")
    lines = [
        f'.TH {title} {page.number} "{__date__}" "mmem {__version__}" "mmem manual"',
        ".SH NAME",
        f"{_escaped(page.name)} \\- {_escaped(page.summary)}",
    ]
    for section in page.sections:
        lines.append(f".SH {section.title.upper()}")
        for place, block in enumerate(section.blocks):
            lines += _block(block, first=place == 0)
    return "".join(f"{line}\n" for line in lines)


def _block(block: Block, *, first: bool) -> list[str]:
    match block:
        case Text(text):
            return [*([] if first else [".PP"]), *_filled(_marked(text))]
        case Items(items):
            return [line for item in items for line in _item(*item)]
        case Code(lines):
            shown = [".EX", *_guarded(map(_typed, lines)), ".EE"]
            return shown if first else [".PP", ".RS 4", *shown, ".RE"]


def _item(term: str, text: str) -> list[str]:
    return [".TP", *_guarded([_term(term)]), *_filled(_marked(text))]


def _term(term: str) -> str:
    parts = []
    for part, typed in spans(term):
        italic = _PLACEHOLDER.sub(lambda match: f"\\fI{_escaped(match[0])}\\fR", part)
        parts.append(f"\\fB{_typed(part)}\\fR" if typed else italic)
    return "".join(parts)


def _marked(text: str) -> str:
    return "".join(f"\\fB{_typed(part)}\\fR" if typed else _escaped(part) for part, typed in spans(text))


def _filled(text: str) -> list[str]:
    return _guarded(wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False))


def _guarded(lines: Iterable[str]) -> list[str]:
    """Return lines that roff doesn't take for requests."""
    return [f"\\&{line}" if line.startswith((".", "'")) else line for line in lines]


def _escaped(text: str) -> str:
    return _replaced(text, _PLAIN)


def _typed(text: str) -> str:
    return _replaced(text, _TYPED)


def _replaced(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(c, c if c.isascii() else f"\\[u{ord(c):04X}]") for c in text)

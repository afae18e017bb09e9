"""What a page of the manual is made of, whatever it is shown as.

In every text, what stands between backticks is typed as it is (bold), and `mmem-query(7)` is a reference.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Text(NamedTuple):
    """A paragraph."""

    text: str


class Items(NamedTuple):
    """Terms with what each one means; of a term, what isn't between backticks stands for something else."""

    items: tuple[tuple[str, str], ...]


class Code(NamedTuple):
    """Lines that are shown as they are."""

    lines: tuple[str, ...]


Block = Text | Items | Code


class Section(NamedTuple):
    """A part of a page under a title."""

    title: str
    blocks: tuple[Block, ...]


class Page(NamedTuple):
    """A page: `mmem-batch`, 1 for a command and 7 for a topic, one line on what it is, and its sections."""

    name: str
    number: int
    summary: str
    sections: tuple[Section, ...]

    @property
    def file(self) -> str:
        """The name of the page's file."""
        return f"{self.name}.{self.number}"


_SPAN = re.compile(r"`([^`]+)`|\b(mmem(?:-[a-z-]+)?)(?=\(\d\))")


def spans(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text in order, each with whether it is typed as it is."""
    end = 0
    for match in _SPAN.finditer(text):
        if match.start() > end:
            yield text[end : match.start()], False
        yield match[1] or match[2], True
        end = match.end()
    if end < len(text):
        yield text[end:], False

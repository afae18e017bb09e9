"""Topics as they are written, read as the sections of a page.

`## Title` begins a section, a line `: text` says what the line above it means, lines with four spaces before them are
shown as they are, and `@variables` or `@statuses` stands for what is declared. Blank lines separate.
"""

from collections.abc import Mapping

from mmem.manual.page import Block, Code, Items, Section, Text


def sections(source: str, declared: Mapping[str, Items]) -> tuple[Section, ...]:
    """Return the sections of a topic's source; `declared` holds what stands for `@` and a word."""
    found = []
    for part in f"\n{source}".split("\n## ")[1:]:
        title, _, body = part.partition("\n")
        blocks: list[Block] = []
        for paragraph in _paragraphs(body):
            _add(blocks, _block(paragraph, declared))
        found.append(Section(title.strip(), tuple(blocks)))
    return tuple(found)


def _paragraphs(body: str) -> list[list[str]]:
    return [lines for text in body.split("\n\n") if (lines := [line for line in text.split("\n") if line.strip()])]


def _block(lines: list[str], declared: Mapping[str, Items]) -> Block:
    if lines[0].startswith("@"):
        return declared[lines[0][1:].strip()]
    if lines[0].startswith("    "):
        return Code(tuple(line[4:] for line in lines))
    if len(lines) > 1 and lines[1].startswith(": "):
        return Items(((lines[0], " ".join([lines[1][2:], *map(str.strip, lines[2:])])),))
    return Text(" ".join(map(str.strip, lines)))


def _add(blocks: list[Block], block: Block) -> None:
    """Add a block; terms that follow each other are one list, and code with a blank line in it is one block."""
    match (blocks[-1] if blocks else None), block:
        case Items(before), Items(more):
            blocks[-1] = Items((*before, *more))
        case Code(before), Code(more):
            blocks[-1] = Code((*before, "", *more))
        case _:
            blocks.append(block)

"""Lines such as `Alice Smith maintains UserService`: every way in which one can be read.

The relation is one word, or a text in quotes. What stands before and after it are names, which may have spaces;
`UserService (service)` is a name with its type, and what stands in double quotes is one name.
"""

import re
from collections.abc import Iterable, Iterator

from mmem.seeding.graphs import End, Way
from mmem.values import MAX_NAME
from mmem.yamltext import Mark

LONGEST = 3 * MAX_NAME + 100

_TOKEN = re.compile(r'"(?P<quoted>[^"]+)"(?=\s|$)|\S+')
_WITH_TYPE = re.compile(r"(?P<name>.*\S)\s+\((?P<type>[^()]*)\)", re.DOTALL)


def ways(line: str, mark: Mark) -> list[Way]:
    """Return every way to read `FROM RELATION TO`."""
    tokens = list(_TOKEN.finditer(line))
    return _short(
        Way(source, _relation_type(tokens[place]), target)
        for place in range(1, len(tokens) - 1)
        for source in _ends(line, tokens[:place], mark)
        for target in _ends(line, tokens[place + 1 :], mark)
    )


def ways_from(source: End, line: str, mark: Mark) -> list[Way]:
    """Return every way to read `RELATION TO` below an entity."""
    tokens = list(_TOKEN.finditer(line))
    if len(tokens) < 2:
        return []
    return _short(Way(source, _relation_type(tokens[0]), target) for target in _ends(line, tokens[1:], mark))


def _short(found: Iterable[Way]) -> list[Way]:
    """Return those that have no name longer than names can be."""
    return [way for way in found if max(map(len, (way.source.name, way.relation_type, way.target.name))) <= MAX_NAME]


def _relation_type(token: re.Match[str]) -> str:
    return token["quoted"] or token[0]


def _ends(line: str, tokens: list[re.Match[str]], mark: Mark) -> Iterator[End]:
    """Yield what some words can name: an entity, or an entity and its type."""
    text = line[tokens[0].start() : tokens[-1].end()]
    quoted = tokens[0]["quoted"]
    typed = _WITH_TYPE.fullmatch(text)
    if quoted and len(tokens) == 1:
        yield End(quoted, None, None, mark)
    if quoted and typed and typed["name"] == tokens[0][0]:
        yield End(quoted, typed["type"], None, mark)
    yield End(text, None, None, mark)  # quotes can be a part of a name, too
    if typed:
        yield End(typed["name"], typed["type"], None, mark)

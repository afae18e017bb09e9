"""YAML text in, nodes and values out: names and texts stay text, whatever YAML would make of them.

`no`, `1.10` and `2024-01-05` are names here, not a boolean, a number and a date; only below `properties` do
YAML's types count. Repeated keys, anchors, aliases and tags are refused. Every fault names the file, the line and
the column.
"""

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import yaml
from yaml import MappingNode, Mark, Node, ScalarNode, SequenceNode

from mmem.errors import InvalidArguments
from mmem.values import MAX_DEPTH, scalar_fault

__all__ = ["MappingNode", "Mark", "Node", "ScalarNode", "SequenceNode"]

_NULLS = frozenset(["", "~", "null", "Null", "NULL"])
# Only where a text has one of these does it take a second reading to see that they are part of a text.
_SUSPICIOUS = re.compile(rb"(?:^|[\s\[{,:?-])(?:[&*]\S|!)", re.MULTILINE)
_UNPRINTABLE: re.Pattern[str] = yaml.reader.Reader.NON_PRINTABLE
_INT, _FLOAT, _BOOL, _NULL = (f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))

_safe: Any = yaml.SafeLoader("")
_Base: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class _Loader(_Base):  # type: ignore[misc]  # which one it is, is known at run time
    """A loader that doesn't guess a type for every text."""

    def resolve(self, kind: object, value: object, implicit: object) -> str:
        return ""

    def descend_resolver(self, current_node: object, current_index: object) -> None:
        pass

    def ascend_resolver(self) -> None:
        pass


class _Named(BytesIO):
    """A text whose marks know where it is from."""

    name = ""


def load(text: bytes, name: str) -> object:
    """Return the one document of a YAML text as plain values. Raises `InvalidArguments`."""
    roots = compose(text, name)
    if len(roots) > 1:
        raise fault(roots[1].start_mark, "a second document; one is expected here")
    return _value(roots[0], depth=0) if roots else None


def compose(text: bytes, name: str) -> list[Node]:
    """Return the documents of a YAML text, those that hold something. Raises `InvalidArguments`."""
    text = _decoded(text, name)
    try:
        if _SUSPICIOUS.search(text):
            _require_plain(_loader(text, name))
        return [root for root in _documents(_loader(text, name)) if not is_absent(root)]
    except yaml.MarkedYAMLError as error:
        raise _syntax(error, text.decode()) from None
    except yaml.reader.ReaderError:
        raise _unprintable(text.decode(), name) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise InvalidArguments(f"{name}: not valid YAML: {str(error).splitlines()[0]}") from None


def fault(mark: Mark, problem: str) -> InvalidArguments:
    """Return the error for what stands at a mark."""
    return InvalidArguments(f"{place(mark)}: {problem}", {"place": place(mark)})


def place(mark: Mark) -> str:
    """Return a mark as `file:line:column`, as editors jump to it."""
    return f"{mark.name}:{mark.line + 1}:{mark.column + 1}"


def is_absent(node: Node) -> bool:
    """Tell whether nothing stands where a value could."""
    return node.value == "" and isinstance(node, ScalarNode) and not node.style


def is_null(node: Node) -> bool:
    """Tell whether a scalar is what YAML takes for nothing: it is empty, `~` or `null`, without quotes."""
    return isinstance(node, ScalarNode) and not node.style and node.value in _NULLS


def items(node: MappingNode) -> Iterator[tuple[ScalarNode, Node]]:
    """Yield the keys and values of a mapping. Raises `InvalidArguments` for a key that stands twice."""
    seen: dict[str, Mark] = {}
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            raise fault(key.start_mark, "a key must be a text")
        if key.value in seen:
            first = seen[key.value].line + 1
            raise fault(key.start_mark, f"the key '{key.value[:60]}' stands twice, first in line {first}")
        seen[key.value] = key.start_mark
        yield key, value


def typed(node: Node, depth: int = 0) -> Any:
    """Return a value with the types that YAML 1.1 gives it, but dates and `12:30` as texts.

    Raises `InvalidArguments` for what JSON can't hold.
    """
    if depth >= MAX_DEPTH and not isinstance(node, ScalarNode):
        raise fault(node.start_mark, f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(node, MappingNode):
        return {_storable(key, key.value): typed(value, depth + 1) for key, value in items(node)}
    if isinstance(node, SequenceNode):
        return [typed(item, depth + 1) for item in node.value]
    return _storable(node, _scalar(node))


def _value(node: Node, depth: int) -> object:
    if depth > MAX_DEPTH:
        raise fault(node.start_mark, f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(node, MappingNode):
        return {
            key.value: typed(value) if key.value == "properties" else _value(value, depth + 1)
            for key, value in items(node)
        }
    if isinstance(node, SequenceNode):
        return [_value(item, depth + 1) for item in node.value]
    return None if is_null(node) else node.value


def _scalar(node: Any) -> object:
    text: str = node.value
    if node.style:
        return text
    tag = _safe.resolve(ScalarNode, text, (True, False))
    if tag not in {_INT, _FLOAT, _BOOL, _NULL} or ":" in text:
        return text
    try:
        if tag == _INT:
            return _safe.construct_yaml_int(ScalarNode(tag, text))
        if tag == _FLOAT:
            return _safe.construct_yaml_float(ScalarNode(tag, text))
    except ValueError:
        raise fault(node.start_mark, f"'{text[:40]}' isn't a number; as a text it has quotes") from None
    return _safe.construct_yaml_bool(ScalarNode(tag, text)) if tag == _BOOL else None


def _storable(node: Node, value: Any) -> Any:
    if problem := scalar_fault(value):
        raise fault(node.start_mark, problem)
    return value


def _loader(text: bytes, name: str) -> Any:
    named = _Named(text)
    named.name = name
    return _Loader(named)


def _documents(loader: Any) -> Iterator[Node]:
    try:
        while loader.check_node():
            yield loader.get_node()
    finally:
        loader.dispose()


def _require_plain(loader: Any) -> None:
    """Refuse anchors, aliases and tags: nodes don't know that they had one, or where."""
    while loader.check_event():
        event = loader.get_event()
        if isinstance(event, yaml.AliasEvent):
            problem = f"an alias, *{event.anchor}; write the value out, or put the text in quotes"
        elif getattr(event, "anchor", None) is not None:
            problem = f"an anchor, &{event.anchor}; leave it out, or put the text in quotes"
        elif getattr(event, "tag", None) is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")[:60]
            problem = f"a tag, {tag}; leave it out, or put the text in quotes"
        else:
            continue
        raise fault(event.start_mark, problem)


def _decoded(text: bytes, name: str) -> bytes:
    """Return the text without its byte-order mark, if it is UTF-8."""
    text = text.removeprefix(b"\xef\xbb\xbf")
    try:
        text.decode()
    except UnicodeDecodeError as error:
        before = text[: error.start].decode()
        raise InvalidArguments(f"{_at(name, before)}: this byte isn't UTF-8; save the file as UTF-8") from None
    return text


def _at(name: str, before: str) -> str:
    """Return the place behind a beginning of a text."""
    return f"{name}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def _unprintable(text: str, name: str) -> InvalidArguments:
    found = _UNPRINTABLE.search(text)
    if found is None:
        return InvalidArguments(f"{name}: not valid YAML")
    code = ord(found[0])
    where = _at(name, text[: found.start()])
    if code == 0:
        return InvalidArguments(f"{where}: a NUL character can't be stored; is this a text file?")
    escaped = f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    problem = f"the control character U+{code:04X}; in a text in double quotes it can be written {escaped}"
    return InvalidArguments(f"{where}: {problem}")


def _syntax(error: yaml.MarkedYAMLError, text: str) -> InvalidArguments:
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return InvalidArguments(f"not valid YAML: {error.problem}")
    lines = re.split(r"\r\n|[\n\r\x85\u2028\u2029]", text)
    line = lines[mark.line] if mark.line < len(lines) else ""
    return fault(mark, _explained(error, line[: mark.column], line[mark.column : mark.column + 1]))


def _explained(error: yaml.MarkedYAMLError, before: str, character: str) -> str:
    """Return what is wrong in our words, where it is a mistake that people make; else in the parser's."""
    problem = error.problem or "not valid YAML"
    if character == "\t":
        return "a tab; YAML is indented with spaces"
    if "cannot start any token" in problem:
        return f"a text can't begin with '{character}'; put it in quotes"
    if "mapping values are not allowed" in problem:
        return "a ': ' too many, or the wrong indentation; a text with ': ' or ' #' in it needs quotes"
    if before.rstrip().endswith(('"', "'")) and character.strip():
        return "the text goes on behind its closing quote; put all of it in quotes: '\"User Service\" uses Database'"
    begun = error.context_mark
    context = f" ({error.context} that begins in line {begun.line + 1})" if error.context and begun else ""
    return f"not valid YAML: {problem}{context}; see to the indentation, brackets and quotes"

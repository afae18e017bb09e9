"""Nodes of YAML as what the format declares: texts, names, properties, mappings whose keys are known."""

from mmem.arguments import id_number
from mmem.names import did_you_mean, nearest
from mmem.seeding.declared import Keys
from mmem.timestamps import is_timestamp
from mmem.values import MAX_NAME, MAX_TEXT, nfc, text_fault
from mmem.yamltext import MappingNode, Node, ScalarNode, SequenceNode, fault, is_absent, is_null, items, typed

Fields = dict[str, Node]


def kind(node: Node) -> str:
    """Return what a node is, for messages."""
    if isinstance(node, MappingNode):
        return "a mapping"
    return "a list" if isinstance(node, SequenceNode) else "a text"


def fields(node: MappingNode, keys: Keys, what: str) -> Fields:
    """Return the values of a mapping by the names of their keys; those where nothing stands are left out.

    Raises `InvalidArguments` for an unknown key, for one that stands twice, and where a required one is missing.
    """
    found: Fields = {}
    for key, value in items(node):
        known = keys.get(key.value)
        if known is None:
            raise fault(key.start_mark, unknown(key.value, keys, what))
        name = known.same_as or key.value
        if name in found:
            other = next(one for one in keys if one != key.value and (keys[one].same_as or one) == name)
            raise fault(key.start_mark, f"'{key.value}' and '{other}' mean the same; give one of them")
        if not is_absent(value):
            found[name] = value
    for name, declared in keys.items():
        if declared.required and not declared.same_as and name not in found:
            raise fault(node.start_mark, f"{what} needs '{name}'")
    return found


def unknown(key: str, keys: Keys, what: str) -> str:
    """Return the sentence about a key that isn't known."""
    near = did_you_mean(nearest(key, list(keys), 1))
    return f"{what} has no key '{key[:60]}'{near} (known here: {', '.join(keys)})"


def text(node: Node, what: str = "this") -> str:
    """Return a text as it is written, whatever YAML would take it for."""
    if not isinstance(node, ScalarNode):
        raise fault(node.start_mark, f"{what} must be a text, not {kind(node)}")
    value: str = node.value
    if not value and not node.style:
        raise fault(node.start_mark, f"{what} is missing; an empty text is written ''")
    if problem := text_fault(value):
        raise fault(node.start_mark, problem)
    if len(value) * 4 > MAX_TEXT and (size := len(value.encode())) > MAX_TEXT:
        raise fault(node.start_mark, f"{what} has {size:,} bytes; at most {MAX_TEXT:,} are allowed")
    return value


def label(node: Node | None, what: str) -> str:
    """Return a type or a source; `""` where there is none."""
    if node is None:
        return ""
    value = text(node, what)
    if len(value) > MAX_NAME or (not value.isascii() and len(nfc(value)) > MAX_NAME):
        raise fault(node.start_mark, f"{what} has too many characters; at most {MAX_NAME:,} are allowed")
    return value


def name(node: Node, what: str) -> str:
    """Return a name, which can't be empty or blank."""
    value = label(node, what)
    if not value or value.isspace():
        raise fault(node.start_mark, f"{what} can't be empty or blank")
    return value


def timestamp(node: Node | None) -> str | None:
    """Return an ISO 8601 date, or date and time."""
    if node is None:
        return None
    value = text(node, "a timestamp")
    if not is_timestamp(value):
        example = "such as 2026-01-31 or 2026-01-31T09:30:00Z"
        raise fault(node.start_mark, f"'{value[:40]}' isn't an ISO 8601 date, or date and time, {example}")
    return value


def id_of(node: Node) -> int:
    """Return an id."""
    try:
        return id_number(text(node, "an id")) or 0
    except ValueError as error:
        raise fault(node.start_mark, str(error)) from None


def properties(node: Node | None) -> dict[str, object] | None:
    """Return properties, in which YAML's types count; None where there are none."""
    if node is None or is_null(node):
        return None
    if not isinstance(node, MappingNode):
        raise fault(node.start_mark, f"properties must be a mapping, not {kind(node)}")
    value: dict[str, object] = typed(node)
    return value or None


def sequence(node: Node | None, what: str, example: str) -> list[Node]:
    """Return the nodes of a list; none where there is no list."""
    if node is None or is_null(node):
        return []
    if not isinstance(node, SequenceNode):
        raise fault(node.start_mark, f"{what} must be a list, not {kind(node)}: {example}")
    nodes: list[Node] = node.value
    return nodes

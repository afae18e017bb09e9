"""YAML text in, a graph's arguments out: names and texts stay text, whatever YAML would make of them.

`no`, `1.10` and `2024-01-05` are names here, not a boolean, a number and a date; only below `properties` do
YAML's types count. Repeated keys, aliases and tags are refused.
"""

from typing import Any

import yaml

from mmem.errors import InvalidArguments
from mmem.values import MAX_DEPTH


def load(text: bytes, name: str) -> object:
    """Return the one document of a YAML text. Raises `InvalidArguments` with the name, line and column."""
    try:
        decoded = text.decode("utf-8-sig")
        node = yaml.compose(decoded, Loader=_SafeLoader)
    except UnicodeDecodeError as error:
        raise InvalidArguments(f"{name}: byte {error.start + 1} isn't UTF-8") from None
    except yaml.MarkedYAMLError as error:
        raise _fault(name, error.problem_mark or error.context_mark, error.problem or "not valid YAML") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise InvalidArguments(f"{name}: not valid YAML: {str(error).splitlines()[0]}") from None
    return None if node is None else _Construction(name).value(node, typed=False, depth=0)


_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _fault(name: str, mark: yaml.Mark | None, problem: str) -> InvalidArguments:
    where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
    return InvalidArguments(f"{name}{where}: {problem}")


class _Construction:
    """Turns nodes into values."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: set[int] = set()
        self._typed = yaml.SafeLoader("")

    def value(self, node: yaml.Node, *, typed: bool, depth: int) -> object:
        if id(node) in self._seen:
            raise _fault(self._name, node.start_mark, "an alias; write the value out")
        if depth > MAX_DEPTH:
            raise _fault(self._name, node.start_mark, f"nested deeper than {MAX_DEPTH} levels")
        if isinstance(node, yaml.MappingNode):
            self._seen.add(id(node))
            return self._mapping(node, typed, depth)
        if isinstance(node, yaml.SequenceNode):
            self._seen.add(id(node))
            return [self.value(item, typed=typed, depth=depth + 1) for item in node.value]
        return self._scalar(node, typed)

    def _mapping(self, node: yaml.MappingNode, typed: bool, depth: int) -> dict[str, object]:
        result: dict[str, object] = {}
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _fault(self._name, key.start_mark, "a key must be a text")
            if key.value in result:
                raise _fault(self._name, key.start_mark, f"the key '{key.value}' stands twice")
            result[key.value] = self.value(item, typed=typed or key.value == "properties", depth=depth + 1)
        return result

    def _scalar(self, node: yaml.Node, typed: bool) -> object:
        if node.tag == "tag:yaml.org,2002:null":
            return None
        if not typed or node.tag == "tag:yaml.org,2002:timestamp":
            return node.value
        if not node.tag.startswith("tag:yaml.org,2002:"):
            raise _fault(self._name, node.start_mark, f"the tag {node.tag} isn't known here")
        try:
            constructed: object = self._typed.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            raise _fault(self._name, node.start_mark, str(error).splitlines()[0]) from None
        return constructed

"""The one place where a request is made from JSON values: typed, checked, with errors a person can mend."""

import re
from collections.abc import Iterator
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from mmem import jsontext
from mmem.arguments import Request
from mmem.errors import InvalidArguments, MmemError
from mmem.names import did_you_mean, nearest
from mmem.values import MAX_DEPTH, require_storable

RequestT = TypeVar("RequestT", bound=msgspec.Struct)

_MAX_REPAIRS = 10_000
_WITH_PATH = re.compile(r"(?P<what>.*) - at `(?P<path>\$.*)`", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(?P<expected>[^`]+)`(?: of length (?P<length>[<>=]+ \d+)|(?P<bound> [<>]=? -?\d+))?")
_GOT = re.compile(r", got `(?P<got>[^`]+)`$")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<field>.*)`$", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<field>.*)`$")
_STEP = re.compile(r"\.(?P<key>[A-Za-z_]\w*)|\[(?P<index>\d+|\.\.\.)\]")

_KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number with a fraction",
    "bool": "true or false",
    "null": "null",
    "array": "an array",
    "object": "an object",
}


def parse(kind: type[RequestT], arguments: object) -> RequestT:
    """Return the request that a tool's arguments describe.

    Arrays and objects that arrive as JSON text are parsed, and null for an optional argument is absence.
    Raises `InvalidArguments`; the message begins with the path, such as `$.entities[0].name`.
    """
    require_storable(arguments)
    return parse_checked(kind, arguments)


def parse_checked(kind: type[RequestT], arguments: object) -> RequestT:
    """Do what `parse` does for values that `jsontext.decode` returned, which are known to be storable."""
    if arguments is None:
        arguments = {}
    for _ in range(_MAX_REPAIRS):
        try:
            return msgspec.convert(arguments, kind)
        except RecursionError:
            raise InvalidArguments(f"$: nested deeper than {MAX_DEPTH} levels") from None
        except msgspec.ValidationError as error:
            repaired = _with_json_text_parsed(arguments, str(error))
            if repaired is None:
                raise _explained(kind, str(error)) from None
            arguments = repaired
    raise InvalidArguments("$: too many arrays and objects were sent as JSON text")


def wrap_list(kind: type[Request], arguments: object) -> object:
    """Return `{"entities": [...]}` for a bare list, where the tool has just one list that it requires."""
    if not isinstance(arguments, list):
        return arguments
    lists = [
        field.encode_name for field in msgspec.structs.fields(kind) if field.required and get_origin(field.type) is list
    ]
    return {lists[0]: arguments} if len(lists) == 1 else arguments


def _split(message: str) -> tuple[str, str]:
    """Return what is wrong and the path where, of a msgspec message."""
    if match := _WITH_PATH.fullmatch(message):
        return match["what"], match["path"]
    return message, "$"


def _steps(path: str) -> Iterator[str | int]:
    for match in _STEP.finditer(path):
        if match["key"] is not None:
            yield match["key"]
        elif match["index"] != "...":
            yield int(match["index"])


def _with_json_text_parsed(arguments: object, message: str) -> object | None:
    """Return the arguments with the text at fault parsed, if an array or object was due there; else None.

    Its neighbours in a list are parsed along with it, so that thousands of them don't take thousands of readings.
    """
    what, path = _split(message)
    expected, got = _EXPECTED.match(what), _GOT.search(what)
    if expected is None or got is None or got["got"] != "str":
        return None
    due = set(expected["expected"].split(" | ")) - {"null"}
    if not due <= {"array", "object"}:
        return None
    steps = list(_steps(path))
    parsed = _parsed(_at(arguments, steps), path, due)
    if parsed is None:
        return None
    changed = _replaced(arguments, steps, parsed)
    numbers = [place for place, step in enumerate(steps) if isinstance(step, int)]
    if numbers:
        last = numbers[-1]
        for index, item in enumerate(_at(changed, steps[:last])):
            _parse_in_place(item, [index, *steps[last + 1 :]], _at(changed, steps[:last]), due)
    return changed


def _parse_in_place(item: object, steps: list[str | int], items: Any, due: set[str]) -> None:
    """Parse the text at a neighbour's place, if there is one; what is wrong with it comes up in its turn."""
    try:
        parsed = _parsed(_at(items, steps), "$", due)
    except (InvalidArguments, LookupError, TypeError):
        return
    if parsed is not None:
        items[steps[0]] = _replaced(item, steps[1:], parsed)


def _parsed(value: object, path: str, due: set[str]) -> object | None:
    """Return what a JSON text of an array or object says, or None where it isn't one."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return None
    try:
        parsed = jsontext.decode(value)
    except MmemError as error:
        kinds = " or ".join(_KINDS[kind] for kind in sorted(due))
        message = f"{path}: must be {kinds}; the JSON text that stands here: {error.message}"
        raise InvalidArguments(message, {"path": path}) from None
    kind = "array" if isinstance(parsed, list) else "object" if isinstance(parsed, dict) else ""
    return parsed if kind in due else None


def _at(value: Any, steps: list[str | int]) -> Any:
    for step in steps:
        value = value[step]
    return value


def _replaced(value: Any, steps: list[str | int], new: object) -> object:
    """Return a copy of the value in which the place at `steps` holds `new`."""
    if not steps:
        return new
    first, rest = steps[0], steps[1:]
    changed = value.copy()
    changed[first] = _replaced(value[first], rest, new)
    return changed


def _explained(kind: type[msgspec.Struct], message: str) -> InvalidArguments:
    """Return the error for a msgspec message, in our words."""
    what, path = _split(message)
    if match := _UNKNOWN.match(what):
        names = _argument_names(kind, path)
        near = did_you_mean(nearest(match["field"], names, 1))
        shown = match["field"][:60]
        text = f"unknown argument '{shown}'{near} (valid here: {', '.join(names) or 'none'})"
        return InvalidArguments(f"{path}: {text}", {"path": path, "argument": match["field"], "valid": names})
    if what.startswith("."):  # a check of ours went on with the path
        step, _, text = what.partition(": ")
        path += step
    elif match := _MISSING.match(what):
        text = f"'{match['field']}' is required"
    elif what.startswith("Invalid enum value"):
        text = f"must be one of {', '.join(_choices(kind, path))}"
    elif match := _EXPECTED.match(what):
        text = _expectation(match, _GOT.search(what))
    else:
        text = what
    return InvalidArguments(f"{path}: {text}", {"path": path})


def _expectation(expected: re.Match[str], got: re.Match[str] | None) -> str:
    if length := expected["length"]:
        sign, number = length.split()
        if sign == ">=" and number == "1":
            return "can't be empty"
        return f"has too many characters; at most {int(number):,} are allowed"
    if bound := expected["bound"]:
        sign, number = bound.split()
        return f"must be {'at least' if sign == '>=' else 'at most'} {int(number):,}"
    kinds = [_KINDS.get(kind, kind) for kind in expected["expected"].split(" | ") if kind != "null"]
    found = f", not {_KINDS.get(got['got'], got['got'])}" if got else ""
    return f"must be {' or '.join(kinds)}{found}"


def _choices(kind: type[msgspec.Struct], path: str) -> list[str]:
    """Return the values that the argument at a path can have."""
    *_, last = _steps(path)
    field = next(f for f in msgspec.structs.fields(kind) if f.encode_name == last)
    hint = get_type_hints(kind)[field.name]
    parts = (hint, *get_args(hint))
    return [str(value) for part in parts if get_origin(part) is Literal for value in get_args(part)]


def _argument_names(kind: type[msgspec.Struct], path: str) -> list[str]:
    """Return the names that the object at `path` may have."""
    struct: type[msgspec.Struct] = kind
    for step in _steps(path):
        if isinstance(step, str):
            hints = get_type_hints(struct)
            field = next(f for f in msgspec.structs.fields(struct) if f.encode_name == step)
            inner = next(_structs(hints[field.name]), None)
            if inner is None:
                return []
            struct = inner
    return [field.encode_name for field in msgspec.structs.fields(struct)]


def _structs(hint: object) -> Iterator[type[msgspec.Struct]]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
    for part in get_args(hint):
        yield from _structs(part)

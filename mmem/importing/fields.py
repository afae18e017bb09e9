"""The fields of a record: checked as they are stored, what isn't known made a property."""

from typing import Any

from mmem import jsontext
from mmem.importing.given import Aside
from mmem.values import MAX_DEPTH, MAX_NAME, MAX_PROPERTIES, MAX_TEXT, is_too_deep, nfc


def properties_of(value: dict[str, Any], used: set[str]) -> dict[str, Any]:
    """Return what a record has beside its known fields; an object under `properties` is them already."""
    rest = {key: one for key, one in value.items() if key not in used}
    own = rest.get("properties", rest)
    if own is None:
        del rest["properties"]
    elif own is not rest and isinstance(own, dict):
        del rest["properties"]
        differing = {f"{key}#1": rest.pop(key) for key in own.keys() & rest.keys() if own[key] != rest[key]}
        rest = {**rest, **own, **differing}
    if not rest:
        return rest
    text = jsontext.encode(rest).encode()
    if len(text) > MAX_PROPERTIES:
        raise Aside(f"its properties have {len(text):,} bytes as JSON; at most {MAX_PROPERTIES:,} are allowed")
    if is_too_deep(rest, text):
        raise Aside(f"its properties are nested deeper than {MAX_DEPTH} levels")
    return rest


def stored(text: object, label: str, *, empty: bool = False, own_form: bool = True) -> str:
    """Return a name or a type as it is stored. Raises `Aside` for one that can't be."""
    if not isinstance(text, str):
        raise Aside(f'"{label}" is {a(text)}, not a text')
    if text.isascii() and 0 < len(text) <= MAX_NAME and not text.isspace():
        return text
    own = nfc(text) if own_form else text
    if not empty and (not own or own.isspace()):
        raise Aside(f'"{label}" is empty')
    if len(own) > MAX_NAME:
        raise Aside(f'"{label}" has {len(own):,} characters; at most {MAX_NAME:,} are allowed')
    return own


def require_length(text: str) -> None:
    """Raise `Aside` for an observation that is too long."""
    if len(text) * 4 > MAX_TEXT and (size := len(text.encode())) > MAX_TEXT:
        raise Aside(f"an observation has {size:,} bytes; at most {MAX_TEXT:,} are allowed")


def a(value: object) -> str:
    """Return what kind of value stands somewhere, with its article."""
    if value is None:
        return "null"
    kinds = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
        str: "a text",
    }
    return kinds.get(type(value), "no text")


def id_of(given: object) -> int | None:
    """Return an id as mmem writes it; None for anything else."""
    number = int(given) if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) < 16 else None
    return number or None

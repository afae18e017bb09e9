"""Values as YAML: plain where no reader takes them for something else, long texts as blocks, the rest in quotes.

PyYAML's emitter would do in the end, but it folds long texts, and its blocks don't survive every text.
"""

import json
import re

_LONG = 100  # characters: what is longer gets lines of its own
_MAX_KEY = 500  # characters; YAML wants a key within 1,024
# What YAML doesn't take raw, or takes for a line end, or what a terminal would obey.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]")
_UNSAFE_IN_BLOCK = re.compile(_UNSAFE.pattern.replace("\x00-\x1f", "\x00-\x09\x0b-\x1f"))
_ODD_LINE = re.compile("[ \t]$", re.MULTILINE)
_LETTER = r"(?:[^\W\d_]|[^\x00-\x7f])"
_PLAIN = re.compile(rf"{_LETTER}(?:[^\x00-\x7f]|[\w ./()+@%~^$;<>!?*&=,|'\"\\-]|:(?=[\w/\\])|(?<=\w)#)*")
_PLAIN_IN_FLOW = re.compile(rf"{_LETTER}(?:[^\x00-\x7f]|[\w ./()+@%~^$;<>!*&=-]|:(?=[\w/]))*")
_WORDS = frozenset("y n yes no true false on off null".split())


def is_long(text: str) -> bool:
    """Tell whether a text is too long to stand among others on a line."""
    return len(text) > _LONG


def block(text: str, indent: int) -> str:
    """Return a text as the value of a key or the item of a list, whose lines would stand at an indentation."""
    if ("\n" in text or is_long(text)) and _fits_block(text):
        keeps_end = text.endswith("\n")
        lines = (text[:-1] if keeps_end else text).split("\n")
        return ("|" if keeps_end else "|-") + "".join(f"\n{' ' * indent}{line}" if line else "\n" for line in lines)
    return _scalar(text, _PLAIN)


def flow(value: object) -> str:
    """Return any JSON value on one line, as it may stand in `{}` and `[]`."""
    if isinstance(value, str):
        return _scalar(value, _PLAIN_IN_FLOW)
    if isinstance(value, dict):
        return flow_mapping(value)
    if isinstance(value, list):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, float):
        digits = repr(value)
        return digits.replace("e", ".0e") if "e" in digits and "." not in digits else digits  # else YAML 1.1 has a text
    return json.dumps(value)


def flow_mapping(values: dict[str, object]) -> str:
    """Return a JSON object on one line."""
    return f"{{{', '.join(_pair(key, value) for key, value in values.items())}}}"


def _pair(key: str, value: object) -> str:
    shown = flow(key)
    return f"{shown}: {flow(value)}" if len(shown) <= _MAX_KEY else f"? {shown} : {flow(value)}"


def _scalar(text: str, plain: re.Pattern[str]) -> str:
    unsafe = _UNSAFE.search(text) is not None
    if not unsafe and plain.fullmatch(text) and not text.endswith(" ") and text.lower() not in _WORDS:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted) if unsafe else quoted


def _fits_block(text: str) -> bool:
    """Tell whether a block gives a text back as it was, also after an editor has cut what stands before line ends."""
    if text[0] in " \t\n" or text.endswith("\n\n") or _UNSAFE_IN_BLOCK.search(text):
        return False
    return _ODD_LINE.search(text) is None

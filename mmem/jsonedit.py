"""One entry of a JSON text changed, every other character as it was."""

import json
from typing import NamedTuple

from mmem.errors import Internal
from mmem.jsonplaces import MARK, Member, members_at, read, refused, start_of

Entries = dict[str, object]


class _Style(NamedTuple):
    """How a file is laid out."""

    unit: str | None  # what one level is indented by; None where everything stands on one line
    newline: str
    colon: str
    comma: str  # between members on one line

    def written(self, value: object, indent: str | None) -> str:
        """Return a value as JSON: on lines that `indent` goes before, or on one where it is None."""
        if self.unit is None or indent is None:
            return json.dumps(value, ensure_ascii=False, separators=(self.comma, self.colon))
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit, separators=(",", self.colon))
        return lines.replace("\n", self.newline + indent)


def entries(text: str, section: str) -> Entries:
    """Return the entries of a top-level section; none where it is missing or null.

    Raises `Storage`, with the line and column, for what isn't strict JSON or isn't shaped like that.
    """
    text = _with_object(text)
    held = _held(text, members_at(text, start_of(text)), section)
    return {member.key: member.value for member in members_at(text, held.value_at)} if held and held.value else {}


def with_entry(text: str, section: str, name: str, entry: Entries) -> str:
    """Return the text with one entry of a section added or replaced, in the layout of the file.

    Raises `Storage` as `entries` does.
    """
    text = _with_object(text)
    start = start_of(text)
    members = members_at(text, start)
    style = _style(text, start, members)
    held = _held(text, members, section)
    if held is None:
        changed = _inserted(text, start, members, (section, {name: entry}), style)
    elif held.value is None:
        changed = _replaced(text, held, {name: entry}, style)
    else:
        inner = members_at(text, held.value_at)
        old = next((member for member in inner if member.key == name), None)
        if old is None:
            changed = _inserted(text, held.value_at, inner, (name, entry), style)
        else:
            changed = _replaced(text, old, entry, style)
    _require_only_that(text, changed, section, {name: entry})
    return changed


def _with_object(text: str) -> str:
    """Return the text, with an object in it where there was nothing but space."""
    if text.strip(MARK + " \t\r\n"):
        return text
    mark = MARK if text.startswith(MARK) else ""
    return f"{mark}{{}}{text.removeprefix(mark) or chr(10)}"


def _held(text: str, members: list[Member], section: str) -> Member | None:
    """Return the member that is the section, if there is one. Raises `Storage` where it can't hold entries."""
    held = next((member for member in members if member.key == section), None)
    if held and held.value is not None and not isinstance(held.value, dict):
        raise refused(text, held.value_at, f'"{section}" is not an object')
    return held


def _style(text: str, start: int, members: list[Member]) -> _Style:
    """Return the layout of a file, read off its top level."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if not members:
        return _Style("  ", newline, ": ", ", ")
    colon = ": " if "\n" in members[0].colon else members[0].colon
    comma = ", " if colon.endswith(" ") else ","
    if "\n" not in text[start : text.rindex("}")]:
        return _Style(None, newline, colon, comma)
    outer = _line_indent(text, start)
    indents = (_own_indent(text, member.key_at) for member in members)
    indent = next((indent for indent in indents if indent is not None), f"{outer}  ")
    return _Style(indent.removeprefix(outer), newline, colon, comma)


def _inserted(text: str, start: int, members: list[Member], added: tuple[str, object], style: _Style) -> str:
    """Return the text with a member added at the end of the object that begins at `start`."""
    key, value = added
    if members:
        at = members[-1].end
        indent = None if style.unit is None else _own_indent(text, members[-1].key_at)
        before, after = style.comma if indent is None else f",{style.newline}{indent}", ""
    elif style.unit is None:
        at, indent, before, after = start + 1, None, "", ""
    else:
        outer = _line_indent(text, start)
        at, indent = start + 1, outer + style.unit
        before = style.newline + indent
        after = "" if "\n" in text[at : text.index("}", at)] else style.newline + outer
    member = f"{json.dumps(key, ensure_ascii=False)}{style.colon}{style.written(value, indent)}"
    return f"{text[:at]}{before}{member}{after}{text[at:]}"


def _replaced(text: str, member: Member, value: object, style: _Style) -> str:
    """Return the text with a member's value replaced."""
    written = style.written(value, _own_indent(text, member.key_at))
    return f"{text[: member.value_at]}{written}{text[member.end :]}"


def _require_only_that(text: str, changed: str, section: str, entry: Entries) -> None:
    """Raise `Internal` unless reading the changed text gives the old value with that entry, in the old order."""
    before, after = (read(one, start_of(one))[0] for one in (text, changed))
    old = before if isinstance(before, dict) else {}
    wanted = {**old, section: {**(old.get(section) or {}), **entry}}
    try:
        same = json.dumps(after) == json.dumps(wanted)
    except RecursionError:
        raise refused(text, 0, "nested too deep to be checked") from None
    if not same:
        raise Internal("more than the entry would have changed; this is a bug in mmem: please report it")


def _own_indent(text: str, at: int) -> str | None:
    """Return what stands before a place on its line, or None where that is more than indentation."""
    line = text.rfind("\n", 0, at) + 1
    return text[line:at] if line and not text[line:at].strip(" \t") else None


def _line_indent(text: str, at: int) -> str:
    """Return the indentation of the line of a place."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]

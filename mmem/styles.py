"""What trees, tables and the dashboard share: colours, and how a moment is written."""

import re

from rich.style import Style

from mmem.visible import visible

# Of the named ANSI colours, those that themes keep readable on dark and on light: not yellow, not blue.
NAME, ASIDE, MATCH = Style(bold=True), Style(dim=True), Style(bold=True, underline=True)
TYPE, LABEL, VERB = Style(color="cyan"), Style(color="green"), Style(color="magenta")

_MOMENT = re.compile(r"^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?::\d\d(?:[.,]\d+)?)?(Z|z|[+-]\d\d(?::?\d\d)?)?$", re.ASCII)


def moment(timestamp: str) -> str:
    """Return a timestamp without `T` and seconds, in the zone in which it is stored."""
    shown = _MOMENT.sub(r"\1 \2 \3", timestamp).rstrip()
    return visible(f"{shown[:-1]}UTC" if shown.endswith((" Z", " z")) else shown)

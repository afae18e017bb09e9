"""How wide a text may be."""

from mmem.streams import Streams


def width(streams: Streams) -> int:
    """Return how many columns a text may take."""
    from shutil import get_terminal_size

    given = streams.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return get_terminal_size((80, 24)).columns if streams.shows_terminal else 80

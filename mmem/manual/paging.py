"""A long text on a terminal, through the pager that the user has set."""

import shlex
import signal
import subprocess
from contextlib import suppress

from mmem.streams import Streams

_VARIABLES = ("MMEM_PAGER", "PAGER")


def show(streams: Streams, text: str) -> None:
    """Write a text to standard output; on a terminal through a pager, where a variable names one that starts."""
    pager = next((given for name in _VARIABLES if (given := streams.environ.get(name, "").strip())), "")
    if not (streams.shows_terminal and pager and _paged(pager, text, dict(streams.environ))):
        streams.write(text.encode())


def _paged(pager: str, text: str, environ: dict[str, str]) -> bool:
    """Tell whether the pager took the text; one that is closed early has taken enough."""
    try:
        words = shlex.split(pager)
        process = subprocess.Popen(words, stdin=subprocess.PIPE, env={"LESS": "FRX", **environ})
    except (OSError, ValueError, IndexError):
        return False
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's to understand
    try:
        with suppress(BrokenPipeError):
            process.communicate(text.encode())
        process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return process.returncode not in {126, 127}  # what a shell says of a program that isn't there


def width(streams: Streams) -> int:
    """Return how many columns a text may take."""
    from shutil import get_terminal_size

    given = streams.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return get_terminal_size((80, 24)).columns if streams.shows_terminal else 80

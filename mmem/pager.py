"""A pager for output that is longer than the terminal: MMEM_PAGER, else PAGER, else less."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mmem.streams import Streams

_LESS = "-FRX"  # leave at once where it fits, show colours, and leave the text on the screen
_NOT_RUN = {126, 127}  # what a shell says of a program that it can't start or find


def page(output: bytes, streams: "Streams") -> bool:
    """Show output in the pager; return False, having shown nothing, where none is wanted or none can be started.

    It is over when the person leaves the pager, whether or not they have read everything.
    """
    command = _command(streams.environ)
    if command is None or not _overflows(output) or streams.environ.get("TERM") in {None, "", "dumb"}:
        return False
    environ = {**streams.environ}
    environ.setdefault("LESS", _LESS[1:])
    environ.setdefault("LESSCHARSET", "utf-8")
    sys.stdout.flush()
    try:
        pager = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, env=environ)
    except OSError:
        return False
    with _without_interrupts():
        pager.communicate(output)  # a pager that was left before the end is no error
    if pager.returncode in _NOT_RUN:
        streams.note(f"mmem: the pager '{command}' can't be started: see MMEM_PAGER and PAGER, or say --no-pager")
        return False
    return True


def _command(environ: Mapping[str, str]) -> str | None:
    """Return the pager's command line, or None; an empty variable, or `cat`, asks for none."""
    for variable in ("MMEM_PAGER", "PAGER"):
        if variable in environ:
            given = environ[variable].strip()
            return given if given not in {"", "cat"} else None
    return f"less {_LESS}" if shutil.which("less", path=environ.get("PATH")) else None


def _overflows(output: bytes) -> bool:
    """Tell whether output takes more lines than the terminal has, as far as that can be told."""
    try:
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return False
    if not rows or not columns:
        return False
    if output.count(b"\n") >= rows:
        return True
    return sum(1 + len(line) // columns for line in output.decode(errors="replace").split("\n")) > rows


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Leave Ctrl-C to the pager, which may use it: less stops a search."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

"""The standard streams, and what is known about them; tests bring their own."""

import errno
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import BinaryIO

from mmem.errors import Usage
from mmem.visible import visible

_CHUNK = 1 << 20


def _is_terminal(stream: object) -> bool:
    isatty = getattr(stream, "isatty", None)
    return bool(isatty and isatty())


class Streams:
    """Standard input, output and error. None for a flag means: ask the stream."""

    def __init__(
        self,
        stdin_is_terminal: bool | None = None,
        stdout_is_terminal: bool | None = None,
        stderr_is_terminal: bool | None = None,
        *,
        color: str = "auto",
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """Take the process's own streams; tests say which ones are terminals."""
        self.stdin_is_terminal = stdin_is_terminal
        self.stdout_is_terminal = stdout_is_terminal
        self.stderr_is_terminal = stderr_is_terminal
        self.color = color
        self.environ = environ

    @property
    def shows_terminal(self) -> bool:
        """Whether what is printed goes to a terminal."""
        return _is_terminal(sys.stdout) if self.stdout_is_terminal is None else self.stdout_is_terminal

    @property
    def notes_terminal(self) -> bool:
        """Whether notices and errors go to a terminal."""
        return _is_terminal(sys.stderr) if self.stderr_is_terminal is None else self.stderr_is_terminal

    @property
    def reads_terminal(self) -> bool:
        """Whether standard input is a terminal."""
        return _is_terminal(sys.stdin) if self.stdin_is_terminal is None else self.stdin_is_terminal

    @property
    def can_prompt(self) -> bool:
        """Whether a person can be asked."""
        return self.reads_terminal and self.notes_terminal

    def colored(self, on_terminal: bool) -> bool:
        """Whether to write colours: `--color`, then NO_COLOR and FORCE_COLOR, then the terminal."""
        if self.color != "auto":
            return self.color == "always"
        if self.environ.get("NO_COLOR"):
            return False
        if self.environ.get("FORCE_COLOR"):
            return True
        return on_terminal and self.environ.get("TERM") != "dumb"

    def stdin(self) -> BinaryIO:
        """Return standard input. Raises `Usage` where it is closed."""
        if sys.stdin is None:
            raise Usage("standard input is closed")
        stdin: BinaryIO = sys.stdin.buffer
        return stdin

    def read(self) -> bytes:
        """Return all of standard input."""
        stdin = self.stdin()
        try:
            return stdin.read()
        except OSError as error:
            raise Usage(f"standard input can't be read: {(error.strerror or str(error)).lower()}") from None

    def write(self, output: bytes) -> None:
        """Write to standard output, all of it or an error."""
        if sys.stdout is None:  # closed by the shell: `>&-`
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        stdout: BinaryIO = sys.stdout.buffer
        view = memoryview(output)
        for start in range(0, len(view), _CHUNK):
            stdout.write(view[start : start + _CHUNK])
        stdout.flush()

    def note(self, line: str) -> None:
        """Write a line to standard error; control characters are shown, not sent."""
        stderr = sys.stderr
        if stderr is None:
            return
        encoding = getattr(stderr, "encoding", None) or "utf-8"
        with suppress(OSError, ValueError):  # whoever closed it or filled its disk doesn't want to hear
            stderr.write(visible(line).encode(encoding, "backslashreplace").decode(encoding) + "\n")
            stderr.flush()

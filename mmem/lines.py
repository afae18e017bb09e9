"""Lines of input as they arrive: never waiting while there is a whole one, never holding more than one too long."""

import os
import select
from collections.abc import Iterator

MAX_LINE = 16 << 20  # bytes
_CHUNK = 1 << 20

Line = tuple[int, bytes | None]  # the number, counted from 1, and the bytes; None for a line that is too long

_BOM = b"\xef\xbb\xbf"


class Lines:
    """The lines of a file descriptor, split at `\n` bytes alone, with their numbers."""

    def __init__(self, descriptor: int) -> None:
        """Read nothing yet."""
        self._descriptor = descriptor
        self._rest = bytearray()
        self._number = 0
        self._too_long = False
        self.ended = False
        self.read = 0  # bytes

    def waiting(self) -> bool:
        """Tell whether more input can be had without waiting for it."""
        if self.ended:
            return False
        try:
            return bool(select.select([self._descriptor], [], [], 0)[0])
        except (OSError, ValueError):  # Windows can't ask this of a pipe or a file
            return False

    def next(self) -> list[Line]:
        """Return the lines that one reading completes: at least one, unless the input has ended."""
        while not self.ended:
            chunk = os.read(self._descriptor, _CHUNK)
            self.read += len(chunk)
            self.ended = not chunk
            lines = list(self._split(chunk))
            if lines:
                return lines
        return []

    def _split(self, chunk: bytes) -> Iterator[Line]:
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            yield self._line(part)
        self._rest += rest
        if len(self._rest) > MAX_LINE + 1:
            self._rest.clear()
            self._too_long = True
        if self.ended and (self._rest or self._too_long):
            yield self._line(b"")

    def _line(self, end: bytes) -> Line:
        """Return the line that ends here."""
        line = (bytes(self._rest) + end if self._rest else end).removesuffix(b"\r")
        too_long = self._too_long or len(line) > MAX_LINE
        self._rest.clear()
        self._too_long = False
        self._number += 1
        if self._number == 1:
            line = line.removeprefix(_BOM)
        return self._number, None if too_long else line

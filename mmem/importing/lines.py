"""The lines of a file as bytes: split at line feeds alone, UTF-16 among UTF-8 made UTF-8, some given back."""

from collections import deque
from collections.abc import Iterator
from typing import BinaryIO

from mmem.errors import InvalidJson

BOM = b"\xef\xbb\xbf"
LONGEST = 64 << 20  # bytes of a line

_LOST_MARK = b"\xef\xbf\xbd\xef\xbf\xbd"  # a UTF-16 byte-order mark that passed through a UTF-8 decoder
_UTF16_MARK = b"\xff\xfe"


class Lines:
    """The numbered lines of a file."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        """Read from a file's current place; the name is for errors."""
        self._file = file
        self._name = name
        self._number = 0
        self._waiting: deque[tuple[int, bytes]] = deque()
        self.recoded: list[int] = []  # the first lines of runs that were UTF-16

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield each line with its number. Raises `InvalidJson` for one that is longer than any record."""
        while True:
            if self._waiting:
                yield self._waiting.popleft()
                continue
            raw = self._file.readline(LONGEST + 1)
            if not raw:
                return
            self._number += 1
            if len(raw) > LONGEST:
                raise InvalidJson(f"{self._name}:{self._number}: the line has more than {LONGEST >> 20} MiB")
            if self._number == 1:
                raw = raw.removeprefix(BOM)
            if b"\0" in raw:
                self._recode(raw)
                continue
            yield self._number, raw

    def give_back(self, taken: list[tuple[int, bytes]]) -> None:
        """Take lines back, to yield them again."""
        self._waiting.extendleft(reversed(taken))

    def _recode(self, raw: bytes) -> None:
        """Let a run of UTF-16 wait as UTF-8 lines; where it isn't that, its lines as they are."""
        numbers, run = [self._number], raw
        at = self._file.tell()
        after = b""
        while not after and (more := self._file.readline(LONGEST + 1)) and b"\0" in more:
            numbers.append(self._number + len(numbers))
            at = self._file.tell()
            if more[0] == 0 and b"\0" not in more[1:]:  # the second half of a line feed, and UTF-8 again
                more, after = b"\0", more[1:]
            run += more
        self._file.seek(at)
        first = numbers[0]
        self._number = numbers[-1]
        start = max(run.index(b"\0") - 1, 0)
        ahead, wide = run[:start], run[start:]
        ahead = ahead.removesuffix(_UTF16_MARK).removesuffix(_LOST_MARK)
        try:
            text = wide[: len(wide) // 2 * 2].decode("utf-16-le")
            rest = wide[len(wide) // 2 * 2 :].strip(b"\0\r\n")
            if rest or "\0" in text:
                raise UnicodeError
        except UnicodeError:
            self._waiting.extend((first + place, line + b"\n") for place, line in enumerate((run + after).split(b"\n")))
            return
        if ahead.strip():
            self._waiting.append((first, ahead))
        made = text.encode().split(b"\n")
        self._waiting.extend((first + place, line + b"\n") for place, line in enumerate(made) if line.strip())
        self.recoded.append(first)
        if after:
            self._waiting.append((self._number, after))

"""Where a writer's pieces go: collected, and passed on in large blocks."""

from collections.abc import Callable

_BLOCK = 1 << 20  # bytes


class Unwritten(Exception):
    """Carries the system's error about an output out of a transaction, which would take it for one about its file."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


class Sink:
    """Takes whole characters in UTF-8, piece by piece."""

    def __init__(self, write: Callable[[bytes], object], dress: Callable[[bytes], bytes] | None = None) -> None:
        """Pass blocks on to `write`, dressed for a terminal where there is something to dress them with."""
        self._write = write
        self._dress = dress
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, piece: bytes) -> None:
        """Take a piece. Raises `Unwritten`."""
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size >= _BLOCK:
            self.flush()

    def text(self, piece: str) -> None:
        """Take a piece of text. Raises `Unwritten`."""
        self.write(piece.encode())

    def flush(self) -> None:
        """Pass on what was collected. Raises `Unwritten`."""
        block = b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        try:
            if block:
                self._write(block if self._dress is None else self._dress(block))
        except OSError as error:
            raise Unwritten(error) from error

"""What waits on disk until every entity is known: relations and loose observations, in their order."""

import tempfile
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from mmem.importing.given import LooseTexts, RelationRecord

_AT_ONCE = 8_000  # records in a block


class Waiting(NamedTuple):
    """A record that waits, the file it is of, its place, its bytes, and what was mended in it."""

    file: int
    category: str
    line: int
    column: int
    raw: bytes
    repairs: tuple[str, ...]
    relation: RelationRecord | None
    texts: LooseTexts | None


class Shelf:
    """Keeps records in a temporary file."""

    def __init__(self) -> None:
        """Make the file, which has no name."""
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `close`
        self._block: list[Waiting] = []
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(list[Waiting]).decode

    def close(self) -> None:
        """Let go of everything."""
        self._file.close()

    def put(self, one: Waiting) -> None:
        """Keep a record."""
        self._block.append(one)
        if len(self._block) >= _AT_ONCE:
            self._write()

    def _write(self) -> None:
        block = self._encode(self._block)
        self._file.write(len(block).to_bytes(8, "little") + block)
        self._block = []

    def blocks(self) -> Iterator[list[Waiting]]:
        """Yield what was kept, some at a time."""
        if self._block:
            self._write()
        self._file.seek(0)
        while head := self._file.read(8):
            yield self._decode(self._file.read(int.from_bytes(head, "little")))

"""`json`: one document, `{entities, relations}`, as `mmem read-graph -f json` prints it."""

from collections.abc import Iterable

import msgspec

from mmem.exporting.selection import Selection
from mmem.exporting.writer import Writer as Base


class Writer(Base):
    """Writes a graph with an indentation of two spaces; of several a list, whose items begin with their category."""

    def begin(self) -> None:
        """Begin the list, where there is one."""
        super().begin()
        self._count = 0
        if self._several:
            self.sink.write(b"[")

    def write(self, selection: Selection) -> None:
        """Write one graph, record by record."""
        margin = b"  " if self._several else b""
        if self._several:
            comma = b",\n" if self._count else b"\n"
            self.sink.write(comma + f'  {{\n    "category": "{selection.category}",\n'.encode())
        else:
            self.sink.write(b"{\n")
        self._count += 1
        self._list(margin + b"  ", b"entities", selection.entities())
        self.sink.write(b",\n")
        self._list(margin + b"  ", b"relations", selection.relations())
        self.sink.write(b"\n" + margin + (b"}" if self._several else b"}\n"))

    def end(self) -> None:
        """End the list, where there is one."""
        if self._several:
            self.sink.write(b"\n]\n" if self._count else b"]\n")

    def _list(self, margin: bytes, key: bytes, records: Iterable[object]) -> None:
        """Write `"key": [...]`; no JSON text holds a line end that isn't between its tokens."""
        encode = msgspec.json.Encoder().encode
        self.sink.write(margin + b'"' + key + b'": [')
        within = b"\n" + margin + b"  "
        before = within
        for record in records:
            self.sink.write(before + msgspec.json.format(encode(record), indent=2).replace(b"\n", within))
            before = b"," + within
        self.sink.write(b"]" if before is within else b"\n" + margin + b"]")

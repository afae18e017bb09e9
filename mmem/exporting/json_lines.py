"""`jsonl`: a record on each line with everything that is known of it, as `mmem read-graph -f jsonl` prints it."""

from collections.abc import Iterable

import msgspec

from mmem.exporting.selection import Selection
from mmem.exporting.writer import Writer as Base
from mmem.records import Entity, Relation


class Writer(Base):
    """Writes `{"type": "entity", ...}` and `{"type": "relation", ...}`; among several, each names its category."""

    def write(self, selection: Selection) -> None:
        """Write the entities, then the relations."""
        end = f',"category":"{selection.category}"}}\n'.encode() if self._several else b"}\n"
        self._lines(b'{"type":"entity",', selection.entities(), end)
        self._lines(b'{"type":"relation",', selection.relations(), end)

    def _lines(self, begin: bytes, records: "Iterable[Entity | Relation]", end: bytes) -> None:
        encode = msgspec.json.Encoder().encode
        for record in records:
            self.sink.write(begin + encode(record)[1:-1] + end)

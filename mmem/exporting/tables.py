"""`csv`: three tables as RFC 4180 has them, texts written as they are and properties as JSON."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

import msgspec

from mmem.exporting.selection import Selection
from mmem.exporting.sink import Sink
from mmem.exporting.writer import Writer as Base
from mmem.records import Properties

_ENTITIES = ("id", "name", "entityType", "properties")
_OBSERVATIONS = ("id", "entityId", "observationType", "text", "timestamp", "source", "properties")
_RELATIONS = ("id", "fromId", "from", "fromType", "relationType", "toId", "to", "toType", "properties")


class Writer(Base):
    """Writes `entities.csv`, `observations.csv` and `relations.csv`; in each one, the first line names the columns."""

    def begin(self) -> None:
        """Open the tables."""
        self._entities = _Table(self._open("entities"), _ENTITIES)
        self._observations = _Table(self._open("observations"), _OBSERVATIONS)
        self._relations = _Table(self._open("relations"), _RELATIONS)

    def write(self, selection: Selection) -> None:
        """Write the rows of one graph."""
        for entity in selection.entities():
            self._entities.row([entity.id, entity.name, entity.entity_type, _json(entity.properties)])
            self._observations.rows(
                [
                    one.id,
                    entity.id,
                    one.observation_type,
                    one.text,
                    one.timestamp or "",
                    one.source,
                    _json(one.properties),
                ]
                for one in entity.observations
            )
        for one in selection.relations():
            begin, end = (one.from_id, one.from_name, one.from_type), (one.to_id, one.to_name, one.to_type)
            self._relations.row([one.id, *begin, one.relation_type, *end, _json(one.properties)])
        for table in (self._entities, self._observations, self._relations):
            table.pass_on()


class _Table:
    """Rows as CSV, passed on to a sink now and then."""

    def __init__(self, sink: Sink, columns: Sequence[str]) -> None:
        self._sink = sink
        self._text = StringIO()
        self._writer = csv.writer(self._text)
        self._count = 0
        self.row(columns)

    def row(self, row: Sequence[str]) -> None:
        self._writer.writerow(row)
        self._count += 1
        if self._count % 500 == 0:
            self.pass_on()

    def rows(self, rows: Iterable[Sequence[str]]) -> None:
        for row in rows:
            self.row(row)

    def pass_on(self) -> None:
        self._sink.text(self._text.getvalue())
        self._text.seek(0)
        self._text.truncate()


def _json(properties: Properties | None) -> str:
    return "" if properties is None else msgspec.json.encode(properties).decode()

"""`graphml`: for Gephi, networkx and the like; properties are columns, with types where all their values have one."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from mmem.exporting.selection import Selection
from mmem.exporting.writer import Losses
from mmem.exporting.writer import Writer as Base
from mmem.outcomes import Notice
from mmem.records import Entity, Properties, Relation
from mmem.visible import plural

_EXACT = 1 << 53  # up to here, every integer is a double
_LONG = 1 << 63
# XML 1.0, production 2: what no document can hold, be it written as a reference.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_IN_ATTRIBUTE = str.maketrans({'"': "&quot;", "\n": "&#10;", "\t": "&#9;"})


class _Column(NamedTuple):
    id: str
    name: str
    kind: str


class Writer(Base):
    """Writes nodes and edges with the ids they have in mmem; `label` is a name or a relation's type."""

    def write(self, selection: Selection) -> None:
        """Write the columns, which needs a reading of its own, then the nodes and the edges."""
        self._replaced = 0
        losses = Losses("graphml")
        nodes = self._columns("n", ("label", "entityType", "observations"), selection.entities())
        edges = self._columns("e", ("label",), selection.relations())
        self.sink.text(
            '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        )
        for kind, columns in (("node", nodes), ("edge", edges)):
            self.sink.text("".join(self._key(kind, column) for column in columns.values()))
        self.sink.text(f'<graph id="{selection.category}" edgedefault="directed">\n')
        for entity in selection.entities():
            losses.observations(entity.observations, kinds=False)
            cells = self._cells(nodes, _of_entity(entity), entity.properties, losses)
            self.sink.text(f'<node id="{entity.id}">{cells}</node>\n')
        for relation in selection.relations():
            cells = self._cells(edges, {"label": relation.relation_type}, relation.properties, losses)
            ends = f'source="{relation.from_id}" target="{relation.to_id}"'
            self.sink.text(f'<edge id="{relation.id}" {ends}>{cells}</edge>\n')
        self.sink.text("</graph>\n</graphml>\n")
        losses.say(selection)
        if self._replaced:
            message = (
                f"XML can't hold {plural(self._replaced, 'control character')}; U+FFFD stands in the place of each"
            )
            selection.transaction.notice(Notice("repaired", message, format="graphml", count=self._replaced))

    def _columns(
        self, prefix: str, own: tuple[str, ...], records: "Iterable[Entity | Relation]"
    ) -> dict[tuple[str, bool], _Column]:
        """Return the columns of nodes or edges: by name and whether it is a property's."""
        kinds: dict[str, str] = {}
        for record in records:
            for key, value in (record.properties or {}).items():
                if value is not None:
                    kind = _kind(value)
                    kinds[key] = _both(kinds.get(key, kind), kind)
        columns = {(name, False): _Column(f"{prefix}{number}", name, "string") for number, name in enumerate(own)}
        taken = {"id", *(name.lower() for name in own)}
        for key, kind in kinds.items():
            name = self._xml(key)
            if not name.strip() or name.lower() in taken:  # Gephi doesn't tell capitals from small letters
                name = f"properties.{name}"
            while name.lower() in taken:
                name += "_"
            taken.add(name.lower())
            columns[key, True] = _Column(f"{prefix}{len(columns)}", name, kind.rstrip("!"))
        return columns

    def _key(self, kind: str, column: _Column) -> str:
        name = column.name.translate(_ESCAPES).translate(_IN_ATTRIBUTE)
        return f'<key id="{column.id}" for="{kind}" attr.name="{name}" attr.type="{column.kind}"/>\n'

    def _cells(
        self,
        columns: Mapping[tuple[str, bool], _Column],
        own: Mapping[str, str],
        properties: Properties | None,
        losses: Losses,
    ) -> str:
        values = [(columns[name, False], text) for name, text in own.items() if text]
        for key, value in (properties or {}).items():
            if value is None:
                losses.add("property that is null")
            else:
                values.append((columns[key, True], _text(value)))
        return "".join(f'<data key="{one.id}">{self._xml(text).translate(_ESCAPES)}</data>' for one, text in values)

    def _xml(self, text: str) -> str:
        """Return a text without what XML can't hold."""
        clean, count = _NOT_XML.subn("\ufffd", text)
        self._replaced += count
        return clean


def _of_entity(entity: Entity) -> dict[str, str]:
    texts: Iterator[str] = (
        f"{one.observation_type}: {one.text}" if one.observation_type else one.text for one in entity.observations
    )
    return {"label": entity.name, "entityType": entity.entity_type, "observations": "\n".join(texts)}


def _kind(value: object) -> str:
    """Return the type that a column of such values has; a mark stands behind that of an integer no double can be."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) and -_LONG <= value < _LONG:
        return "long" if abs(value) <= _EXACT else "long!"
    return "double" if isinstance(value, float) else "string"


def _both(one: str, other: str) -> str:
    """Return the type of a column that has values of two types."""
    if one == other:
        return one
    pair = {one, other}
    if pair == {"long", "long!"}:
        return "long!"
    return "double" if pair == {"long", "double"} else "string"


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()

"""`yaml`: what `mmem seed` reads, with the keys of the tools; of several categories a document each."""

from collections.abc import Iterator

from mmem.exporting.selection import Selection
from mmem.exporting.writer import Writer as Base
from mmem.exporting.yaml_text import block, flow, flow_mapping, is_long
from mmem.outcomes import Notice
from mmem.records import Entity, Observation, Properties, Relation
from mmem.timestamps import is_timestamp
from mmem.visible import plural


class Writer(Base):
    """Writes a record's keys a line each, and an observation that is nothing but a text as that text."""

    _no_times = 0

    def write(self, selection: Selection) -> None:
        """Write one document."""
        self._no_times = 0
        if self._several:
            self.sink.text(f"---\ncategory: {flow(selection.category)}\n")
        lines = [
            self._list("entities", (self.entity(entity) for entity in selection.entities())),
            self._list("relations", map(_relation, selection.relations())),
        ]
        for text in lines:
            for line in text:
                self.sink.text(line)
        if self._no_times:
            what = f"{plural(self._no_times, 'timestamp')} that {'is' if self._no_times == 1 else 'are'} not ISO 8601"
            message = f"{what}, and would be refused when they are seeded, were left out; jsonl keeps everything"
            selection.transaction.notice(Notice("truncated", message, format="yaml", timestamps=self._no_times))

    def _list(self, key: str, items: Iterator[str]) -> Iterator[str]:
        first = next(items, None)
        if first is None:
            yield f"{key}: []\n"
            return
        yield f"{key}:\n{first}"
        yield from items

    def entity(self, entity: Entity) -> str:
        """Return an entity as an item of the list of entities."""
        lines = [f"  - name: {block(entity.name, 6)}"]
        if entity.entity_type:
            lines.append(f"    entityType: {block(entity.entity_type, 6)}")
        if entity.properties:
            lines.append(f"    properties:{_properties(entity.properties, 6)}")
        if entity.observations:
            lines.append("    observations:")
            lines += [self._observation(one) for one in entity.observations]
        return "\n".join(lines) + "\n"

    def _observation(self, given: Observation) -> str:
        timestamp = given.timestamp
        if timestamp is not None and not is_timestamp(timestamp):
            self._no_times += 1
            timestamp = None
        fields = [f"observationType: {block(given.observation_type, 10)}"] if given.observation_type else []
        fields.append(f"text: {block(given.text, 10)}")
        if timestamp is not None:
            fields.append(f"timestamp: {timestamp}")
        if given.source:
            fields.append(f"source: {block(given.source, 10)}")
        if given.properties:
            fields.append(f"properties:{_properties(given.properties, 10)}")
        if fields == [f"text: {block(given.text, 10)}"]:
            return f"      - {block(given.text, 8)}"
        return "      - " + "\n        ".join(fields)


def _relation(relation: Relation) -> str:
    lines = [
        f"  - from: {_end(relation.from_name, relation.from_type)}",
        f"    to: {_end(relation.to_name, relation.to_type)}",
        f"    relationType: {block(relation.relation_type, 6)}",
    ]
    if relation.properties:
        lines.append(f"    properties:{_properties(relation.properties, 6)}")
    return "\n".join(lines) + "\n"


def _end(name: str, entity_type: str) -> str:
    """Return a relation's end: a name alone means the entity without a type."""
    return f"{{name: {flow(name)}, type: {flow(entity_type)}}}" if entity_type else block(name, 6)


def _properties(properties: Properties, indent: int) -> str:
    """Return properties on one line where they are short, else a line for each."""
    short = flow_mapping(properties)
    if not is_long(short) or any(is_long(flow(key)) for key in properties):
        return f" {short}"
    margin = "\n" + " " * indent
    values = (
        (key, block(value, indent + 2) if isinstance(value, str) else flow(value)) for key, value in properties.items()
    )
    return margin + margin.join(f"{flow(key)}: {value}" for key, value in values)

"""`memory-jsonl`: the file of `@modelcontextprotocol/server-memory`, which knows entities by name alone."""

from typing import Any

import msgspec

from mmem.exporting.selection import Selection
from mmem.exporting.writer import Losses
from mmem.exporting.writer import Writer as Base
from mmem.outcomes import Notice
from mmem.records import Properties
from mmem.visible import plural


class Writer(Base):
    """Writes the reference server's records; properties of entities and relations stand in them as further fields."""

    def write(self, selection: Selection) -> None:
        """Write the entities, then the relations."""
        encode = msgspec.json.Encoder().encode
        losses = Losses("memory-jsonl")
        self._unnamed = 0
        for entity in selection.entities():
            losses.observations(entity.observations)
            record: dict[str, Any] = {
                "type": "entity",
                "name": entity.name,
                "entityType": entity.entity_type,
                "observations": [one.text for one in entity.observations],
            }
            self.sink.write(encode(self._with(record, entity.properties)) + b"\n")
        shared = selection.shared_names()
        unclear = 0
        for relation in selection.relations():
            unclear += relation.from_name in shared or relation.to_name in shared
            record = {
                "type": "relation",
                "from": relation.from_name,
                "to": relation.to_name,
                "relationType": relation.relation_type,
            }
            self.sink.write(encode(self._with(record, relation.properties)) + b"\n")
        losses.add("property that has the name of a field", self._unnamed)
        losses.say(selection)
        if shared:
            selection.transaction.notice(_ambiguous(len(shared), unclear))

    def _with(self, record: dict[str, Any], properties: Properties | None) -> dict[str, Any]:
        """Return a record with properties as fields of its own; those whose names are taken are counted."""
        if properties is not None:
            self._unnamed += len(record.keys() & properties.keys())
            return {**record, **{key: value for key, value in properties.items() if key not in record}}
        return record


def _ambiguous(names: int, relations: int) -> Notice:
    message = f"{plural(names, 'name')} {'belongs' if names == 1 else 'belong'} to entities of several types"
    if relations:
        unclear = f"{plural(relations, 'relation')} {'names' if relations == 1 else 'name'} them"
        message += f"; memory-jsonl knows no types of ends, so that {unclear} without saying which"
    return Notice("truncated", message, format="memory-jsonl", names=names, relations=relations)

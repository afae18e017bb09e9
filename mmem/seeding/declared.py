"""What a seed file may say: each key, what stands there and what it means. The reader and the schema go by these."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Kind = Literal[
    "anything",
    "category",
    "end",
    "entities",
    "id",
    "name",
    "nested relations",
    "observations",
    "properties",
    "relations",
    "text",
    "timestamp",
    "type",
]


class Key(NamedTuple):
    """A key of a mapping: what may stand there, what it means, and which other key it is another name of."""

    kind: Kind
    about: str
    same_as: str = ""
    required: bool = False


Keys = Mapping[str, Key]

_PROPERTIES = Key("properties", "Further facts as JSON has them: texts, numbers, true and false, lists, mappings.")

DOCUMENT: Keys = {
    "category": Key("category", "The category that this document fills; by default that of the command line."),
    "entities": Key("entities", "The entities, by their names or as a list of records."),
    "relations": Key("relations", "The relations: lines such as `A uses B`, or records."),
    "questions": Key("anything", "What a search may be asked about the graph. It isn't stored."),
}

ENTITY: Keys = {
    "type": Key("type", "What kind of thing it is, such as person or service. Name and type together are unique."),
    "entityType": Key("type", "Another word for `type`.", same_as="type"),
    "properties": _PROPERTIES,
    "observations": Key("observations", "What is known about it, one fact each."),
    "relations": Key("nested relations", "Relations that go from it: lines such as `uses B`, or records."),
}

LISTED_ENTITY: Keys = {"name": Key("name", "The entity's name.", required=True), **ENTITY}

# What may stand beside the type and the text, in `version: Updated to v2.0`.
ASIDE: Keys = {
    "source": Key("type", "Where it is known from. Type and source together are unique on an entity."),
    "timestamp": Key(
        "timestamp", "When it was so: an ISO 8601 date, or date and time. By default the time of seeding."
    ),
    "properties": _PROPERTIES,
}

OBSERVATION: Keys = {
    "text": Key("text", "The fact.", required=True),
    "type": Key("type", "What the fact is about, such as version or role."),
    "observationType": Key("type", "Another word for `type`.", same_as="type"),
    **ASIDE,
}

NESTED_RELATION: Keys = {
    "to": Key("end", "The entity that it goes to.", required=True),
    "type": Key("name", "The relation in active voice, such as uses or works_at.", required=True),
    "relationType": Key("name", "Another word for `type`.", same_as="type"),
    "properties": _PROPERTIES,
}

RELATION: Keys = {"from": Key("end", "The entity that it goes from.", required=True), **NESTED_RELATION}

END: Keys = {
    "name": Key("name", "The entity's name."),
    "type": Key("type", "Its type, where several share the name."),
    "entityType": Key("type", "Another word for `type`.", same_as="type"),
    "id": Key("id", "The id of an entity that is in the category, instead of a name."),
}

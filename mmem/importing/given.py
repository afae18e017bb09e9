"""What a file gives: entities, relations and observations, by names, before anything is looked up."""

from typing import Any, NamedTuple


class Aside(Exception):
    """A record whose meaning is in doubt: it is kept aside, with the reason."""


class Text(NamedTuple):
    """An observation; plain where it has neither type nor source. Properties are JSON text."""

    text: str
    observation_type: str = ""
    source: str = ""
    timestamp: str | None = None
    properties: str | None = None
    id: int | None = None


class EntityRecord(NamedTuple):
    """An entity with its observations, and its id where the file is ours."""

    name: str
    entity_type: str
    observations: list[Text]
    properties: dict[str, Any]
    id: int | None = None
    category: str | None = None


class RelationRecord(NamedTuple):
    """A relation between two names, whose types are None where the file doesn't give any."""

    from_name: str
    from_type: str | None
    to_name: str
    to_type: str | None
    relation_type: str
    properties: dict[str, Any]
    id: int | None = None
    category: str | None = None


class LooseTexts(NamedTuple):
    """Observations of an entity that stands elsewhere."""

    name: str
    entity_type: str | None
    observations: list[Text]
    category: str | None = None


Record = EntityRecord | RelationRecord | LooseTexts

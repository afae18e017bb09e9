"""The records that tools return, in the documented shapes: keys in order, empty optional keys left out."""

from typing import Any

from msgspec import Struct

Properties = dict[str, Any]

_RELATION_KEYS = {
    "from_name": "from",
    "from_type": "fromType",
    "to_name": "to",
    "to_type": "toType",
    "relation_type": "relationType",
    "from_id": "fromId",
    "to_id": "toId",
}


class Observation(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", gc=False):
    """A text on an entity: `{id, observationType?, text, timestamp?, source?, properties?}`."""

    id: str
    observation_type: str = ""
    text: str
    timestamp: str | None = None
    source: str = ""
    properties: Properties | None = None


class Entity(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", gc=False):
    """A node of the graph: `{id, name, entityType, properties?, observations}`."""

    id: str
    name: str
    entity_type: str
    properties: Properties | None = None
    observations: list[Observation]


class Relation(Struct, frozen=True, kw_only=True, omit_defaults=True, rename=_RELATION_KEYS.get, gc=False):
    """A directed edge: `{id, from, fromType, to, toType, relationType, properties?, fromId, toId}`."""

    id: str
    from_name: str
    from_type: str
    to_name: str
    to_type: str
    relation_type: str
    properties: Properties | None = None
    from_id: str
    to_id: str


class EntityElsewhere(Entity, frozen=True, kw_only=True, omit_defaults=True, rename="camel", gc=False):
    """An entity among those of several categories: `{..., category}`."""

    category: str


class RelationElsewhere(
    Relation,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    rename={**_RELATION_KEYS, "category": "category"}.get,
    gc=False,
):
    """A relation among those of several categories: `{..., category}`."""

    category: str


class NamedElsewhere(Struct, frozen=True, kw_only=True):
    """A name among those of several categories: `{category, name}`."""

    category: str
    name: str


class Named(Struct, frozen=True, kw_only=True, rename="camel"):
    """An entity without what it holds: `{id, name, entityType}`."""

    id: str
    name: str
    entity_type: str

    def __str__(self) -> str:
        return f"'{self.name}'" + (f" ({self.entity_type})" if self.entity_type else "")


class Graph(Struct, frozen=True, kw_only=True):
    """Entities and the relations that go with them: `{entities, relations}`."""

    entities: list[Entity]
    relations: list[Relation]


class AddedObservations(Struct, frozen=True, kw_only=True, rename="camel"):
    """What `add_observations` stored: `{entityId, entityName, entityType, addedObservations}`."""

    entity_id: str
    entity_name: str
    entity_type: str
    added_observations: list[Observation]

"""What the reference server's tools take: entities by name alone, observations as texts."""

from typing import Annotated

from msgspec import Meta, Struct

from mmem.arguments import AnyObservation, EntityInput, Name, RelationInput, Type


class Given(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Arguments, or an object in them."""


class NewEntity(Given, frozen=True):
    """An entity to create."""

    name: Name
    entity_type: Type | None = None
    observations: list[str] | None = None

    def __post_init__(self) -> None:
        """Check what the types can't. Raises `ValueError`."""
        self.input()

    def input(self) -> EntityInput:
        """Return the entity as the store takes it."""
        texts = list[AnyObservation](self.observations or ())
        return EntityInput(name=self.name, entity_type=self.entity_type, observations=texts)


class NamedRelation(Given, frozen=True, rename={"source": "from", "target": "to", "kind": "relationType"}):
    """A relation by the names of its ends."""

    source: Type
    target: Type
    kind: Name

    def __post_init__(self) -> None:
        """Check what the types can't. Raises `ValueError`."""
        RelationInput(source_end=1, target_end=1, relation_type=self.kind)


class Addition(Given, frozen=True):
    """Observations to add to an entity."""

    entity_name: Type
    contents: list[str]


class Deletion(Given, frozen=True):
    """Observations to delete of an entity."""

    entity_name: Type
    observations: list[str]


class CreateEntities(Given, frozen=True):
    """What `create_entities` takes."""

    entities: list[NewEntity]


class Relations(Given, frozen=True):
    """What `create_relations` and `delete_relations` take."""

    relations: list[NamedRelation]


class AddObservations(Given, frozen=True):
    """What `add_observations` takes."""

    observations: list[Addition]


class DeleteEntities(Given, frozen=True):
    """What `delete_entities` takes."""

    entity_names: list[Type]


class DeleteObservations(Given, frozen=True):
    """What `delete_observations` takes."""

    deletions: list[Deletion]


class ReadGraph(Struct, frozen=True):
    """What `read_graph` takes: nothing. What some hosts send to a tool without arguments, such as Cursor's
    `random_string`, is passed over.
    """


class SearchNodes(Given, frozen=True):
    """What `search_nodes` takes."""

    query: Annotated[str, Meta(max_length=100_000)]


class OpenNodes(Given, frozen=True):
    """What `open_nodes` takes."""

    names: list[Type]

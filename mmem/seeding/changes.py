"""What seeding would change in a category."""

from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec import Struct

from mmem.arguments import ObservationInput
from mmem.lookup import Found
from mmem.outcomes import Notice
from mmem.records import Observation, Properties
from mmem.seeding.graphs import Node


class PropertyChange(NamedTuple):
    """The properties of an entity or a relation before and after; None where there are none."""

    before: Properties | None
    after: Properties | None


class NewEntity(NamedTuple):
    """An entity to create, with observations that each have a place of their own."""

    node: Node
    observations: list[ObservationInput]


@dataclass(slots=True)
class ChangedEntity:
    """An entity that is there already, and what becomes of it."""

    found: Found
    added: list[ObservationInput] = field(default_factory=list)
    replaced: list[tuple[Observation, ObservationInput]] = field(default_factory=list)
    removed: list[Observation] = field(default_factory=list)
    properties: PropertyChange | None = None

    def __bool__(self) -> bool:
        """Tell whether anything changes."""
        return bool(self.added or self.replaced or self.removed or self.properties)


class NewRelation(NamedTuple):
    """A relation to create; an end that isn't stored yet has the id 0."""

    source: Found
    relation_type: str
    target: Found
    properties: Properties | None


class ChangedRelation(NamedTuple):
    """A relation that is there already, with its new properties."""

    id: int
    relation: NewRelation
    properties: PropertyChange


class Seeded(Struct, frozen=True, omit_defaults=True):
    """What came to a category: `{category, entities, observations, relations, changed, removed, left, diff?}`.

    `changed` counts what got another text or other properties, `left` what differs from the file and wasn't touched.
    """

    category: str
    entities: int
    observations: int
    relations: int
    changed: int
    removed: int
    left: int
    diff: list[str] | None = None

    @property
    def is_same(self) -> bool:
        """Whether nothing changes."""
        return not (self.entities or self.observations or self.relations or self.changed or self.removed)


@dataclass(slots=True)
class Changes:
    """All that changes in a category, and notices about what differs and is left."""

    category: str
    new: list[NewEntity] = field(default_factory=list)
    changed: list[ChangedEntity] = field(default_factory=list)
    relations: list[NewRelation] = field(default_factory=list)
    changed_relations: list[ChangedRelation] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    left: int = 0

    def counts(self, diff: list[str] | None = None) -> Seeded:
        """Return how many of each there are."""
        return Seeded(
            category=self.category,
            entities=len(self.new),
            observations=sum(len(one.observations) for one in self.new) + sum(len(one.added) for one in self.changed),
            relations=len(self.relations),
            changed=sum(len(one.replaced) + (one.properties is not None) for one in self.changed)
            + len(self.changed_relations),
            removed=sum(len(one.removed) for one in self.changed),
            left=self.left,
            diff=diff,
        )

    def leave(self, notice: Notice) -> None:
        """Note that something differs from the file and stays as it is."""
        self.notices.append(notice)
        self.left += 1

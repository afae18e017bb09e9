"""What seed files say, read and checked: graphs whose parts know where they stand."""

from dataclasses import dataclass, field
from typing import NamedTuple

from mmem.arguments import ObservationInput
from mmem.values import nfc
from mmem.yamltext import Mark


class Noted(NamedTuple):
    """An observation."""

    given: ObservationInput
    mark: Mark


class End(NamedTuple):
    """A relation's end: an entity by id, or by name and type. A type of None was left out."""

    name: str
    entity_type: str | None
    id: int | None
    mark: Mark

    def __str__(self) -> str:
        if self.id is not None:
            return f"id {self.id}"
        return f"'{self.name}'" + ("" if self.entity_type is None else f" ({self.entity_type})")


class Way(NamedTuple):
    """One way to read a relation."""

    source: End
    relation_type: str
    target: End


class Related(NamedTuple):
    """A relation: a line can perhaps be read in several ways, of which the names of entities decide."""

    ways: list[Way]
    properties: dict[str, object] | None
    mark: Mark


@dataclass(slots=True)
class Node:
    """An entity."""

    name: str
    entity_type: str
    properties: dict[str, object] | None
    observations: list[Noted]
    mark: Mark

    @property
    def key(self) -> tuple[str, str]:
        """The name and type, as they are stored."""
        return nfc(self.name), nfc(self.entity_type)


@dataclass(slots=True)
class Document:
    """A document: the graph of one category. A category of None was left out."""

    category: str | None
    mark: Mark
    entities: list[Node] = field(default_factory=list)
    relations: list[Related] = field(default_factory=list)

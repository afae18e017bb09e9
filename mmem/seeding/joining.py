"""Documents joined: what all of them say about a category is one graph."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from mmem.arguments import ObservationInput
from mmem.outcomes import Notice
from mmem.seeding.graphs import Document, Node, Noted, Related
from mmem.yamltext import Mark, fault, place

Key = tuple[str, str]  # an entity's name and type


@dataclass(slots=True)
class Joined:
    """The graph of a category."""

    category: str
    files: list[str] = field(default_factory=list)
    entities: dict[Key, Node] = field(default_factory=dict)
    relations: list[Related] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


def join(documents: Iterable[Document], default_category: str) -> list[Joined]:
    """Return a graph for each category, in the order in which they are named first.

    Raises `InvalidArguments` where two places say different things about the same.
    """
    graphs: dict[str, Joined] = {}
    for document in documents:
        category = document.category or default_category
        graph = graphs.setdefault(category, Joined(category))
        if document.mark.name not in graph.files:
            graph.files.append(document.mark.name)
        for entity in document.entities:
            _add(graph, entity)
        graph.relations += document.relations
    return list(graphs.values())


def _add(graph: Joined, entity: Node) -> None:
    earlier = graph.entities.get(entity.key)
    if earlier is not None:
        earlier.properties = merged(earlier.properties, entity.properties, earlier.mark, entity.mark)
        entity.observations[:0] = earlier.observations
        earlier.observations = entity.observations
        entity = earlier
    graph.entities[entity.key] = entity
    if len(entity.observations) > 1:
        entity.observations = _distinct(graph, entity)


def merged(
    first: dict[str, object] | None, second: dict[str, object] | None, first_mark: Mark, second_mark: Mark
) -> dict[str, object] | None:
    """Return the properties of both. Raises `InvalidArguments` where they differ."""
    if not first or not second:
        return first or second
    for key in first.keys() & second.keys():
        if not same_value(first[key], second[key]):
            raise fault(second_mark, f"the property '{key[:60]}' has another value here than in {place(first_mark)}")
    return {**first, **second}


def _distinct(graph: Joined, entity: Node) -> list[Noted]:
    """Return the observations without repeated ones. Raises `InvalidArguments` where two exclude each other."""
    kept: dict[object, Noted] = {}
    for noted in entity.observations:
        given = noted.given
        key: object = given.text if given.is_plain else given.key
        first = kept.setdefault(key, noted)
        if first is noted:
            continue
        if not _same(first.given, given):
            what = "this text" if given.is_plain else _described(given.key)
            raise fault(noted.mark, f"'{entity.name}' has {what} with other details in {place(first.mark)} already")
        message = f"{place(noted.mark)}: '{entity.name}' has this observation in {place(first.mark)} already"
        graph.notices.append(Notice("skipped", message, place=place(noted.mark)))
    return list(kept.values())


def _described(key: Key) -> str:
    kind, source = key
    return f"an observation of type '{kind}'" + (f" from source '{source}'" if source else "")


def _same(first: ObservationInput, second: ObservationInput) -> bool:
    return (first.text, first.timestamp) == (second.text, second.timestamp) and same_value(
        first.properties or {}, second.properties or {}
    )


def same_value(first: object, second: object) -> bool:
    """Tell whether two JSON values are the same: true isn't 1, and the order of keys means nothing."""
    if first == second:
        return msgspec.json.encode(first, order="sorted") == msgspec.json.encode(second, order="sorted")
    return False

"""Seed files in, documents out: every form that entities, observations and relations can have."""

from collections.abc import Callable
from typing import TypeVar

from mmem.arguments import EntityInput, ObservationInput, RelationInput
from mmem.errors import InvalidArguments
from mmem.names import category_fault, nearest
from mmem.seeding import lines, nodes
from mmem.seeding.declared import (
    ASIDE,
    DOCUMENT,
    END,
    ENTITY,
    LISTED_ENTITY,
    NESTED_RELATION,
    OBSERVATION,
    RELATION,
    Keys,
)
from mmem.seeding.graphs import Document, End, Node, Noted, Related, Way
from mmem.yamltext import (
    MappingNode,
    Mark,
    ScalarNode,
    SequenceNode,
    compose,
    fault,
    is_absent,
    is_null,
    items,
)
from mmem.yamltext import Node as Yaml

_AN_OBSERVATION = "an observation is a text, 'type: text', or a record with a 'text'"

T = TypeVar("T")


def read(text: bytes, name: str) -> list[Document]:
    """Return the documents of a seed file. Raises `InvalidArguments` with the file, the line and the column."""
    return [_document(root) for root in compose(text, name)]


def _document(root: Yaml) -> Document:
    if not isinstance(root, MappingNode):
        raise fault(root.start_mark, "a graph is a mapping with 'entities' and 'relations'")
    found = nodes.fields(root, DOCUMENT, "a graph")
    document = Document(_category(found.get("category")), root.start_mark)
    if "entities" in found:
        _read_entities(found["entities"], document)
    for node in nodes.sequence(found.get("relations"), "relations", "- A uses B"):
        document.relations.append(_related(node, None))
    return document


def _category(node: Yaml | None) -> str | None:
    if node is None:
        return None
    name = nodes.text(node, "a category")
    if name and (problem := category_fault(name)):
        raise fault(node.start_mark, f"category {name[:60]!a} isn't a valid name: {problem}")
    return name or None


def _read_entities(node: Yaml, document: Document) -> None:
    if isinstance(node, MappingNode):
        for key, value in items(node):
            _read_entity(key, value, document)
        return
    if is_null(node):
        return
    if not isinstance(node, SequenceNode):
        raise fault(node.start_mark, "entities must be a mapping by name, or a list of records with a 'name'")
    for item in node.value:
        if not isinstance(item, MappingNode):
            raise fault(item.start_mark, "an entity of a list is a record: {name: ..., type: ...}")
        found = nodes.fields(item, LISTED_ENTITY, "an entity of a list")
        _add(found["name"], found, item.start_mark, document)


def _read_entity(key: ScalarNode, value: Yaml, document: Document) -> None:
    """Read what stands behind a name: a record, a list of observations, one text, or nothing."""
    found: nodes.Fields = {}
    if isinstance(value, MappingNode):
        found = nodes.fields(value, ENTITY, f"the entity '{key.value[:60]}'")
    elif isinstance(value, SequenceNode):
        found["observations"] = value
    elif not is_absent(value):
        if is_null(value):
            raise fault(
                value.start_mark, f"write '{value.value}' in quotes for the text, or nothing for no observation"
            )
        found["observations"] = SequenceNode("", [value], value.start_mark, value.end_mark)
    _add(key, found, key.start_mark, document)


def _add(named: Yaml, found: nodes.Fields, mark: Mark, document: Document) -> None:
    name = nodes.name(named, "an entity's name")
    entity_type = nodes.label(found.get("type"), "a type")
    properties = nodes.properties(found.get("properties"))
    if properties:
        _checked(found["properties"], lambda: EntityInput(name=name, properties=properties))
    example = "- a text"
    observations = [_noted(node) for node in nodes.sequence(found.get("observations"), "observations", example)]
    entity = Node(name, entity_type, properties, observations, mark)
    document.entities.append(entity)
    for node in nodes.sequence(found.get("relations"), "relations", "- uses B"):
        document.relations.append(_related(node, End(name, entity_type, None, mark)))


def _noted(node: Yaml) -> Noted:
    if isinstance(node, ScalarNode):
        return Noted(ObservationInput(text=nodes.text(node, "an observation")), node.start_mark)
    if not isinstance(node, MappingNode):
        raise fault(node.start_mark, f"{_AN_OBSERVATION}, not {nodes.kind(node)}")
    given = {key.value for key, _ in items(node)}
    others = given - OBSERVATION.keys()
    has_record_keys = bool(given & {"text", "type", "observationType"})
    if len(others) > 1 and not has_record_keys:
        raise _two_types(node, others)
    if not others or has_record_keys:
        return _observation(node, nodes.fields(node, OBSERVATION, "an observation"))
    kind = others.pop()
    found = nodes.fields(node, {kind: OBSERVATION["text"], **ASIDE}, "an observation")
    key = next(key for key, _ in node.value if key.value == kind)
    found["text"] = found.pop(kind)
    return _observation(node, {"type": key, **found})


def _two_types(node: MappingNode, others: set[str]) -> InvalidArguments:
    """Return the error for several keys of which each could be the type: one may be a misspelt other key."""
    keys = [key for key, _ in items(node) if key.value in others]
    misspelt = next((key for key in keys if nearest(key.value, list(ASIDE), 1)), None)
    if misspelt is not None:
        return fault(misspelt.start_mark, nodes.unknown(misspelt.value, OBSERVATION, "an observation"))
    first, second = keys[:2]
    both = f"'{first.value[:40]}' and '{second.value[:40]}'"
    return fault(second.start_mark, f"{both} can't both be the type of one observation; begin each with '- '")


def _observation(node: Yaml, found: nodes.Fields) -> Noted:
    text = nodes.text(found["text"], "the text of an observation")
    kind = nodes.label(found.get("type"), "a type")
    source = nodes.label(found.get("source"), "a source")
    timestamp = nodes.timestamp(found.get("timestamp"))
    properties = nodes.properties(found.get("properties"))

    def made() -> ObservationInput:
        return ObservationInput(
            text=text,
            observation_type=kind or None,
            source=source or None,
            timestamp=timestamp,
            properties=properties,
        )

    return Noted(_checked(found.get("properties", node), made), node.start_mark)


def _related(node: Yaml, source: End | None) -> Related:
    """Return a relation; below an entity, which is its source, or on its own."""
    if isinstance(node, ScalarNode):
        return Related(_line_ways(node, source), None, node.start_mark)
    if not isinstance(node, MappingNode):
        raise fault(node.start_mark, f"a relation is a line or a record, not {nodes.kind(node)}")
    keys, what = (RELATION, "a relation") if source is None else (NESTED_RELATION, "a relation below an entity")
    _require_no_line(node, keys)
    found = nodes.fields(node, keys, what)
    begin = _end(found["from"]) if source is None else source
    kind = nodes.name(found["type"], "a relation's type")
    end = _end(found["to"])
    properties = nodes.properties(found.get("properties"))
    if properties:
        checked = found["properties"]
        _checked(checked, lambda: RelationInput(source_end=1, target_end=1, relation_type=kind, properties=properties))
    return Related([Way(begin, kind, end)], properties, node.start_mark)


def _require_no_line(node: MappingNode, keys: Keys) -> None:
    """Say what has happened to a line that has a colon in it."""
    if len(node.value) == 1 and (key := node.value[0][0]).value not in keys and " " in str(key.value):
        raise fault(key.start_mark, "the ': ' makes a mapping of this line; put the whole line in quotes")


def _line_ways(node: ScalarNode, source: End | None) -> list[Way]:
    line = nodes.text(node, "a relation")
    if len(line) > lines.LONGEST:
        raise fault(node.start_mark, f"a line of {len(line):,} characters can't be a relation")
    found = lines.ways(line, node.start_mark) if source is None else lines.ways_from(source, line, node.start_mark)
    if not found:
        form = "A uses B" if source is None else "uses B"
        raise fault(node.start_mark, f"'{line[:60]}' isn't a relation; write a line such as '{form}', or a record")
    return found


def _checked(node: Yaml, make: Callable[[], T]) -> T:
    """Return what a request is made of; what it refuses stands at the node."""
    try:
        return make()
    except ValueError as error:
        raise fault(node.start_mark, str(error)) from None


def _end(node: Yaml) -> End:
    if isinstance(node, ScalarNode):
        return End(nodes.name(node, "an entity's name"), None, None, node.start_mark)
    if not isinstance(node, MappingNode):
        raise fault(node.start_mark, f"an end of a relation is a name, or {{name, type}}, not {nodes.kind(node)}")
    found = nodes.fields(node, END, "an end of a relation")
    if "id" not in found and "name" not in found:
        raise fault(node.start_mark, "an end of a relation needs a 'name' or an 'id'")
    name = nodes.name(found["name"], "an entity's name") if "name" in found else ""
    entity_type = nodes.label(found["type"], "a type") if "type" in found else None
    return End(name, entity_type, nodes.id_of(found["id"]) if "id" in found else None, node.start_mark)

"""Changes as a person reads them: what goes, what comes, under the entity that it is about."""

from collections.abc import Iterator

import msgspec

from mmem.arguments import ObservationInput
from mmem.lookup import Found
from mmem.records import Observation, Properties
from mmem.seeding.changes import ChangedEntity, Changes, NewRelation
from mmem.visible import visible


def difference(changes: Changes, files: list[str]) -> list[str]:
    """Return lines: `+` begins what comes, `-` what goes, a space what stays. None where nothing changes."""
    lines = [visible(line) for line in _lines(changes)]
    heads = [f"--- {changes.category}", f"+++ {visible(', '.join(files))}"]
    return [*heads, *lines] if lines else []


def _lines(changes: Changes) -> Iterator[str]:
    for entity in changes.changed:
        yield f" {_entity(entity.found.name, entity.found.entity_type)}"
        yield from _changed(entity)
    for node, observations in changes.new:
        yield f"+{_entity(*node.key)}"
        yield from _properties("+", node.properties)
        for given in observations:
            yield f"+  • {_observation(given)}"
    for _, relation, properties in changes.changed_relations:
        yield f" {_relation(relation)}"
        yield from _property_changes(properties.before, properties.after)
    for relation in changes.relations:
        yield f"+{_relation(relation)}"
        yield from _properties("+", relation.properties)


def _changed(entity: ChangedEntity) -> Iterator[str]:
    if entity.properties is not None:
        yield from _property_changes(entity.properties.before, entity.properties.after)
    for before, given in entity.replaced:
        yield f"-  • {_observation(before)}"
        yield f"+  • {_observation(given, before.observation_type)}"
    for before in entity.removed:
        yield f"-  • {_observation(before)}"
    for given in entity.added:
        yield f"+  • {_observation(given)}"


def _property_changes(before: Properties | None, after: Properties | None) -> Iterator[str]:
    old, new = before or {}, after or {}
    for key in dict.fromkeys((*old, *new)):
        lines = [
            *_properties("-", {key: old[key]} if key in old else {}),
            *_properties("+", {key: new[key]} if key in new else {}),
        ]
        if len(lines) < 2 or lines[0][1:] != lines[1][1:]:
            yield from lines


def _properties(sign: str, properties: Properties | None) -> Iterator[str]:
    for key, value in (properties or {}).items():
        shown = value if isinstance(value, str) and not _looks_like_json(value) else msgspec.json.encode(value).decode()
        yield f"{sign}  {key}: {shown}"


def _looks_like_json(text: str) -> bool:
    """Tell whether a text would be taken for a number, a list or nothing at all, were it shown without quotes."""
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text != text.strip() or not text
    return True


def _observation(one: Observation | ObservationInput, kind: str = "") -> str:
    kind = one.observation_type or kind
    details = [detail for detail in (one.source, one.timestamp if isinstance(one, ObservationInput) else "") if detail]
    shown = f"{kind}: {one.text}" if kind else one.text
    if details:
        shown += f"  [{' · '.join(details)}]"
    return shown + (f"  {msgspec.json.encode(one.properties).decode()}" if one.properties else "")


def _entity(name: str, entity_type: str) -> str:
    return f"{name} ({entity_type})" if entity_type else name


def _relation(relation: NewRelation) -> str:
    def end(found: Found) -> str:
        return _entity(found.name, found.entity_type)

    return f"{end(relation.source)} → {relation.relation_type} → {end(relation.target)}"

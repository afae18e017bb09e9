"""What a record of another program means: an entity, a relation, observations, or nothing that may be guessed.

The shapes are those that a census of public memory files met. A field that isn't known becomes a property, and what
was read in another way than it was written is told as a repair.
"""

from typing import Any

from mmem.importing.fields import a, id_of, properties_of, stored
from mmem.importing.given import Aside, EntityRecord, LooseTexts, Record, RelationRecord, Text
from mmem.importing.texts import OUR_FIELDS, text_of, texts_of
from mmem.values import nfc

_MARKER = "_aim"
_KINDS = ("entity", "relation")
_NAMES = ("name", "label", "id", "entityName", "entity_name")
_TYPES = ("entityType", "entity_type", "kind", "category", "label")
_MORE_TEXTS = ("facts", "notes", "content", "description", "observation")
_FROM = ("from", "source", "from_entity", "fromEntity", "from_id", "from_name")
_TO = ("to", "target", "to_entity", "toEntity", "to_id", "to_name")
_RELATIONS = ("relationType", "relation_type", "relation", "relType", "kind")
_OURS = {"type", "id", "name", "entityType", "properties", "observations", "category"}
_OUR_RELATION = {"type", "id", "from", "fromType", "to", "toType", "relationType", "properties", "fromId", "toId"}


def is_document(value: object) -> bool:
    """Tell whether a value is a whole graph rather than a record."""
    if not isinstance(value, dict):
        return False
    if not value:
        return True
    listed = any(isinstance(value.get(key), list) for key in ("entities", "relations"))
    return listed and "name" not in value and not _has_ends(value) and value.get("type") not in _KINDS


def is_marker(value: object) -> bool:
    """Tell whether a value is the line with which a fork marks its files."""
    return isinstance(value, dict) and value.get("type") == _MARKER


def record(value: object, repairs: list[str], listed: str | None = None) -> Record:
    """Return what a value means; `listed` says of which list of a document it is an element.

    Raises `Aside`.
    """
    if not isinstance(value, dict):
        raise Aside("a record is a JSON object" if listed is None else f"an element of {listed} is a JSON object")
    kind = value.get("type")
    if listed is None:
        if kind == "entity" and "from" not in value and "source" not in value:
            return _entity(value, repairs)
        listed = "entities" if kind == "entity" else "relations" if kind == "relation" else None
        if listed is None:
            return _untyped(value, kind, repairs)
    elif kind not in (None, "entity", "relation") and listed == "relations" and _has_ends(value):
        return _relation(value, repairs)
    if listed == "entities":
        if _has_ends(value) and "name" not in value:
            repairs.append("a relation stored as an entity was read as a relation")
            return _relation(value, repairs)
        return _entity(value, repairs)
    if listed == "observations":
        return _loose(value, repairs)
    if "name" in value and not _has_ends(value) and ("entityType" in value or "observations" in value):
        repairs.append("an entity stored as a relation was read as an entity")
        return _entity(value, repairs)
    return _relation(value, repairs)


def _untyped(value: dict[str, Any], kind: object, repairs: list[str]) -> Record:
    """Return what a record without a known type means, by its shape."""
    if kind in ("observation", "observations"):
        if kind == "observation":
            repairs.append("an observation stored as a record of its own was added to its entity")
        return _loose(value, repairs)
    if _has_ends(value):
        if kind is not None and not any(key in value for key in _RELATIONS):
            repairs.append("the record's type was read as the relation's")
        elif kind is None:
            repairs.append("a record without a type was read as a relation")
        return _relation(value, repairs)
    if kind is None and "name" in value and ("entityType" in value or "observations" in value):
        repairs.append("a record without a type was read as an entity")
        return _entity({key: one for key, one in value.items() if (key, one) != ("_type", "entity")}, repairs)
    if isinstance(kind, str):
        raise Aside(f"'{kind[:60]}' is no kind of record that a memory has")
    keys = ", ".join(list(value)[:8]) or "none"
    raise Aside(f"neither an entity nor a relation (its keys: {keys[:100]})")


def _has_ends(value: dict[str, Any]) -> bool:
    return any(key in value for key in _FROM) and any(key in value for key in _TO)


def _entity(value: dict[str, Any], repairs: list[str]) -> EntityRecord:
    name, entity_type, texts = value.get("name"), value.get("entityType"), value.get("observations")
    usual = isinstance(name, str) and isinstance(entity_type, str) and isinstance(texts, list)
    if usual and len(value) == 4 and value.get("type") == "entity":
        key = stored(name, "name"), stored(entity_type, "entityType", empty=True)
        return EntityRecord(*key, texts_of(texts or [], repairs), {})
    used = {"name", "entityType", "observations"}
    if value.get("type", "entity") in _KINDS or value.get("entityType") is None:
        used.add("type")
    ours = value.keys() <= _OURS and _are_ours(value)
    if ours:
        used |= {"id", "category"}
    return EntityRecord(
        stored(_named(value, used, repairs), "name"),
        stored(_typed(value, used, repairs), "entityType", empty=True),
        _observations(value, used, repairs),
        properties_of(value, used),
        id_of(value.get("id")) if ours else None,
        value.get("category") if ours else None,
    )


def _are_ours(value: dict[str, Any]) -> bool:
    """Tell whether mmem wrote a record: ids are kept then, where they are free."""
    texts = value.get("observations")
    return (
        id_of(value.get("id")) is not None
        and isinstance(value.get("category", ""), str)
        and isinstance(texts, list)
        and all(isinstance(one, dict) and "id" in one and one.keys() <= OUR_FIELDS for one in texts)
    )


def _named(value: dict[str, Any], used: set[str], repairs: list[str]) -> str:
    for key in _NAMES:
        name = value.get(key)
        if name is None or (isinstance(name, str) and key != "name" and not name):
            continue
        used.add(key)
        if isinstance(name, int) and not isinstance(name, bool):
            repairs.append(f'the number under "{key}" was read as a name')
            return str(name)
        if key != "name":
            repairs.append(f'the name was read from "{key}"')
        if not isinstance(name, str):
            raise Aside(f'"{key}" is {a(name)}, not a text')
        return name
    raise Aside(f'an entity without a "name" (its keys: {", ".join(list(value)[:8])[:100]})')


def _typed(value: dict[str, Any], used: set[str], repairs: list[str]) -> str:
    kind = value.get("type")
    is_kind = isinstance(kind, str) and kind not in _KINDS
    for key in _TYPES[:2] if is_kind else _TYPES:
        given = value.get(key)
        if given is None or (key != "entityType" and (key in used or not isinstance(given, str))):
            continue
        used.add(key)
        if not isinstance(given, str):
            raise Aside(f'"{key}" is {a(given)}, not a text')
        if key != "entityType":
            repairs.append(f'the type was read from "{key}"')
        return given
    if isinstance(kind, str) and is_kind:
        used.add("type")
        repairs.append('the type was read from "type"')
        return kind
    repairs.append('an entity without an "entityType" has the type ""')
    return ""


def _observations(value: dict[str, Any], used: set[str], repairs: list[str]) -> list[Text]:
    given = value.get("observations")
    if given is None:
        return _other_texts(value, used, repairs)
    if isinstance(given, str):
        repairs.append("observations that are one text were read as a list of it")
        given = [given]
    if not isinstance(given, list):
        raise Aside(f'"observations" is {a(given)}, not a list')
    return texts_of(given, repairs)


def _other_texts(value: dict[str, Any], used: set[str], repairs: list[str]) -> list[Text]:
    """Return the observations of a record that has none under their own name."""
    found: list[Text] = []
    for key in _MORE_TEXTS:
        given = value.get(key)
        items = given if isinstance(given, list) else [given]
        if given is not None and all(isinstance(one, str) for one in items):
            used.add(key)
            repairs.append(f'observations were read from "{key}"')
            found += texts_of(items, repairs)
    if not found:
        repairs.append('an entity without "observations" has none')
    return found


def _loose(value: dict[str, Any], repairs: list[str]) -> LooseTexts:
    named = next((key for key in ("name", "entityName", "entity") if isinstance(value.get(key), str)), None)
    if named is None:
        raise Aside("an observation that doesn't name its entity")
    kind = value.get("entityType")
    used = {"type", named, *(["entityType"] if kind is None or isinstance(kind, str) else [])}
    listed = next((key for key in ("observations", "addedObservations", "contents") if key in value), None)
    rest = {key: one for key, one in value.items() if key not in used}
    if listed is None:
        texts = [text_of(rest, repairs)]
    else:
        given = rest.pop(listed)
        if isinstance(given, str):
            repairs.append("observations that are one text were read as a list of it")
            given = [given]
        if not isinstance(given, list):
            raise Aside(f'"{listed}" is {a(given)}, not a list')
        texts = texts_of(given, repairs)
        if more := rest.keys() - {"entityId"}:
            repairs.append(f"of such a record only the texts are stored, not {', '.join(sorted(more))[:60]}")
    return LooseTexts(stored(value[named], "name"), nfc(kind) if isinstance(kind, str) else None, texts)


def without_relations(value: object) -> tuple[Any, list[dict[str, Any]]]:
    """Return an entity without the relations that stand in it, and these; any other value as it is."""
    inside = value.get("relations") if isinstance(value, dict) and not _has_ends(value) else None
    if not isinstance(value, dict) or not isinstance(inside, list) or not inside:
        return value, []
    for one in inside:
        if not isinstance(one, dict) or any(key in one for key in _FROM):
            return value, []
        if not all(any(isinstance(one.get(key), str) for key in keys) for keys in (_TO, _RELATIONS)):
            return value, []
    return {key: one for key, one in value.items() if key != "relations"}, inside


def _relation(value: dict[str, Any], repairs: list[str]) -> RelationRecord:
    source, target, relation_type = value.get("from"), value.get("to"), value.get("relationType")
    usual = isinstance(source, str) and isinstance(target, str) and isinstance(relation_type, str)
    if usual and len(value) == 4 and value.get("type") == "relation":
        return RelationRecord(
            stored(source, "from"), None, stored(target, "to"), None, stored(relation_type, "relationType"), {}
        )
    kind = value.get("type")
    used = {"type"} if kind in (None, *_KINDS) else set()
    from_name, from_type = _end(value, "from", _FROM, used, repairs)
    to_name, to_type = _end(value, "to", _TO, used, repairs)
    for key in _RELATIONS:
        relation_type = value.get(key)
        if relation_type is not None:
            used.add(key)
            if key != "relationType":
                repairs.append(f'the relation\'s type was read from "{key}"')
            break
    else:
        relation_type = kind if kind != "relation" else None
        used.add("type")
    if not isinstance(relation_type, str):
        raise Aside(f'a relation without a "relationType" (its keys: {", ".join(list(value)[:8])[:100]})')
    ours = value.keys() <= {*_OUR_RELATION, "category"} and "fromType" in value and id_of(value.get("id")) is not None
    ours = ours and isinstance(value.get("category", ""), str)
    if ours:
        used |= {"id", "fromId", "toId", "category"}
    return RelationRecord(
        from_name,
        from_type,
        to_name,
        to_type,
        stored(relation_type, "relationType"),
        properties_of(value, used) if len(value) > len(used) or value.keys() - used else {},
        id_of(value.get("id")) if ours else None,
        value.get("category") if ours else None,
    )


def _end(
    value: dict[str, Any], side: str, keys: tuple[str, ...], used: set[str], repairs: list[str]
) -> tuple[str, str | None]:
    """Return the name at an end of a relation, and its type where it is given."""
    for key in keys:
        given = value.get(key)
        if given is not None:
            break
    else:
        raise Aside(f'a relation without a "{side}" (its keys: {", ".join(list(value)[:8])[:100]})')
    used.add(key)
    if key != side:
        repairs.append(f'the end "{side}" was read from "{key}"')
    kind = value.get(f"{side}Type")
    if kind is None or isinstance(kind, str):
        used.add(f"{side}Type")
    if isinstance(given, dict) and isinstance(given.get("name"), str):
        kind = given.get("entityType", given.get("type", kind))
        if more := given.keys() - {"name", "type", "entityType"}:
            repairs.append(f'of the end "{side}" only name and type are stored, not {", ".join(sorted(more))[:60]}')
        given = given["name"]
    if not isinstance(given, str):
        raise Aside(f'"{key}" is {a(given)}, not a name')
    return stored(given, key), stored(kind, f"{side}Type", empty=True) if isinstance(kind, str) else None

"""The format of seed files as a JSON Schema, for editors: `python -m mmem.seeding.schema` prints it."""

import json
import sys
from typing import Any

from mmem.names import MAX_CATEGORY
from mmem.seeding.declared import (
    ASIDE,
    DOCUMENT,
    END,
    ENTITY,
    LISTED_ENTITY,
    NESTED_RELATION,
    OBSERVATION,
    RELATION,
    Key,
    Keys,
    Kind,
)
from mmem.values import MAX_NAME

Schema = dict[str, Any]

# An editor takes an unquoted 1.10 for a number and ~ for nothing; mmem takes them for the texts they are.
_TEXT: Schema = {"type": ["string", "number", "boolean", "null"]}
_NAME: Schema = {"type": ["string", "number", "boolean"], "minLength": 1, "maxLength": MAX_NAME}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _list(*items: Schema) -> Schema:
    return {"type": ["array", "null"], "items": {"anyOf": list(items)}}


_VALUES: dict[Kind, Schema] = {
    "anything": {},
    "category": {"type": "string", "pattern": "^[a-z0-9_-]*$", "maxLength": MAX_CATEGORY},
    "end": _ref("end"),
    "entities": _ref("entities"),
    "id": {"type": ["string", "integer"], "pattern": "^[0-9]{1,18}$"},
    "name": _NAME,
    "nested relations": _list(_ref("nestedLine"), _ref("nestedRelation")),
    "observations": _list(_ref("observation")),
    "properties": {"type": ["object", "null"]},
    "relations": _list(_ref("line"), _ref("relation")),
    "text": _TEXT,
    "timestamp": {"type": ["string", "null"], "pattern": r"^\d{4}-\d\d-\d\d([Tt ].*)?$"},
    "type": {**_TEXT, "maxLength": MAX_NAME},
}


def schema() -> Schema:
    """Return the JSON Schema of a document, draft 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A graph for mmem seed",
        "description": "The entities of one category, what is known about them, and how they are related.",
        **_record(DOCUMENT),
        "$defs": {
            "entities": {"anyOf": [_by_name(), _list(_ref("listedEntity"))]},
            "entity": _record(ENTITY),
            "listedEntity": _record(LISTED_ENTITY),
            "observation": {"anyOf": [_TEXT, _ref("record"), _ref("typed")]},
            "record": _record(OBSERVATION),
            "typed": _typed(),
            "line": _line("A uses B", 'What is written `"User Service" uses Database` has a name in quotes.', 3),
            "nestedLine": _line("uses B", "It goes from the entity that it stands under.", 2),
            "relation": _record(RELATION),
            "nestedRelation": _record(NESTED_RELATION),
            "end": {"anyOf": [_NAME, {**_record(END), "anyOf": [{"required": ["name"]}, {"required": ["id"]}]}]},
        },
    }


def _record(keys: Keys) -> Schema:
    record: Schema = {
        "type": "object",
        "properties": {name: _value(key) for name, key in keys.items()},
        "additionalProperties": False,
    }
    required = [name for name, key in keys.items() if key.required]
    several = [
        {"anyOf": [{"required": [one]} for one in names]} for name in required if len(names := _names(keys, name)) > 1
    ]
    plain = [name for name in required if len(_names(keys, name)) == 1 and not keys[name].same_as]
    if plain:
        record["required"] = plain
    if several:
        record["allOf"] = several[:1]
    return record


def _names(keys: Keys, name: str) -> list[str]:
    """Return a key and the other words for it."""
    own = keys[name].same_as or name
    return [one for one, key in keys.items() if (key.same_as or one) == own]


def _value(key: Key) -> Schema:
    return {"description": key.about, **_VALUES[key.kind]}


def _by_name() -> Schema:
    about = "What is known about it: a record, a list of observations, one observation, or nothing."
    values = [_ref("entity"), {"type": "array", "items": _ref("observation")}, _TEXT]
    return {"type": "object", "additionalProperties": {"description": about, "anyOf": values}}


def _typed() -> Schema:
    return {
        "description": "A fact with its type: `version: Updated to v2.0`.",
        "type": "object",
        "properties": {name: _value(key) for name, key in ASIDE.items()},
        "additionalProperties": _TEXT,
        "minProperties": 1,
        "maxProperties": 1 + len(ASIDE),
        "not": {"anyOf": [{"required": [name]} for name in OBSERVATION if name not in ASIDE]},
    }


def _line(example: str, about: str, words: int) -> Schema:
    pattern = r"\S+(\s+\S+)" + f"{{{words - 1},}}"
    return {"description": f"A relation as a line: `{example}`. {about}", "type": "string", "pattern": pattern}


def main() -> None:
    """Print the schema."""
    sys.stdout.write(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

"""The input schema of a tool, made of its request type.

What hosts are known to choke on isn't there: the root is a plain object, and there is no `$ref`, no `$schema` and no
combinator at all. Where a request accepts several shapes, the schema shows one of them: an object before an array
before a text before a number. `Meta(extra={"shown": ...})` chooses otherwise: `str`, or False for nothing.
"""

from collections.abc import Collection
from typing import Any

from msgspec import inspect

from mmem.arguments import Request

Schema = dict[str, Any]

_SCALARS: dict[type[inspect.Type], str] = {
    inspect.StrType: "string",
    inspect.IntType: "integer",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
}
_PREFERRED = (inspect.StructType, inspect.ListType, inspect.DictType, inspect.LiteralType, *_SCALARS)


def input_schema(request: type[Request], without: Collection[str] = ()) -> Schema:
    """Return the JSON Schema of a request's arguments, without the arguments named."""
    struct = inspect.type_info(request)
    assert isinstance(struct, inspect.StructType)
    fields = [field for field in struct.fields if field.encode_name not in without]
    return _object(fields)


def _object(fields: Collection[inspect.Field]) -> Schema:
    shown = {field.encode_name: _schema(field.type) for field in fields}
    required = [field.encode_name for field in fields if field.required]
    schema: Schema = {"type": "object", "properties": {name: one for name, one in shown.items() if one is not None}}
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False}


def _schema(kind: inspect.Type, described: Schema | None = None) -> Schema | None:
    """Return the schema of a type, or None where it isn't to be shown."""
    if isinstance(kind, inspect.Metadata):
        return _annotated(kind, described or {})
    if isinstance(kind, inspect.UnionType):
        return _schema(_chosen(kind), described)
    if isinstance(kind, inspect.StructType):
        return {**_object(kind.fields), **(described or {})}
    if isinstance(kind, inspect.ListType):
        return {"type": "array", "items": _schema(kind.item_type), **(described or {})}
    if isinstance(kind, inspect.DictType):
        return {"type": "object", **(described or {})}
    if isinstance(kind, inspect.LiteralType):
        return {"type": "string", "enum": list(kind.values), **(described or {})}
    return {"type": _SCALARS[type(kind)], **(described or {})}


def _annotated(kind: inspect.Metadata, described: Schema) -> Schema | None:
    shown = (kind.extra or {}).get("shown", True)
    if shown is False:
        return None
    described = {**(kind.extra_json_schema or {}), **described}
    return {"type": "string", **described} if shown is str else _schema(kind.type, described)


def _chosen(union: inspect.UnionType) -> inspect.Type:
    """Return the member of a union that the schema shows."""
    members = [member for member in union.types if not isinstance(member, inspect.NoneType)]
    return min(members, key=lambda member: _rank(member))


def _rank(kind: inspect.Type) -> int:
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    return _PREFERRED.index(type(kind))

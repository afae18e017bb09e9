"""The lines that the reference server writes, read by their types in one go: most files have no others."""

from typing import Annotated

from msgspec import Meta, MsgspecError, Struct, json

from mmem.importing.given import EntityRecord, Record, RelationRecord, Text
from mmem.values import MAX_NAME, MAX_TEXT

_Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]


class _UsualEntity(Struct, tag_field="type", tag="entity", forbid_unknown_fields=True, gc=False):
    name: _Name
    entityType: Annotated[str, Meta(max_length=MAX_NAME)]  # noqa: N815  # the file's own name
    observations: list[str]


class _UsualRelation(
    Struct, tag_field="type", tag="relation", forbid_unknown_fields=True, rename={"from_name": "from"}.get, gc=False
):
    from_name: _Name
    to: _Name
    relationType: _Name  # noqa: N815


_read_usual = json.Decoder(_UsualEntity | _UsualRelation).decode
_USUAL_KEYS = 4


def usual(raw: bytes) -> Record | None:
    """Return the record of a line just as the reference server writes it; None for any other, and for what is odd."""
    if raw.count(b'":') != _USUAL_KEYS or b"\\" in raw or b'" :' in raw or len(raw) > MAX_TEXT:  # a key may stand twice
        return None
    try:
        read = _read_usual(raw)
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if isinstance(read, _UsualEntity):
        key = read.name + read.entityType
        if not key.isascii() or read.name.isspace():
            return None
        return EntityRecord(read.name, read.entityType, [Text(text) for text in read.observations], {})
    names = read.from_name, read.to, read.relationType
    if not all(map(str.isascii, names)) or any(map(str.isspace, names)):
        return None
    return RelationRecord(read.from_name, None, read.to, None, read.relationType, {})

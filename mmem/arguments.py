"""The parts that requests are made of: typed, checked once here, trusted everywhere after.

A request is a frozen msgspec Struct; `mmem.requests` makes one from JSON values, words make one directly.
A `ValueError` raised in a `__post_init__` becomes `invalid_arguments` with the path of the part.
"""

import re
from typing import Annotated, Any, cast

from msgspec import Meta, Struct, json
from msgspec.structs import force_setattr

from mmem.timestamps import is_timestamp
from mmem.values import MAX_DEPTH, MAX_NAME, MAX_PROPERTIES, MAX_TEXT, faults, is_too_deep, nfc

Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
Type = Annotated[str, Meta(max_length=MAX_NAME)]
Id = int | str
Limit = Annotated[int, Meta(ge=1, le=100_000)]
Override = Annotated[bool | None, Meta(description="Replace what exists instead of skipping it")]
Unshown = Annotated[Type | None, Meta(extra={"shown": False})]  # accepted, but left out of a tool's schema
Offset = Annotated[int, Meta(ge=0, le=MAX_TEXT << 20)]

_ID = re.compile(r"[0-9]{1,18}", re.ASCII)


class Request(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What every tool takes: the category, or None for the default one."""

    category: str | None = None


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """An object inside a request."""


def id_number(given: Id | None) -> int | None:
    """Return an id as a number; `1` and `"1"` are the same. Raises `ValueError` for anything else."""
    if given is None:
        return None
    if isinstance(given, str):
        if not _ID.fullmatch(given):
            raise ValueError(f"an id is a number such as 7, not {given[:40]!r}")
        return int(given)
    if not 0 <= given < 10**18:
        raise ValueError(f"an id is a number from 1 up, not {given}")
    return given


def _require_name(label: str, name: str) -> None:
    if not name or name.isspace():
        raise ValueError(f"{label} can't be empty or blank")
    _require_key(label, name)


def _require_key(label: str, text: str | None) -> None:
    """Raise `ValueError` where a text of allowed length grows beyond it in the form it is stored in."""
    if text is not None and not text.isascii() and len(nfc(text)) > MAX_NAME:
        raise ValueError(f"{label} has more than {MAX_NAME:,} characters in Unicode's normal form C")


def _require_properties(properties: dict[str, Any]) -> None:
    try:
        text = json.encode(properties)
    except TypeError:
        text = b""
    if (size := len(text)) > MAX_PROPERTIES:
        raise ValueError(f"properties have {size:,} bytes as JSON; at most {MAX_PROPERTIES:,} are allowed")
    if is_too_deep(properties, text):
        raise ValueError(f"properties are nested deeper than {MAX_DEPTH} levels")
    if not text or json.decode(text) != properties:  # from Python: keys that aren't texts
        for path, fault in faults(properties, ".properties"):
            raise ValueError(f"{path}: {fault}")


class ObservationInput(Part, frozen=True):
    """An observation to store. Without type and source it is a plain text, like a bare string."""

    text: str
    observation_type: Annotated[Type | None, Meta(description="With source, unique on an entity")] = None
    timestamp: Annotated[str | None, Meta(description="ISO 8601; default: now")] = None
    source: Annotated[Type | None, Meta(description="Where it is known from")] = None
    properties: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if len(self.text) * 4 > MAX_TEXT and (size := len(self.text.encode())) > MAX_TEXT:
            raise ValueError(f"text has {size:,} bytes; at most {MAX_TEXT:,} are allowed")
        if self.observation_type is not None and not self.observation_type.isascii():
            _require_key("observationType", self.observation_type)
            force_setattr(self, "observation_type", nfc(self.observation_type))
        _require_key("source", self.source)
        if self.properties is not None:
            _require_properties(self.properties)
        if self.timestamp is not None and not is_timestamp(self.timestamp):
            raise ValueError(
                f"timestamp {self.timestamp[:40]!r} isn't an ISO 8601 date or date and time, "
                "such as 2026-01-31 or 2026-01-31T09:30:00Z"
            )

    @property
    def key(self) -> tuple[str, str]:
        """The observationType and source, which make it unique on its entity; `""` where not given."""
        return self.observation_type or "", self.source or ""

    @property
    def is_plain(self) -> bool:
        """Whether it was given neither type nor source."""
        return not self.observation_type and not self.source


AnyObservation = str | ObservationInput


def observation_inputs(given: list[AnyObservation] | None, key: str = "observations") -> list[ObservationInput]:
    """Return bare strings as plain observations, the rest as they are. Raises `ValueError` that names the place."""
    return [
        _plain(item, f".{key}[{index}]") if isinstance(item, str) else item for index, item in enumerate(given or ())
    ]


def _plain(text: str, path: str) -> ObservationInput:
    try:
        return ObservationInput(text=text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


class EntityInput(Part, frozen=True):
    """An entity to create; name and type are stored in NFC."""

    name: Name
    entity_type: Type | None = None
    properties: dict[str, Any] | None = None
    observations: list[AnyObservation] | None = None

    def __post_init__(self) -> None:
        _require_name("name", self.name)
        _require_key("entityType", self.entity_type)
        if self.properties is not None:
            _require_properties(self.properties)
        if self.observations:
            force_setattr(self, "observations", observation_inputs(self.observations))

    @property
    def inputs(self) -> list[ObservationInput]:
        """The observations, plain texts among them made the same."""
        return cast(list[ObservationInput], self.observations or [])


class Reference(Part, frozen=True):
    """An entity by id, or by name and type. A type of None was left out."""

    id: Id | None = None
    name: Type | None = None
    entity_type: Type | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "id", id_number(self.id))
        if self.id is None and self.name is None:
            raise ValueError("name an entity by id, or by name and entityType")
        _require_key("name", self.name)
        _require_key("entityType", self.entity_type)

    def __str__(self) -> str:
        if self.id is not None:
            return f"id {self.id}"
        return f"'{self.name}'" + ("" if self.entity_type is None else f" of type '{self.entity_type}'")


class End(Part, frozen=True):
    """A relation's end: a reference in which the type is called `type` or `entityType`."""

    id: Id | None = None
    name: Type | None = None
    type: Type | None = None
    entity_type: Unshown = None

    def __post_init__(self) -> None:
        if self.type is not None and self.entity_type is not None and self.type != self.entity_type:
            raise ValueError("type and entityType differ; give one of them")
        self.reference()

    def reference(self) -> Reference:
        """Return the end as a reference."""
        entity_type = self.entity_type if self.type is None else self.type
        return Reference(id=self.id, name=self.name, entity_type=entity_type)


AnyReference = int | Type | Reference
AnyEnd = int | Type | End  # a `Reference` once it is parsed


def as_reference(given: int | str | Reference | End) -> Reference:
    """Return a reference: a number is an id, a text is a name (never an id). Raises `ValueError`."""
    if isinstance(given, Reference):
        return given
    if isinstance(given, End):
        return given.reference()
    return Reference(id=given) if isinstance(given, int) else Reference(name=given)


def reference_at(path: str, given: int | str | Reference | End) -> Reference:
    """Return what stands at a path as a reference. Raises `ValueError` that names the place."""
    try:
        return as_reference(given)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def references(given: list[AnyReference]) -> list[Reference]:
    """Return a request's list of entities as references. Raises `ValueError` that names the place."""
    return [reference_at(f".entities[{index}]", one) for index, one in enumerate(given)]


_RELATION_KEYS = {
    "source_end": "from",
    "target_end": "to",
    "relation_type": "relationType",
    "properties": "properties",
}


class RelationInput(Part, frozen=True, rename=_RELATION_KEYS.get):
    """A relation to create, from one entity to another."""

    source_end: AnyEnd
    target_end: AnyEnd
    relation_type: Annotated[Name, Meta(description="In active voice: works_at")]
    properties: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "source_end", reference_at(".from", self.source_end))
        force_setattr(self, "target_end", reference_at(".to", self.target_end))
        _require_name("relationType", self.relation_type)
        if self.properties is not None:
            _require_properties(self.properties)
        force_setattr(self, "relation_type", nfc(self.relation_type))

    @property
    def source(self) -> Reference:
        """The end it goes from."""
        return as_reference(self.source_end)

    @property
    def target(self) -> Reference:
        """The end it goes to."""
        return as_reference(self.target_end)

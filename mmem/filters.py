"""What a search is narrowed to: conditions on an entity and on an observation, as SQL with parameters."""

import sqlite3
from typing import Any

import msgspec
from msgspec import Struct

from mmem.schema import ENTITY_ROWS
from mmem.timestamps import instant
from mmem.values import nfc

Parameters = list[object]

MAX_SQLITE = (1 << 63) - 1
INSTANT = "mmem_instant"  # an SQL function: the moment of a timestamp, as `timestamps.instant` has it


class Filters(Struct, frozen=True, kw_only=True):
    """Conditions that all have to hold; None where there is none. Types are compared in NFC, as they are stored."""

    entity_type: str | None = None
    observation_type: str | None = None
    source: str | None = None
    since: str | None = None
    until: str | None = None
    properties: dict[str, Any] | None = None
    relation_type: str | None = None

    @property
    def choose_observations(self) -> bool:
        """Whether some of the conditions are on observations, so that an entity's own row can't meet them."""
        return any(one is not None for one in (self.observation_type, self.source, self.since, self.until))

    def prepare(self, conn: sqlite3.Connection) -> None:
        """Give a connection the functions that the conditions need."""
        if self.since is not None or self.until is not None:
            conn.create_function(INSTANT, 1, instant, deterministic=True)

    def on_entity(self, first: int) -> tuple[str, Parameters]:
        """Return the condition on the entity `e` alone; parameters are numbered from `first` on."""
        where = _Where(first)
        if self.entity_type is not None:
            where.add("e.entity_type = {}", nfc(self.entity_type))
        if self.relation_type is not None:
            of_type = "FROM relations WHERE relation_type = {}"
            kind = nfc(self.relation_type)
            where.add(f"e.id IN (SELECT from_entity_id {of_type} UNION SELECT to_entity_id {of_type})", kind, kind)
        for key, value in (self.properties or {}).items():
            where.add(_has("e", value), key, *_value(value))
        return where.text, where.parameters

    def on_observation(self, first: int) -> tuple[str, Parameters]:
        """Return the condition on the observation `o` and its entity `e`."""
        alone = Filters(entity_type=self.entity_type, relation_type=self.relation_type)
        text, parameters = alone.on_entity(first)
        where = _Where(first + len(parameters))
        if self.observation_type is not None:
            where.add("o.observation_type = {}", nfc(self.observation_type))
        if self.source is not None:
            where.add("o.source = {}", self.source)
        if self.since is not None:
            where.add(f"{INSTANT}(o.timestamp) >= {{}}", instant(self.since))
        if self.until is not None:
            where.add(f"{INSTANT}(o.timestamp) <= {{}}", instant(self.until))
        for key, value in (self.properties or {}).items():
            either = f"({_has('e', value)} OR {_has('o', value)})"
            where.add(either, *[key, *_value(value)] * 2)
        return f"{text} AND {where.text}", [*parameters, *where.parameters]

    def on_entity_of_any(self, first: int) -> tuple[str, Parameters]:
        """Return the condition on the entity `e` and, where there are some on observations, that it has one to fit."""
        if not (self.choose_observations or self.properties):
            return self.on_entity(first)
        observed, parameters = self.on_observation(first)
        of_one = f"EXISTS (SELECT 1 FROM observations o WHERE o.entity_id = e.id AND {observed})"
        if self.choose_observations:
            return of_one, parameters
        alone, more = self.on_entity(first + len(parameters))
        return f"({of_one} OR {alone})", [*parameters, *more]

    def on_either(self, first: int) -> tuple[str, Parameters]:
        """Return the condition on a row that has the entity `e` and perhaps an observation `o`."""
        if self == Filters():
            return "1", []
        observed, parameters = self.on_observation(first)
        if self.choose_observations:
            return f"o.id IS NOT NULL AND {observed}", parameters
        entity, more = self.on_entity(first + len(parameters))
        return f"CASE WHEN o.id IS NOT NULL THEN {observed} ELSE {entity} END", [*parameters, *more]

    def on_observation_alone(self, first: int) -> tuple[str, Parameters]:
        """Return the condition on the observation `o` that doesn't look at its entity, which is known to fit."""
        alone = Filters(observation_type=self.observation_type, source=self.source, since=self.since, until=self.until)
        return alone.on_observation(first)

    def on_row(self, first: int) -> tuple[str, Parameters]:
        """Return the condition on a row of our index: an entity's own row, or an observation's."""
        if self == Filters():
            return "1", []
        observed, parameters = self.on_observation(first)
        joined = "observations o JOIN entities e ON e.id = o.entity_id WHERE o.id = fts_content.rowid"
        of_observation = f"EXISTS (SELECT 1 FROM {joined} AND {observed})"
        if self.choose_observations:
            return f"fts_content.rowid > 0 AND {of_observation}", parameters
        entity, more = self.on_entity(first + len(parameters))
        of_entity = f"EXISTS (SELECT 1 FROM entities e WHERE e.id = fts_content.rowid + {ENTITY_ROWS} AND {entity})"
        return f"CASE WHEN fts_content.rowid > 0 THEN {of_observation} ELSE {of_entity} END", [*parameters, *more]


class _Where:
    """Collects conditions with numbered parameters."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._conditions: list[str] = []
        self.parameters: Parameters = []

    def add(self, condition: str, *values: object) -> None:
        places = [f"?{self._first + len(self.parameters) + number}" for number in range(len(values))]
        self._conditions.append(condition.format(*places))
        self.parameters += values

    @property
    def text(self) -> str:
        return " AND ".join(self._conditions) or "1"


def _has(row: str, value: object) -> str:
    """Return the condition that a row's properties hold a value under a key: two placeholders, one for a constant."""
    if value is None or isinstance(value, bool):
        test = f"p.type = '{msgspec.json.encode(value).decode()}'"
    elif isinstance(value, str):
        test = "p.type = 'text' AND p.value = {}"
    elif isinstance(value, int | float):
        test = "p.type IN ('integer', 'real') AND p.value = {}"
    else:
        test = "p.type IN ('array', 'object') AND json(p.value) = json({})"
    each = f"json_each(CASE WHEN json_valid({row}.properties) THEN {row}.properties ELSE '{{{{}}}}' END)"
    return f"EXISTS (SELECT 1 FROM {each} p WHERE p.key = {{}} AND {test})"


def _value(value: object) -> Parameters:
    if value is None or isinstance(value, bool):
        return []
    if isinstance(value, int) and value > MAX_SQLITE:  # SQLite reads such a number in JSON as a real one
        return [float(value)]
    return [value] if isinstance(value, str | int | float) else [msgspec.json.encode(value).decode()]

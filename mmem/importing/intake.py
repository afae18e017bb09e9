"""Storing imported records in one category, some thousands at a time with a statement for each kind of row."""

from collections.abc import Sequence
from enum import Enum
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from mmem import jsontext
from mmem.importing.given import EntityRecord, RelationRecord, Text
from mmem.importing.placing import Held, held_by
from mmem.importing.seen import Seen
from mmem.lookup import Found, entities_by_name, remember_names
from mmem.relations import COLUMNS, Key, existing
from mmem.schema import drop_indexes, make_indexes
from mmem.transaction import Transaction, id_list

PLACEHOLDER = {"placeholder": True}  # the properties of an entity that only a relation names

_NUMBERED = "an observation whose type and source were taken got a number behind its type"
_OBSERVATIONS = "id, entity_id, observation_type, content, timestamp, source, properties"


class Became(Enum):
    """What became of a record that was stored."""

    CREATED = "created"
    MERGED = "merged"
    ALREADY_THERE = "already there"


class Stored(NamedTuple):
    """What became of each record of a batch, and, by their places, what was mended in some on the way."""

    became: list[Became]
    repairs: dict[int, list[str]]


class Tally:
    """The rows that came to be in a category."""

    def __init__(self) -> None:
        """Begin with none."""
        self.entities = self.observations = self.relations = self.placeholders = 0


class Ids:
    """The ids that new rows of a table get: their own, where the file is ours and they are free."""

    def __init__(self, transaction: Transaction, table: str, *, keep: bool) -> None:
        """Give ids after all that were ever given."""
        self._transaction = transaction
        self._table = table
        self._keep = keep
        self._next = transaction.next_id(table)
        self._brings_some = False
        self._taken: set[int] = set()  # of the ids that matter to a batch

    def prepare(self, wanted: Sequence[int | None]) -> None:
        """Look up which of the ids that a batch brings are taken."""
        ids = [id for id in wanted if id is not None] if self._keep else []
        self._taken = set()
        self._brings_some = bool(ids)
        if ids:
            statement = f"SELECT id FROM {self._table} WHERE id IN (SELECT value FROM json_each(?))"
            self._taken = {id for (id,) in self._transaction.conn.execute(statement, (id_list(ids),))}

    def give(self, wanted: int | None) -> int:
        """Return the id for a new row."""
        if not self._brings_some:
            id = self._next
            self._next = id + 1
            return id
        if wanted is None or wanted in self._taken:
            wanted = self._next
        self._taken.add(wanted)
        self._next = max(self._next, wanted + 1)
        return wanted


class Intake:
    """Stores records in one category's transaction."""

    def __init__(self, transaction: Transaction, cache: int, *, large: bool) -> None:
        """Begin; a category in which nothing was ever stored keeps the ids of our own files. `cache` is in KiB.

        With `large`, such a category gets its indexes when everything is stored, by `finish`.
        """
        self.category = transaction.category
        self.tally = Tally()
        self.seen = Seen(transaction.next_id("entities"))
        self._transaction = transaction
        transaction.conn.execute(f"PRAGMA cache_size = -{cache}")  # what doesn't fit goes to the log again and again
        tables = ("entities", "observations", "relations")
        fresh = all(transaction.next_id(table) == 1 for table in tables)
        self._indexes_later = fresh and large
        if self._indexes_later:
            drop_indexes(transaction.conn)
        self._entity_ids, self._observation_ids, self._relation_ids = (
            Ids(transaction, table, keep=fresh) for table in tables
        )

    def finish(self) -> None:
        """Make what was put off, once everything is stored."""
        if self._indexes_later:
            make_indexes(self._transaction.conn)

    def entities(self, records: Sequence[EntityRecord]) -> Stored:
        """Store entities, or what stored ones lack of them."""
        transaction = self._transaction
        transaction.defer_index()
        known: dict[tuple[str, str], int] = {}
        by_name: dict[str, list[int]] = {}
        for found in entities_by_name(transaction, {record.name for record in records}):
            known[found.name, found.entity_type] = found.id
            by_name.setdefault(found.name, []).append(found.id)
        before = set(known.values())
        self._entity_ids.prepare([record.id for record in records])
        ids: list[int] = []
        new: dict[int, EntityRecord] = {}
        created: set[int] = set()
        for place, record in enumerate(records):
            id = known.get(record[:2])
            if id is None:
                id = known[record[:2]] = self._entity_ids.give(record.id)
                new[id] = record
                by_name.setdefault(record.name, []).append(id)
                created.add(place)
            ids.append(id)
        self.seen.add((Found(id, *record[:2]) for record, id in zip(records, ids, strict=True)), by_name, new)
        stored = Stored([Became.ALREADY_THERE] * len(records), {})
        again = [place for place, record in enumerate(records) if record.properties and place not in created]
        changed = self._properties(records, ids, again, new, stored) if again else set()
        rows = [(id, *record[:2], _json(record.properties)) for id, record in sorted(new.items())]
        transaction.insert("entities", "id, name, entity_type, properties", rows)
        remember_names(transaction, [Found(id, *record[:2]) for id, record in new.items()])
        observed = self._observe(records, ids, before, stored)
        self.tally.entities += len(new)
        for became, places in ((Became.MERGED, changed | observed), (Became.CREATED, created)):
            for place in places:
                stored.became[place] = became
        return stored

    def _properties(
        self,
        records: Sequence[EntityRecord],
        ids: list[int],
        again: list[int],
        new: dict[int, EntityRecord],
        stored: Stored,
    ) -> set[int]:
        """Give entities that are met again the properties that they lack; return the places of these records."""
        held = _stored_properties(self._transaction, "entities", {ids[place] for place in again} - new.keys())
        changed = set()
        updates: dict[int, dict[str, Any]] = {}
        for place in again:
            id = ids[place]
            first = new.get(id)
            own = held.setdefault(id, dict(first.properties) if first is not None else {})
            if _completed(own, records[place].properties, stored, place):
                changed.add(place)
                if first is not None:
                    new[id] = first._replace(properties=own)
                else:
                    updates[id] = own
        if updates:
            rows = [(id, _json(own)) for id, own in updates.items()]
            self._transaction.update("entities", ["properties"], rows, extra=", updated_at = unixepoch()")
            self._transaction.defer_index()
        return changed

    def _observe(self, records: Sequence[EntityRecord], ids: list[int], before: set[int], stored: Stored) -> set[int]:
        """Store the observations that the entities don't hold; return the places of records that had some."""
        wanted = {id for record, id in zip(records, ids, strict=True) if record.observations and id in before}
        held = held_by(self._transaction, wanted) if wanted else {}
        texts = [(place, text) for place, record in enumerate(records) for text in record.observations]
        self._observation_ids.prepare([text.id for _, text in texts])
        observed = set()
        rows = []
        for place, text in texts:
            entity = held.get(ids[place])
            if entity is None:
                entity = held[ids[place]] = Held()
            key = entity.place(text)
            if key is not None:
                if key[0] != text.observation_type and text.observation_type:
                    stored.repairs.setdefault(place, []).append(_NUMBERED)
                observed.add(place)
                id = self._observation_ids.give(text.id)
                rows.append((id, ids[place], key[0], text.text, text.timestamp, key[1], text.properties))
        rows.sort()
        self._transaction.insert("observations", _OBSERVATIONS, rows)
        self.tally.observations += len(rows)
        return observed

    def add_texts(self, given: Sequence[tuple[Found, list[Text]]]) -> Stored:
        """Add observations to entities that are known."""
        return self.entities([EntityRecord(found.name, found.entity_type, texts, {}) for found, texts in given])

    def relations(self, placed: Sequence[tuple[int, int, RelationRecord]]) -> Stored:
        """Store relations between entities, or the properties that stored ones lack."""
        keys: list[Key] = [(source, target, record.relation_type) for source, target, record in placed]
        self._relation_ids.prepare([record.id for *_, record in placed])
        rows: dict[Key, tuple[Any, ...]] = {}
        again: list[int] = []  # places of relations that stand in the batch already
        for place, (key, (*_, record)) in enumerate(zip(keys, placed, strict=True)):
            if key in rows:
                again.append(place)
            else:
                rows[key] = (self._relation_ids.give(record.id), *key, _json(record.properties))
        inserted = sorted(rows.values(), key=itemgetter(1, 2, 3))  # so near each other in the indexes
        created = self._transaction.insert("relations", COLUMNS, inserted, or_ignore=True)
        self.tally.relations += created
        stored = Stored([Became.CREATED] * len(keys), {})
        if created < len(rows):
            ids = existing(self._transaction, list(rows))
            again += [place for place, key in enumerate(keys) if ids[key] != rows[key][0]]
        for place in again:
            stored.became[place] = Became.ALREADY_THERE
        self._complete(keys, [(place, placed[place][2]) for place in sorted(set(again))], stored)
        return stored

    def _complete(self, keys: list[Key], again: list[tuple[int, RelationRecord]], stored: Stored) -> None:
        """Give relations that are met again the properties that they lack."""
        more = [(place, record.properties) for place, record in again if record.properties]
        if not more:
            return
        ids = existing(self._transaction, [keys[place] for place, _ in more])
        held = _stored_properties(self._transaction, "relations", set(ids.values()))
        updates: dict[int, dict[str, Any]] = {}
        for place, properties in more:
            id = ids[keys[place]]
            if _completed(held[id], properties, stored, place):
                stored.became[place] = Became.MERGED
                updates[id] = held[id]
        rows = [(id, _json(own)) for id, own in updates.items()]
        self._transaction.update("relations", ["properties"], rows)


def _json(properties: dict[str, Any]) -> str | None:
    return jsontext.encode(properties) if properties else None


def _stored_properties(transaction: Transaction, table: str, ids: set[int]) -> dict[int, dict[str, Any]]:
    statement = f"SELECT id, properties FROM {table} WHERE id IN (SELECT value FROM json_each(?))"
    found: dict[int, dict[str, Any]] = {}
    for id, text in transaction.conn.execute(statement, (id_list(ids),)):
        value = msgspec.json.decode(text) if text else {}
        found[id] = value if isinstance(value, dict) else {"_value": value}
    return found


def _completed(own: dict[str, Any], given: dict[str, Any], stored: Stored, place: int) -> bool:
    """Give properties what they lack of others, and tell whether they lacked any; what differs stays as it was."""
    missing = {key: value for key, value in given.items() if key not in own}
    for key, value in given.items():
        if key in own and own[key] != value:
            reason = f"the property '{key[:60]}' was there already with another value, which stays"
            stored.repairs.setdefault(place, []).append(reason)
    own.update(missing)
    return bool(missing)

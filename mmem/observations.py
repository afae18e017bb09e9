"""Observations: which place each one takes on its entity, and the statements that store them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from mmem import jsontext
from mmem.arguments import ObservationInput
from mmem.outcomes import Notice
from mmem.records import Observation
from mmem.transaction import Transaction, id_list

Key = tuple[str, str]  # observationType and source: unique on an entity

_COLUMNS = "id, entity_id, observation_type, content, timestamp, source, properties"
_PLAIN: Key = ("", "")


class Placement(NamedTuple):
    """What became of a given observation: the record if it was stored, what it replaced, or why it wasn't."""

    stored: Observation | None
    replaced: int | None = None  # the id whose text was replaced
    holder: int | None = None  # the id that holds the key or the text, where nothing was stored


class Slots:
    """The keys and texts an entity holds, and the rule by which the next observation finds its place.

    The first plain text of an entity takes the key `("", "")`. Where another text stands there, a plain text
    takes the type `note-2`, `note-3`, ...: the first one free. A plain text that is held already is skipped.
    """

    def __init__(self, entity_id: int) -> None:
        """Begin with an entity that holds nothing."""
        self.entity_id = entity_id
        self.keys: dict[Key, int] = {}
        self._holders: dict[str, set[int]] = {}
        self._texts: dict[int, str] = {}
        self._key_of: dict[int, Key] = {}
        self._reserved: dict[Key | None, str] = {}
        self._next_note = 2
        self._had_plain = False

    def hold(self, key: Key, observation: int, text: str | None = None) -> None:
        """Note that an observation stands at a key, with its text where that is known."""
        self.keys[key] = observation
        self._key_of[observation] = key
        if text is not None:
            self.hold_text(text, observation)

    def hold_text(self, text: str, observation: int) -> None:
        """Note that an observation has a text, instead of the one it had."""
        if (before := self._texts.get(observation)) is not None:
            self._holders[before].discard(observation)
        self._texts[observation] = text
        self._holders.setdefault(text, set()).add(observation)

    def reserve(self, key: Key, text: str) -> None:
        """Note that the request puts a text at a key, so that no plain text relies on what stands there."""
        self._reserved[key] = text

    def holder_of(self, text: str) -> int | None:
        """Return the id of an observation that has this text, and will have it when the request is done."""
        holders = self._holders.get(text, ())
        return min((one for one in holders if self._reserved.get(self._key_of.get(one), text) == text), default=None)

    def key_for(self, given: ObservationInput, override: bool) -> tuple[Key, int | None]:
        """Return the key that an observation takes, and the id of the observation that stands there."""
        key = given.key
        if key == _PLAIN:
            first, self._had_plain = not self._had_plain, True
            if _PLAIN in self.keys and not (override and first):
                key = self._free_note(given.text)
        return key, self.keys.get(key)

    def _free_note(self, text: str) -> Key:
        while (key := (f"note-{self._next_note}", "")) in self.keys or self._reserved.get(key, text) != text:
            self._next_note += 1
        return key


class Writer:
    """Collects the observations of one request and stores them with a statement each for new and changed."""

    def __init__(self, transaction: Transaction, now: str, override: bool) -> None:
        """Prepare for one request; `now` is the timestamp of observations that give none."""
        self._transaction = transaction
        self._now = now
        self._override = override
        self._first = self._next = transaction.next_id("observations")
        self._inserts: dict[int, tuple[object, ...]] = {}
        self._updates: dict[int, tuple[object, ...]] = {}

    @property
    def inserted(self) -> int:
        """How many new rows are waiting."""
        return len(self._inserts)

    def place_all(self, given: Sequence[tuple[Slots, ObservationInput]]) -> list[Placement]:
        """Decide where a request's observations go, and keep them for `store`.

        With override, what the request replaces under a type or a source doesn't count as held when a plain text
        looks for its place, wherever it stands in the request.
        """
        if self._override:
            for slots, item in given:
                if not item.is_plain:
                    slots.reserve(item.key, item.text)
        placed = [self._place(slots, item) for slots, item in given]
        last = {placement.stored.id: index for index, placement in enumerate(placed) if placement.stored}
        return [
            placement
            if placement.stored is None or last[placement.stored.id] == index
            else Placement(None)  # a later one replaced it, and says so
            for index, placement in enumerate(placed)
        ]

    def place_only(self, entity_id: int, given: ObservationInput) -> Observation:
        """Keep the one observation of a new entity, which finds every place free."""
        observation, self._next = self._next, self._next + 1
        return self._keep(entity_id, observation, given.key, given)

    def _place(self, slots: Slots, given: ObservationInput) -> Placement:
        if given.is_plain and (holder := slots.holder_of(given.text)) is not None:
            slots.key_for(given, self._override)
            return Placement(None, holder=holder)
        key, occupant = slots.key_for(given, self._override)
        if occupant is not None and not self._override:
            return Placement(None, holder=occupant)
        if occupant is None:
            observation, self._next = self._next, self._next + 1
        else:
            observation = occupant
        slots.hold(key, observation, given.text)
        return Placement(self._keep(slots.entity_id, observation, key, given), replaced=occupant)

    def _keep(self, entity_id: int, observation: int, key: Key, given: ObservationInput) -> Observation:
        properties = given.properties or None
        timestamp = given.timestamp or self._now
        text = jsontext.encode(properties) if properties else None
        if observation < self._first:
            self._updates[observation] = (observation, given.text, timestamp, text)
        else:
            row = (observation, entity_id, key[0], given.text, timestamp, key[1], text)
            self._inserts[observation] = row
        return Observation(
            id=str(observation),
            observation_type=key[0],
            text=given.text,
            timestamp=timestamp,
            source=key[1],
            properties=properties,
        )

    def store(self) -> None:
        """Write what was placed."""
        self._transaction.insert("observations", _COLUMNS, list(self._inserts.values()))
        if self._updates:
            columns = ("content", "timestamp", "properties")
            self._transaction.update("observations", columns, list(self._updates.values()))


def not_stored(path: str, entity: str, entity_id: int, given: ObservationInput, placement: Placement) -> Notice:
    """Return the notice for an observation that was skipped, or that replaced another."""
    kind, source = given.key
    named = (
        f"of type '{kind}'" + (f" from source '{source}'" if source else "") if kind or source else "as a plain text"
    )
    if placement.replaced is not None:
        what = "the plain text" if given.is_plain else f"the observation {named}"
        message = f"{path}: {what} of {entity} (id {placement.replaced}) was replaced"
        return Notice("replaced", message, path=path, entityId=str(entity_id), id=str(placement.replaced))
    if given.is_plain:
        text = given.text if len(given.text) <= 60 else given.text[:57] + "..."
        message = f"{path}: {entity} holds the text '{text}' already (id {placement.holder}); it wasn't stored again"
    else:
        message = (
            f"{path}: {entity} has an observation {named} already (id {placement.holder}); this one wasn't stored: "
            "replace that with `override`, or give another type or source"
        )
    return Notice("skipped", message, path=path, entityId=str(entity_id), id=str(placement.holder))


def counts(transaction: Transaction, entity_ids: Iterable[int]) -> dict[int, int]:
    """Return how many observations each of the entities has; those without any are left out."""
    rows = transaction.conn.execute(
        "SELECT o.entity_id, count(*) FROM json_each(?) j CROSS JOIN observations o ON o.entity_id = j.value "
        "GROUP BY o.entity_id",
        (id_list(entity_ids),),
    )
    return dict(rows.fetchall())


def load_slots(transaction: Transaction, wanted: dict[int, list[ObservationInput]]) -> dict[int, Slots]:
    """Return the slots of existing entities, with all that matters to the given observations.

    It looks up just the keys and texts in question: an entity may hold thousands of others.
    """
    slots = {entity_id: Slots(entity_id) for entity_id in wanted}
    keys = {(entity_id, *item.key) for entity_id, items in wanted.items() for item in items}
    for entity_id, kind, source, observation in _at_keys(transaction, list(keys)):
        slots[entity_id].hold((kind, source), observation)
    plain = {
        entity_id: list(dict.fromkeys(item.text for item in items if item.is_plain))
        for entity_id, items in wanted.items()
    }
    given_plain = {id: given for id, given in plain.items() if given}
    for entity_id, text, observation in ids_with_texts(transaction, given_plain):
        slots[entity_id].hold_text(text, observation)
    crowded = [
        entity_id for entity_id, given in plain.items() if given and (_PLAIN in slots[entity_id].keys or len(given) > 1)
    ]
    for entity_id, kind, observation in _notes(transaction, crowded):
        slots[entity_id].hold((kind, ""), observation)
    return slots


def ids_at(transaction: Transaction, keys: Sequence[tuple[int, str, str]]) -> dict[tuple[int, str, str], int]:
    """Return the ids of the observations at `(entity id, observationType, source)`; what isn't there is left out."""
    rows = _at_keys(transaction, keys) if keys else ()
    return {(entity_id, kind, source): id for entity_id, kind, source, id in rows}


def keys_of(transaction: Transaction, entity_ids: Iterable[int], most: int) -> dict[int, list[tuple[str, str, int]]]:
    """Return, by entity, the observationType, source and id of its first observations, at most so many of each."""
    rows = transaction.conn.execute(
        "SELECT entity_id, observation_type, source, id FROM (SELECT o.entity_id, o.observation_type, o.source, o.id, "
        "row_number() OVER (PARTITION BY o.entity_id ORDER BY o.id) AS place "
        "FROM json_each(?) j CROSS JOIN observations o ON o.entity_id = j.value) WHERE place <= ?",
        (id_list(entity_ids), most),
    )
    keys: dict[int, list[tuple[str, str, int]]] = {}
    for entity_id, kind, source, id in rows:
        keys.setdefault(entity_id, []).append((kind, source, id))
    return keys


def _at_keys(transaction: Transaction, keys: Sequence[tuple[int, str, str]]) -> Iterable[tuple[int, str, str, int]]:
    columns = "o.entity_id, o.observation_type, o.source, o.id"
    if len(keys) == 1:
        where = "o.entity_id = ? AND o.observation_type = ? AND o.source = ?"
        return transaction.conn.execute(f"SELECT {columns} FROM observations o WHERE {where}", keys[0])
    return transaction.conn.execute(
        f"SELECT {columns} FROM json_each(?) j CROSS JOIN observations o ON o.entity_id = j.value ->> 0 "
        "AND o.observation_type = j.value ->> 1 AND o.source = j.value ->> 2",
        (msgspec.json.encode(keys).decode(),),
    )


def ids_with_texts(transaction: Transaction, texts: dict[int, list[str]]) -> Iterable[tuple[int, str, int]]:
    """Return `(entity id, text, observation id)` where one of the entities holds one of the texts."""
    columns = "o.entity_id, o.content, o.id"
    every = list(dict.fromkeys(text for given in texts.values() for text in given))
    if len(texts) == 1 and len(every) == 1:
        where = "o.entity_id = ? AND o.content = ?"
        return transaction.conn.execute(f"SELECT {columns} FROM observations o WHERE {where}", (*texts, *every))
    if not texts:
        return ()
    return transaction.conn.execute(
        f"SELECT {columns} FROM json_each(?) j CROSS JOIN observations o ON o.entity_id = j.value "
        "WHERE o.content IN (SELECT value FROM json_each(?))",
        (id_list(texts), msgspec.json.encode(every).decode()),
    )


def _notes(transaction: Transaction, entity_ids: Sequence[int]) -> Iterable[tuple[int, str, int]]:
    if not entity_ids:
        return ()
    return transaction.conn.execute(
        "SELECT o.entity_id, o.observation_type, o.id FROM json_each(?) j CROSS JOIN observations o "
        "ON o.entity_id = j.value AND o.observation_type >= 'note-' AND o.observation_type < 'note.' "
        "WHERE o.source = ''",
        (id_list(entity_ids),),
    )

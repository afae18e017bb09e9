"""Where an imported observation finds its place on its entity, so that no text is lost and none stands twice."""

import re
from collections.abc import Iterable

import msgspec

from mmem.importing.given import Text
from mmem.transaction import Transaction, id_list

Key = tuple[str, str]  # observationType and source: unique on an entity

What = tuple[str, str, str]  # a text, its timestamp and its properties

_PLAIN: Key = ("", "")
_NOTE = re.compile(r"note-\d+")


class Held:
    """What an entity holds: its texts by their keys."""

    __slots__ = ("_next_note", "_numbers", "_texts", "_whole", "at")

    def __init__(self) -> None:
        """Begin with nothing."""
        self.at: dict[Key, What] = {}
        self._texts: set[str] = set()
        self._whole: set[What] = set()
        self._numbers: dict[Key, int] = {}
        self._next_note = 2

    def hold(self, key: Key, what: What) -> None:
        """Note that a text stands at a key."""
        what = (*what[:2], _sorted(what[2]))
        self.at[key] = what
        self._texts.add(what[0])
        self._whole.add(what)

    def place(self, given: Text) -> Key | None:
        """Return the key that a text takes, None where the entity holds it already, with all that is said of it.

        A plain text takes the first free place, as every plain text does. Where a type and a source are taken by
        another text, it takes the type with the first free number behind it.
        """
        wanted = given.observation_type, given.source
        what = given.text, given.timestamp or "", _sorted(given.properties)
        bare = not (given.timestamp or given.properties)
        if wanted == _PLAIN and (given.text in self._texts if bare else what in self._whole):
            return None
        occupant = self.at.get(wanted)
        if occupant is None:
            key = wanted
        elif occupant == what or (bare and occupant[0] == given.text):
            return None
        elif wanted == _PLAIN or (not given.source and _NOTE.fullmatch(given.observation_type)):
            key = self._free_note()
        else:
            numbered = self._numbered(given, what)
            if numbered is None:
                return None
            key = numbered
        self.hold(key, what)
        return key

    def _free_note(self) -> Key:
        while (key := (f"note-{self._next_note}", "")) in self.at:
            self._next_note += 1
        return key

    def _numbered(self, given: Text, what: What) -> Key | None:
        """Return the first free key of a type with a number, None where the entity holds just that already."""
        if what in self._whole:
            return None
        wanted = given.observation_type, given.source
        number = self._numbers.get(wanted, 2)
        while (key := (f"{given.observation_type}-{number}", given.source)) in self.at:
            number += 1
        self._numbers[wanted] = number
        return key


def _sorted(properties: str | None) -> str:
    """Return properties as JSON in which the order of the keys makes no difference."""
    if not properties:
        return ""
    try:
        return msgspec.json.encode(msgspec.json.decode(properties), order="sorted").decode()
    except msgspec.MsgspecError:  # another program may store anything
        return properties


def held_by(transaction: Transaction, entity_ids: Iterable[int]) -> dict[int, Held]:
    """Return what stored entities hold."""
    held = {id: Held() for id in entity_ids}
    rows = transaction.conn.execute(
        "SELECT o.entity_id, o.observation_type, o.source, o.content, o.timestamp, o.properties FROM json_each(?) j "
        "CROSS JOIN observations o ON o.entity_id = j.value",
        (id_list(held),),
    )
    for entity_id, kind, source, text, timestamp, properties in rows:
        held[entity_id].hold((kind, source), (text, timestamp or "", properties or ""))
    return held

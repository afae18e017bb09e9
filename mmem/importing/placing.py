"""Where an imported observation finds its place on its entity, so that no text is lost and none stands twice."""

import re
from collections.abc import Iterable

from mmem.importing.given import Text
from mmem.transaction import Transaction, id_list

Key = tuple[str, str]  # observationType and source: unique on an entity

_PLAIN: Key = ("", "")
_NOTE = re.compile(r"note-\d+")


class Held:
    """What an entity holds: its texts by their keys."""

    __slots__ = ("_next_note", "_texts", "at")

    def __init__(self) -> None:
        """Begin with nothing."""
        self.at: dict[Key, str] = {}
        self._texts: set[str] = set()
        self._next_note = 2

    def hold(self, key: Key, text: str) -> None:
        """Note that a text stands at a key."""
        self.at[key] = text
        self._texts.add(text)

    def place(self, given: Text) -> Key | None:
        """Return the key that a text takes, None where the entity holds it already.

        A plain text takes the first free place, as every plain text does. Where a type and a source are taken by
        another text, it takes the type with the first free number behind it.
        """
        wanted = given.observation_type, given.source
        plain = wanted == _PLAIN or (not given.source and _NOTE.fullmatch(given.observation_type) is not None)
        if plain and given.text in self._texts:
            return None
        occupant = self.at.get(wanted)
        if occupant is None:
            key = wanted
        elif occupant == given.text:
            return None
        elif plain:
            key = self._free_note()
        else:
            numbered = self._numbered(given)
            if numbered is None:
                return None
            key = numbered
        self.hold(key, given.text)
        return key

    def _free_note(self) -> Key:
        while (key := (f"note-{self._next_note}", "")) in self.at:
            self._next_note += 1
        return key

    def _numbered(self, given: Text) -> Key | None:
        """Return the first free key of a type with a number, None where one of these has the text."""
        number = 2
        while (key := (f"{given.observation_type}-{number}", given.source)) in self.at:
            if self.at[key] == given.text:
                return None
            number += 1
        return key


def held_by(transaction: Transaction, entity_ids: Iterable[int]) -> dict[int, Held]:
    """Return what stored entities hold."""
    held = {id: Held() for id in entity_ids}
    rows = transaction.conn.execute(
        "SELECT o.entity_id, o.observation_type, o.source, o.content FROM json_each(?) j "
        "CROSS JOIN observations o ON o.entity_id = j.value",
        (id_list(held),),
    )
    for entity_id, kind, source, text in rows:
        held[entity_id].hold((kind, source), text)
    return held

"""Which entities the ends of imported relations mean."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mmem.importing.given import EntityRecord, RelationRecord
from mmem.importing.intake import PLACEHOLDER, Intake
from mmem.lookup import entities_by_name, near_names
from mmem.transaction import Transaction

_NEAR_UP_TO = 20  # missing ends for which a near name is looked up


class Missing(NamedTuple):
    """An end that no entity has, and the nearest name."""

    side: str
    name: str
    near: str | None

    def __str__(self) -> str:
        message = f"""its "{self.side}" is '{self.name}', and there is no such entity"""
        return message + (f"; did you mean '{self.near}'?" if self.near else "")


class Ends:
    """Resolves names in one category: what the files gave goes before what was there."""

    def __init__(self, transaction: Transaction, intake: Intake) -> None:
        """Resolve in a transaction."""
        self._transaction = transaction
        self._intake = intake
        self._near_left = _NEAR_UP_TO
        self.alone: dict[str, int] = {}  # the entities that share their name with no other
        self._stored: dict[str, dict[str, int]] = {}

    def look_up(self, names: Iterable[str]) -> None:
        """Look up names, for `find`."""
        rows = list(entities_by_name(self._transaction, sorted(set(names))))
        self.alone = {name: id for id, name, _ in rows}
        self._stored = {}
        for id, name, kind in rows:
            self._stored.setdefault(name, {})[kind] = id
        if len(self.alone) < len(rows):
            self.alone = {name: self.alone[name] for name, kinds in self._stored.items() if len(kinds) == 1}

    def has(self, *names: str) -> bool:
        """Tell whether each of the names is one that a file gave here."""
        found = {
            found.name for found in entities_by_name(self._transaction, names) if self._intake.seen.is_named(found.id)
        }
        return found >= set(names)

    def find(self, name: str, kind: str | None, repairs: list[str]) -> int | None:
        """Return the entity's id; without a type the first one in the files, or else the one without a type."""
        stored = self._stored.get(name)
        if stored is None:
            return None
        if kind is not None:
            return stored.get(kind)
        if len(stored) == 1:
            return next(iter(stored.values()))
        seen = self._intake.seen.order(name)
        if len(seen) > 1:
            repairs.append("a relation names an entity of several types; the first one in the file was taken")
        if seen:
            return seen[0]
        if "" not in stored:
            repairs.append("a relation names an entity of several types; the oldest one was taken")
        return stored.get("", min(stored.values()))

    def type_of(self, name: str, id: int) -> str:
        """Return the type of an entity that was found by a name."""
        return next(kind for kind, stored in self._stored[name].items() if stored == id)

    def missing(self, record: RelationRecord) -> list[Missing]:
        """Return the ends of a relation that no entity has."""
        ids = self.find(record.from_name, record.from_type, []), self.find(record.to_name, record.to_type, [])
        named = zip(("from", "to"), (record.from_name, record.to_name), ids, strict=True)
        return [Missing(side, name, self._near(name)) for side, name, id in named if id is None]

    def _near(self, name: str) -> str | None:
        if not self._near_left:
            return None
        self._near_left -= 1
        return next(iter(near_names(self._transaction, name)), None)

    def create(self, wanted: Sequence[tuple[str, str | None]]) -> None:
        """Create entities for names that none has, marked as such."""
        new = list(dict.fromkeys((name, kind or "") for name, kind in wanted))
        self._intake.entities([EntityRecord(name, kind, [], dict(PLACEHOLDER)) for name, kind in new])
        self._intake.tally.placeholders += len(new)

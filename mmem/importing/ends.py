"""Which entities the ends of imported relations mean."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mmem.importing.intake import PLACEHOLDER, Intake
from mmem.importing.seen import Names, Seen
from mmem.importing.shapes import EntityRecord, RelationRecord
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

    def __init__(self, transaction: Transaction, names: Names, intake: Intake) -> None:
        """Resolve in a transaction."""
        self._transaction = transaction
        self._names = names
        self._intake = intake
        self._near_left = _NEAR_UP_TO
        self._seen: dict[str, list[Seen]] = {}
        self._stored: dict[str, dict[str, int]] = {}

    def look_up(self, wanted: Iterable[tuple[str, str | None]]) -> None:
        """Look up names with their types, None for a type that isn't given."""
        pairs = list(wanted)
        self._seen = self._names.of(self._intake.category, {name for name, _ in pairs})
        unseen = {
            name
            for name, kind in pairs
            if not any(kind is None or one.entity_type == kind for one in self._seen.get(name, ()))
        }
        self._stored = {}
        for found in entities_by_name(self._transaction, unseen):
            self._stored.setdefault(found.name, {})[found.entity_type] = found.id

    def find(self, name: str, kind: str | None, repairs: list[str]) -> int | None:
        """Return the entity's id; without a type the first one in the files, or else the one without a type."""
        seen, stored = self._seen.get(name, []), self._stored.get(name, {})
        if kind is not None:
            return next((one.id for one in seen if one.entity_type == kind), None) or stored.get(kind)
        if seen:
            if len(seen) > 1:
                repairs.append("a relation names an entity of several types; the first one in the file was taken")
            return seen[0].id
        if len(stored) > 1 and "" not in stored:
            repairs.append("a relation names an entity of several types; the oldest one was taken")
        return stored.get("", min(stored.values(), default=None))

    def type_of(self, name: str, id: int) -> str:
        """Return the type of an entity that was found by a name."""
        kinds = {one.id: one.entity_type for one in self._seen.get(name, ())}
        kinds |= {stored: kind for kind, stored in self._stored.get(name, {}).items()}
        return kinds[id]

    def missing(self, record: RelationRecord, ids: tuple[int | None, int | None]) -> list[Missing]:
        """Return the ends of a relation that have no id."""
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

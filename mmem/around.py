"""The neighbourhood of entities: what relations lead to from them, whichever way they point or one way only."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import msgspec

from mmem.names import did_you_mean, nearest
from mmem.outcomes import Notice
from mmem.transaction import Transaction, id_list
from mmem.values import nfc

Direction = Literal["in", "out", "both"]


class Steps(NamedTuple):
    """Which relations lead on: those that go out of an entity, come in or both; of some types, or of any."""

    direction: Direction = "both"
    relation_types: Sequence[str] = ()

    @property
    def known_types(self) -> list[str]:
        """The types as they are given and as they are stored."""
        return list(dict.fromkeys([*self.relation_types, *map(nfc, self.relation_types)]))

    def reversed(self) -> "Steps":
        """Return the same steps, taken from their ends."""
        turned: dict[Direction, Direction] = {"in": "out", "out": "in", "both": "both"}
        return self._replace(direction=turned[self.direction])

    def taken(self, transaction: Transaction, starts: Iterable[int]) -> Iterable[tuple[int, int, int]]:
        """Return `(start, end, relation)` for each step from one of the entities to one that exists."""
        ways = ["out", "in"] if self.direction == "both" else [self.direction]
        of_types = _OF_TYPES if self.relation_types else ""
        statement = " UNION ALL ".join(_WAYS[way] + of_types for way in ways)
        types = [msgspec.json.encode(self.known_types).decode()] if self.relation_types else []
        return transaction.conn.execute(statement, [id_list(starts), *types])


ANY_STEP = Steps()


def around(transaction: Transaction, starts: Iterable[int], depth: int) -> list[int]:
    """Return the ids of the entities within so many relations of the starts, these among them, ascending.

    Each step looks at the relations of what the step before has found, and at no others.
    """
    return sorted(nearest_first(transaction, starts, depth))


def nearest_first(
    transaction: Transaction, starts: Iterable[int], depth: int, steps: Steps = ANY_STEP, most: int | None = None
) -> list[int]:
    """Return the same ids with the nearest first; it goes no further once there are more than `most`."""
    found = sorted(set(starts))
    reached = dict.fromkeys(found)
    for _ in range(depth):
        if not found or (most is not None and len(reached) > most):
            break
        found = sorted({end for _, end, _ in steps.taken(transaction, found)} - reached.keys())
        reached.update(dict.fromkeys(found))
    return list(reached)


def say_unknown_types(transaction: Transaction, relation_types: Sequence[str], path: str) -> None:
    """Say of each type that no relation of the category has it, and what is near."""
    for index, given in enumerate(relation_types):
        if transaction.conn.execute(_HAS_TYPE, (given, nfc(given))).fetchone()[0]:
            continue
        near = nearest(given, [name for (name,) in transaction.conn.execute(_TYPES)])
        where = f"{path}[{index}]"
        message = f"{where}: no relation is of the type '{given}' in category '{transaction.category}'"
        transaction.notice(Notice("not_found", message + did_you_mean(near), path=where, relationType=given))


_WAYS = {
    way: f"SELECT j.value, r.{end}, r.id FROM json_each(?1) j CROSS JOIN relations r ON r.{start} = j.value "
    f"CROSS JOIN entities e ON e.id = r.{end}"
    for way, start, end in (("out", "from_entity_id", "to_entity_id"), ("in", "to_entity_id", "from_entity_id"))
}
_OF_TYPES = " WHERE +r.relation_type IN (SELECT value FROM json_each(?2))"  # the +: else all of a type are read
_HAS_TYPE = "SELECT EXISTS (SELECT 1 FROM relations WHERE relation_type IN (?, ?))"
_TYPES = "SELECT DISTINCT relation_type FROM relations"

"""The neighbourhood of entities: what relations lead to from them, whichever way they point."""

from collections.abc import Iterable

from mmem.transaction import Transaction, id_list


def around(transaction: Transaction, starts: Iterable[int], depth: int) -> list[int]:
    """Return the ids of the entities within so many relations of the starts, these among them, ascending.

    Each step looks at the relations of what the step before has found, and at no others.
    """
    reached = set(starts)
    found = reached
    for _ in range(depth):
        found = {id for (id,) in transaction.conn.execute(_NEIGHBOURS, (id_list(found),))} - reached
        if not found:
            break
        reached |= found
    return sorted(reached)


_NEIGHBOURS = (
    "SELECT e.id FROM ("
    "SELECT r.to_entity_id AS id FROM json_each(?1) j CROSS JOIN relations r ON r.from_entity_id = j.value "
    "UNION SELECT r.from_entity_id FROM json_each(?1) j CROSS JOIN relations r ON r.to_entity_id = j.value"
    ") n CROSS JOIN entities e ON e.id = n.id"
)

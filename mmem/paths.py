"""The shortest way from one entity to another, looked for from both ends at once."""

from typing import NamedTuple

from mmem.around import Steps
from mmem.transaction import Transaction


class Route(NamedTuple):
    """The entities of a path and the relations between them, in order; both empty where none was found.

    `exhausted` tells that there is none of any length.
    """

    entities: list[int]
    relations: list[int]
    exhausted: bool = False


class _Side:
    """What can be reached from one end: each entity with the step before it."""

    def __init__(self, start: int, steps: Steps) -> None:
        self.before: dict[int, tuple[int, int] | None] = {start: None}
        self.edge = [start]
        self._steps = steps

    def advance(self, transaction: Transaction) -> None:
        """Take one more step, with one statement, from all that the last one reached."""
        edge: list[int] = []
        for start, end, relation in self._steps.taken(transaction, self.edge):
            if end not in self.before:
                self.before[end] = start, relation
                edge.append(end)
        self.edge = edge

    def way_back(self, entity: int) -> tuple[list[int], list[int]]:
        """Return the entities and relations from one that was reached back to the start."""
        entities, relations = [entity], []
        while (step := self.before[entity]) is not None:
            entity, relation = step
            entities.append(entity)
            relations.append(relation)
        return entities, relations


def shortest(transaction: Transaction, source: int, target: int, steps: Steps, most: int) -> Route:
    """Return a path of the fewest relations, at most so many; of several that are as short, always the same one.

    Whichever side has fewer entities to go on from takes the next step, so that little of a large graph is looked at.
    """
    forward, backward = _Side(source, steps), _Side(target, steps.reversed())
    if source == target:
        return Route([source], [])
    for _ in range(most):
        side, other = (forward, backward) if len(forward.edge) <= len(backward.edge) else (backward, forward)
        side.advance(transaction)
        if not side.edge:
            return Route([], [], exhausted=True)
        # All meetings after this step are as far from both ends: the step before had none.
        met = min((entity for entity in side.edge if entity in other.before), default=None)
        if met is not None:
            begin, first = forward.way_back(met)
            end, second = backward.way_back(met)
            return Route([*reversed(begin), *end[1:]], [*reversed(first), *second])
    return Route([], [])

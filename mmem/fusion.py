"""Two rankings made one, by the places that each gives."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

_FLATNESS = 10  # reciprocal rank fusion's k: a memory's lists are short, and first places count for more than with 60


def fused(*rankings: Sequence[T]) -> list[T]:
    """Return what is in any of the rankings, the best first: each place counts 1 / (k + place).

    See Cormack, Clarke and Buettcher, Reciprocal Rank Fusion, 2009.
    """
    scores: dict[T, float] = {}
    for ranking in rankings:
        for place, one in enumerate(ranking, 1):
            scores[one] = scores.get(one, 0.0) + 1 / (_FLATNESS + place)
    return sorted(scores, key=lambda one: -scores[one])

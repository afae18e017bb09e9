"""What is near to a query in meaning, beside what holds its words: nothing where the extra `semantic` isn't."""

from mmem import semantic
from mmem.filters import Filters
from mmem.fusion import fused
from mmem.index import Index
from mmem.neighbours import nearest
from mmem.query import Query
from mmem.ranking import Ranking, Word
from mmem.substrings import Hit
from mmem.transaction import Transaction

_AT_ALL = 0.1  # the likeness that says something beside words
_ENOUGH = 0.3  # and without any: of words that are nowhere, 2 to 10 % are as near to something


class Meaning:
    """The meaning of one query, in one transaction."""

    def __init__(self, transaction: Transaction, filters: Filters, index: Index, ranking: Ranking) -> None:
        """Look in the given transaction, at what the filters let through."""
        self._transaction = transaction
        self._filters = filters
        self._index = index
        self._ranking = ranking
        self.near: list[Hit] = []  # what was found, the nearest first
        self.likeness: dict[int, float] = {}  # of entities, up to 1

    def beside(self, hits: list[Hit], query: Query, words: list[Word]) -> list[Hit]:
        """Return hits ranked together with what is near in meaning; as they are where either there is none."""
        near = self._nearest(query, words, _AT_ALL) if hits else []
        if not near:
            return hits
        return fused(hits, near)

    def alone(self, query: Query, words: list[Word]) -> list[Hit]:
        """Return what is near in meaning where nothing else was found; a sign or a letter has no meaning."""
        return self._nearest(query, words, _ENOUGH) if query.has_long_word else []

    def _nearest(self, query: Query, words: list[Word], least: float) -> list[Hit]:
        if not (semantic.is_on() and self._transaction.layout.own):
            return []
        weights = [] if query.is_unspaced else self._ranking.weights(words)  # pieces of words aren't weighted
        weighted = list(zip(query.telling, weights, strict=False)) or [(query.text, 1.0)]
        found = nearest(self._transaction, self._filters, weighted, least)
        self.near = self._index.hits([one.observation_id for one in found])
        for hit, one in zip(self.near, found, strict=True):
            self.likeness.setdefault(hit.entity_id, one.likeness)
        return self.near

"""Ranking rows by the words they hold: each word counts for as much as it is rare.

A row's score is the sum of its words' inverse document frequencies, where a word stands for all of its forms at once.
On short texts that ranks better than BM25 over the forms as words of their own, where a rare form of a common word
counts as a rare word; how often a word stands in a row, and how long the row is, made no difference for the better.
See `tests/benchmarks/recall.py`.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from mmem.index import Index
from mmem.pieces import Pieces
from mmem.query import Term

FEW = 5  # rows: a word that fewer have is taken for the beginning of others, too


class Scored(NamedTuple):
    """A row of the index, its score, and which of the words it holds: a bit for each."""

    row: int
    score: float
    words: int


class Word(NamedTuple):
    """A word of a query: its bit, its expressions, and the rows that hold it, of a common one only the newest.

    A piece of a text without spaces has no expressions; `inside` is what to look for in such texts.
    """

    bit: int
    expression: str
    widest: str
    rows: list[int]
    inside: str | None = None


class Ranking:
    """Ranks the rows of one category's own index."""

    least = 4_000  # rows that are candidates for being ranked, in any index
    share = 400  # and in a large one: one of so many

    def __init__(self, index: Index, pieces: Pieces) -> None:
        """Rank the rows of an index, and of texts without spaces."""
        self._index = index
        self._pieces = pieces

    @cached_property
    def candidates(self) -> int:
        """How many rows a word may have to make them candidates."""
        return max(self.least, self._index.size // self.share)

    def words(self, terms: Sequence[Term]) -> list[Word]:
        """Return the words with their rows.

        One that few rows hold is taken for the beginning of others, too; for all of the words to be found together,
        each is, but for one that so many rows hold that its own are enough.
        """
        if len(terms) == 1 and terms[0].inside is None and self._index.all_if_few(terms[0].widest) is not None:
            return [Word(1, terms[0].widest, terms[0].widest, [])]  # its rows are ranked already
        terms = self._known(terms)
        inside = [term.inside for term in terms if term.inside is not None]
        held = dict(zip(inside, self._pieces.rows(inside, self.candidates), strict=True)) if inside else {}
        return [self._word(1 << place, term, held.get(term.inside or "", [])) for place, term in enumerate(terms)]

    def best(self, words: Sequence[Word], limit: int) -> list[Scored]:
        """Return the rows that hold some of the words, best first, equal ones by their place in the index."""
        words = sorted((word for word in words if word.rows), key=lambda word: len(word.rows))
        if not words:
            return []
        total = self._index.size
        number = self._how_many_make_candidates(words)
        scores: dict[int, float] = {}
        held: dict[int, int] = {}
        for word in words[:number]:
            _add(scores, held, word, word.rows, _weight(len(word.rows), total))
        candidates = set(scores)
        for word, rows in zip(words[number:], self._among(words[:number], words[number:], candidates), strict=True):
            if number == 1:  # of a common word only the newest rows are known: these older ones hold it, too
                _add(scores, held, words[0], rows - scores.keys(), _weight(len(words[0].rows), total))
            share = len(rows & candidates) / len(candidates)
            _add(scores, held, word, rows, _weight(max(len(word.rows), int(share * total)), total))
        ranked = sorted(scores.items(), key=lambda item: (-round(item[1], 6), item[0]))
        return [Scored(row, score, held[row]) for row, score in ranked[:limit]]

    def weights(self, words: Sequence[Word]) -> list[float]:
        """Return how much each of the words counts: the rarer, the more."""
        total = self._index.size
        return [_weight(len(word.rows), total) for word in words]

    def _known(self, terms: Sequence[Term]) -> list[Term]:
        """Return terms without the forms that no row has, each of which would cost time in every expression."""
        known = self._index.known(one for term in terms for one in term.any_of)
        return [
            term._replace(any_of=tuple(one for one in term.any_of if one in known) or term.any_of[:1]) for term in terms
        ]

    def _word(self, bit: int, term: Term, inside: list[int]) -> Word:
        if not term.expression:
            return Word(bit, "", "", inside, term.inside)
        rows = self._index.row_ids(term.expression, self.candidates + 1)
        expression = term.expression
        if len(rows) < FEW and term.beginning:
            expression = term.widest
            rows = self._index.row_ids(expression, self.candidates + 1)
        widest = term.widest if len(rows) <= self.candidates else expression
        return Word(bit, expression, widest, sorted({*rows, *inside}, reverse=True) if inside else rows, term.inside)

    def _how_many_make_candidates(self, words: Sequence[Word]) -> int:
        """Return how many of the words, the rarest first, say which rows are ranked; the others only add to scores."""
        taken = len(words[0].rows)
        for number, word in enumerate(words[1:], 1):
            taken += len(word.rows)
            if len(word.rows) > self.candidates or taken > 2 * self.candidates:
                return number
        return len(words)

    def _among(self, chosen: Sequence[Word], words: Sequence[Word], candidates: Collection[int]) -> list[set[int]]:
        """Return the rows that hold each of the words, among the candidates, which hold one of the chosen."""
        some = " OR ".join(word.expression for word in chosen if word.expression)
        inside = [word.inside for word in words if word.inside is not None]
        held = dict(zip(inside, self._pieces.among(inside, candidates), strict=True))
        found = []
        for word in words:
            rows = {*held.get(word.inside or "", ()), *(row for row in word.rows if row in candidates)}
            if word.expression and some:
                rows.update(self._index.row_ids(f"({some}) AND ({word.expression})", 2 * self.candidates))
            found.append(rows)
        return found


def _weight(rows: int, total: int) -> float:
    return math.log(1 + (max(total, rows) - rows + 0.5) / (rows + 0.5))


def _add(scores: dict[int, float], held: dict[int, int], word: Word, rows: Iterable[int], weight: float) -> None:
    for row in rows:
        scores[row] = scores.get(row, 0.0) + weight
        held[row] = held.get(row, 0) | word.bit

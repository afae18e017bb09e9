"""What a search matched: the places in a text that are to be highlighted, and the scores."""

import re
from collections.abc import Iterator

from mmem.query import Query, Term
from mmem.tokens import folded, tokens, tokens_at

Span = tuple[int, int]


class Matches:
    """The query that was asked, for showing where a text matches it."""

    def __init__(self, query: Query, scores: dict[str, float] | None = None) -> None:
        """Keep a query, and the scores of entities by their ids."""
        self.scores = scores or {}
        self.shows_scores = False
        self._text = query.text.casefold()
        self._words: set[str] = set()
        self._beginnings: set[str] = set()
        for term in query.marked_terms:
            self._add(term)
        inside = (
            [term.inside for term in query.parts if term.inside and len(term.inside) > 1] if query.is_unspaced else []
        )
        self._inside = re.compile("|".join(map(re.escape, inside)), re.IGNORECASE) if inside else None

    def _add(self, term: Term) -> None:
        for expression in term.any_of:
            self._words |= {folded(word) for word in tokens(expression)}
        if term.beginning:
            self._beginnings.add(folded(tokens(term.beginning)[-1]))

    def score_of(self, id: str) -> str:
        """Return an entity's score as it is shown, where scores are to be shown."""
        return f"  {self.scores[id]:.2f}" if self.shows_scores and id in self.scores else ""

    def spans(self, text: str) -> list[Span]:
        """Return where a text matches: the query as it was typed, or else its words, in order and apart."""
        literal = list(self._literal(text))
        return literal or _joined(sorted([*self._whole_words(text), *self._pieces(text)]))

    def _whole_words(self, text: str) -> Iterator[Span]:
        for start, end, token in tokens_at(text):
            if (word := folded(token)) in self._words or any(map(word.startswith, self._beginnings)):
                yield start, end

    def _pieces(self, text: str) -> Iterator[Span]:
        """Yield where pieces of words in scripts without spaces stand; they overlap."""
        found = self._inside.search(text) if self._inside else None
        while found and self._inside:
            yield found.span()
            found = self._inside.search(text, found.start() + 1)

    def _literal(self, text: str) -> Iterator[Span]:
        lowered = text.casefold()
        if len(lowered) != len(text) or not self._text:
            return
        start = lowered.find(self._text)
        while start >= 0:
            yield start, start + len(self._text)
            start = lowered.find(self._text, start + len(self._text))


def _joined(spans: list[Span]) -> list[Span]:
    """Return spans with those that touch made one."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined

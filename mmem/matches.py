"""What a search matched: the places in a text that are to be highlighted, and the scores."""

import re
from collections.abc import Iterator
from functools import cached_property

from mmem.query import Query
from mmem.records import Entity, EntityElsewhere
from mmem.tokens import folded, is_unspaced, tokens, tokens_at

Span = tuple[int, int]


class Matches:
    """The query that was asked, for showing where a text matches it."""

    def __init__(self, query: Query, scores: dict[str, float] | None = None, *, with_relations: bool = True) -> None:
        """Keep a query, the scores of entities by their ids, and whether relations were asked for."""
        self.with_relations = with_relations
        self.scores = scores or {}
        self.shows_scores = False
        self._query = query
        self._text = query.text.casefold()

    @cached_property
    def _marked(self) -> set[str]:
        """The words to mark, found where a text is shown: most answers are not."""
        return {folded(word) for term in self._query.marked_terms for one in term.any_of for word in tokens(one)}

    @cached_property
    def _beginnings(self) -> set[str]:
        return {folded(tokens(term.beginning)[-1]) for term in self._query.marked_terms if term.beginning}

    @cached_property
    def _inside(self) -> re.Pattern[str] | None:
        terms = self._query.without_syntax.parts if self._query.is_unspaced else []
        pieces = sorted({term.inside for term in terms if term.inside}, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, pieces)), re.IGNORECASE) if pieces else None

    def score_of(self, entity: Entity) -> str:
        """Return an entity's score as it is shown, where scores are to be shown."""
        id = f"{entity.category}/{entity.id}" if isinstance(entity, EntityElsewhere) else entity.id
        return f"  {self.scores[id]:.2f}" if self.shows_scores and id in self.scores else ""

    def spans(self, text: str) -> list[Span]:
        """Return where a text matches: the query as it was typed, or else its words, in order and apart."""
        literal = list(self._literal(text))
        return literal or _joined(sorted([*self._whole_words(text), *self._pieces(text)]))

    def _whole_words(self, text: str) -> Iterator[Span]:
        for start, end, token in tokens_at(text):
            if self._inside is not None and is_unspaced(token):
                continue  # a run of several words
            if (word := folded(token)) in self._marked or any(map(word.startswith, self._beginnings)):
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

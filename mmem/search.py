"""Searching a category: rows of the index, ranked, put together as entities."""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from mmem.errors import IndexDamaged
from mmem.filters import Filters
from mmem.index import Index
from mmem.meaning import Meaning
from mmem.outcomes import Notice
from mmem.pieces import Pieces
from mmem.query import Query
from mmem.ranking import Ranking, Word
from mmem.schema import has_full_text
from mmem.substrings import Groups, Hit, Substrings
from mmem.transaction import Transaction, id_list
from mmem.values import nfc, twin_key

_WINDOW = 1_024  # rows that have some of the words, of which the entities with all of them come first
_NEAR = " UNION ALL SELECT n.entity_id, 1 FROM mmem_names n WHERE n.twin_key = ?2 AND ?2 <> ''"


class Found(NamedTuple):
    """The entities that matched, best first, and what tells which observations did: both, where both are given."""

    entity_ids: list[int]
    expression: str | None
    groups: Groups | None
    scores: dict[int, float]  # how much of the query's words each one has, counted by how rare they are: up to 1


class Searcher:
    """Searches in one transaction."""

    def __init__(self, transaction: Transaction, filters: Filters | None = None) -> None:
        """Search in the given transaction, with the index that the file has."""
        self._transaction = transaction
        self._conn = transaction.conn
        self._filters = filters or Filters()
        self._filters.prepare(transaction.conn)
        self._substrings = Substrings(transaction, self._filters)
        transaction.flush_index()
        self._index = Index(transaction, self._filters)
        self._pieces = Pieces(transaction, self._filters)
        self._ranking = Ranking(self._index, self._pieces)
        self._scores: dict[int, float] = {}
        self._hits: list[Hit] = []  # what was found, best first
        self._meaning = Meaning(transaction, self._filters, self._index, self._ranking)

    def find(self, query: Query, limit: int) -> Found:
        """Return the entities for a query, at most `limit`: never an error, whatever the text.

        First those of just that name, then what contains the text as it was typed or all of its words, then what has
        some of them, with the notice `matched_any` where no entity has all; then substrings anywhere. With the extra
        `semantic`, what is near in meaning is ranked with what has some of the words, or comes where nothing else does.
        """
        layout = self._transaction.layout
        if layout.broken:
            raise self._damaged()
        if not layout.full_text:
            return self._without_index(query, limit)
        try:
            explicit = query.explicit
            if explicit is not None:
                return self._as_syntax(query, explicit, limit)
            found = self._as_text(query, limit)
            return found if found.entity_ids else self._by_meaning(query, limit, found)
        except sqlite3.DatabaseError:
            if layout.own:  # ours can be rebuilt; a predecessor's is left to it
                raise
            return self._without_index(query, limit)

    def rows(self, query: Query, limit: int) -> list[Hit]:
        """Return the rows that hold a query's words, best first."""
        words = self._words(query)
        hits = self._index.ranked(_every(query, words), limit) if words and not query.is_unspaced else []
        hits = [*self._typed(query, _every(query, words), hits, limit), *hits]
        if len(words) > 1 or query.is_unspaced:
            ranked = self._index.hits([row.row for row in self._ranking.best(words, limit)])
            hits += self._meaning.beside(ranked, query, words)
        return list(dict.fromkeys(hits or self._meaning.alone(query, words)))[:limit]

    def _damaged(self) -> IndexDamaged:
        category = self._transaction.category
        message = f"the search index of category '{category}' is damaged and couldn't be rebuilt"
        return IndexDamaged(message, {"category": category})

    def _require_all_rows(self) -> None:
        """Raise `IndexDamaged` where the index has other rows than there are, before every text is looked through."""
        if self._transaction.layout.own and not self._index.is_complete():
            raise self._damaged()

    def _words(self, query: Query) -> list[Word]:
        """Return the query's words with the rows that hold them; a predecessor's index is only asked for all."""
        if self._transaction.layout.own:
            return self._ranking.words(query.parts if query.is_unspaced else query.terms)
        return [Word(0, term.expression, term.widest, []) for term in query.terms]

    def _as_syntax(self, query: Query, explicit: str, limit: int) -> Found:
        """Search by FTS5's syntax, whose operators look at one row; where that finds nothing, for its words."""
        plain = query.without_syntax if query.only_joins else None
        if plain is not None and plain.is_unspaced:  # the index has no words of these scripts
            return self._as_text(plain, limit)
        for expression in (explicit, query.explicit_beginnings):
            if expression is not None and (hits := self._index.ranked(expression, limit)):
                typed = self._typed(query, expression, hits, limit)
                return self._found(query, [*typed, *hits], limit, expression)
        groups = [query.unquoted.spellings]
        if hits := self._substrings.anywhere(groups, limit):
            return self._found(query, hits, limit, explicit, groups)
        return self._as_text(plain, limit) if plain is not None else self._found(query, [], limit, explicit)

    def _as_text(self, query: Query, limit: int) -> Found:
        if query.is_unspaced and self._transaction.layout.own:
            return self._as_runs(query, limit)
        groups: Groups = [query.spellings]
        words = self._words(query)
        every = _every(query, words)
        ranked = self._index.ranked(every, limit) if words else []
        typed = self._typed(query, every, ranked, limit)
        scanned = False
        if query.loses_characters and query.is_one_word:  # an identifier; its parts would only add noise
            if len({hit.entity_id for hit in typed}) < limit and (not typed or len(ranked) >= self._index.most):
                typed += self._substrings.anywhere(groups, limit)
                scanned = True
            if typed or not query.has_long_word:  # `c*` for C++ would find everything
                return self._found(query, typed, limit, None, groups)
        if ranked and not typed and query.may_be_part_of_word:
            typed = self._substrings.anywhere(groups, limit)
        hits = [*typed, *ranked]
        if query.is_unspaced and not scanned:
            groups = [Query(word).spellings for word in query.words] or groups
            hits += self._substrings.anywhere(groups, limit)
            scanned = True
        if len(words) > 1 and len({hit.entity_id for hit in hits}) < limit:
            hits += self._some(query, words, limit, say=not hits)
        if not hits and not scanned:
            self._require_all_rows()
            hits = self._substrings.anywhere(groups, limit) or self._substrings.folded(query.text, limit)
            scanned = True
        telling = " OR ".join([*(word.widest for word in words), *([query.joined] if query.joined else [])]) or None
        return self._found(query, hits, limit, telling, groups if scanned else None)

    def _typed(self, query: Query, expression: str, ranked: list[Hit], limit: int) -> list[Hit]:
        """Return what contains the text as it was typed, of the rows that an expression gave.

        The index narrows, LIKE decides. Of more rows than can be looked at, the newest are.
        """
        if not ranked:
            return []
        candidates = ranked
        is_ordered = len({hit.entity_id for hit in ranked}) < 2
        if is_ordered and not (query.loses_characters or query.may_be_part_of_word):
            return []  # there is nothing to put in order
        if (query.loses_characters or not query.is_one_word) and not self._index.are_all(expression, ranked):
            candidates = self._index.ranked(query.phrase, limit, at_least=self._index.most)
        groups: Groups = [query.spellings]
        kept: set[Hit] = set()
        if observations := [hit.observation_id for hit in candidates if hit.observation_id is not None]:
            kept.update(self._substrings.in_texts(groups, observations))
        if entities := [hit.entity_id for hit in candidates if hit.observation_id is None]:
            kept.update(self._substrings.in_names(groups, entities))
        return [hit for hit in candidates if hit in kept]

    def _as_runs(self, query: Query, limit: int) -> Found:
        """Search for a text in a script without spaces: what holds it as it was typed, then what holds pieces of it."""
        typed: Groups = [query.spellings]
        if query.is_one_unspaced_word and (hits := self._substrings.anywhere(typed, limit)):
            return self._found(query, hits, limit, None, typed)
        whole, *words = self._ranking.words([query.whole, *query.parts])
        if len(whole.rows) > self._ranking.candidates or not (whole.rows or self._pieces.are_all):
            hits = self._substrings.anywhere(typed, limit)
        else:
            own_rows = sorted(row for row in whole.rows if row < 0)
            hits = self._index.hits([*own_rows, *(row for row in whole.rows if row > 0)])
        if len({hit.entity_id for hit in hits}) < limit:
            hits += self._some(query, words, limit, say=not hits)
        telling = " OR ".join(word.expression for word in words if word.expression) or None
        pieces = [word.inside for word in words if word.inside is not None]
        groups = [[*query.spellings, *([piece for piece in pieces if len(piece) > 1] or pieces)]]  # one says little
        return self._found(query, hits, limit, telling, groups)

    def _some(self, query: Query, words: list[Word], limit: int, *, say: bool) -> list[Hit]:
        """Return rows that have some of the words; entities whose rows have all of them together come first."""
        if not self._transaction.layout.own:
            hits = self._index.ranked(" OR ".join(word.widest for word in words), limit)
            if say and hits:
                self._say_some()
            return hits
        window = _WINDOW
        while window < limit * 4:  # in large steps, so that the pages of an answer come from the same order
            window *= 4
        ranked = self._ranking.best(words, window)
        hits = self._index.hits([row.row for row in ranked])
        held: dict[int, int] = {}
        for hit, row in zip(hits, ranked, strict=True):
            held[hit.entity_id] = held.get(hit.entity_id, 0) | row.words
        weights = self._ranking.weights(words)
        for entity_id, bits in held.items():
            score = sum(weight for word, weight in zip(words, weights, strict=True) if word.bit & bits)
            self._scores[entity_id] = score / sum(weights)
        hits = self._meaning.beside(hits, query, words)
        every = sum(word.bit for word in words)
        whole = {entity_id for entity_id, bits in held.items() if bits == every}
        if say and hits and not whole and not self._named(query):
            self._say_some()
        return [*(hit for hit in hits if hit.entity_id in whole), *(hit for hit in hits if hit.entity_id not in whole)]

    def _say_some(self) -> None:
        message = "no entity has all of the words; these have some of them"
        if self._meaning.near:
            message += " or are near in meaning"
        self._transaction.notice(Notice("matched_any", message))

    def _by_meaning(self, query: Query, limit: int, nothing: Found) -> Found:
        """Return what is near in meaning, where nothing else was found."""
        words = [] if query.is_unspaced else self._words(query)  # no weights are taken from pieces
        hits = self._meaning.alone(query, words)
        if not hits:
            return nothing
        self._say_some()
        return self._found(query, hits, limit, None)

    def matching_observations(self, found: Found, entity_ids: Iterable[int]) -> dict[int, list[int]]:
        """Return, by entity, the ids of the observations whose own text matched, best first."""
        wanted = set(entity_ids)
        matching: dict[int, dict[int, None]] = {}
        for hit in self._meaning.near:
            if hit.entity_id in wanted:
                matching.setdefault(hit.entity_id, {})[hit.observation_id or 0] = None
        for entity_id, observation_id in self._index.in_texts(found.expression, wanted):
            matching.setdefault(entity_id, {})[observation_id] = None
        if found.groups is not None and wanted:
            for hit in self._substrings.in_texts(found.groups, of=wanted):
                matching.setdefault(hit.entity_id, {})[hit.observation_id or 0] = None
        for entity_id, ids in self._rows_of(wanted - matching.keys()).items():
            matching[entity_id] = dict.fromkeys(ids)
        places = {id: place for place, id in enumerate(dict.fromkeys(hit.observation_id for hit in self._hits))}
        last = len(places)
        return {entity_id: sorted(ids, key=lambda id: places.get(id, last)) for entity_id, ids in matching.items()}

    def _rows_of(self, entity_ids: set[int]) -> dict[int, list[int]]:
        """Return the observations that were found with the name's help; none where the name alone was enough."""
        rows: dict[int, list[int]] = {}
        by_name = set()
        for entity_id, observation_id in self._hits if entity_ids else ():
            if observation_id is None:
                by_name.add(entity_id)
            elif entity_id in entity_ids:
                rows.setdefault(entity_id, []).append(observation_id)
        return {entity_id: ids for entity_id, ids in rows.items() if entity_id not in by_name}

    def passing_observations(self, entity_ids: Iterable[int]) -> dict[int, set[int]]:
        """Return, by entity, the ids of those observations that the filters let through."""
        where, parameters = self._filters.on_observation_alone(2)
        statement = (
            "SELECT o.entity_id, o.id FROM json_each(?1) j CROSS JOIN observations o ON o.entity_id = j.value "
            f"JOIN entities e ON e.id = o.entity_id WHERE {where}"
        )
        passing: dict[int, set[int]] = {}
        for entity_id, id in self._conn.execute(statement, (id_list(entity_ids), *parameters)):
            passing.setdefault(entity_id, set()).add(id)
        return passing

    def _found(
        self, query: Query, hits: list[Hit], limit: int, expression: str | None, groups: Groups | None = None
    ) -> Found:
        """Put hits together: an entity stands where its best row stands, one of just that name before all."""
        best = list(dict.fromkeys([*self._named(query), *(hit.entity_id for hit in hits)]))[:limit]
        self._hits = hits
        scores = {**self._meaning.likeness, **self._scores}
        return Found(best, expression, groups, {id: scores.get(id, 1.0) for id in best})

    def _named(self, query: Query) -> list[int]:
        """Return the entities whose name is the text, but for case and separators."""
        own = self._transaction.layout.own
        given = [nfc(query.text), *([twin_key(query.text)] if own else [])]
        where, parameters = self._filters.on_entity_of_any(len(given) + 1)
        named = f"SELECT id, 0 AS near FROM entities WHERE name = ?1{_NEAR if own else ''}"
        statement = f"SELECT k.id FROM ({named}) k JOIN entities e ON e.id = k.id WHERE {where} ORDER BY k.near, k.id"
        return [row[0] for row in self._conn.execute(statement, (*given, *parameters))]

    def _without_index(self, query: Query, limit: int) -> Found:
        """Search a file that has no index: for the text, for all of its words as substrings, or for any of them."""
        category = self._transaction.category
        if has_full_text(self._conn):
            message = (
                f"category '{category}' has no sound search index yet, so only substrings were found; "
                "the first write brings one"
            )
        else:
            message = (
                "this Python's SQLite was built without FTS5, so only substrings were found, and slowly: "
                "use a Python whose SQLite has it"
            )
        self._transaction.notice(Notice("no_full_text", message, category=category))
        groups: Groups = [query.unquoted.spellings]
        hits = self._substrings.anywhere(groups, limit)
        words = [Query(word).spellings for word in query.telling]
        if not hits and len(words) > 1:
            groups = words
            hits = self._substrings.anywhere(groups, limit)
        if not hits and words:
            hits = self._with_most(words, limit)
            groups = [[one for spellings in words for one in spellings]]
            if hits and len(words) > 1:
                self._say_some()
        return self._found(query, hits or self._substrings.folded(query.text, limit), limit, None, groups)

    def _with_most(self, words: Groups, limit: int) -> list[Hit]:
        """Return the rows that contain any of the words, those of the entities that have the most of them first."""
        held: dict[int, int] = {}
        rows: dict[Hit, None] = {}
        for spellings in words:
            hits = self._substrings.anywhere([spellings], limit * len(words))
            rows |= dict.fromkeys(hits)
            for entity_id in {hit.entity_id for hit in hits}:
                held[entity_id] = held.get(entity_id, 0) + 1
        return sorted(rows, key=lambda hit: (-held[hit.entity_id], hit.entity_id))


def _every(query: Query, words: list[Word]) -> str:
    """Return the expression for all of a query's words, or for them written as one."""
    every = " AND ".join(word.widest for word in words)
    return f"({every}) OR {query.joined}" if query.joined else every

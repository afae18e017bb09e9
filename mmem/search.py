"""Searching a category: rows of the index ranked by BM25, put together as entities."""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from mmem.outcomes import Notice
from mmem.query import Query
from mmem.schema import ENTITY_ROWS
from mmem.substrings import Groups, Hit, Substrings
from mmem.transaction import Transaction, id_list
from mmem.values import nfc, twin_key

_RANKED = 5_000  # rows of a kind that one search ranks, the newest: ranking a very frequent word in full takes long
_CANDIDATES = 2 * _RANKED  # rows among which a text is looked for as it was typed
_FEW = 300  # rows up to which one pass is tried
_ROWS_PER_ENTITY = 4  # rows to fetch for each entity wanted, before fetching more

# The index is ours: rows above 0 are observations, rows below are entities.
_OWN = f"""
SELECT COALESCE(o.entity_id, ranked.r + {ENTITY_ROWS}), o.id, ranked.score FROM (
  SELECT r, score FROM (
    SELECT * FROM (SELECT rowid AS r, bm25(fts_content) AS score FROM fts_content
      WHERE fts_content MATCH ?1 AND rowid > 0 ORDER BY rowid DESC LIMIT {_RANKED})
    UNION ALL
    SELECT * FROM (SELECT rowid AS r, bm25(fts_content) AS score FROM fts_content
      WHERE fts_content MATCH ?1 AND rowid < 0 ORDER BY rowid DESC LIMIT {_RANKED})
  ) ORDER BY score, r LIMIT ?2
) ranked LEFT JOIN observations o ON o.id = ranked.r ORDER BY ranked.score, ranked.r"""

# The same in one pass over the index instead of two, for words that few rows have.
_OWN_FEW = f"""
SELECT COALESCE(o.entity_id, ranked.r + {ENTITY_ROWS}), o.id FROM (
  SELECT rowid AS r, bm25(fts_content) AS score FROM fts_content WHERE fts_content MATCH ?1 LIMIT {_FEW + 1}
) ranked LEFT JOIN observations o ON o.id = ranked.r ORDER BY ranked.score, ranked.r"""

# What is older than the rows that were ranked, unranked, the newest first.
_OLDER = f"""
SELECT COALESCE(o.entity_id, f.rowid + {ENTITY_ROWS}), o.id FROM fts_content f
LEFT JOIN observations o ON o.id = f.rowid
WHERE f.fts_content MATCH ?1 AND f.rowid > ?2 AND f.rowid < ?3 ORDER BY f.rowid DESC"""

# Rows whose own text matches; the range spares FTS5 the rows of all other entities where these lie close together.
_TEXT_HITS = """
WITH wanted(id) AS (SELECT o.id FROM json_each(?2) j CROSS JOIN observations o ON o.entity_id = j.value)
SELECT o.entity_id, o.id, bm25(fts_content) AS score FROM fts_content
CROSS JOIN observations o ON o.id = fts_content.rowid
WHERE fts_content MATCH ?1 AND fts_content.rowid BETWEEN (SELECT min(id) FROM wanted) AND (SELECT max(id) FROM wanted)
AND o.entity_id IN (SELECT value FROM json_each(?2)) ORDER BY score, o.id"""

_PREDECESSORS_TEXT_HITS = """
SELECT m.entity_id, m.observation_id, fts_content.rank FROM fts_content
JOIN fts_map m ON m.fts_rowid = fts_content.rowid
WHERE fts_content MATCH ?1 AND m.observation_id IS NOT NULL
AND m.entity_id IN (SELECT value FROM json_each(?2)) ORDER BY fts_content.rank, fts_content.rowid"""

# A predecessor's index: its map says what a row is, and the join leaves out what it forgot to delete.
_PREDECESSORS = """
SELECT m.entity_id, m.observation_id, fts_content.rank FROM fts_content
JOIN fts_map m ON m.fts_rowid = fts_content.rowid JOIN entities e ON e.id = m.entity_id
WHERE fts_content MATCH ?1 ORDER BY fts_content.rank, fts_content.rowid LIMIT ?2"""


_NEAR = " UNION ALL SELECT entity_id, 1 FROM mmem_names WHERE twin_key = ?2 AND ?2 <> ''"


class Found(NamedTuple):
    """The entities that matched, best first, and what tells which observations did: both, where both are given."""

    entity_ids: list[int]
    expression: str | None
    groups: Groups | None


class Searcher:
    """Searches in one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        """Search in the given transaction, with the index that the file has."""
        self._transaction = transaction
        self._conn = transaction.conn
        self._substrings = Substrings(transaction)
        transaction.flush_index()

    def find(self, query: Query, limit: int) -> Found:
        """Return the entities for a query, at most `limit`: never an error, whatever the text.

        All words count first, and what contains the text as it was typed; then any of the words, with the
        notice `matched_any`; then a substring anywhere.
        """
        layout = self._transaction.layout
        if not layout.full_text:
            return self._without_index(query, limit)
        try:
            return self._with_index(query, limit)
        except sqlite3.DatabaseError:
            if layout.own:  # ours can be rebuilt; a predecessor's is left to it
                raise
            return self._without_index(query, limit)

    def _with_index(self, query: Query, limit: int) -> Found:
        explicit = query.explicit
        return self._as_text(query, limit) if explicit is None else self._as_syntax(query, explicit, limit)

    def _as_syntax(self, query: Query, explicit: str, limit: int) -> Found:
        if hits := self._ranked(explicit, limit):
            return self._found(query, hits, limit, explicit)
        groups = [query.unquoted.spellings]
        return self._found(query, self._substrings.anywhere(groups, limit), limit, explicit, groups)

    def _as_text(self, query: Query, limit: int) -> Found:
        groups = [query.spellings]
        hits: list[Hit] = []
        ranked: list[Hit] | None = None
        scanned = False
        if query.loses_characters:
            if query.all_words and not query.is_unspaced:
                ranked = self._ranked(query.all_words, limit, at_least=_CANDIDATES)
                hits, scanned = self._literal(groups, ranked, limit)
            if query.is_one_word:  # an identifier; its parts would only add noise
                hits = hits if scanned else hits or self._substrings.anywhere(groups, limit)
                scanned = True
                if hits or not query.has_long_word:  # `c*` for C++ would find everything
                    return self._found(query, hits, limit, None, groups)
        if query.all_words:
            hits += self._ranked(query.all_words, limit) if ranked is None else ranked
        if query.is_unspaced and not scanned:
            groups = [Query(word).spellings for word in query.words] or groups
            hits += self._substrings.anywhere(groups, limit)
            scanned = True
        if not hits and query.any_word and len(query.words) > 1:
            hits = self._ranked(query.any_word, limit)
            if hits:
                message = "no entity has all of the words in one place; these have some of them"
                self._transaction.notice(Notice("matched_any", message))
        if not hits and not scanned:
            hits = self._substrings.anywhere(groups, limit)
            scanned = True
        return self._found(query, hits, limit, query.any_word, groups if scanned else None)

    def matching_observations(self, found: Found, entity_ids: Iterable[int]) -> dict[int, list[int]]:
        """Return, by entity, the ids of the observations whose own text matched, best first."""
        wanted = set(entity_ids)
        matching: dict[int, dict[int, None]] = {}
        for entity_id, observation_id, _ in self._text_hits(found.expression, wanted):
            matching.setdefault(entity_id, {})[observation_id] = None
        if found.groups is not None and wanted:
            for hit in self._substrings.in_texts(found.groups, of=wanted):
                matching.setdefault(hit.entity_id, {})[hit.observation_id or 0] = None
        return {entity_id: list(ids) for entity_id, ids in matching.items()}

    def _text_hits(self, expression: str | None, entity_ids: set[int]) -> Iterable[tuple[int, int, float]]:
        """Return `(entity id, observation id, score)` of rows whose text, not only the entity's name, matches."""
        if expression is None or not entity_ids:
            return []
        statement = _TEXT_HITS if self._transaction.layout.own else _PREDECESSORS_TEXT_HITS
        try:
            text_only = f"{{observation_content}} : ({expression})"
            return self._conn.execute(statement, (text_only, id_list(entity_ids))).fetchall()
        except sqlite3.OperationalError:  # a column filter of the user's own doesn't nest
            return []

    def _found(
        self, query: Query, hits: list[Hit], limit: int, expression: str | None, groups: Groups | None = None
    ) -> Found:
        """Put hits together: an entity stands where its best row stands, one of just that name before all."""
        best = dict.fromkeys([*self._named(query), *(hit.entity_id for hit in hits)])
        return Found(list(best)[:limit], expression, groups)

    def _named(self, query: Query) -> list[int]:
        """Return the entities whose name is the text, but for case and separators."""
        own = self._transaction.layout.own
        statement = f"SELECT id, 0 FROM entities WHERE name = ?1{_NEAR if own else ''} ORDER BY 2, 1"
        rows = self._conn.execute(statement, (nfc(query.text), *([twin_key(query.text)] if own else [])))
        return [row[0] for row in rows]

    def _ranked(self, expression: str, limit: int, at_least: int = 0) -> list[Hit]:
        """Return the best rows for an expression, enough for `limit` entities where there are as many."""
        own = self._transaction.layout.own
        if own:
            few = [Hit(*row) for row in self._conn.execute(_OWN_FEW, (expression,))]
            if len(few) <= _FEW:
                return few
        rows = max(limit * _ROWS_PER_ENTITY, at_least)
        while True:
            hits = [Hit(*row[:2]) for row in self._conn.execute(_OWN if own else _PREDECESSORS, (expression, rows))]
            if len({hit.entity_id for hit in hits}) >= limit:
                return hits
            if len(hits) < rows:
                return hits + self._older(expression, hits, limit) if own else hits
            rows *= _ROWS_PER_ENTITY

    def _older(self, expression: str, ranked: list[Hit], limit: int) -> list[Hit]:
        """Return rows older than the ranked ones, where too few entities were among these: unranked, newest first."""
        texts = [hit.observation_id for hit in ranked if hit.observation_id is not None]
        own_rows = [hit.entity_id - ENTITY_ROWS for hit in ranked if hit.observation_id is None]
        seen = {hit.entity_id for hit in ranked}
        older = []
        for rows, least in ((own_rows, -ENTITY_ROWS), (texts, 0)):
            if len(rows) < _RANKED or len(seen) >= limit:
                continue
            for entity_id, observation_id in self._conn.execute(_OLDER, (expression, least, min(rows))):
                if entity_id not in seen:
                    seen.add(entity_id)
                    older.append(Hit(entity_id, observation_id))
                    if len(seen) >= limit:
                        break
        return older

    def _literal(self, groups: Groups, candidates: list[Hit], limit: int) -> tuple[list[Hit], bool]:
        """Return the candidates that contain the text as it was typed, and whether every row was looked at for it.

        The index narrows, LIKE decides; where the candidates aren't all there are, every row is read.
        """
        observations = [hit.observation_id for hit in candidates if hit.observation_id is not None]
        entities = [hit.entity_id for hit in candidates if hit.observation_id is None]
        kept = {*self._substrings.in_names(groups, entities), *self._substrings.in_texts(groups, observations)}
        hits = [hit for hit in candidates if hit in kept]
        if len(candidates) < _RANKED:
            return hits, False
        return hits + self._substrings.anywhere(groups, limit), True

    def _without_index(self, query: Query, limit: int) -> Found:
        """Search a file that has no index: every word as a substring."""
        message = (
            f"category '{self._transaction.category}' has no sound search index yet, so only substrings were found; "
            "the first write brings one"
        )
        self._transaction.notice(Notice("no_full_text", message, category=self._transaction.category))
        groups: Groups = [query.spellings]
        hits = self._substrings.anywhere(groups, limit)
        if not hits and len(query.words) > 1:
            groups = [Query(word).spellings for word in query.words]
            hits = self._substrings.anywhere(groups, limit)
        return self._found(query, hits, limit, None, groups)

"""Searching a category: rows of the index ranked by BM25, put together as entities."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mmem.outcomes import Notice
from mmem.query import Query, like_pattern
from mmem.schema import ENTITY_ROWS
from mmem.transaction import Transaction, id_list
from mmem.values import twin_key

_RANKED = 5_000  # rows of a kind that one search ranks, the newest: ranking a very frequent word in full takes long
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

# A predecessor's index: its map says what a row is, and the join leaves out what it forgot to delete.
_PREDECESSORS = """
SELECT m.entity_id, m.observation_id, fts_content.rank FROM fts_content
JOIN fts_map m ON m.fts_rowid = fts_content.rowid JOIN entities e ON e.id = m.entity_id
WHERE fts_content MATCH ?1 ORDER BY fts_content.rank, fts_content.rowid LIMIT ?2"""


class Hit(NamedTuple):
    """A row that matched: its entity, its observation (None for the entity's own row), its score."""

    entity_id: int
    observation_id: int | None
    score: float


class Found(NamedTuple):
    """The entities that matched, best first, and the expression or hits that tell which observations did."""

    entity_ids: list[int]
    expression: str | None
    hits: list[Hit]


class Searcher:
    """Searches in one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        """Search in the given transaction, with the index that the file has."""
        self._transaction = transaction
        self._conn = transaction.conn
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
        if explicit := query.explicit:
            hits = self._ranked(explicit, limit)
            return self._found(query, hits or self._containing([query.spellings], limit), explicit, limit)
        hits = self._literal(query) if query.loses_characters else []
        if query.loses_characters and query.is_one_word:  # an identifier; its parts would only add noise
            hits = hits or self._containing([query.spellings], limit)
            if hits:
                return self._found(query, hits, None, limit)
        if query.all_words:
            hits += self._ranked(query.all_words, limit)
        if not hits and query.any_word and len(query.words) > 1:
            hits = self._ranked(query.any_word, limit)
            if hits:
                message = "no entity has all of the words in one place; these have some of them"
                self._transaction.notice(Notice("matched_any", message))
        if query.is_unspaced or not hits:
            hits += self._containing([query.spellings], limit)
        return self._found(query, hits, query.any_word, limit)

    def matching_observations(self, found: Found, entity_ids: Iterable[int]) -> dict[int, list[int]]:
        """Return, by entity, the ids of the observations whose own text matched, best first."""
        wanted = set(entity_ids)
        matching: dict[int, dict[int, None]] = {}
        for entity_id, observation_id, _ in self._text_hits(found.expression, wanted):
            matching.setdefault(entity_id, {})[observation_id] = None
        for hit in found.hits:
            if hit.observation_id is not None and hit.entity_id in wanted and hit.entity_id not in matching:
                matching.setdefault(hit.entity_id, {})[hit.observation_id] = None
        return {entity_id: list(ids) for entity_id, ids in matching.items()}

    def _text_hits(self, expression: str | None, entity_ids: set[int]) -> Iterable[tuple[int, int, float]]:
        """Return `(entity id, observation id, score)` of rows whose text, not only the entity's name, matches."""
        if expression is None or not entity_ids or not self._transaction.layout.own:
            return []
        statement = (
            "SELECT o.entity_id, o.id, fts_content.rank FROM fts_content "
            "CROSS JOIN observations o ON o.id = fts_content.rowid "
            "WHERE fts_content MATCH ?1 AND fts_content.rowid > 0 "
            "AND o.entity_id IN (SELECT value FROM json_each(?2)) ORDER BY fts_content.rank, o.id"
        )
        try:
            text_only = f"{{observation_content}} : ({expression})"
            return self._conn.execute(statement, (text_only, id_list(entity_ids))).fetchall()
        except sqlite3.OperationalError:  # a column filter of the user's own doesn't nest
            return []

    def _found(self, query: Query, hits: list[Hit], expression: str | None, limit: int) -> Found:
        """Put hits together: an entity stands where its best row stands, one of just that name before all."""
        best = dict.fromkeys([*self._named(query), *(hit.entity_id for hit in hits)])
        return Found(list(best)[:limit], expression, hits)

    def _named(self, query: Query) -> list[int]:
        """Return the entities whose name is the text, but for case and separators."""
        if not self._transaction.layout.own:
            return []
        statement = (
            "SELECT e.id FROM mmem_names n JOIN entities e ON e.id = n.entity_id WHERE n.twin_key = ? "
            "ORDER BY e.name <> ?, e.id"
        )
        return [row[0] for row in self._conn.execute(statement, (twin_key(query.text), query.text))]

    def _ranked(self, expression: str, limit: int) -> list[Hit]:
        """Return the best rows for an expression, enough for `limit` entities where there are as many."""
        statement = _OWN if self._transaction.layout.own else _PREDECESSORS
        rows = limit * _ROWS_PER_ENTITY
        while True:
            hits = [Hit(*row) for row in self._conn.execute(statement, (expression, rows))]
            if len(hits) < rows or len({hit.entity_id for hit in hits}) >= limit:
                return hits
            rows *= _ROWS_PER_ENTITY

    def _literal(self, query: Query) -> list[Hit]:
        """Return rows that contain the text as it was typed; the index narrows, LIKE decides."""
        if query.all_words is None or query.is_unspaced:
            return []
        candidates = self._ranked(query.all_words, _RANKED // _ROWS_PER_ENTITY)
        observations = [hit.observation_id for hit in candidates if hit.observation_id is not None]
        entities = [hit.entity_id for hit in candidates if hit.observation_id is None]
        good = self._containing([query.spellings], len(candidates) + 1, id_list(observations), id_list(entities))
        kept = {(hit.entity_id, hit.observation_id) for hit in good}
        return [hit for hit in candidates if hit[:2] in kept]

    def _containing(
        self,
        groups: Sequence[list[str]],
        limit: int,
        observation_ids: str | None = None,
        entity_ids: str | None = None,
    ) -> list[Hit]:
        """Return rows that contain one spelling of every group, the newest observations first.

        This reads every row, or the given ones: it is the last resort.
        """
        patterns = [like_pattern(spelling) for group in groups for spelling in group]
        has_properties = self._transaction.layout.properties

        def contains(columns: Sequence[str]) -> str:
            number, every = 0, []
            for group in groups:
                any_of = []
                for _ in group:
                    number += 1
                    any_of += [f"{column} LIKE ?{number} ESCAPE '\\'" for column in columns]
                every.append(f"({' OR '.join(any_of)})")
            return " AND ".join(every)

        entity_columns = ["e.name", "e.entity_type", *(["COALESCE(e.properties, '')"] if has_properties else [])]
        text_columns = ["o.content", *(["COALESCE(o.properties, '')"] if has_properties else [])]
        only = f" AND e.id IN (SELECT value FROM json_each('{entity_ids}'))" if entity_ids is not None else ""
        statement = f"SELECT e.id FROM entities e WHERE {contains(entity_columns)}{only} ORDER BY e.id LIMIT {limit}"
        hits = [Hit(row[0], None, 0.0) for row in self._conn.execute(statement, patterns)]
        only = f" AND o.id IN (SELECT value FROM json_each('{observation_ids}'))" if observation_ids is not None else ""
        statement = (
            f"SELECT o.entity_id, o.id FROM observations o WHERE {contains(text_columns)}{only} "
            f"ORDER BY o.id DESC LIMIT {limit}"
        )
        return hits + [Hit(row[0], row[1], 0.0) for row in self._conn.execute(statement, patterns)]

    def _without_index(self, query: Query, limit: int) -> Found:
        """Search a file that has no index: every word as a substring."""
        message = (
            f"category '{self._transaction.category}' has no sound search index yet, so only substrings were found; "
            "the first write brings one"
        )
        self._transaction.notice(Notice("no_full_text", message, category=self._transaction.category))
        hits = self._containing([query.spellings], limit)
        if not hits and len(query.words) > 1:
            hits = self._containing([Query(word).spellings for word in query.words], limit)
        return self._found(query, hits, None, limit)

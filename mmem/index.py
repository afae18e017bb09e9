"""The rows of the full-text index that an expression matches: ours, or a predecessor's as it is."""

import sqlite3
from collections.abc import Iterable
from functools import cached_property

from mmem import jsontext
from mmem.filters import Filters
from mmem.schema import ENTITY_ROWS
from mmem.substrings import Hit
from mmem.transaction import Transaction, id_list

_ROWS_PER_ENTITY = 4  # rows to fetch for each entity wanted, before fetching more

# The index is ours: rows above 0 are observations, rows below are entities.
_HIT = f"COALESCE(o.entity_id, ranked.r + {ENTITY_ROWS}), o.id"
_SCORED = "SELECT rowid AS r, bm25(fts_content) AS score FROM fts_content WHERE fts_content MATCH ?1 AND {where}"
_OWN = (
    f"SELECT {_HIT} FROM (SELECT r, score FROM ("
    f"SELECT * FROM ({_SCORED} AND rowid > 0 ORDER BY rowid DESC LIMIT {{most}}) UNION ALL "
    f"SELECT * FROM ({_SCORED} AND rowid < 0 ORDER BY rowid DESC LIMIT {{most}})"
    ") ORDER BY score, r LIMIT ?2) ranked LEFT JOIN observations o ON o.id = ranked.r ORDER BY ranked.score, ranked.r"
)
# The same in one pass instead of two, for words that few rows have.
_OWN_FEW = (
    f"SELECT {_HIT} FROM ({_SCORED} LIMIT {{few}}) ranked LEFT JOIN observations o ON o.id = ranked.r "
    "ORDER BY ranked.score, ranked.r"
)
# What is older than the rows that were ranked, unranked, the newest first.
_OLDER = f"""
SELECT COALESCE(o.entity_id, fts_content.rowid + {ENTITY_ROWS}), o.id FROM fts_content
LEFT JOIN observations o ON o.id = fts_content.rowid
WHERE fts_content MATCH ?1 AND fts_content.rowid > ?2 AND fts_content.rowid < ?3 AND {{where}}
ORDER BY fts_content.rowid DESC"""
# Rows whose own text matches; the range spares FTS5 the rows of all other entities where these lie close together.
_IN_TEXTS = """
WITH wanted(id) AS (SELECT o.id FROM json_each(?2) j CROSS JOIN observations o ON o.entity_id = j.value)
SELECT o.entity_id, o.id FROM fts_content CROSS JOIN observations o ON o.id = fts_content.rowid
WHERE fts_content MATCH ?1 AND fts_content.rowid BETWEEN (SELECT min(id) FROM wanted) AND (SELECT max(id) FROM wanted)
AND o.entity_id IN (SELECT value FROM json_each(?2)) AND {where} ORDER BY bm25(fts_content), o.id"""
# A predecessor's index: its map says what a row is, and the joins leave out what it forgot to delete.
_MAPPED = "fts_content JOIN fts_map m ON m.fts_rowid = fts_content.rowid JOIN entities e ON e.id = m.entity_id"
_PREDECESSORS = f"""
SELECT m.entity_id, m.observation_id FROM {_MAPPED} LEFT JOIN observations o ON o.id = m.observation_id
WHERE fts_content MATCH ?1 AND {{where}} ORDER BY fts_content.rank, fts_content.rowid LIMIT ?2"""
_PREDECESSORS_IN_TEXTS = f"""
SELECT m.entity_id, m.observation_id FROM {_MAPPED} JOIN observations o ON o.id = m.observation_id
WHERE fts_content MATCH ?1 AND m.entity_id IN (SELECT value FROM json_each(?2)) AND {{where}}
ORDER BY fts_content.rank, fts_content.rowid"""


class Index:
    """The index of one category, narrowed by filters."""

    few = 300  # rows up to which one pass over the index is tried, and all are ranked
    most = 3_000  # rows of a kind that `ranked` looks at, the newest: a very frequent word in full would take long

    def __init__(self, transaction: Transaction, filters: Filters) -> None:
        """Look in the given transaction."""
        self._conn = transaction.conn
        self._own = transaction.layout.own
        self._filters = filters
        self._looked_up: dict[str, list[Hit] | None] = {}

    def ranked(self, expression: str, limit: int, at_least: int = 0) -> list[Hit]:
        """Return the best rows by BM25, enough for `limit` entities where there are as many."""
        if not self._own:
            return self._predecessors(expression, limit)
        if (few := self.all_if_few(expression)) is not None:
            return few
        rows = max(limit * _ROWS_PER_ENTITY, at_least)
        while True:
            hits = self._rows(_OWN, expression, rows)
            if len({hit.entity_id for hit in hits}) >= limit:
                return hits
            if len(hits) < rows:
                return hits + self._older(expression, hits, limit)
            rows *= _ROWS_PER_ENTITY

    def all_if_few(self, expression: str) -> list[Hit] | None:
        """Return all rows by BM25 where these are few, None where they aren't."""
        if expression not in self._looked_up:
            rows = self._rows(_OWN_FEW, expression)
            self._looked_up[expression] = rows if len(rows) <= self.few else None
        return self._looked_up[expression]

    def are_all(self, expression: str, ranked: list[Hit]) -> bool:
        """Tell whether the ranked rows are all that an expression matches."""
        return len(ranked) <= self.few and (not self._own or self.all_if_few(expression) is not None)

    def _rows(self, statement: str, expression: str, *more: int) -> list[Hit]:
        where, parameters = self._filters.on_row(2 + len(more))
        return [
            Hit(*row)
            for row in self._conn.execute(
                statement.format(where=where, most=self.most, few=self.few + 1), (expression, *more, *parameters)
            )
        ]

    def _older(self, expression: str, ranked: list[Hit], limit: int) -> list[Hit]:
        """Return rows older than the ranked ones, where too few entities were among these: unranked, newest first."""
        texts = [hit.observation_id for hit in ranked if hit.observation_id is not None]
        own_rows = [hit.entity_id - ENTITY_ROWS for hit in ranked if hit.observation_id is None]
        seen = {hit.entity_id for hit in ranked}
        older = []
        where, parameters = self._filters.on_row(4)
        for rows, least in ((own_rows, -ENTITY_ROWS), (texts, 0)):
            if len(rows) < self.most or len(seen) >= limit:
                continue
            statement = _OLDER.format(where=where)
            for entity_id, observation_id in self._conn.execute(statement, (expression, least, min(rows), *parameters)):
                if entity_id not in seen:
                    seen.add(entity_id)
                    older.append(Hit(entity_id, observation_id))
                    if len(seen) >= limit:
                        break
        return older

    def _predecessors(self, expression: str, limit: int) -> list[Hit]:
        where, parameters = self._filters.on_either(3)
        statement = _PREDECESSORS.format(where=where)
        rows = limit * _ROWS_PER_ENTITY
        while True:
            hits = [Hit(*row) for row in self._conn.execute(statement, (expression, rows, *parameters))]
            if len({hit.entity_id for hit in hits}) >= limit or len(hits) < rows:
                return hits
            rows *= _ROWS_PER_ENTITY

    def in_texts(self, expression: str | None, entity_ids: set[int]) -> Iterable[tuple[int, int]]:
        """Return `(entity id, observation id)` of rows whose text, not only the entity's name, matches, best first."""
        if expression is None or not entity_ids:
            return []
        where, parameters = self._filters.on_observation_alone(3)
        statement = (_IN_TEXTS if self._own else _PREDECESSORS_IN_TEXTS).format(where=where)
        try:
            text_only = f"{{observation_content}} : ({expression})"
            return self._conn.execute(statement, (text_only, id_list(entity_ids), *parameters)).fetchall()
        except sqlite3.OperationalError:  # a column filter of the user's own doesn't nest
            return []

    def row_ids(self, expression: str, most: int) -> list[int]:
        """Return rows that match, the newest observations first, at most so many; all of them for -1."""
        where, parameters = self._filters.on_row(3)
        statement = f"SELECT rowid FROM fts_content WHERE fts_content MATCH ?1 AND {where} ORDER BY rowid DESC LIMIT ?2"
        return [row for (row,) in self._conn.execute(statement, (expression, most, *parameters))]

    def known(self, expressions: Iterable[str]) -> set[str]:
        """Return which of the expressions match anything at all."""
        statement = (
            "SELECT j.value FROM json_each(?) j "
            "WHERE EXISTS (SELECT 1 FROM fts_content WHERE fts_content MATCH j.value)"
        )
        return {one for (one,) in self._conn.execute(statement, (jsontext.encode(list(expressions)),))}

    def is_complete(self) -> bool:
        """Tell whether the index has as many rows as there are entities and observations."""
        rows = "SELECT (SELECT count(*) FROM entities) + (SELECT count(*) FROM observations)"
        held = self._conn.execute("SELECT count(*) FROM fts_content_docsize").fetchone()
        if held == self._conn.execute(rows).fetchone():
            return True
        # Observations of no entity, which a program without foreign keys left behind, aren't in the index.
        return bool(held == self._conn.execute("SELECT count(*) FROM fts_source").fetchone())

    @cached_property
    def size(self) -> int:
        """About how many rows the index has: the ids that were given."""
        statement = "SELECT COALESCE(sum(seq), 0) FROM sqlite_sequence WHERE name IN ('entities', 'observations')"
        number: int = self._conn.execute(statement).fetchone()[0]
        return max(1, number)

    def hits(self, rows: list[int]) -> list[Hit]:
        """Return what rows are, in their order."""
        statement = (
            f"SELECT j.value, COALESCE(o.entity_id, j.value + {ENTITY_ROWS}), o.id FROM json_each(?) j "
            "LEFT JOIN observations o ON o.id = j.value"
        )
        known = {
            row: Hit(entity, observation)
            for row, entity, observation in self._conn.execute(statement, (id_list(rows),))
        }
        return [known[row] for row in rows]

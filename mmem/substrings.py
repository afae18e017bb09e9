"""Looking for texts as they were typed, wherever they stand: what a search does where words don't help."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mmem import jsontext
from mmem.query import like_pattern
from mmem.transaction import Transaction, id_list

Groups = Sequence[list[str]]  # every group counts, by any one of its spellings


class Hit(NamedTuple):
    """A row that matched: its entity, and its observation (None for the entity's own row)."""

    entity_id: int
    observation_id: int | None


class Substrings:
    """Finds rows of one transaction that contain one spelling of every group."""

    def __init__(self, transaction: Transaction) -> None:
        """Look in the given transaction."""
        self._transaction = transaction

    def anywhere(self, groups: Groups, limit: int) -> list[Hit]:
        """Return rows of up to `limit` entities, the newest texts first. This reads every row: the last resort."""
        hits: dict[int, Hit] = {}
        for every in (self.in_names(groups), self.in_texts(groups)):
            for hit in every:
                hits.setdefault(hit.entity_id, hit)
                if len(hits) >= limit:
                    return list(hits.values())
        return list(hits.values())

    def in_names(self, groups: Groups, among: Iterable[int] | None = None) -> Iterator[Hit]:
        """Yield the entities (among those with these ids) whose name, type or properties contain the groups."""
        where, parameters = self._where(groups, ["e.name", "e.entity_type"], "e.properties", "e.id", among)
        for row in self._rows(f"SELECT e.id, NULL FROM entities e WHERE {where} ORDER BY e.id", parameters):
            yield Hit(*row)

    def in_texts(
        self, groups: Groups, among: Iterable[int] | None = None, of: Iterable[int] | None = None
    ) -> Iterator[Hit]:
        """Yield the observations whose text or properties contain the groups, the newest first.

        They can be chosen by their own ids (`among`) or by their entities' (`of`).
        """
        column, ids = ("o.id", among) if of is None else ("o.entity_id", of)
        where, parameters = self._where(groups, ["o.content"], "o.properties", column, ids)
        statement = f"SELECT o.entity_id, o.id FROM observations o WHERE {where} ORDER BY o.id DESC"
        for row in self._rows(statement, parameters):
            yield Hit(*row)

    def _rows(self, statement: str, parameters: list[str]) -> Iterator[tuple[int, int | None]]:
        return iter(self._transaction.conn.execute(statement, parameters))

    def _where(
        self, groups: Groups, columns: list[str], properties: str, id_column: str, ids: Iterable[int] | None
    ) -> tuple[str, list[str]]:
        """Return the condition that every group has a spelling in one column, and its parameters.

        Properties are stored as JSON, where some characters are escaped.
        """
        parameters: list[str] = []

        def like(column: str, text: str) -> str:
            pattern = like_pattern(text)
            if pattern not in parameters:
                parameters.append(pattern)
            return f"{column} LIKE ?{parameters.index(pattern) + 1} ESCAPE '\\'"

        conditions = []
        for group in groups:
            any_of = [like(column, spelling) for spelling in group for column in columns]
            if self._transaction.layout.properties:
                any_of += [like(properties, jsontext.encode(spelling)[1:-1]) for spelling in group]
            conditions.append(f"({' OR '.join(any_of)})")
        if ids is not None:
            parameters.append(id_list(ids))
            conditions.append(f"{id_column} IN (SELECT value FROM json_each(?{len(parameters)}))")
        return " AND ".join(conditions), parameters

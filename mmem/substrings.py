"""Looking for texts as they were typed, wherever they stand: what a search does where words don't help."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from mmem import jsontext
from mmem.filters import Filters
from mmem.query import like_pattern
from mmem.tokens import folded_text
from mmem.transaction import Transaction, id_list

Groups = Sequence[list[str]]  # every group counts, by any one of its spellings


class Hit(NamedTuple):
    """A row that matched: its entity, and its observation (None for the entity's own row)."""

    entity_id: int
    observation_id: int | None


class Substrings:
    """Finds rows of one transaction that contain one spelling of every group."""

    def __init__(self, transaction: Transaction, filters: Filters | None = None) -> None:
        """Look in the given transaction, at what the filters let through."""
        self._transaction = transaction
        self._filters = filters or Filters()

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
        allowed, more = self._filters.on_entity_of_any(len(parameters) + 1)
        statement = f"SELECT e.id, NULL FROM entities e WHERE {where} AND {allowed} ORDER BY e.id"
        for row in self._rows(statement, [*parameters, *more]):
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
        if self._filters != Filters():
            allowed, more = self._filters.on_observation(len(parameters) + 1)
            joined = "observations o JOIN entities e ON e.id = o.entity_id"
            statement = f"SELECT o.entity_id, o.id FROM {joined} WHERE {where} AND {allowed} ORDER BY o.id DESC"
            parameters += more
        for row in self._rows(statement, parameters):
            yield Hit(*row)

    def folded(self, text: str, limit: int) -> list[Hit]:
        """Return rows that contain a text but for case, accents, width and normal form, up to `limit` entities.

        Only texts beyond ASCII are read: SQLite's own LIKE has seen the others.
        """
        wanted = folded_text(text)
        if not wanted:
            return []
        self._transaction.conn.create_function("mmem_folded", 1, folded_text, deterministic=True)
        on_entity, of_entity = self._filters.on_entity_of_any(2)
        on_observation, of_observation = self._filters.on_observation(2)
        parts = {"e.name": 0, "e.entity_type": 0, "o.content": 1}
        hits: dict[int, Hit] = {}
        for column, is_observation in parts.items():
            table = "observations o JOIN entities e ON e.id = o.entity_id" if is_observation else "entities e"
            where, parameters = (on_observation, of_observation) if is_observation else (on_entity, of_entity)
            statement = (
                f"SELECT e.id, {'o.id' if is_observation else 'NULL'} FROM {table} "
                f"WHERE length({column}) <> length(CAST({column} AS BLOB)) "
                f"AND instr(mmem_folded({column}), ?1) AND {where}"
            )
            for row in self._transaction.conn.execute(statement, (wanted, *parameters)):
                hits.setdefault(row[0], Hit(*row))
                if len(hits) >= limit:
                    return list(hits.values())
        return list(hits.values())

    def _rows(self, statement: str, parameters: list[Any]) -> Iterator[tuple[int, int | None]]:
        return iter(self._transaction.conn.execute(statement, parameters))

    def _where(
        self, groups: Groups, columns: list[str], properties: str, id_column: str, ids: Iterable[int] | None
    ) -> tuple[str, list[Any]]:
        """Return the condition that every group has a spelling in one column, and its parameters.

        Properties are stored as JSON, where some characters are escaped.
        """
        parameters: list[Any] = []

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

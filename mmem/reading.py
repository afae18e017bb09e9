"""Reading the graph: a few set-based statements, put together as records in Python."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from mmem.outcomes import Notice
from mmem.records import Entity, Graph, Observation, Properties, Relation
from mmem.transaction import Transaction, id_list

_decode = msgspec.json.Decoder(Properties).decode


class Reader:
    """Makes records of rows in one transaction; properties that aren't a JSON object are said, not lost."""

    def __init__(self, transaction: Transaction) -> None:
        """Read in the given transaction."""
        self._transaction = transaction
        self._conn = transaction.conn

    def graph(self, limit: int | None = None, offset: int = 0) -> Graph:
        """Return the whole graph, or a page of its entities with the relations whose `from` is on it."""
        if limit is None and not offset:
            entities = self._entities("entities e ORDER BY e.id")
            self._observe(entities, "observations o ORDER BY o.id")
            return Graph(entities=list(entities.values()), relations=self._all_relations(entities))
        page = (-1 if limit is None else limit, offset)
        entities = self._entities("entities e ORDER BY e.id LIMIT ? OFFSET ?", page)
        ids = id_list(entities)
        self._observe(entities, _OBSERVATIONS_OF, (ids,))
        return Graph(entities=list(entities.values()), relations=self._relations(_FROM_ANY, ids))

    def names(self, limit: int | None = None, offset: int = 0) -> list[str]:
        """Return the names of all entities, or of a page of them, in the order of their ids."""
        page = (-1 if limit is None else limit, offset)
        return [name for (name,) in self._conn.execute("SELECT name FROM entities ORDER BY id LIMIT ? OFFSET ?", page)]

    def entities(self, ids: Sequence[int]) -> list[Entity]:
        """Return the entities with these ids and all their observations, in the given order."""
        listed = (id_list(ids),)
        entities = self._entities(_THESE_ENTITIES, listed)
        self._observe(entities, _OBSERVATIONS_OF, listed)
        return [entities[id] for id in ids if id in entities]

    def entities_alone(self, ids: Sequence[int]) -> list[Entity]:
        """Return the entities with these ids without their observations, in the given order."""
        entities = self._entities(_THESE_ENTITIES, (id_list(ids),))
        return [entities[id] for id in ids if id in entities]

    def newest_observations(self, entity_id: int, most: int) -> list[int]:
        """Return the ids of an entity's newest observations, the newest first."""
        statement = "SELECT id FROM observations WHERE entity_id = ? ORDER BY id DESC LIMIT ?"
        return [id for (id,) in self._conn.execute(statement, (entity_id, most))]

    def count(self) -> int:
        """Return how many entities the category has."""
        number: int = self._conn.execute("SELECT count(*) FROM entities").fetchone()[0]
        return number

    def observations(self, ids: Sequence[int]) -> list[Observation]:
        """Return the observations with these ids, in the given order."""
        found: dict[int, Observation] = {}
        these = "json_each(?) j CROSS JOIN observations o ON o.id = j.value"
        for row in self._observation_rows(these, (id_list(ids),)):
            found[row[0]] = self._observation(row)
        return [found[id] for id in ids if id in found]

    def relations(self, ids: Iterable[int]) -> list[Relation]:
        """Return the relations with these ids."""
        return self._relations("(SELECT value AS id FROM json_each(?1))", id_list(ids))

    def relations_between(self, ids: Iterable[int]) -> list[Relation]:
        """Return the relations whose both ends are among the ids."""
        return self._relations(_BETWEEN, id_list(ids))

    def relations_touching(self, ids: Iterable[int]) -> list[Relation]:
        """Return the relations of which at least one end is among the ids."""
        return self._relations(_TOUCHING, id_list(ids))

    def say_lost(self, count: int, kind: str) -> None:
        """Say that rows were left out: someone deleted entities with SQLite's foreign keys off."""
        if count:
            message = f"{count} {kind} point to no entity and were left out"
            self._transaction.notice(Notice("repaired", message, kind=kind, count=count))

    def _properties(self, row: str) -> str:
        """Return the column of properties, which a predecessor's old files don't have."""
        return f"{row}.properties" if self._transaction.layout.properties else "NULL"

    def _entities(self, source: str, parameters: Sequence[object] = ()) -> dict[int, Entity]:
        columns = f"e.id, e.name, e.entity_type, {self._properties('e')}"
        return {
            id: Entity(
                id=str(id),
                name=name,
                entity_type=entity_type,
                properties=self._object(properties, "entity", id) if properties else None,
                observations=[],
            )
            for id, name, entity_type, properties in self._conn.execute(f"SELECT {columns} FROM {source}", parameters)
        }

    def _observation_rows(self, source: str, parameters: Sequence[object]) -> Iterable[tuple[Any, ...]]:
        columns = "o.id, o.entity_id, o.observation_type, o.content, o.timestamp, o.source"
        statement = f"SELECT {columns}, {self._properties('o')} FROM {source}"
        return self._conn.execute(statement, parameters)

    def _observe(self, entities: dict[int, Entity], source: str, parameters: Sequence[object] = ()) -> None:
        """Give the entities their observations."""
        lost = 0
        for row in self._observation_rows(source, parameters):
            entity = entities.get(row[1])
            if entity is None:
                lost += 1
            else:
                entity.observations.append(self._observation(row))
        self.say_lost(lost, "observations")

    def _observation(self, row: tuple[Any, ...]) -> Observation:
        id, _, kind, text, timestamp, source, properties = row
        return Observation(
            id=str(id),
            observation_type=kind,
            text=text,
            timestamp=timestamp or None,
            source=source,
            properties=self._object(properties, "observation", id) if properties else None,
        )

    def _all_relations(self, entities: dict[int, Entity]) -> list[Relation]:
        """Return every relation; the ends' names come from the entities, which are in memory anyway."""
        rows = self._conn.execute(
            "SELECT r.id, r.from_entity_id, r.to_entity_id, r.relation_type, "
            f"{self._properties('r')} FROM relations r ORDER BY r.id"
        )
        relations, lost = [], 0
        for id, source, target, kind, properties in rows:
            begin, end = entities.get(source), entities.get(target)
            if begin is None or end is None:
                lost += 1
                continue
            relations.append(
                Relation(
                    id=str(id),
                    from_name=begin.name,
                    from_type=begin.entity_type,
                    to_name=end.name,
                    to_type=end.entity_type,
                    relation_type=kind,
                    properties=self._object(properties, "relation", id) if properties else None,
                    from_id=begin.id,
                    to_id=end.id,
                )
            )
        self.say_lost(lost, "relations")
        return relations

    def _relations(self, which: str, ids: str) -> list[Relation]:
        return [
            Relation(
                id=str(id),
                from_name=from_name,
                from_type=from_type,
                to_name=to_name,
                to_type=to_type,
                relation_type=kind,
                properties=self._object(text, "relation", id) if text else None,
                from_id=str(source),
                to_id=str(target),
            )
            for id, source, target, kind, text, from_name, from_type, to_name, to_type in self._conn.execute(
                "SELECT r.id, r.from_entity_id, r.to_entity_id, r.relation_type, "
                f"{self._properties('r')}, f.name, f.entity_type, t.name, t.entity_type FROM {which} k "
                "CROSS JOIN relations r ON r.id = k.id JOIN entities f ON f.id = r.from_entity_id "
                "JOIN entities t ON t.id = r.to_entity_id ORDER BY r.id",
                (ids,),
            )
        ]

    def _object(self, text: Any, kind: str, id: object) -> Properties | None:
        """Return stored properties; whatever isn't a JSON object is wrapped, with a notice."""
        try:
            return _decode(text) or None
        except (msgspec.MsgspecError, TypeError, RecursionError):
            shown = f"the properties of {kind} {id} aren't a JSON object; they are shown under '_value'"
            self._transaction.notice(Notice("repaired", shown, kind=kind, id=str(id)))
            return {"_value": _loosely(text)}


def _loosely(text: Any) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, TypeError, RecursionError):
        return text if isinstance(text, str) else repr(text)


_THESE_ENTITIES = "json_each(?) j CROSS JOIN entities e ON e.id = j.value"
_OBSERVATIONS_OF = "json_each(?) j CROSS JOIN observations o ON o.entity_id = j.value ORDER BY o.id"
_BETWEEN = (
    "(SELECT r.id FROM json_each(?1) j CROSS JOIN relations r ON r.from_entity_id = j.value "
    "WHERE +r.to_entity_id IN (SELECT value FROM json_each(?1)))"  # the +: else each pair is looked up, n times n
)
_FROM_ANY = "(SELECT r.id FROM json_each(?1) j CROSS JOIN relations r ON r.from_entity_id = j.value)"
_TOUCHING = (
    "(SELECT r.id FROM json_each(?1) j CROSS JOIN relations r ON r.from_entity_id = j.value "
    "UNION SELECT r.id FROM json_each(?1) j CROSS JOIN relations r ON r.to_entity_id = j.value)"
)

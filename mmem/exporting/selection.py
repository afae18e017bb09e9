"""What of a category is exported: all of it or a part, read bit by bit in one transaction."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from mmem.arguments import Part, Reference, Type
from mmem.around import around
from mmem.errors import Ambiguous
from mmem.lookup import Resolver
from mmem.missing import Missing
from mmem.observations import counts
from mmem.outcomes import Notice
from mmem.reading import Reader
from mmem.records import Entity, Graph, Relation
from mmem.transaction import Transaction, id_list
from mmem.values import nfc
from mmem.visible import plural

Ids: TypeAlias = "array[int]"  # eight bytes an id, whatever the number of them
Show = Callable[[int, int], None]  # takes what is done, and all there is to do

_BLOCK = 1_000  # entities that are looked at together
_RECORDS = 5_000  # that are in memory at once; one entity's observations may be more


class Wanted(Part, frozen=True):
    """What to export: the entities of some types, those around others, those that are both, or all."""

    types: list[Type] = msgspec.field(default_factory=list)
    around: list[Reference] = msgspec.field(default_factory=list)
    depth: Annotated[int, Meta(ge=0)] = 1


class Selection:
    """The entities that are wanted and the relations between them, in the order of their ids."""

    def __init__(self, transaction: Transaction, wanted: Wanted, show: Show = lambda done, total: None) -> None:
        """Find out which ones they are. Raises `NotFound` and `Ambiguous` for a name to look around."""
        self.transaction = transaction
        self.category = transaction.category
        self.observations = 0  # that were read: known once `entities` is at its end
        self.relations_read = 0
        self._reader = Reader(transaction)
        self._show = show
        self._done = 0
        self._is_whole = not wanted.types and not wanted.around
        self._entities = self._all("entities") if self._is_whole else self._chosen(wanted)
        self._relations = self._all("relations") if self._is_whole else self._between()
        if not self._is_whole:
            self._say_left_out()

    def __len__(self) -> int:
        """Return how many entities there are."""
        return len(self._entities)

    def entities(self) -> Iterator[Entity]:
        """Yield the entities."""
        self.observations = self._done = 0
        for ids in self._bites():
            for entity in self._reader.entities(ids):
                self.observations += len(entity.observations)
                yield entity
            self._progress(len(ids))
        if self._is_whole:
            self._reader.say_lost(self._count("observations") - self.observations, "observations")

    def relations(self) -> Iterator[Relation]:
        """Yield the relations."""
        self.relations_read = 0
        for first in range(0, len(self._relations), _RECORDS):
            ids = self._relations[first : first + _RECORDS]
            read = self._reader.relations(ids)
            self.relations_read += len(read)
            yield from read
            self._progress(len(ids))
        if self._is_whole:
            self._reader.say_lost(len(self._relations) - self.relations_read, "relations")

    def graph(self) -> Graph:
        """Return all of it at once."""
        return Graph(entities=list(self.entities()), relations=list(self.relations()))

    def shared_names(self) -> set[str]:
        """Return the names that several of the entities have."""
        statement = _SHARED if self._is_whole else _SHARED_AMONG
        parameters = () if self._is_whole else (id_list(self._entities),)
        return {name for (name,) in self.transaction.conn.execute(statement, parameters)}

    def types(self) -> list[str]:
        """Return the types that the entities of the category have, wanted or not."""
        statement = "SELECT DISTINCT entity_type FROM entities ORDER BY 1"
        return [kind for (kind,) in self.transaction.conn.execute(statement)]

    def _bites(self) -> Iterator[Sequence[int]]:
        """Yield the entities' ids, together as many as have a bounded number of observations."""
        for first in range(0, len(self._entities), _BLOCK):
            block = self._entities[first : first + _BLOCK]
            held = counts(self.transaction, block)
            bite: list[int] = []
            size = 0
            for id in block:
                size += 1 + held.get(id, 0)
                if bite and size > _RECORDS:
                    yield bite
                    bite, size = [], 1 + held.get(id, 0)
                bite.append(id)
            yield bite

    def _progress(self, count: int) -> None:
        self._done += count
        self._show(self._done, len(self._entities) + len(self._relations))

    def _count(self, table: str) -> int:
        number: int = self.transaction.conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        return number

    def _ids(self, statement: str, *parameters: str) -> Ids:
        return array("q", (id for (id,) in self.transaction.conn.execute(statement, parameters)))

    def _all(self, table: str) -> Ids:
        return self._ids(f"SELECT id FROM {table} ORDER BY id")

    def _chosen(self, wanted: Wanted) -> Ids:
        types = msgspec.json.encode([nfc(one) for one in wanted.types]).decode()
        if not wanted.around:
            return self._ids(_OF_TYPES, types)
        found = around(self.transaction, self._starts(wanted.around), wanted.depth)
        return self._ids(_THESE_OF_TYPES, id_list(found), types) if wanted.types else array("q", found)

    def _starts(self, references: Sequence[Reference]) -> list[int]:
        """Return the ids of the entities to look around. Raises `NotFound` and `Ambiguous`."""
        resolver = Resolver(self.transaction, references)
        missing = Missing(self.transaction, resolver)
        starts = []
        for index, reference in enumerate(references):
            path = f"$.around[{index}]"
            try:
                found = resolver.find(reference, path)
            except Ambiguous as error:
                error.message = error.message.replace("the `type` or the id", "the id")  # --type is another thing here
                raise
            if found is None:
                missing.add(path, reference)
            else:
                starts.append(found.id)
        missing.require_none()
        return starts

    def _between(self) -> Ids:
        return self._ids(_BETWEEN, id_list(self._entities))

    def _say_left_out(self) -> None:
        """Say how many relations lead from the selected entities to others."""
        touching = f"SELECT count(*) FROM ({_TOUCHING})"
        number = self.transaction.conn.execute(touching, (id_list(self._entities),)).fetchone()[0]
        if left := number - len(self._relations):
            message = f"{plural(left, 'relation')} to entities that aren't exported {_were(left)} left out"
            self.transaction.notice(Notice("truncated", message, relations=left))


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


_OF_TYPES = (
    "SELECT e.id FROM entities e WHERE e.entity_type IN (SELECT value FROM json_each(?1)) ORDER BY e.id"  # by its index
)
_THESE_OF_TYPES = (
    "SELECT e.id FROM json_each(?1) j CROSS JOIN entities e ON e.id = j.value "
    "WHERE e.entity_type IN (SELECT value FROM json_each(?2)) ORDER BY e.id"
)
_BETWEEN = (
    "SELECT r.id FROM json_each(?1) j CROSS JOIN relations r ON r.from_entity_id = j.value "
    "WHERE +r.to_entity_id IN (SELECT value FROM json_each(?1)) ORDER BY r.id"
)
_TOUCHING = (
    "SELECT r.id FROM json_each(?1) j CROSS JOIN relations r ON r.from_entity_id = j.value "
    "UNION SELECT r.id FROM json_each(?1) j CROSS JOIN relations r ON r.to_entity_id = j.value"
)
_SHARED = "SELECT name FROM entities GROUP BY name HAVING count(*) > 1"
_SHARED_AMONG = (
    "SELECT e.name FROM json_each(?1) j CROSS JOIN entities e ON e.id = j.value GROUP BY e.name HAVING count(*) > 1"
)

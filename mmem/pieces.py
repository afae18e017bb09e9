"""Pieces of words in texts without spaces: no index has them, so the newest of these texts are read for them."""

import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, islice

from mmem.filters import Filters
from mmem.schema import ENTITY_ROWS
from mmem.transaction import Transaction, id_list

_BLOCK = 10_000  # texts looked through at a time
_BLOCK_CHARACTERS = 4_000_000  # and what they hold at most, but for the last one
_END = "\0"  # between texts; only another program's could hold it

_TEXT = "CASE WHEN {row}.properties IS NULL THEN {text} ELSE {text} || char(10) || {row}.properties END"
_NAMES = _TEXT.format(row="e", text="e.name || char(10) || e.entity_type")
_CONTENT = _TEXT.format(row="o", text="o.content")
_OBSERVED = "observations o JOIN entities e ON e.id = o.entity_id"
_AMONG = (
    f"SELECT o.id, {_CONTENT} || char(10) || {_NAMES} FROM json_each(?1) j CROSS JOIN {_OBSERVED} WHERE o.id = j.value "
    f"UNION ALL SELECT j.value, {_NAMES} FROM json_each(?1) j CROSS JOIN entities e ON e.id = j.value + {ENTITY_ROWS}"
)
_OF = (
    "SELECT o.entity_id, o.id FROM json_each(?1) j CROSS JOIN observations o ON o.entity_id = j.value "
    "JOIN entities e ON e.id = o.entity_id WHERE {where}"
)


def _beyond_ascii(*columns: str) -> str:
    return "(" + " OR ".join(f"length({one}) <> length(CAST({one} AS BLOB))" for one in columns) + ")"


class Pieces:
    """Finds rows that hold pieces: by the index's numbers, observations above 0 and entities below."""

    most = 100_000  # texts that are read, the newest of those that hold more than ASCII

    def __init__(self, transaction: Transaction, filters: Filters) -> None:
        """Look in the given transaction, at what the filters let through."""
        self._conn = transaction.conn
        self._filters = filters
        self.are_all = True  # whether all texts were read, not only the newest

    def rows(self, pieces: Sequence[str], limit: int) -> list[list[int]]:
        """Return the rows whose text or entity's name holds each piece, newest observations first.

        Of what more than `limit` texts hold, not all are returned.
        """
        named = self._holding(pieces, self._names(), limit)
        found = self._holding(pieces, self._texts(), limit)
        passing = self._passing({id for ids in named for id in ids})
        observed = self._observations_of({id for ids in named for id in ids if len(ids) <= limit // 4})
        for rows, ids in zip(found, named, strict=True):
            rows += [id - ENTITY_ROWS for id in ids if id in passing]
            rows += [row for id in ids for row in observed.get(id, ())]
        return [sorted(set(rows), reverse=True) for rows in found]

    def among(self, pieces: Sequence[str], rows: Collection[int]) -> list[list[int]]:
        """Return which of the rows hold each piece."""
        if not pieces:
            return []
        return self._holding(pieces, iter(self._conn.execute(_AMONG, (id_list(rows),))), len(rows))

    def _names(self) -> Iterator[tuple[int, str]]:
        beyond = _beyond_ascii("e.name", "e.entity_type", "e.properties")
        statement = f"SELECT e.id, {_NAMES} FROM entities e WHERE {beyond} ORDER BY e.id DESC LIMIT {self.most}"
        return iter(self._conn.execute(statement))

    def _texts(self) -> Iterator[tuple[int, str]]:
        beyond = _beyond_ascii("o.content", "o.properties")
        where, parameters = self._filters.on_observation(1)
        table = _OBSERVED if parameters else "observations o"
        statement = (
            f"SELECT o.id, {_CONTENT} FROM {table} WHERE {beyond} AND {where} ORDER BY o.id DESC LIMIT {self.most}"
        )
        return iter(self._conn.execute(statement, parameters))

    def _passing(self, entity_ids: set[int]) -> set[int]:
        """Return the entities whose own rows the filters let through."""
        if self._filters == Filters():
            return entity_ids
        if self._filters.choose_observations:
            return set()
        where, parameters = self._filters.on_entity(2)
        statement = f"SELECT e.id FROM json_each(?1) j CROSS JOIN entities e ON e.id = j.value WHERE {where}"
        return {id for (id,) in self._conn.execute(statement, (id_list(entity_ids), *parameters))}

    def _observations_of(self, entity_ids: set[int]) -> dict[int, list[int]]:
        where, parameters = self._filters.on_observation(2)
        rows: dict[int, list[int]] = {}
        for id, row in self._conn.execute(_OF.format(where=where), (id_list(entity_ids), *parameters)):
            rows.setdefault(id, []).append(row)
        return rows

    def _holding(self, pieces: Sequence[str], texts: Iterator[tuple[int, str]], limit: int) -> list[list[int]]:
        """Return the ids of the texts that hold each piece, in their order, about `limit` for each at most."""
        found: list[list[int]] = [[] for _ in pieces]
        has_case = any(piece.upper() != piece for piece in pieces)
        read = 0
        while block := _block(texts):
            places = [place for place, _ in block]
            contents = [text.replace(_END, " ") if _END in text else text for _, text in block]
            joined = unicodedata.normalize("NFKC", _END.join(contents))
            joined = joined.lower() if has_case else joined
            ends = list(accumulate(map(len(_END).__add__, map(len, joined.split(_END)))))
            for piece, ids in zip(pieces, found, strict=True):
                if len(ids) <= limit:
                    ids += [places[place] for place in _places(piece, joined, ends)]
            read += len(block)
        self.are_all = self.are_all and read < self.most
        return found


def _block(texts: Iterator[tuple[int, str]]) -> list[tuple[int, str]]:
    block, characters = [], 0
    for one in islice(texts, _BLOCK):
        block.append(one)
        characters += len(one[1])
        if characters > _BLOCK_CHARACTERS:
            break
    return block


def _places(piece: str, joined: str, ends: list[int]) -> list[int]:
    """Return the places of the texts that hold a piece, in what they are joined to."""
    found = []
    at = joined.find(piece)
    while at >= 0:
        place = bisect_right(ends, at)
        found.append(place)
        at = joined.find(piece, ends[place])
    return found

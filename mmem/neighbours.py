"""The observations whose meaning is nearest to a query's: every vector of a category is compared.

Vectors that were read stay in the process, and the next search reads only what came since. What is found is looked
up in the search's own state of the file, so that nothing stale comes out.
"""

from collections import OrderedDict
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

from mmem import semantic, vectors
from mmem.filters import Filters
from mmem.semantic import DIMENSIONS, SCALE
from mmem.transaction import Transaction, id_list

NEAREST = 100  # observations that a search gets at most
MOST = 1_000_000  # vectors of a category that are compared, the newest: 256 MB

_LOOKED_AT = 10_000  # of the nearest, where filters let few of them through
_LIKE_THE_BEST = 0.4  # of the best one's likeness: what is further off than that is noise
_KEPT = 256_000_000  # bytes of vectors that stay in the process
_DIGITS = 4  # of a likeness: where equal vectors stand decides the last bits of a product
_BLOCK = 1_024  # vectors compared at a time: as floats they fit into the processor's cache


class Near(NamedTuple):
    """An observation and its likeness: a cosine, up to 1."""

    observation_id: int
    likeness: float


def nearest(transaction: Transaction, filters: Filters, words: Sequence[tuple[str, float]], least: float) -> list[Near]:
    """Return the observations nearest to weighted words, the nearest first, at most `NEAREST`.

    None is less alike than `least`, or than a good part of the nearest one. Without the extra, and in a file without
    vectors of its model, there are none.
    """
    if not semantic.is_on():
        return []
    transaction.flush_vectors()
    model = semantic.model() if vectors.are_kept(transaction.conn) else None
    found = vectors.find(transaction.conn, model) if model is not None else None
    if model is None or found is None:
        return []
    np = import_module("numpy")
    parts = _read_all(transaction, *found)
    vector = np.frombuffer(model.embed_words(words), np.float32) / np.float32(SCALE)
    likeness = np.concatenate([part.likeness(vector) for part in parts]).round(_DIGITS)
    ids = np.concatenate([part.ids for part in parts])
    near: list[Near] = []
    for looked_at in (NEAREST, _LOOKED_AT):
        best = _best(likeness, looked_at)
        best = best[likeness[best] >= least]
        passing = _passing(transaction, filters, found[0], ids[best].tolist())
        pairs = zip(ids[best].tolist(), likeness[best].tolist(), strict=True)
        near = [Near(id, like) for id, like in pairs if id in passing][:NEAREST]
        if len(near) == NEAREST or len(best) < looked_at:
            break
    return [one for one in near if one.likeness >= _LIKE_THE_BEST * near[0].likeness]


def _best(likeness: Any, count: int) -> Any:
    """Return the places of the greatest numbers, the greatest first, of equal ones the first."""
    np = import_module("numpy")
    least = -np.partition(-likeness, count - 1)[count - 1] if count < len(likeness) else -np.inf
    places = np.flatnonzero(likeness >= least)
    return places[np.argsort(-likeness[places], kind="stable")][:count]


def _passing(transaction: Transaction, filters: Filters, key: int, ids: list[int]) -> set[int]:
    """Return which of the observations still have a vector of the model, and are let through by the filters."""
    where, parameters = filters.on_observation(3)
    statement = (
        "SELECT o.id FROM json_each(?1) j CROSS JOIN mmem_vectors v ON v.observation_id = j.value "
        "CROSS JOIN observations o ON o.id = v.observation_id CROSS JOIN entities e ON e.id = o.entity_id "
        f"WHERE v.model = ?2 AND {where}"
    )
    return {id for (id,) in transaction.conn.execute(statement, (id_list(ids), key, *parameters))}


class _Matrix:
    """Vectors in the order of their observations' ids; room for more is made in large steps."""

    def __init__(self) -> None:
        self._np = np = import_module("numpy")
        self._count = 0
        self._ids = np.empty(0, np.int64)
        self._rows = np.empty((0, DIMENSIONS), np.int8)

    @property
    def ids(self) -> Any:
        """The observations' ids."""
        return self._ids[: self._count]

    @property
    def last(self) -> int:
        """The greatest id, 0 where there is none."""
        return int(self._ids[self._count - 1]) if self._count else 0

    @property
    def last_vector(self) -> bytes:
        """The vector of that observation."""
        vector: bytes = self._rows[self._count - 1].tobytes()
        return vector

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return int(self._rows.nbytes + self._ids.nbytes)

    def append(self, rows: Sequence[tuple[int, bytes]]) -> None:
        np, before, after = self._np, self._count, self._count + len(rows)
        if after > len(self._ids):
            ids, kept = self.ids, self._rows[:before]
            room = max(after, len(self._ids) * 5 // 4)
            self._ids, self._rows = np.empty(room, np.int64), np.empty((room, DIMENSIONS), np.int8)
            self._ids[:before], self._rows[:before] = ids, kept
        self._ids[before:after] = [id for id, _ in rows]
        joined = b"".join([vector for _, vector in rows])
        self._rows[before:after] = np.frombuffer(joined, np.int8).reshape(-1, DIMENSIONS)
        self._count = after

    def likeness(self, vector: Any) -> Any:
        """Return the product of each row with a vector."""
        np = self._np
        products = np.empty(self._count, np.float32)
        block = np.empty((_BLOCK, DIMENSIONS), np.float32)
        for start in range(0, self._count, _BLOCK):
            rows = self._rows[start : min(start + _BLOCK, self._count)]
            block[: len(rows)] = rows
            np.dot(block[: len(rows)], vector, out=products[start : start + len(rows)])
        return products


# By file and epoch, the one used last at the end. A copy of a file has its epoch.
_kept: OrderedDict[tuple[str, int], _Matrix] = OrderedDict()


def _read_all(transaction: Transaction, key: int, epoch: int) -> list[_Matrix]:
    """Return a model's vectors; those that this transaction wrote aren't kept, for it may be rolled back."""
    place = transaction.conn.execute("PRAGMA database_list").fetchone()[2], epoch
    matrix = _kept.get(place) or _Matrix()
    if not _goes_on(transaction, matrix, key):
        matrix = _Matrix()
    _read(transaction, matrix, key, transaction.first_vector)
    _kept[place] = matrix
    _kept.move_to_end(place)
    while len(_kept) > 1 and sum(one.size for one in _kept.values()) > _KEPT:
        _kept.popitem(last=False)
    if transaction.first_vector is None:
        return [matrix]
    own = _Matrix()
    _read(transaction, own, key, None, after=transaction.first_vector - 1)
    return [matrix, own]


def _goes_on(transaction: Transaction, matrix: _Matrix, key: int) -> bool:
    """Tell whether a file's vectors are those of a matrix and more; another file may have been put in its place."""
    if not matrix.last:
        return True
    statement = "SELECT vector FROM mmem_vectors WHERE observation_id = ? AND model = ?"
    found = transaction.conn.execute(statement, (matrix.last, key)).fetchone()
    return found is not None and found[0] == matrix.last_vector


def _read(transaction: Transaction, matrix: _Matrix, key: int, before: int | None, after: int = 0) -> None:
    """Read what comes after a matrix's last vector, or after an observation, and before another."""
    newest = f"(SELECT max(observation_id) - {MOST} FROM mmem_vectors)"
    rows = transaction.conn.execute(
        f"SELECT observation_id, vector FROM mmem_vectors WHERE observation_id > max(?1, {newest}) "
        "AND observation_id < ?2 AND model = ?3 AND length(vector) = ?4 ORDER BY observation_id",
        (max(after, matrix.last), 1 << 62 if before is None else before, key, DIMENSIONS),
    )
    while some := rows.fetchmany(10 * _BLOCK):
        matrix.append(some)


def forget() -> None:
    """Let go of the vectors that stay in the process."""
    _kept.clear()

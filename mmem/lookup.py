"""Finding entities by reference: an id, or a name and type."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from mmem.arguments import Reference
from mmem.errors import Ambiguous
from mmem.names import nearest
from mmem.schema import UNKNOWN_KEY
from mmem.transaction import Transaction, id_list
from mmem.values import nfc, twin_key

_ALL_NAMES = 5_000  # up to here, every name is a candidate for "did you mean"
_PREFIX_NAMES = 500


class Found(NamedTuple):
    """An entity's id, name and type."""

    id: int
    name: str
    entity_type: str


class Resolver:
    """Resolves many references with one query for the ids and one for the names."""

    def __init__(self, transaction: Transaction, references: Iterable[Reference]) -> None:
        """Look up everything that the references could mean."""
        self._transaction = transaction
        references = list(references)
        ids = {reference.id for reference in references if isinstance(reference.id, int)}
        names = {reference.name for reference in references if reference.id is None and reference.name is not None}
        self._by_id = {found.id: found for found in entities_by_id(transaction, ids)}
        self._by_name: dict[str, dict[str, Found]] = {}
        for found in entities_by_name(transaction, names | {nfc(name) for name in names}):
            self._by_name.setdefault(found.name, {})[found.entity_type] = found

    def find(self, reference: Reference, path: str) -> Found | None:
        """Return the entity, or None. A left-out type means `""`, else the only entity of the name.

        Raises `Ambiguous` where several types share a name whose type was left out.
        """
        if isinstance(reference.id, int):
            return self._with_id(reference)
        for types in self._types_of(reference):
            if (found := _of_type(types, reference.entity_type or "")) is not None:
                return found
        if reference.entity_type is not None:
            return None
        for types in self._types_of(reference):
            if len(types) > 1:
                raise _ambiguous(reference, path, list(types.values()))
            return next(iter(types.values()))
        return None

    def find_exactly(self, reference: Reference) -> Found | None:
        """Return the entity where a left-out type means exactly `""`, as deletions do."""
        if isinstance(reference.id, int):
            return self._with_id(reference)
        for types in self._types_of(reference):
            if (found := _of_type(types, reference.entity_type or "")) is not None:
                return found
        return None

    def with_id(self, reference: Reference) -> Found | None:
        """Return the entity of the reference's id, whatever name and type the reference gives."""
        return self._by_id.get(reference.id) if isinstance(reference.id, int) else None

    def others(self, reference: Reference) -> list[Found]:
        """Return the entities of the reference's name, whatever their type."""
        return [found for types in self._types_of(reference) for found in types.values()]

    def _types_of(self, reference: Reference) -> list[dict[str, Found]]:
        """Return the entities of the name as given, then those of its NFC."""
        name = reference.name or ""
        return [self._by_name[key] for key in dict.fromkeys((name, nfc(name))) if key in self._by_name]

    def _with_id(self, reference: Reference) -> Found | None:
        found = self._by_id.get(reference.id) if isinstance(reference.id, int) else None
        if found is None or (reference.name is not None and found.name not in {reference.name, nfc(reference.name)}):
            return None
        given = reference.entity_type
        return found if given is None or found.entity_type in {given, nfc(given)} else None


def _of_type(types: dict[str, Found], entity_type: str) -> Found | None:
    return types.get(entity_type) or types.get(nfc(entity_type))


def _ambiguous(reference: Reference, path: str, candidates: list[Found]) -> Ambiguous:
    listed = ", ".join(f"'{found.entity_type}' (id {found.id})" for found in candidates[:10])
    more = f" and {len(candidates) - 10} more" if len(candidates) > 10 else ""
    return Ambiguous(
        f"{path}: {len(candidates)} entities are named '{reference.name}', of the types {listed}{more}; "
        f"give the `type` or the id (id:{candidates[0].id})",
        {
            "path": path,
            "name": reference.name,
            "candidates": [{"id": str(found.id), "entityType": found.entity_type} for found in candidates],
        },
    )


def entities_by_id(transaction: Transaction, ids: Iterable[int]) -> Iterable[Found]:
    """Return the entities that have these ids, in the order of the ids."""
    statement = "SELECT e.id, e.name, e.entity_type FROM json_each(?) j CROSS JOIN entities e ON e.id = j.value"
    listed = id_list(ids)
    return map(Found._make, transaction.conn.execute(statement, (listed,))) if listed != "[]" else ()


def entities_by_name(transaction: Transaction, names: Iterable[str]) -> Iterable[Found]:
    """Return the entities that have these names, exactly."""
    listed = list(names)
    if len(listed) == 1:
        statement = "SELECT id, name, entity_type FROM entities WHERE name = ? ORDER BY id"
        return map(Found._make, transaction.conn.execute(statement, listed))
    if not listed:
        return ()
    statement = "SELECT e.id, e.name, e.entity_type FROM json_each(?) j CROSS JOIN entities e ON e.name = j.value"
    return map(Found._make, transaction.conn.execute(statement, (msgspec.json.encode(listed).decode(),)))


def near_names(transaction: Transaction, name: str) -> list[str]:
    """Return up to three stored names that are near to one that wasn't found."""
    newest = "SELECT DISTINCT name FROM entities ORDER BY id DESC LIMIT ?"
    names = [row[0] for row in transaction.conn.execute(newest, (_ALL_NAMES,))]
    if len(names) == _ALL_NAMES:  # a large category: look among those that begin alike, too
        beginning = "SELECT DISTINCT name FROM entities WHERE name >= ? AND name < ? LIMIT ?"
        for start in dict.fromkeys((name[:2], name[:2].lower(), name[:2].upper(), name[:2].capitalize())):
            end = start + "\U0010ffff"
            names += [row[0] for row in transaction.conn.execute(beginning, (start, end, _PREFIX_NAMES))]
        names += [found.name for _, found in _twins(transaction, [twin_key(name)])]
    return nearest(name, list(dict.fromkeys(names)))


def near_twins(transaction: Transaction, new: Sequence[Found]) -> dict[int, Found]:
    """Return, by the new entity's id, an older entity whose name differs only in case, spaces, `_` and `-`."""
    keys = [twin_key(found.name) for found in new]
    by_key: dict[str, list[Found]] = {}
    for key, found in _twins(transaction, list(dict.fromkeys(keys))):
        by_key.setdefault(key, []).append(found)
    twins = {}
    for key, found in zip(keys, new, strict=True):
        if len(same := by_key[key]) == 1:  # itself
            continue
        for other in same:
            if other.name != found.name and other.id < found.id:
                twins[found.id] = other
                break
    return twins


def twin_of(transaction: Transaction, found: Found) -> Found | None:
    """Return another entity whose name differs from this one's only in case, spaces, `_` and `-`."""
    same = (other for _, other in _twins(transaction, [twin_key(found.name)]))
    return next((other for other in same if other.name != found.name), None)


def _twins(transaction: Transaction, keys: list[str]) -> Iterable[tuple[str, Found]]:
    """Return each entity that has one of the keys, with the key, the oldest first."""
    if not transaction.layout.own:
        return ()
    columns = "n.twin_key, e.id, e.name, e.entity_type"
    joined = "mmem_names n CROSS JOIN entities e ON e.id = n.entity_id"
    if len(keys) == 1:
        statement = f"SELECT {columns} FROM {joined} WHERE n.twin_key = ? ORDER BY n.entity_id"
        rows = transaction.conn.execute(statement, keys)
    else:
        statement = (
            f"SELECT {columns} FROM json_each(?) j CROSS JOIN {joined} AND n.twin_key = j.value ORDER BY n.entity_id"
        )
        rows = transaction.conn.execute(statement, (msgspec.json.encode(keys).decode(),))
    return ((key, Found(*rest)) for key, *rest in rows)


def remember_names(transaction: Transaction, new: Iterable[Found]) -> None:
    """Store the twin keys of new entities, and of those that another program created or renamed meanwhile."""
    named = {found.id: found.name for found in new}
    if transaction.catches_up_names():
        conn = transaction.conn
        renamed = (
            "SELECT e.id, e.name FROM mmem_names n CROSS JOIN entities e ON e.id = n.entity_id WHERE n.twin_key = ?"
        )
        newer = "SELECT id, name FROM entities WHERE id > (SELECT COALESCE(max(entity_id), 0) FROM mmem_names)"
        named = dict([*conn.execute(renamed, (UNKNOWN_KEY,)), *conn.execute(newer)])
        conn.execute("DELETE FROM mmem_names WHERE twin_key = ?", (UNKNOWN_KEY,))
    rows = [(id, twin_key(name)) for id, name in named.items()]
    transaction.insert("mmem_names", "entity_id, twin_key", rows)

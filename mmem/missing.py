"""Sentences about entities that a request names and the category doesn't have."""

from collections.abc import Iterable, Mapping

from mmem.arguments import Reference
from mmem.errors import NotFound
from mmem.lookup import Found, Resolver, near_names
from mmem.names import did_you_mean
from mmem.outcomes import Notice
from mmem.transaction import Transaction, id_list

_SUGGESTIONS = 5  # how many of a request's missing names get a "did you mean"


class Missing:
    """Collects what wasn't found, and says it: as notices where that is fine, as one error where it isn't."""

    def __init__(self, transaction: Transaction, resolver: Resolver) -> None:
        """Collect for one request."""
        self._transaction = transaction
        self._resolver = resolver
        self._items: list[tuple[str, Reference]] = []

    def add(self, path: str, reference: Reference) -> None:
        """Note that the reference at a path names nothing."""
        self._items.append((path, reference))

    def notices(self) -> Iterable[Notice]:
        """Return a notice for each."""
        for index, (path, reference) in enumerate(self._items):
            sentence = self._sentence(reference, index < _SUGGESTIONS)
            others = self._resolver.others(reference)
            yield Notice("not_found", f"{path}: {sentence}", path=path, **_details(reference, others))

    def require_none(self, *, reading: bool = False) -> None:
        """Raise `NotFound` that names every one with its path, if there is any."""
        if not self._items:
            return
        sentences = [
            f"{path}: {self._sentence(reference, index < _SUGGESTIONS)}"
            for index, (path, reference) in enumerate(self._items)
        ]
        listed = [{"path": path, **_details(item, self._resolver.others(item))} for path, item in self._items]
        no_category = [n.message for n in self._transaction.notices if n.code == "no_such_category"]
        written = "" if reading else " (nothing was written)"
        raise NotFound("; ".join([*sentences, *no_category]) + written, {"missing": listed})

    def _sentence(self, reference: Reference, suggest: bool) -> str:
        category = f"in category '{self._transaction.category}'"
        others = self._resolver.others(reference)
        if isinstance(reference.id, int):
            if (found := self._resolver.with_id(reference)) is not None:
                there = f"'{found.name}' of type '{found.entity_type}'"
                return f"the entity with id {reference.id} {category} isn't {_named(reference)} but {there}"
            return f"no entity has {reference} {category}"
        if others:
            types = ", ".join(f"'{found.entity_type}' (id {found.id})" for found in others[:5])
            return (
                f"no entity '{reference.name}' of type '{reference.entity_type or ''}' {category}; the name exists "
                f"with the type {types}"
            )
        name = reference.name or ""
        near = near_names(self._transaction, name) if suggest else []
        number = name.removeprefix("#")
        id_hint = f' (the id is written id:{number}, in JSON {{"id": {number}}})' if number.isdecimal() else ""
        return f"no entity {reference} {category}{did_you_mean(near)}{id_hint}"


def _named(reference: Reference) -> str:
    named = [] if reference.name is None else [f"'{reference.name}'"]
    return " ".join([*named, *([] if reference.entity_type is None else [f"of type '{reference.entity_type}'"])])


def _details(reference: Reference, others: list[Found]) -> dict[str, object]:
    details: dict[str, object] = {}
    if reference.id is not None:
        details["id"] = str(reference.id)
    if reference.name is not None:
        details["name"] = reference.name
    if reference.entity_type is not None:
        details["entityType"] = reference.entity_type
    if others:
        details["candidates"] = [{"id": str(found.id), "entityType": found.entity_type} for found in others]
    return details


def ids_present(transaction: Transaction, table: str, noun: str, given: Mapping[str, int]) -> set[int]:
    """Return those of the ids, given by their paths, that a table has; say of the others that they aren't there."""
    statement = f"SELECT t.id FROM json_each(?) j CROSS JOIN {table} t ON t.id = j.value"
    there = {row[0] for row in transaction.conn.execute(statement, (id_list(given.values()),))}
    for path, id in given.items():
        if id not in there:
            message = f"{path}: no {noun} has id {id} in category '{transaction.category}'"
            transaction.notice(Notice("not_found", message, path=path, id=str(id)))
    return there

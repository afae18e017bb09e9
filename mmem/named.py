"""The entities that a request can't do without."""

from collections.abc import Iterable

from mmem.arguments import Reference
from mmem.lookup import Found, Resolver
from mmem.missing import Missing
from mmem.transaction import Transaction


def all_named(
    transaction: Transaction, references: Iterable[tuple[str, Reference]], *, reading: bool = False
) -> list[Found]:
    """Return the entities that references at their paths mean; `reading` says that nothing would be written.

    Raises `NotFound` that names every one that is missing, and `Ambiguous`.
    """
    given = list(references)
    resolver = Resolver(transaction, (reference for _, reference in given))
    missing = Missing(transaction, resolver)
    found = []
    for path, reference in given:
        one = resolver.find(reference, path)
        if one is None:
            missing.add(path, reference)
        else:
            found.append(one)
    missing.require_none(reading=reading)
    return found


def shown(found: Found) -> str:
    """Return an entity's name, and its type if it has one, for messages."""
    return f"'{found.name}'" + (f" ({found.entity_type})" if found.entity_type else "")

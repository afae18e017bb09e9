"""An entity that gets another name or type, and keeps its id, observations and relations."""

from mmem.arguments import EntityInput
from mmem.errors import InvalidArguments
from mmem.lookup import Found, entities_by_name, remember_names, twin_of
from mmem.named import shown
from mmem.outcomes import Notice
from mmem.transaction import Transaction
from mmem.values import nfc


def require_name(key: str, name: str) -> None:
    """Raise `ValueError` that names the key where a text can't be an entity's name."""
    try:
        EntityInput(name=name)
    except ValueError as error:
        raise ValueError(f".{key}: {str(error).removeprefix('name ')}") from None


def require_type(key: str, entity_type: str) -> None:
    """Raise `ValueError` that names the key where a text can't be an entity's type."""
    try:
        EntityInput(name="-", entity_type=entity_type)
    except ValueError as error:
        raise ValueError(f".{key}: {str(error).removeprefix('entityType ')}") from None


def rename(transaction: Transaction, found: Found, name: str, entity_type: str, path: str) -> Found:
    """Give an entity a name and type, and return it; one that has them already is said and left.

    Raises `InvalidArguments`, with the path, where another entity has this name and type.
    """
    new = Found(found.id, nfc(name), nfc(entity_type))
    if new == found:
        message = f"{path}: {shown(found)} (id {found.id}) has this name and type already; nothing was changed"
        transaction.notice(Notice("skipped", message, path=path, id=str(found.id)))
        return found
    _require_free(transaction, new, path)
    transaction.update("entities", ["name", "entity_type"], [new], extra=", updated_at = unixepoch()")
    remember_names(transaction, ())
    twin = twin_of(transaction, new) if new.name != found.name else None
    if twin is not None:
        message = f"{path}: the new name {shown(new)} differs from {shown(twin)} (id {twin.id}) only in spelling"
        details = {"path": path, "id": str(new.id), "twinId": str(twin.id), "twinName": twin.name}
        transaction.notice(Notice("near_twin", message, **details))
    return new


def _require_free(transaction: Transaction, new: Found, path: str) -> None:
    for other in entities_by_name(transaction, [new.name]):
        if other.entity_type == new.entity_type and other.id != new.id:
            message = f"{path}: there is another {shown(new)} already (id {other.id}); `merge` makes one of the two"
            raise InvalidArguments(message, {"path": path, "id": str(other.id), "name": new.name})

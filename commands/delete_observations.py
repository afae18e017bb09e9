"""`delete_observations`: single texts go, by id or by entity, type and source."""

import click

from mmem.arguments import Id, Part, Reference, Request, Type, id_number
from mmem.lookup import Found, Resolver
from mmem.missing import Missing, ids_present
from mmem.observations import ids_at, keys_of
from mmem.outcomes import Notice, Outcome
from mmem.reading import Reader
from mmem.registry import Tool
from mmem.store import Store
from mmem.tooling import Arguments, tool_command
from mmem.transaction import Transaction
from mmem.values import nfc
from mmem.visible import plural
from mmem.words import reference_word

_CANDIDATES = 20  # observations of an entity that a notice names


class Deletion(Part, frozen=True):
    """One observation: by its id, or by its entity, observationType and source (left out: exactly `""`)."""

    id: Id | None = None
    entity_id: Id | None = None
    entity_name: Type | None = None
    entity_type: Type | None = None
    observation_type: Type | None = None
    source: Type | None = None

    def __post_init__(self) -> None:
        """Check what the types can't. Raises `ValueError`."""
        others = (self.entity_id, self.entity_name, self.entity_type, self.observation_type, self.source)
        if self.id is not None:
            id_number(self.id)
            if any(other is not None for other in others):
                raise ValueError("give an observation's own id, or its entity, observationType and source, not both")
        elif self.entity_id is None and self.entity_name is None:
            raise ValueError("name an observation by id, or its entity by entityId or entityName")
        else:
            self.reference()

    def reference(self) -> Reference:
        """Return the entity's reference."""
        return Reference(id=self.entity_id, name=self.entity_name, entity_type=self.entity_type)

    @property
    def keys(self) -> list[tuple[str, str]]:
        """The observationType as given and in NFC, with the source."""
        kind = self.observation_type or ""
        return [(one, self.source or "") for one in dict.fromkeys((kind, nfc(kind)))]


class DeleteObservations(Request, frozen=True):
    """Observations to delete."""

    deletions: list[Deletion]


def run(store: Store, request: DeleteObservations) -> Outcome[str]:
    """Delete observations; one that isn't there is a notice, not an error."""
    with store.writing(request.category) as transaction:
        transaction.delete("observations", "id", _found(transaction, request.deletions))
    return Outcome("Observations deleted successfully", transaction.notices)


def _found(transaction: Transaction, deletions: list[Deletion]) -> list[int]:
    """Return the ids of what is there, with a notice for what isn't."""
    ids = {
        f"$.deletions[{index}]": id
        for index, deletion in enumerate(deletions)
        if (id := id_number(deletion.id)) is not None
    }
    there = ids_present(transaction, "observations", "observation", ids)
    named = {index: deletion for index, deletion in enumerate(deletions) if deletion.id is None}
    entities = _entities(transaction, named)
    keys = {index: [(found.id, *key) for key in named[index].keys] for index, found in entities.items()}
    stored = ids_at(transaction, [key for tried in keys.values() for key in tried])
    found = {index: next((stored[key] for key in tried if key in stored), None) for index, tried in keys.items()}
    absent = {index: keys[index][-1] for index, id in found.items() if id is None}
    held = keys_of(transaction, {entity_id for entity_id, _, _ in absent.values()}, _CANDIDATES)
    for index, key in absent.items():
        transaction.notice(_absent(index, entities[index], key, held.get(key[0], [])))
    return [*there, *(id for id in found.values() if id is not None)]


def _entities(transaction: Transaction, named: dict[int, Deletion]) -> dict[int, Found]:
    resolver = Resolver(transaction, (deletion.reference() for deletion in named.values()))
    missing = Missing(transaction, resolver)
    entities = {}
    for index, deletion in named.items():
        found = resolver.find_exactly(deletion.reference())
        if found is None:
            missing.add(f"$.deletions[{index}]", deletion.reference())
        else:
            entities[index] = found
    for notice in missing.notices():
        transaction.notice(notice)
    return entities


def _absent(index: int, found: Found, key: tuple[int, str, str], held: list[tuple[str, str, int]]) -> Notice:
    path = f"$.deletions[{index}]"
    _, kind, source = key
    listed = ", ".join(_shown(one, origin) for one, origin, _ in held[:5])
    others = f"; it has {listed}" + (" ..." if len(held) > 5 else "") if held else "; it has none"
    message = f"{path}: '{found.name}' has no observation of type '{kind}'" + (
        f" from source '{source}'" if source else " without a source"
    )
    return Notice(
        "not_found",
        message + others,
        path=path,
        entityId=str(found.id),
        observationType=kind,
        source=source,
        candidates=[{"id": str(id), "observationType": one, "source": origin} for one, origin, id in held],
    )


def _shown(kind: str, source: str) -> str:
    if not kind and not source:
        return "a plain text"
    return f"'{kind}'" + (f" from '{source}'" if source else "")


def question(store: Store, request: DeleteObservations) -> str | None:
    """Return what to ask before the observations go, or None where none is there."""
    with store.reading(request.category) as transaction:
        ids = list(dict.fromkeys(_found(transaction, request.deletions)))
        texts = [observation.text for observation in Reader(transaction).observations(ids[:3])]
    if not ids:
        return None
    shown = ", ".join(f"'{text if len(text) <= 60 else text[:57] + '...'}'" for text in texts)
    more = f" and {len(ids) - len(texts)} more" if len(ids) > len(texts) else ""
    return f"Delete {plural(len(ids), 'observation')} from category '{transaction.category}': {shown}{more}?"


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        DeleteObservations,
        run,
        about="Delete facts that are wrong or outdated, by their own id, or by entity, observationType and source "
        "(left out: none).",
        writes=True,
        destroys=True,
        idempotent=True,
    )


@tool_command("delete-observations", tool, question=question)
@click.argument("name", metavar="NAME", required=False)
@click.option("-t", "--type", "entity_type", metavar="TYPE", help="Type of the entity.")
@click.option("-O", "--observation-type", metavar="TYPE", help="Type of the observation; none by default.")
@click.option("--source", metavar="SOURCE", help="Source of the observation; none by default.")
@click.option("--id", "ids", metavar="ID", multiple=True, help="An observation by its own id; repeatable.")
def command(
    name: str | None,
    entity_type: str | None,
    observation_type: str | None,
    source: str | None,
    ids: tuple[str, ...],
) -> Arguments:
    """Delete observations of an entity, or by id.

    NAME is an entity, and so is id:7; --id is the observation's own id, which -f json shows.

    \b
    mmem delete-observations UserService -t service -O version --source changelog
    mmem delete-observations --id 3 --id 4
    """
    if (name is None) == (not ids):
        raise click.UsageError("say the NAME of an entity or --id ID, or give a request with --json")
    if name is None:
        if entity_type or observation_type or source:
            raise click.UsageError("an observation's own id needs neither type nor source")
        return {"deletions": [{"id": id.removeprefix("id:")} for id in ids]}
    reference = reference_word(name, entity_type)
    deletion = {
        "entityId": reference.get("id"),
        "entityName": reference.get("name"),
        "entityType": reference.get("entityType"),
        "observationType": observation_type,
        "source": source,
    }
    return {"deletions": [deletion]}

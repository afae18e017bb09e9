"""`delete_entities`: entities go, with their observations, relations and index entries."""

import click
from msgspec.structs import force_setattr

from mmem.arguments import AnyReference, Request, as_reference, references
from mmem.lookup import Found, Resolver
from mmem.missing import Missing
from mmem.observations import counts
from mmem.outcomes import Outcome
from mmem.reading import Reader
from mmem.registry import Tool
from mmem.store import Store
from mmem.tooling import Arguments, tool_command
from mmem.transaction import Transaction
from mmem.visible import plural
from mmem.words import reference_words


class DeleteEntities(Request, frozen=True):
    """Entities to delete. A type that is left out means exactly the type `""`."""

    entities: list[AnyReference]

    def __post_init__(self) -> None:
        """Check the ids. Raises `ValueError`."""
        force_setattr(self, "entities", references(self.entities))


def run(store: Store, request: DeleteEntities) -> Outcome[str]:
    """Delete entities; one that isn't there is a notice, not an error."""
    with store.writing(request.category) as transaction:
        found, missing = _resolved(transaction, request)
        transaction.delete("entities", "id", [entity.id for entity in found])
        for notice in missing.notices():
            transaction.notice(notice)
    return Outcome("Entities deleted successfully", transaction.notices)


def _resolved(transaction: Transaction, request: DeleteEntities) -> tuple[list[Found], Missing]:
    named = [as_reference(given) for given in request.entities]
    resolver = Resolver(transaction, named)
    missing = Missing(transaction, resolver)
    entities: dict[int, Found] = {}
    for index, reference in enumerate(named):
        found = resolver.find_exactly(reference)
        if found is None:
            missing.add(f"$.entities[{index}]", reference)
        else:
            entities[found.id] = found
    return list(entities.values()), missing


def question(store: Store, request: DeleteEntities) -> str | None:
    """Return what to ask before the entities go, or None where none is there."""
    with store.reading(request.category) as transaction:
        found, _ = _resolved(transaction, request)
        ids = [entity.id for entity in found]
        observations = plural(sum(counts(transaction, ids).values()), "observation")
        relations = plural(len(Reader(transaction).relations_touching(ids)), "relation")
    if not found:
        return None
    names = ", ".join(f"'{entity.name}'" for entity in found[:5]) + (" ..." if len(found) > 5 else "")
    return f"Delete {names} from category '{transaction.category}', with {observations} and {relations}?"


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        DeleteEntities,
        run,
        about="Delete entities for good, with their observations and relations. An entityType left out means none.",
        writes=True,
        destroys=True,
        idempotent=True,
    )


@tool_command("delete-entities", tool, question=question)
@click.argument("names", metavar="NAME...", nargs=-1)
@click.option("-t", "--type", "entity_type", metavar="TYPE", help="Type of the entities.")
def command(names: tuple[str, ...], entity_type: str | None) -> Arguments:
    """Delete entities, with their observations and relations.

    Without --type, NAME means the entity without a type.

    \b
    mmem delete-entities UserService -t service
    mmem delete-entities id:7 id:8 --yes
    """
    if not names:
        raise click.UsageError("name an entity to delete, or give a request with --json")
    return {"entities": reference_words(names, entity_type)}

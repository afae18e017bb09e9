"""`retype`: another type for an entity."""

import click
from msgspec.structs import force_setattr

from mmem.arguments import AnyReference, Request, Type, as_reference, reference_at
from mmem.named import all_named
from mmem.outcomes import Outcome
from mmem.reading import Reader
from mmem.records import Entity
from mmem.registry import Tool
from mmem.renaming import rename, require_type
from mmem.store import Store
from mmem.tooling import Arguments, tool_command
from mmem.words import reference_word


class Retype(Request, frozen=True):
    """An entity and its new type; `""` leaves it without one."""

    entity: AnyReference
    new_type: Type

    def __post_init__(self) -> None:
        """Check the id and the type. Raises `ValueError`."""
        force_setattr(self, "entity", reference_at(".entity", self.entity))
        require_type("newType", self.new_type)


def run(store: Store, request: Retype) -> Outcome[Entity]:
    """Give an entity another type and return it; its id, observations and relations stay.

    Raises `NotFound`, `Ambiguous`, and `InvalidArguments` where another entity of its name has the type.
    """
    with store.writing(request.category) as transaction:
        [found] = all_named(transaction, [("$.entity", as_reference(request.entity))])
        rename(transaction, found, found.name, request.new_type, "$.newType")
        [entity] = Reader(transaction).entities([found.id])
    return Outcome(entity, transaction.notices)


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        Retype,
        run,
        about="Give an entity another type. Its id, name, observations and relations stay.",
        writes=True,
        destroys=True,
        idempotent=True,
    )


@tool_command("retype", tool)
@click.argument("name", metavar="NAME", required=False)
@click.argument("new_type", metavar="TYPE", required=False)
@click.option("-t", "--type", "entity_type", metavar="TYPE", help="Type that the entity has now.")
def command(name: str | None, new_type: str | None, entity_type: str | None) -> Arguments:
    """Give an entity another type.

    Its id, observations and relations stay. '' takes its type away.

    \b
    mmem retype UserService microservice
    mmem retype "Alice Smith" user --type person
    """
    if name is None or new_type is None:
        raise click.UsageError("say NAME and TYPE, or give a request with --json")
    return {"entity": reference_word(name, entity_type), "newType": new_type}

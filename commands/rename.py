"""`rename`: another name for an entity."""

import click
from msgspec.structs import force_setattr

from mmem import semantic
from mmem.arguments import AnyReference, Name, Request, as_reference, reference_at
from mmem.named import all_named
from mmem.outcomes import Outcome
from mmem.reading import Reader
from mmem.records import Entity
from mmem.registry import Tool
from mmem.renaming import rename, require_name
from mmem.store import Store
from mmem.tooling import Arguments, tool_command
from mmem.words import name_word, reference_word


class Rename(Request, frozen=True):
    """An entity and its new name."""

    entity: AnyReference
    new_name: Name

    def __post_init__(self) -> None:
        """Check the id and the name. Raises `ValueError`."""
        force_setattr(self, "entity", reference_at(".entity", self.entity))
        require_name("newName", self.new_name)


def run(store: Store, request: Rename) -> Outcome[Entity]:
    """Rename an entity and return it; its id, observations and relations stay.

    Raises `NotFound`, `Ambiguous`, and `InvalidArguments` where another entity of its type has the name.
    """
    semantic.model()  # so that no lock is held while it is loaded
    with store.writing(request.category) as transaction:
        [found] = all_named(transaction, [("$.entity", as_reference(request.entity))])
        rename(transaction, found, request.new_name, found.entity_type, "$.newName")
        [entity] = Reader(transaction).entities([found.id])
    return Outcome(entity, transaction.notices)


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        Rename,
        run,
        about="Give an entity another name. Its id, observations and relations stay.",
        writes=True,
        destroys=True,
        idempotent=True,
    )


@tool_command("rename", tool)
@click.argument("name", metavar="NAME", required=False)
@click.argument("new_name", metavar="NEW", required=False)
@click.option("-t", "--type", "entity_type", metavar="TYPE", help="Type of the entity.")
def command(name: str | None, new_name: str | None, entity_type: str | None) -> Arguments:
    """Give an entity another name.

    Its id, observations and relations stay. Where the name is taken, merge joins the two entities.

    \b
    mmem rename UserService AccountService
    mmem rename id:7 "Alice Smith"
    """
    if name is None or new_name is None:
        raise click.UsageError("say NAME and NEW, or give a request with --json")
    return {"entity": reference_word(name, entity_type), "newName": name_word(new_name)}

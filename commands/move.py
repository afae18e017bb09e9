"""`move`: entities that go to another category."""

from typing import Annotated

import click
from msgspec import Meta
from msgspec.structs import force_setattr

from mmem.arguments import AnyReference, Request, as_reference, references
from mmem.moving import Moved, move
from mmem.names import category_fault
from mmem.outcomes import Outcome
from mmem.registry import Tool
from mmem.store import Store
from mmem.tooling import Arguments, tool_command
from mmem.words import reference_words


class Move(Request, frozen=True):
    """Entities, and the category that they go to."""

    entities: list[AnyReference]
    to: Annotated[str, Meta(description="The other category; it is created where it is missing")]
    drop_relations: Annotated[bool | None, Meta(description="Drop relations to entities that stay")] = None

    def __post_init__(self) -> None:
        """Check the ids and the category. Raises `ValueError`."""
        force_setattr(self, "entities", references(self.entities))
        if fault := category_fault(self.to):
            raise ValueError(f".to: {self.to[:60]!a} isn't a category's name: {fault}")


def run(store: Store, request: Move) -> Outcome[Moved]:
    """Move entities with their observations and the relations among them; they get new ids.

    Raises `NotFound`, `Ambiguous`, and `InvalidArguments` where one is in the other category already, or has
    relations that can't go along.
    """
    named = [(f"$.entities[{index}]", as_reference(given)) for index, given in enumerate(request.entities)]
    return move(store, request.category, named, request.to, drop=bool(request.drop_relations))


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        Move,
        run,
        about="Move entities to another category, with their observations and the relations among them.",
        writes=True,
        destroys=True,
        alone=True,
        target=lambda request: request.to,
    )


@tool_command("move", tool)
@click.argument("names", metavar="NAME...", nargs=-1)
@click.option("--to", metavar="CATEGORY", help="The category that they go to; a missing one is created.")
@click.option("-t", "--type", "entity_type", metavar="TYPE", help="Type of the entities.")
@click.option("--drop-relations", is_flag=True, help="Drop the relations to entities that stay.")
def command(names: tuple[str, ...], to: str | None, entity_type: str | None, drop_relations: bool) -> Arguments:
    """Move entities to another category.

    Observations and the relations among them go along. They are stored there before they are deleted here: whatever
    happens in between, they are in one category or in both.

    \b
    mmem move Bob --to people --drop-relations
    mmem move PaymentGateway OrderService -c default --to shop --drop-relations
    """
    if not names or to is None:
        raise click.UsageError("name an entity to move and its category with --to, or give a request with --json")
    return {"entities": reference_words(names, entity_type), "to": to, "dropRelations": drop_relations or None}

"""`neighbors`: the entities around one, nearest first, and the relations among them."""

from typing import Annotated

import click
from msgspec import Meta
from msgspec.structs import force_setattr

from mmem.arguments import AnyReference, Limit, Request, Type, as_reference, reference_at
from mmem.around import Direction, Steps, nearest_first, say_unknown_types
from mmem.named import all_named
from mmem.outcomes import Notice, Outcome
from mmem.reading import Reader
from mmem.records import Graph
from mmem.registry import Tool
from mmem.store import Store
from mmem.tooling import Arguments, tool_command
from mmem.words import reference_word

_LIMIT = 1_000  # entities


class Neighbors(Request, frozen=True):
    """An entity to look around, how far, and along which relations."""

    entity: AnyReference
    depth: Annotated[Annotated[int, Meta(ge=1, le=10)] | None, Meta(description="Relations away; default: 1")] = None
    relation_types: Annotated[list[Type] | None, Meta(description="Only along relations of these types")] = None
    direction: Annotated[Direction | None, Meta(description="Which way they point; default: both")] = None
    limit: Annotated[Limit | None, Meta(description=f"Entities at most; default: {_LIMIT:,}")] = None

    def __post_init__(self) -> None:
        """Check the id. Raises `ValueError`."""
        force_setattr(self, "entity", reference_at(".entity", self.entity))


def run(store: Store, request: Neighbors) -> Outcome[Graph]:
    """Return the entity itself, then those around it, nearest first, and the relations of these types among them.

    Raises `NotFound` and `Ambiguous` for the entity.
    """
    most = request.limit or _LIMIT
    steps = Steps(request.direction or "both", request.relation_types or [])
    with store.reading(request.category) as transaction:
        [found] = all_named(transaction, [("$.entity", as_reference(request.entity))], reading=True)
        say_unknown_types(transaction, steps.relation_types, "$.relationTypes")
        ids = nearest_first(transaction, [found.id], request.depth or 1, steps, most)
        reader = Reader(transaction)
        relations = reader.relations_between(ids[:most])
        if steps.relation_types:
            relations = [one for one in relations if one.relation_type in steps.known_types]
        graph = Graph(entities=reader.entities(ids[:most]), relations=relations)
        if len(ids) > most:
            message = f"these are the nearest {most:,}, and there are more; a larger `limit` shows them"
            transaction.notice(Notice("truncated", message, shown=most))
    return Outcome(graph, transaction.notices)


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        Neighbors,
        run,
        about="See what an entity is connected with: the entities within `depth` relations, nearest first, and the "
        "relations among them.",
    )


@tool_command("neighbors", tool)
@click.argument("name", metavar="NAME", required=False)
@click.option("-t", "--type", "entity_type", metavar="TYPE", help="Type of the entity.")
@click.option("--depth", type=int, metavar="N", help="How many relations away, at most 10; 1 by default.")
@click.option("--relation", "relation_types", metavar="TYPE", multiple=True, help="Only along these; repeatable.")
@click.option("--direction", type=click.Choice(["in", "out", "both"]), help="Which way they point; both by default.")
@click.option("-n", "--limit", type=int, metavar="N", help=f"At most so many entities; {_LIMIT:,} by default.")
def command(
    name: str | None,
    entity_type: str | None,
    depth: int | None,
    relation_types: tuple[str, ...],
    direction: str | None,
    limit: int | None,
) -> Arguments:
    """Show the entities around one.

    The nearest come first, the entity itself before all.

    \b
    mmem neighbors UserService
    mmem neighbors UserService --depth 2 --relation uses --direction out
    """
    if name is None:
        raise click.UsageError("name an entity to look around, or give a request with --json")
    return {
        "entity": reference_word(name, entity_type),
        "depth": depth,
        "relationTypes": list(relation_types) or None,
        "direction": direction,
        "limit": limit,
    }

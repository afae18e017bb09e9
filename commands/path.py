"""`path`: a shortest way from one entity to another."""

from typing import Annotated

import click
from msgspec import Meta, field
from msgspec.structs import force_setattr

from mmem.arguments import AnyReference, Request, Type, as_reference, reference_at
from mmem.around import Steps, say_unknown_types
from mmem.errors import NotFound
from mmem.lookup import Found
from mmem.named import all_named, shown
from mmem.outcomes import Outcome
from mmem.paths import Route, shortest
from mmem.reading import Reader
from mmem.records import Graph
from mmem.registry import Tool
from mmem.store import Store
from mmem.tooling import Arguments, tool_command
from mmem.transaction import Transaction
from mmem.visible import plural
from mmem.words import reference_word

_MOST = 10  # relations
_Length = Annotated[int, Meta(ge=1, le=100)]


class Path(Request, frozen=True):
    """Two entities, and which relations may lead from the one to the other."""

    source: AnyReference = field(name="from")
    target: AnyReference = field(name="to")
    directed: Annotated[bool | None, Meta(description="Only along the relations' own direction")] = None
    relation_types: Annotated[list[Type] | None, Meta(description="Only along relations of these types")] = None
    max_length: Annotated[_Length | None, Meta(description=f"Relations at most; default: {_MOST}")] = None

    def __post_init__(self) -> None:
        """Check the ids. Raises `ValueError`."""
        force_setattr(self, "source", reference_at(".from", self.source))
        force_setattr(self, "target", reference_at(".to", self.target))


def run(store: Store, request: Path) -> Outcome[Graph]:
    """Return the entities of a shortest path and its relations, both in the order of the path.

    Raises `NotFound` where an end is missing, and where no path is as short as it may be.
    """
    steps = Steps("out" if request.directed else "both", request.relation_types or [])
    most = request.max_length or _MOST
    ends = [("$.from", as_reference(request.source)), ("$.to", as_reference(request.target))]
    with store.reading(request.category) as transaction:
        source, target = all_named(transaction, ends, reading=True)
        say_unknown_types(transaction, steps.relation_types, "$.relationTypes")
        route = shortest(transaction, source.id, target.id, steps, most)
        if not route.entities:
            raise _no_path(transaction, source, target, route, steps, most)
        reader = Reader(transaction)
        by_id = {relation.id: relation for relation in reader.relations(route.relations)}
        graph = Graph(entities=reader.entities(route.entities), relations=[by_id[str(id)] for id in route.relations])
    return Outcome(graph, transaction.notices)


def _no_path(transaction: Transaction, source: Found, target: Found, route: Route, steps: Steps, most: int) -> NotFound:
    """Return the error that says how far was looked, and what may find more."""
    turned = "; without `directed`, relations count both ways" if steps.direction == "out" else ""
    unknown = "".join(f"; {notice.message}" for notice in transaction.notices if notice.code == "not_found")
    if route.exhausted:
        message = f"no path leads from {shown(source)} to {shown(target)} in category '{transaction.category}'"
    else:
        message = (
            f"no path of at most {plural(most, 'relation')} leads from {shown(source)} to {shown(target)} in category "
            f"'{transaction.category}'; a larger `maxLength` looks further"
        )
    details = {"from": str(source.id), "to": str(target.id), "maxLength": most, "exhausted": route.exhausted}
    return NotFound(message + turned + unknown, details)


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        Path,
        run,
        about="Find out how two entities are connected: a shortest path, its entities and relations in order.",
    )


@tool_command("path", tool)
@click.argument("source", metavar="FROM", required=False)
@click.argument("target", metavar="TO", required=False)
@click.option("--from-type", metavar="TYPE", help="Type of the entity FROM.")
@click.option("--to-type", metavar="TYPE", help="Type of the entity TO.")
@click.option("--directed", is_flag=True, help="Follow relations only the way that they point.")
@click.option("--relation", "relation_types", metavar="TYPE", multiple=True, help="Only along these; repeatable.")
@click.option("--max", "max_length", type=int, metavar="N", help=f"At most so many relations; {_MOST} by default.")
def command(
    source: str | None,
    target: str | None,
    from_type: str | None,
    to_type: str | None,
    directed: bool,
    relation_types: tuple[str, ...],
    max_length: int | None,
) -> Arguments:
    """Show a shortest path between two entities.

    Exits with 3 where there is none.

    \b
    mmem path Bob AuthModule
    mmem path id:3 id:5 --directed --relation uses --max 4
    """
    if source is None or target is None:
        raise click.UsageError("say FROM and TO, or give a request with --json")
    return {
        "from": reference_word(source, from_type),
        "to": reference_word(target, to_type),
        "directed": directed or None,
        "relationTypes": list(relation_types) or None,
        "maxLength": max_length,
    }

"""`read_graph`: everything in a category, or a page of it."""

from typing import Annotated

import click
from msgspec import Meta

from mmem.arguments import Limit, Offset, Request
from mmem.outcomes import Notice, Outcome
from mmem.reading import Reader
from mmem.records import Graph
from mmem.registry import Tool
from mmem.store import Store
from mmem.tooling import Arguments, names_options, tool_command


class ReadGraph(Request, frozen=True):
    """A whole graph; `limit` and `offset` count entities."""

    limit: Annotated[Limit | None, Meta(description="Entities at most; default: all")] = None
    offset: Annotated[Offset | None, Meta(description="Entities to leave out first")] = None
    names: Annotated[bool | None, Meta(description="Return names alone")] = None


def run(store: Store, request: ReadGraph) -> Outcome[Graph | list[str]]:
    """Return the entities and relations of a category; a page carries the relations whose `from` is on it."""
    offset = request.offset or 0
    with store.reading(request.category) as transaction:
        reader = Reader(transaction)
        result: Graph | list[str]
        if request.names:
            result = names = reader.names(request.limit, offset)
            returned = len(names)
        else:
            result = graph = reader.graph(request.limit, offset)
            returned = len(graph.entities)
        if returned == request.limit:
            total = reader.count()
            if offset + returned < total:
                transaction.notice(_truncated(offset, returned, total))
    return Outcome(result, transaction.notices)


def _truncated(offset: int, limit: int, total: int) -> Notice:
    following = offset + limit
    return Notice(
        "truncated",
        f"these are entities {offset + 1} to {following} of {total}; `offset {following}` shows the next",
        total=total,
        returned=limit,
        nextOffset=following,
    )


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        ReadGraph,
        run,
        about="Read everything in a category. Prefer search_nodes; page large ones with limit and offset.",
    )


@tool_command("read-graph", tool)
@click.option("-n", "--limit", type=int, metavar="N", help="At most so many entities; all by default.")
@click.option("--offset", type=int, metavar="N", help="Leave out the first N entities.")
@names_options
def command(limit: int | None, offset: int | None, names: bool) -> Arguments:
    """Show the whole graph of a category.

    \b
    mmem read-graph -c work
    mmem read-graph --limit 100 --offset 200 -f jsonl
    mmem read-graph -0 | xargs -0 -n 1 echo
    """
    return {"limit": limit, "offset": offset, "names": names or None}

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
from mmem.tooling import Arguments, tool_command


class ReadGraph(Request, frozen=True):
    """A whole graph; `limit` and `offset` count entities."""

    limit: Annotated[Limit | None, Meta(description="Entities at most; default: all")] = None
    offset: Annotated[Offset | None, Meta(description="Entities to leave out first")] = None


def run(store: Store, request: ReadGraph) -> Outcome[Graph]:
    """Return the entities and relations of a category; a page carries the relations whose `from` is on it."""
    offset = request.offset or 0
    with store.reading(request.category) as transaction:
        reader = Reader(transaction)
        graph = reader.graph(request.limit, offset)
        if request.limit is not None and len(graph.entities) == request.limit:
            total = reader.count()
            if offset + request.limit < total:
                transaction.notice(_truncated(offset, request.limit, total))
    return Outcome(graph, transaction.notices)


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
def command(limit: int | None, offset: int | None) -> Arguments:
    """Show the whole graph of a category.

    \b
    mmem read-graph -c work
    mmem read-graph --limit 100 --offset 200 -f jsonl
    """
    return {"limit": limit, "offset": offset}

"""`open_nodes`: chosen entities, and the relations between them."""

from typing import Annotated

import click
from msgspec import Meta
from msgspec.structs import force_setattr

from mmem.arguments import AnyReference, Request, as_reference, references
from mmem.exits import ExitStatus
from mmem.lookup import Resolver
from mmem.missing import Missing
from mmem.outcomes import Outcome
from mmem.reading import Reader
from mmem.records import Graph
from mmem.registry import Tool
from mmem.store import Store
from mmem.tooling import Arguments, tool_command
from mmem.words import reference_words


class OpenNodes(Request, frozen=True):
    """Entities to show; with `related`, every relation that touches one of them comes along."""

    entities: list[AnyReference]
    related: Annotated[bool | None, Meta(description="All their relations, not only those between them")] = None

    def __post_init__(self) -> None:
        """Check the ids. Raises `ValueError`."""
        force_setattr(self, "entities", references(self.entities))


def run(store: Store, request: OpenNodes) -> Outcome[Graph]:
    """Return the entities in the order asked for, each once; a missing one is a notice, never an error."""
    with store.reading(request.category) as transaction:
        named = [as_reference(given) for given in request.entities]
        resolver = Resolver(transaction, named)
        missing = Missing(transaction, resolver)
        ids: dict[int, None] = {}
        for index, reference in enumerate(named):
            path = f"$.entities[{index}]"
            found = resolver.find(reference, path)
            if found is None:
                missing.add(path, reference)
            else:
                ids[found.id] = None
        reader = Reader(transaction)
        relations = reader.relations_touching(ids) if request.related else reader.relations_between(ids)
        graph = Graph(entities=reader.entities(list(ids)), relations=relations)
        for notice in missing.notices():
            transaction.notice(notice)
    return Outcome(graph, transaction.notices)


def status(request: OpenNodes, result: Graph) -> ExitStatus:
    """Return 3 where nothing was found of what was asked for, so that a script can tell."""
    return ExitStatus.OK if result.entities or not request.entities else ExitStatus.NOT_FOUND


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        OpenNodes,
        run,
        about="Open entities by id, or by name and type, with the relations between them.",
    )


@tool_command("open-nodes", tool, status=status)
@click.argument("names", metavar="NAME...", nargs=-1)
@click.option("-t", "--type", "entity_type", metavar="TYPE", help="Type of the entities.")
@click.option("--related", is_flag=True, help="Show every relation that touches them.")
def command(names: tuple[str, ...], entity_type: str | None, related: bool) -> Arguments:
    """Show entities by name or id.

    Exits with 3 where none is found.

    \b
    mmem open-nodes UserService id:7
    mmem open-nodes UserService -t service --related
    """
    if not names:
        raise click.UsageError("name an entity to open, or give a request with --json")
    return {
        "entities": reference_words(names, entity_type),
        "related": related or None,
    }

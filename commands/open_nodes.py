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
from mmem.tooling import Arguments, names_options, tool_command
from mmem.words import reference_words


class OpenNodes(Request, frozen=True):
    """Entities to show; with `related`, every relation that touches one of them comes along."""

    entities: list[AnyReference]
    related: Annotated[bool | None, Meta(description="All their relations, not only those between them")] = None
    names: Annotated[bool | None, Meta(description="Return names alone")] = None

    def __post_init__(self) -> None:
        """Check the ids. Raises `ValueError`."""
        force_setattr(self, "entities", references(self.entities))


def run(store: Store, request: OpenNodes) -> Outcome[Graph | list[str]]:
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
        result: Graph | list[str]
        if request.names:
            result = [entity.name for entity in reader.entities_alone(list(ids))]
        else:
            relations = reader.relations_touching(ids) if request.related else reader.relations_between(ids)
            result = Graph(entities=reader.entities(list(ids)), relations=relations)
        for notice in missing.notices():
            transaction.notice(notice)
    return Outcome(result, transaction.notices)


def status(request: OpenNodes, result: Graph | list[str]) -> ExitStatus:
    """Return 3 where nothing was found of what was asked for, so that a script can tell."""
    found = result.entities if isinstance(result, Graph) else result
    return ExitStatus.OK if found or not request.entities else ExitStatus.NOT_FOUND


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        OpenNodes,
        run,
        about="Open entities by id, or by name and type, with the relations between them.",
    )


@tool_command("open-nodes", tool, status=status)
@click.argument("words", metavar="NAME...", nargs=-1)
@click.option("-t", "--type", "entity_type", metavar="TYPE", help="Type of the entities.")
@click.option("--related", is_flag=True, help="Show every relation that touches them.")
@names_options
def command(words: tuple[str, ...], entity_type: str | None, related: bool, names: bool) -> Arguments:
    """Show entities by name or id.

    Exits with 3 where none is found.

    \b
    mmem open-nodes UserService id:7
    mmem open-nodes UserService -t service --related
    """
    if not words:
        raise click.UsageError("name an entity to open, or give a request with --json")
    return {
        "entities": reference_words(words, entity_type),
        "related": related or None,
        "names": names or None,
    }

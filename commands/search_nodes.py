"""`search_nodes`: entities found by name, type, text or property, best first."""

from typing import Annotated, Literal

import click
from msgspec import Meta, structs

from mmem.arguments import Limit, Offset, Request
from mmem.errors import InvalidArguments
from mmem.outcomes import Notice, Outcome
from mmem.query import Query
from mmem.reading import Reader
from mmem.records import Entity, Graph
from mmem.registry import Tool
from mmem.search import Found, Searcher
from mmem.store import Store
from mmem.tooling import Arguments, tool_command
from mmem.transaction import Transaction

_LIMIT = 50  # entities
_MAX_QUERY = 100_000  # characters
_WHOLE = 20  # observations up to which an entity is shown whole

Which = Literal["auto", "matched", "all"]


class SearchNodes(Request, frozen=True):
    """A search; `observations` says which ones of a found entity come along."""

    query: Annotated[str, Meta(max_length=_MAX_QUERY)]
    limit: Annotated[Limit | None, Meta(description=f"Entities at most; default: {_LIMIT}")] = None
    offset: Annotated[Offset | None, Meta(description="Entities to leave out first")] = None
    observations: Annotated[Which | None, Meta(description="Of entities with many: default auto")] = None


def run(store: Store, request: SearchNodes) -> Outcome[Graph]:
    """Return the entities that match, best first, and every relation that touches one of them.

    An entity of more than 20 observations comes with those that matched and a `truncated` notice, unless
    `observations` is `all`.
    """
    query = Query(request.query)
    if not query.text:
        raise InvalidArguments("$.query: say what to search for; the query is blank", {"path": "$.query"})
    with store.reading(request.category) as transaction:
        searcher = Searcher(transaction)
        offset, limit = request.offset or 0, request.limit or _LIMIT
        found = searcher.find(query, offset + limit + 1)
        if len(found.entity_ids) > offset + limit:
            transaction.notice(_truncated(offset, limit))
        found = found._replace(entity_ids=found.entity_ids[offset : offset + limit])
        which = request.observations or "auto"
        entities = Reader(transaction).entities(found.entity_ids)
        if which != "all":
            entities = _with_matching(transaction, searcher, found, entities, which)
        relations = Reader(transaction).relations_touching(found.entity_ids)
    return Outcome(Graph(entities=entities, relations=relations), transaction.notices)


def _truncated(offset: int, limit: int) -> Notice:
    following = offset + limit
    if offset:
        message = f"these are the entities {offset + 1} to {following}, and more match: `offset {following}` shows them"
    else:
        message = f"these are the best {limit}, and more match: a larger `limit` or `offset {following}` shows them"
    return Notice("truncated", message, returned=limit, nextOffset=following)


def _with_matching(
    transaction: Transaction, searcher: Searcher, found: Found, entities: list[Entity], which: Which
) -> list[Entity]:
    """Return the entities with the observations that matched: all of them, or the large ones only."""
    cut = {int(one.id) for one in entities if which == "matched" or len(one.observations) > _WHOLE}
    matching = searcher.matching_observations(found, cut)
    return [
        _cut(transaction, entity, matching.get(int(entity.id), []), which) if int(entity.id) in cut else entity
        for entity in entities
    ]


def _cut(transaction: Transaction, entity: Entity, matching: list[int], which: Which) -> Entity:
    by_id = {int(observation.id): observation for observation in entity.observations}
    kept = [by_id[id] for id in matching if id in by_id]
    reason = "that matched"
    if not kept and which == "auto":
        kept, reason = entity.observations[: -_WHOLE - 1 : -1], "newest"
    total, shown = len(entity.observations), len(kept)
    if shown < total and which == "auto":
        message = (
            f"'{entity.name}' (id {entity.id}) has {total} observations; the {shown} {reason} are shown "
            "(`observations all` shows every one)"
        )
        transaction.notice(Notice("truncated", message, id=entity.id, name=entity.name, total=total, returned=shown))
    return structs.replace(entity, observations=kept)


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        SearchNodes,
        run,
        about="Look up what you remember, best first. Use it before you answer anything that may touch the user's "
        "people, projects, plans or preferences, and before you create entities. Finds words in names, types, texts "
        "and properties.",
    )


@tool_command("search-nodes", tool)
@click.argument("words", metavar="WORD...", nargs=-1)
@click.option("-n", "--limit", type=int, metavar="N", help=f"At most so many entities; {_LIMIT} by default.")
@click.option("--offset", type=int, metavar="N", help="Leave out the best N entities.")
@click.option(
    "--observations",
    type=click.Choice(["auto", "matched", "all"]),
    help=f"Which observations to show: those that matched, all, or (auto) all of an entity with up to {_WHOLE}.",
)
def command(words: tuple[str, ...], limit: int | None, offset: int | None, observations: str | None) -> Arguments:
    """Find entities by name, type, text or property.

    The best come first. Words are found at the beginning of words, whatever their case and accents. FTS5's
    syntax works where it is valid: "a phrase", AND, OR, NOT, NEAR(a b), auth*.

    \b
    mmem search-nodes auth token
    mmem search-nodes '"user data" OR login' --limit 5
    """
    if not words:
        raise click.UsageError("say what to search for, or give a request with --json")
    return {"query": " ".join(words), "limit": limit, "offset": offset, "observations": observations}

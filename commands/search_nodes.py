"""`search_nodes`: entities found by name, type, text or property, best first."""

from typing import Annotated, Any

import click
from msgspec import Meta

from mmem.app import App
from mmem.arguments import Limit, Offset, Request, Type
from mmem.errors import InvalidArguments
from mmem.exits import ExitStatus
from mmem.filters import Filters
from mmem.finding import Finding, Page, Which, find, find_everywhere
from mmem.outcomes import Outcome
from mmem.query import Query
from mmem.records import Graph, NamedElsewhere
from mmem.registry import Tool
from mmem.store import Store
from mmem.timestamps import instant, is_timestamp
from mmem.tooling import Arguments, names_options, tool_command
from mmem.words import properties_option, property_words

_LIMIT = 50  # entities
_MAX_QUERY = 100_000  # characters


def _about(description: str) -> Meta:
    return Meta(description=description)


class SearchNodes(Request, frozen=True):
    """A search; `observations` says which ones of a found entity come along, the rest narrows it."""

    query: Annotated[str, Meta(max_length=_MAX_QUERY)]
    limit: Annotated[Limit | None, _about(f"Entities at most; default: {_LIMIT}")] = None
    offset: Annotated[Offset | None, _about("Entities to leave out first")] = None
    observations: Annotated[Which | None, _about("Of entities with many: default auto")] = None
    entity_type: Annotated[Type | None, _about("Only entities of this type")] = None
    observation_type: Annotated[Type | None, _about("Only observations of this type")] = None
    source: Annotated[Type | None, _about("Only observations from there")] = None
    since: Annotated[str | None, _about("Only observations from this time on, ISO 8601")] = None
    until: Annotated[str | None, _about("Only observations up to this time")] = None
    properties: Annotated[dict[str, Any] | None, _about("Only with these properties")] = None
    relation_type: Annotated[Type | None, _about("Only entities with such a relation")] = None
    names: Annotated[bool | None, _about("Return names alone")] = None
    relations: Annotated[bool | None, _about("false: return no relations")] = None
    all_categories: Annotated[bool | None, _about("Search every category")] = None

    def __post_init__(self) -> None:
        """Check what the types can't. Raises `ValueError`."""
        for name, given in (("since", self.since), ("until", self.until)):
            if given is not None and not is_timestamp(given):
                raise ValueError(f".{name}: {given[:40]!r} isn't an ISO 8601 date or date and time, such as 2026-01-31")
        if self.all_categories and self.category:
            raise ValueError("category and allCategories exclude each other; give one of them")
        begin, end = instant(self.since), instant(self.until)
        if begin is not None and end is not None and begin > end:
            raise ValueError(f".since: {self.since} is after until ({self.until}), so nothing can be between them")

    def filters(self) -> Filters:
        """Return what narrows the search."""
        return Filters(**{name: getattr(self, name) for name in Filters.__struct_fields__})


def run(store: Store, request: SearchNodes) -> "Outcome[Graph | list[str] | list[NamedElsewhere]]":
    """Return the entities that match, best first, and every relation that touches one of them.

    An entity of more than 20 observations comes with those that matched and a `truncated` notice, unless
    `observations` is `all`. With `names`, only names are returned; with `allCategories`, every record says its
    category.
    """
    query = Query(request.query)
    if not query.text:
        raise InvalidArguments("$.query: say what to search for; the query is blank", {"path": "$.query"})
    page = Page(request.offset or 0, request.limit or _LIMIT)
    finding = Finding(
        query,
        request.filters(),
        page,
        request.observations or "auto",
        relations=request.relations is not False,
        names_only=bool(request.names),
    )
    outcome = find_everywhere(store, finding) if request.all_categories else find(store, request.category, finding)
    if not request.names:
        return outcome
    notices = [one for one in outcome.notices if one.code != "truncated" or "nextOffset" in one.details]
    return Outcome(finding.names(outcome.result), notices)


def status(request: SearchNodes, result: object) -> ExitStatus:
    """Return 1 where nothing matched and the script asked to be told."""
    asked = click.get_current_context().params.get("exit_status")
    found = result.entities if isinstance(result, Graph) else result
    return ExitStatus.FAILED if asked and not found else ExitStatus.OK


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        SearchNodes,
        run,
        about="Look up what you remember, best first. Use it before you answer anything that may touch the user's "
        "people, projects, plans or preferences, and before you create entities. Finds words in names, types, texts "
        "and properties.",
    )


@tool_command("search-nodes", tool, status=status)
@click.argument("words", metavar="WORD...", nargs=-1)
@click.option("-n", "--limit", type=int, metavar="N", help=f"At most so many entities; {_LIMIT} by default.")
@click.option("--offset", type=int, metavar="N", help="Leave out the best N entities.")
@click.option("-t", "--type", "entity_type", metavar="TYPE", help="Only entities of this type.")
@click.option("-O", "--observation-type", metavar="TYPE", help="Only observations of this type.")
@click.option("--source", metavar="SOURCE", help="Only observations from this source.")
@click.option("--since", metavar="TIME", help="Only observations from this time on: ISO 8601.")
@click.option("--until", metavar="TIME", help="Only observations up to this time.")
@properties_option("that the entity or the observation has")
@click.option("--relation", "relation_type", metavar="TYPE", help="Only entities with a relation of this type.")
@click.option(
    "--observations",
    type=click.Choice(["auto", "matched", "all"]),
    help="Which observations to show: those that matched, all, or (auto) all of an entity with up to 20.",
)
@names_options
@click.option("--no-relations", is_flag=True, help="Leave out the relations.")
@click.option("-a", "--all-categories", is_flag=True, help="Search every category.")
@click.option("-e", "--exit-status", is_flag=True, help="Exit with 1 where nothing matched.")
@click.option("-v", "--verbose", is_flag=True, help="Show scores, on a terminal.")
def command(words: tuple[str, ...], properties: tuple[str, ...], **given: Any) -> Arguments:
    """Find entities by name, type, text or property.

    The best come first: what has all of the words, then what has some. Words count in any form, case and accent, and
    as the beginning of words. FTS5's syntax works where it is valid: "a phrase", AND, OR, NOT, NEAR(a b), auth*, and
    name:, type: and text: before a word. mmem help query tells all of it.

    \b
    mmem search-nodes auth token
    mmem search-nodes 'name:user* OR "log in"' --type service --limit 5
    mmem search-nodes deadline --since 2026-01-01 --names --all-categories
    """
    if not words:
        raise click.UsageError("say what to search for, or give a request with --json")
    app = click.get_current_context().find_object(App)
    if given["all_categories"] and app is not None and app.category:
        raise click.UsageError("--all-categories and --category exclude each other; give one of them")
    return {
        "query": " ".join(words),
        "limit": given["limit"],
        "offset": given["offset"],
        "entityType": given["entity_type"],
        "observationType": given["observation_type"],
        "source": given["source"],
        "since": given["since"],
        "until": given["until"],
        "properties": property_words(properties),
        "relationType": given["relation_type"],
        "observations": given["observations"],
        "names": given["names"] or None,
        "relations": False if given["no_relations"] else None,
        "allCategories": given["all_categories"] or None,
    }

"""A search from its query to its page of results: in one category, or in all of them."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from msgspec import structs

from mmem.filters import Filters
from mmem.matches import Matches
from mmem.outcomes import Notice, Outcome
from mmem.query import Query
from mmem.reading import Reader
from mmem.records import Entity, EntityElsewhere, Graph, NamedElsewhere, Relation, RelationElsewhere
from mmem.search import Found, Searcher
from mmem.store import Store
from mmem.transaction import Transaction

Which = Literal["auto", "matched", "all"]

_WHOLE = 20  # observations up to which an entity is shown whole


class Page(NamedTuple):
    """Which of the entities to return: so many, after the first `offset`."""

    offset: int
    limit: int


class Finding(NamedTuple):
    """What is asked for."""

    query: Query
    filters: Filters
    page: Page
    observations: Which = "auto"
    relations: bool = True

    def names(self, graph: Graph) -> list[str] | list[NamedElsewhere]:
        """Return the names of what was found."""
        elsewhere = [
            NamedElsewhere(category=one.category, name=one.name)
            for one in graph.entities
            if isinstance(one, EntityElsewhere)
        ]
        return elsewhere or [one.name for one in graph.entities]


def find(store: Store, category: str | None, finding: Finding) -> Outcome[Graph]:
    """Search one category."""
    offset, limit = finding.page
    with store.reading(category) as transaction:
        searcher = Searcher(transaction, finding.filters)
        found = searcher.find(finding.query, offset + limit + 1)
        if len(found.entity_ids) > offset + limit:
            transaction.notice(_next_page(finding.page))
        found = found._replace(entity_ids=found.entity_ids[offset : offset + limit])
        graph = _graph(transaction, searcher, found, finding)
    scores = {str(id): score for id, score in found.scores.items()}
    return Outcome(graph, transaction.notices, Matches(finding.query, scores))


def find_everywhere(store: Store, finding: Finding) -> Outcome[Graph]:
    """Search every category; those where an entity has all of the words come before those where none has.

    Scores of different categories don't compare, so the best of each come first, then the second best of each.
    """
    offset, limit = finding.page
    ranked: list[tuple[bool, int, str, Entity, list[Relation]]] = []
    notices: list[Notice] = []
    everything = finding._replace(page=Page(0, offset + limit + 1))
    for category in store.categories():
        outcome = find(store, category, everything)
        loose = any(notice.code == "matched_any" for notice in outcome.notices)
        notices += [_of(category, one) for one in outcome.notices if "nextOffset" not in one.details]
        for rank, entity in enumerate(outcome.result.entities):
            own = [one for one in outcome.result.relations if entity.id in {one.from_id, one.to_id}]
            ranked.append((loose, rank, category, entity, own))
    ranked.sort(key=lambda one: one[:3])
    if len(ranked) > offset + limit:
        notices.append(_next_page(finding.page))
    graph = _merged(ranked[offset : offset + limit])
    return Outcome(graph, notices, Matches(finding.query))


def _merged(ranked: Iterable[tuple[bool, int, str, Entity, list[Relation]]]) -> Graph:
    entities: list[Entity] = []
    relations: dict[tuple[str, str], Relation] = {}
    for _, _, category, entity, own in ranked:
        entities.append(EntityElsewhere(**structs.asdict(entity), category=category))
        for one in own:
            relations.setdefault((category, one.id), RelationElsewhere(**structs.asdict(one), category=category))
    return Graph(entities=entities, relations=list(relations.values()))


def _of(category: str, notice: Notice) -> Notice:
    return Notice(
        notice.code, f"in category '{category}': {notice.message}", **{**notice.details, "category": category}
    )


def _next_page(page: Page) -> Notice:
    offset, limit = page
    following = offset + limit
    if offset:
        message = f"these are the entities {offset + 1} to {following}, and more match: `offset {following}` shows them"
    else:
        message = f"these are the best {limit}, and more match: a larger `limit` or `offset {following}` shows them"
    return Notice("truncated", message, returned=limit, nextOffset=following)


def _graph(transaction: Transaction, searcher: Searcher, found: Found, finding: Finding) -> Graph:
    reader = Reader(transaction)
    entities = reader.entities(found.entity_ids)
    if finding.observations != "all":
        if finding.filters.choose_observations:
            passing = searcher.passing_observations(found.entity_ids)
            entities = [_only(entity, passing) for entity in entities]
        entities = _with_matching(transaction, searcher, found, entities, finding.observations)
    relations = reader.relations_touching(found.entity_ids) if finding.relations else []
    return Graph(entities=entities, relations=relations)


def _only(entity: Entity, passing: set[int]) -> Entity:
    return structs.replace(entity, observations=[one for one in entity.observations if int(one.id) in passing])


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
        details: dict[str, Any] = {"id": entity.id, "name": entity.name, "total": total, "returned": shown}
        message = (
            f"'{entity.name}' (id {entity.id}) has {total} observations; the {shown} {reason} are shown "
            "(`observations all` shows every one)"
        )
        transaction.notice(Notice("truncated", message, **details))
    return structs.replace(entity, observations=kept)

"""A search from its query to its page of results: in one category, or in all of them."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from msgspec import structs

from mmem.errors import IndexDamaged, MmemError
from mmem.filters import Filters
from mmem.hints import filter_hints
from mmem.matches import Matches
from mmem.observations import counts
from mmem.outcomes import Notice, Outcome
from mmem.query import Query
from mmem.reading import Reader
from mmem.records import Entity, EntityElsewhere, Graph, NamedElsewhere, Relation, RelationElsewhere
from mmem.search import Found, Searcher
from mmem.store import Store
from mmem.transaction import Transaction
from mmem.values import twin_key

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
    names_only: bool = False

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
        if not found.entity_ids:
            for hint in filter_hints(transaction, finding.filters):
                transaction.notice(hint)
        found = found._replace(entity_ids=found.entity_ids[offset : offset + limit])
        graph = _graph(transaction, searcher, found, finding)
    scores = {str(id): score for id, score in found.scores.items()}
    return Outcome(graph, transaction.notices, Matches(finding.query, scores, with_relations=finding.relations))


def find_everywhere(store: Store, finding: Finding) -> Outcome[Graph]:
    """Search every category: entities of just that name come first, then those of categories where one has all words.

    Scores of different categories don't compare, so the best of each come before the second best of each. A category
    that can't be read is left out with a notice.
    """
    offset, limit = finding.page
    everything = finding._replace(page=Page(0, offset + limit + 1))
    ranked: list[_Ranked] = []
    notices: list[tuple[str, Notice]] = []
    for category in store.categories():
        try:
            outcome = find(store, category, everything)
        except IndexDamaged:
            raise  # it can be mended
        except MmemError as error:
            notices.append((category, Notice("skipped", f"it was left out: {error.message}")))
            continue
        notices += [(category, one) for one in outcome.notices if "nextOffset" not in one.details]
        ranked += _ranked(category, outcome, finding.query)
    ranked.sort(key=lambda one: one.place)
    page = ranked[offset : offset + limit]
    notices = [(where, one) for where, one in notices if one.code != "not_found" or _helps(one, bool(ranked))]
    said = _said(notices, {(one.category, one.entity.id) for one in page})
    if len(ranked) > offset + limit:
        said.append(_next_page(finding.page))
    scores = {f"{one.category}/{one.entity.id}": one.score for one in page}
    return Outcome(_merged(page), said, Matches(finding.query, scores, with_relations=finding.relations))


def _helps(hint: Notice, found: bool) -> bool:
    """Tell whether what a category says of a filter helps: where nothing was found anywhere, and something is near."""
    return not found and bool(hint.details["nearest"])


class _Ranked(NamedTuple):
    """An entity of one of the categories, and where it stands among all."""

    place: tuple[bool, bool, int, str]
    category: str
    entity: Entity
    relations: list[Relation]
    score: float


def _ranked(category: str, outcome: Outcome[Graph], query: Query) -> Iterator[_Ranked]:
    loose = any(notice.code == "matched_any" for notice in outcome.notices)
    touching: dict[str, list[Relation]] = {}
    for relation in outcome.result.relations:
        for end in {relation.from_id, relation.to_id}:
            touching.setdefault(end, []).append(relation)
    key = twin_key(query.text)
    scores = outcome.matches.scores if outcome.matches else {}
    for rank, entity in enumerate(outcome.result.entities):
        is_named = entity.name == query.text or twin_key(entity.name) == key != ""
        place = (not is_named, loose and not is_named, rank, category)
        yield _Ranked(place, category, entity, touching.get(entity.id, []), scores.get(entity.id, 1.0))


def _said(notices: Iterable[tuple[str, Notice]], shown: set[tuple[str, str]]) -> list[Notice]:
    """Return the categories' notices, of entities only where they are shown, and the same warning once."""
    said: list[Notice] = []
    warnings: set[str] = set()
    for category, notice in notices:
        about = notice.details.get("id") if notice.code == "truncated" else None
        if about is not None and (category, about) not in shown:
            continue
        if notice.code == "no_full_text":
            if notice.message not in warnings:
                said.append(notice)
            warnings.add(notice.message)
            continue
        message = f"in category '{category}': {notice.message}"
        said.append(Notice(notice.code, message, **{**notice.details, "category": category}))
    return said


def _merged(ranked: Iterable[_Ranked]) -> Graph:
    entities: list[Entity] = []
    relations: dict[tuple[str, str], Relation] = {}
    for one in ranked:
        entities.append(EntityElsewhere(**structs.asdict(one.entity), category=one.category))
        for relation in one.relations:
            elsewhere = RelationElsewhere(**structs.asdict(relation), category=one.category)
            relations.setdefault((one.category, relation.id), elsewhere)
    return Graph(entities=entities, relations=list(relations.values()))


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
    if finding.names_only:
        return Graph(entities=reader.entities_alone(found.entity_ids), relations=[])
    relations = reader.relations_touching(found.entity_ids) if finding.relations else []
    return Graph(entities=_entities(transaction, searcher, found, finding), relations=relations)


def _entities(transaction: Transaction, searcher: Searcher, found: Found, finding: Finding) -> list[Entity]:
    """Return the entities with the observations that are to be shown; those of a large one aren't all read."""
    reader, ids, which = Reader(transaction), found.entity_ids, finding.observations
    if which == "all":
        return reader.entities(ids)
    held = counts(transaction, ids)
    cut = [id for id in ids if which == "matched" or held.get(id, 0) > _WHOLE]
    if not cut:
        return _passing(searcher, finding, reader.entities(ids))
    whole = {entity.id: entity for entity in _passing(searcher, finding, reader.entities([*set(ids) - set(cut)]))}
    matching = searcher.matching_observations(found, cut)
    passing = searcher.passing_observations(cut) if finding.filters.choose_observations else None
    shown = []
    for entity in reader.entities_alone(ids):
        id = int(entity.id)
        if entity.id in whole:
            shown.append(whole[entity.id])
            continue
        kept = matching.get(id, [])
        total = held.get(id, 0) if passing is None else len(passing.get(id, ()))
        if passing is not None:
            kept = [one for one in kept if one in passing.get(id, ())]
        shown.append(_cut(transaction, entity, kept, total, which, passing.get(id) if passing is not None else None))
    return shown


def _passing(searcher: Searcher, finding: Finding, entities: list[Entity]) -> list[Entity]:
    """Return entities with those of their observations that the filters let through."""
    if not finding.filters.choose_observations:
        return entities
    passing = searcher.passing_observations([int(entity.id) for entity in entities])
    return [
        structs.replace(
            entity,
            observations=[one for one in entity.observations if int(one.id) in passing.get(int(entity.id), ())],
        )
        for entity in entities
    ]


def _cut(
    transaction: Transaction, entity: Entity, matching: list[int], total: int, which: Which, among: set[int] | None
) -> Entity:
    """Return a large entity with the observations that matched, or where none did, with its newest."""
    reader, reason = Reader(transaction), "that matched"
    if not matching and which == "auto":
        if total <= _WHOLE and among is not None:
            return structs.replace(entity, observations=reader.observations(sorted(among)))
        newest = sorted(among, reverse=True)[:_WHOLE] if among is not None else None
        matching = reader.newest_observations(int(entity.id), _WHOLE) if newest is None else newest
        reason = "newest"
    shown = reader.observations(matching)
    if len(shown) < total and which == "auto":
        details: dict[str, Any] = {"id": entity.id, "name": entity.name, "total": total, "returned": len(shown)}
        message = (
            f"'{entity.name}' (id {entity.id}) has {total} observations; the {len(shown)} {reason} are shown "
            "(`observations all` shows every one)"
        )
        transaction.notice(Notice("truncated", message, **details))
    return structs.replace(entity, observations=shown)

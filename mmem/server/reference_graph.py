"""The graph as the reference server knows it: entities by name alone, observations as texts.

Each function is one of its tools, in one transaction. A name that is held under several types is one name here: what
is read or deleted by it is all of them, and what is added goes to the one without a type, or else to the oldest.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

from mmem.arguments import RelationInput
from mmem.errors import NotFound
from mmem.lookup import Found, entities_by_name
from mmem.observations import ids_with_texts
from mmem.outcomes import Notice, Outcome
from mmem.query import Query
from mmem.reading import Reader
from mmem.records import Graph
from mmem.registry import call, tool
from mmem.relations import existing
from mmem.search import Searcher
from mmem.server.reference_requests import (
    AddObservations,
    CreateEntities,
    DeleteEntities,
    DeleteObservations,
    OpenNodes,
    ReadGraph,
    Relations,
    SearchNodes,
)
from mmem.store import Store
from mmem.substrings import Substrings
from mmem.transaction import Transaction
from mmem.values import nfc

_BEST = 50  # entities found by their words, beside all those that contain the query as it stands
_ALL = 1 << 40
_NAMED = 20  # missing entities that an error names
_PLACE = re.compile(r"^\$\.entities\[(\d+)\]")


class Done(NamedTuple):
    """A tool's records (or a sentence), its notices, and the names that were skipped."""

    result: Any
    notices: list[Notice]
    skipped: Sequence[str] = ()
    total: int | None = None  # entities, where the result holds fewer


def create_entities(store: Store, request: CreateEntities, most: int) -> Done:
    """Create entities; one whose name exists, whatever its type, is skipped."""
    with store.writing(None, create=bool(request.entities)) as transaction:
        known = {found.name for found in _named(transaction, (entity.name for entity in request.entities))}
        fresh, skipped = {}, []
        for place, entity in enumerate(request.entities):
            if not {entity.name, nfc(entity.name)}.isdisjoint(known):
                skipped.append(entity.name)
            else:
                known.add(nfc(entity.name))
                fresh[place] = entity.input()
        outcome = _run(store, "create_entities", entities=list(fresh.values()))
    places = list(fresh)
    notices = [_with_place(notice, places) for notice in outcome.notices]
    return Done(outcome.result, [*transaction.notices, *notices], skipped)


def create_relations(store: Store, request: Relations, most: int) -> Done:
    """Relate entities. Raises `NotFound` where an end doesn't exist; then nothing is written."""
    with store.writing(None) as transaction:
        names = [name for one in request.relations for name in (one.source, one.target)]
        ids = _ids(transaction, names)
        relations = [
            RelationInput(source_end=ids[one.source], target_end=ids[one.target], relation_type=one.kind)
            for one in request.relations
        ]
        outcome = _run(store, "create_relations", relations=relations)
    return Done(outcome.result, [*transaction.notices, *outcome.notices])


def add_observations(store: Store, request: AddObservations, most: int) -> Done:
    """Add texts to entities. Raises `NotFound` where one doesn't exist; then nothing is written."""
    with store.writing(None) as transaction:
        ids = _ids(transaction, [one.entity_name for one in request.observations])
        additions = [{"entityId": ids[one.entity_name], "contents": one.contents} for one in request.observations]
        outcome = call(store, "add_observations", {"observations": additions})
    return Done(outcome.result, [*transaction.notices, *outcome.notices])


def delete_entities(store: Store, request: DeleteEntities, most: int) -> Done:
    """Delete entities by name, of whatever type."""
    with store.writing(None) as transaction:
        found = list(_named(transaction, request.entity_names))
        transaction.delete("entities", "id", [one.id for one in found])
        _say_missing(transaction, request.entity_names, found)
    return Done("Entities deleted successfully", transaction.notices)


def delete_observations(store: Store, request: DeleteObservations, most: int) -> Done:
    """Delete texts of entities."""
    with store.writing(None) as transaction:
        found = list(_named(transaction, (one.entity_name for one in request.deletions)))
        by_name = _by_name(found)
        wanted: dict[int, list[str]] = {}
        for one in request.deletions:
            for entity in _of(by_name, one.entity_name):
                wanted.setdefault(entity.id, []).extend(one.observations)
        rows = [row for row in ids_with_texts(transaction, wanted) if row[1] in wanted[row[0]]]
        transaction.delete("observations", "id", [id for _, _, id in rows])
        _say_missing(transaction, [one.entity_name for one in request.deletions], found)
        held = {(entity_id, text) for entity_id, text, _ in rows}
        for one in request.deletions:
            entities = _of(by_name, one.entity_name)
            for text in one.observations if entities else ():
                if not any((entity.id, text) in held for entity in entities):
                    message = f"'{one.entity_name}' has no observation '{_short(text)}'"
                    transaction.notice(Notice("not_found", message, name=one.entity_name))
    return Done("Observations deleted successfully", transaction.notices)


def delete_relations(store: Store, request: Relations, most: int) -> Done:
    """Delete relations by the names of their ends and their type."""
    with store.writing(None) as transaction:
        names = [name for one in request.relations for name in (one.source, one.target)]
        by_name = _by_name(_named(transaction, names))
        keys = {
            index: [
                (source.id, target.id, kind)
                for source, target in product(_of(by_name, one.source), _of(by_name, one.target))
                for kind in dict.fromkeys((one.kind, nfc(one.kind)))
            ]
            for index, one in enumerate(request.relations)
        }
        stored = existing(transaction, [key for tried in keys.values() for key in tried])
        transaction.delete("relations", "id", set(stored.values()))
        for index, one in enumerate(request.relations):
            if not any(key in stored for key in keys[index]):
                message = f"there is no relation '{one.source}' {one.kind} '{one.target}'"
                transaction.notice(Notice("not_found", message))
    return Done("Relations deleted successfully", transaction.notices)


def read_graph(store: Store, request: ReadGraph, most: int) -> Done:
    """Return everything, or the first `most` entities and how many there are."""
    with store.reading(None) as transaction:
        reader = Reader(transaction)
        graph = reader.graph(limit=most)
        total = reader.count() if len(graph.entities) == most else None
    return Done(graph, transaction.notices, total=total)


def search_nodes(store: Store, request: SearchNodes, most: int) -> Done:
    """Return what holds the query's words, best first, then whatever contains it as it stands; for a blank one, all."""
    query = Query(request.query)
    if not query.text:
        return read_graph(store, ReadGraph(), most)
    with store.reading(None) as transaction:
        best = Searcher(transaction).find(query, _BEST).entity_ids
        containing = Substrings(transaction).anywhere([query.spellings], _ALL)
        loose = [notice for notice in transaction.notices if notice.code == "matched_any"]
        if containing and loose:  # the query stands there whole, which its single words would only hide
            best = []
            transaction.notices.remove(loose[0])
        ids = list(dict.fromkeys([*best, *(hit.entity_id for hit in containing)]))
        graph = _graph(transaction, ids[:most])
    return Done(graph, transaction.notices, total=len(ids))


def open_nodes(store: Store, request: OpenNodes, most: int) -> Done:
    """Return the entities of these names, in the order of the graph, and every relation that touches one."""
    with store.reading(None) as transaction:
        found = list(_named(transaction, request.names))
        graph = _graph(transaction, sorted(one.id for one in found)[:most])
        _say_missing(transaction, request.names, found)
    return Done(graph, transaction.notices, total=len(found))


def _run(store: Store, name: str, **arguments: object) -> Outcome[Any]:
    """Run one of the eleven tools within the transaction that is open."""
    found = tool(name)
    request: Any = found.request
    return found.run(store, request(**arguments))


def _with_place(notice: Notice, places: Sequence[int]) -> Notice:
    """Return a notice about one of the entities that weren't skipped, with its place in the request."""
    message = _PLACE.sub(lambda match: f"$.entities[{places[int(match[1])]}]", notice.message)
    return Notice(notice.code, message)


def _graph(transaction: Transaction, ids: list[int]) -> Graph:
    reader = Reader(transaction)
    return Graph(entities=reader.entities(ids), relations=reader.relations_touching(ids))


def _named(transaction: Transaction, names: Iterable[str]) -> list[Found]:
    given = list(names)
    every = {*given, *map(nfc, given)}
    return list({found.id: found for found in entities_by_name(transaction, every)}.values())


def _by_name(found: Iterable[Found]) -> dict[str, list[Found]]:
    by_name: dict[str, list[Found]] = {}
    for one in found:
        by_name.setdefault(one.name, []).append(one)
    return by_name


def _of(by_name: dict[str, list[Found]], name: str) -> list[Found]:
    return by_name.get(name) or by_name.get(nfc(name)) or []


def _ids(transaction: Transaction, names: list[str]) -> dict[str, int]:
    """Return the id that each name stands for. Raises `NotFound` that names all that don't exist."""
    by_name = _by_name(_named(transaction, names))
    ids, missing = {}, []
    for name in dict.fromkeys(names):
        held = _of(by_name, name)
        if not held:
            missing.append(name)
            continue
        chosen = min(held, key=lambda one: (one.entity_type != "", one.id))
        ids[name] = chosen.id
        if len(held) > 1:
            message = f"{len(held)} entities are named '{name}'; this went to the one of type '{chosen.entity_type}'"
            transaction.notice(Notice("repaired", message, name=name, id=str(chosen.id)))
    if missing:
        raise NotFound(_not_found(missing), {"missing": missing})
    return ids


def _not_found(names: list[str]) -> str:
    """Return the reference's own sentence for one name, and its like for several."""
    if len(names) == 1:
        return f"Entity with name {names[0]} not found"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"Entities with names {', '.join(map(_short, names[:_NAMED]))}{more} not found"


def _say_missing(transaction: Transaction, names: Iterable[str], found: Iterable[Found]) -> None:
    by_name = _by_name(found)
    for name in dict.fromkeys(names):
        if not _of(by_name, name):
            transaction.notice(Notice("not_found", f"there is no entity '{name}'", name=name))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."

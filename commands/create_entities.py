"""`create_entities`: new nodes of the graph, with their observations."""

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

import click

from mmem import jsontext, semantic
from mmem.arguments import EntityInput, Override, Request
from mmem.lookup import Found, entities_by_name, near_twins, remember_names
from mmem.observations import Slots, Writer, counts, not_stored
from mmem.outcomes import Notice, Outcome
from mmem.records import Entity
from mmem.registry import Tool
from mmem.store import Store
from mmem.timestamps import now
from mmem.tooling import Arguments, tool_command
from mmem.transaction import Transaction
from mmem.values import nfc
from mmem.visible import plural
from mmem.words import (
    name_word,
    observation_options,
    observation_words,
    override_option,
    properties_option,
    property_words,
)

_TWINS_UP_TO = 20  # new entities in a request; more are a bulk load, which knows its names


class CreateEntities(Request, frozen=True):
    """Entities to create; with `override`, one that exists is replaced."""

    entities: list[EntityInput]
    override: Override = None


def run(store: Store, request: CreateEntities) -> Outcome[list[Entity]]:
    """Create entities and return the created (or replaced) ones, with ids.

    One that exists is skipped with a notice. With `override` its properties and observations are replaced;
    its id and its relations stay.
    """
    return run_many(store, [request])[0]


def run_many(store: Store, requests: Sequence[CreateEntities]) -> list[Outcome[list[Entity]]]:
    """Run requests for one category as if one after the other, with a statement for the rows of all of them.

    Only a request on its own may have `override`.
    """
    if any(given.observations for request in requests for given in request.entities):
        semantic.model()  # so that no lock is held while it is loaded
    with store.writing(requests[0].category, create=any(request.entities for request in requests)) as transaction:
        plan = _Plan(transaction, requests)
        plan.say_replaced()
        results = plan.store()
        plan.say_twins()
    plan.notices[0][:0] = transaction.notices
    return [Outcome(result, notices) for result, notices in zip(results, plan.notices, strict=True)]


class _Planned(NamedTuple):
    """An entity to store: its id, name and type, what was given, and which request gave it at which place."""

    found: Found
    given: EntityInput
    request: int
    place: int

    @property
    def path(self) -> str:
        return f"$.entities[{self.place}]"


class _Plan:
    """What requests store: new entities by the ids they get, and existing ones that a request replaces."""

    def __init__(self, transaction: Transaction, requests: Sequence[CreateEntities]) -> None:
        self.notices: list[list[Notice]] = [[] for _ in requests]
        self._transaction = transaction
        self._requests = requests
        self._override = bool(requests[0].override)
        self._new: dict[int, _Planned] = {}
        self._replacing: dict[int, _Planned] = {}
        self._next = transaction.next_id("entities")
        names = {given.name for request in requests for given in request.entities}
        names |= {nfc(name) for name in names if not name.isascii()}
        self._known = {(found.name, found.entity_type): found for found in entities_by_name(transaction, names)}
        for number, request in enumerate(requests):
            for index, given in enumerate(request.entities):
                self._add(given, number, index)

    def _add(self, given: EntityInput, request: int, index: int) -> None:
        key = nfc(given.name), nfc(given.entity_type or "")
        found = self._known.get((given.name, given.entity_type or "")) or self._known.get(key)
        if found is None:
            found = self._known[key] = Found(self._next, *key)
            self._next += 1
            self._new[found.id] = _Planned(found, given, request, index)
            return
        planned = _Planned(found, given, request, index)
        earlier = self._new.get(found.id) or self._replacing.get(found.id)
        if not self._override:
            here = earlier is not None and earlier.request == request
            self.notices[request].append(_skipped(planned, here))
        elif earlier is not None:
            self.notices[request].append(_replaced_earlier(planned, earlier))
            (self._new if found.id in self._new else self._replacing)[found.id] = planned
        else:
            self._replacing[found.id] = planned

    def say_replaced(self) -> None:
        """Say of each existing entity how many observations go."""
        held = counts(self._transaction, self._replacing) if self._replacing else {}
        for planned in self._replacing.values():
            found, path = planned.found, planned.path
            number = held.get(found.id, 0)
            message = f"{path}: {_shown(found)} was replaced; {plural(number, 'observation')} of it went"
            details = {"path": path, "id": str(found.id), "name": found.name, "replacedObservations": number}
            self.notices[planned.request].append(Notice("replaced", message, **details))

    def store(self) -> list[list[Entity]]:
        """Write everything and return each request's entities, in its order."""
        transaction = self._transaction
        if self._replacing:
            transaction.delete("observations", "entity_id", self._replacing)
            rows = [(id, _properties(planned.given)) for id, planned in self._replacing.items()]
            transaction.update("entities", ["properties"], rows, extra=", updated_at = unixepoch()")
        new = self._new.values()
        if len(new) > 1 or any(planned.given.observations for planned in new):
            transaction.defer_index()
        entity_rows = [(*planned.found, _properties(planned.given)) for planned in new]
        transaction.insert("entities", "id, name, entity_type, properties", entity_rows)
        if new:
            remember_names(transaction, [planned.found for planned in new])
        writer = Writer(transaction, now(), self._override)
        stored = [*self._replacing.values(), *new]
        entities = [self._with_observations(writer, planned) for planned in stored]
        writer.store()
        results: list[list[tuple[int, Entity]]] = [[] for _ in self._requests]
        for planned, entity in zip(stored, entities, strict=True):
            results[planned.request].append((planned.place, entity))
        return [[entity for _, entity in sorted(result, key=itemgetter(0))] for result in results]

    def _with_observations(self, writer: Writer, planned: _Planned) -> Entity:
        found, given = planned.found, planned.given
        items = given.inputs
        observations = []
        if len(items) == 1:
            observations.append(writer.place_only(found.id, items[0]))
        elif items:
            slots = Slots(found.id)
            placements = writer.place_all([(slots, item) for item in items])
            for index, (item, placement) in enumerate(zip(items, placements, strict=True)):
                if placement.stored is not None:
                    observations.append(placement.stored)
                if placement.holder is not None or placement.replaced is not None:
                    where = f"{planned.path}.observations[{index}]"
                    notice = not_stored(where, _shown(found), found.id, item, placement)
                    self.notices[planned.request].append(notice)
        return Entity(
            id=str(found.id),
            name=found.name,
            entity_type=found.entity_type,
            properties=given.properties or None,
            observations=observations,
        )

    def say_twins(self) -> None:
        """Say of each new name which stored one it could be mistaken for."""
        sizes = Counter(planned.request for planned in self._new.values())
        new = [planned.found for planned in self._new.values() if sizes[planned.request] <= _TWINS_UP_TO]
        for id, twin in near_twins(self._transaction, new).items() if new else ():
            planned = self._new[id]
            message = (
                f"{planned.path}: the new entity {_shown(planned.found)} differs from {_shown(twin)} (id {twin.id}) "
                "only in spelling"
            )
            details = {"path": planned.path, "id": str(id), "twinId": str(twin.id), "twinName": twin.name}
            self.notices[planned.request].append(Notice("near_twin", message, **details))


def _properties(given: EntityInput) -> str | None:
    return jsontext.encode(given.properties) if given.properties else None


def _shown(found: Found) -> str:
    return f"'{found.name}'" + (f" ({found.entity_type})" if found.entity_type else "")


def _skipped(planned: _Planned, in_request: bool) -> Notice:
    found = planned.found
    number = len(planned.given.observations or ())
    where = "stands earlier in this request" if in_request else f"exists already (id {found.id})"
    message = f"{planned.path}: {_shown(found)} {where} and was left as it is"
    if number:
        verb, pronoun = ("wasn't", "it") if number == 1 else ("weren't", "them")
        message += (
            f"; {plural(number, 'observation')} {verb} stored: add {pronoun} with `add_observations`, "
            "or use `override` to replace the entity"
        )
    return Notice(
        "skipped",
        message,
        path=planned.path,
        id=str(found.id),
        name=found.name,
        entityType=found.entity_type,
        observationsNotStored=number,
    )


def _replaced_earlier(planned: _Planned, earlier: _Planned) -> Notice:
    inputs = earlier.given.inputs
    number = len({item.text if item.is_plain else item.key for item in inputs})
    message = (
        f"{planned.path}: {_shown(planned.found)} replaces {earlier.path} of this request; "
        f"{plural(number, 'observation')} of that went"
    )
    return Notice(
        "replaced",
        message,
        path=planned.path,
        id=str(planned.found.id),
        name=planned.found.name,
        replacedObservations=number,
    )


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        CreateEntities,
        run,
        about="Remember new people, projects, things or ideas, with observations about them (one fact each). Search "
        "first: an entity of the same name and type is skipped, or with override=true replaced.",
        writes=True,
        destroys=True,
        creates=lambda request: bool(request.entities),
        run_many=run_many,
        joins=lambda request: bool(request.entities) and not request.override,
    )


@tool_command("create-entities", tool)
@click.argument("names", metavar="NAME...", nargs=-1)
@click.option("-t", "--type", "entity_type", metavar="TYPE", help="Type of the entities.")
@observation_options
@properties_option("of the entities")
@override_option("Replace the properties and observations of entities that exist.")
def command(
    names: tuple[str, ...],
    entity_type: str | None,
    observations: tuple[str, ...],
    typed_observations: tuple[tuple[str, str], ...],
    source: str | None,
    timestamp: str | None,
    properties: tuple[str, ...],
    override: bool,
) -> Arguments:
    """Create entities, with their observations.

    \b
    mmem create-entities UserService -t service -o "Manages user data"
    mmem create-entities UserService -t service -O version "Updated to v2.0" -p tier:=1
    """
    if not names:
        raise click.UsageError("name an entity to create, or give a request with --json")
    entity = {
        "entityType": entity_type,
        "observations": observation_words(observations, typed_observations, source, timestamp),
        "properties": property_words(properties),
    }
    return {"entities": [{"name": name_word(name), **entity} for name in names], "override": override or None}

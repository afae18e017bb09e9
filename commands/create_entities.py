"""`create_entities`: new nodes of the graph, with their observations."""

import click

from mmem import jsontext
from mmem.arguments import EntityInput, Request, observation_inputs
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
from mmem.words import (
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
    override: bool | None = None


def run(store: Store, request: CreateEntities) -> Outcome[list[Entity]]:
    """Create entities and return the created (or replaced) ones, with ids.

    One that exists is skipped with a notice. With `override` its properties and observations are replaced;
    its id and its relations stay.
    """
    with store.writing(request.category, create=bool(request.entities)) as transaction:
        plan = _Plan(transaction, request)
        plan.say_replaced()
        entities = plan.store()
        plan.say_twins()
    return Outcome(entities, transaction.notices)


class _Plan:
    """What a request stores: new entities by the ids they get, and existing ones that it replaces."""

    def __init__(self, transaction: Transaction, request: CreateEntities) -> None:
        self._transaction = transaction
        self._override = bool(request.override)
        self._new: dict[int, tuple[Found, EntityInput, str]] = {}
        self._replacing: dict[int, tuple[Found, EntityInput, str]] = {}
        self._first = self._next = transaction.next_id("entities")
        names = {spelling for given in request.entities for spelling in (given.name, nfc(given.name))}
        self._known = {(found.name, found.entity_type): found for found in entities_by_name(transaction, names)}
        for index, given in enumerate(request.entities):
            self._add(given, f"$.entities[{index}]")

    def _add(self, given: EntityInput, path: str) -> None:
        key = nfc(given.name), nfc(given.entity_type or "")
        found = self._known.get((given.name, given.entity_type or "")) or self._known.get(key)
        if found is None:
            found = self._known[key] = Found(self._next, *key)
            self._next += 1
            self._new[found.id] = (found, given, path)
        elif not self._override:
            self._transaction.notice(_skipped(found, given, path, found.id >= self._first))
        elif (earlier := self._new.get(found.id) or self._replacing.get(found.id)) is not None:
            self._transaction.notice(_replaced_earlier(found, earlier, path))
            (self._new if found.id >= self._first else self._replacing)[found.id] = (found, given, path)
        else:
            self._replacing[found.id] = (found, given, path)

    def say_replaced(self) -> None:
        """Say of each existing entity how many observations go."""
        held = counts(self._transaction, self._replacing)
        for found, _, path in self._replacing.values():
            number = held.get(found.id, 0)
            message = f"{path}: {_shown(found)} was replaced; {_observations(number)} of it went"
            self._transaction.notice(
                Notice(
                    "replaced",
                    message,
                    path=path,
                    id=str(found.id),
                    name=found.name,
                    replacedObservations=number,
                )
            )

    def store(self) -> list[Entity]:
        """Write everything and return the entities, in the order of the request."""
        transaction = self._transaction
        if self._replacing:
            transaction.delete("observations", "entity_id", self._replacing)
            rows = [(found.id, _properties(given)) for found, given, _ in self._replacing.values()]
            transaction.update("entities", ["properties"], rows, extra=", updated_at = unixepoch()")
        if len(self._new) > 1 or any(given.observations for _, given, _ in self._new.values()):
            transaction.defer_index()
        new = [(found.id, found.name, found.entity_type, _properties(given)) for found, given, _ in self._new.values()]
        transaction.insert("entities", "id, name, entity_type, properties", new)
        remember_names(transaction, [found for found, _, _ in self._new.values()])
        writer = Writer(transaction, now(), self._override)
        stored = [*self._replacing.values(), *self._new.values()]
        entities = {path: self._with_observations(writer, found, given, path) for found, given, path in stored}
        writer.store()
        return [entities[path] for path in sorted(entities, key=_index)]

    def _with_observations(self, writer: Writer, found: Found, given: EntityInput, path: str) -> Entity:
        slots = Slots(found.id)
        items = observation_inputs(given.observations)
        observations = []
        for index, (item, placement) in enumerate(
            zip(items, writer.place_all([(slots, item) for item in items]), strict=True)
        ):
            if placement.stored is not None:
                observations.append(placement.stored)
            if placement.holder is not None or placement.replaced is not None:
                where = f"{path}.observations[{index}]"
                self._transaction.notice(not_stored(where, _shown(found), found.id, item, placement))
        return Entity(
            id=str(found.id),
            name=found.name,
            entity_type=found.entity_type,
            properties=given.properties or None,
            observations=observations,
        )

    def say_twins(self) -> None:
        """Say of each new name which stored one it could be mistaken for."""
        new = [found for found, _, _ in self._new.values()]
        if not 0 < len(new) <= _TWINS_UP_TO:
            return
        for id, twin in near_twins(self._transaction, new).items():
            found, _, path = self._new[id]
            message = (
                f"{path}: the new entity {_shown(found)} differs from {_shown(twin)} (id {twin.id}) only in spelling"
            )
            self._transaction.notice(
                Notice("near_twin", message, path=path, id=str(id), twinId=str(twin.id), twinName=twin.name)
            )


def _index(path: str) -> int:
    return int(path[len("$.entities[") : -1])


def _properties(given: EntityInput) -> str | None:
    return jsontext.encode(given.properties) if given.properties else None


def _shown(found: Found) -> str:
    return f"'{found.name}'" + (f" ({found.entity_type})" if found.entity_type else "")


def _observations(number: int) -> str:
    return f"{number} observation{'' if number == 1 else 's'}"


def _skipped(found: Found, given: EntityInput, path: str, in_request: bool) -> Notice:
    number = len(given.observations or ())
    where = "stands earlier in this request" if in_request else f"exists already (id {found.id})"
    message = f"{path}: {_shown(found)} {where} and was left as it is"
    if number:
        verb, pronoun = ("wasn't", "it") if number == 1 else ("weren't", "them")
        message += (
            f"; {_observations(number)} {verb} stored: add {pronoun} with add_observations, "
            "or use override to replace the entity"
        )
    return Notice(
        "skipped",
        message,
        path=path,
        id=str(found.id),
        name=found.name,
        entityType=found.entity_type,
        observationsNotStored=number,
    )


def _replaced_earlier(found: Found, earlier: tuple[Found, EntityInput, str], path: str) -> Notice:
    _, given, earlier_path = earlier
    number = len({item.text if item.is_plain else item.key for item in observation_inputs(given.observations)})
    message = f"{path}: {_shown(found)} replaces {earlier_path} of this request; {_observations(number)} of that went"
    return Notice("replaced", message, path=path, id=str(found.id), name=found.name, replacedObservations=number)


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(CreateEntities, run)


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
    return {"entities": [{"name": name, **entity} for name in names], "override": override or None}

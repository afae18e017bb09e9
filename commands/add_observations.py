"""`add_observations`: more texts on entities that exist."""

import click
from msgspec.structs import force_setattr

from mmem import semantic
from mmem.app import App
from mmem.arguments import (
    AnyObservation,
    Id,
    ObservationInput,
    Override,
    Part,
    Reference,
    Request,
    Type,
    observation_inputs,
)
from mmem.errors import InvalidArguments
from mmem.lookup import Found, Resolver
from mmem.missing import Missing
from mmem.observations import Writer, load_slots, not_stored
from mmem.outcomes import Outcome
from mmem.records import AddedObservations, Observation
from mmem.registry import Tool
from mmem.store import Store
from mmem.timestamps import now
from mmem.tooling import Arguments, tool_command
from mmem.transaction import Transaction
from mmem.words import (
    observation_words,
    override_option,
    properties_option,
    property_words,
    reference_word,
    source_options,
    typed_observations_option,
)


class Addition(Part, frozen=True, kw_only=True):
    """Observations for one entity, which is named by id, or by name and type."""

    entity_id: Id | None = None
    entity_name: Type | None = None
    entity_type: Type | None = None
    contents: list[AnyObservation]

    def __post_init__(self) -> None:
        """Check what the types can't. Raises `ValueError`."""
        self.reference()
        force_setattr(self, "contents", observation_inputs(self.contents, "contents"))

    def reference(self) -> Reference:
        """Return the entity's reference."""
        if self.entity_id is None and self.entity_name is None:
            raise ValueError("name an entity by entityId, or by entityName and entityType")
        return Reference(id=self.entity_id, name=self.entity_name, entity_type=self.entity_type)


class AddObservations(Request, frozen=True):
    """Observations to add; with `override`, one whose type and source are taken replaces the other."""

    observations: list[Addition]
    override: Override = None


def run(store: Store, request: AddObservations) -> Outcome[list[AddedObservations]]:
    """Add observations and return, for each entity in turn, those that were stored.

    Plain texts are never lost: see `mmem.observations.Slots`. Raises `NotFound` that names every missing
    entity; then nothing is written.
    """
    semantic.model()  # so that no lock is held while it is loaded
    with store.writing(request.category) as transaction:
        found = _resolved(transaction, request.observations)
        result = _store(transaction, request, found)
    return Outcome(result, transaction.notices)


def _resolved(transaction: Transaction, additions: list[Addition]) -> list[Found]:
    references = [addition.reference() for addition in additions]
    resolver = Resolver(transaction, references)
    missing = Missing(transaction, resolver)
    entities = []
    for index, reference in enumerate(references):
        path = f"$.observations[{index}]"
        found = resolver.find(reference, path)
        if found is None:
            missing.add(path, reference)
        else:
            entities.append(found)
    missing.require_none()
    return entities


def _store(transaction: Transaction, request: AddObservations, entities: list[Found]) -> list[AddedObservations]:
    wanted: dict[int, list[ObservationInput]] = {}
    items = [
        (index, position, found, item)
        for index, (found, addition) in enumerate(zip(entities, request.observations, strict=True))
        for position, item in enumerate(observation_inputs(addition.contents))
    ]
    for _, _, found, item in items:
        wanted.setdefault(found.id, []).append(item)
    slots = load_slots(transaction, wanted)
    writer = Writer(transaction, now(), bool(request.override))
    placements = writer.place_all([(slots[found.id], item) for _, _, found, item in items])
    if writer.inserted > 1:
        transaction.defer_index()
    writer.store()
    added: list[list[Observation]] = [[] for _ in entities]
    for (index, position, found, item), placement in zip(items, placements, strict=True):
        if placement.stored is not None:
            added[index].append(placement.stored)
        if placement.holder is not None or placement.replaced is not None:
            path = f"$.observations[{index}].contents[{position}]"
            transaction.notice(not_stored(path, f"'{found.name}'", found.id, item, placement))
    return [
        AddedObservations(
            entity_id=str(found.id),
            entity_name=found.name,
            entity_type=found.entity_type,
            added_observations=stored,
        )
        for found, stored in zip(entities, added, strict=True)
    ]


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        AddObservations,
        run,
        about="Add facts to entities that exist: whenever you learn something worth keeping, one fact a text. With "
        "override=true a text of the same observationType and source is replaced.",
        writes=True,
        destroys=True,
    )


@tool_command("add-observations", tool)
@click.argument("name", metavar="NAME", required=False)
@click.argument("texts", metavar="TEXT...", nargs=-1)
@click.option("-t", "--type", "entity_type", metavar="TYPE", help="Type of the entity.")
@typed_observations_option
@source_options
@properties_option("of the observations")
@override_option("Replace observations of the same type and source.")
def command(
    name: str | None,
    texts: tuple[str, ...],
    entity_type: str | None,
    typed_observations: tuple[tuple[str, str], ...],
    source: str | None,
    timestamp: str | None,
    properties: tuple[str, ...],
    override: bool,
) -> Arguments:
    """Add observations to an entity.

    A TEXT of - is read from standard input.

    \b
    mmem add-observations UserService "Added caching" --source changelog
    git log -1 --format=%B | mmem add-observations UserService -
    """
    if name is None or not (texts or typed_observations):
        raise click.UsageError("say NAME and at least one TEXT, or give a request with --json")
    given = tuple(_standard_input() if text == "-" else text for text in texts)
    reference = reference_word(name, entity_type)
    addition = {
        "entityId": reference.get("id"),
        "entityName": reference.get("name"),
        "entityType": reference.get("entityType"),
        "contents": observation_words(given, typed_observations, source, timestamp, property_words(properties)),
    }
    return {"observations": [addition], "override": override or None}


def _standard_input() -> str:
    app = click.get_current_context().find_object(App) or App()
    try:
        text = app.streams.read().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InvalidArguments(f"standard input: byte {error.start + 1} isn't UTF-8") from None
    if not text:
        raise click.UsageError("standard input, which a TEXT of - stands for, is empty")
    return text

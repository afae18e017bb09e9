"""`create_relations`: directed edges between entities that exist."""

import click

from mmem import jsontext
from mmem.arguments import Override, RelationInput, Request
from mmem.errors import Ambiguous
from mmem.lookup import Found, Resolver
from mmem.missing import Missing
from mmem.outcomes import Notice, Outcome
from mmem.records import Relation
from mmem.registry import Tool
from mmem.relations import COLUMNS, Key, existing
from mmem.store import Store
from mmem.tooling import Arguments, tool_command
from mmem.transaction import Transaction
from mmem.words import override_option, properties_option, property_words, reference_word


class CreateRelations(Request, frozen=True):
    """Relations to create; with `override`, one that exists gets the new properties."""

    relations: list[RelationInput]
    override: Override = None


Placed = tuple[Found, Found, RelationInput]


def run(store: Store, request: CreateRelations) -> Outcome[list[Relation]]:
    """Create relations and return the created (or updated) ones, with ids.

    One that exists is skipped with a notice. Raises `NotFound` that names every missing end; then nothing is
    written.
    """
    with store.writing(request.category) as transaction:
        placed = _resolved(transaction, request.relations)
        result = _store(transaction, placed, bool(request.override))
    return Outcome(result, transaction.notices)


def _resolved(transaction: Transaction, relations: list[RelationInput]) -> list[Placed]:
    """Return both ends of each relation."""
    resolver = Resolver(transaction, (end for given in relations for end in (given.source, given.target)))
    missing = Missing(transaction, resolver)
    placed: list[Placed] = []
    ambiguous: Ambiguous | None = None
    for index, given in enumerate(relations):
        ends = []
        for side, reference in (("from", given.source), ("to", given.target)):
            path = f"$.relations[{index}].{side}"
            try:
                found = resolver.find(reference, path)
            except Ambiguous as error:
                ambiguous = ambiguous or error
                continue
            if found is None:
                missing.add(path, reference)
            else:
                ends.append(found)
        if len(ends) == 2:
            placed.append((ends[0], ends[1], given))
    missing.require_none()
    if ambiguous is not None:
        raise ambiguous
    return placed


def _store(transaction: Transaction, placed: list[Placed], override: bool) -> list[Relation]:
    """Insert the new relations, update or skip the others."""
    keys: list[Key] = [(source.id, target.id, given.relation_type) for source, target, given in placed]
    known = existing(transaction, keys)
    first = following = transaction.next_id("relations")
    inserts: dict[int, tuple[object, ...]] = {}
    updates: dict[int, tuple[object, ...]] = {}
    result: dict[int, Relation] = {}
    for index, (key, (source, target, given)) in enumerate(zip(keys, placed, strict=True)):
        id = known.get(key)
        if id is not None and not override:
            transaction.notice(_skipped(index, id, id >= first, source, target, given))
            continue
        properties = given.properties or None
        text = jsontext.encode(properties) if properties else None
        if id is None:
            id = known[key] = following
            following += 1
        else:
            transaction.notice(_replaced(index, id, source, target, given))
        if id >= first:
            inserts[id] = (id, *key, text)
        else:
            updates[id] = (id, text)
        result[id] = Relation(
            id=str(id),
            from_name=source.name,
            from_type=source.entity_type,
            to_name=target.name,
            to_type=target.entity_type,
            relation_type=given.relation_type,
            properties=properties,
            from_id=str(source.id),
            to_id=str(target.id),
        )
    transaction.insert("relations", COLUMNS, list(inserts.values()))
    if updates:
        transaction.update("relations", ["properties"], list(updates.values()))
    return list(result.values())


def _shown(source: Found, target: Found, given: RelationInput) -> str:
    return f"'{source.name}' {given.relation_type} '{target.name}'"


def _skipped(index: int, id: int, in_request: bool, source: Found, target: Found, given: RelationInput) -> Notice:
    path = f"$.relations[{index}]"
    where = "stands earlier in this request" if in_request else f"exists already (id {id})"
    message = f"{path}: {_shown(source, target, given)} {where}; it was left as it is"
    if given.properties:
        message += ", and the new properties weren't stored: replace them with `override`"
    return Notice("skipped", message, path=path, id=str(id))


def _replaced(index: int, id: int, source: Found, target: Found, given: RelationInput) -> Notice:
    path = f"$.relations[{index}]"
    message = f"{path}: the properties of {_shown(source, target, given)} (id {id}) were replaced"
    return Notice("replaced", message, path=path, id=str(id))


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        CreateRelations,
        run,
        about="Link entities that exist, each end by id or by name and type. A relation that exists is skipped, or "
        "with override=true gets the new properties.",
        writes=True,
        destroys=True,
        idempotent=True,
    )


@tool_command("create-relations", tool)
@click.argument("source", metavar="FROM", required=False)
@click.argument("relation_type", metavar="RELATION", required=False)
@click.argument("target", metavar="TO", required=False)
@click.option("--from-type", metavar="TYPE", help="Type of the entity FROM.")
@click.option("--to-type", metavar="TYPE", help="Type of the entity TO.")
@properties_option("of the relation")
@override_option("Replace the properties of a relation that exists.")
def command(
    source: str | None,
    relation_type: str | None,
    target: str | None,
    from_type: str | None,
    to_type: str | None,
    properties: tuple[str, ...],
    override: bool,
) -> Arguments:
    """Relate entities to each other.

    \b
    mmem create-relations APIController uses UserService
    mmem create-relations id:1 depends_on Database --to-type library -p weight:=0.8
    """
    if source is None or relation_type is None or target is None:
        raise click.UsageError("say FROM RELATION TO, or give a request with --json")
    relation = {
        "from": reference_word(source, from_type),
        "to": reference_word(target, to_type),
        "relationType": relation_type,
        "properties": property_words(properties),
    }
    return {"relations": [relation], "override": override or None}

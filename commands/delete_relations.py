"""`delete_relations`: edges go, by id or by their ends and type."""

from typing import Annotated

import click
from msgspec import Meta

from mmem.arguments import AnyEnd, Id, Part, Reference, Request, Type, as_reference, id_number
from mmem.lookup import Found, Resolver
from mmem.missing import Missing, ids_present
from mmem.outcomes import Notice, Outcome
from mmem.reading import Reader
from mmem.registry import Tool
from mmem.relations import Key, between, existing
from mmem.store import Store
from mmem.tooling import Arguments, tool_command
from mmem.transaction import Transaction
from mmem.values import nfc
from mmem.visible import plural
from mmem.words import reference_word

AnyNamedEnd = Annotated[AnyEnd | None, Meta(extra={"shown": str})]  # what a predecessor takes is a name

_KEYS = {
    "id": "id",
    "source_id": "fromId",
    "target_id": "toId",
    "source": "from",
    "source_type": "fromType",
    "target": "to",
    "target_type": "toType",
    "relation_type": "relationType",
}


class Deletion(Part, frozen=True, rename=_KEYS.get):
    """One relation: by its id, or by its ends and relationType. A left-out type of an end is exactly `""`."""

    id: Id | None = None
    source_id: Id | None = None
    target_id: Id | None = None
    source: AnyNamedEnd = None
    source_type: Type | None = None
    target: AnyNamedEnd = None
    target_type: Type | None = None
    relation_type: Type | None = None

    def __post_init__(self) -> None:
        """Check what the types can't. Raises `ValueError`."""
        ends = (self.source_id, self.target_id, self.source, self.source_type, self.target, self.target_type)
        if self.id is not None:
            id_number(self.id)
            if self.relation_type is not None or any(end is not None for end in ends):
                raise ValueError("give a relation's own id, or its ends and relationType, not both")
            return
        if not self.relation_type:
            raise ValueError("name a relation by id, or by its ends and relationType")
        self.ends()

    @property
    def kinds(self) -> list[str]:
        """The relationType as given and in NFC."""
        kind = self.relation_type or ""
        return list(dict.fromkeys((kind, nfc(kind))))

    def ends(self) -> tuple[Reference, Reference]:
        """Return the references of both ends."""
        return (
            _end("from", self.source_id, self.source, self.source_type),
            _end("to", self.target_id, self.target, self.target_type),
        )


def _end(side: str, id: Id | None, given: AnyEnd | None, entity_type: str | None) -> Reference:
    if given is None:
        if id is None:
            raise ValueError(f"name the relation's end '{side}', or give '{side}Id'")
        if entity_type is not None:
            raise ValueError(f"'{side}Type' goes with '{side}'; '{side}Id' needs none")
        return Reference(id=id)
    if isinstance(given, str):
        return Reference(id=id, name=given, entity_type=entity_type)
    if entity_type is not None or id is not None:
        raise ValueError(f"'{side}' is an object or an id, so '{side}Type' and '{side}Id' have no place beside it")
    return as_reference(given)


class DeleteRelations(Request, frozen=True):
    """Relations to delete."""

    relations: list[Deletion]


def run(store: Store, request: DeleteRelations) -> Outcome[str]:
    """Delete relations; one that isn't there is a notice, not an error."""
    with store.writing(request.category) as transaction:
        transaction.delete("relations", "id", _found(transaction, request.relations))
    return Outcome("Relations deleted successfully", transaction.notices)


def _found(transaction: Transaction, deletions: list[Deletion]) -> list[int]:
    """Return the ids of what is there, with a notice for what isn't."""
    ids = {
        f"$.relations[{index}]": id
        for index, deletion in enumerate(deletions)
        if (id := id_number(deletion.id)) is not None
    }
    there = ids_present(transaction, "relations", "relation", ids)
    named = {index: deletion for index, deletion in enumerate(deletions) if deletion.id is None}
    ends = _ends(transaction, named)
    keys: dict[int, list[Key]] = {
        index: [(source.id, target.id, kind) for kind in named[index].kinds] for index, (source, target) in ends.items()
    }
    stored = existing(transaction, list({key for tried in keys.values() for key in tried}))
    found = {index: next((stored[key] for key in tried if key in stored), None) for index, tried in keys.items()}
    absent = {index: keys[index][-1] for index, id in found.items() if id is None}
    types = between(transaction, {(source, target) for source, target, _ in absent.values()})
    for index, (source_id, target_id, kind) in absent.items():
        transaction.notice(_absent(index, kind, ends[index], types.get((source_id, target_id), [])))
    return [*there, *(id for id in found.values() if id is not None)]


def _ends(transaction: Transaction, named: dict[int, Deletion]) -> dict[int, tuple[Found, Found]]:
    resolver = Resolver(transaction, (end for deletion in named.values() for end in deletion.ends()))
    missing = Missing(transaction, resolver)
    ends: dict[int, tuple[Found, Found]] = {}
    for index, deletion in named.items():
        found = []
        for side, reference in zip(("from", "to"), deletion.ends(), strict=True):
            entity = resolver.find_exactly(reference)
            if entity is None:
                missing.add(f"$.relations[{index}].{side}", reference)
            else:
                found.append(entity)
        if len(found) == 2:
            ends[index] = (found[0], found[1])
    for notice in missing.notices():
        transaction.notice(notice)
    return ends


def _absent(index: int, kind: str, ends: tuple[Found, Found], types: list[str]) -> Notice:
    path = f"$.relations[{index}]"
    source, target = ends
    others = "; they are related by " + ", ".join(f"'{one}'" for one in types[:5]) if types else ""
    message = f"{path}: there is no relation '{source.name}' {kind} '{target.name}'{others}"
    return Notice(
        "not_found",
        message,
        path=path,
        fromId=str(source.id),
        toId=str(target.id),
        relationType=kind,
        candidates=types,
    )


def question(store: Store, request: DeleteRelations) -> str | None:
    """Return what to ask before the relations go, or None where none is there."""
    with store.reading(request.category) as transaction:
        ids = list(dict.fromkeys(_found(transaction, request.relations)))
        shown = [
            f"'{one.from_name}' {one.relation_type} '{one.to_name}'" for one in Reader(transaction).relations(ids[:3])
        ]
    if not ids:
        return None
    more = f" and {len(ids) - len(shown)} more" if len(ids) > len(shown) else ""
    return f"Delete {plural(len(ids), 'relation')} from category '{transaction.category}': {', '.join(shown)}{more}?"


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        DeleteRelations,
        run,
        about="Delete relations by their own id, or by both ends and relationType.",
        writes=True,
        destroys=True,
        idempotent=True,
    )


@tool_command("delete-relations", tool, question=question)
@click.argument("source", metavar="FROM", required=False)
@click.argument("relation_type", metavar="RELATION", required=False)
@click.argument("target", metavar="TO", required=False)
@click.option("--from-type", metavar="TYPE", help="Type of the entity FROM.")
@click.option("--to-type", metavar="TYPE", help="Type of the entity TO.")
@click.option("--id", "ids", metavar="ID", multiple=True, help="A relation by its own id; repeatable.")
def command(
    source: str | None,
    relation_type: str | None,
    target: str | None,
    from_type: str | None,
    to_type: str | None,
    ids: tuple[str, ...],
) -> Arguments:
    """Delete relations between entities, or by id.

    Without --from-type and --to-type, FROM and TO mean the entities without a type.

    \b
    mmem delete-relations APIController uses UserService --to-type service
    mmem delete-relations --id 3 --yes
    """
    if source is None and ids:
        if from_type is not None or to_type is not None:
            raise click.UsageError("a relation's own id needs no types of its ends")
        return {"relations": [{"id": id.removeprefix("id:")} for id in ids]}
    if source is None or relation_type is None or target is None or ids:
        raise click.UsageError("say FROM RELATION TO, or --id ID, or give a request with --json")
    relation = {
        "from": reference_word(source, from_type),
        "to": reference_word(target, to_type),
        "relationType": relation_type,
    }
    return {"relations": [relation]}

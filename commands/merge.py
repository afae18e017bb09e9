"""`merge`: two entities made one."""

import click
from msgspec import field
from msgspec.structs import force_setattr

from mmem import semantic
from mmem.arguments import AnyReference, Request, as_reference, reference_at
from mmem.lookup import Found
from mmem.merging import Merged, merge
from mmem.named import all_named, shown
from mmem.observations import counts
from mmem.outcomes import Outcome
from mmem.reading import Reader
from mmem.registry import Tool
from mmem.store import Store
from mmem.tooling import Arguments, tool_command
from mmem.transaction import Transaction
from mmem.visible import plural
from mmem.words import reference_word


class Merge(Request, frozen=True):
    """The entity that stays, and the one whose observations, relations and properties it gets."""

    into: AnyReference
    source: AnyReference = field(name="from")

    def __post_init__(self) -> None:
        """Check the ids. Raises `ValueError`."""
        force_setattr(self, "into", reference_at(".into", self.into))
        force_setattr(self, "source", reference_at(".from", self.source))


def run(store: Store, request: Merge) -> Outcome[Merged]:
    """Merge one entity into another, and return what came to it and what it had already.

    Raises `NotFound`, `Ambiguous`, and `InvalidArguments` where both are the same.
    """
    semantic.model()  # so that no lock is held while it is loaded
    with store.writing(request.category) as transaction:
        merged = merge(transaction, *_both(transaction, request))
    return Outcome(merged, transaction.notices)


def _both(transaction: Transaction, request: Merge) -> tuple[Found, Found]:
    ends = [("$.into", as_reference(request.into)), ("$.from", as_reference(request.source))]
    into, source = all_named(transaction, ends)
    return into, source


def question(store: Store, request: Merge) -> str | None:
    """Return what to ask before the second entity goes. Raises what `run` does."""
    with store.reading(request.category) as transaction:
        into, source = _both(transaction, request)
        observations = plural(counts(transaction, [source.id]).get(source.id, 0), "observation")
        relations = plural(len(Reader(transaction).relations_touching([source.id])), "relation")
    if into.id == source.id:
        return None
    what = f"{shown(source)} (id {source.id}), with {observations} and {relations}, into {shown(into)} (id {into.id})"
    return f"Merge {what}, and delete it from category '{transaction.category}'?"


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        Merge,
        run,
        about="Make one of two entities: `into` gets the observations, relations and properties of `from`, which is "
        "deleted. What both have stays once.",
        writes=True,
        destroys=True,
    )


@tool_command("merge", tool, question=question)
@click.argument("into", metavar="NAME", required=False)
@click.argument("source", metavar="OTHER", required=False)
@click.option("-t", "--type", "into_type", metavar="TYPE", help="Type of the entity NAME.")
@click.option("--other-type", metavar="TYPE", help="Type of the entity OTHER.")
def command(into: str | None, source: str | None, into_type: str | None, other_type: str | None) -> Arguments:
    """Make one of two entities: NAME gets all that OTHER has.

    Observations, relations and properties move, and OTHER is deleted. What both have stays once; where both have a
    property, NAME's value stays, and an observation whose type is taken by another text gets a number.

    \b
    mmem merge Database "One database"
    mmem merge id:1 id:7 --yes
    """
    if into is None or source is None:
        raise click.UsageError("say NAME and OTHER, or give a request with --json")
    return {"into": reference_word(into, into_type), "from": reference_word(source, other_type)}

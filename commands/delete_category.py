"""`delete_category`: a category's file goes, with everything in it."""

import click
from msgspec import field

from mmem.arguments import Request
from mmem.errors import InvalidArguments
from mmem.names import require_category
from mmem.outcomes import Outcome
from mmem.reading import Reader
from mmem.registry import Tool
from mmem.store import Store
from mmem.tooling import Arguments, tool_command
from mmem.visible import plural


class DeleteCategory(Request, frozen=True):
    """The category to delete; here it must be named."""

    category: str = field()  # required here


def run(store: Store, request: DeleteCategory) -> Outcome[str]:
    """Delete a category for good. Raises `NotFound` where there is none."""
    if not request.category:
        raise InvalidArguments("$.category: name the category to delete; there is no default here")
    store.delete(request.category)
    return Outcome(f"Category '{request.category}' deleted successfully")


def question(store: Store, request: DeleteCategory) -> str | None:
    """Return what to ask before the category goes, or None where it isn't there."""
    require_category(request.category)
    with store.reading(request.category) as transaction:
        entities = plural(Reader(transaction).count(), "entity", "entities")
    if any(notice.code == "no_such_category" for notice in transaction.notices):
        return None
    return f"Delete category '{request.category}' with {entities}, for good?"


def tool() -> Tool:
    """Return the tool, for the registry."""
    return Tool(
        DeleteCategory,
        run,
        about="Delete a category and everything in it, for good. Ask the user first.",
        writes=True,
        destroys=True,
        idempotent=True,
        alone=True,
    )


@tool_command("delete-category", tool, question=question)
@click.argument("name", required=False)
def command(name: str | None) -> Arguments:
    """Delete a category with everything in it.

    \b
    mmem delete-category old-project
    mmem delete-category old-project --yes
    """
    if name is None:
        raise click.UsageError("name the category to delete, or give a request with --json")
    return {"category": name}

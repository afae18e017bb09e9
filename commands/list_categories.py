"""`list_categories`: the categories of the base directory."""

from typing import TYPE_CHECKING, Any

import click

from mmem.app import App
from mmem.errors import MmemError
from mmem.files import categories
from mmem.outcomes import Notice, Outcome
from mmem.registry import Tool
from mmem.tooling import Arguments, print0_option, tool_command

if TYPE_CHECKING:
    from mmem.statistics import Held


def tool() -> Tool:
    """Return the tool, for the registry; the request type is made here, so that the command needs no msgspec."""
    from mmem.arguments import Request
    from mmem.store import Store

    class ListCategories(Request, frozen=True):
        """Nothing to say; a category is accepted, as by every tool, and doesn't matter."""

    def run(store: Store, request: ListCategories) -> Outcome[list[str]]:
        """Return the categories' names, sorted."""
        store.category(request.category)
        return Outcome(store.categories())

    return Tool(
        ListCategories,
        run,
        about="List the categories: memories that are kept apart, such as work and personal.",
    )


def direct(app: App) -> Outcome[Any]:
    """Do what the tool does, from the options alone."""
    app.default_category()
    names = categories(app.base_directory())
    if not click.get_current_context().params["details"] or app.separates_names:
        return Outcome(names)
    return _held(app, names)


def _held(app: App, names: list[str]) -> "Outcome[list[Held]]":
    """Return how much each category holds; one that can't be read is left out with a notice."""
    from mmem.statistics import held

    rows: list[Held] = []
    notices: list[Notice] = []
    with app.store() as store:
        for name in names:
            try:
                outcome = held(store, name)
            except MmemError as error:
                notices.append(Notice("skipped", f"category '{name}' was left out: {error.message}", category=name))
                continue
            rows.append(outcome.result)
            notices += outcome.notices
    return Outcome(rows, notices)


@tool_command("list-categories", tool, direct=direct)
@click.option("-v", "--verbose", "details", is_flag=True, help="Show what each holds, its size and its last change.")
@print0_option
def command(details: bool) -> Arguments:
    """List the categories.

    \b
    mmem list-categories
    mmem list-categories -v
    mmem list-categories -0 | xargs -0 -n 1 mmem backup -c
    """
    return {}

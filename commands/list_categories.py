"""`list_categories`: the categories of the base directory."""

from mmem.app import App
from mmem.files import categories
from mmem.outcomes import Outcome
from mmem.registry import Tool
from mmem.tooling import Arguments, tool_command


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


def direct(app: App) -> Outcome[list[str]]:
    """Do what the tool does, from the options alone."""
    app.default_category()
    return Outcome(categories(app.base_directory()))


@tool_command("list-categories", tool, direct=direct)
def command() -> Arguments:
    """List the categories.

    \b
    mmem list-categories
    mmem list-categories -f json | jq -r '.[]'
    """
    return {}

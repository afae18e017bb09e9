"""`list_categories`: the categories of the base directory."""

from mmem.arguments import Request
from mmem.outcomes import Outcome
from mmem.store import Store
from mmem.tooling import Arguments, Tool, tool_command


class ListCategories(Request, frozen=True):
    """Nothing to say; a category is accepted, as by every tool, and doesn't matter."""


def run(store: Store, request: ListCategories) -> Outcome[list[str]]:
    """Return the categories' names, sorted."""
    return Outcome(store.categories())


@tool_command(ListCategories, run)
def command() -> Arguments:
    """List the categories."""
    return {}


TOOL = Tool(ListCategories, run)

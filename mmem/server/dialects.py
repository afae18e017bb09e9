"""What a server speaks: the tools that it lists and how it answers a call."""

from typing import Any, Protocol

from mmem.errors import MmemError
from mmem.server.answers import Result
from mmem.store import Store


class Dialect(Protocol):
    """Tools on a store; knows no protocol beyond the shape of tools and results."""

    @property
    def store(self) -> Store:
        """The store that the tools work on."""

    @property
    def instructions(self) -> str | None:
        """What a model is told about its memory."""

    @property
    def announces_always(self) -> bool:
        """Whether every successful write is announced, or those alone that changed something."""

    def definitions(self) -> list[dict[str, Any]]:
        """Return the tools in the spelling of the wire."""

    def writes(self, name: str) -> bool:
        """Tell whether a tool can change a category."""

    def category_of(self, arguments: dict[str, Any]) -> str:
        """Return the category that a call means. Raises `InvalidArguments`."""

    def call(self, name: str, arguments: dict[str, Any]) -> Result:
        """Run a tool and return its result. Raises an `MmemError`; `UnknownTool` where there is no such tool."""

    def failure(self, error: MmemError) -> Result:
        """Return the result that says what went wrong."""

    def resources(self) -> list[dict[str, Any]]:
        """Return the resources that there are, in the spelling of the wire."""

    def offers(self, category: str) -> bool:
        """Tell whether a category's graph can be read."""

    def templates(self) -> list[dict[str, Any]]:
        """Return the templates of resources, in the spelling of the wire."""

    def category_at(self, uri: str) -> str | None:
        """Return the category whose graph a resource is, or None where it can't be one."""

    def uri_of(self, category: str) -> str:
        """Return the resource of a category."""

    def graph_text(self, category: str) -> tuple[str, str | None]:
        """Return a category's graph as JSON, and what to say where it was cut."""

"""The table of commands: where each one lives, and one line of help. Nothing is imported until it is used."""

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mmem.errors import IndexDamaged, UnknownTool
from mmem.names import did_you_mean, nearest

if TYPE_CHECKING:
    from mmem.arguments import Request
    from mmem.outcomes import Notice, Outcome
    from mmem.store import Store

T = TypeVar("T")


class Entry(NamedTuple):
    """A command: its one line of help, whether it is a tool that requests can ask for, and whether hosts see it."""

    help: str
    tool: bool = False
    further: bool = False  # a tool beyond the eleven, which a server offers where that is asked for


COMMANDS = {
    "create-entities": Entry("Create entities, with their observations.", tool=True),
    "create-relations": Entry("Relate entities to each other.", tool=True),
    "add-observations": Entry("Add observations to an entity.", tool=True),
    "delete-entities": Entry("Delete entities, with their observations and relations.", tool=True),
    "delete-observations": Entry("Delete observations of an entity, or by id.", tool=True),
    "delete-relations": Entry("Delete relations between entities, or by id.", tool=True),
    "read-graph": Entry("Show the whole graph of a category.", tool=True),
    "search-nodes": Entry("Find entities by name, type, text or property.", tool=True),
    "open-nodes": Entry("Show entities by name or id.", tool=True),
    "list-categories": Entry("List the categories.", tool=True),
    "delete-category": Entry("Delete a category with everything in it.", tool=True),
    "neighbors": Entry("Show the entities around one.", tool=True, further=True),
    "path": Entry("Show a shortest path between two entities.", tool=True, further=True),
    "rename": Entry("Give an entity another name.", tool=True, further=True),
    "retype": Entry("Give an entity another type.", tool=True, further=True),
    "merge": Entry("Make one of two entities: NAME gets all that OTHER has.", tool=True, further=True),
    "move": Entry("Move entities to another category.", tool=True, further=True),
    "edit": Entry("Change an entity in your editor."),
    "batch": Entry("Carry out requests from JSON lines."),
    "serve": Entry("Serve the tools to Claude Desktop and other MCP hosts."),
    "config": Entry("Configure a host to use mmem."),
    "completions": Entry("Have TAB complete commands, options and names in your shell."),
    "seed": Entry("Fill categories from graphs in YAML."),
    "import": Entry("Import graphs from files of other memory programs."),
    "export": Entry("Write a graph as JSON lines, YAML, CSV, GraphML and more."),
    "stats": Entry("Show a category in figures."),
    "view": Entry("Show a category's graph as a page in the browser."),
    "backup": Entry("Back up a category to a file of its own."),
    "restore": Entry("Bring categories back from backups."),
    "reindex": Entry("Rebuild the search index of a category."),
    "purge": Entry("Make deleted texts unreadable in a category's file."),
    "doctor": Entry("Check what mmem stands on, and mend what is safe."),
    "help": Entry("Explain a command or a topic."),
    "man": Entry("Show the manual page of a command or a topic."),
}


class Tool(NamedTuple):
    """A tool's request type and command function, and what batches, hosts and models have to know of it."""

    request: "type[Request]"
    run: "Callable[[Store, Any], Outcome[Any]]"
    about: str  # tells a model when to use it
    writes: bool = False  # needs the category's write lock
    destroys: bool = False  # can delete or replace what is stored
    idempotent: bool = False  # a write that changes nothing more when it is repeated
    creates: "Callable[[Any], bool]" = lambda request: False  # would create a missing category
    alone: bool = False  # can't share a transaction with other requests
    target: "Callable[[Any], str | None]" = lambda request: None  # another category that it writes to
    run_many: "Callable[[Store, Sequence[Any]], list[Outcome[Any]]] | None" = None  # several that join, at once
    joins: "Callable[[Any], bool]" = lambda request: False


def module_of(command: str) -> str:
    """Return the module that holds a command."""
    return f"mmem.commands.{command.replace('-', '_')}"


def tool(name: str) -> Tool:
    """Return the tool of a name, with hyphens or underscores. Raises `UnknownTool`."""
    command = name.replace("_", "-")
    entry = COMMANDS.get(command)
    if entry is None or not entry.tool:
        names = [known.replace("-", "_") for known, one in COMMANDS.items() if one.tool]
        near = did_you_mean(nearest(name.replace("-", "_"), names, 1))
        raise UnknownTool(f"there is no tool '{name[:60]}'{near}", {"tool": name[:200], "tools": names})
    loaded: Tool = importlib.import_module(module_of(command)).tool()
    return loaded


def call(store: "Store", name: str, arguments: object = None) -> "Outcome[Any]":
    """Run a tool on a store with arguments as JSON values would give them; return its outcome.

    This is mmem from Python: `call(store, "create_entities", {"entities": [{"name": "A"}]})`.
    Raises an `MmemError`.
    """
    from mmem.requests import parse

    found = tool(name)
    return carry_out(store, found, parse(found.request, arguments))


def carry_out(store: "Store", tool: Tool, request: "Request") -> "Outcome[Any]":
    """Run a tool's command function; where the search index turns out to be damaged, rebuild it and run again."""
    outcome, healed = healing(store, request.category, lambda: tool.run(store, request))
    if healed is None:
        return outcome
    from mmem.outcomes import Outcome

    return Outcome(outcome.result, [healed, *outcome.notices])


def healing(store: "Store", category: str | None, run: "Callable[[], T]") -> "tuple[T, Notice | None]":
    """Run something, again for each index that has to be rebuilt first; return the result, and what to say of that."""
    healed: list[str] = []
    while True:
        try:
            result = run()
        except IndexDamaged as error:
            damaged = str(error.details.get("category") or store.category(category))
            if damaged in healed:
                raise
            store.heal_index(damaged)
            healed.append(damaged)
            continue
        if not healed:
            return result, None
        from mmem.outcomes import Notice

        message = "the search index didn't fit the rows and was rebuilt from them; nothing is lost"
        return result, Notice("index_healed", message, categories=healed)

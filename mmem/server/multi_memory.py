"""The default dialect: the eleven tools, as multi-memory-mcp names them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import structs

from mmem.arguments import Request
from mmem.errors import InvalidArguments, InvalidRequest, MmemError, UnknownTool
from mmem.names import category_fault
from mmem.outcomes import Notice, Outcome
from mmem.reading import Reader
from mmem.records import Graph
from mmem.registry import COMMANDS, Tool, carry_out, tool
from mmem.requests import parse
from mmem.server.answers import Result, answer, failure, lines, shortened, size_in_frame, writer
from mmem.server.cutting import Cut, Owner, cut, first_end, said
from mmem.server.guidance import instructions
from mmem.server.schemas import input_schema
from mmem.store import Store

_FRAME = 500  # bytes of a frame around a result's texts, and of the counts of notices left out
_CUT_NOTICE = 500  # bytes that the notice of a cut takes at most
_LISTED = 10  # ids that it names
_SMALLEST = 30  # bytes of an entity in any format: no result holds more of them than that
_RESOURCE = {"description": "Everything in a category: entities and relations", "mimeType": "application/json"}


_ELSEWHERE = ("category", "allCategories")  # arguments with which a call means other categories


class Options(NamedTuple):
    """How a server was started."""

    format: str = "json"
    max_bytes: int = 900_000
    read_only: bool = False
    pin: str | None = None
    all_tools: bool = False


class MultiMemory:
    """The eleven tools, or all that a server may offer, on every category, or on the one that is pinned."""

    announces_always = False

    def __init__(self, store: Store, options: Options) -> None:
        """Offer a store."""
        self.store = store
        self.write = writer(options.format)
        self._options = options
        self._most = options.max_bytes - _FRAME - _CUT_NOTICE
        pinned = {"list_categories", "delete_category"} if options.pin else set()
        known = {name: one for name, one in _offered(options.all_tools).items() if name not in pinned}
        self._refused = {name for name, one in known.items() if one.writes and options.read_only}
        self._tools = {name: one for name, one in known.items() if name not in self._refused}
        self.instructions = instructions(store.default_category, options.pin is not None, options.read_only)

    def definitions(self) -> list[dict[str, Any]]:
        """Return the tools in the spelling of the wire."""
        return [self._definition(name, one) for name, one in self._tools.items()]

    def _definition(self, name: str, tool: Tool) -> dict[str, Any]:
        hidden = set(_ELSEWHERE) if self._options.pin else {"category"} if name == "list_categories" else set()
        return {
            "name": name,
            "title": name.replace("_", " ").capitalize(),
            "description": tool.about,
            "inputSchema": input_schema(tool.request, without=hidden),
            "annotations": {
                "readOnlyHint": not tool.writes,
                "destructiveHint": tool.destroys,
                "idempotentHint": tool.idempotent or not tool.writes,
                "openWorldHint": False,
            },
        }

    def writes(self, name: str) -> bool:
        """Tell whether a tool can change a category."""
        return name in self._tools and self._tools[name].writes

    def category_of(self, arguments: dict[str, Any]) -> str:
        """Return the category that a call means. Raises `InvalidArguments`."""
        given = arguments.get("category")
        return self.store.category(given if isinstance(given, str) else None)

    def call(self, name: str, arguments: dict[str, Any]) -> Result:
        """Run a tool and return its result. Raises an `MmemError`; `UnknownTool` where there is no such tool."""
        found = self._tools.get(name)
        if found is None:
            raise self._no_tool(name)
        if self._options.pin and (elsewhere := [one for one in _ELSEWHERE if arguments.get(one) is not None]):
            only = f"this memory is the category '{self._options.pin}' alone"
            raise InvalidArguments(f"$: there is no argument '{elsewhere[0]}': {only}")
        if name == "list_categories":  # hosts send a made-up argument to tools that take none
            arguments = {key: value for key, value in arguments.items() if key == "category"}
        request = parse(found.request, arguments)
        if name == "read_graph":
            request = _bounded(request, self._most // _SMALLEST)
        return self._fitted(name, request, carry_out(self.store, found, request))

    def _no_tool(self, name: str) -> InvalidRequest | UnknownTool:
        if name in self._refused:
            return InvalidRequest(f"{name} would change the memory, and this server only reads it (--read-only)")
        return UnknownTool(f"Unknown tool: {name[:200]}", {"tool": name[:200], "tools": list(self._tools)})

    def _fitted(self, name: str, request: Request, outcome: Outcome[Any]) -> Result:
        """Return an outcome as a result within the limit; where it was cut, a notice says so before all others."""
        notices = list(outcome.notices)
        beside = size_in_frame("\n".join(lines(notices, self._most // 4))) if notices else 0
        part = cut(outcome.result, self.write, self._most - beside, _owner(name, request))
        if part.complete:
            return answer(part.text, notices, room=beside)
        cut_off = _cut_off(outcome.result, part)
        notices = [one for one in notices if one.code != "truncated" or one.details.get("id") not in cut_off]
        if name in {"read_graph", "search_nodes"}:
            paged = [one for one in notices if "nextOffset" in one.details]
            notices = [_next_page(part, request, paged), *(one for one in notices if one not in paged)]
        else:
            notices.insert(0, said(part, self._how_to_see(name, cut_off)))
        return answer(part.text, notices, room=beside + _CUT_NOTICE)

    def _how_to_see(self, name: str, cut_off: Sequence[str]) -> str:
        """Return how to get what was left out of a result that can't be paged."""
        if name in self._tools and self._tools[name].writes:
            return "what isn't shown is stored all the same"
        if not cut_off:
            return "a larger --max-bytes of the server shows more of it"
        listed = ", ".join(f"id {id}" for id in cut_off[:_LISTED])
        more = f" and {len(cut_off) - _LISTED:,} more" if len(cut_off) > _LISTED else ""
        return f"open the others in another call: {listed}{more}"

    def failure(self, error: MmemError) -> Result:
        """Return the result that says what went wrong; `error` holds the sentence, as multi-memory-mcp has it."""

        def text(message: str) -> str:
            return self.write({"error": message, "code": error.code})

        return failure(text(shortened(error.message, self._most, lambda message: size_in_frame(text(message)))))

    def resources(self) -> list[dict[str, Any]]:
        """Return a resource for each category."""
        names = [self._options.pin] if self._options.pin else self.store.categories()
        return [{**_RESOURCE, "uri": self.uri_of(name), "name": name, "title": f"Memory: {name}"} for name in names]

    def offers(self, category: str) -> bool:
        """Tell whether a category's graph can be read."""
        return category == self._options.pin or self.store.has(category)

    def templates(self) -> list[dict[str, Any]]:
        """Return the template of the categories' resources."""
        if self._options.pin:
            return []
        return [{**_RESOURCE, "uriTemplate": "memory://{category}", "name": "category", "title": "Memory"}]

    def category_at(self, uri: str) -> str | None:
        """Return the category whose graph a resource is, or None where it can't be one."""
        name = uri.removeprefix("memory://")
        if name == uri or category_fault(name) or self._options.pin not in {None, name}:
            return None
        return name

    def uri_of(self, category: str) -> str:
        """Return the resource of a category."""
        return f"memory://{category}"

    def graph_text(self, category: str) -> tuple[str, str | None]:
        """Return a category's graph as JSON, and what to say where it was cut."""
        with self.store.reading(category) as transaction:
            reader = Reader(transaction)
            graph = reader.graph(limit=self._most // _SMALLEST)
            total = reader.count()
        part = cut(graph, writer("json"), self._most, first_end)
        if part.whole and part.kept == total:
            return part.text, None
        return part.text, said(part, "read_graph shows the others with `limit` and `offset`", total).message


def _offered(all_tools: bool) -> dict[str, Tool]:
    """Return the eleven tools; with `all_tools`, those of the further ones that only read as well."""
    offered = {}
    for command, entry in COMMANDS.items():
        if entry.tool and (all_tools or not entry.further):
            name = command.replace("-", "_")
            one = tool(name)
            if not (entry.further and one.writes):
                offered[name] = one
    return offered


def _bounded(request: Any, most: int) -> Any:
    """Return a reading of no more entities than could fit: a large category isn't read whole to show its start."""
    return request if request.limit is not None and request.limit <= most else structs.replace(request, limit=most)


def _owner(name: str, request: Request) -> Owner:
    """Return with which entity a relation goes; each as the tool has it."""
    if name in {"neighbors", "path"}:
        return max
    if name == "open_nodes":
        return min if getattr(request, "related", False) else max
    return first_end if name == "read_graph" else min


def _cut_off(result: Any, part: Cut) -> list[str]:
    """Return the ids of the entities that were left out."""
    return [entity.id for entity in result.entities[part.kept :]] if isinstance(result, Graph) else []


def _next_page(part: Cut, request: Any, paged: Sequence[Notice]) -> Notice:
    """Return the notice that names the next page of a graph; the tool's own notice of one counts from elsewhere."""
    offset = request.offset or 0
    following = offset + (part.kept or 1)
    more = {"nextOffset": following} if paged or following < offset + part.total else {}
    hints = [f"`offset {following}` shows the next"] if more else []
    if not part.whole:
        hints.append("a larger --max-bytes of the server shows all of this one")
    counted = paged[0].details.get("total") if paged else None
    total = counted if isinstance(counted, int) else offset + part.total
    return said(part, ", and ".join(hints), total, at_least=bool(paged) and counted is None, **more)

"""The dialect of the reference server: its nine tools on one category, in its words.

Source: @modelcontextprotocol/server-memory, release 2026.8.31 and its README; the README's newest text for what is
skipped and for relations to missing ends.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from mmem.errors import InvalidRequest, MmemError, UnknownTool
from mmem.formats import plain_value
from mmem.outcomes import Notice
from mmem.records import AddedObservations, Entity, Graph, Relation
from mmem.requests import parse
from mmem.server import reference_graph as graph
from mmem.server.answers import Result, answer, failure, lines, size_in_frame
from mmem.server.cutting import Cut, cut, said
from mmem.server.multi_memory import Options
from mmem.server.reference_schemas import TOOLS
from mmem.store import Store

_SMALLEST = 40  # bytes of an entity: no result holds more of them than that


_RESOURCE = {
    "uri": "memory://knowledge-graph",
    "name": "knowledge-graph",
    "title": "Knowledge Graph",
    "description": "Everything in the memory: entities and relations",
    "mimeType": "application/json",
}


class _Tool(NamedTuple):
    request: type[msgspec.Struct]
    run: Callable[[Store, Any, int], graph.Done]
    key: str | None = None  # of a list in the structured result; a graph and a sentence have none


_RUN = {
    "create_entities": _Tool(graph.CreateEntities, graph.create_entities, "entities"),
    "create_relations": _Tool(graph.Relations, graph.create_relations, "relations"),
    "add_observations": _Tool(graph.AddObservations, graph.add_observations, "results"),
    "delete_entities": _Tool(graph.DeleteEntities, graph.delete_entities),
    "delete_observations": _Tool(graph.DeleteObservations, graph.delete_observations),
    "delete_relations": _Tool(graph.Relations, graph.delete_relations),
    "read_graph": _Tool(graph.ReadGraph, graph.read_graph),
    "search_nodes": _Tool(graph.SearchNodes, graph.search_nodes),
    "open_nodes": _Tool(graph.OpenNodes, graph.open_nodes),
}


class ServerMemory:
    """The nine tools of the reference server."""

    name = "server-memory"
    announces_always = True
    instructions = None

    def __init__(self, store: Store, options: Options) -> None:
        """Offer a store's default category."""
        self.store = store
        self.write = _indented
        self._read_only = options.read_only
        self._most = options.max_bytes // 2  # a result holds everything twice: as text and structured

    def definitions(self) -> list[dict[str, Any]]:
        """Return the tools in the spelling of the wire."""
        return [tool.definition(name) for name, tool in TOOLS.items() if not (self._read_only and tool.writes)]

    def writes(self, name: str) -> bool:
        """Tell whether a tool can change the category."""
        return name in TOOLS and TOOLS[name].writes and not self._read_only

    def category_of(self, arguments: dict[str, Any]) -> str:
        """Return the one category."""
        return self.store.default_category

    def call(self, name: str, arguments: dict[str, Any]) -> Result:
        """Run a tool and return its result. Raises an `MmemError`; `UnknownTool` where there is no such tool."""
        if name not in _RUN:
            raise UnknownTool(f"Unknown tool: {name[:200]}", {"tool": name[:200], "tools": list(_RUN)})
        if self._read_only and TOOLS[name].writes:
            raise InvalidRequest(f"{name} would change the memory, and this server only reads it (--read-only)")
        tool = _RUN[name]
        done = tool.run(self.store, parse(tool.request, arguments), self._most // _SMALLEST)
        part = self._cut(done)
        notices = self._notices(name, done, part)
        shown = lines(notices, self._most // 4)
        structured = _structured(tool.key, part.result)
        if done.skipped:
            structured["skipped"] = list(done.skipped)
            shown.insert(0, _skipped(done.skipped))
        if others := shown[1:] if done.skipped else shown:
            structured["notices"] = others
        result = answer(part.text, structured=structured, room=0)
        if shown:
            result["content"].append({"type": "text", "text": "\n".join(shown)})
        return result

    def _cut(self, done: graph.Done) -> Cut:
        def measure(item: object) -> int:
            return size_in_frame(_indented(item)) + 4 * 8

        return cut(done.result, _indented, self._most, measure=measure)

    def _notices(self, name: str, done: graph.Done, part: Cut) -> list[Notice]:
        """Return what is to be said beside what was skipped."""
        notices = list(done.notices)
        total = done.total or part.total
        if part.whole and part.kept == total:
            return notices
        hint = (
            "all of it was stored"
            if TOOLS[name].writes
            else "search_nodes and open_nodes show the others; a larger --max-bytes of the server shows more at once"
        )
        return [*notices, said(part, hint, total)]

    def failure(self, error: MmemError) -> Result:
        """Return the result that says what went wrong: the sentence alone."""
        return failure(error.message)

    def resources(self) -> list[dict[str, Any]]:
        """Return the one resource."""
        return [_RESOURCE]

    def templates(self) -> list[dict[str, Any]]:
        """Return none."""
        return []

    def category_at(self, uri: str) -> str | None:
        """Return the category whose graph a resource is, or None where it can't be one."""
        return self.store.default_category if uri == _RESOURCE["uri"] else None

    def uri_of(self, category: str) -> str:
        """Return the one resource."""
        return _RESOURCE["uri"]

    def graph_text(self, category: str) -> tuple[str, str | None]:
        """Return the graph as JSON, and what to say where it was cut."""
        done = graph.read_graph(self.store, graph.ReadGraph(), self._most // _SMALLEST)
        part = self._cut(done)
        total = done.total or part.total
        whole = part.whole and part.kept == total
        return part.text, None if whole else said(part, "search_nodes and open_nodes show the others", total).message


def _plain(value: object) -> Any:
    """Return records in the reference's shapes."""
    if isinstance(value, Graph):
        return {"entities": _plain(value.entities), "relations": _plain(value.relations)}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, Entity):
        texts = [observation.text for observation in value.observations]
        return {"name": value.name, "entityType": value.entity_type, "observations": texts}
    if isinstance(value, Relation):
        return {"from": value.from_name, "to": value.to_name, "relationType": value.relation_type}
    if isinstance(value, AddedObservations):
        texts = [observation.text for observation in value.added_observations]
        return {"entityName": value.entity_name, "addedObservations": texts}
    return plain_value(value)


def _indented(value: object) -> str:
    if isinstance(value, str):
        return value
    return msgspec.json.format(msgspec.json.encode(_plain(value)), indent=2).decode()


def _structured(key: str | None, result: object) -> dict[str, Any]:
    if isinstance(result, str):
        return {"success": True, "message": result}
    plain = _plain(result)
    structured: dict[str, Any] = {key: plain} if key else plain
    return structured


def _skipped(names: Sequence[str]) -> str:
    """Return the sentence about entities that exist already, as the reference's README describes it."""
    listed = ", ".join(names[:50]) + (f" and {len(names) - 50} more" if len(names) > 50 else "")
    return (
        f"Skipped, since the name exists already: {listed}. Their observations were not stored; "
        "use add_observations to extend an existing entity."
    )

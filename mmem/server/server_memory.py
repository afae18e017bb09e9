"""The dialect of the reference server: its nine tools on one category, in its words.

Source: @modelcontextprotocol/server-memory, release 2026.8.31 and its README; the README's newest text for what is
skipped and for relations to missing ends.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import msgspec

from mmem.errors import InvalidRequest, MmemError, UnknownTool
from mmem.formats import plain_value
from mmem.outcomes import Notice
from mmem.records import AddedObservations, Entity, Graph, Relation
from mmem.registry import healing
from mmem.requests import parse
from mmem.server import reference_graph as graph
from mmem.server import reference_requests as requests
from mmem.server.answers import Result, answer, failure, lines, shortened, size_in_frame
from mmem.server.cutting import Cut, cut, said
from mmem.server.multi_memory import Options
from mmem.server.reference_schemas import TOOLS
from mmem.store import Store
from mmem.visible import visible

_SMALLEST = 90  # bytes of an entity in a frame: no result holds more of them than that
_FRAME = 500  # bytes of a frame around a result's texts, and of the counts of notices left out
_CUT_NOTICE = 500  # bytes that the notice of a cut takes at most
_LISTED = 50  # skipped names that the sentence about them lists

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
    "create_entities": _Tool(requests.CreateEntities, graph.create_entities, "entities"),
    "create_relations": _Tool(requests.Relations, graph.create_relations, "relations"),
    "add_observations": _Tool(requests.AddObservations, graph.add_observations, "results"),
    "delete_entities": _Tool(requests.DeleteEntities, graph.delete_entities),
    "delete_observations": _Tool(requests.DeleteObservations, graph.delete_observations),
    "delete_relations": _Tool(requests.Relations, graph.delete_relations),
    "read_graph": _Tool(requests.ReadGraph, graph.read_graph),
    "search_nodes": _Tool(requests.SearchNodes, graph.search_nodes),
    "open_nodes": _Tool(requests.OpenNodes, graph.open_nodes),
}


class ServerMemory:
    """The nine tools of the reference server."""

    announces_always = True
    instructions = None

    def __init__(self, store: Store, options: Options) -> None:
        """Offer a store's default category."""
        self.store = store
        self._read_only = options.read_only
        self._most = options.max_bytes - _FRAME

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
        return self._result(name, tool.key, self._done(tool, parse(tool.request, arguments)))

    def _done(self, tool: _Tool, request: msgspec.Struct) -> graph.Done:
        """Run a tool; where the search index turns out to be damaged, rebuild it and run again."""
        most = self._most // 2 // _SMALLEST
        done, healed = healing(self.store, None, lambda: tool.run(self.store, request, most))
        return done if healed is None else done._replace(notices=[healed, *done.notices])

    def _result(self, name: str, key: str | None, done: graph.Done) -> Result:
        """Return what a tool did as a result within the limit: everything stands in it twice, but `skipped`."""
        room = self._most // 8
        notices = [one for one in done.notices if one.code != "no_such_category"]  # the one category is just empty
        skipped = _that_fit(done.skipped, room)
        if len(skipped) < len(done.skipped):
            message = f"`skipped` lists {len(skipped):,} of {len(done.skipped):,} names: more wouldn't fit"
            notices.insert(0, Notice("truncated", message))
        sentence = [shortened(_skipped(done.skipped), room, size_in_frame)] if done.skipped else []
        beside = len(msgspec.json.encode([sentence, skipped, [lines(notices, room)] * 2]))
        part = _cut(done.result, (self._most - beside) // 2 - _CUT_NOTICE)
        if cut_off := _what_was_cut(name, part, done):
            notices.insert(0, cut_off)
            room += _CUT_NOTICE
        others = lines(notices, room)
        structured = _structured(key, part.result)
        if done.skipped:
            structured["skipped"] = skipped
        if others:
            structured["notices"] = others
        result = answer(part.text, structured=structured, room=0)
        if shown := [*sentence, *others]:
            result["content"].append({"type": "text", "text": "\n".join(shown)})
        return result

    def failure(self, error: MmemError) -> Result:
        """Return the result that says what went wrong: the sentence alone."""
        return failure(shortened(error.message, self._most, size_in_frame))

    def resources(self) -> list[dict[str, Any]]:
        """Return the one resource."""
        return [_RESOURCE]

    def offers(self, category: str) -> bool:
        """Tell that the one graph can be read."""
        return True

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
        done = graph.read_graph(self.store, requests.ReadGraph(), self._most // _SMALLEST)
        part = _cut(done.result, self._most - _CUT_NOTICE)
        cut_off = _what_was_cut("read_graph", part, done)
        return part.text, None if cut_off is None else cut_off.message


def _cut(result: object, most: int) -> Cut:
    return cut(result, _indented, most, measure=_weight)


def _weight(item: Any) -> int:
    """Return about how many bytes an item takes: what counts is how items compare."""
    if isinstance(item, Relation):
        return 90 + len(item.from_name) + len(item.to_name) + len(item.relation_type)
    texts = item.observations if isinstance(item, Entity) else item.added_observations
    return _SMALLEST + sum(20 + len(observation.text.encode()) for observation in texts)


def _what_was_cut(name: str, part: Cut, done: graph.Done) -> Notice | None:
    """Return the notice that says what was left out, or None where it's all there."""
    total = done.total or part.total
    if part.complete and part.kept == total:
        return None
    if TOOLS[name].writes:
        return said(part, "the call was carried out whole", total)
    hint = "search_nodes and open_nodes show the others; a larger --max-bytes of the server shows more at once"
    return said(part, hint, total)


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


def _that_fit(names: Sequence[str], room: int) -> list[str]:
    """Return the first names, as many as fit into so many bytes."""
    sizes = accumulate(len(msgspec.json.encode(name)) + 1 for name in names)
    return [name for name, size in zip(names, sizes, strict=True) if size <= room]


def _skipped(names: Sequence[str]) -> str:
    """Return the sentence about entities that exist already, as the reference's README describes it."""
    listed = ", ".join(map(visible, names[:_LISTED]))
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return (
        f"Skipped, since the name exists already: {listed}{more}. Their observations were not stored; "
        "use add_observations to extend an existing entity."
    )

"""The schemas of the reference server's nine tools: its names, types and requirements, in our own words.

Source: `tools/list` of @modelcontextprotocol/server-memory 2026.8.31, and its README for `skipped`.
"""

from typing import Any, NamedTuple

from mmem.server.schemas import Schema


def _object(properties: Schema, optional: set[str] | None = None, *, closed: bool = False) -> Schema:
    required = [name for name in properties if name not in (optional or set())]
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False} if closed else schema


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


def _texts(description: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": description}


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}


_ENTITY: Schema = {
    "name": _text("Name, unique in the graph"),
    "entityType": _text("Kind of thing, such as person"),
    "observations": _texts("Facts about it, one a text"),
}
_RELATION: Schema = {
    "from": _text("Name of the entity it starts from"),
    "to": _text("Name of the entity it leads to"),
    "relationType": _text("In active voice, such as works_at"),
}
_ADDITION: Schema = {"entityName": _text("Name of an entity that exists"), "contents": _texts("Facts to add")}
_DELETION: Schema = {
    "entityName": _text("Name of the entity"),
    "observations": _texts("Facts to delete, word for word"),
}
_NOTICES: Schema = {"notices": _texts("What else there is to say")}


def _result(properties: Schema, **optional: Schema) -> Schema:
    """Return an output schema; `notices` are there only where something is to be said."""
    every = {**properties, **optional, **_NOTICES}
    return _object(every, {*optional, "notices"}, closed=True)


_GRAPH = _result(
    {"entities": _list(_object(_ENTITY, closed=True)), "relations": _list(_object(_RELATION, closed=True))}
)
_DONE = _result({"success": {"type": "boolean"}, "message": {"type": "string"}})


class Reference(NamedTuple):
    """A tool of the reference server; the hints are its own."""

    description: str
    input: Schema
    output: Schema
    writes: bool = True
    destroys: bool = False

    def definition(self, name: str) -> dict[str, Any]:
        """Return the tool in the spelling of the wire."""
        return {
            "name": name,
            "title": name.replace("_", " ").title(),
            "description": self.description,
            "inputSchema": self.input,
            "outputSchema": self.output,
            "annotations": {
                "readOnlyHint": not self.writes,
                "destructiveHint": self.destroys,
                "idempotentHint": self.destroys or not self.writes,
                "openWorldHint": False,
            },
        }


TOOLS = {
    "create_entities": Reference(
        "Put new entities into the memory. One whose name exists is skipped: extend it with add_observations.",
        _object({"entities": _list(_object(_ENTITY))}),
        _result({"entities": _list(_object(_ENTITY, closed=True))}, skipped=_texts("Names that existed already")),
    ),
    "create_relations": Reference(
        "Link entities that exist, in active voice. A relation that exists is skipped.",
        _object({"relations": _list(_object(_RELATION))}),
        _result({"relations": _list(_object(_RELATION, closed=True))}),
    ),
    "add_observations": Reference(
        "Add facts to entities that exist.",
        _object({"observations": _list(_object(_ADDITION))}),
        _result(
            {
                "results": _list(
                    _object(
                        {"entityName": {"type": "string"}, "addedObservations": _list({"type": "string"})}, closed=True
                    )
                )
            }
        ),
    ),
    "delete_entities": Reference(
        "Delete entities with their observations and relations.",
        _object({"entityNames": _texts("Names of the entities")}),
        _DONE,
        destroys=True,
    ),
    "delete_observations": Reference(
        "Delete single facts about entities.",
        _object({"deletions": _list(_object(_DELETION))}),
        _DONE,
        destroys=True,
    ),
    "delete_relations": Reference(
        "Delete relations.",
        _object({"relations": {**_list(_object(_RELATION)), "description": "Relations to delete"}}),
        _DONE,
        destroys=True,
    ),
    "read_graph": Reference("Read everything in the memory.", _object({}), _GRAPH, writes=False),
    "search_nodes": Reference(
        "Look up what the memory holds, best first. Use it before you answer and before you create entities.",
        _object({"query": _text("Words to find in names, types and observations")}),
        _GRAPH,
        writes=False,
    ),
    "open_nodes": Reference(
        "Open entities by name, with every relation that touches them.",
        _object({"names": _texts("Names of the entities")}),
        _GRAPH,
        writes=False,
    ),
}

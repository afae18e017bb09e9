"""What the default dialect tells a host and a model: schemas, hints, descriptions, instructions, notices."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from msgspec import inspect

from mmem.errors import InvalidArguments, NotFound, UnknownTool
from mmem.outcomes import Notice
from mmem.registry import tool
from mmem.requests import parse
from mmem.server.answers import lines, shortened, size_in_frame
from mmem.server.guidance import remember
from mmem.server.multi_memory import MultiMemory, Options
from mmem.store import Store

Schema = dict[str, Any]
Place = tuple[str, ...]  # of an argument: the names that lead to it

DOCUMENTED: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).parent.joinpath("predecessor/documented.yaml").read_text()
)
TOOLS = sorted({exchange["tool"] for exchange in DOCUMENTED})
HIDDEN = {
    "list_categories": {("category",)},  # taken, as by every tool, but of no use
    "create_relations": {("relations", end, "entityType") for end in ("from", "to")},  # the same as `type`
    "delete_relations": {  # an end as an object; a predecessor has names alone
        ("relations", end, name) for end in ("from", "to") for name in ("id", "name", "type", "entityType")
    },
}
SINCE = {  # arguments that multi-memory-mcp doesn't have
    "read_graph": {"limit", "offset", "names"},
    "search_nodes": {
        *("limit", "offset", "observations", "entityType", "observationType", "source", "since", "until"),
        *("properties", "relationType", "names", "relations", "allCategories"),
    },
    "open_nodes": {"related", "names"},
}
PREDECESSORS_BYTES = 10_207  # of multi-memory-mcp's `tools/list`, as compact JSON

MORE_REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("create_relations", {"relations": [{"from": {"id": "1"}, "to": {"name": "B", "type": "t"}, "relationType": "r"}]}),
    ("delete_relations", {"relations": [{"fromId": "1", "toId": "2", "relationType": "uses"}]}),
    ("read_graph", {"limit": 10, "offset": 20, "names": True}),
    ("search_nodes", {"query": "x", "limit": 10, "offset": 20, "observations": "matched"}),
    ("search_nodes", {"query": "x", "entityType": "a", "observationType": "b", "source": "c", "relationType": "d"}),
    ("search_nodes", {"query": "x", "since": "2026-01-01", "until": "2026-01-31", "properties": {"a": 1}}),
    ("search_nodes", {"query": "x", "names": True, "relations": False, "allCategories": True}),
    ("open_nodes", {"entities": [{"id": "1"}], "related": True, "names": True}),
    ("list_categories", {}),
    *((name, {"category": "work", **given}) for name, given in [("read_graph", {}), ("delete_category", {})]),
]
REQUESTS = [(one["tool"], one["arguments"]) for one in DOCUMENTED] + MORE_REQUESTS


@pytest.fixture
def offered(store: Store) -> Callable[..., MultiMemory]:
    """Return the dialect with other options: `offered(pin="work")`."""
    return lambda **options: MultiMemory(store, Options(**options))


@pytest.fixture
def tools(offered: Callable[..., MultiMemory]) -> dict[str, Schema]:
    return {one["name"]: one for one in offered().definitions()}


def below(schema: Schema) -> Iterator[Schema]:
    """Yield a schema and all that are inside it."""
    yield schema
    for inner in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        yield from below(inner)


def shown(schema: Schema, path: Place = ()) -> Iterator[Place]:
    """Yield the path of each argument that a schema shows."""
    for name, inner in schema.get("properties", {}).items():
        yield (*path, name)
        yield from shown(inner, (*path, name))
    if "items" in schema:
        yield from shown(schema["items"], path)


def given(value: Any, schema: Schema, path: Place = ()) -> Iterator[Place]:
    """Yield the path of each argument of a request, as far as the schema looks into it."""
    if isinstance(value, list):
        for item in value:
            yield from given(item, schema["items"], path)
    elif isinstance(value, dict) and "properties" in schema:
        for name, inner in value.items():
            yield (*path, name)
            yield from given(inner, schema["properties"][name], (*path, name))


def taken(kind: inspect.Type, path: Place = ()) -> Iterator[Place]:
    """Yield the path of each argument that a request's type takes."""
    if isinstance(kind, inspect.Metadata):
        yield from taken(kind.type, path)
    elif isinstance(kind, inspect.UnionType):
        for member in kind.types:
            yield from taken(member, path)
    elif isinstance(kind, inspect.ListType):
        yield from taken(kind.item_type, path)
    elif isinstance(kind, inspect.StructType):
        for field in kind.fields:
            yield (*path, field.encode_name)
            yield from taken(field.type, (*path, field.encode_name))


# The lint: what hosts are known to choke on


def test_there_are_the_eleven_tools(tools: dict[str, Schema]) -> None:
    assert sorted(tools) == TOOLS
    assert [set(one) for one in tools.values()] == [{"name", "title", "description", "inputSchema", "annotations"}] * 11


KEYWORDS = {"type", "properties", "required", "additionalProperties", "items", "enum", "description"}


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("pin", [None, "work"])
def test_a_schema_is_a_plain_object_throughout(offered: Any, name: str, pin: str | None) -> None:
    schemas = [one["inputSchema"] for one in offered(pin=pin).definitions() if one["name"] == name]
    for schema in schemas:
        assert (schema["type"], schema["additionalProperties"]) == ("object", False)
        for inner in below(schema):
            assert set(inner) <= {
                "type",
                "properties",
                "required",
                "additionalProperties",
                "items",
                "enum",
                "description",
            }
            assert isinstance(inner["type"], str)
            assert ("properties" not in inner) or inner["additionalProperties"] is False
            assert set(inner.get("required", [])) <= set(inner.get("properties", []))
        Draft202012Validator.check_schema(schema)
    assert len(schemas) == (0 if pin and "categor" in name else 1)


@pytest.mark.parametrize("name", TOOLS)
def test_a_description_fits_into_what_hosts_show(tools: dict[str, Schema], name: str) -> None:
    one = tools[name]
    assert 30 < len(one["description"].encode()) < 2_000
    assert one["title"] == name.replace("_", " ").capitalize()


# Hints, in the order readOnly, destructive, idempotent, openWorld
HINTS = {
    "create_entities": (False, True, False, False),
    "create_relations": (False, True, True, False),
    "add_observations": (False, True, False, False),
    "delete_entities": (False, True, True, False),
    "delete_observations": (False, True, True, False),
    "delete_relations": (False, True, True, False),
    "delete_category": (False, True, True, False),
    "read_graph": (True, False, True, False),
    "search_nodes": (True, False, True, False),
    "open_nodes": (True, False, True, False),
    "list_categories": (True, False, True, False),
}


def test_the_hints(tools: dict[str, Schema]) -> None:
    names = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
    assert {name: one["annotations"] for name, one in tools.items()} == {
        name: dict(zip(names, hints, strict=True)) for name, hints in HINTS.items()
    }


def test_what_can_override_can_destroy(tools: dict[str, Schema]) -> None:
    for one in tools.values():
        assert one["annotations"]["destructiveHint"] or "override" not in one["inputSchema"]["properties"]


def graph(memory: MultiMemory, category: str) -> str:
    text: str = memory.call("read_graph", {"category": category})["content"][0]["text"]
    return text


def test_the_hints_are_true(offered: Any) -> None:
    memory: MultiMemory = offered()
    before = graph(memory, "work")
    for name, arguments in REQUESTS:
        writes, idempotent = not HINTS[name][0], HINTS[name][2]
        try:
            memory.call(name, arguments)
            after = graph(memory, "work")
            assert writes or after == before
            if idempotent:
                memory.call(name, arguments)
                assert graph(memory, "work") == after
            before = after
        except NotFound:  # what is deleted, and again
            before = graph(memory, "work")


# What is shown is what is taken


@pytest.mark.parametrize("name", TOOLS)
def test_every_argument_is_shown(tools: dict[str, Schema], name: str) -> None:
    of_the_type = set(taken(inspect.type_info(tool(name).request)))
    assert set(shown(tools[name]["inputSchema"])) == of_the_type - HIDDEN.get(name, set())


@pytest.mark.parametrize("name", TOOLS)
def test_every_argument_that_is_shown_is_in_a_request_here(tools: dict[str, Schema], name: str) -> None:
    schema = tools[name]["inputSchema"]
    requested = {path for one, arguments in REQUESTS if one == name for path in given(arguments, schema)}
    assert requested == set(shown(schema))


@pytest.mark.parametrize(("name", "arguments"), REQUESTS, ids=[f"{name}-{n}" for n, (name, _) in enumerate(REQUESTS)])
def test_requests_fit_the_schema_and_the_parser(tools: dict[str, Schema], name: str, arguments: dict[str, Any]) -> None:
    Draft202012Validator(tools[name]["inputSchema"]).validate(arguments)
    parse(tool(name).request, arguments)


WRONG = {"string": 1, "integer": "x", "boolean": "x", "array": 1, "object": 1}


@pytest.mark.parametrize(("name", "arguments"), REQUESTS, ids=[f"{name}-{n}" for n, (name, _) in enumerate(REQUESTS)])
def test_neither_takes_an_argument_of_another_kind(tools: dict[str, Schema], name: str, arguments: Any) -> None:
    schema = tools[name]["inputSchema"]
    for argument, kind in schema["properties"].items():
        wrong = {**arguments, argument: WRONG[kind["type"]]}
        assert not Draft202012Validator(schema).is_valid(wrong)
        with pytest.raises(InvalidArguments, match=rf"^\$\.{argument}: must be"):
            parse(tool(name).request, wrong)


def test_a_pinned_server_shows_all_but_the_category(offered: Any, tools: dict[str, Schema]) -> None:
    for one in offered(pin="work").definitions():
        whole = tools[one["name"]]["inputSchema"]
        assert set(shown(one["inputSchema"])) == set(shown(whole)) - {("category",), ("allCategories",)}
        assert one["inputSchema"].get("required") == whole.get("required")


@pytest.mark.parametrize("category", ["home", "work", ""])
def test_a_pinned_server_takes_no_category(offered: Any, category: str) -> None:
    memory = offered(pin="work")
    with pytest.raises(InvalidArguments, match="the category 'work' alone"):
        memory.call("read_graph", {"category": category})
    assert not memory.call("read_graph", {"category": None})["isError"]


@pytest.mark.parametrize(
    "name", ["delete_category", "list_categories", "create-entities", "serve", "batch", "x" * 9_999]
)
def test_what_is_no_tool_is_unknown(offered: Any, name: str) -> None:
    with pytest.raises(UnknownTool) as raised:
        offered(pin="work").call(name, {})
    assert len(raised.value.message) < 250


# Sizes


def size(definitions: list[Schema]) -> int:
    return len(json.dumps({"tools": definitions}, ensure_ascii=False, separators=(",", ":")).encode())


def _without(schema: Schema, names: set[str]) -> Schema:
    return {**schema, "properties": {name: one for name, one in schema["properties"].items() if name not in names}}


def test_the_list_of_tools_is_short(offered: Any) -> None:
    whole = offered().definitions()
    seed = [{**one, "inputSchema": _without(one["inputSchema"], SINCE.get(one["name"], set()))} for one in whole]
    print(f"tools/list: {size(whole):,} bytes, {size(seed):,} with the seed's arguments alone", end=" ")
    print(f"({size(whole) / PREDECESSORS_BYTES:.2f} and {size(seed) / PREDECESSORS_BYTES:.2f} of multi-memory-mcp's)")
    assert size(seed) <= 0.80 * PREDECESSORS_BYTES
    assert size(whole) <= 1.10 * PREDECESSORS_BYTES


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("pin", [None, "work"])
def test_the_instructions_fit_into_what_hosts_show(tmp_path: Path, read_only: bool, pin: str | None) -> None:
    with Store(tmp_path, "c" * 200) as store:
        told = MultiMemory(store, Options(read_only=read_only, pin=pin)).instructions
    assert len(told.encode()) < 2_000
    assert ("create" in told) is not read_only
    assert ("c" * 200 in told) is (pin is None)


def test_the_prompt_names_tools_that_there_are(tools: dict[str, Schema]) -> None:
    words = {word.strip(".,:()") for word in remember("work", "Ann").split()}
    assert {word for word in words if "_" in word} - {"works_at"} <= set(tools)


# Notices


def test_notices_of_a_kind_are_said_twenty_times_and_counted() -> None:
    skipped = [Notice("skipped", f"number {number}") for number in range(5_000)]
    said = lines([*skipped, Notice("replaced", "one")], 100_000)
    assert said == [*(f"skipped: number {n}" for n in range(20)), "replaced: one", "skipped: 4980 more"]


def test_notices_that_dont_fit_are_counted() -> None:
    said = lines([Notice("skipped", "x" * 900), Notice("not_found", "y" * 900), Notice("skipped", "short")], 1_000)
    assert [line[:12] for line in said] == ["skipped: xxx", "skipped: sho", "not_found: 1"]


def test_a_first_notice_that_is_too_long_loses_its_middle() -> None:
    [line] = lines([Notice("skipped", "begin" + '"' * 9_000 + "end")], 1_000)
    assert line.startswith("skipped: begin")
    assert line.endswith("end")
    assert 500 < size_in_frame(line) <= 1_000


@pytest.mark.parametrize("text", ["x" * 99, "ü" * 99, "𝄞\\" * 99, '"' * 999_999, "\u200b" * 999])
@pytest.mark.parametrize("room", [20, 50, 200])
def test_a_shortened_text_fits(text: str, room: int) -> None:
    kept = shortened(text, room, size_in_frame)
    assert size_in_frame(kept) <= room
    assert kept == text or "…" in kept


@pytest.mark.parametrize("text", ["", "a b", 'say "x"\\', "\n\t\r\b\f\x01\x1f\x7f", "é𝄞\u2028\u200b"])
def test_the_size_in_a_frame_is_what_pydantic_writes(text: str) -> None:
    from mcp.types import TextContent

    written = TextContent(type="text", text=text).model_dump_json(by_alias=True, exclude_unset=True)
    assert size_in_frame(text) == len(written.encode()) - len('{"type":"text","text":}')


@pytest.mark.parametrize("name", ["json", "toon", "yaml", "jsonl"])
def test_an_error_of_any_size_fits(offered: Any, name: str) -> None:
    memory: MultiMemory = offered(format=name, max_bytes=10_000)
    failed = memory.failure(NotFound("$.relations[0]: " + '"\\\u200b' * 30_000 + "(nothing was written)"))
    [content] = failed["content"]
    assert 4_000 < size_in_frame(content["text"]) <= 9_000
    assert "$.relations[0]" in content["text"]
    assert "not_found" in content["text"]


def test_a_made_up_argument_of_the_tool_that_takes_none_is_passed_over(offered: Callable[..., MultiMemory]) -> None:
    assert offered().call("list_categories", {"random_string": "x"})["content"][0]["text"] == "[]"
    with pytest.raises(InvalidArguments):
        offered().call("list_categories", {"category": "Bad"})

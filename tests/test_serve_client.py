"""`mmem serve` through a real process, driven by the SDK's own client in both eras of the protocol."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp.types as t
import pytest
import toon_format
import yaml
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from mmem.registry import call
from mmem.store import Store

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")  # of what 2026 has no more

DOCUMENTED: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).parent.joinpath("predecessor/documented.yaml").read_text()
)
TOOLS = sorted({exchange["tool"] for exchange in DOCUMENTED})
WRITING = {"create_entities", "create_relations", "add_observations"} | {name for name in TOOLS if "delete" in name}


class Host:
    """A client and its server's process, for ordinary functions to talk to."""

    def __init__(self, client: Client, portal: BlockingPortal, base: Path) -> None:
        self.client = client
        self.base = base
        self.heard: list[str] = []
        self._portal = portal

    @property
    def modern(self) -> bool:
        return self.client.protocol_version >= "2026"

    def run(self, function: Callable[..., Awaitable[Any]], *given: Any) -> Any:
        """Return what a coroutine function returns, run beside the client."""
        return self._portal.call(function, *given)

    def result(self, tool: str, **arguments: Any) -> t.CallToolResult:
        return self.run(self.client.call_tool, tool, arguments)

    def text(self, tool: str, **arguments: Any) -> str:
        """Return the one text of a call that succeeds and has nothing to add."""
        result = self.result(tool, **arguments)
        [content] = result.content
        assert not result.is_error, content.text
        return content.text

    def json(self, tool: str, **arguments: Any) -> Any:
        return json.loads(self.text(tool, **arguments))

    def error(self, tool: str, **arguments: Any) -> dict[str, str]:
        result = self.result(tool, **arguments)
        [content] = result.content
        assert result.is_error, content.text
        return json.loads(content.text)

    def notices(self, tool: str, **arguments: Any) -> list[str]:
        result = self.result(tool, **arguments)
        assert not result.is_error, result
        return result.content[1].text.splitlines() if len(result.content) > 1 else []

    def names(self, category: str) -> list[str]:
        return [
            entity["name"]
            for entity in json.loads(self.result("read_graph", category=category).content[0].text)["entities"]
        ]

    def listening(self, *categories: str) -> AbstractContextManager[list[str]]:
        """Collect what is announced: names of categories, and `list` where the list of them changed."""
        self.heard.clear()
        listen = self._listening_now if self.modern else self._listening_once
        return self._portal.wrap_async_context_manager(listen([f"memory://{name}" for name in categories]))

    @asynccontextmanager
    async def _listening_once(self, uris: list[str]) -> Any:
        try:
            for uri in uris:
                await self.client.subscribe_resource(uri)
            yield self.heard
        finally:
            for uri in uris:
                await self.client.unsubscribe_resource(uri)

    @asynccontextmanager
    async def _listening_now(self, uris: list[str]) -> Any:
        async def collect() -> None:
            async for event in subscription:
                self.heard.append(_told(getattr(event, "uri", None)))

        stream = self.client.listen(resources_list_changed=True, resource_subscriptions=uris)
        async with stream as subscription, anyio.create_task_group() as tasks:
            tasks.start_soon(collect)
            yield self.heard
            tasks.cancel_scope.cancel()

    async def hear(self, message: Any) -> None:
        """Note what a client of the handshake era is told; the others hear it by their stream."""
        if self.modern:
            return
        if isinstance(message, t.ResourceUpdatedNotification):
            self.heard.append(_told(str(message.params.uri)))
        elif isinstance(message, t.ResourceListChangedNotification):
            self.heard.append(_told(None))


def _told(uri: str | None) -> str:
    return "list" if uri is None else uri.removeprefix("memory://")


@contextmanager
def started(base: Path, *words: str, mode: str = "auto", cwd: Path | None = None, **environ: str) -> Iterator[Host]:
    """Start a server and connect to it; at the end it must not have said anything on stderr."""
    environ = {"MEMORY_BASE_DIR": str(base), **environ}
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "mmem", "serve", *words], env=environ, cwd=cwd or base.parent
    )
    host: Host

    async def hear(message: Any) -> None:
        await host.hear(message)

    errors = base.parent / f"{base.name}.{time.monotonic_ns()}.stderr"
    with start_blocking_portal() as portal, errors.open("w") as said:
        client = Client(stdio_client(parameters, errlog=said), mode=mode, message_handler=hear)
        host = Host(client, portal, base)
        with portal.wrap_async_context_manager(client):
            yield host
    assert errors.read_text() == ""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Host]]:
    """A server of each era, both on one memory, for all tests that need no server of their own."""
    base = tmp_path_factory.mktemp("hosts") / "memory"
    with started(base, mode="legacy") as legacy, started(base, mode="auto") as auto:
        yield {"legacy": legacy, "auto": auto}


@pytest.fixture(params=["legacy", "auto"])
def host(request: pytest.FixtureRequest, hosts: dict[str, Host]) -> Iterator[Host]:
    """A host of each era, whose memory is empty at first."""
    yield hosts[request.param]
    with Store(hosts["auto"].base) as store:
        for category in store.categories():
            store.delete(category)


@pytest.fixture
def other(host: Host, hosts: dict[str, Host]) -> Host:
    """The host of the other era, on the same memory."""
    return hosts["legacy" if host.modern else "auto"]


def until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def clocked(value: Any) -> Any:
    """Return a result with `now` for the times that nobody gave."""
    return json.loads(re.sub(r'"timestamp":\s*"20[^"]*\.\d\d\dZ"', '"timestamp":"now"', json.dumps(value)))


def create(name: str, *texts: str) -> dict[str, Any]:
    return {"entities": [{"name": name, "observations": list(texts)}]}


# The era


def test_both_eras_are_spoken(host: Host, request: pytest.FixtureRequest) -> None:
    assert host.client.protocol_version == ("2026-07-28" if host.modern else "2025-11-25")
    assert host.modern is ("auto" in request.node.callspec.id)


def test_what_the_server_says_of_itself(host: Host) -> None:
    info, can = host.client.server_info, host.client.server_capabilities
    assert info is not None
    assert info.name == "mmem"
    assert can.tools
    assert can.prompts
    assert can.completions
    assert can.resources.subscribe
    assert can.resources.list_changed
    assert "search_nodes" in (host.client.instructions or "")


# The tools


def test_the_documented_inputs_give_the_documented_outputs(host: Host) -> None:
    for exchange in DOCUMENTED:
        result = host.result(exchange["tool"], **exchange["arguments"])
        text = result.content[0].text
        value = text if isinstance(exchange["result"], str) else json.loads(text)
        assert (clocked(value), len(result.content)) == (exchange["result"], 1), exchange
        assert result.structured_content is None


def test_the_command_line_gives_the_same(host: Host, tmp_path: Path, mmem: Any) -> None:
    for exchange in DOCUMENTED:
        words = ["--base-dir", str(tmp_path / "beside"), "-f", "json", exchange["tool"]]
        told = mmem(*words, "--json", json.dumps(exchange["arguments"]))
        text = host.text(exchange["tool"], **exchange["arguments"])
        assert clocked(told.json) == clocked(text if isinstance(told.json, str) else json.loads(text))


def test_json_is_compact(host: Host) -> None:
    text = host.text("create_entities", category="compact", **create("Zoë", "a fact"))
    assert text == json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))


READERS = {
    "json": json.loads,
    "toon": toon_format.decode,
    "yaml": yaml.safe_load,
    "jsonl": lambda text: [json.loads(line) for line in text.splitlines()],
}


@pytest.mark.parametrize("name", READERS)
def test_results_and_errors_are_in_the_format_of_the_variable(tmp_path: Path, mmem: Any, name: str) -> None:
    read = READERS[name]
    with started(tmp_path / "memory", SERIALIZATION_FORMAT=name) as host:
        host.text("create_entities", **create("A", "x", "y: z"))
        text = host.text("search_nodes", query="x")
        failed = host.result("search_nodes", query="")
    said = mmem("--base-dir", str(tmp_path / "memory"), "-f", name, "search-nodes", "x").stdout
    assert read(text) == read(said)
    assert text == said.removesuffix("\n") or name == "json"
    error = read(failed.content[0].text)
    assert (error[0] if name == "jsonl" else error)["code"] == "invalid_arguments"


def test_tables_are_for_people(mmem_process: Any) -> None:
    ran = mmem_process("serve", environ={"SERIALIZATION_FORMAT": "table"})
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert "table" in ran.stderr


def test_the_tools_have_no_output_schema_and_results_nothing_structured(host: Host) -> None:
    tools = host.run(host.client.list_tools).tools
    assert sorted(tool.name for tool in tools) == TOOLS
    assert [tool.output_schema for tool in tools] == [None] * 11
    assert host.result("list_categories").structured_content is None


def test_notices_are_a_second_text(host: Host) -> None:
    assert host.notices("create_entities", category="notices", **create("A", "x")) == []
    [line] = host.notices("create_entities", category="notices", **create("A", "y"))
    assert line.startswith("skipped: $.entities[0]: 'A' exists already (id 1)")
    assert host.names("notices") == ["A"]


def test_an_error_is_a_result_that_says_so(host: Host) -> None:
    error = host.error("create_relations", category="errors", relations=[{"from": "A", "to": "B", "relationType": "r"}])
    assert list(error) == ["error", "code"]
    assert error["code"] == "not_found"
    assert "$.relations[0].from: no entity 'A'" in error["error"]


def test_an_unknown_tool_is_an_error_of_the_protocol(host: Host) -> None:
    with pytest.raises(MCPError, match="Unknown tool: create_entity") as raised:
        host.result("create_entity")
    assert raised.value.code == t.INVALID_PARAMS


def test_a_protocol_error_doesnt_end_the_server(host: Host) -> None:
    with pytest.raises(MCPError):
        host.result("nothing")
    assert host.error("open_nodes")["code"] == "invalid_arguments"
    assert isinstance(host.json("list_categories"), list)


# Leniency where hosts err, strictness where data could be lost: design rule 9

A = {"name": "A", "entityType": "t", "observations": [{"text": "x"}]}
LENIENT: dict[str, dict[str, Any]] = {
    "an array as JSON text": {"entities": json.dumps([A])},
    "an object as JSON text": {"entities": [json.dumps(A)]},
    "both": {"entities": json.dumps([json.dumps(A)])},
    "properties as JSON text": {"entities": [{**A, "properties": "{}"}]},
    "null for what is optional": {"entities": [{**A, "properties": None}], "override": None},
    "observations as bare texts": {"entities": [{**A, "observations": ["x"]}]},
}


@pytest.mark.parametrize("arguments", LENIENT.values(), ids=LENIENT)
def test_what_hosts_send_instead_is_understood(host: Host, arguments: dict[str, Any]) -> None:
    [entity] = host.json("create_entities", category="lenient", **arguments)
    assert clocked(entity) == {"id": "1", **A, "observations": [{"id": "1", "text": "x", "timestamp": "now"}]}


@pytest.mark.parametrize("id", [1, "1"])
def test_an_id_is_a_number_or_a_text(host: Host, id: int | str) -> None:
    host.result("create_entities", category="ids", **create("A"))
    assert host.json("open_nodes", category="ids", entities=[{"id": id}])["entities"][0]["name"] == "A"


@pytest.mark.parametrize("category", [None, ""])
def test_no_category_means_the_default_one(host: Host, category: str | None) -> None:
    host.result("create_entities", **create("Here"))
    assert "Here" in host.text("read_graph", category=category, limit=None, offset=None)


def test_null_as_a_text_is_a_name(host: Host) -> None:
    host.text("create_entities", category="null", **create("There"))
    assert "null" in host.json("list_categories")
    assert host.text("delete_category", category="null") == "Category 'null' deleted successfully"


@pytest.mark.parametrize("text", ["[1, 2]", '{"a": 1}', "null", "1", "true", ""])
def test_a_text_that_looks_like_json_stays_a_text(host: Host, text: str) -> None:
    [entity] = host.json("create_entities", category="texts", **create(f"name {text}", text))
    assert entity["observations"][0]["text"] == text
    host.result("search_nodes", category="texts", query=f"{text} ")


def test_an_unknown_argument_is_refused_with_the_valid_ones(host: Host) -> None:
    error = host.error("read_graph", limt=5)
    assert error == {
        "error": "$: unknown argument 'limt'; did you mean 'limit'? (valid here: limit, offset, names, category)",
        "code": "invalid_arguments",
    }
    assert (
        "name, entityType, properties, observations" in host.error("create_entities", entities=[{"nam": "A"}])["error"]
    )


@pytest.mark.parametrize("arguments", [{}, {"category": ""}, {"category": None}, {"category": "../x"}])
def test_delete_category_wants_a_name(host: Host, arguments: dict[str, Any]) -> None:
    host.result("create_entities", **create("Kept"))
    assert host.error("delete_category", **arguments)["code"] == "invalid_arguments"
    assert "Kept" in host.names("default")


@pytest.mark.parametrize(
    ("tool", "arguments", "path"),
    [
        ("create_entities", {"entities": [{"name": "A", "properties": {"n": 1 << 64}}]}, "$.entities[0].properties.n"),
        ("create_entities", {"entities": [{"name": "A\0"}]}, "$.entities[0].name"),
        ("create_entities", {"entities": "[{"}, "$.entities"),
        ("create_entities", {"entities": {"name": "A"}}, "$.entities"),
        ("create_entities", {"entities": "A"}, "$.entities"),
        ("read_graph", {"limit": 0}, "$.limit"),
        ("read_graph", {"limit": "5"}, "$.limit"),
        ("search_nodes", {"query": ["x"]}, "$.query"),
        ("search_nodes", {"query": "x", "observations": "some"}, "$.observations"),
        ("open_nodes", {"entities": [{"id": "one"}]}, "$.entities[0]"),
        ("read_graph", {"category": "Work"}, ""),
        ("read_graph", {"category": 5}, "$.category"),
    ],
)
def test_what_isnt_valid_is_refused_with_its_path(host: Host, tool: str, arguments: Any, path: str) -> None:
    error = host.error(tool, **arguments)
    assert error["code"] == "invalid_arguments"
    assert error["error"].startswith(path)


# What is not there, and what can't be read


def test_what_there_was_nothing_to_delete_is_said(host: Host) -> None:
    host.text("create_entities", category="work", **create("Brett"))
    [line] = host.notices("delete_entities", category="work", entities=["Bret"])
    assert line.startswith("not_found: $.entities[0]: no entity 'Bret' in category 'work'; did you mean 'Brett'?")
    assert host.error("delete_category", category="wrk")["code"] == "not_found"
    assert "did you mean 'work'?" in host.error("delete_category", category="wrk")["error"]


def test_reading_a_mistyped_category_creates_none(host: Host) -> None:
    host.text("create_entities", category="work", **create("A"))
    [line] = host.notices("search_nodes", category="wrk", query="A")
    assert line.startswith("no_such_category: there is no category 'wrk'")
    assert line.endswith("did you mean 'work'?")
    assert host.json("list_categories") == ["work"]


def test_a_file_that_is_no_memory_is_no_obstacle(host: Host) -> None:
    host.text("create_entities", category="home", **create("A"))
    (host.base / "work.db").write_text("hello")
    assert host.json("list_categories") == ["home"]
    assert host.error("create_entities", category="work", **create("A"))["code"] == "storage"
    assert [str(one.uri) for one in host.run(host.client.list_resources).resources] == ["memory://home"]
    assert (host.base / "work.db").read_text() == "hello"
    (host.base / "work.db").unlink()


def test_a_base_directory_that_cant_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with started(tmp_path / "log", "--base-dir", str(tmp_path / "file" / "memory")) as host:
        for tool, arguments in (("create_entities", create("A")), ("list_categories", {})):
            error = host.error(tool, **arguments)
            assert error["code"] == "storage"
            assert "MEMORY_BASE_DIR" in error["error"]
            assert str(tmp_path / "file") in error["error"]


@pytest.mark.parametrize("size", [70_000, 1_000_000])
def test_a_large_call_is_carried_out(host: Host, size: int) -> None:
    told = host.notices("create_entities", category="large", **create("A", "x" * size))
    assert [line.partition(":")[0] for line in told] == ([] if size < 900_000 else ["truncated"])
    [entity] = json.loads(host.result("open_nodes", category="large", entities=["A"]).content[0].text)["entities"]
    assert [len(one["text"]) for one in entity["observations"]] == ([size] if size < 900_000 else [])


# How a server is started


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A base directory with an entity in each of three categories."""
    base = tmp_path / "memory"
    with Store(base) as store:
        for category in ("default", "home", "work"):
            call(store, "create_entities", {"category": category, **create(f"at {category}")})
    return base


def contents(base: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in base.glob("*.db")}


def test_a_server_that_only_reads_lists_no_other_tool_and_changes_nothing(filled: Path) -> None:
    before = contents(filled)
    with started(filled, "--read-only") as host:
        listed = {tool.name for tool in host.run(host.client.list_tools).tools}
        assert listed == set(TOOLS) - WRITING
        for exchange in DOCUMENTED:
            if exchange["tool"] in WRITING:
                assert host.error(exchange["tool"], **exchange["arguments"])["code"] == "invalid_request"
        assert host.error("delete_category", category="work")["code"] == "invalid_request"
        assert host.names("work") == ["at work"]
        assert "reading only" in host.client.instructions
        assert host.client.server_capabilities.prompts is None
        assert host.client.server_capabilities.completions is not None
    assert contents(filled) == before


def test_a_pinned_server_has_one_category_and_no_word_for_it(filled: Path) -> None:
    with started(filled, "--pin", "work", DEFAULT_CATEGORY="home") as host:
        tools = {tool.name: tool.input_schema for tool in host.run(host.client.list_tools).tools}
        assert set(TOOLS) - set(tools) == {"list_categories", "delete_category"}
        assert not [name for name, schema in tools.items() if "category" in schema["properties"]]
        assert [entity["name"] for entity in host.json("read_graph")["entities"]] == ["at work"]
        for category in ("home", "work"):
            assert "alone" in host.error("read_graph", category=category)["error"]
        for gone in ("list_categories", "delete_category"):
            with pytest.raises(MCPError, match="Unknown tool"):
                host.result(gone, category="work")
        assert [resource.name for resource in host.run(host.client.list_resources).resources] == ["work"]
        assert host.run(host.client.list_resource_templates).resource_templates == []
        with pytest.raises(MCPError, match="not found"):
            host.run(host.client.read_resource, "memory://home")


def test_a_pinned_server_searches_no_other_category(filled: Path) -> None:
    with started(filled, "--pin", "work") as host:
        tools = {tool.name: tool.input_schema for tool in host.run(host.client.list_tools).tools}
        assert "allCategories" not in tools["search_nodes"]["properties"]
        assert "is the category 'work' alone" in host.error("search_nodes", query="home", allCategories=True)["error"]


def test_a_pinned_category_may_be_yet_to_come(tmp_path: Path) -> None:
    with started(tmp_path / "memory", "-c", "new", "--pin", "new") as host:
        assert json.loads(host.run(host.client.read_resource, "memory://new").contents[0].text)["entities"] == []
        assert host.json("create_entities", **create("A"))[0]["id"] == "1"
    assert (tmp_path / "memory" / "new.db").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--pin", "work", "-c", "home"], "--category is 'home', but --pin is 'work'"),
        (["--pin", "Work"], "'Work' (from --pin) isn't a valid name"),
        (["--pin", ""], "--pin"),
        (["--max-bytes", "9999"], "--max-bytes"),
        (["--dialect", "other"], "--dialect"),
    ],
)
def test_words_that_dont_fit_are_refused(mmem: Any, words: list[str], message: str) -> None:
    ran = mmem("serve", *words)
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert message in ran.stderr


@pytest.mark.parametrize(
    ("words", "environ", "expected"),
    [
        (["-c", "work"], {"DEFAULT_CATEGORY": "home"}, "work"),
        ([], {"DEFAULT_CATEGORY": "home"}, "home"),
    ],
)
def test_the_default_category(filled: Path, words: list[str], environ: dict[str, str], expected: str) -> None:
    with started(filled, *words, **environ) as host:
        assert [entity["name"] for entity in host.json("read_graph")["entities"]] == [f"at {expected}"]
        assert host.names("home") == ["at home"]
        assert f"'{expected}'" in host.client.instructions


@pytest.mark.parametrize(
    ("words", "variable", "place"), [(["--base-dir", "chosen"], "wrong", "chosen"), ([], "", ".aim"), ([], "~/x", "x")]
)
def test_the_base_directory(tmp_path: Path, words: list[str], variable: str, place: str) -> None:
    environ = {"MEMORY_BASE_DIR": variable, "HOME": str(tmp_path)}
    with started(tmp_path / "log", *words, cwd=tmp_path, **environ) as host:
        host.text("create_entities", **create("A"))
    assert (tmp_path / place / "default.db").exists()
    assert not (tmp_path / "wrong").exists()


# Results that are too large


def frames(base: Path, *calls: tuple[str, dict[str, Any]], limit: int = 10_000) -> list[bytes]:
    """Return the frames that answer calls, as they are on the wire."""
    first = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    asked = [("initialize", first), *(("tools/call", {"name": name, "arguments": given}) for name, given in calls)]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        for id, (method, params) in enumerate(asked)
    ]
    command = [sys.executable, "-m", "mmem", "serve", "--base-dir", str(base), "--max-bytes", str(limit)]
    ran = subprocess.run(command, input="\n".join(lines).encode(), capture_output=True, timeout=60, check=True)
    return ran.stdout.splitlines()[1:]


def test_no_frame_is_larger_than_the_limit(tmp_path: Path) -> None:
    entities = [{"name": f"N{number} {chr(34) * 20}", "observations": ["x" * 90]} for number in range(200)]
    calls = [
        ("create_entities", {"entities": entities}),
        ("create_entities", {"entities": entities}),
        ("read_graph", {}),
        ("search_nodes", {"query": "N1* x*", "limit": 200}),
        ("open_nodes", {"entities": list(range(1, 201)), "related": True}),
        ("open_nodes", {"entities": [f"nobody {number}" for number in range(3000)]}),
        (
            "create_relations",
            {"relations": [{"from": f"nobody {n}", "to": 1, "relationType": "r"} for n in range(900)]},
        ),
    ]
    answers = frames(tmp_path / "memory", *calls)
    assert len(answers) == len(calls)
    assert [len(answer) for answer in answers if len(answer) > 10_000] == []
    assert all(len(json.loads(answer)["result"]["content"]) == 2 for answer in answers[:-1])


# Resources, completion, the prompt


def read(host: Host, uri: str) -> Any:
    return host.run(host.client.read_resource, uri).contents


def test_each_category_is_a_resource(host: Host) -> None:
    host.text("create_entities", category="resource", **create("A"))
    listed = {str(one.uri): one for one in host.run(host.client.list_resources).resources}
    assert listed["memory://resource"].mime_type == "application/json"
    assert sorted(listed) == [f"memory://{name}" for name in host.json("list_categories")]
    [content] = read(host, "memory://resource")
    assert (str(content.uri), content.mime_type) == ("memory://resource", "application/json")
    assert json.loads(content.text) == host.json("read_graph", category="resource")


def test_the_template_of_resources(host: Host) -> None:
    [template] = host.run(host.client.list_resource_templates).resource_templates
    assert (template.uri_template, template.mime_type) == ("memory://{category}", "application/json")


@pytest.mark.parametrize(
    "uri", ["memory://nobody", "memory://No", "memory://", "file:///etc/passwd", "memory://../x", ""]
)
def test_what_isnt_there_cant_be_read(host: Host, uri: str) -> None:
    with pytest.raises(MCPError, match="not found") as raised:
        read(host, uri)
    assert (raised.value.code, raised.value.data) == (-32602, {"uri": uri})
    assert "nobody" not in host.json("list_categories")


def completed(host: Host, typed: str, reference: Any = None, argument: str = "category") -> t.Completion:
    reference = reference or t.ResourceTemplateReference(uri="memory://{category}")
    return host.run(host.client.complete, reference, {"name": argument, "value": typed}).completion


def test_names_of_categories_are_completed(host: Host) -> None:
    for name in ("many-a", "many-b", "much"):
        host.result("create_entities", category=name, **create("A"))
    assert completed(host, "many").values == ["many-a", "many-b"]
    assert completed(host, "MANY-").values == ["many-a", "many-b"]
    assert completed(host, "many", t.PromptReference(name="remember")).values == ["many-a", "many-b"]
    assert completed(host, "nothing").values == completed(host, "m", argument="about").values == []
    assert set(completed(host, "").values) >= {"many-a", "many-b", "much"}


def test_at_most_a_hundred_names_are_completed(tmp_path: Path) -> None:
    with started(tmp_path / "memory") as host:
        host.text("create_entities", category="c000", **create("A"))
        for number in range(1, 102):
            shutil.copy(host.base / "c000.db", host.base / f"c{number:03}.db")
        all_of_them, some = completed(host, "c"), completed(host, "c00")
    assert (len(all_of_them.values), all_of_them.total, all_of_them.has_more) == (100, 102, True)
    assert all_of_them.values == [f"c{number:03}" for number in range(100)]
    assert (len(some.values), some.total, some.has_more) == (10, 10, False)


def test_the_prompt(host: Host) -> None:
    [prompt] = host.run(host.client.list_prompts).prompts
    assert (prompt.name, [(one.name, one.required) for one in prompt.arguments]) == (
        "remember",
        [("about", False), ("category", False)],
    )
    assert "search_nodes" in remembered(host, None)
    assert remembered(host, {}) == remembered(host, None) == remembered(host, {"about": " ", "category": ""})
    assert "about Ann." in remembered(host, {"about": "Ann"})
    assert "the category 'work' for every call" in remembered(host, {"about": "Ann", "category": "work"})


def remembered(host: Host, arguments: dict[str, str] | None) -> str:
    [message] = host.run(host.client.get_prompt, "remember", arguments).messages
    assert message.role == "user"
    return message.content.text


@pytest.mark.parametrize(("name", "arguments"), [("forget", {}), ("remember", {"category": "No such"})])
def test_a_prompt_that_cant_be_given(host: Host, name: str, arguments: dict[str, str]) -> None:
    with pytest.raises(MCPError) as raised:
        host.run(host.client.get_prompt, name, arguments)
    assert raised.value.code == t.INVALID_PARAMS


# Announcements


@pytest.fixture
def elsewhere(host: Host) -> Iterator[Store]:
    """The same memory in another process: this one."""
    with Store(host.base) as store:
        yield store


def test_own_writes_are_announced(host: Host) -> None:
    with host.listening("own") as heard:
        host.text("create_entities", category="own", **create("A"))
        assert until(lambda: heard[:1] == ["own"])
        host.text("add_observations", category="own", observations=[{"entityName": "A", "contents": ["x"]}])
        assert until(lambda: heard.count("own") == 2)
        host.text("read_graph", category="own")
        host.text("delete_entities", category="own", entities=["A"])
        assert until(lambda: heard.count("own") == 3)
    time.sleep(1.2)
    assert heard.count("own") == 3


def test_writes_of_other_processes_are_announced(host: Host, mmem: Any) -> None:
    with host.listening("others") as heard:
        mmem("--base-dir", str(host.base), "-c", "others", "create-entities", "A")
        assert until(lambda: "others" in heard, 5)
        heard.clear()
        mmem("--base-dir", str(host.base), "-c", "others", "add-observations", "A", "x")
        assert until(lambda: "others" in heard, 5)


def test_what_changes_nothing_isnt_announced(host: Host, elsewhere: Store) -> None:
    for category in ("same", "other"):
        host.text("create_entities", category=category, **create("A"))
    with host.listening("same", "other") as heard:
        host.result("create_entities", category="same", **create("A"))
        host.result("delete_entities", category="same", entities=["nobody"])
        host.error("open_nodes", category="same", entities=[{}])
        call(elsewhere, "create_entities", {"category": "same", **create("A")})
        call(elsewhere, "create_entities", {"category": "other", **create("B")})
        assert until(lambda: bool(heard))
        assert heard == ["other"]


def test_who_has_unsubscribed_hears_nothing(host: Host, elsewhere: Store) -> None:
    with host.listening("left"):
        pass
    with host.listening("kept") as heard:
        host.text("create_entities", category="left", **create("A"))
        call(elsewhere, "create_entities", {"category": "left", **create("B")})
        host.text("create_entities", category="kept", **create("A"))
        assert until(lambda: {"kept", "list"} <= set(heard))
        assert "left" not in heard


def test_categories_that_come_and_go_are_announced(host: Host, elsewhere: Store) -> None:
    with host.listening("watched") as heard:
        for change in (
            lambda: call(elsewhere, "create_entities", {"category": "coming", **create("A")}),
            lambda: host.text("create_entities", category="coming-too", **create("A")),
            lambda: call(elsewhere, "delete_category", {"category": "coming"}),
            lambda: host.text("delete_category", category="coming-too"),
        ):
            heard.clear()
            change()
            assert until(lambda: heard == ["list"], 5)


def test_a_file_that_is_deleted_or_replaced_is_announced(host: Host) -> None:
    path = host.base / "moving.db"
    for category in ("moving", "spare"):
        host.text("create_entities", category=category, **create(category))
    with host.listening("moving") as heard:
        Store(host.base).delete("moving")
        assert until(lambda: "moving" in heard, 5)
        heard.clear()
        shutil.copy(host.base / "spare.db", path.with_suffix(".new"))
        path.with_suffix(".new").rename(path)
        assert until(lambda: "moving" in heard, 5)
        heard.clear()
        host.text("delete_category", category="moving")
        assert until(lambda: "moving" in heard, 5)
    assert host.notices("read_graph", category="moving")[0].startswith("no_such_category")


def test_a_base_directory_that_goes_away_ends_nothing(tmp_path: Path) -> None:
    with started(tmp_path / "memory") as host, host.listening("default") as heard:
        host.text("create_entities", **create("A"))
        assert until(lambda: heard.count("list") == 1, 5)
        host.base.rename(tmp_path / "aside")
        host.base.write_text("a file")
        assert until(lambda: heard.count("list") == 2, 5)
        assert host.error("list_categories")["code"] == "storage"
        host.base.unlink()
        (tmp_path / "aside").rename(host.base)
        assert until(lambda: heard.count("list") == 3, 5)
        assert host.names("default") == ["A"]


def test_a_hundred_categories_can_be_listened_to(host: Host) -> None:
    names = [f"c{number}" for number in range(101)]
    with pytest.raises(MCPError, match="at most 100 categories"), host.listening(*names):
        pass
    with host.listening(*names[:100]) as heard:
        host.text("create_entities", category="c99", **create("A"))
        assert until(lambda: "c99" in heard)


def test_two_servers_hear_of_each_other(host: Host, other: Host) -> None:
    with host.listening("both") as heard, other.listening("both") as heard_there:
        other.text("create_entities", category="both", **create("A"))
        assert until(lambda: "both" in heard and "both" in heard_there, 5)


# Several at once


def test_a_hundred_calls_at_once(host: Host) -> None:
    call_tool = host.client.call_tool

    async def all_at_once() -> list[t.CallToolResult]:
        results: dict[int, t.CallToolResult] = {}

        async def one(number: int) -> None:
            name = f"N{number}"
            tools = {
                0: ("create_entities", create(name, "x")),
                1: ("create_entities", create(name)),
                2: ("read_graph", {}),
                3: ("search_nodes", {"query": "N*"}),
                4: ("add_observations", {"observations": [{"entityName": "N0", "contents": [f"at {number}"]}]}),
            }
            tool, arguments = tools[number % 5]
            results[number] = await call_tool(tool, {"category": "crowd", **arguments})

        await one(0)
        async with anyio.create_task_group() as tasks:
            for number in range(1, 100):
                tasks.start_soon(one, number)
        return list(results.values())

    assert [result for result in host.run(all_at_once) if result.is_error] == []
    graph = host.json("read_graph", category="crowd")
    assert {entity["name"] for entity in graph["entities"]} == {f"N{n}" for n in range(100) if n % 5 < 2}
    assert len(graph["entities"][0]["observations"]) == 21


def test_two_hosts_and_the_command_line_lose_nothing(host: Host, other: Host, mmem_process: Any) -> None:
    async def many(client: Client, name: str) -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(
                    client.call_tool, "create_entities", {"category": "busy", **create(f"{name}-{number}")}
                )

    lines = [{"tool": "create_entities", "arguments": {"category": "busy", **create(f"2-{n}")}} for n in range(100)]
    stdin = "\n".join(map(json.dumps, lines)).encode()
    with ThreadPoolExecutor() as threads:
        writing = [threads.submit(one.run, many, one.client, str(id)) for id, one in enumerate((host, other))]
        assert mmem_process("--base-dir", str(host.base), "batch", stdin=stdin).exit_status == 0
        assert mmem_process("--base-dir", str(host.base), "-c", "busy", "create-entities", "last").exit_status == 0
        for one in writing:
            one.result(60)
    expected = {f"{id}-{number}" for id in range(3) for number in range(100)} | {"last"}
    assert set(host.names("busy")) == set(other.names("busy")) == expected

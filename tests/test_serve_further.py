"""`mmem serve --tools all`: the further tools that read, beside the eleven; those that write are never offered."""

import json
from typing import Any

import pytest

from mmem.errors import UnknownTool
from mmem.registry import COMMANDS, tool
from mmem.server.multi_memory import MultiMemory, Options
from mmem.store import Store

ELEVEN = [name.replace("-", "_") for name, entry in COMMANDS.items() if entry.tool and not entry.further]
FURTHER = ["neighbors", "path"]


def listed(store: Store, **options: Any) -> list[str]:
    return [one["name"] for one in MultiMemory(store, Options(**options)).definitions()]


def test_without_being_asked_for_there_are_the_eleven(store: Store) -> None:
    assert listed(store) == ELEVEN
    assert len(ELEVEN) == 11


def test_all_are_the_eleven_and_what_reads(store: Store) -> None:
    assert listed(store, all_tools=True) == [*ELEVEN, *FURTHER]
    assert listed(store, all_tools=True, read_only=True)[-2:] == FURTHER
    assert listed(store, all_tools=True, pin="work")[-2:] == FURTHER
    pinned = MultiMemory(store, Options(all_tools=True, pin="work")).definitions()
    assert not any("category" in one["inputSchema"]["properties"] for one in pinned)


@pytest.mark.parametrize("all_tools", [False, True])
@pytest.mark.parametrize("name", [name for name, entry in COMMANDS.items() if entry.further and name not in FURTHER])
def test_what_writes_is_never_offered(store: Store, name: str, all_tools: bool) -> None:
    assert tool(name).writes
    with pytest.raises(UnknownTool):
        MultiMemory(store, Options(all_tools=all_tools)).call(name, {})


@pytest.mark.parametrize("name", FURTHER)
def test_a_further_tool_says_that_it_only_reads_in_a_plain_schema(store: Store, name: str) -> None:
    every = MultiMemory(store, Options(all_tools=True)).definitions()
    [one] = [one for one in every if one["name"] == name]
    assert one["annotations"]["readOnlyHint"] is True
    schema = one["inputSchema"]
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert not {"anyOf", "oneOf", "allOf", "$ref"} & set(json.dumps(schema).replace('"', " ").split())


def test_a_host_is_answered(rpc: Any) -> None:
    with rpc("--tools", "all", "--read-only") as server:
        server.open()
        assert [one["name"] for one in server.ask("tools/list")["result"]["tools"]][-2:] == FURTHER
        asked = {"name": "path", "arguments": {"from": "A", "to": "B"}}
        answer = server.ask("tools/call", asked)["result"]
        assert (answer["isError"], "no entity 'A'" in answer["content"][0]["text"]) == (True, True)


def test_a_graph_that_is_cut_keeps_the_nearest(store: Store) -> None:
    dialect = MultiMemory(store, Options(all_tools=True, max_bytes=10_000))
    nodes = [{"name": f"n{number}", "observations": ["x" * 200]} for number in range(60)]
    dialect.call("create_entities", {"entities": nodes})
    relations = [{"from": "n0", "to": f"n{number}", "relationType": "r"} for number in range(1, 60)]
    dialect.call("create_relations", {"relations": relations})
    answer = dialect.call("neighbors", {"entity": "n0"})
    texts = [one["text"] for one in answer["content"]]
    graph = json.loads(texts[0])
    shown = [one["name"] for one in graph["entities"]]
    assert 5 < len(shown) < 60
    assert shown == [f"n{number}" for number in range(len(shown))]
    assert [one["to"] for one in graph["relations"]] == shown[1:]
    assert "truncated" in texts[1]


def test_the_other_dialect_has_its_own_tools(mmem: Any) -> None:
    ran = mmem("serve", "--dialect", "server-memory", "--tools", "all")
    assert (ran.exit_status, "has its own tools" in ran.stderr) == (2, True)

"""`mmem serve` before the MCP project's own inspector, run as a command in both protocol eras and in both dialects.

Its exit status tells: 0 done, 1 an error, 5 a tool that failed or isn't there, 6 a schema that hosts would choke on.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mmem.registry import call
from mmem.store import Store

ERAS = ["legacy", "modern", "auto"]  # handshake, 2026-07-28, and whatever the server can
MULTI, REFERENCE = "multi-memory", "server-memory"
ANN = {"name": "Ann", "entityType": "person", "observations": ["Sings"]}


class Inspected(NamedTuple):
    """What the inspector gave."""

    status: int
    result: Any
    stderr: str


Inspect = Callable[..., Inspected]


@pytest.fixture(scope="module")
def inspect(node_tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Inspect:
    """Run the inspector on a server whose memory holds an entity: `inspect("auto", "server-memory", "tools/list")`."""
    folder = tmp_path_factory.mktemp("inspected")
    with Store(folder / "base") as store:
        call(store, "create_entities", {"entities": [ANN]})
    environ = {**os.environ, "PATH": f"{node_tools / '.bin'}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}

    def run(era: str, dialect: str, method: str, *words: str) -> Inspected:
        inspector = ["mcp-inspector", "--cli", "--format", "json", "--protocol-era", era, "--method", method, *words]
        server = [sys.executable, "-m", "mmem", "--base-dir", "base", "serve", "--dialect", dialect]
        ran = subprocess.run(
            [*inspector, "--", *server],
            env=environ,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Inspected(ran.returncode, json.loads(ran.stdout)["result"] if ran.stdout else None, ran.stderr)

    return run


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("dialect", "number"), [(MULTI, 11), (REFERENCE, 9)])
def test_no_schema_is_one_that_hosts_choke_on(inspect: Inspect, era: str, dialect: str, number: int) -> None:
    status, result, stderr = inspect(era, dialect, "tools/list", "--strict")
    assert (status, stderr) == (0, "")
    assert len(result["tools"]) == number


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_tool_is_called_and_its_structured_result_fits_its_schema(inspect: Inspect, era: str) -> None:
    words = ["--tool-name", "open_nodes", "--tool-args-json", '{"names": ["Ann", "Zoe"]}']
    status, result, _ = inspect(era, REFERENCE, "tools/call", *words)
    notices = ["not_found: there is no entity 'Zoe'"]
    assert (status, result["structuredContent"]) == (0, {"entities": [ANN], "relations": [], "notices": notices})
    assert [item["text"] for item in result["content"][1:]] == notices


def test_what_one_call_writes_the_next_finds(inspect: Inspect) -> None:
    entities = json.dumps({"category": "work", "entities": [ANN]})
    words = ["--tool-name", "create_entities", "--tool-args-json", entities]
    status, result, _ = inspect("modern", MULTI, "tools/call", *words)
    created = json.loads(result["content"][0]["text"])
    assert (status, created[0]["name"]) == (0, "Ann")
    words = ["--tool-name", "search_nodes", "--tool-arg", "query=sings", "category=work"]
    status, result, _ = inspect("legacy", MULTI, "tools/call", *words)
    assert (status, json.loads(result["content"][0]["text"])["entities"]) == (0, created)


@pytest.mark.parametrize(
    ("dialect", "words", "said"),
    [
        (REFERENCE, ["add_observations", "--tool-args-json", '{"observations": 7}'], "must be an array"),
        (MULTI, ["no_such_tool"], "not found"),
    ],
)
def test_a_call_that_fails_is_told_from_one_that_succeeds(
    inspect: Inspect, dialect: str, words: list[str], said: str
) -> None:
    status, result, stderr = inspect("auto", dialect, "tools/call", "--tool-name", *words)
    assert status == 5
    assert said in (result["content"][0]["text"] if result else stderr)


@pytest.mark.parametrize(
    ("era", "dialect", "uri"),
    [("legacy", REFERENCE, "memory://knowledge-graph"), ("modern", MULTI, "memory://default")],
)
def test_the_resources_that_are_listed_can_be_read(inspect: Inspect, era: str, dialect: str, uri: str) -> None:
    listed = inspect(era, dialect, "resources/list").result["resources"]
    assert uri in [one["uri"] for one in listed]
    status, result, _ = inspect(era, dialect, "resources/read", "--uri", uri)
    (content,) = result["contents"]
    assert (status, content["mimeType"]) == (0, "application/json")
    assert json.loads(content["text"])["entities"][0]["name"] == "Ann"


@pytest.mark.parametrize(
    ("dialect", "method", "key", "listed"),
    [
        (MULTI, "resources/templates/list", "resourceTemplates", ["memory://{category}"]),
        (MULTI, "prompts/list", "prompts", ["remember"]),
        (REFERENCE, "prompts/list", "prompts", []),
    ],
)
def test_templates_and_prompts_are_listed(
    inspect: Inspect, dialect: str, method: str, key: str, listed: list[str]
) -> None:
    status, result, _ = inspect("auto", dialect, method)
    assert (status, [one.get("uriTemplate", one["name"]) for one in result[key]]) == (0, listed)


def test_the_prompt_is_given_with_its_arguments(inspect: Inspect) -> None:
    words = ["--prompt-name", "remember", "--prompt-args", "about=music", "category=work"]
    status, result, _ = inspect("modern", MULTI, "prompts/get", *words)
    text = result["messages"][0]["content"]["text"]
    assert (status, "music" in text, "work" in text) == (0, True, True)

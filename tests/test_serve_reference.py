"""`mmem serve --dialect server-memory` beside the real reference server, both driven through the same calls.

What is asked stands in `node/script.json`: a step is a tool or a method, what it is given, and the names of the
differences that are to be seen in its answer. Every difference has its reason in `DIFFERENCES`: one that isn't listed
fails, and so does one that is listed and gone.
"""

import json
import os
import queue
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

Mmem = Callable[..., Any]
Facts = dict[str, Any]

GRAPH = "memory://knowledge-graph"
SCRIPT: dict[str, list[list[Any]]] = json.loads((Path(__file__).parent / "node" / "script.json").read_text("utf-8"))
SCRIPT["too much"] = [
    ["create_entities", {"entities": [{"name": "n" * 1_001, "entityType": "t", "observations": []}]}, "too long"],
    ["create_entities", {"entities": [{"name": "Ann", "entityType": "t" * 1_001, "observations": []}]}, "too long"],
    ["create_entities", {"entities": [{"name": "A", "entityType": "t", "observations": ["é" * 600_000]}]}, "too long"],
    ["create_entities", {"entities": [{"name": "n" * 1_000, "entityType": "t", "observations": ["o" * 100_000]}]}],
    ["open_nodes", {"names": ["n" * 1_000]}],
    ["search_nodes", {"query": "o" * 1_000}],
    ["search_nodes", {"query": "o" * 100_001}, "too long"],
    ["delete_entities", {"entityNames": ["n" * 1_001, "n" * 1_000]}, "too long"],
]


class Answer(NamedTuple):
    """A response, and the resources that were announced as updated before it came."""

    frame: dict[str, Any]
    announced: list[str]


class Server:
    """A running server that is spoken to in raw frames; as a context it leaves no process behind."""

    def __init__(self, folder: Path, *command: str, **environ: str) -> None:
        environment = {**os.environ, "DEFAULT_CATEGORY": "", "SERIALIZATION_FORMAT": "", "MEMORY_FILE_PATH": ""}
        with tempfile.NamedTemporaryFile(dir=folder, prefix="stderr-", delete=False) as log:
            self._log = Path(log.name)
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**environment, **environ},
                cwd=folder,
            )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        self._count = 0

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()
        self._process.stdin.close()
        self._process.stdout.close()

    def _read(self) -> None:
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def open(self) -> Self:
        """Shake hands."""
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
        self.ask("initialize", about)
        self.send({"method": "notifications/initialized"})
        return self

    def send(self, *messages: dict[str, Any]) -> None:
        """Send messages in one go."""
        lines = (json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n" for message in messages)
        self._process.stdin.write("".join(lines).encode())
        self._process.stdin.flush()

    def frame(self) -> dict[str, Any]:
        """Return the next message."""
        line = self._lines.get(timeout=60)
        assert line, f"the server has ended: {self.stderr}"
        found: dict[str, Any] = json.loads(line)
        return found

    def ask(self, method: str, params: Any) -> Answer:
        """Send a request and return its answer."""
        self._count += 1
        self.send({"id": self._count, "method": method, "params": params})
        announced = []
        while (frame := self.frame()).get("id") != self._count:
            assert frame["method"] == "notifications/resources/updated", frame
            announced.append(frame["params"]["uri"])
        return Answer(frame, announced)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return the result."""
        found: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": arguments}).frame["result"]
        return found

    def told(self, tool: str, **arguments: Any) -> Any:
        """Call a tool and return its structured result."""
        result = self.call(tool, **arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]

    def empty(self) -> None:
        """Delete whatever is stored."""
        graph = self.told("read_graph")
        self.told("delete_relations", relations=graph["relations"])
        self.told("delete_entities", entityNames=[entity["name"] for entity in graph["entities"]])

    @property
    def stderr(self) -> str:
        """What the server has said on standard error."""
        return self._log.read_text("utf-8")


def ours(folder: Path, *options: str, **environ: str) -> Server:
    """Start mmem on the base directory that the command line uses in a test's folder."""
    command = [sys.executable, "-m", "mmem", "--base-dir", str(folder / ".aim"), "serve"]
    return Server(folder, *command, "--dialect", "server-memory", *options, **environ)


def theirs(folder: Path, node_tools: Path) -> Server:
    """Start the reference server."""
    program = node_tools / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js"
    command = [str(node_tools / ".bin" / "node"), str(program)]
    return Server(folder, *command, MEMORY_FILE_PATH=str(folder / "memory.jsonl"))


@pytest.fixture(scope="module")
def both(node_tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    """The reference server and ours, each with a memory of its own."""
    folder = tmp_path_factory.mktemp("both")
    with theirs(folder, node_tools) as reference, ours(folder) as mmem:
        yield reference, mmem


class Step(NamedTuple):
    """What was asked, what both servers answered, and the names of the differences that are expected."""

    name: str
    arguments: Any
    theirs: Answer
    ours: Answer
    expected: set[str]

    @property
    def is_call(self) -> bool:
        """Whether a tool was called by its name."""
        return "/" not in self.name and self.name not in {"ping", "initialize"}


@pytest.fixture(scope="module")
def played(both: tuple[Server, Server]) -> dict[str, list[Step]]:
    """What both servers answered to the script; before each scene what is stored is deleted."""
    scenes: dict[str, list[Step]] = {}
    for scene, steps in SCRIPT.items():
        for server in both if scenes else ():
            server.empty()
        scenes[scene] = [_play(both, *step) for step in steps]
    return scenes


def _play(both: tuple[Server, Server], name: str, arguments: Any, *expected: str) -> Step:
    step = Step(name, arguments, Answer({}, []), Answer({}, []), set(expected))
    request = ("tools/call", {"name": name, "arguments": arguments}) if step.is_call else (name, arguments)
    return step._replace(theirs=both[0].ask(*request), ours=both[1].ask(*request))


def facts(answer: Answer) -> Facts:
    """Return what is compared of an answer, by name."""
    frame, known = answer.frame, {"announced": answer.announced}
    if "error" in frame:
        return {**known, "outcome": frame["error"]["code"], **_flat(frame["error"], "error")}
    result = frame["result"]
    if "content" not in result:
        return {**known, "outcome": "result", **_flat(result, "")}
    if result.get("isError"):
        return {**known, "outcome": "refusal", "refusal": result["content"][0]["text"]}
    structured = dict(result["structuredContent"])
    for notice in structured.pop("notices", []):
        structured.setdefault(f"notices.{notice.partition(':')[0]}", []).append(notice)
    return {**known, "outcome": "result", "isError": result.get("isError"), **structured}


def _flat(value: Any, path: str) -> Facts:
    """Return the leaves of nested objects by their paths; what is listed goes by its name or URI."""
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        order = [item.get("name") or item["uri"] for item in value]
        return {path: order} | _flat(dict(zip(order, value, strict=True)), path)
    if isinstance(value, dict) and value:
        return {key: leaf for name, item in value.items() for key, leaf in _flat(item, f"{path}.{name}").items()}
    return {path: value}


class Difference(NamedTuple):
    """Why the servers differ, and how: `shows` takes the name of a fact, their facts and ours."""

    reason: str
    shows: Callable[[str, Facts, Facts], bool]
    always: bool = False  # in every answer of its kind: no step needs to name it


def _said(code: str) -> Callable[[str, Facts, Facts], bool]:
    return lambda fact, theirs, ours: fact == f"notices.{code}" and fact not in theirs


def _outcomes(theirs_is: object, ours_is: object, words: str = "") -> Callable[[str, Facts, Facts], bool]:
    return lambda fact, theirs, ours: (
        (fact, theirs["outcome"], ours["outcome"]) == ("outcome", theirs_is, ours_is)
        and re.search(words, ours.get("refusal", "")) is not None
    )


def _refused(words: str) -> Callable[[str, Facts, Facts], bool]:
    return _outcomes("result", "refusal", words)


def _listed(change: Callable[[list[Any], list[Any]], bool]) -> Callable[[str, Facts, Facts], bool]:
    """Return whether a change is all that differs between two lists of results."""
    return lambda fact, theirs, ours: fact in {"entities", "relations", "results"} and change(theirs[fact], ours[fact])


def _more(theirs: list[Any], ours: list[Any]) -> bool:
    return all(item in ours for item in theirs)


def _first_of_each(items: list[Any]) -> list[Any]:
    """Return the first entity of each name, or the first of equal relations."""
    return list({item.get("name") or json.dumps(item): item for item in reversed(items)}.values())[::-1]


def _texts_once(items: list[Any]) -> list[Any]:
    """Return entities or additions without the texts that repeat earlier ones."""
    return [
        {key: list(dict.fromkeys(value)) if isinstance(value, list) else value for key, value in item.items()}
        for item in items
    ]


def _composed(items: list[Any]) -> str:
    return unicodedata.normalize("NFC", json.dumps(items, ensure_ascii=False))


DIFFERENCES = {
    # the handshake and the lists
    "serverInfo": Difference("It is mmem that answers.", lambda fact, *_: fact.startswith(".serverInfo.")),
    "listChanged": Difference(
        "Hosts ignore or half-handle it: the list of tools never changes, and is said not to.",
        lambda fact, *_: fact == ".capabilities.tools.listChanged",
    ),
    "description": Difference(
        "Descriptions are in our own words.",
        lambda fact, *_: fact.endswith(".description") and fact.startswith((".tools.", ".resources.")),
    ),
    "$schema": Difference(
        "Some hosts choke on it, and it costs tokens.",
        lambda fact, theirs, ours: fact.endswith(".$schema") and fact not in ours,
    ),
    "execution": Difference(
        "A field of the dropped experimental tasks; the reference's newest source doesn't send it either.",
        lambda fact, theirs, ours: fact.endswith(".execution.taskSupport") and fact not in ours,
    ),
    "own outputs": Difference(
        "`skipped` is the README's newest; `notices` is where a client that reads structured results alone is told.",
        lambda fact, theirs, ours: (
            re.search(r"\.outputSchema\.properties\.(notices|skipped)\.", fact) is not None and fact not in theirs
        ),
    ),
    # what is said beside a result
    "isError": Difference(
        "The SDK says it; false is its default.", lambda fact, theirs, ours: fact == "isError" and not ours[fact], True
    ),
    "skipped": Difference(
        "As the README's newest text says: names that exist, and repeats within the call.",
        lambda fact, theirs, ours: fact == "skipped" and fact not in theirs,
    ),
    "held": Difference("A text or relation that is there already is skipped by both; we say so.", _said("skipped")),
    "not found": Difference("Both pass over what isn't there; we say so.", _said("not_found")),
    "near twin": Difference("A name that differs from another only in spelling is pointed out.", _said("near_twin")),
    "matched any": Difference("Where no entity has all of the words, that is said.", _said("matched_any")),
    # what is stored
    "name once": Difference(
        "A name is an identifier: its repeat within one call is skipped. So does the reference's newest source.",
        _listed(lambda theirs, ours: ours == _first_of_each(theirs)),
    ),
    "relation once": Difference(
        "A relation is unique, within one call too. So does the reference's newest source.",
        _listed(lambda theirs, ours: ours == _first_of_each(theirs)),
    ),
    "text once": Difference(
        "An entity holds a text once; the reference stores repeats within one call.",
        _listed(lambda theirs, ours: ours == _texts_once(theirs)),
    ),
    "missing end": Difference(
        "A relation needs both ends, or nothing of the call is stored: the README's newest text.",
        lambda fact, theirs, ours: (
            _refused("^Entit(y|ies) with names? .* not found")(fact, theirs, ours)
            or (fact == "relations" and _more(ours[fact], theirs[fact]))
        ),
    ),
    "composed": Difference(
        "Names and types are stored in Unicode's normal form C, so that both spellings of é are one name.",
        _listed(lambda theirs, ours: _composed(theirs) == _composed(ours) or _more(theirs, ours)),
    ),
    # what is found
    "best first": Difference(
        "A search ranks, since models read the first results; the reference keeps the order of creation.",
        _listed(lambda theirs, ours: sorted(map(str, theirs)) == sorted(map(str, ours))),
    ),
    "words": Difference("A search finds words in any order, without accents, besides substrings.", _listed(_more)),
    "blank query": Difference("Blanks alone are no text to look for: everything is shown.", _listed(_more)),
    # what is refused, or isn't
    "wording": Difference(
        "What is wrong with arguments is said in a sentence with the path.",
        lambda fact, theirs, ours: (
            fact == "refusal" and "Input validation error" in theirs[fact] and ours[fact].startswith("$")
        ),
    ),
    "all missing": Difference(
        "An error names all entities that are missing, not the first alone.",
        lambda fact, theirs, ours: fact == "refusal" and ours[fact].startswith("Entities with names "),
    ),
    "unknown argument": Difference(
        "What would be lost is refused, not passed over in silence.", _refused("unknown argument")
    ),
    "empty": Difference("An empty name names nothing.", _refused("can't be empty")),
    "NUL": Difference("SQLite's functions end a text at a NUL.", _refused("NUL")),
    "too long": Difference("Names have 1,000 characters, queries 100,000, texts 1 MiB.", _refused("at most [0-9,]+ ")),
    "left out": Difference("A type or observations that are left out are empty.", _outcomes("refusal", "result")),
    "JSON text": Difference("Some hosts send lists as JSON text.", _outcomes("refusal", "result")),
    "null arguments": Difference("No arguments are no arguments.", _outcomes(-32603, "result")),
    "malformed": Difference("JSON-RPC's code for invalid params.", _outcomes(-32603, -32602)),
    "unknown tool": Difference(
        "MCP's protocol error; the reference's newest source answers so, too.", _outcomes("refusal", -32602)
    ),
    "unknown resource": Difference("Nobody waits for what never comes.", _outcomes("result", -32602)),
    "prefix": Difference(
        "The code isn't said twice.",
        lambda fact, theirs, ours: (
            fact == "error.message" and theirs[fact] == f"MCP error {theirs['outcome']}: {ours[fact]}"
        ),
    ),
    "data": Difference("The SDK adds what was meant.", lambda fact, theirs, ours: fact.startswith("error.data"), True),
}


def differences(step: Step) -> Iterator[tuple[str, str, str]]:
    """Yield each fact that differs, with the name of its reason and a line for a reader; unlisted ones have no name."""
    they, we = facts(step.theirs), facts(step.ours)
    if they["outcome"] != we["outcome"]:
        names = ["outcome"]
    else:
        names = [name for name in {**they, **we} if they.get(name) != we.get(name)]
    for name in names:
        listed = [key for key in step.expected if DIFFERENCES[key].shows(name, they, we)]
        listed += [key for key, one in DIFFERENCES.items() if one.always and one.shows(name, they, we)]
        shown = f"{step.name} {step.arguments}\n  {name}: {they.get(name)}\n  not  {we.get(name)} ({we.get('refusal')})"
        yield name, listed[0] if listed else "", shown[:2_000]


@pytest.mark.parametrize("scene", SCRIPT)
def test_both_servers_answer_alike_but_for_what_is_listed(played: dict[str, list[Step]], scene: str) -> None:
    for step in played[scene]:
        found = list(differences(step))
        assert [shown for _, listed, shown in found if not listed] == []
        gone = step.expected - {listed for _, listed, _ in found}
        assert not gone, f"{step.name} {step.arguments}: the servers don't differ any more in {gone}"


def test_every_listed_difference_is_seen(played: dict[str, list[Step]]) -> None:
    seen = {listed for step in chain(*played.values()) for _, listed, _ in differences(step)}
    assert set(DIFFERENCES) - seen == set()


@pytest.fixture(scope="module")
def schemas(both: tuple[Server, Server]) -> dict[str, Draft202012Validator]:
    """What our output schemas accept, by the tools' names."""
    tools = both[1].ask("tools/list", {}).frame["result"]["tools"]
    for tool in tools:
        Draft202012Validator.check_schema(tool["inputSchema"])
        Draft202012Validator.check_schema(tool["outputSchema"])
    return {tool["name"]: Draft202012Validator(tool["outputSchema"]) for tool in tools}


@pytest.mark.parametrize("scene", SCRIPT)
def test_text_and_structured_result_say_the_same_and_fit_the_schema(
    played: dict[str, list[Step]], schemas: dict[str, Draft202012Validator], scene: str
) -> None:
    for step in played[scene]:
        for answer in (step.theirs, step.ours):
            result = answer.frame.get("result", {})
            if "structuredContent" in result:
                schemas[step.name if step.is_call else step.arguments["name"]].validate(result["structuredContent"])
                require_agreement(result)


def require_agreement(result: dict[str, Any]) -> None:
    """Assert that a client that reads texts learns what one learns that reads the structured result."""
    structured = dict(result["structuredContent"])
    notices, skipped = structured.pop("notices", []), structured.pop("skipped", None)
    first, *others = [item["text"] for item in result["content"]]
    if "message" in structured:
        assert (first, structured["success"]) == (structured["message"], True)
    else:
        shown = structured if len(structured) == 2 else next(iter(structured.values()))
        assert first == json.dumps(shown, indent=2, ensure_ascii=False)  # as JSON.stringify writes it
    lines = "\n".join(others).splitlines()
    assert len(others) == bool(lines)
    assert lines[len(lines) - len(notices) :] == notices
    assert len(lines) - len(notices) == (skipped is not None)
    assert all(name in lines[0] for name in (skipped or ())[:50])


def test_of_five_hundred_calls_at_once_nothing_is_lost(
    both: tuple[Server, Server], capsys: pytest.CaptureFixture[str]
) -> None:
    kept = []
    for server in both:
        server.empty()
        names = [f"n{number}" for number in range(500)]
        entities = [[{"name": name, "entityType": "t", "observations": [f"of {name}"]}] for name in names]
        calls = [{"name": "create_entities", "arguments": {"entities": one}} for one in entities]
        server.send(
            *({"id": name, "method": "tools/call", "params": one} for name, one in zip(names, calls, strict=True))
        )
        answered = {server.frame()["id"] for _ in names}
        assert answered == set(names)
        kept.append(server.told("read_graph")["entities"])
    assert kept[1] == [one for entity in entities for one in entity]
    with capsys.disabled():
        print(f" (of 500, the reference server kept {len(kept[0])})", end="")


NAMES = ["Ann", "Ben", "x y", "名前"]
TEXTS = ["Sings", "sings", "two words", "é", ""]
_name, _texts = st.sampled_from(NAMES), st.lists(st.sampled_from(TEXTS), max_size=3, unique=True)
_kind = st.sampled_from(["t", "Über"])
_relations = st.lists(
    st.fixed_dictionaries({"from": _name, "to": _name, "relationType": _kind}),
    max_size=3,
    unique_by=lambda relation: tuple(sorted(relation.items())),
)
_entity = st.fixed_dictionaries({"name": _name, "entityType": st.sampled_from(["", "t"]), "observations": _texts})


def _calls(tool: str, argument: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, str, Any]]:
    return st.tuples(st.just(tool), st.just(argument), values)


CALLS = st.one_of(
    _calls("create_entities", "entities", st.lists(_entity, max_size=3, unique_by=lambda entity: entity["name"])),
    _calls("create_relations", "relations", _relations),
    _calls(
        "add_observations",
        "observations",
        st.lists(st.fixed_dictionaries({"entityName": _name, "contents": _texts}), max_size=2),
    ),
    _calls("delete_entities", "entityNames", st.lists(_name, max_size=1)),
    _calls("delete_relations", "relations", _relations),
    _calls(
        "delete_observations",
        "deletions",
        st.lists(st.fixed_dictionaries({"entityName": _name, "observations": _texts}), max_size=2),
    ),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=st.lists(CALLS, min_size=3, max_size=12), opened=_name, query=st.sampled_from([*NAMES, *TEXTS, "t", "wo"]))
def test_any_calls_leave_the_same_graph_on_both_servers(
    both: tuple[Server, Server], calls: list[tuple[str, str, Any]], opened: str, query: str
) -> None:
    for server in both:
        server.empty()
        for tool, argument, value in calls:
            if tool == "create_relations":  # ends that are missing are a listed difference
                known = [entity["name"] for entity in server.told("read_graph")["entities"]]
                value = [one for one in value if one["from"] in known and one["to"] in known]
            server.call(tool, **{argument: value})
    they, we = both
    assert we.told("read_graph") == they.told("read_graph")
    shown = we.told("open_nodes", names=[opened])
    assert {key: shown[key] for key in ("entities", "relations")} == they.told("open_nodes", names=[opened])
    found = we.told("search_nodes", query=query)
    for key, items in they.told("search_nodes", query=query).items():
        assert _more(items, found[key])


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start our server on the test's base directory; it ends with the test."""
    with ExitStack() as servers:
        yield lambda *options, **environ: servers.enter_context(ours(tmp_path, *options, **environ))


def entity(name: str, *texts: str, kind: str = "t") -> dict[str, Any]:
    """Return an entity as the dialect gives and takes it."""
    return {"name": name, "entityType": kind, "observations": list(texts)}


def relation(source: str, kind: str, target: str) -> dict[str, str]:
    """Return a relation as the dialect gives and takes it."""
    return {"from": source, "to": target, "relationType": kind}


def test_a_name_held_under_any_type_exists(mmem: Mmem, serve: Callable[..., Server]) -> None:
    mmem("create-entities", "Ann", "-t", "person", "-o", "Sings")
    server = serve()
    created = server.told("create_entities", entities=[entity("Ann", "Beeps", kind="robot"), entity("Ben")])
    assert created == {"entities": [entity("Ben")], "skipped": ["Ann"]}
    assert server.told("open_nodes", names=["Ann"])["entities"] == [entity("Ann", "Sings", kind="person")]


def test_observations_with_types_and_sources_are_texts(mmem: Mmem, serve: Callable[..., Server]) -> None:
    mmem("create-entities", "App", "-O", "version", "2.0", "-o", "Fast", "-p", "tier:=1")
    mmem("add-observations", "App", "Small", "--source", "changelog", "--timestamp", "2026-01-31")
    server = serve()
    app = entity("App", "Fast", "2.0", "Small", kind="")
    assert server.told("read_graph") == {"entities": [app], "relations": []}
    assert server.told("search_nodes", query="small")["entities"] == [app]
    server.told("delete_observations", deletions=[{"entityName": "App", "observations": ["2.0", "Small"]}])
    assert server.told("read_graph")["entities"] == [entity("App", "Fast", kind="")]


@pytest.fixture
def two_anns(mmem: Mmem, serve: Callable[..., Server]) -> Server:
    """A server whose memory holds a name under two types, and a relation of each."""
    mmem("create-entities", "Ann", "-t", "person", "-o", "Sings")
    mmem("create-entities", "Ann", "-t", "robot", "-o", "Sings", "-o", "Beeps")
    mmem("create-entities", "Ben")
    for kind in ("robot", "person"):
        mmem("create-relations", "Ann", "knows", "Ben", "--from-type", kind)
    return serve()


def test_a_name_of_several_types_is_read_and_deleted_as_one(two_anns: Server) -> None:
    anns = [entity("Ann", "Sings", kind="person"), entity("Ann", "Sings", "Beeps", kind="robot")]
    known = [relation("Ann", "knows", "Ben")] * 2
    assert two_anns.told("open_nodes", names=["Ann"]) == {"entities": anns, "relations": known}
    assert two_anns.told("read_graph")["entities"][:2] == anns
    two_anns.told("delete_observations", deletions=[{"entityName": "Ann", "observations": ["Sings"]}])
    assert [one["observations"] for one in two_anns.told("read_graph")["entities"]] == [[], ["Beeps"], []]
    two_anns.told("delete_relations", relations=known[:1])
    assert two_anns.told("read_graph")["relations"] == []
    assert two_anns.told("delete_entities", entityNames=["Ann"]).get("notices") is None
    assert two_anns.told("read_graph")["entities"] == [entity("Ben", kind="")]


@pytest.mark.parametrize(("untyped", "place"), [(False, 0), (True, 3)])
def test_what_is_added_to_a_name_of_several_types_goes_to_one_and_says_so(
    mmem: Mmem, two_anns: Server, untyped: bool, place: int
) -> None:
    if untyped:
        mmem("create-entities", "--json", '[{"name": "Ann", "entityType": ""}]')
    added = two_anns.told("add_observations", observations=[{"entityName": "Ann", "contents": ["Reads"]}])
    chosen = "" if untyped else "person"
    assert added["notices"] == [
        f"repaired: {3 if untyped else 2} entities are named 'Ann'; this went to the one of type '{chosen}'"
    ]
    related = two_anns.told("create_relations", relations=[relation("Ben", "likes", "Ann")])
    assert related["notices"] == added["notices"]
    entities = two_anns.told("read_graph")["entities"]
    assert [number for number, one in enumerate(entities) if "Reads" in one["observations"]] == [place]
    assert json.loads(mmem("read-graph", "-f", "json").stdout)["relations"][-1]["toType"] == chosen


def test_places_in_notices_count_the_skipped_ones(serve: Callable[..., Server]) -> None:
    server = serve()
    server.told("create_entities", entities=[entity("Ann")])
    told = server.told("create_entities", entities=[entity("Ann"), entity("Ben", "Sings", "Sings")])
    assert told["notices"][0].startswith("skipped: $.entities[1].observations[1]: 'Ben'")


WRITES = {
    "create_entities": {"entities": [entity("Ann")]},
    "create_relations": {"relations": [relation("Ann", "is", "Ann")]},
    "add_observations": {"observations": [{"entityName": "Ann", "contents": ["Sings"]}]},
    "delete_entities": {"entityNames": ["Ann"]},
    "delete_observations": {"deletions": [{"entityName": "Ann", "observations": ["Sings"]}]},
    "delete_relations": {"relations": [relation("Ann", "is", "Ann")]},
}


def test_a_server_that_only_reads_lists_and_runs_no_write(serve: Callable[..., Server], base: Path) -> None:
    server = serve("--read-only")
    listed = server.ask("tools/list", {}).frame["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["read_graph", "search_nodes", "open_nodes"]
    for tool, arguments in WRITES.items():
        result = server.call(tool, **arguments)
        assert (result["isError"], "--read-only" in result["content"][0]["text"]) == (True, True)
    assert server.told("read_graph") == {"entities": [], "relations": []}
    assert not base.exists()


LONG = [f"{number} " + 'é"\\\n' * 198 for number in range(60)]


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose results have at most 10,000 bytes, on a memory that has more to show."""
    with ours(tmp_path_factory.mktemp("narrow"), "--max-bytes", "10000") as server:
        server.call("create_entities", entities=[entity("Large", *LONG), *(entity(f"n{n}", "o") for n in range(300))])
        server.call("create_entities", entities=[entity(name) for name in LONG])
        server.call("create_relations", relations=[relation("Large", "has", f"n{n}") for n in range(300)])
        yield server


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_graph", {}),
        ("search_nodes", {"query": "n"}),
        ("search_nodes", {"query": "Large"}),
        ("open_nodes", {"names": [f"n{n}" for n in range(300)]}),
        ("open_nodes", {"names": LONG}),
        ("create_entities", {"entities": [entity(f"n{n}") for n in range(300)]}),
        ("create_entities", {"entities": [entity(name, "o") for name in LONG]}),
        ("add_observations", {"observations": [{"entityName": "Large", "contents": LONG}] * 2}),
        ("delete_relations", {"relations": [relation("n1", "has", name) for name in LONG]}),
    ],
)
def test_a_result_is_cut_to_its_limit_in_text_and_structure_alike(
    narrow: Server, tool: str, arguments: dict[str, Any]
) -> None:
    result = narrow.call(tool, **arguments)
    assert len(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode()) <= 10_000
    require_agreement(result)
    assert re.search(r"truncated: |more$", "\n".join(result["structuredContent"]["notices"]))


def test_an_error_and_a_resource_have_the_same_limit(narrow: Server) -> None:
    missing = [{"entityName": name[::-1], "contents": []} for name in LONG]
    result = narrow.call("add_observations", observations=missing)
    assert result["isError"]
    assert len(json.dumps(result, ensure_ascii=False).encode()) <= 10_000
    graph, notice = narrow.ask("resources/read", {"uri": GRAPH}).frame["result"]["contents"]
    assert len(json.dumps([graph, notice], ensure_ascii=False).encode()) <= 10_000
    assert json.loads(graph["text"])["entities"][0]["name"] == "Large"
    assert "of 361" in notice["text"]


@pytest.mark.parametrize(
    ("content", "before", "said"),
    [
        ('{"type":"entity","name":"Ann"}\n', "", r"category 'home' is empty, and .*mem\.jsonl.*\bimport\b"),
        ('{"type":"entity","name":"Ann"}\n', "Ben", "^$"),
        ("", "", "^$"),
        (None, "", r"mem\.jsonl, which isn't there; mmem keeps its memory in .*\.aim"),
    ],
    ids=["empty category", "used category", "empty file", "no file"],
)
def test_the_reference_servers_file_is_offered_and_never_read(
    mmem: Mmem, serve: Callable[..., Server], tmp_path: Path, content: str | None, before: str, said: str
) -> None:
    if before:
        mmem("create-entities", before, "-c", "home")
    file = tmp_path / "mem.jsonl"
    if content is not None:
        file.write_text(content)
    server = serve("-c", "home", MEMORY_FILE_PATH=str(file))
    assert [one["name"] for one in server.told("read_graph")["entities"]] == [before] * bool(before)
    lines = server.stderr.splitlines()
    assert len(lines) == (said != "^$")
    assert re.search(said, "".join(lines))
    assert content == (file.read_text() if file.exists() else None)


def test_what_the_dialect_writes_the_others_read(mmem: Mmem, serve: Callable[..., Server], tmp_path: Path) -> None:
    server = serve("-c", "work")
    server.told("create_entities", entities=[entity("Ann", "Sings", "Reads", kind="person"), entity("Acme")])
    server.told("create_relations", relations=[relation("Ann", "works_at", "Acme")])
    server.told("add_observations", observations=[{"entityName": "Acme", "contents": ["Sells"]}])
    assert mmem("list-categories", "-f", "json").json == ["work"]
    graph = mmem("read-graph", "-c", "work", "-f", "json").json
    assert [(one["name"], one["entityType"]) for one in graph["entities"]] == [("Ann", "person"), ("Acme", "t")]
    assert [one["text"] for one in graph["entities"][0]["observations"]] == ["Sings", "Reads"]
    assert [(one["fromType"], one["from"], one["to"]) for one in graph["relations"]] == [("person", "Ann", "Acme")]
    command = [sys.executable, "-m", "mmem", "--base-dir", str(tmp_path / ".aim"), "serve", "--pin", "work"]
    with Server(tmp_path, *command) as other:
        assert json.loads(other.call("read_graph")["content"][0]["text"]) == graph
        other.call("create_entities", entities=[{"name": "Ben", "observations": [{"text": "Cooks", "source": "web"}]}])
    assert server.told("search_nodes", query="cooks")["entities"] == [entity("Ben", "Cooks", kind="")]


def test_a_subscriber_is_told_what_another_process_wrote(mmem: Mmem, serve: Callable[..., Server]) -> None:
    server = serve()
    server.ask("resources/subscribe", {"uri": GRAPH})
    mmem("create-entities", "Ann")
    assert server.frame()["params"] == {"uri": GRAPH}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_nodes", {"query": "Sings"}),
        ("delete_entities", {"entityNames": ["Ann"]}),
        ("delete_observations", {"deletions": [{"entityName": "Ann", "observations": ["Sings"]}]}),
    ],
)
def test_a_damaged_index_is_healed(serve: Callable[..., Server], base: Path, tool: str, arguments: Any) -> None:
    server = serve()
    server.told("create_entities", entities=[entity("Ann", "Sings"), entity("Ben", "Sings")])
    with closing(sqlite3.connect(base / "default.db")) as conn, conn:
        if tool == "search_nodes":
            conn.execute("DELETE FROM fts_content_docsize")
        else:
            conn.execute("INSERT INTO fts_content(fts_content) VALUES ('delete-all')")
    assert [notice.partition(":")[0] for notice in server.told(tool, **arguments)["notices"]] == ["index_healed"]
    assert "notices" not in server.told("search_nodes", query="Sings")

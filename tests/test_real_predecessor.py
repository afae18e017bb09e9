"""The same files used by mmem and by the real multi-memory-mcp, in turn and at once.

These tests need Node and a built checkout of that program, which the variable MULTI_MEMORY_MCP names.
"""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mmem.errors import NotFound
from mmem.registry import call
from mmem.store import Store

_CHECKOUT = os.environ.get("MULTI_MEMORY_MCP", "")
_BUILT = Path(_CHECKOUT).absolute() / "dist"

pytestmark = pytest.mark.skipif(
    not (_CHECKOUT and _BUILT.is_dir() and shutil.which("node")),
    reason="MULTI_MEMORY_MCP doesn't name a built checkout of multi-memory-mcp, or there is no node",
)

Ask = Callable[..., Any]

# Reads `[method, ...arguments]` a line and answers `{"ok": ...}` or `{"err": ...}` a line.
# `open FILE` comes first; `names [QUERY, ...]` and `write NAME NUMBER` are many calls in one.
_DRIVER = """
const {pathToFileURL} = require('url'), {createInterface} = require('readline');
const say = answer => process.stdout.write(JSON.stringify(answer) + '\\n');
const entity = name => ({name, entityType: 't', observations: [{text: 'one of ' + name, source: 'a'}]});
let storage;
const methods = {
  open: (module, file) => { storage?.close(); storage = new module.SQLiteStorage(file); },
  names: async (module, queries) => {
    const found = {};
    for (const query of queries)
      found[query] = (await storage.searchNodes(query, 100000)).entities.map(e => e.name + '/' + e.entityType).sort();
    return found;
  },
  write: async (module, name, number) => {
    for (let i = 0; i < number; i++) await storage.createEntities([entity(name + '-' + i)]);
  },
};
import(pathToFileURL(process.argv[1]).href).then(async module => {
  for await (const line of createInterface({input: process.stdin})) {
    const [method, ...given] = JSON.parse(line);
    try {
      const result = await (methods[method] ? methods[method](module, ...given) : storage[method](...given));
      say({ok: result ?? null});
    } catch (error) { say({err: error.message}); }
  }
  storage?.close();
});
"""


class Predecessor:
    """A running process of the other program: its storage class, or its server."""

    def __init__(self, command: list[str], **environ: str) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **environ}
        )

    def send(self, message: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def receive(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


class Storage(Predecessor):
    """The class that reads and writes one file."""

    def __init__(self, path: Path) -> None:
        super().__init__(["node", "-e", _DRIVER, str(_BUILT / "storage" / "SQLiteStorage.js")])
        self("open", str(path))

    def answer(self) -> Any:
        answer = self.receive()
        assert "err" not in answer, answer["err"]
        return answer["ok"]

    def __call__(self, method: str, *given: object) -> Any:
        self.send([method, *given])
        return self.answer()


class Server(Predecessor):
    """The server on stdio, over a base directory."""

    def __init__(self, base: Path) -> None:
        super().__init__(["node", str(_BUILT / "index.js")], MEMORY_BASE_DIR=str(base), SERIALIZATION_FORMAT="json")
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
        self._ask("initialize", client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _ask(self, method: str, params: object) -> Any:
        self.send({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
        while (message := self.receive()).get("id") != method:
            pass
        return message["result"]

    def __call__(self, tool: str, **given: object) -> Any:
        result = self._ask("tools/call", {"name": tool, "arguments": given})
        text = result["content"][0]["text"]
        assert not result.get("isError"), text
        try:
            return json.loads(text)
        except ValueError:
            return text


@pytest.fixture
def running() -> Iterator[ExitStack]:
    """What closes the processes at the end."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def attach(running: ExitStack) -> Callable[[Path], Storage]:
    """Start a process of the other program on a file."""

    def begin(path: Path) -> Storage:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        storage = Storage(path)
        running.callback(storage.close)
        return storage

    return begin


_WORDS = """
lantern harbour quilt meadow copper violin thistle gravel orchid saffron walnut kettle marble pigeon canyon velvet
tundra cinnamon basalt ferry mosaic juniper raven cobalt willow granite amber falcon prairie anchor compass ledger
cafés naïve running organizers configuration meeting müller straße 東京 проект user-service v2.0.1
""".split()


def world() -> tuple[list[Any], list[Any]]:
    """Return 200 entities and as many relations, always the same."""
    chance = random.Random(5)
    entities = []
    for number in range(200):
        observations = [
            {
                "text": " ".join(chance.choices(_WORDS, k=6)),
                "observationType": chance.choice(["fact", "note"]),
                "source": f"s{index}",
                **({"properties": {"tag": chance.choice(_WORDS)}} if chance.random() < 0.3 else {}),
            }
            for index in range(chance.randrange(5))
        ]
        entity = {
            "name": f"{chance.choice(_WORDS)}-{number}",
            "entityType": chance.choice(["service", "person", ""]),
            "observations": observations,
            **({"properties": {"path": f"/srv/{chance.choice(_WORDS)}"}} if chance.random() < 0.4 else {}),
        }
        entities.append(entity)
    pairs = [chance.sample(entities, 2) for _ in entities]
    relations = [{"from": _end(a), "to": _end(b), "relationType": chance.choice(["uses", "near"])} for a, b in pairs]
    return entities, relations


def _end(entity: Any) -> dict[str, str]:
    return {"name": entity["name"], "type": entity["entityType"]}


def queries() -> list[str]:
    """Return some 150 queries: words, beginnings, pairs, names, types, properties, operators."""
    chance = random.Random(8)
    plain = [word for word in _WORDS if word.isalnum()]
    pairs = [" ".join(chance.sample(plain, 2)) for _ in range(50)]
    rest = ["person", "tag", "srv", "service cop", '"copper violin"', "copper NOT violin", "lan*", "user-service", "zz"]
    given = [*plain, *(word[:3] for word in plain), *pairs, *(e["name"] for e in world()[0][::20]), *rest]
    return list(dict.fromkeys(given))


def found(base: Path, asked: Iterable[str], category: str) -> dict[str, list[str]]:
    """Return what mmem finds, best first, named as the driver's `names` does."""
    with Store(base) as store:
        results = {
            query: call(store, "search_nodes", {"query": query, "limit": 100_000, "category": category}).result
            for query in asked
        }
    return {query: [f"{e.name}/{e.entity_type}" for e in graph.entities] for query, graph in results.items()}


def first(ranked: dict[str, list[str]], expected: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return of each answer as many as are expected: what has only some of the words comes after them."""
    return {query: sorted(names[: len(expected[query])]) for query, names in ranked.items()}


def require_sound(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("INSERT INTO fts_content(fts_content, rank) VALUES ('integrity-check', 1)")
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert conn.execute("PRAGMA foreign_key_check").fetchall() == []
        rows = "SELECT (SELECT count(*) FROM entities) + (SELECT count(*) FROM observations)"
        assert conn.execute("SELECT count(*) FROM fts_content_docsize").fetchone() == conn.execute(rows).fetchone()


def vocabulary(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, fts_content, 'row')")
        return {row[0] for row in conn.execute("SELECT term FROM temp.words")}


def codes(outcome: Any) -> list[str]:
    return [notice.code for notice in outcome.notices]


def downgrade(path: Path, version: int) -> None:
    """Make a file of version 3 one of an older version."""
    scripts = Path(__file__).with_name("predecessor")
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        for script in range(2, version - 1, -1):
            conn.executescript((scripts / f"version-{script}.sql").read_text())


def exercise(storage: Storage) -> dict[str, int]:
    """Let the other program write of every kind; return how many entities each word then has."""
    guests = [
        {
            "name": f"guest-{number}",
            "entityType": "ops",
            "observations": [
                {"text": f"zebra{number} swims", "source": "p"},
                {"text": f"quokka{number} sleeps", "observationType": "fact"},
            ],
            "properties": {"mark": f"blue{number}"},
        }
        for number in range(10)
    ]
    named = [{"entityName": guest["name"], "entityType": "ops"} for guest in guests]
    storage("createEntities", guests)
    storage("createEntities", [{**guests[2], "observations": [{"text": "walrus"}]}], True)
    storage("addObservations", [{**named[1], "contents": [{"text": "narwhal", "source": "late"}]}])
    storage("addObservations", [{**named[3], "contents": [{"text": "pelican", "source": "p"}]}], True)
    storage("createRelations", [{"from": _end(guests[1]), "to": _end(guests[2]), "relationType": "knows"}])
    storage("deleteEntities", [{"name": "guest-5", "entityType": "ops"}])
    storage("deleteObservations", [{**named[6], "source": "p"}])
    once = dict.fromkeys(["walrus", "narwhal", "pelican", "quokka1", "blue9", "zebra1"], 1)
    return {**once, **dict.fromkeys(["zebra3", "zebra5", "zebra6", "quokka5", "quokka2", "blue5"], 0)}


def test_it_searches_our_file_as_its_own_and_we_search_its_file_as_ours(base: Path, ask: Ask, attach: Any) -> None:
    entities, relations = world()
    theirs, ours = attach(base / "theirs.db"), base / "ours.db"
    theirs("createEntities", entities)
    theirs("createRelations", relations)
    ask("create_entities", category="ours", entities=entities)
    ask("create_relations", category="ours", relations=relations)
    expected = theirs("names", queries())
    assert len(expected) > 140
    assert attach(ours)("names", queries()) == expected
    assert first(found(base, queries(), "ours"), expected) == expected
    assert first(found(base, queries(), "theirs"), expected) == expected
    one_word = [query for query in expected if query.isalnum()]
    assert {query: len(names) for query, names in found(base, one_word, "ours").items()} == {
        query: len(expected[query]) for query in one_word
    }
    require_sound(ours)


@pytest.mark.parametrize("kind", ["ours", "version 3", "version 2", "version 1"])
def test_it_writes_to_our_file_and_to_a_converted_one(base: Path, ask: Ask, attach: Any, kind: str) -> None:
    path = base / "default.db"
    if kind != "ours":
        maker = attach(path)
        maker("createEntities", world()[0][:30])
        maker.close()
        downgrade(path, int(kind[-1]))
    outcome = ask("create_entities", entities=[{"name": "first"}])
    assert codes(outcome) == ([] if kind == "ours" else ["repaired"])
    storage = attach(path)
    expected = exercise(storage)
    for results in (storage("names", list(expected)), found(base, expected, "default")):
        assert {query: len(names) for query, names in results.items()} == expected
    assert not vocabulary(path) & {"zebra3", "zebra5", "zebra6", "quokka5", "quokka2", "blue5"}
    require_sound(path)


def test_it_goes_on_while_we_convert_its_file(base: Path, ask: Ask, attach: Any) -> None:
    storage = attach(base / "default.db")
    storage("createEntities", world()[0])
    storage("deleteEntities", [_reference(entity) for entity in world()[0][:20]])
    before = storage("names", queries())
    assert codes(ask("create_entities", entities=[{"name": "zzyzx", "observations": ["ocelot"]}])) == ["repaired"]
    after = storage("names", queries())
    assert {query: [name for name in names if name != "zzyzx/"] for query, names in after.items()} == before
    expected = {**exercise(storage), "ocelot": 1}
    assert {query: len(names) for query, names in storage("names", list(expected)).items()} == expected
    assert {query: len(names) for query, names in found(base, expected, "default").items()} == expected
    require_sound(base / "default.db")


def _reference(entity: Any) -> dict[str, str]:
    return {"name": entity["name"], "entityType": entity["entityType"]}


def test_it_upgrades_its_file_while_we_have_it_open(base: Path, ask: Ask, attach: Any) -> None:
    path = base / "default.db"
    maker = attach(path)
    maker("createEntities", [{"name": "A", "entityType": "", "observations": [{"text": "amber"}]}])
    maker.close()
    downgrade(path, 2)
    assert ask("search_nodes", query="amber").result.entities[0].properties is None
    storage = attach(path)
    storage(
        "createEntities", [{"name": "A", "entityType": "", "observations": [], "properties": {"x": "manatee"}}], True
    )
    outcome = ask("search_nodes", query="manatee")
    assert (outcome.result.entities[0].properties, codes(outcome)) == ({"x": "manatee"}, [])
    assert codes(ask("create_entities", entities=[{"name": "B"}])) == ["repaired"]
    assert storage("names", ["manatee", "b"]) == {"manatee": ["A/"], "b": ["B/"]}


def test_reading_changes_nothing_in_its_file(base: Path, attach: Any) -> None:
    path = base / "default.db"
    maker = attach(path)
    maker("createEntities", world()[0])
    maker.close()
    before = path.read_bytes()
    found(base, queries()[:20], "default")
    with Store(base) as store:
        call(store, "read_graph")
    assert path.read_bytes() == before
    assert list(base.iterdir()) == [path]


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_four_of_each_write_at_once_and_nothing_is_lost(base: Path, ask: Ask, attach: Any, first: str) -> None:
    path = base / "default.db"
    if first == "ours":
        ask("create_entities", entities=[{"name": "seed"}])
    storages = [attach(path) for _ in range(4)]
    code = """
import sys
from mmem.registry import call
from mmem.store import Store
with Store(sys.argv[1]) as store:
    for number in range(100):
        name = f"{sys.argv[2]}-{number}"
        call(store, "create_entities", {"entities": [{"name": name, "observations": [f"one of {name}"]}]})
"""
    for number, storage in enumerate(storages):
        storage.send(["write", f"theirs{number}", 100])
    writers = [subprocess.Popen([sys.executable, "-c", code, str(base), f"ours{number}"]) for number in range(4)]
    assert [writer.wait(60) for writer in writers] == [0] * 4
    assert [storage.answer() for storage in storages] == [None] * 4
    names = {entity.name for entity in ask("read_graph").result.entities} - {"seed"}
    assert names == {f"{who}{n}-{number}" for who in ("ours", "theirs") for n in range(4) for number in range(100)}
    assert len(found(base, ["one"], "default")["one"]) == 800
    require_sound(path)


def test_its_server_works_on_our_files(base: Path, ask: Ask, running: ExitStack) -> None:
    entities, relations = world()
    ask("create_entities", category="work", entities=entities)
    ask("create_relations", category="work", relations=relations)
    server = Server(base)
    running.callback(server.close)
    assert server("list_categories") == ["work"]
    for tool, given in {"read_graph": {}, "open_nodes": {"entities": [{"id": "3"}, {"id": "5"}]}}.items():
        assert server(tool, category="work", **given) == msgspec.to_builtins(ask(tool, category="work", **given).result)
    guest = {"name": "guest", "entityType": "t", "observations": [{"text": "pangolin", "source": "srv"}]}
    server("create_entities", category="work", entities=[guest])
    assert found(base, ["pangolin"], "work") == {"pangolin": ["guest/t"]}
    ask("add_observations", category="work", observations=[{"entityName": "guest", "contents": ["echidna"]}])
    assert [entity["name"] for entity in server("search_nodes", category="work", query="echidna")["entities"]] == [
        "guest"
    ]
    server("delete_entities", category="work", entities=[{"name": "guest", "entityType": "t"}])
    assert found(base, ["pangolin", "echidna"], "work") == {"pangolin": [], "echidna": []}
    assert not vocabulary(base / "work.db") & {"pangolin", "echidna"}
    require_sound(base / "work.db")


def test_a_category_that_its_server_deletes_is_gone_for_us(base: Path, ask: Ask, running: ExitStack) -> None:
    ask("create_entities", entities=[{"name": "old"}])
    server = Server(base)
    running.callback(server.close)
    server("delete_category", category="default")
    assert codes(ask("read_graph")) == ["no_such_category"]
    with pytest.raises(NotFound):
        ask("add_observations", observations=[{"entityName": "old", "contents": ["x"]}])
    ask("create_entities", entities=[{"name": "new"}])
    assert [entity["name"] for entity in server("read_graph", category="default")["entities"]] == ["new"]


def test_a_category_that_we_delete_under_its_server_can_be_made_anew(base: Path, ask: Ask, running: ExitStack) -> None:
    server = Server(base)
    running.callback(server.close)
    server("create_entities", category="default", entities=[{"name": "old", "entityType": "", "observations": []}])
    ask("delete_category", category="default")
    ask("create_entities", entities=[{"name": "new"}])
    server("create_entities", category="default", entities=[{"name": "ghost", "entityType": "", "observations": []}])
    server.close()  # it wrote to the file that is gone, as it does where another of its own kind deletes
    with Store(base) as store:
        assert [entity.name for entity in call(store, "read_graph").result.entities] == ["new"]
    require_sound(base / "default.db")


def test_both_may_create_the_same_category_at_once(base: Path, attach: Any) -> None:
    storage = attach(base / "warm-up.db")
    theirs = [{"name": "theirs", "entityType": "", "observations": []}]
    chance = random.Random(1)
    for number in range(60):
        path = base / f"c{number}.db"
        storage.send(["open", str(path)])
        storage.send(["createEntities", theirs])
        time.sleep(chance.random() * 0.004)
        with Store(base) as store:
            call(store, "create_entities", {"category": path.stem, "entities": [{"name": "ours"}]})
        if any("err" in answer for answer in [storage.receive(), storage.receive()]):
            storage("open", str(path))  # it may fail in this race, once; what it says that it stored must be there
            storage("createEntities", theirs)
        expected = {"ours": ["ours/"], "theirs": ["theirs/"]}
        assert found(base, expected, path.stem) == storage("names", list(expected)) == expected

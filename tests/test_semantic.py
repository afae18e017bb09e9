"""The extra `semantic`: what is near in meaning is found, vectors follow the texts, and without it nothing changes."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmem import neighbours, semantic
from mmem.errors import Conflict
from mmem.fusion import fused
from mmem.registry import call
from mmem.schema import install
from mmem.store import Store
from mmem.vectors import write

Ask = Callable[..., Any]

needs_the_extra = pytest.mark.skipif(find_spec("wordllama") is None, reason="the extra mmem[semantic] isn't installed")

_WORLD = [
    {"name": "Ines", "entityType": "person", "observations": ["Allergic to penicillin", "Drinks tea at noon"]},
    {"name": "Garage", "observations": [{"text": "Winter tyres are stacked behind the bikes", "source": "walk"}]},
    {"name": "Atlas", "entityType": "project", "observations": ["Ships to its first customers in March"]},
]
_HEAVY = {"numpy", "tokenizers", "wordllama"}


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the extra be used."""
    monkeypatch.delenv(semantic.SWITCH)
    neighbours.forget()


@pytest.fixture
def world(on: None, ask: Ask) -> None:
    """A small world whose observations have vectors."""
    ask("create_entities", entities=_WORLD)


def names(outcome: Any) -> list[str]:
    return [entity.name for entity in outcome.result.entities]


def codes(outcome: Any) -> list[str]:
    return [notice.code for notice in outcome.notices]


@contextmanager
def guest(path: Path | str, *, foreign_keys: bool = True, recursive: bool = False) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute(f"PRAGMA foreign_keys = {foreign_keys:d}")
        conn.execute(f"PRAGMA recursive_triggers = {recursive:d}")
        yield conn


def tables(path: Path) -> set[str]:
    with guest(path) as conn:
        return {name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE name LIKE 'mmem_%'")}


def vectors(conn: sqlite3.Connection) -> dict[int, bytes]:
    return dict(conn.execute("SELECT observation_id, vector FROM mmem_vectors"))


def waiting(conn: sqlite3.Connection) -> set[int]:
    return {id for (id,) in conn.execute("SELECT observation_id FROM mmem_unembedded")}


def require_fresh(conn: sqlite3.Connection) -> None:
    """Check that each vector is that of its text, and that every observation has one or waits for it."""
    model = semantic.model()
    assert model is not None
    rows = "SELECT o.id, e.name || ': ' || o.content FROM observations o JOIN entities e ON e.id = o.entity_id"
    texts = dict(conn.execute(rows))
    kept = vectors(conn)
    assert {id: vector for id, vector in kept.items() if id in texts} == {
        id: model.embed([text])[0] for id, text in texts.items() if id in kept
    }
    assert texts.keys() <= kept.keys() | waiting(conn)


# Without the extra.


@pytest.mark.parametrize("switch", ["off", "Off ", "0", "no", "FALSE"])
def test_switched_off_it_imports_nothing_and_makes_no_table(ask: Ask, base: Path, switch: str) -> None:
    ask("create_entities", entities=[{"name": "Z"}])  # to create a category takes sqlite-utils, which tries numpy
    assert not loaded_by(switch, ["create-entities", "A", "-o", "amber light"]) & _HEAVY
    assert not loaded_by(switch, ["search-nodes", "amber", "lamp"]) & _HEAVY
    assert tables(base / "default.db") == {"mmem_names"}


@pytest.mark.skipif(find_spec("wordllama") is not None, reason="the extra is installed")
def test_where_it_is_not_installed_it_imports_nothing_and_makes_no_table(ask: Ask, base: Path) -> None:
    ask("create_entities", entities=[{"name": "Z"}])
    assert not loaded_by("", ["create-entities", "A", "-o", "amber light"]) & _HEAVY
    assert not loaded_by("", ["search-nodes", "amber", "lamp"]) & _HEAVY
    assert tables(base / "default.db") == {"mmem_names"}


def loaded_by(switch: str, words: list[str], code: str = "") -> set[str]:
    """Return the modules that a run of the command line has loaded at its end, with a line of code run before."""
    code = (
        f"{code}import sys, atexit; sys.argv = ['mmem', *sys.argv[1:]];"
        "atexit.register(lambda: print('\\nloaded', *sys.modules, file=sys.stderr));"
        "from mmem.__main__ import main; main()"
    )
    environ = {**os.environ, semantic.SWITCH: switch, "HTTPS_PROXY": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True, env=environ, timeout=60
    )
    return {name.split(".")[0] for name in ran.stderr.rpartition("\nloaded ")[2].split()}


def test_two_rankings_are_made_one_by_their_places() -> None:
    assert fused("abc", "cxa") == ["a", "c", "b", "x"]
    assert fused("ab", "") == ["a", "b"]
    assert fused("", "") == []


# With it: what is found.


@needs_the_extra
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Where are our snow tires?", "Garage"),
        ("WHERE ARE OUR SNOW TIRES?", "Garage"),
        ("shipping date", "Atlas"),
        ("what must Ines not be given: antibiotics?", "Ines"),
    ],
)
def test_a_text_without_a_word_of_the_query_is_found(world: None, ask: Ask, query: str, expected: str) -> None:
    outcome = ask("search_nodes", query=query)
    assert (names(outcome)[0], codes(outcome)) == (expected, ["matched_any"])


@needs_the_extra
@pytest.mark.parametrize("query", ["Ines", "tyres", "penicill", "Ines Allergic"])
def test_who_looks_for_a_word_that_is_there_gets_no_neighbours(world: None, ask: Ask, query: str) -> None:
    ask("create_entities", entities=[{"name": "Medicine", "observations": ["Antibiotics are in the drawer"]}])
    assert len(names(ask("search_nodes", query=query, limit=1))) == 1
    if " " not in query:
        assert len(names(ask("search_nodes", query=query))) == 1


@needs_the_extra
@pytest.mark.parametrize("query", ["xyzzy", "qqqq zzzz vvvv", "%", "…", "東"])
def test_what_is_like_nothing_finds_nothing(world: None, ask: Ask, query: str) -> None:
    outcome = ask("search_nodes", query=query)
    assert (names(outcome), codes(outcome)) == ([], [])


@needs_the_extra
def test_what_has_all_of_the_words_stays_before_what_is_near(world: None, ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "Note", "observations": ["snow and a very long walk; later, new tires"]}])
    assert names(ask("search_nodes", query="snow tires")) == ["Note", "Garage"]


@needs_the_extra
def test_syntax_finds_what_it_says_and_no_more(world: None, ask: Ask) -> None:
    assert names(ask("search_nodes", query="snow AND tires")) == []
    assert names(ask("search_nodes", query='"snow tires"')) == []


@needs_the_extra
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["Garage"]),
        ({"source": "walk"}, ["Garage"]),
        ({"entityType": ""}, ["Garage"]),
        ({"source": "run"}, []),
        ({"entityType": "person"}, []),
        ({"until": "2001-01-01"}, []),
        ({"relationType": "owns"}, []),
    ],
)
def test_filters_hold_for_what_is_near(world: None, ask: Ask, filters: dict[str, str], expected: list[str]) -> None:
    assert names(ask("search_nodes", query="snow tires", **filters)) == expected


@needs_the_extra
def test_a_filter_that_lets_few_through_finds_them_behind_many_nearer_ones(on: None, ask: Ask) -> None:
    near = [{"name": f"N{i}", "observations": [f"winter tyres, pair {i}"]} for i in range(300)]
    ask(
        "create_entities",
        entities=[*near, {"name": "Shed", "entityType": "place", "observations": ["tyres for the winter"]}],
    )
    assert names(ask("search_nodes", query="snow tires", entityType="place")) == ["Shed"]


@needs_the_extra
def test_of_a_large_entity_the_observation_that_is_near_comes_first(on: None, ask: Ask) -> None:
    texts = [f"Walked {number} miles along the river" for number in range(30)]
    texts[11] = "The winter tyres are in the shed"
    ask("create_entities", entities=[{"name": "Diary", "observations": texts}])
    (entity,) = ask("search_nodes", query="snow tires").result.entities
    assert entity.observations[0].text == texts[11]
    assert len(entity.observations) < 30


@needs_the_extra
def test_all_categories_are_searched(world: None, ask: Ask) -> None:
    ask("create_entities", category="shed", entities=[{"name": "Box", "observations": ["Tyres for the winter"]}])
    found = ask("search_nodes", query="snow tires", allCategories=True).result.entities
    assert [(one.category, one.name) for one in found] == [("default", "Garage"), ("shed", "Box")]


@needs_the_extra
def test_texts_without_spaces_are_near_to_each_other(on: None, ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "A", "observations": ["京都では小さな旅館に泊まった"]}, {"name": "B"}])
    assert names(ask("search_nodes", query="京都でどこに泊まりましたか")) == ["A"]


@needs_the_extra
def test_the_same_query_finds_the_same_in_the_same_order(on: None, ask: Ask) -> None:
    types = [f"t{number}" for number in range(2_200)]
    ask(
        "create_entities",
        entities=[{"name": "N", "entityType": one, "observations": ["winter tyres"]} for one in types],
    )
    first = [one.entity_type for one in ask("search_nodes", query="snow tires", limit=250).result.entities]
    ask("delete_entities", entities=[{"name": "N", "entityType": "t3"}])
    neighbours.forget()  # as in another process
    again = [one.entity_type for one in ask("search_nodes", query="snow tires", limit=250).result.entities]
    assert first == types[: neighbours.NEAREST]
    assert again == [one for one in types if one != "t3"][: neighbours.NEAREST]


# What it takes.


@needs_the_extra
@pytest.mark.parametrize("words", [["create-entities", "B"], ["search-nodes", "amber"], ["read-graph"]])
def test_what_needs_no_model_loads_none(on: None, ask: Ask, words: list[str]) -> None:
    ask("create_entities", entities=[{"name": "A", "observations": ["amber"]}])
    assert not loaded_by("", words) & _HEAVY


@needs_the_extra
def test_a_file_without_vectors_is_searched_without_a_model(ask: Ask) -> None:
    ask("create_entities", entities=_WORLD)
    assert not loaded_by("", ["search-nodes", "snow", "tires"]) & _HEAVY


@needs_the_extra
def test_nothing_is_fetched_and_nothing_that_could_fetch_is_imported(base: Path) -> None:
    """Run with sockets that can't be made."""
    no_network = "import socket; socket.socket = socket.create_connection = socket.getaddrinfo = None;"
    for words in (["create-entities", "A", "-o", "winter tyres"], ["search-nodes", "snow", "tires"]):
        loaded = loaded_by("", words, no_network)
        assert {"numpy", "tokenizers"} <= loaded
        assert not loaded & {"wordllama", "requests", "huggingface_hub", "urllib3", "http", "ssl"}
    assert {"mmem_vectors", "mmem_unembedded", "mmem_models"} <= tables(base / "default.db")


# Vectors follow the texts.


@needs_the_extra
def test_vectors_are_written_with_the_observations(world: None, ask: Ask, base: Path) -> None:
    with guest(base / "default.db") as conn:
        assert set(vectors(conn)) == {1, 2, 3, 4}
        assert {len(one) for one in vectors(conn).values()} == {256}
        ask("add_observations", observations=[{"entityName": "Garage", "contents": ["A ladder"]}])
        ask("add_observations", override=True, observations=[{"entityName": "Atlas", "contents": ["Ships in May"]}])
        assert set(vectors(conn)) == {1, 2, 3, 4, 5}
        require_fresh(conn)
        ask("delete_entities", entities=[{"name": "Ines", "entityType": "person"}])
        assert (set(vectors(conn)), waiting(conn)) == ({3, 4, 5}, set())


@needs_the_extra
def test_a_request_that_fails_leaves_no_vector(world: None, store: Store, base: Path) -> None:
    with suppress(Conflict), store.writing(None) as transaction:
        call(
            store,
            "add_observations",
            {"observations": [{"entityName": "Garage", "contents": ["Toys of the children"]}]},
        )
        assert names(call(store, "search_nodes", {"query": "kids"})) == ["Garage"]
        raise Conflict("no")
    assert transaction.first_vector == 5
    call(store, "add_observations", {"observations": [{"entityName": "Garage", "contents": ["Birthday presents"]}]})
    assert names(call(store, "search_nodes", {"query": "kids"})) == []
    assert names(call(store, "search_nodes", {"query": "gift"})) == ["Garage"]
    with guest(base / "default.db") as conn:
        require_fresh(conn)


@needs_the_extra
def test_what_others_write_gets_its_vectors_with_our_next_write(world: None, ask: Ask, base: Path) -> None:
    with guest(base / "default.db") as conn:
        conn.execute("INSERT INTO observations(entity_id, content, source) VALUES (1, 'A red canoe', 'guest')")
        conn.execute("UPDATE observations SET content = 'Birthday presents' WHERE id = 4")
        conn.execute("UPDATE entities SET name = 'Shed' WHERE id = 2")
        assert (set(vectors(conn)), waiting(conn)) == ({1, 2}, {3, 4, 5})
        assert names(ask("search_nodes", query="shipping date")) == []
        ask("add_observations", observations=[{"entityId": 3, "contents": ["Blue"]}])
        assert (set(vectors(conn)), waiting(conn)) == ({1, 2, 3, 4, 5, 6}, set())
        require_fresh(conn)
    assert names(ask("search_nodes", query="gift"))[0] == "Atlas"


@needs_the_extra
def test_a_memory_without_the_extra_that_writes_to_the_file_leaves_nothing_stale(
    world: None, ask: Ask, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(semantic.SWITCH, "off")
    changed = {"entityName": "Atlas", "entityType": "project", "contents": ["Jam jars"]}
    assert codes(ask("add_observations", override=True, observations=[changed])) == ["replaced"]
    assert names(ask("search_nodes", query="shipping date")) == []
    with guest(base / "default.db") as conn:
        assert (set(vectors(conn)), waiting(conn)) == ({1, 2, 3}, {4})
    monkeypatch.delenv(semantic.SWITCH)
    assert codes(ask("create_entities", entities=[{"name": "Z", "observations": ["z"]}])) == []
    with guest(base / "default.db") as conn:
        require_fresh(conn)


@needs_the_extra
@pytest.mark.parametrize("old", [3, neighbours.NEAREST])
def test_a_small_memory_from_before_the_extra_gets_its_vectors_with_the_first_write(
    ask: Ask, base: Path, monkeypatch: pytest.MonkeyPatch, old: int
) -> None:
    ask("create_entities", entities=[{"name": f"N{i}", "observations": ["winter tyres"]} for i in range(old)])
    monkeypatch.delenv(semantic.SWITCH)
    assert names(ask("search_nodes", query="snow tires")) == []
    assert tables(base / "default.db") == {"mmem_names"}
    ask("create_entities", entities=[{"name": "Z"}])
    assert tables(base / "default.db") == {"mmem_names"}
    ask("create_entities", entities=[{"name": "Y", "observations": ["y"]}])
    assert len(names(ask("search_nodes", query="snow tires", limit=1000))) == min(old, neighbours.NEAREST)


@needs_the_extra
def test_vectors_of_another_model_are_passed_over(world: None, ask: Ask, base: Path) -> None:
    with guest(base / "default.db") as conn:
        conn.execute("UPDATE mmem_models SET name = 'another'")
    assert names(ask("search_nodes", query="snow tires")) == []
    ask("add_observations", observations=[{"entityName": "Garage", "contents": ["Tyres for the winter"]}])
    assert names(ask("search_nodes", query="snow tires")) == ["Garage"]
    with guest(base / "default.db") as conn:
        assert conn.execute("SELECT model, count(*) FROM mmem_vectors GROUP BY 1").fetchall() == [(1, 4), (2, 1)]


@needs_the_extra
@pytest.mark.parametrize(
    "damage",
    [
        "DROP TRIGGER mmem_vector_update",
        "UPDATE mmem_vectors SET vector = x'00'",
        "UPDATE mmem_vectors SET vector = 'text'",
        "DELETE FROM mmem_models",
    ],
)
def test_vectors_that_others_damaged_keep_nobody_from_searching_or_writing(
    world: None, ask: Ask, base: Path, damage: str
) -> None:
    with guest(base / "default.db") as conn:
        conn.execute(damage)
    assert names(ask("search_nodes", query="snow tires")) == []
    ask("add_observations", observations=[{"entityName": "Garage", "contents": ["Tyres for the winter"]}])
    assert names(ask("search_nodes", query="snow tires")) == ["Garage"]


_TEXTS = st.sampled_from(["winter tyres", "toys of the children", "", "jam jars", "東京", "tea at noon"])
_IDS = st.integers(1, 6)


def _statement(sql: str, *values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, tuple[Any, ...]]]:
    return st.tuples(st.just(sql), st.tuples(*values))


_KEYED = "INTO observations(id, entity_id, observation_type, content) VALUES (?, ?, ?, ?)"
_NEW = "INTO observations(entity_id, observation_type, content) VALUES (?, ?, ?)"
_KINDS = st.sampled_from(["", "a", "b"])
_STATEMENTS = st.one_of(
    _statement("INSERT INTO entities(name, entity_type) VALUES (?, ?)", _TEXTS, _KINDS),
    _statement("INSERT OR REPLACE INTO entities(name, entity_type) VALUES (?, ?)", _TEXTS, _KINDS),
    _statement("UPDATE OR REPLACE entities SET name = ? WHERE id >= ?", _TEXTS, _IDS),
    _statement("UPDATE entities SET name = name || ? WHERE id = ?", _TEXTS, _IDS),
    _statement("DELETE FROM entities WHERE id = ?", _IDS),
    _statement(f"INSERT {_NEW}", _IDS, _KINDS, _TEXTS),
    _statement(f"INSERT OR IGNORE {_NEW}", _IDS, _KINDS, _TEXTS),
    _statement(f"INSERT OR FAIL {_NEW}", _IDS, _KINDS, _TEXTS),
    _statement(f"INSERT OR REPLACE {_NEW}", _IDS, _KINDS, _TEXTS),
    _statement(f"INSERT OR REPLACE {_KEYED}", _IDS, _IDS, _KINDS, _TEXTS),
    _statement(f"INSERT {_NEW} ON CONFLICT DO UPDATE SET content = excluded.content", _IDS, _KINDS, _TEXTS),
    _statement("UPDATE observations SET content = ? WHERE id >= ?", _TEXTS, _IDS),
    _statement("UPDATE OR IGNORE observations SET id = ? WHERE id = ?", _IDS, _IDS),
    _statement("UPDATE OR REPLACE observations SET id = ? WHERE id = ?", _IDS, _IDS),
    _statement("UPDATE OR REPLACE observations SET entity_id = ? WHERE id >= ?", _IDS, _IDS),
    _statement("DELETE FROM observations WHERE id = ?", _IDS),
    st.sampled_from(["SAVEPOINT s", "ROLLBACK TO s", "RELEASE s"]).map(lambda sql: (sql, ())),
    st.just(("embed", ())),
)


@needs_the_extra
@settings(max_examples=200, deadline=None)
@given(statements=st.lists(_STATEMENTS, min_size=1, max_size=20), foreign_keys=st.booleans(), recursive=st.booleans())
def test_whatever_is_written_by_whomever_no_vector_is_stale(
    statements: list[tuple[str, tuple[Any, ...]]], foreign_keys: bool, recursive: bool
) -> None:
    with guest(":memory:", foreign_keys=foreign_keys, recursive=recursive) as conn:
        install(conn)
        conn.execute("INSERT INTO entities(name, entity_type) VALUES ('A', ''), ('B', '')")
        conn.execute("INSERT INTO observations(entity_id, content) VALUES (1, 'red canoe'), (2, 'jam jars')")
        model = semantic._load()
        assert model is not None
        write(conn, model, 2)
        for sql, values in statements:
            with suppress(sqlite3.DatabaseError):  # a key is taken, no savepoint is open, the index was cheated
                if sql == "embed":
                    write(conn, model, 1)
                else:
                    conn.execute(sql, values)
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv(semantic.SWITCH)
            require_fresh(conn)


# What stays in the process.

_REQUESTS = st.one_of(
    st.tuples(st.just("add"), _IDS, _TEXTS.filter(bool)),
    st.tuples(st.just("override"), _IDS, _TEXTS.filter(bool)),
    st.tuples(st.just("delete"), _IDS, _TEXTS),
    st.tuples(st.just("fail"), _IDS, _TEXTS.filter(bool)),
    st.tuples(st.just("search"), _IDS, _TEXTS),
)


@needs_the_extra
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), _REQUESTS), min_size=1, max_size=15))
def test_a_search_finds_the_same_as_one_in_a_new_process(
    tmp_path_factory: pytest.TempPathFactory, requests: list[tuple[bool, tuple[str, int, str]]]
) -> None:
    base = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patch, Store(base) as ours, Store(base) as other:
        patch.delenv(semantic.SWITCH)
        call(ours, "create_entities", {"entities": [{"name": f"E{i}", "observations": [f"x{i}"]} for i in range(1, 7)]})
        for mine, (what, id, text) in requests:
            _carry_out(ours if mine else other, what, id, text)
            found = _found_near(ours)
            kept, neighbours._kept = neighbours._kept, type(neighbours._kept)()
            assert found == _found_near(ours)
            neighbours._kept = kept


def _carry_out(store: Store, what: str, id: int, text: str) -> None:
    observation = {"entityId": id, "contents": [text]}
    with suppress(Conflict):
        if what == "add":
            call(store, "add_observations", {"observations": [observation]})
        elif what == "override":
            call(store, "add_observations", {"observations": [observation], "override": True})
        elif what == "delete":
            call(store, "delete_observations", {"deletions": [{"id": id}]})
        elif what == "fail":
            with store.writing(None):
                call(store, "add_observations", {"observations": [observation], "override": True})
                _found_near(store)
                raise Conflict("no")


def _found_near(store: Store) -> list[tuple[str, list[str]]]:
    found = [
        call(store, "search_nodes", {"query": query, "observations": "matched"}).result.entities
        for query in ("snow tires in the garage", "kids", "a cup of coffee", "toy 東京 jar")
    ]
    return [(one.name, [o.text for o in one.observations]) for entities in found for one in entities]


@needs_the_extra
def test_what_stays_in_the_process_is_bounded(on: None, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_KEPT", 5_000)
    for number in range(20):
        ask("create_entities", category=f"c{number}", entities=[{"name": "A", "observations": ["winter tyres"] * 3}])
        assert names(ask("search_nodes", category=f"c{number}", query="snow tires")) == ["A"]
    assert sum(one.size for one in neighbours._kept.values()) <= 5_000


# The same by every face.


@needs_the_extra
def test_a_batch_answers_as_single_requests_do(on: None, mmem_process: Callable[..., Any]) -> None:
    requests = [
        {"tool": "create_entities", "arguments": {"entities": _WORLD}},
        {"tool": "search_nodes", "arguments": {"query": "snow tires"}},
        {
            "tool": "add_observations",
            "arguments": {"observations": [{"entityId": 3, "contents": ["Tyres for the winter"]}]},
        },
        {"tool": "search_nodes", "arguments": {"query": "snow tires"}},
    ]
    lines = "".join(json.dumps(one) + "\n" for one in requests)
    for options in ([], ["--dry-run"]):
        ran = mmem_process("batch", *options, "--base-dir", f"place{len(options)}", stdin=lines.encode())
        found = [json.loads(line)["result"] for line in ran.stdout.splitlines()]
        assert [one["name"] for one in found[1]["entities"]] == ["Garage"]
        assert {one["name"] for one in found[3]["entities"]} == {"Garage", "Atlas"}

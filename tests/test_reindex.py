"""`mmem reindex`: says what the index was, makes it anew, and embeds what has no vector."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest

from mmem import neighbours, semantic
from mmem.registry import call
from mmem.store import Store
from mmem.upkeep import reindex

Ask = Callable[..., Any]
Run = Callable[..., Any]

needs_the_extra = pytest.mark.skipif(find_spec("wordllama") is None, reason="the extra mmem[semantic] isn't installed")

_WORLD = [
    {"name": "Lamp", "entityType": "thing", "properties": {"wire": "copper"}, "observations": ["amber light"]},
    {"name": "Quay Side", "entityType": "place", "observations": ["granite steps", "salt"]},
    {"name": "Moth", "observations": ["amber wings"]},
]


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        yield conn


def names(outcome: Any) -> list[str]:
    return [entity.name for entity in outcome.result.entities]


@pytest.fixture
def path(base: Path, store: Store, ask: Ask) -> Path:
    """The file of a small world, closed."""
    ask("create_entities", entities=_WORLD)
    store.close()
    return base / "default.db"


def test_a_sound_index_is_called_sound(path: Path, mmem: Run) -> None:
    ran = mmem("reindex")
    assert ran.json == {"category": "default", "sound": True, "entities": 3, "observations": 4}
    assert (ran.stderr, ran.exit_status) == ("", 0)


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM fts_content_docsize",
        "INSERT INTO fts_content_docsize VALUES (99, x'000000')",
        "DELETE FROM fts_content_data WHERE id > 10",
        "DELETE FROM fts_content_data",
        "DELETE FROM fts_content_config",
        "UPDATE fts_content_data SET block = x'ffffffff' WHERE id > 10",
        "INSERT INTO fts_content(fts_content) VALUES ('delete-all')",
        "INSERT INTO fts_content(rowid, observation_content) VALUES (99, 'ghost')",
    ],
)
def test_a_damaged_index_is_said_and_mended(path: Path, mmem: Run, ask: Ask, damage: str) -> None:
    with opened(path) as conn:
        conn.execute(damage)
    ran = mmem("reindex")
    assert (ran.json["sound"], ran.stderr, ran.exit_status) == (False, "", 0)
    assert mmem("reindex").json["sound"] is True
    outcome = ask("search_nodes", query="amber")
    assert (sorted(names(outcome)), outcome.notices) == (["Lamp", "Moth"], [])


@pytest.mark.parametrize("damage", ["DELETE FROM mmem_names", "UPDATE mmem_names SET twin_key = 'x'"])
def test_names_are_known_again(path: Path, mmem: Run, ask: Ask, damage: str) -> None:
    with opened(path) as conn:
        conn.execute(damage)
    mmem("reindex")
    assert names(ask("search_nodes", query="quayside")) == ["Quay Side"]
    assert [one.code for one in ask("create_entities", entities=[{"name": "quay_side"}]).notices] == ["near_twin"]


def test_names_stay_known_to_a_store_that_wrote_before(store: Store, ask: Ask) -> None:
    ask("create_entities", entities=_WORLD)
    reindex(store, "default")
    assert names(ask("search_nodes", query="quayside")) == ["Quay Side"]


def test_nothing_that_is_stored_changes(path: Path, mmem: Run, ask: Ask) -> None:
    before = ask("read_graph").result
    mmem("reindex")
    assert ask("read_graph").result == before


def test_all_categories_each_give_a_result(path: Path, mmem: Run, ask: Ask) -> None:
    ask("create_entities", category="work", entities=[{"name": "A"}])
    assert [(one["category"], one["entities"]) for one in mmem("reindex", "--all").json] == [
        ("default", 3),
        ("work", 1),
    ]
    assert mmem("reindex", "--all", "--base-dir", "nowhere").json == []


def test_on_a_terminal_a_sentence_says_it(path: Path, mmem: Run, ask: Ask) -> None:
    ask("create_entities", category="work", entities=[{"name": "A"}])
    with opened(path) as conn:
        conn.execute("DELETE FROM fts_content_docsize")
    assert mmem("reindex", "--all", terminal=True).stdout.splitlines() == [
        "Rebuilt the index of category 'default': 3 entities and 4 observations; the old one didn't fit the rows",
        "Rebuilt the index of category 'work': 1 entity and 0 observations; the old one was sound",
    ]


def test_a_category_that_does_not_exist_is_not_found(path: Path, mmem: Run) -> None:
    ran = mmem("reindex", "-c", "defult")
    assert (ran.stdout, ran.exit_status) == ("", 3)
    assert "did you mean 'default'" in ran.stderr
    assert [file.name for file in path.parent.glob("*.db")] == ["default.db"]


def test_all_and_a_category_exclude_each_other(path: Path, mmem: Run) -> None:
    assert mmem("reindex", "--all", "-c", "default").exit_status == 2


def test_one_bad_file_keeps_no_other_from_it(path: Path, mmem: Run, ask: Ask) -> None:
    ask("create_entities", category="aged", entities=[{"name": "A"}])
    with opened(path.with_name("aged.db")) as conn:
        conn.execute("INSERT INTO schema_version VALUES (99)")
    ran = mmem("reindex", "--all")
    assert ([one["category"] for one in ran.json], ran.exit_status) == (["default"], 5)
    assert "aged.db was made by a newer program" in ran.stderr


def test_a_predecessors_file_is_converted(base: Path, mmem: Run) -> None:
    base.mkdir()
    copyfile(Path(__file__).with_name("predecessor") / "checkpointed.db", base / "default.db")
    ran = mmem("reindex", "--errors", "json")
    assert (ran.json["sound"], ran.json["entities"]) == (True, 3)
    assert json.loads(ran.stderr)["code"] == "repaired"
    assert mmem("reindex").stderr == ""


# With the extra.


def vectors(path: Path) -> list[tuple[int, int]]:
    with opened(path) as conn:
        return conn.execute("SELECT observation_id, model FROM mmem_vectors ORDER BY 1").fetchall()


@needs_the_extra
def test_what_has_no_vector_is_embedded(path: Path, mmem: Run, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(semantic.SWITCH)
    assert names(ask("search_nodes", query="insect butterfly")) == []
    assert mmem("reindex").json["embedded"] == 4
    assert mmem("reindex").json["embedded"] == 0
    assert vectors(path) == [(id, 1) for id in range(1, 5)]
    assert names(ask("search_nodes", query="insect butterfly")) == ["Moth"]
    assert mmem("reindex", terminal=True).stdout.endswith("; the old one was sound; 0 observations embedded\n")


@needs_the_extra
def test_vectors_of_another_model_are_replaced(
    path: Path, mmem: Run, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(semantic.SWITCH)
    mmem("reindex")
    with opened(path) as conn:
        conn.execute("UPDATE mmem_models SET name = 'another'")
        conn.execute("UPDATE mmem_vectors SET vector = x'00' WHERE observation_id = 1")
    assert mmem("reindex").json["embedded"] == 4
    assert vectors(path) == [(id, 2) for id in range(1, 5)]
    with opened(path) as conn:
        (kept,) = conn.execute("SELECT name FROM mmem_models").fetchall()
    assert kept != ("another",)


@needs_the_extra
def test_without_the_extra_vectors_stay(path: Path, mmem: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as on:
        on.delenv(semantic.SWITCH)
        mmem("reindex")
    before = vectors(path)
    assert "embedded" not in mmem("reindex").json
    assert vectors(path) == before


@needs_the_extra
def test_more_than_one_transaction_takes_is_embedded(
    base: Path, store: Store, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [{"name": f"N{number}", "observations": ["amber light"]} for number in range(25)]
    ask("create_entities", entities=texts)
    monkeypatch.delenv(semantic.SWITCH)
    monkeypatch.setattr("mmem.upkeep._AT_ONCE", 10)
    told: list[tuple[int, int]] = []
    with store.writing(None):  # embedded within, as a search in the same process would find them
        pass
    assert reindex(store, "default", lambda done, total: told.append((done, total))).result.embedded == 25
    assert told == [(10, 25), (20, 25), (25, 25)]
    assert len(vectors(base / "default.db")) == 25


@needs_the_extra
def test_a_process_that_searches_meanwhile_finds_what_was_embedded(
    store: Store, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask("create_entities", entities=_WORLD)
    monkeypatch.delenv(semantic.SWITCH)
    monkeypatch.setattr("mmem.upkeep._AT_ONCE", 1)
    found: list[list[str]] = []
    with Store(store.base_dir) as other:
        query = {"query": "insect butterfly"}
        reindex(other, "default", lambda done, total: found.append(names(call(store, "search_nodes", query))))
    neighbours.forget()
    assert found == [["Moth"]] * 4

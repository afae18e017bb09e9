"""`mmem stats` and `list-categories -v`: figures that add up, whoever wrote the file, and that change nothing."""

import json
import os
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

Ask = Callable[..., Any]
Mmem = Callable[..., Any]
WIDTHS = pytest.mark.parametrize("width", [20, 60, 80, 120, 200])


@pytest.fixture
def world(ask: Ask) -> None:
    """Six entities of three types; the first has most relations, the last most observations."""
    entities = [{"name": f"n{n}", "entityType": "ab"[n % 2], "observations": ["x"] * (n == 0)} for n in range(5)]
    typed = [{"observationType": kind, "text": "x"} for kind in ("v", "w", "v2")]
    ask("create_entities", entities=[*entities, {"name": "東京のサービス", "observations": typed}])
    ends = [("n0", "n1"), ("n0", "n2"), ("n3", "n0"), ("n1", "n2"), ("n4", "n4")]
    ask("create_relations", relations=[{"from": a, "to": b, "relationType": f"r{b}"} for a, b in ends])


def test_the_figures_are_those_of_the_graph(world: None, mmem: Mmem) -> None:
    found = mmem("stats").json
    assert [found[key] for key in ("category", "entities", "observations", "relations")] == ["default", 6, 4, 5]
    assert found["types"] == {"entities": 3, "relations": 4, "observations": 4}
    assert found["entityTypes"] == [{"type": k, "count": n} for k, n in [("a", 3), ("b", 2), ("", 1)]]
    assert found["relationTypes"][0] == {"type": "rn2", "count": 2}
    assert found["observationTypes"] == [{"type": k, "count": 1} for k in ("", "v", "v2", "w")]


def test_a_relation_to_itself_counts_once(world: None, mmem: Mmem) -> None:
    connected = [(one["name"], one["count"]) for one in mmem("stats").json["mostConnected"]]
    assert connected == [("n0", 3), ("n1", 2), ("n2", 2), ("n3", 1), ("n4", 1)]


def test_the_largest_the_newest_and_the_oldest_are_named_by_id(world: None, mmem: Mmem) -> None:
    found = mmem("stats", "-n", "2").json
    assert [(one["id"], one["count"]) for one in found["mostObservations"]] == [("6", 3), ("1", 1)]
    assert [one["id"] for one in found["newest"]] == ["6", "5"]
    assert [one["id"] for one in found["oldest"]] == ["1", "2"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["newest"][0]["created"])
    assert len(found["observationTypes"]) == 2


def test_the_sizes_are_those_of_the_file_and_its_log(world: None, mmem: Mmem, base: Path) -> None:
    held = sqlite3.connect(base / "default.db")
    held.execute("BEGIN")
    held.execute("SELECT * FROM entities").fetchone()
    mmem("create-entities", "another")
    found = mmem("stats").json
    assert found["file"] == str(base / "default.db")
    assert found["bytes"] == os.path.getsize(base / "default.db")
    assert found["logBytes"] == os.path.getsize(base / "default.db-wal") > 0
    held.close()


def test_a_category_that_does_not_exist_is_empty_and_said(mmem: Mmem, base: Path) -> None:
    ran = mmem("stats", "-c", "nothing")
    assert (ran.exit_status, ran.json["entities"], ran.json["bytes"]) == (0, 0, None)
    assert ran.stderr.startswith("mmem: no_such_category: ")
    assert not base.exists()


def test_looking_changes_no_byte(world: None, store: Any, mmem: Mmem, base: Path) -> None:
    store.close()
    before = (base / "default.db").read_bytes()
    mmem("stats")
    mmem("list-categories", "-v")
    mmem()
    assert (base / "default.db").read_bytes() == before
    assert os.listdir(base) == ["default.db"]


def old_file(base: Path) -> None:
    """Put a predecessor's old file there, whose rows have no moment and which holds rows of an entity that is gone."""
    base.mkdir()
    conn = sqlite3.connect(base / "default.db")
    conn.executescript(
        "CREATE TABLE entities (id INTEGER PRIMARY KEY, name TEXT, entity_type TEXT);"
        "CREATE TABLE observations (id INTEGER PRIMARY KEY, entity_id INTEGER, observation_type TEXT, content TEXT,"
        " timestamp TEXT, source TEXT);"
        "CREATE TABLE relations (id INTEGER PRIMARY KEY, from_entity_id INTEGER, to_entity_id INTEGER,"
        " relation_type TEXT);"
        "INSERT INTO entities VALUES (1, 'A', 't');"
        "INSERT INTO observations VALUES (1, 1, '', 'x', NULL, ''), (2, 9, '', 'y', NULL, ''),"
        " (3, 9, 'z', 'z', NULL, '');"
        "INSERT INTO relations VALUES (1, 1, 9, 'r');"
    )
    conn.close()


def test_an_old_file_has_figures_too(mmem: Mmem, base: Path) -> None:
    old_file(base)
    found = mmem("stats").json
    assert found["newest"] == [{"id": "1", "name": "A", "entityType": "t", "created": None}]
    assert found["mostObservations"] == [{"id": "1", "name": "A", "entityType": "t", "count": 1}]
    assert "A (t) #1" in mmem("stats", terminal=True, environ={"NO_COLOR": "1"}).stdout


@WIDTHS
def test_the_dashboard_fits_and_shows_what_there_is(world: None, mmem: Mmem, width: int) -> None:
    shown = mmem("stats", terminal=True, environ={"COLUMNS": str(width), "NO_COLOR": "1"}).stdout
    lines = shown.split("\n")
    assert max(map(cell_len, lines)) <= width
    assert "(none)" in shown
    assert "6 entities, 4 observations, 5 relations" in " ".join(shown.split())
    assert "Entity types" in shown
    assert "Oldest" in shown


def test_columns_stay_aligned_beside_wide_characters(world: None, mmem: Mmem) -> None:
    shown = mmem("stats", terminal=True, environ={"COLUMNS": "80", "NO_COLOR": "1"}).stdout
    beside = [line for line in shown.split("\n") if "東京" in line]
    assert {cell_len(line) for line in beside} <= {80, 38}
    assert "東京のサービス #6" in shown


@pytest.mark.parametrize("words", [("stats",), ("list-categories", "-v")])
def test_control_characters_are_shown_and_not_sent(ask: Ask, mmem: Mmem, words: tuple[str, ...]) -> None:
    evil = "\x1b]0;owned\x07\u202e"
    ask("create_entities", entities=[{"name": evil, "entityType": evil, "observations": [evil]}])
    ask("create_relations", relations=[{"from": evil, "to": evil, "relationType": evil}])
    shown = mmem(*words, terminal=True, environ={"NO_COLOR": "1"}).stdout
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", shown)


def test_the_categories_in_detail(world: None, ask: Ask, mmem: Mmem, base: Path) -> None:
    ask("create_entities", category="work", entities=[{"name": "Solo"}])
    first, second = mmem("list-categories", "-v").json
    assert [first[key] for key in ("category", "entities", "observations", "relations")] == ["default", 6, 4, 5]
    assert (second["category"], second["entities"]) == ("work", 1)
    assert second["bytes"] >= os.path.getsize(base / "work.db")
    assert mmem("list-categories").json == ["default", "work"]


@WIDTHS
def test_the_table_of_categories_fits(world: None, ask: Ask, mmem: Mmem, width: int) -> None:
    ask("create_entities", category="w" * 70, entities=[{"name": "Solo"}])
    lines = mmem("list-categories", "-v", terminal=True, environ={"COLUMNS": str(width), "NO_COLOR": "1"}).stdout
    assert max(map(cell_len, lines.split("\n"))) <= width
    assert "w" * 70 in "".join(lines.split())


def test_figures_stand_in_columns_where_they_fit(world: None, mmem: Mmem) -> None:
    heading, row = mmem("list-categories", "-v", terminal=True, environ={"NO_COLOR": "1"}).stdout.splitlines()
    assert heading.split()[:5] == ["category", "entities", "observations", "relations", "size"]
    assert row.split()[:4] == ["default", "6", "4", "5"]
    assert row.index("6") == heading.index("entities") + len("entities") - 1


def test_a_category_that_cannot_be_read_is_said_and_the_others_are_shown(
    world: None, ask: Ask, store: Any, mmem: Mmem, base: Path
) -> None:
    ask("create_entities", category="newer", entities=[{"name": "Solo"}])
    store.close()
    conn = sqlite3.connect(base / "newer.db")
    conn.execute("INSERT INTO schema_version VALUES (99)")
    conn.commit()
    conn.close()
    ran = mmem("list-categories", "-v", "--errors", "json")
    assert [one["category"] for one in ran.json] == ["default"]
    assert json.loads(ran.stderr)["code"] == "skipped"
    assert "newer" in mmem().stderr

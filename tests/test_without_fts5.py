"""A Python whose SQLite was built without FTS5: everything works, and searches find substrings."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

_LAUNCHER = Path(__file__).with_name("without_fts5.py")


@pytest.fixture
def without(mmem_process: Any) -> Callable[..., Any]:
    """Run mmem without FTS5, in the test's folder."""

    def run(*words: str, stdin: bytes = b"") -> Any:
        return mmem_process(*words, stdin=stdin, program=str(_LAUNCHER))

    return run


@pytest.fixture
def notes(without: Callable[..., Any]) -> Callable[..., Any]:
    """The same, with three entities and a relation."""
    entities = [
        {"name": "UserService", "observations": ["Manages accounts", {"text": "v2.0.1 is out", "source": "log"}]},
        {"name": "Alice", "observations": ["Looks after passwords and logins"]},
        {"name": "李雷", "observations": ["喜欢喝绿茶"]},
    ]
    assert without("create-entities", "--json", json.dumps(entities)).exit_status == 0
    assert without("create-relations", "Alice", "maintains", "UserService").exit_status == 0
    return without


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("UserService", ["UserService"]),
        ("user service", ["UserService"]),
        ("v2.0.1", ["UserService"]),
        ("word", ["Alice"]),
        ("logins passwords", ["Alice"]),
        ('"passwords and"', ["Alice"]),
        ("who looks after the accounts", ["Alice", "UserService"]),
        ("绿茶", ["李雷"]),
        ("nowhere", []),
    ],
)
def test_a_search_finds_substrings_and_warns_once(notes: Callable[..., Any], query: str, expected: list[str]) -> None:
    ran = notes("search-nodes", "--names", query)
    assert ran.exit_status == 0
    assert sorted(ran.json) == sorted(expected)
    assert ran.stderr.count("was built without FTS5, so only substrings were found") == 1


def test_every_write_works(notes: Callable[..., Any]) -> None:
    assert notes("add-observations", "Alice", "Moved to Oslo").exit_status == 0
    assert notes("create-entities", "--override", "UserService", "-o", "Gone").exit_status == 0
    assert notes("delete-entities", "--yes", "李雷").exit_status == 0
    assert notes("search-nodes", "--names", "Oslo").json == ["Alice"]
    assert notes("search-nodes", "--names", "绿茶").json == []
    assert len(notes("read-graph").json["relations"]) == 1


def test_a_batch_and_a_dry_run_work(without: Callable[..., Any]) -> None:
    requests = [
        {"id": number, "tool": "create_entities", "arguments": {"entities": [{"name": f"n{number}"}]}}
        for number in range(20)
    ]
    lines = "".join(json.dumps(one) + "\n" for one in requests)
    assert without("batch", "--dry-run", stdin=lines.encode()).exit_status == 0
    assert without("batch", stdin=lines.encode()).exit_status == 0
    assert len(without("search-nodes", "--names", "n1").json) == 11


def test_a_file_with_an_index_is_read_as_it_is_and_written(mmem: Any, without: Callable[..., Any]) -> None:
    mmem("create-entities", "Tea", "-o", "green tea")
    assert without("search-nodes", "--names", "green").json == ["Tea"]
    ran = without("add-observations", "Tea", "grown in Uji", "--source", "label")
    assert ran.exit_status == 0
    assert "has no search index any more" in ran.stderr
    assert without("search-nodes", "--names", "uji").json == ["Tea"]
    assert "any more" not in without("add-observations", "Tea", "steamed", "--source", "box").stderr


def test_with_fts5_the_first_write_brings_the_index_back(mmem: Any, notes: Callable[..., Any]) -> None:
    found = mmem("search-nodes", "--names", "passwords", "-f", "json")
    assert json.loads(found.stdout) == ["Alice"]
    assert "the first write brings one" in found.stderr
    assert "its search index was made anew" in mmem("add-observations", "Alice", "Likes tea").stderr
    again = mmem("search-nodes", "--names", "looking password", "-f", "json")
    assert json.loads(again.stdout) == ["Alice"]
    assert again.stderr == ""
    assert "the old one was sound" in mmem("reindex", "-f", "table").stdout


def test_reindex_and_purge_say_what_they_need(mmem: Any, notes: Callable[..., Any]) -> None:
    reindexed = notes("reindex")
    assert reindexed.exit_status == 5
    assert "there is no search index to rebuild; use a Python whose SQLite has it" in reindexed.stderr
    assert notes("purge").exit_status == 0
    mmem("create-entities", "Tea", "-c", "indexed")
    purged = notes("purge", "-c", "indexed")
    assert purged.exit_status == 5
    assert "stay in the file" in purged.stderr


def test_a_near_twin_is_noticed_also_after_a_rename(notes: Callable[..., Any], base: Path) -> None:
    assert "near_twin: " in notes("create-entities", "user_service").stderr
    with closing(sqlite3.connect(base / "default.db")) as conn, conn:
        conn.execute("UPDATE entities SET name = 'Alicia' WHERE name = 'Alice'")
    assert "near_twin: " in notes("create-entities", "ALICIA").stderr
    assert "near_twin: " not in notes("create-entities", "ALICE").stderr

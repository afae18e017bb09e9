"""What `mmem __complete` answers: the names that are stored, by prefix, and never a word of complaint."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mmem.shells import names

Ask = Callable[..., Any]
Complete = Callable[..., list[str]]


@pytest.fixture
def complete(mmem_process: Callable[..., Any]) -> Complete:
    """Ask for candidates of a kind with a prefix: `complete("entity", "A", "-c", "work")`; return the lines."""

    def run(*words: str, **settings: Any) -> list[str]:
        ran = mmem_process("__complete", *words, **settings)
        assert (ran.stderr, ran.exit_status) == ("", 0)
        return ran.stdout.splitlines()

    return run


@pytest.fixture
def team(ask: Ask) -> None:
    """Two categories with a few of everything."""
    entities = [("Ann", "person"), ("Anton", "person"), ("Ann", "boat"), ("-x", ""), ("id:7", ""), ("name:y", "")]
    ask("create_entities", category="work", entities=[{"name": name, "entityType": kind} for name, kind in entities])
    contents = [{"observationType": "city", "source": "chat", "text": "Oslo"}, {"text": "Sails"}]
    ask("add_observations", category="work", observations=[{"entityName": "Anton", "contents": contents}])
    relations = [{"from": "Anton", "to": "-x", "relationType": "knows well"}]
    ask("create_relations", category="work", relations=relations)
    ask("create_entities", category="home", entities=[{"name": "Sofa"}])


@pytest.mark.usefixtures("team")
@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["category", ""], ["home\t", "work\t"]),
        (["category", "w"], ["work\t"]),
        (["entity", "", "-c", "home"], ["Sofa\t"]),
        (["entity", "An", "-c", "work"], ["Ann\tboat, person", "Anton\tperson"]),
        (["entity", "An", "-c", "home", "--category=work"], ["Ann\tboat, person", "Anton\tperson"]),
        (["entity", "Ant", "-qcwork"], ["Anton\tperson"]),
        (["entity", "Ant", "-c", "work", "open-nodes", "--", "-c", "home"], ["Anton\tperson"]),
        (
            ["entity", "", "-c", "work"],
            ["name:name:y\t", "name:id:7\t", "name:-x\t", "Ann\tboat, person", "Anton\tperson"],
        ),
        (["entity", "-", "-c", "work"], []),
        (["entity", "-", "-c", "work", "--"], ["-x\t"]),
        (["entity", "name:-", "-c", "work"], ["name:-x\t"]),
        (["entity", "name:A", "-c", "work"], ["name:Ann\tboat, person", "name:Anton\tperson"]),
        (["entity", "aNT", "-c", "work"], ["Anton\tperson"]),
        (["entity", "a n", "-c", "work"], []),
        (["entity", "name:aNT", "-c", "work"], ["name:Anton\tperson"]),
        (["entity", "id:2", "-c", "work"], ["id:2\tAnton"]),
        (["entity", "id:x", "-c", "work"], []),
        (["entity-type", "", "-c", "work"], ["boat\t", "person\t"]),
        (["entity-type", "p", "-c", "work"], ["person\t"]),
        (["relation-type", "", "-c", "work"], ["knows well\t"]),
        (["observation-type", "", "-c", "work"], ["city\t"]),
        (["source", "c", "-c", "work"], ["chat\t"]),
        (["observation-id", "", "-c", "work"], ["2\tSails", "1\tOslo"]),
        (["relation-id", "1", "-c", "work"], ["1\tAnton knows well -x"]),
    ],
    ids=" ".join,
)
def test_candidates_of_each_kind(complete: Complete, words: list[str], lines: list[str]) -> None:
    assert sorted(complete(*words)) == sorted(lines)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["entity"],
        ["nothing-of-the-kind", ""],
        ["entity", "", "-c", "../up"],
        ["entity", "", "-c"],
        ["entity", "", "--base-dir", "nowhere"],
        ["category", "", "--base-dir", "nowhere"],
        ["entity", "\udcff", "-c", "work"],
    ],
    ids=ascii,
)
@pytest.mark.usefixtures("team")
def test_nonsense_is_answered_with_nothing(complete: Complete, words: list[str]) -> None:
    assert complete(*words) == []


@pytest.mark.parametrize("kind", ["category", "entity", "source"])
def test_asking_creates_nothing(complete: Complete, tmp_path: Path, kind: str) -> None:
    assert complete(kind, "") == []
    assert list(tmp_path.iterdir()) == []


def test_asking_leaves_a_category_and_its_folder_as_they_are(
    complete: Complete, ask: Ask, store: Any, base: Path
) -> None:
    ask("create_entities", entities=[{"name": "Ann"}])
    store.close()
    before = [(file.name, file.stat().st_mtime_ns) for file in base.iterdir()]
    assert complete("entity", "") == ["Ann\t"]
    assert [(file.name, file.stat().st_mtime_ns) for file in base.iterdir()] == before


def test_what_another_program_has_just_stored_is_offered(complete: Complete, ask: Ask, base: Path) -> None:
    ask("create_entities", entities=[{"name": "Ann"}])  # the store is open: it lies in the log
    assert (base / "default.db-wal").stat().st_size
    assert complete("entity", "") == ["Ann\t"]


def test_no_index_of_a_log_is_made(complete: Complete, ask: Ask, store: Any, base: Path, tmp_path: Path) -> None:
    ask("create_entities", entities=[{"name": "Ann"}])
    store.close()
    ask("create_entities", entities=[{"name": "Bo"}])
    copied = tmp_path / "copied"
    copied.mkdir()
    for name in ("default.db", "default.db-wal"):
        (copied / name).write_bytes((base / name).read_bytes())
    assert complete("entity", "", "--base-dir", str(copied)) == ["Ann\t"]
    assert sorted(os.listdir(copied)) == ["default.db", "default.db-wal"]


def test_a_locked_category_keeps_nobody_waiting(complete: Complete, ask: Ask, store: Any, base: Path) -> None:
    ask("create_entities", entities=[{"name": "Ann"}])
    store.close()
    other = sqlite3.connect(base / "default.db", isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    assert complete("category", "") == ["default\t"]
    assert complete("entity", "") == ["Ann\t"]
    other.close()


def test_files_that_are_no_memory_are_no_categories(complete: Complete, base: Path) -> None:
    base.mkdir()
    (base / "notes.db").write_text("not a database, but long enough to be looked at")
    (base / "Odd Name.db").touch()
    sqlite3.connect(base / "other.db").execute("CREATE TABLE t (a)").connection.close()
    assert complete("category", "") == []
    assert complete("entity", "", "-c", "notes") == []


def test_the_settings_of_the_environment_count(complete: Complete, ask: Ask, base: Path) -> None:
    ask("create_entities", category="work", entities=[{"name": "Ann"}])
    environ = {"MEMORY_BASE_DIR": str(base), "DEFAULT_CATEGORY": "work"}
    assert complete("entity", "", environ=environ, cwd=base.parent.parent) == ["Ann\t"]


def test_a_folder_is_found_as_a_shell_would(complete: Complete, ask: Ask, base: Path) -> None:
    ask("create_entities", entities=[{"name": "Ann"}])
    assert complete("entity", "", "--base-dir", "~/.aim", environ={"HOME": str(base.parent)}) == ["Ann\t"]
    assert complete("entity", "", "--base-dir=$WHERE", environ={"WHERE": str(base)}) == ["Ann\t"]


def test_a_name_that_is_no_line_is_left_to_its_id(complete: Complete, ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "two\nlines"}, {"name": "tab\tin it"}, {"name": "escape\x1b[2J"}])
    assert complete("entity", "") == []
    assert complete("entity", "id:1") == ["id:1\ttwo\u240alines"]


def test_the_newest_come_first_and_no_more_than_anybody_reads(complete: Complete, ask: Ask) -> None:
    ask("create_entities", entities=[{"name": f"n{number:04}"} for number in range(1, 1001)])
    newest = complete("entity", "")
    assert (len(newest), newest[0]) == (200, "n1000\t")
    assert complete("entity", "n07")[:2] == ["n0700\t", "n0701\t"]
    assert complete("entity", "id:9")[:3] == ["id:9\tn0009", "id:99\tn0099", "id:98\tn0098"]


def test_a_closed_pipe_is_no_trouble(ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "Ann"}])
    with subprocess.Popen(
        [sys.executable, "-m", "mmem", "__complete", "entity", ""], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.parametrize("statement", ["_NAMES", "_TWINS"])
def test_a_prefix_is_looked_up_in_an_index(ask: Ask, store: Any, base: Path, statement: str) -> None:
    ask("create_entities", entities=[{"name": "Ann"}])
    with closing(sqlite3.connect(base / "default.db")) as conn:
        plan = conn.execute(f"EXPLAIN QUERY PLAN {getattr(names, statement)}", ("A", "B", 9)).fetchall()
    assert "USING" in plan[0][3]
    assert "INDEX" in plan[0][3]
    assert not [step for *_, step in plan if step.startswith("SCAN") or "TEMP B-TREE" in step]

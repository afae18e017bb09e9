"""Databases of the predecessor, and others that only look like them."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

PREDECESSOR = Path(__file__).with_name("predecessor")

Run = Callable[..., Any]


def made(path: Path, *scripts: str) -> Path:
    with closing(sqlite3.connect(path)) as conn:
        for script in scripts:
            conn.executescript(script)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.mark.parametrize("kind", ["version-1", "version-2", "checkpointed", "with-wal"])
def test_a_predecessors_database_comes_in_whole_and_its_files_stay(mmem: Run, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    shutil.copyfile(PREDECESSOR / ("with-wal.db" if kind == "with-wal" else "checkpointed.db"), folder / "work.db")
    for script in {"version-2": [2], "version-1": [2, 1]}.get(kind, []):
        made(folder / "work.db", (PREDECESSOR / f"version-{script}.sql").read_text())
    if kind == "with-wal":
        shutil.copyfile(PREDECESSOR / "with-wal.db-wal", folder / "work.db-wal")
    before = contents(folder)
    ran = mmem("import", str(folder / "work.db"), "-f", "json")
    assert contents(folder) == before
    assert (ran.exit_status, ran.json["keptAside"], ran.json["categories"].keys()) == (0, 0, {"work"})
    theirs = mmem("read-graph", "--base-dir", str(folder), "-c", "work", "-f", "json").json
    assert len(theirs["entities"]) > 2
    assert mmem("read-graph", "-c", "work", "-f", "json").json == theirs
    again = mmem("import", str(folder / "work.db"), "-f", "json").json
    assert again["alreadyThere"] == again["records"] == ran.json["records"]


def test_a_database_in_use_is_read_with_what_its_log_holds(mmem: Run, tmp_path: Path) -> None:
    shutil.copyfile(PREDECESSOR / "checkpointed.db", tmp_path / "live.db")
    with closing(sqlite3.connect(tmp_path / "live.db")) as conn:
        conn.execute("PRAGMA journal_mode = WAL")
        with conn:
            conn.execute("INSERT INTO entities(name, entity_type) VALUES ('Just now', '')")
        assert (tmp_path / "live.db-shm").exists()
        assert mmem("import", "live.db", "-f", "json").exit_status == 0
        assert conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    assert mmem("open-nodes", "Just now", "-c", "live", "-f", "json").json["entities"]


def test_a_shell_without_its_log_is_named_as_such(mmem: Run, tmp_path: Path) -> None:
    shutil.copyfile(PREDECESSOR / "with-wal.db", tmp_path / "work.db")
    with closing(sqlite3.connect(tmp_path / "shell.db")) as conn:
        conn.execute("PRAGMA journal_mode = WAL")
        conn.execute("PRAGMA wal_autocheckpoint = 0")
        conn.execute("CREATE TABLE entities (a)")
        shutil.copyfile(tmp_path / "shell.db", tmp_path / "copied.db")
    ran = mmem("import", "copied.db")
    assert (ran.exit_status, ran.stdout) == (5, "")
    assert "copied.db is an empty shell: what was stored is in the file copied.db-wal" in ran.stderr


@pytest.mark.parametrize(
    ("script", "tables"),
    [
        ("CREATE TABLE notes (id, text)", "notes"),
        (
            "CREATE TABLE entity (a); CREATE TABLE relation (b); CREATE TABLE observation (c)",
            "entity, observation, relation",
        ),
        (
            "CREATE TABLE entities (a); CREATE TABLE observations (b); CREATE TABLE relations (c)",
            "entities, observations",
        ),
        ("CREATE TABLE x (a); DROP TABLE x", "none"),
    ],
)
def test_another_database_is_refused_by_its_tables(mmem: Run, tmp_path: Path, script: str, tables: str) -> None:
    made(tmp_path / "memory.db", script)
    ran = mmem("import", "memory.db")
    assert (ran.exit_status, ran.stdout) == (5, "")
    assert f"no memory of multi-memory-mcp or mmem (its tables: {tables}" in ran.stderr
    assert mmem("list-categories", "-f", "json").json == []


@pytest.mark.parametrize("size", [20, 100, 5_000])
def test_a_damaged_database_is_said_to_be(mmem: Run, tmp_path: Path, size: int) -> None:
    (tmp_path / "work.db").write_bytes((PREDECESSOR / "checkpointed.db").read_bytes()[:size])
    ran = mmem("import", "work.db")
    assert (ran.exit_status, ran.stdout) == (5, "")
    assert "work.db" in ran.stderr


def test_a_database_from_standard_input_is_refused(mmem_process: Run) -> None:
    ran = mmem_process("import", "-", stdin=(PREDECESSOR / "checkpointed.db").read_bytes())
    assert ran.exit_status == 5
    assert "a database can't come from standard input; name the file" in ran.stderr


def test_rows_that_point_nowhere_are_kept_aside(mmem: Run, tmp_path: Path) -> None:
    shutil.copyfile(PREDECESSOR / "checkpointed.db", tmp_path / "work.db")
    with closing(sqlite3.connect(tmp_path / "work.db")) as conn, conn:
        triggers = conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            conn.execute(f"DROP TRIGGER {name}")
        conn.execute("INSERT INTO observations(entity_id, content) VALUES (999, 'nobody''s')")
        conn.execute("INSERT INTO relations(from_entity_id, to_entity_id, relation_type) VALUES (1, 999, 'to nobody')")
    assert mmem("import", "work.db").exit_status == 2
    ran = mmem("import", "work.db", "--keep-going", "-f", "json")
    assert (ran.exit_status, ran.json["keptAside"]) == (1, 2)
    assert "an observation of an entity that isn't there (id 999)" in ran.stderr
    assert "nobody" in (tmp_path / "work.db.rejects.jsonl").read_text()


def test_our_own_database_comes_into_another_category(mmem: Run, base: Path) -> None:
    mmem("create-entities", "Ann", "-o", "a", "-c", "old")
    assert mmem("import", str(base / "old.db"), "-c", "new", "-f", "json").json["created"] == 1
    graphs = [mmem("read-graph", "-c", name, "-f", "json").json for name in ("old", "new")]
    assert graphs[0] == graphs[1]


def test_a_category_cannot_be_imported_into_itself(mmem: Run, base: Path) -> None:
    mmem("create-entities", "Ann", "-c", "work")
    ran = mmem("import", str(base / "work.db"))
    assert ran.exit_status == 2
    assert "is the category 'work' itself" in ran.stderr


@pytest.mark.parametrize("name", ["'a' || char(0) || 'b'", "''", "x'00ff'"])
def test_a_name_that_cannot_be_stored_keeps_its_rows_aside(mmem: Run, tmp_path: Path, name: str) -> None:
    shutil.copyfile(PREDECESSOR / "checkpointed.db", tmp_path / "work.db")
    with closing(sqlite3.connect(tmp_path / "work.db")) as conn, conn:
        for (trigger,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            conn.execute(f"DROP TRIGGER {trigger}")
        conn.execute(f"UPDATE entities SET name = {name} WHERE id = 1")
        conn.execute("INSERT OR IGNORE INTO relations(from_entity_id, to_entity_id, relation_type) VALUES (1, 2, 'k')")
    first = mmem("import", "work.db", "--keep-going", "-f", "json").json
    again = mmem("import", "work.db", "--keep-going", "-f", "json").json
    for result in (first, again):
        parts = ("created", "merged", "alreadyThere", "keptAside")
        assert result["records"] == sum(result[part] for part in parts)
    assert first["keptAside"] > 1
    assert again["created"] == 0


def test_a_timestamp_that_is_none_costs_no_text(mmem: Run, tmp_path: Path) -> None:
    shutil.copyfile(PREDECESSOR / "checkpointed.db", tmp_path / "work.db")
    with closing(sqlite3.connect(tmp_path / "work.db")) as conn, conn:
        conn.execute("UPDATE observations SET timestamp = 'yesterday'")
    ran = mmem("import", "work.db", "-f", "json")
    assert (ran.exit_status, ran.json["keptAside"]) == (0, 0)
    assert "a timestamp that isn't ISO 8601 became a property" in ran.stderr

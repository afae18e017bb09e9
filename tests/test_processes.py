"""Several processes on one category: nothing is lost, nothing is half-written, nobody is told a lie."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from mmem.errors import Busy
from mmem.registry import call
from mmem.store import Store

Ask = Callable[..., Any]
Start = Callable[..., "subprocess.Popen[str]"]

# What every process begins with. `tell` writes a line that `heard` reads; `create` returns notices or an error.
_PRELUDE = """
import json, os, random, sys, time
from mmem.errors import MmemError
from mmem.registry import call
from mmem.store import Store

def tell(value):
    print(json.dumps(value), flush=True)

def wait():
    sys.stdin.readline()

def attempt(store, tool, **arguments):
    try:
        return [notice.code for notice in call(store, tool, arguments).notices]
    except MmemError as error:
        return f"{error.code}: {error.message}"

def create(store, *names, category="default"):
    entities = [{"name": name, "observations": [f"one of {name}", f"two of {name}"]} for name in names]
    return attempt(store, "create_entities", category=category, entities=entities)

base, *words = sys.argv[1:]
store = Store(base)
"""


@pytest.fixture
def start(base: Path) -> Iterator[Start]:
    """Start processes that run a piece of Python; whatever still runs at the end is killed."""
    with ExitStack() as running:

        def begin(code: str, *words: object) -> "subprocess.Popen[str]":
            command = [sys.executable, "-c", _PRELUDE + code, str(base), *map(str, words)]
            process = running.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            running.callback(process.kill)
            return process

        yield begin


def heard(process: "subprocess.Popen[str]") -> Any:
    """Return the next thing that a process tells."""
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def rest(process: "subprocess.Popen[str]") -> list[Any]:
    """Return all else that a process told before its end; a line it was killed in doesn't count."""
    assert process.stdout is not None
    return [json.loads(line) for line in process.stdout.read().splitlines(keepends=True) if line.endswith("\n")]


def go(*processes: "subprocess.Popen[str]") -> None:
    """Let processes that wait go on."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


@contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    """Hold the write lock of a file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("BEGIN IMMEDIATE")
        yield conn
        if conn.in_transaction:
            conn.execute("ROLLBACK")


def unlink(path: Path) -> None:
    for suffix in ("", "-shm", "-wal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def names(base: Path, category: str = "default") -> list[str]:
    """Return the names that a process sees which opens the category now."""
    with Store(base) as store:
        return [entity.name for entity in call(store, "read_graph", {"category": category}).result.entities]


def require_sound(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert conn.execute("PRAGMA foreign_key_check").fetchall() == []
        assert conn.execute("SELECT version FROM schema_version").fetchall() == [(3,)]
        conn.execute("INSERT INTO fts_content(fts_content, rank) VALUES ('integrity-check', 1)")
        rows = "SELECT (SELECT count(*) FROM entities) + (SELECT count(*) FROM observations)"
        assert conn.execute("SELECT count(*) FROM fts_content_docsize").fetchone() == conn.execute(rows).fetchone()


def test_two_processes_may_create_the_same_category_at_once(base: Path, start: Start) -> None:
    rounds = 40
    code = f"""
name, begin = words[0], float(words[1])
for number in range({rounds}):
    time.sleep(max(0, begin + number * 0.02 - time.time()))
    tell(create(store, name, category=f"c{{number}}"))
"""
    begin = time.time() + 0.7
    processes = [start(code, name, begin) for name in ("A", "B")]
    assert [heard(process) for _ in range(rounds) for process in processes] == [[]] * (2 * rounds)
    with Store(base) as store:
        for number in range(rounds):
            entities = call(store, "read_graph", {"category": f"c{number}"}).result.entities
            assert sorted(entity.name for entity in entities) == ["A", "B"]
    left = sorted(file.name for file in base.iterdir() if not file.name.endswith(("-wal", "-shm")))
    assert left == sorted(f"c{number}.db" for number in range(rounds))


def test_eight_processes_write_and_nothing_is_lost(base: Path, start: Start) -> None:
    code = """
tell("ready"); wait()
results = [create(store, f"{words[0]}-{number}") for number in range(500)]
tell([result for result in results if result])
"""
    processes = [start(code, number) for number in range(8)]
    assert {heard(process) for process in processes} == {"ready"}
    go(*processes)
    assert [heard(process) for process in processes] == [[]] * 8
    assert sorted(names(base)) == sorted(f"{process}-{number}" for process in range(8) for number in range(500))
    require_sound(base / "default.db")


@pytest.mark.parametrize("tool", ["create_entities", "add_observations"])
def test_a_write_after_a_deletion_elsewhere_is_stored_or_fails(base: Path, start: Start, tool: str) -> None:
    code = """
tell(create(store, "old"))
wait()
addition = {"entityName": "old", "contents": ["new"]}
tell(create(store, "new") if words[0] == "create_entities" else attempt(store, words[0], observations=[addition]))
wait()
"""
    holder = start(code, tool)
    assert heard(holder) == []
    with Store(base) as store:
        call(store, "delete_category", {"category": "default"})
    go(holder)
    result = heard(holder)
    if tool == "create_entities":
        assert (result, names(base)) == ([], ["new"])
    else:
        assert result.startswith("not_found")
        assert not (base / "default.db").exists()


def test_a_write_that_waits_out_a_deletion_is_stored_or_fails(base: Path, ask: Ask, start: Start) -> None:
    ask("create_entities", entities=[{"name": "old"}])
    path = base / "default.db"
    with locked(path):  # as `delete_category` holds it
        writer = start("""tell("ready"); tell(create(store, "new"))""")
        heard(writer)
        time.sleep(0.5)
        unlink(path)
    result = heard(writer)
    if isinstance(result, list):
        assert (result, names(base)) == ([], ["new"])
    else:
        assert result.startswith("conflict")


def test_in_a_storm_of_creations_and_deletions_every_answer_is_true(base: Path, start: Start) -> None:
    code = """
tell("ready"); wait()
chance = random.Random(int(words[0]))
answers = []
for number in range(150):
    name, deletes, begin = f"{words[0]}-{number}", chance.random() < 0.1, time.monotonic()
    result = attempt(store, "delete_category", category="default") if deletes else create(store, name)
    answers.append([None if deletes else name, begin, time.monotonic(), result])
tell(answers)
"""
    processes = [start(code, number) for number in range(4)]
    assert {heard(process) for process in processes} == {"ready"}
    go(*processes)
    answers = [answer for process in processes for answer in heard(process)]
    failed = {result.partition(":")[0] for *_, result in answers if isinstance(result, str)}
    assert failed <= {"conflict", "not_found"}, [result for *_, result in answers if isinstance(result, str)]
    stored = [(name, begin, end) for name, begin, end, result in answers if name and result == []]
    assert len(stored) == sum(1 for name, *_, result in answers if name and not isinstance(result, str))
    deletions = [(begin, end) for name, begin, end, result in answers if name is None and result == []]
    last_begin, last_end = max(begin for begin, _ in deletions), max(end for _, end in deletions)
    left = set(names(base))
    assert {name for name, begin, _ in stored if begin > last_end} <= left
    assert not left & {name for name, _, end in stored if end < last_begin}
    if left:
        require_sound(base / "default.db")


def test_the_log_of_a_file_that_is_gone_is_never_read(base: Path, start: Start) -> None:
    writer = start("""tell(create(store, "old")); wait()""")
    assert heard(writer) == []
    writer.kill()
    writer.wait()
    (base / "default.db").unlink()
    assert (base / "default.db-wal").stat().st_size > 0
    with Store(base) as store:
        call(store, "create_entities", {"entities": [{"name": "new"}]})
    assert names(base) == ["new"]


@pytest.mark.parametrize("size", [1, 200])
def test_a_killed_writer_leaves_a_whole_file_with_all_it_acknowledged(base: Path, start: Start, size: int) -> None:
    code = """
size = int(words[1])
for number in range(1_000_000):
    batch = [f"{words[0]}-{number}-{index}" for index in range(size)]
    if create(store, *batch) == []:
        tell(batch)
"""
    for turn in range(3):
        writers = [start(code, f"{turn}{letter}", size) for letter in "ab"]
        acknowledged = [name for writer in writers for name in heard(writer)]
        time.sleep(0.15 + 0.07 * turn)
        for writer in writers:
            writer.kill()
        acknowledged += [name for writer in writers for told in rest(writer) for name in told]
        require_sound(base / "default.db")
        with Store(base) as store:
            entities = call(store, "read_graph").result.entities
        assert set(acknowledged) <= {entity.name for entity in entities}
        assert {len(entity.observations) for entity in entities} == {2}
        assert len(entities) % size == 0


def test_a_writer_waits_for_anothers_lock(base: Path, ask: Ask, start: Start) -> None:
    ask("create_entities", entities=[{"name": "A"}])
    with locked(base / "default.db"):
        writer = start("""tell("ready"); tell(create(store, "B"))""")
        heard(writer)
        time.sleep(3)
        assert names(base) == ["A"]
    assert heard(writer) == []
    assert names(base) == ["A", "B"]


def test_a_writer_with_a_short_timeout_says_that_the_file_is_busy(base: Path, ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "A"}])
    with locked(base / "default.db"), Store(base, timeout=0.3) as store, pytest.raises(Busy, match=r"0\.3 s"):
        call(store, "create_entities", {"entities": [{"name": "B"}]})
    assert names(base) == ["A"]


def test_a_deletion_waits_for_a_writer(base: Path, ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "A"}])
    with locked(base / "default.db"), Store(base, timeout=0.3) as store, pytest.raises(Busy):
        call(store, "delete_category", {"category": "default"})
    assert names(base) == ["A"]


def test_readers_dont_wait_for_a_writer(base: Path, ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "A", "observations": ["amber"]}])
    with locked(base / "default.db") as conn:
        conn.execute("DELETE FROM entities")
        with Store(base, timeout=0) as store:
            assert len(call(store, "search_nodes", {"query": "amber"}).result.entities) == 1
            assert call(store, "list_categories").result == ["default"]
        assert names(base) == ["A"]


def test_a_reader_sees_one_state_throughout(base: Path, store: Store, ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "A"}])
    with store.reading(None) as transaction:
        count = "SELECT count(*) FROM entities"
        assert transaction.conn.execute(count).fetchone() == (1,)
        with Store(base) as other:
            call(other, "create_entities", {"entities": [{"name": "B"}]})
        assert transaction.conn.execute(count).fetchone() == (1,)
    assert len(ask("read_graph").result.entities) == 2


@pytest.mark.skipif(os.name == "nt", reason="an open file can't be deleted there")
def test_a_reader_that_holds_a_deleted_category_sees_the_new_one(base: Path, ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "A"}])
    with Store(base) as other:
        call(other, "delete_category", {"category": "default"})
        assert [notice.code for notice in ask("read_graph").notices] == ["no_such_category"]
        call(other, "create_entities", {"entities": [{"name": "B"}]})
        assert [entity.name for entity in ask("read_graph").result.entities] == ["B"]

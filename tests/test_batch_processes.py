"""`mmem batch` as a process: answers in time, whole after a kill, fair to others, bounded in memory."""

import json
import os
import random
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from mmem.registry import call
from mmem.store import Store

Process = subprocess.Popen[bytes]
Start = Callable[..., Process]
MMEM = [sys.executable, "-m", "mmem"]


def said(tool: str, id: Any = None, **arguments: Any) -> bytes:
    return json.dumps({"id": id, "tool": tool, "arguments": arguments}).encode() + b"\n"


def create(*names: str, **more: Any) -> bytes:
    return said("create_entities", names[0], entities=[{"name": n, "observations": ["x", "y"]} for n in names], **more)


def graph(base: Path, category: str = "default") -> dict[str, int]:
    """Return how many observations each entity has."""
    with Store(base) as store:
        entities = call(store, "read_graph", {"category": category}).result.entities
    return {entity.name: len(entity.observations) for entity in entities}


def require_sound(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert conn.execute("PRAGMA foreign_key_check").fetchall() == []
        assert conn.execute("SELECT version FROM schema_version").fetchall() == [(3,)]
        conn.execute("INSERT INTO fts_content(fts_content, rank) VALUES ('integrity-check', 1)")
        rows = "SELECT (SELECT count(*) FROM entities) + (SELECT count(*) FROM observations)"
        assert conn.execute("SELECT count(*) FROM fts_content_docsize").fetchone() == conn.execute(rows).fetchone()


@pytest.fixture
def start(base: Path) -> Iterator[Start]:
    """Start batches; whatever still runs at the end is killed."""
    with ExitStack() as running:

        def begin(*words: str, command: str = "batch", **given: Any) -> Process:
            pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            everything = [*MMEM, command, *words, "--base-dir", str(base)]
            process = running.enter_context(subprocess.Popen(everything, **{**pipes, **given}))
            running.callback(process.kill)
            return process

        yield begin


def tell(process: Process, *lines: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(b"".join(lines))
    process.stdin.flush()


def heard(process: Process) -> Any:
    """Return the next answer; fail where none comes."""
    assert process.stdout is not None
    if not select.select([process.stdout], [], [], 30)[0]:
        raise AssertionError("no answer")
    return json.loads(process.stdout.readline())


def whole(output: bytes) -> list[Any]:
    return [json.loads(line) for line in output.splitlines(keepends=True) if line.endswith(b"\n")]


def written(path: Path, *lines: bytes) -> str:
    path.write_bytes(b"".join(lines))
    return str(path)


def test_a_coprocess_answers_before_the_next_request_is_sent(base: Path, start: Start) -> None:
    process = start()
    for number in range(100):
        tell(process, create(f"{number}"))
        assert heard(process)["id"] == f"{number}"
        tell(process, said("open_nodes", number, entities=[f"{number}"]))
        assert heard(process)["result"]["entities"][0]["name"] == f"{number}"
    assert len(graph(base)) == 100
    assert (*process.communicate(), process.returncode) == (b"", b"", 0)


def test_half_a_line_delays_no_answer(start: Start) -> None:
    process = start()
    tell(process, create("A"), said("list_categories")[:20])
    assert heard(process)["id"] == "A"
    tell(process, said("list_categories")[20:])
    assert heard(process)["result"] == ["default"]


def test_after_kill_9_every_answered_request_is_there_and_no_half_one(tmp_path: Path, base: Path, start: Start) -> None:
    chance = random.Random(3)
    for turn in range(50):
        lines = [create(f"{turn}-{n}", f"{turn}-{n}b") for n in range(20_000)]
        with (tmp_path / "out").open("wb") as out:
            process = start(
                written(tmp_path / "in", *lines), "-c", f"c{turn % 7}", stdin=subprocess.DEVNULL, stdout=out
            )
            while not (tmp_path / "out").stat().st_size:
                time.sleep(0.001)
            time.sleep(chance.random() * 0.3)
            process.kill()
            process.wait()
        answered = {entity["name"] for a in whole((tmp_path / "out").read_bytes()) for entity in a["result"]}
        entities = graph(base, f"c{turn % 7}")
        assert answered <= entities.keys()
        assert set(entities.values()) == {2}
        assert {name.removesuffix("b") for name in entities} == {n for n in entities if not n.endswith("b")}
        require_sound(base / f"c{turn % 7}.db")


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("options", [[], ["--atomic"], ["--dry-run"]], ids=str)
@pytest.mark.parametrize(("sent", "statuses"), [("SIGINT", {130}), ("SIGTERM", {143, -signal.SIGTERM})])
def test_signals_end_it_with_what_was_answered_stored(
    base: Path, start: Start, options: list[str], sent: str, statuses: set[int]
) -> None:
    process = start(*options)
    tell(process, create("A"), said("list_categories"), create("C", category="c"))
    if options:
        time.sleep(0.5)
    else:
        assert [heard(process)["id"] for _ in range(3)] == ["A", None, "C"]
    process.send_signal(getattr(signal, sent))
    output, errors = process.communicate(timeout=30)
    assert (process.returncode in statuses, output, b"Traceback" in errors) == (True, b"", False)
    assert graph(base) == ({} if options else {"A": 2})


def test_an_interrupt_amid_a_file_stores_what_was_answered(tmp_path: Path, base: Path, start: Start) -> None:
    file = written(tmp_path / "in", *(create(f"{n}") for n in range(100_000)))
    with (tmp_path / "out").open("wb") as out:
        process = start(file, stdin=subprocess.DEVNULL, stdout=out)
        while not (tmp_path / "out").stat().st_size:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, b"mmem: interrupted\n")
    assert {answer["id"] for answer in whole((tmp_path / "out").read_bytes())} <= graph(base).keys()
    require_sound(base / "default.db")


def test_a_closed_stdout_ends_it_with_what_was_answered_stored(tmp_path: Path, base: Path, start: Start) -> None:
    file = written(tmp_path / "in", *(create(f"{n}") for n in range(30_000)))
    process = start(file)
    assert process.stdout is not None
    answered = [heard(process)["id"] for _ in range(10)]
    process.stdout.close()
    process.wait(timeout=30)
    assert process.returncode == 141
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert set(answered) <= graph(base).keys()
    require_sound(base / "default.db")


def test_two_batches_and_a_loop_of_commands_lose_nothing(tmp_path: Path, base: Path, start: Start) -> None:
    files = [written(tmp_path / letter, *(create(f"{letter}{n}") for n in range(20_000))) for letter in "ab"]
    batches = [start(file, "--errors-only", stdin=subprocess.DEVNULL) for file in files]
    for number in range(15):
        process = start(f"c{number}", command="create-entities")
        process.communicate(timeout=60)
        assert process.returncode == 0
    for batch in batches:
        assert (*batch.communicate(timeout=60), batch.returncode) == (b"", b"", 0)
    names = {f"{letter}{n}" for letter in "ab" for n in range(20_000)} | {f"c{n}" for n in range(15)}
    assert graph(base).keys() == names
    require_sound(base / "default.db")


def test_batches_that_alternate_over_two_categories_are_never_busy(tmp_path: Path, base: Path, start: Start) -> None:
    batches = []
    for letter, order in (("a", ["one", "two"]), ("b", ["two", "one"])):
        file = written(tmp_path / letter, *(create(f"{letter}{n}", category=order[n % 2]) for n in range(1_000)))
        batches.append(start(file, "--summary", "--errors-only", "--durable", "normal", stdin=subprocess.DEVNULL))
    for batch in batches:
        output, _ = batch.communicate(timeout=60)
        assert [json.loads(line)["summary"]["ok"] for line in output.splitlines()] == [1_000]
    assert len(graph(base, "one")) == len(graph(base, "two")) == 1_000


def test_a_single_writer_isnt_starved_by_a_long_batch(tmp_path: Path, base: Path, start: Start) -> None:
    file = written(tmp_path / "in", *(create(f"{n}") for n in range(200_000)))
    with (tmp_path / "out").open("wb") as out:
        batch = start(file, stdout=out, stdin=subprocess.DEVNULL)
        while not (tmp_path / "out").stat().st_size:
            time.sleep(0.001)
        for number in range(3):
            single = start(f"s{number}", command="create-entities")
            single.communicate(timeout=60)
            assert (single.returncode, batch.poll()) == (0, None)
        batch.kill()
        batch.wait()
    assert {"s0", "s1", "s2"} < graph(base).keys()


def test_input_from_a_file_or_from_stdin_and_the_exit_statuses(
    tmp_path: Path, mmem: Any, mmem_process: Callable[..., Any]
) -> None:
    good, bad = create("A"), b"{"
    (tmp_path / "good").write_bytes(good)
    assert mmem("batch", "good").exit_status == 0
    for words in (["batch"], ["batch", "-"], ["-c", "w", "batch", "--summary"]):
        assert mmem_process(*words, stdin=good).exit_status == 0
        assert mmem_process(*words, stdin=bad).exit_status == 1
    for words in (["batch", "missing"], ["batch", "."], ["batch", "--durable", "no"], ["batch", "good", "bad"]):
        ran = mmem(*words)
        assert (ran.exit_status, ran.stdout, len(ran.stderr.splitlines())) == (2, "", 1)
    assert graph(tmp_path / ".aim", "w") == {"A": 2}


_GROWTH = """
import json, resource, sys
from mmem.batch import Batch
from mmem.store import Store
text, count = "x" * (1 << 20), int(sys.argv[2])
with Store(sys.argv[1]) as store, Batch(store, lambda answers: None) as batch:
    for n in range(count):
        batch.feed([(n + 1, json.dumps(eval(sys.argv[3])).encode())])
        if n == count // 5:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
_NAMES = '{"id": f"{n}" * 40, "tool": f"t{n}" * 20} if n % 2 else {"tool": f"t{n}"}'
_LARGE = """{"tool": "create_entities", "arguments": {"entities": [{"name": f"{n}", "observations": [
    {"observationType": f"{k}", "text": text} for k in range(4)]}]}}"""


@pytest.mark.parametrize(("count", "line", "most"), [(200_000, _NAMES, 8_000), (80, _LARGE, 150_000)])
def test_memory_stays_bounded_whatever_is_asked_for(base: Path, count: int, line: str, most: int) -> None:
    assert int(subprocess.check_output([*MMEM[:1], "-c", _GROWTH, base, str(count), line], timeout=60)) < most  # KiB

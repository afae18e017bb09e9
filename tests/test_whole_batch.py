"""`mmem batch --atomic` stores all of it or nothing; `--dry-run` answers like a real run and stores nothing."""

import gc
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mmem.batch import Batch
from mmem.registry import call
from mmem.store import Store
from mmem.whole_batch import WholeBatch

PREDECESSOR = Path(__file__).with_name("predecessor") / "checkpointed.db"


def said(tool: str, id: Any = None, **arguments: Any) -> bytes:
    return json.dumps({"id": id, "tool": tool, "arguments": arguments}).encode()


def create(*names: str, id: Any = None, **more: Any) -> bytes:
    return said("create_entities", id, entities=[{"name": name} for name in names], **more)


def add(name: str, *texts: str, **more: Any) -> bytes:
    contents = [{"text": text, "timestamp": "2026-01-31"} for text in texts]
    return said("add_observations", observations=[{"entityName": name, "contents": contents}], **more)


def answers(base: Path, *lines: bytes, dry_run: bool = False, timeout: float = 30, **options: Any) -> list[Any]:
    written: list[bytes] = []
    with (
        Store(base, dry_run=dry_run, timeout=timeout) as store,
        WholeBatch(store, written.append, dry_run=dry_run, **options) as batch,
    ):
        for number, line in enumerate(lines, 1):
            batch.feed([(number, line)])
            batch.settle()
        batch.finish()
    return [json.loads(line) for line in b"".join(written).splitlines()]


atomic = partial(answers, atomic=True)
dry = partial(answers, dry_run=True)


def really(base: Path, *lines: bytes, mmem: Any) -> list[Any]:
    """Return the answers of a plain batch."""
    base.with_name("in").write_bytes(b"\n".join(lines))
    return list(map(json.loads, mmem("--base-dir", str(base), "batch", str(base.with_name("in"))).stdout.splitlines()))


def codes(answer: Any) -> list[str]:
    return [answer["error"]["code"]] if "error" in answer else [notice["code"] for notice in answer.get("notices", ())]


def stored(base: Path, category: str = "default") -> list[str]:
    with Store(base) as store:
        return [entity.name for entity in call(store, "read_graph", {"category": category}).result.entities]


def files(base: Path) -> list[str]:
    """Return the names of the files that are there, what SQLite keeps beside a database aside."""
    return sorted(file.name for file in base.rglob("*") if not file.name.endswith(("-wal", "-shm")))


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as conn:
        return [repr(row) for row in conn.execute("SELECT * FROM sqlite_schema")] + [
            repr((table, row))
            for (table,) in conn.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
            for row in conn.execute(f'SELECT * FROM "{table}"')
        ]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("BEGIN IMMEDIATE")
        yield
        conn.execute("ROLLBACK")


PLACES = ["default", "new", "old"]


def everywhere(*more: bytes) -> list[bytes]:
    return [*(create("N", id=category, category=category) for category in PLACES), *more]


@pytest.fixture
def old(base: Path) -> Path:
    with Store(base) as store:
        call(store, "create_entities", {"category": "old", "entities": [{"name": "O", "observations": ["x"]}]})
    return base


def test_an_atomic_batch_stores_all_of_it(old: Path) -> None:
    given = atomic(old, *everywhere(said("read_graph", category="old")))
    assert [answer["ok"] for answer in given] == [True] * 4
    assert [entity["name"] for entity in given[3]["result"]["entities"]] == ["O", "N"]
    assert [stored(old, category) for category in PLACES] == [["N"], ["N"], ["O", "N"]]


FAILURES = {
    "a request": (add("Z", "x"), "not_found"),
    "a line": (b"{", "invalid_json"),
    "a tool": (said("nope"), "unknown_tool"),
    "a category": (create("X", category="Bad"), "invalid_arguments"),
    "a deletion": (said("delete_category", category="old"), "invalid_request"),
}


@pytest.mark.parametrize(("line", "code"), FAILURES.values(), ids=list(FAILURES))
def test_after_any_failure_an_atomic_batch_stores_nothing(old: Path, line: bytes, code: str) -> None:
    before = dump(old / "old.db")
    given = atomic(old, *everywhere(line, create("L", id="later"), b"{", create("M", category="more")))
    assert [answer["id"] for answer in given] == [*PLACES, None, "later", None, None]
    assert [answer["line"] for answer in given] == [1, 2, 3, 4, 5, 6, 7]
    assert [codes(answer) for answer in given] == [*[["rolled_back"]] * 3, [code], *[["skipped"]] * 3]
    assert (files(old), dump(old / "old.db")) == (["old.db"], before)


def test_a_failing_first_request_leaves_no_directory(base: Path) -> None:
    assert ([codes(answer) for answer in atomic(base, add("Z", "x"))], base.exists()) == ([["not_found"]], False)


@pytest.mark.parametrize("options", [{"atomic": True}, {"stop_on_error": True}], ids=str)
def test_a_bad_line_after_joined_creates_that_fail_is_skipped(old: Path, options: dict[str, Any]) -> None:
    written: list[bytes] = []
    kind = WholeBatch if "atomic" in options else Batch
    with (
        locked(old / "old.db"),
        Store(old, "old", timeout=0.1) as store,
        kind(store, written.append, **options) as batch,
    ):
        batch.feed([(1, create("B")), (2, create("C")), (3, b"{"), (4, create("D"))])
        batch.finish()
    given = [json.loads(line) for line in b"".join(written).splitlines()]
    assert [codes(answer) for answer in given] == [["busy"], *[["skipped"]] * 3]


def test_a_category_that_stays_locked_rolls_all_back(old: Path) -> None:
    with locked(old / "old.db"):
        given = atomic(old, *everywhere(create("L")), timeout=0.1)
    assert [codes(answer) for answer in given] == [["rolled_back"], ["rolled_back"], ["busy"], ["skipped"]]
    assert files(old) == ["old.db"]
    assert stored(old, "old") == ["O"]


def test_an_interrupted_atomic_batch_leaves_nothing_behind(old: Path) -> None:
    before = dump(old / "old.db")
    written: list[bytes] = []
    with Store(old) as store, suppress(KeyboardInterrupt), WholeBatch(store, written.append, atomic=True) as batch:
        batch.feed(list(enumerate(everywhere(said("read_graph")), 1)))
        batch.settle()
        raise KeyboardInterrupt
    del batch
    gc.collect()  # says so if a file was left open
    assert (written, files(old), dump(old / "old.db")) == ([], ["old.db"], before)


def test_errors_only_says_what_was_undone(old: Path) -> None:
    given = atomic(old, create("A"), add("Z", "x"), create("B"), errors_only=True)
    assert [codes(answer) for answer in given] == [["rolled_back"], ["not_found"], ["skipped"]]
    assert atomic(old, create("A"), errors_only=True) == []
    assert stored(old) == ["A"]


def test_very_many_answers_wait_in_a_file(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    flush = WholeBatch._flush
    monkeypatch.setattr(WholeBatch, "_flush", lambda self: (sizes.append(len(self._held)), flush(self))[1])
    given = atomic(base, *(said("list_categories", n) for n in range(50_000)), create("A"))
    assert [answer["id"] for answer in given] == [*range(50_000), None]
    assert max(sizes) < 1_000


def test_more_categories_than_stay_open_are_stored_or_refused_whole(base: Path) -> None:
    given = atomic(base, *(create("A", category=f"c{n}") for n in range(60)))
    assert ({answer["ok"] for answer in given}, len(files(base))) in [({True}, 60), ({False}, 0)]


SCENE = [
    create("A", "B", "A"),
    create("a"),
    said("create_relations", relations=[{"from": "A", "to": "B", "relationType": "r"}]),
    add("A", "amber", "beryl"),
    add("Z", "x"),
    said("search_nodes", query="amber"),
    said("read_graph", category="none"),
    create("W", category="work"),
    said("list_categories"),
    said("delete_category", category="wurk"),
    said("delete_category", category="Bad"),
    said("delete_entities", entities=["B", "C"]),
    said("read_graph"),
    b"{",
    said("read_graph", category="work"),
    said("delete_category", category="work"),
]


def test_a_dry_run_answers_as_a_real_run_and_makes_no_file(tmp_path: Path, mmem: Any) -> None:
    place = tmp_path / "base"
    imagined = dry(place, *SCENE)
    assert not place.exists()
    assert imagined == really(place, *SCENE, mmem=mmem)


@pytest.mark.parametrize("predecessors", [False, True], ids=["own", "predecessor's"])
def test_a_dry_run_changes_nothing_that_is_there(tmp_path: Path, mmem: Any, predecessors: bool) -> None:
    base = tmp_path / "base"
    base.mkdir()
    if predecessors:
        shutil.copyfile(PREDECESSOR, base / "default.db")
    else:
        really(base, create("A", "Old"), create("W", category="work"), mmem=mmem)
    before = files(base), dump(base / "default.db")
    given = dry(base, *SCENE)
    assert (files(base), dump(base / "default.db")) == before
    assert given == really(base, *SCENE, mmem=mmem)


def test_a_dry_run_only_reports_a_deletion(old: Path) -> None:
    (given,) = dry(old, said("delete_category", category="old"))
    assert (given["result"], stored(old, "old")) == ("Category 'old' deleted successfully", ["O"])


@pytest.mark.parametrize(("line", "code"), FAILURES.values(), ids=list(FAILURES))
def test_an_atomic_dry_run_says_what_would_be_undone(old: Path, line: bytes, code: str) -> None:
    before = dump(old / "old.db")
    lines = everywhere(line, create("L"))
    given = dry(old, *lines, atomic=True)
    assert (files(old), dump(old / "old.db")) == (["old.db"], before)
    assert [codes(answer) for answer in given] == [*[["rolled_back"]] * 3, [code], ["skipped"]]
    assert given == atomic(old, *lines)


def test_an_atomic_dry_run_without_a_failure_stores_nothing(old: Path) -> None:
    imagined = dry(old, *everywhere(), atomic=True)
    assert files(old) == ["old.db"]
    assert imagined == atomic(old, *everywhere())

"""`mmem backup`: one state of a category in a file of its own, whole, checked, and never in another's place."""

import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest

from mmem.backups import backup
from mmem.errors import Busy, Conflict
from mmem.registry import call
from mmem.store import Store
from mmem.upkeep import purge

Ask = Callable[..., Any]
Run = Callable[..., Any]

_WORLD = [
    {"name": "Lamp", "entityType": "thing", "properties": {"wire": "copper"}, "observations": ["amber light", "lit"]},
    {"name": "Moth", "observations": ["amber wings"]},
]
_TIMED = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        yield conn


def graph(path: Path) -> Any:
    """Return what a backup holds, read as a category of its own folder."""
    place = path.parent / f"read-{path.stem}"
    place.mkdir()
    copyfile(path, place / "default.db")
    with Store(place) as store:
        return call(store, "read_graph").result


def files(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


@pytest.fixture
def world(ask: Ask) -> Any:
    """A small world in the default category, still open, so that its rows are in the log alone."""
    ask("create_entities", entities=_WORLD)
    ask("create_relations", relations=[{"from": "Moth", "to": {"name": "Lamp"}, "relationType": "seeks"}])
    return ask("read_graph").result


def test_it_holds_all_there_is_with_its_ids(tmp_path: Path, base: Path, world: Any, mmem: Run) -> None:
    assert (base / "default.db-wal").stat().st_size > 0
    ran = mmem("backup", "-o", "copy.db")
    path = tmp_path / "copy.db"
    assert ran.json == {
        "category": "default",
        "path": "copy.db",
        "bytes": path.stat().st_size,
        "entities": 2,
        "observations": 3,
        "relations": 1,
    }
    assert (ran.stderr, ran.exit_status) == ("", 0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with opened(path) as conn:
        assert conn.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert [name for name in files(tmp_path) if not name.startswith(".aim")] == ["copy.db"]
    assert graph(path) == world


def test_on_a_terminal_a_sentence_says_it(world: Any, mmem: Run) -> None:
    stdout = mmem("backup", "-o", "copy.db", terminal=True).stdout
    assert re.fullmatch(
        r"Backed up category 'default' to copy\.db: 2 entities, 3 observations and 1 relation in [\d,]+ bytes\n", stdout
    )


@pytest.mark.parametrize("words", [[], ["-o", "kept/"], ["-o", "there"]], ids=str)
def test_its_own_names_never_meet(tmp_path: Path, world: Any, mmem: Run, words: list[str]) -> None:
    (tmp_path / "there").mkdir()
    paths = [mmem("backup", *words).json["path"] for _ in range(3)]
    assert len({Path(path).resolve() for path in paths}) == 3
    assert all(re.fullmatch(rf"default-{_TIMED.pattern}(-\d)?\.db", Path(path).name) for path in paths)
    assert {Path(path).parent.name for path in paths} == {words[-1].rstrip("/") if words else ""}
    assert mmem("list-categories", "--base-dir", str(Path(paths[0]).parent)).json == []


def test_a_file_that_exists_is_replaced_only_on_a_yes(tmp_path: Path, world: Any, mmem: Run) -> None:
    path = tmp_path / "copy.db"
    path.write_text("mine")
    refused = mmem("backup", "-o", "copy.db")
    assert (refused.stdout, refused.exit_status) == ("", 2)
    assert "replaces copy.db" in refused.stderr
    assert "--yes" in refused.stderr
    assert mmem("backup", "-o", "copy.db", terminal=True, stdin="n\n").exit_status == 1
    assert path.read_text() == "mine"
    assert mmem("backup", "-o", "copy.db", terminal=True, stdin="y\n").exit_status == 0
    assert mmem("backup", "-o", "copy.db", "--yes").exit_status == 0
    assert graph(path) == world


def test_what_takes_its_name_meanwhile_stays(tmp_path: Path, store: Store, world: Any) -> None:
    path = tmp_path / "copy.db"
    with pytest.raises(Conflict, match=r"copy\.db was made by another program"):
        backup(store, "default", str(path), progress=lambda done, total: path.write_text("theirs") and None)
    assert path.read_text() == "theirs"
    assert [name for name in files(tmp_path) if not name.startswith(".aim")] == ["copy.db"]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (".aim", "would stand among the categories"),
        (".aim/", "would stand among the categories"),
        (".aim/copy.db", "would stand among the categories"),
        ("link/copy.db", "would stand among the categories"),
        ("nowhere/copy.db", "there is no folder nowhere"),
        ("-", "standard output"),
        ("pipe", "isn't a file"),
        ("used.db", "log is used.db-wal"),
    ],
)
def test_a_place_where_it_can_not_be_is_refused(
    tmp_path: Path, base: Path, world: Any, mmem: Run, output: str, said: str
) -> None:
    (tmp_path / "link").symlink_to(base)
    (tmp_path / "used.db-wal").write_text("log")
    os.mkfifo(tmp_path / "pipe")
    before = files(tmp_path)
    ran = mmem("backup", "--yes", "-o", output)
    assert (ran.stdout, ran.exit_status, ran.stderr.count("\n")) == ("", 2, 1)
    assert said in ran.stderr
    assert files(tmp_path) == before


def test_in_the_base_directory_itself_it_asks_for_another_place(
    base: Path, world: Any, mmem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(base)
    assert mmem("backup", "--base-dir", ".").exit_status == 2
    assert mmem("backup", "--base-dir", ".", "--all-categories").exit_status == 0


def test_a_category_that_does_not_exist_is_not_found(tmp_path: Path, world: Any, mmem: Run) -> None:
    ran = mmem("backup", "-c", "defult", "-o", "new/folder/")
    assert (ran.stdout, ran.exit_status) == ("", 3)
    assert "did you mean 'default'" in ran.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("option", ["-a", "--all", "--all-categories"])
def test_all_categories_get_a_file_each(tmp_path: Path, world: Any, ask: Ask, mmem: Run, option: str) -> None:
    ask("create_entities", category="work", entities=[{"name": "A"}])
    ran = mmem("backup", option)
    assert [(one["category"], one["entities"]) for one in ran.json] == [("default", 2), ("work", 1)]
    (folder,) = {Path(one["path"]).parent for one in ran.json}
    assert re.fullmatch(rf"mmem-backup-{_TIMED.pattern}", folder.name)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert mmem("backup", option, "-c", "work").exit_status == 2


def test_one_damaged_category_keeps_no_other_from_it(base: Path, world: Any, ask: Ask, mmem: Run) -> None:
    ask("create_entities", category="aged", entities=[{"name": "A"}])
    with opened(base / "aged.db") as conn:
        conn.execute("INSERT INTO schema_version VALUES (99)")
    ran = mmem("backup", "--all-categories", "-o", "kept")
    assert ([one["category"] for one in ran.json], ran.exit_status) == (["default"], 5)
    assert "aged.db was made by a newer program" in ran.stderr


def test_all_of_nothing_is_an_error(tmp_path: Path, mmem: Run) -> None:
    ran = mmem("backup", "--all-categories", "-o", "kept")
    assert (ran.stdout, ran.exit_status) == ("", 3)
    assert "there are no categories in" in ran.stderr
    assert files(tmp_path) == []


def damage_a_page(path: Path) -> None:
    """Overwrite the page where the index over the entities' names begins."""
    with opened(path) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (root,) = conn.execute("SELECT rootpage FROM sqlite_master WHERE name = 'idx_entities_name'").fetchone()
        (size,) = conn.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    content[(root - 1) * size : root * size] = b"\xff" * size
    path.write_bytes(content)


def test_a_damaged_category_is_said_and_leaves_nothing(
    tmp_path: Path, base: Path, store: Store, world: Any, mmem: Run
) -> None:
    store.close()
    damage_a_page(base / "default.db")
    before = files(tmp_path)
    ran = mmem("backup", "-o", "kept/")
    assert (ran.stdout, ran.exit_status, ran.stderr.count("\n")) == ("", 5, 1)
    assert "default.db is damaged" in ran.stderr
    assert "no backup was made" in ran.stderr
    assert files(tmp_path) == before


@pytest.mark.parametrize("table", ["docsize", "data", "config"])
def test_an_index_that_does_not_fit_the_rows_is_made_anew_in_it(
    tmp_path: Path, base: Path, store: Store, world: Any, mmem: Run, table: str
) -> None:
    store.close()
    with opened(base / "default.db") as conn:
        conn.execute(f"DELETE FROM fts_content_{table}")
    before = (base / "default.db").read_bytes()
    ran = mmem("backup", "-o", "copy.db", "--errors", "json")
    assert json.loads(ran.stderr)["code"] == "index_healed"
    assert (base / "default.db").read_bytes() == before
    with opened(tmp_path / "copy.db") as conn:
        conn.execute("INSERT INTO fts_content(fts_content, rank) VALUES ('integrity-check', 1)")
        assert conn.execute("SELECT count(*) FROM fts_content_docsize").fetchone() == (5,)


def test_rows_of_entities_that_are_gone_are_kept_and_counted(tmp_path: Path, base: Path, world: Any, mmem: Run) -> None:
    with opened(base / "default.db") as conn:
        conn.execute("DELETE FROM entities WHERE name = 'Lamp'")
    ran = mmem("backup", "-o", "copy.db")
    assert (ran.json["entities"], ran.json["observations"], ran.exit_status) == (1, 3, 0)
    assert ran.json["leftBehind"] >= 3
    assert "of entities that are gone" in mmem("backup", "-o", "copy.db", "--yes", terminal=True).stdout


def dump(path: Path) -> list[str]:
    with opened(path) as conn:
        return list(conn.iterdump())


@pytest.mark.parametrize("name", ["checkpointed", "with-wal"])
def test_a_predecessors_file_is_backed_up_as_it_is(tmp_path: Path, base: Path, mmem: Run, name: str) -> None:
    base.mkdir()
    for suffix in ("", "-wal"):
        file = Path(__file__).with_name("predecessor") / f"{name}.db{suffix}"
        if file.exists():
            copyfile(file, base / f"default.db{suffix}")
    ran = mmem("backup", "-o", "copy.db")
    assert (ran.json["entities"], ran.stderr, ran.exit_status) == (3, "", 0)
    assert dump(tmp_path / "copy.db") == dump(base / "default.db")


def test_without_fts5_it_is_backed_up_and_restored(tmp_path: Path, world: Any, mmem_process: Run) -> None:
    program = str(Path(__file__).with_name("without_fts5.py"))
    ran = mmem_process("backup", "-o", "copy.db", program=program)
    assert (ran.json["entities"], ran.exit_status) == (2, 0)
    ran = mmem_process("restore", "copy.db", program=program)
    assert (ran.json["category"], ran.json["entities"], ran.exit_status) == ("copy", 2, 0)
    assert graph(tmp_path / "copy.db") == world


_WRITER = """
import itertools, sys
from mmem.registry import call
from mmem.store import Store
with Store(sys.argv[1]) as store:
    for number in itertools.count():
        pair = [{"name": f"{side}{number}", "observations": [f"half {number}"]} for side in ("left", "right")]
        call(store, "create_entities", {"entities": pair})
        print(number, flush=True)
"""


def test_whatever_is_written_meanwhile_it_is_one_state(tmp_path: Path, base: Path, mmem: Run) -> None:
    command = [sys.executable, "-c", _WRITER, str(base)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        try:
            assert writer.stdout is not None
            for number in range(4):
                acknowledged = [int(writer.stdout.readline()) for _ in range(50)][-1]
                ran = mmem("backup", "-o", f"{number}.db")
                assert (ran.exit_status, ran.stderr) == (0, "")
                held = {entity.name for entity in graph(tmp_path / f"{number}.db").entities}
                assert {f"{side}{n}" for n in range(acknowledged + 1) for side in ("left", "right")} <= held
                assert {name.replace("left", "right") for name in held} == {n for n in held if n.startswith("right")}
        finally:
            writer.kill()


def raising(error: BaseException, part: float) -> Callable[[int, int], None]:
    """Return a progress that raises once a part of the work is done."""

    def show(done: int, total: int) -> None:
        if done >= total * part:
            raise error

    return show


def test_an_interrupt_leaves_nothing(tmp_path: Path, store: Store, world: Any) -> None:
    before = files(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        backup(store, "default", "new/copy.db", progress=raising(KeyboardInterrupt(), 0))
    assert files(tmp_path) == before
    assert not (tmp_path / "new").exists()
    assert backup(store, "default", "copy.db").result.entities == 2


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_it_with_nothing_left(tmp_path: Path, base: Path, ask: Ask, store: Store) -> None:
    for part in range(4):
        rows = [{"name": f"E{part}-{n}", "observations": [f"{n} " * 20]} for n in range(3_000)]
        ask("create_entities", entities=rows)
    store.close()
    kept = tmp_path / "kept"
    kept.mkdir()
    command = [sys.executable, "-m", "mmem", "backup", "-o", str(kept)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not any(kept.iterdir()) and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, "mmem: interrupted\n")
    assert files(kept) == []


@pytest.mark.skipif(os.name == "nt", reason="ulimit")
def test_a_file_that_may_not_grow_leaves_nothing(tmp_path: Path, world: Any) -> None:
    script = f"ulimit -f 20; {sys.executable} -m mmem backup -o copy.db"
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (5, "", 1)
    assert "copy.db" in ran.stderr
    assert [name for name in files(tmp_path) if not name.startswith(".aim")] == []


def test_what_was_purged_is_in_no_later_backup(tmp_path: Path, store: Store, ask: Ask, mmem: Run) -> None:
    ask("create_entities", entities=[{"name": "Lamp", "observations": ["kwyjbolnarp"]}])
    mmem("backup", "-o", "before.db")
    ask("delete_observations", deletions=[{"entityName": "Lamp"}])
    mmem("purge")
    mmem("backup", "-o", "after.db")
    assert b"kwyjbolnarp" in (tmp_path / "before.db").read_bytes()
    assert b"kwyjbolnarp" not in (tmp_path / "after.db").read_bytes()


def test_a_purge_meanwhile_names_who_holds_it_back(tmp_path: Path, base: Path, store: Store, world: Any) -> None:
    errors: list[Busy] = []

    def purging(done: int, total: int) -> None:
        if not errors:
            with Store(base, timeout=0.1) as other, pytest.raises(Busy, match="another process is reading") as caught:
                purge(other, "default")
            errors.append(caught.value)

    backup(store, "default", "copy.db", progress=purging)
    assert len(errors) == 1
    assert graph(tmp_path / "copy.db") == world

"""`mmem restore`: a category comes back whole, what it replaces is kept, and nobody's write is lost on the way."""

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile, move
from typing import Any

import pytest

from mmem import schema, semantic
from mmem.errors import Busy, Conflict
from mmem.registry import call
from mmem.restores import plan, restore
from mmem.store import Store

Ask = Callable[..., Any]
Run = Callable[..., Any]

_OLD = [{"name": "Lamp", "entityType": "thing", "observations": ["amber light", "lit"]}, {"name": "Moth"}]
_PREDECESSOR = Path(__file__).with_name("predecessor")


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        yield conn


def graph(path: Path) -> Any:
    """Return what a file holds, read as a category of a folder of its own."""
    place = path.parent / f"read-{path.stem}"
    place.mkdir()
    copyfile(path, place / "default.db")
    with Store(place) as store:
        return call(store, "read_graph").result


def names(outcome: Any) -> set[str]:
    return {entity.name for entity in outcome.result.entities}


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, but for what SQLite keeps in memory that processes share."""
    found = (file for file in folder.rglob("*") if file.is_file() and not file.name.endswith("-shm"))
    return {str(file.relative_to(folder)): file.read_bytes() for file in found}


@pytest.fixture
def kept(tmp_path: Path, store: Store, ask: Ask, mmem: Run) -> Path:
    """A backup of the category `work`, which got one more entity since."""
    ask("create_entities", category="work", entities=_OLD)
    ask("create_relations", category="work", relations=[{"from": "Moth", "to": "Lamp", "relationType": "seeks"}])
    mmem("backup", "-c", "work", "-o", "work.db")
    ask("create_entities", category="work", entities=[{"name": "New"}])
    store.close()
    return tmp_path / "work.db"


def test_a_category_that_is_gone_comes_back_with_its_ids(base: Path, kept: Path, ask: Ask, mmem: Run) -> None:
    ask("delete_category", category="work")
    before = contents(kept.parent)
    ran = mmem("restore", "work.db")
    assert ran.json == {
        "category": "work",
        "path": "work.db",
        "bytes": kept.stat().st_size,
        "entities": 2,
        "observations": 2,
        "relations": 1,
    }
    assert (ran.stderr, ran.exit_status) == ("", 0)
    assert contents(kept.parent).keys() - before.keys() == {".aim/work.db"}
    assert stat.S_IMODE((base / "work.db").stat().st_mode) == 0o600
    assert ask("read_graph", category="work").result == graph(kept)
    outcome = ask("create_entities", category="work", entities=[{"name": "Next"}])
    assert (outcome.result[0].id, outcome.notices) == ("3", [])


def test_a_category_that_exists_is_replaced_and_kept(base: Path, kept: Path, ask: Ask, mmem: Run) -> None:
    before = ask("read_graph", category="work").result
    ran = mmem("restore", "work.db", "--yes")
    replaced = Path(ran.json["replaced"])
    assert (replaced.parent, replaced.name[:5], ran.stderr) == (base / "replaced", "work-", "")
    assert ask("read_graph", category="work").result == graph(kept)
    assert graph(replaced) == before
    assert stat.S_IMODE(replaced.stat().st_mode) == 0o600
    assert stat.S_IMODE(replaced.parent.stat().st_mode) == 0o700
    assert mmem("list-categories").json == ["work"]
    assert mmem("restore", str(replaced), "--yes").json["category"] == "work"
    assert ask("read_graph", category="work").result == before


@pytest.mark.parametrize("answer", [None, "n\n", ""])
def test_without_a_yes_it_stays_as_it_is(kept: Path, mmem: Run, answer: str | None) -> None:
    before = contents(kept.parent)
    ran = mmem("restore", "work.db", terminal=answer is not None, stdin=answer or "")
    assert (ran.stdout, ran.exit_status) == ("", 2 if answer is None else 1)
    asked = "Replace category 'work' (3 entities) with work.db? What it is now is kept. [y/N]"
    assert (asked if answer is not None else "--yes") in ran.stderr
    assert contents(kept.parent) == before


def test_on_a_terminal_a_sentence_says_where_the_one_before_is(kept: Path, mmem: Run) -> None:
    ran = mmem("restore", "work.db", terminal=True, stdin="y\n")
    said = "Restored category 'work' from work.db: 2 entities, 2 observations and 1 relation; the one before is kept in"
    assert ran.stdout.startswith(said)
    assert ran.exit_status == 0


@pytest.mark.parametrize(
    ("name", "words", "category"),
    [
        ("work-2026-11-30T09-30-00Z.db", [], "work"),
        ("work-2026-11-30T09-30-00Z-2.db", [], "work"),
        ("a-b_c.db", [], "a-b_c"),
        ("My Backup.sqlite", ["-c", "home"], "home"),
        ("work.db", ["-c", "home"], "home"),
    ],
)
def test_the_name_tells_the_category(kept: Path, mmem: Run, name: str, words: list[str], category: str) -> None:
    kept.rename(kept.with_name(name))
    assert mmem("restore", name, "--yes", *words).json["category"] == category


@pytest.mark.parametrize(
    ("name", "words", "status", "said"),
    [
        ("My Backup.db", [], 2, "say it with -c"),
        ("work.sqlite", [], 2, "say it with -c"),
        ("con.db", [], 2, "say it with -c"),
        ("work.db", ["-c", "Work"], 2, "isn't a valid name"),
        ("work.db", ["nowhere.db"], 2, "there is no file nowhere.db"),
        ("work.db", ["folder"], 2, "there is no backup in folder"),
        ("work.db", ["folder/pipe"], 2, "say it with -c"),
        ("work.db", ["folder/../work.db"], 2, "would both become category 'work'"),
        ("work.db", ["work.db", "-c", "home"], 2, "there are 2 files"),
    ],
)
def test_words_that_leave_it_open_are_refused(
    kept: Path, mmem: Run, name: str, words: list[str], status: int, said: str
) -> None:
    (kept.parent / "folder").mkdir()
    kept.rename(kept.with_name(name))
    before = contents(kept.parent)
    ran = mmem("restore", name, "--yes", *words)
    assert (ran.stdout, ran.exit_status, ran.stderr.count("\n")) == ("", status, 1)
    assert said in ran.stderr
    assert contents(kept.parent) == before


def test_the_category_itself_is_no_backup_of_it(base: Path, kept: Path, mmem: Run) -> None:
    ran = mmem("restore", ".aim/work.db", "--yes")
    assert (ran.exit_status, "is category 'work' itself" in ran.stderr) == (2, True)


# What can't be restored.


def of_other_tables(path: Path) -> None:
    path.unlink()
    with opened(path) as conn:
        conn.execute("CREATE TABLE invoices (id)")


def of_a_newer_program(path: Path) -> None:
    with opened(path) as conn:
        conn.execute("INSERT INTO schema_version VALUES (99)")


def with_a_page_of(byte: bytes) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with opened(path) as conn:
            (root,) = conn.execute("SELECT rootpage FROM sqlite_master WHERE name = 'entities'").fetchone()
        content = bytearray(path.read_bytes())
        content[(root - 1) * 4096 : root * 4096] = byte * 4096
        path.write_bytes(content)

    return damage


def with_a_row_missing_from_an_index(path: Path) -> None:
    with opened(path) as conn:
        (root,) = conn.execute("SELECT rootpage FROM sqlite_master WHERE name = 'idx_entities_name'").fetchone()
        (empty,) = conn.execute("SELECT rootpage FROM sqlite_master WHERE name = 'idx_mmem_names_key'").fetchone()
        conn.execute("DELETE FROM mmem_names")
    content = bytearray(path.read_bytes())
    content[(root - 1) * 4096 : root * 4096] = content[(empty - 1) * 4096 : empty * 4096]
    path.write_bytes(content)


def a_shell(path: Path) -> None:
    path.unlink()
    with opened(path) as conn:
        conn.execute("PRAGMA journal_mode = WAL")


_UNUSABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a text": (lambda path: path.write_text("not a database, but long enough for its head" * 20), "is not a database"),
    "nothing": (lambda path: path.write_bytes(b""), "is empty"),
    "half of it": (lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]), "is damaged"),
    "a page of zeros": (with_a_page_of(b"\0"), "is damaged"),
    "a page of noise": (with_a_page_of(b"\x9d"), "is damaged"),
    "an index without a row": (with_a_row_missing_from_an_index, "is damaged"),
    "other tables": (of_other_tables, "its tables: invoices"),
    "a newer schema": (of_a_newer_program, "upgrade mmem"),
    "a shell": (a_shell, "work.db-wal isn't there"),
    "a journal": (lambda path: Path(f"{path}-journal").write_text("rows"), "work.db-journal"),
}


@pytest.mark.parametrize("what", _UNUSABLE)
def test_a_file_that_is_not_sound_changes_nothing(kept: Path, ask: Ask, store: Store, mmem: Run, what: str) -> None:
    spoil, said = _UNUSABLE[what]
    spoil(kept)
    before = contents(kept.parent)
    for words in (["--yes"], ["-c", "home"], ["--base-dir", "new/place"]):
        ran = mmem("restore", "work.db", *words)
        assert (ran.stdout, ran.exit_status, ran.stderr.count("\n")) == ("", 5, 1)
        assert said in ran.stderr
        assert ran.stderr.startswith("mmem: work.db")
    assert contents(kept.parent) == before
    assert not (kept.parent / "new").exists()


def test_where_one_of_many_is_damaged_none_is_restored(kept: Path, ask: Ask, mmem: Run) -> None:
    copyfile(kept, kept.with_name("home.db"))
    with_a_page_of(b"\0")(kept)
    ran = mmem("restore", "home.db", "work.db", "--yes")
    assert (ran.stdout, ran.exit_status) == ("", 5)
    assert mmem("list-categories").json == ["work"]


def test_an_index_that_does_not_fit_is_made_anew(kept: Path, ask: Ask, mmem: Run) -> None:
    with opened(kept) as conn:
        conn.execute("DELETE FROM fts_content_docsize")
    ran = mmem("restore", "work.db", "--yes", "--errors", "json")
    assert json.loads(ran.stderr)["code"] == "index_healed"
    assert mmem("reindex", "-c", "work").json["sound"] is True


# Other sources.


def test_a_live_category_is_read_with_its_log_and_not_changed(tmp_path: Path, mmem: Run) -> None:
    other = tmp_path / "other"
    with Store(other) as live:
        call(live, "create_entities", {"category": "work", "entities": _OLD})
        before = contents(other)
        assert len(before["work.db-wal"]) > 0
        assert mmem("restore", "other/work.db").json["entities"] == 2
        assert contents(other) == before
        assert mmem("read-graph", "-c", "work").json["entities"][0]["name"] == "Lamp"


@pytest.mark.parametrize("name", ["checkpointed", "with-wal"])
def test_a_predecessors_file_is_restored_and_converted_by_the_first_write(
    tmp_path: Path, mmem: Run, ask: Ask, name: str
) -> None:
    for suffix in ("", "-wal"):
        if (_PREDECESSOR / f"{name}.db{suffix}").exists():
            copyfile(_PREDECESSOR / f"{name}.db{suffix}", tmp_path / f"work.db{suffix}")
    before = contents(tmp_path)
    assert mmem("restore", "work.db").json["entities"] == 3
    assert {file: one for file, one in contents(tmp_path).items() if not file.startswith(".aim")} == before
    outcome = ask("create_entities", category="work", entities=[{"name": "New"}])
    assert [notice.code for notice in outcome.notices] == ["repaired"]
    assert names(ask("search_nodes", category="work", query="three")) == {"Alpha"}


def test_the_shell_of_a_predecessors_file_is_named(tmp_path: Path, mmem: Run) -> None:
    copyfile(_PREDECESSOR / "with-wal.db", tmp_path / "work.db")
    ran = mmem("restore", "work.db")
    assert (ran.exit_status, "work.db-wal isn't there" in ran.stderr) == (5, True)


def test_a_folder_gives_the_newest_of_each_category(tmp_path: Path, kept: Path, ask: Ask, mmem: Run) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    for name in ("work-2026-11-30T09-30-00Z", "work-2026-11-30T09-30-00Z-2", "work-2025-12-30T09-30-00Z", "My"):
        copyfile(kept, folder / f"{name}.db")
    with Store(folder / "made") as other:
        call(other, "create_entities", {"category": "home", "entities": [{"name": "A"}]})
    move(folder / "made" / "home.db", folder / "home.db")
    ran = mmem("restore", "all", "--yes")
    assert [(one["category"], Path(one["path"]).name) for one in ran.json] == [
        ("home", "home.db"),
        ("work", "work-2026-11-30T09-30-00Z-2.db"),
    ]
    assert ran.stderr.startswith("mmem: skipped: all/My.db isn't named for a category")


def test_a_folder_that_leaves_the_newest_open_is_refused(tmp_path: Path, kept: Path, mmem: Run) -> None:
    copyfile(kept, kept.with_name("work-2026-11-30T09-30-00Z.db"))
    ran = mmem("restore", ".", "--yes")
    assert (ran.exit_status, "work.db has no time in its name" in ran.stderr) == (2, True)


@pytest.mark.parametrize("pragma", ["page_size = 8192", "auto_vacuum = FULL"])
def test_a_file_of_another_form_is_restored(base: Path, kept: Path, ask: Ask, mmem: Run, pragma: str) -> None:
    with opened(kept) as conn:
        conn.execute(f"PRAGMA {pragma}")
        conn.execute("VACUUM")
    ran = mmem("restore", "work.db", "--yes")
    assert (ran.json["entities"], ran.stderr) == (2, "")
    assert names(ask("search_nodes", category="work", query="amber")) == {"Lamp"}
    with opened(base / "work.db") as conn:
        assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert conn.execute(f"PRAGMA {pragma.split()[0]}").fetchone() == ((4096 if "size" in pragma else 0),)


def in_utf16(path: Path) -> None:
    path.unlink()
    with opened(path) as conn:
        conn.execute("PRAGMA encoding = 'UTF-16le'")
        for statement in schema.TABLES.values():
            conn.execute(statement)
        conn.execute("INSERT INTO entities(name, entity_type) VALUES ('Wide', '')")


def test_a_file_in_another_encoding_takes_no_other_ones_place(kept: Path, ask: Ask, mmem: Run) -> None:
    in_utf16(kept)
    before = ask("read_graph", category="work").result
    ran = mmem("restore", "work.db", "--yes")
    assert (ran.exit_status, "delete the category first" in ran.stderr) == (5, True)
    assert ask("read_graph", category="work").result == before
    ask("delete_category", category="work")
    assert mmem("restore", "work.db").exit_status == 0
    assert names(ask("read_graph", category="work")) == {"Wide"}


# What stands in the category's place.


def test_a_category_without_a_log_is_replaced_and_kept(base: Path, kept: Path, ask: Ask, mmem: Run) -> None:
    with opened(base / "work.db") as conn:
        conn.execute("PRAGMA journal_mode = DELETE")
    ran = mmem("restore", "work.db", "--yes")
    assert names(ask("read_graph", category="work")) == {"Lamp", "Moth"}
    assert {entity.name for entity in graph(Path(ran.json["replaced"])).entities} == {"Lamp", "Moth", "New"}


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20_000])


@pytest.mark.parametrize(
    "spoil",
    [lambda path: path.write_bytes(b"\xff" * 9_000), cut, with_a_page_of(b"\0")],
    ids=["noise", "cut short", "a page of zeros"],
)
def test_a_damaged_category_is_replaced_and_kept(base: Path, kept: Path, ask: Ask, mmem: Run, spoil: Any) -> None:
    path = base / "work.db"
    spoil(path)
    before = path.read_bytes()
    assert mmem("restore", "work.db").exit_status == 2
    ran = mmem("restore", "work.db", "--yes")
    assert (ran.stderr, ran.exit_status) == ("", 0)
    assert ask("read_graph", category="work").result == graph(kept)
    assert Path(ran.json["replaced"]).read_bytes()[100:] == before[100:]  # but for what is counted in the file's head


def test_the_log_of_a_damaged_category_is_kept_with_it(base: Path, kept: Path, ask: Ask, mmem: Run) -> None:
    (base / "work.db").write_bytes(b"\xff" * 9_000)
    (base / "work.db-wal").write_bytes(b"log")
    replaced = Path(mmem("restore", "work.db", "--yes").json["replaced"])
    assert (replaced.read_bytes(), Path(f"{replaced}-wal").read_bytes()) == (b"\xff" * 9_000, b"log")
    assert names(ask("read_graph", category="work")) == {"Lamp", "Moth"}


@pytest.mark.parametrize("spoil", [of_other_tables, of_a_newer_program], ids=lambda spoil: spoil.__name__)
def test_what_is_not_a_memory_of_ours_is_left_alone(base: Path, kept: Path, mmem: Run, spoil: Any) -> None:
    spoil(base / "work.db")
    before = contents(kept.parent)
    ran = mmem("restore", "work.db", "--yes")
    assert (ran.exit_status, ran.stdout, ran.stderr.count("\n")) == (5, "", 1)
    assert contents(kept.parent) == before


@pytest.mark.parametrize("make", [a_shell, lambda path: path.write_bytes(b"")], ids=["a shell", "an empty file"])
def test_a_file_that_holds_nothing_yet_is_filled_without_asking(
    base: Path, kept: Path, ask: Ask, mmem: Run, make: Any
) -> None:
    make(base / "work.db")
    ran = mmem("restore", "work.db")
    assert ("replaced" in ran.json, ran.exit_status) == (False, 0)
    assert names(ask("read_graph", category="work")) == {"Lamp", "Moth"}


# Others at the same time.

_MMEM_WRITER = """
import itertools, sys
from mmem.registry import call
from mmem.store import Store
with Store(sys.argv[1]) as store:
    for number in itertools.count():
        call(store, "create_entities", {"category": "work", "entities": [{"name": f"w{number}"}]})
        print(f"w{number}", flush=True)
"""
_OTHER_WRITER = """
import itertools, sqlite3, sys
conn = sqlite3.connect(f"{sys.argv[1]}/work.db", isolation_level=None, timeout=30)
for number in itertools.count():
    conn.execute("INSERT INTO entities(name, entity_type) VALUES (?, '')", (f"w{number}",))
    print(f"w{number}", flush=True)
"""


@pytest.mark.parametrize("code", [_MMEM_WRITER, _OTHER_WRITER], ids=["mmem", "a program that knows nothing of mmem"])
def test_what_another_process_writes_is_in_the_old_or_in_the_new(
    base: Path, kept: Path, ask: Ask, mmem: Run, code: str
) -> None:
    replaced = []
    command = [sys.executable, "-c", code, str(base)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        try:
            acknowledged = [writer.stdout.readline().strip() for _ in range(100)]
            for _ in range(3):
                replaced.append(Path(mmem("restore", "work.db", "--yes").json["replaced"]))
                acknowledged += [writer.stdout.readline().strip() for _ in range(100)]
        finally:
            writer.kill()
        acknowledged += [line.strip() for line in writer.stdout if line.endswith("\n")]
    stored = names(ask("read_graph", category="work")).union(
        *({entity.name for entity in graph(path).entities} for path in replaced)
    )
    assert set(acknowledged) <= stored
    assert len(acknowledged) >= 400
    with opened(base / "work.db") as conn:
        assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        conn.execute("INSERT INTO fts_content(fts_content, rank) VALUES ('integrity-check', 1)")


def test_a_process_that_has_it_open_goes_on_with_the_new_one(base: Path, kept: Path, store: Store, ask: Ask) -> None:
    assert names(ask("search_nodes", category="work", query="new")) == {"New"}
    watch = store.watch("work")
    with Store(base) as other:
        list(restore(other, plan(other, [str(kept)], None)))
    assert watch.changed()
    watch.close()
    assert names(ask("search_nodes", category="work", query="new")) == set()
    assert ask("create_entities", category="work", entities=[{"name": "Next"}]).result[0].id == "3"
    assert names(ask("read_graph", category="work")) == {"Lamp", "Moth", "Next"}


def test_a_reader_keeps_the_state_that_it_reads(base: Path, kept: Path, store: Store, mmem: Run) -> None:
    count = "SELECT count(*) FROM entities"
    with store.reading("work") as transaction:
        assert transaction.conn.execute(count).fetchone() == (3,)
        assert mmem("restore", "work.db", "--yes").exit_status == 0
        assert transaction.conn.execute(count).fetchone() == (3,)
    with store.reading("work") as transaction:
        assert transaction.conn.execute(count).fetchone() == (2,)


def test_who_writes_for_too_long_is_named(
    base: Path, kept: Path, store: Store, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mmem.swapping.TIMEOUT", 0.2)
    with opened(base / "work.db") as writer:
        writer.execute("BEGIN IMMEDIATE")
        before = contents(kept.parent)
        with pytest.raises(Busy, match="another process has been writing"):
            list(restore(store, plan(store, [str(kept)], None)))
        writer.execute("ROLLBACK")
        assert contents(kept.parent) == before
    assert names(ask("read_graph", category="work")) == {"Lamp", "Moth", "New"}


def test_a_category_that_was_created_meanwhile_stays(kept: Path, store: Store, ask: Ask) -> None:
    planned = plan(store, [str(kept)], "home")
    ask("create_entities", category="home", entities=[{"name": "Theirs"}])
    with pytest.raises(Conflict, match=r"home\.db was made by another program"):
        list(restore(store, planned))
    assert names(ask("read_graph", category="home")) == {"Theirs"}


def test_a_category_that_was_deleted_meanwhile_is_not_replaced(kept: Path, base: Path, store: Store, ask: Ask) -> None:
    planned = plan(store, [str(kept)], None)
    ask("delete_category", category="work")
    ask("create_entities", category="home", entities=[{"name": "A"}])
    with pytest.raises(Conflict, match="is gone"):
        list(restore(store, planned))
    assert sorted(file.name for file in base.glob("*") if file.suffix == ".db") == ["home.db"]


class _Raises:
    """A progress that raises at the nth or at the last step of the part in which a category is replaced."""

    def __init__(self, base: Path, *, last: bool) -> None:
        self._folder, self._last = base / "replaced", last

    def __call__(self, done: int, total: int) -> None:
        if self._folder.exists() and any(self._folder.glob("*.db")) and (done == total or not self._last):
            raise KeyboardInterrupt


@pytest.mark.parametrize("last", [False, True], ids=["before the commit", "after the commit"])
def test_an_interrupt_replaces_nothing_or_keeps_the_old(
    base: Path, kept: Path, store: Store, ask: Ask, last: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mmem.swapping._SHOWN", 1)  # page
    before = ask("read_graph", category="work").result
    with pytest.raises(KeyboardInterrupt):
        list(restore(store, plan(store, [str(kept)], None), _Raises(base, last=last)))
    left = list(base.rglob("work-*"))
    assert ask("read_graph", category="work").result == (graph(kept) if last else before)
    assert [graph(path) for path in left] == ([before] if last else [])
    assert not list(base.rglob("*.new"))


@pytest.mark.skipif(os.name == "nt", reason="ulimit")
@pytest.mark.parametrize("blocks", [20, 220])
def test_files_that_may_not_grow_leave_all_as_it_was(base: Path, kept: Path, ask: Ask, blocks: int) -> None:
    ask(
        "create_entities", category="work", entities=[{"name": f"E{n}", "observations": ["x" * 999]} for n in range(99)]
    )
    before = names(ask("read_graph", category="work"))
    script = f"ulimit -f {blocks}; {sys.executable} -m mmem restore work.db --yes"
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (5, "", 1)
    assert names(ask("read_graph", category="work")) == before
    assert not [*base.rglob("*.new"), *base.rglob("work-*")]


@pytest.mark.skipif(find_spec("wordllama") is None, reason="the extra mmem[semantic] isn't installed")
def test_vectors_that_a_process_has_read_are_not_taken_for_those_of_the_new_one(
    base: Path, store: Store, ask: Ask, mmem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(semantic.SWITCH)
    ask("create_entities", entities=[{"name": "A", "observations": ["a quarterly invoice"]}])
    mmem("backup", "-o", "default.db")
    ask("create_entities", entities=[{"name": "B", "observations": ["moths and butterflies"]}])
    assert names(ask("search_nodes", query="insect")) == {"B"}
    mmem("restore", "default.db", "--yes")
    ask("create_entities", entities=[{"name": "C", "observations": ["the court's verdict"]}])
    assert names(ask("search_nodes", query="insect")) == set()
    assert names(ask("search_nodes", query="judge ruling")) == {"C"}

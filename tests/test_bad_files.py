"""Files that are no category, or that can't be read or written: exit 5, one sentence, nothing changed."""

import ctypes
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from mmem.errors import MmemError, Storage
from mmem.registry import call
from mmem.store import Store

# What each tool is asked to do with the bad file.
REQUESTS: dict[str, dict[str, Any]] = {
    "create_entities": {"entities": [{"name": "New", "observations": ["new"]}]},
    "create_relations": {"relations": [{"from": "B", "to": "A", "relationType": "new"}]},
    "add_observations": {"observations": [{"entityName": "A", "contents": ["new"]}]},
    "delete_entities": {"entities": ["A"]},
    "delete_observations": {"deletions": [{"id": 1}]},
    "delete_relations": {"relations": [{"id": 1}]},
    "read_graph": {},
    "search_nodes": {"query": "plain"},
    "open_nodes": {"entities": ["A"]},
    "delete_category": {},
}
READING = ("read_graph", "search_nodes", "open_nodes")
WRITING = tuple(tool for tool in REQUESTS if tool not in READING)

WORDS: dict[str, tuple[str, ...]] = {
    "create_entities": ("create-entities", "New"),
    "add_observations": ("add-observations", "A", "new"),
    "delete_entities": ("delete-entities", "A", "--yes"),
    "read_graph": ("read-graph",),
    "search_nodes": ("search-nodes", "plain"),
    "delete_category": ("delete-category", "work", "--yes"),
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a category that is as it should be."""
    directory = tmp_path_factory.mktemp("template")
    with Store(directory) as store:
        entities = [{"name": "A", "observations": ["plain"]}, {"name": "B"}]
        call(store, "create_entities", {"entities": entities})
        call(store, "create_relations", {"relations": [{"from": "A", "to": "B", "relationType": "r"}]})
    return directory / "default.db"


@pytest.fixture
def work(base: Path, memory: Path) -> Path:
    """The place of the bad file, beside a category `fine` that is as it should be."""
    base.mkdir()
    shutil.copy(memory, base / "fine.db")
    return base / "work.db"


def _files(directory: Path) -> dict[str, bytes]:
    """Return what is in a directory: a file's bytes, or what else it is."""
    return {
        path.name: path.read_bytes() if path.is_file() else str(path.lstat().st_mode).encode()
        for path in directory.iterdir()
    }


def _sql(path: Path, *statements: str) -> None:
    conn = sqlite3.connect(path, isolation_level=None)
    for statement in ("PRAGMA synchronous = OFF", *statements):
        conn.execute(statement)
    conn.close()


def _check_sentence(message: str, *fragments: str) -> None:
    assert all(fragment in message for fragment in fragments), message
    assert message.isprintable(), message
    assert "bug" not in message, message


def _is_refused(store: Store, tool: str, *fragments: str) -> None:
    with pytest.raises(Storage) as raised:
        call(store, tool, {**REQUESTS[tool], "category": "work"})
    assert (raised.value.code, int(raised.value.exit)) == ("storage", 5)
    _check_sentence(raised.value.message, *fragments)


# Kinds of bad files: each gets the path and a memory to begin with.

Maker = Callable[[Path, Path], None]


def _bytes(content: bytes) -> Maker:
    return lambda path, memory: path.write_bytes(content) and None


def _database(*statements: str) -> Maker:
    return lambda path, memory: _sql(path, *statements)


def _changed(*statements: str) -> Maker:
    def make(path: Path, memory: Path) -> None:
        shutil.copy(memory, path)
        _sql(path, *statements)

    return make


def _with_live_log(make: Maker, *statements: str) -> Maker:
    """Return the file as it is while the statements still stand in its write-ahead log."""

    def logged(path: Path, memory: Path) -> None:
        place = path.parent.parent / "elsewhere.db"
        make(place, memory)
        conn = sqlite3.connect(place, isolation_level=None)
        for statement in ("PRAGMA synchronous = OFF", "PRAGMA journal_mode = WAL", *statements):
            conn.execute(statement)
        for suffix in ("", "-wal"):
            shutil.copy(f"{place}{suffix}", f"{path}{suffix}")
        conn.close()

    return logged


def _cut(part: float) -> Maker:
    def make(path: Path, memory: Path) -> None:
        content = memory.read_bytes()
        path.write_bytes(content[: int(len(content) * part)])

    return make


def _first_page_spoiled(path: Path, memory: Path) -> None:
    content = bytearray(memory.read_bytes())
    content[100:4096] = bytes(range(1, 256)) * 15 + bytes(171)
    path.write_bytes(content)


def _directory(path: Path, memory: Path) -> None:
    path.mkdir()


def _link_to_itself(path: Path, memory: Path) -> None:
    path.symlink_to(path.name)


_OTHER_COLUMNS = tuple(f"CREATE TABLE {name}(a)" for name in ("entities", "observations", "relations"))
_VIEWS = tuple(f"CREATE VIEW {name} AS SELECT a FROM t" for name in ("entities", "observations", "relations"))
_NEWER = "INSERT INTO schema_version VALUES (4)"
_MARKED = "PRAGMA user_version = 99"

NO_MEMORY: dict[str, tuple[Maker, str]] = {
    "text": (_bytes(b"# Notes\n" * 500), "is not a database"),
    "two bytes": (_bytes(b"hi"), "is not a database"),
    "zeros": (_bytes(bytes(8192)), "is not a database"),
    "half a memory": (_cut(0.5), "damaged"),
    "a header": (_cut(0.001), ""),
    "a spoiled first page": (_first_page_spoiled, "damaged"),
    "no tables": (_database("CREATE TABLE t(a)", "DROP TABLE t"), "not a memory"),
    "other tables": (_database("CREATE TABLE bookmarks(url)"), "bookmarks"),
    "other tables in a log": (
        _with_live_log(_database("CREATE TABLE t(a)"), "CREATE TABLE bookmarks(url)"),
        "not a memory",
    ),
    "one of three tables": (_database("CREATE TABLE entities(id, name, entity_type)"), "not a memory"),
    "tables of the same names": (_database(*_OTHER_COLUMNS), "not a memory"),
    "views of the same names": (_database("CREATE TABLE t(a)", *_VIEWS), "not a memory"),
    "a directory": (_directory, "directory"),
    "a link to itself": (_link_to_itself, "symbolic links"),
}
NEWER: dict[str, tuple[Maker, str]] = {
    "schema 4": (_changed(_NEWER), "newer program (schema 4"),
    "schema 4 without the index": (_changed("DROP TABLE fts_content", _NEWER), "newer program (schema 4"),
    "schema 4 in a log": (_with_live_log(_changed(), _NEWER), "newer program (schema 4"),
    "user_version 99": (_changed(_MARKED), "newer program (schema 99"),
    "user_version 99 in a log": (_with_live_log(_changed(), _MARKED), "newer program (schema 99"),
}
STRANGE: dict[str, tuple[Maker, str]] = {
    "a version that is text": (
        _changed(
            "DROP TABLE schema_version",
            "CREATE TABLE schema_version(version)",
            "INSERT INTO schema_version VALUES ('four')",
        ),
        "",
    ),
    "versions in another column": (
        _changed(
            "DROP TABLE schema_version",
            "CREATE TABLE schema_version(number)",
            "INSERT INTO schema_version VALUES (1)",
        ),
        "",
    ),
}
BAD = {**NO_MEMORY, **NEWER, **STRANGE}


@pytest.mark.parametrize("tool", REQUESTS)
@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_is_refused_and_left_as_it_is(work: Path, memory: Path, base: Path, kind: str, tool: str) -> None:
    make, fragment = BAD[kind]
    make(work, memory)
    before = _files(base)
    with Store(base) as store:
        _is_refused(store, tool, str(work), fragment)
    assert {name: content for name, content in _files(base).items() if not name.endswith("-shm")} == before


@pytest.mark.parametrize("tool", WORDS)
@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_on_the_command_line(work: Path, memory: Path, mmem: Any, kind: str, tool: str) -> None:
    make, fragment = BAD[kind]
    make(work, memory)
    ran = mmem("-c", "work", *WORDS[tool])
    assert (ran.exit_status, ran.stdout) == (5, "")
    assert ran.stderr.startswith("mmem: ")
    assert ran.stderr.count("\n") == 1
    _check_sentence(ran.stderr[:-1], str(work), fragment)
    error = json.loads(mmem("-c", "work", "--errors", "json", *WORDS[tool]).stderr)
    assert (error["code"], f"mmem: {error['message']}\n") == ("storage", ran.stderr)


@pytest.mark.parametrize("kind", BAD)
def test_beside_a_bad_file_other_categories_go_on(work: Path, memory: Path, base: Path, ask: Any, kind: str) -> None:
    BAD[kind][0](work, memory)
    for _ in range(2):
        with pytest.raises(MmemError):
            ask("read_graph", category="work")
        ask("add_observations", category="fine", observations=[{"entityName": "A", "contents": ["more"]}])
        ask("create_entities", category="new", entities=[{"name": "N"}])
    assert len(ask("read_graph", category="fine").result.entities[0].observations) == 2
    assert len(ask("read_graph", category="new").result.entities) == 1


@pytest.mark.parametrize("kind", [*NO_MEMORY, *NEWER])
def test_only_memories_are_listed(work: Path, memory: Path, base: Path, ask: Any, mmem: Any, kind: str) -> None:
    BAD[kind][0](work, memory)
    before = _files(base)
    listed = ["fine", "work"] if kind in NEWER else ["fine"]
    assert ask("list_categories").result == listed
    assert mmem("list-categories").json == listed
    assert "fine" in ask("read_graph", category="fin").notices[0].message  # suggests what is listed
    assert {name: content for name, content in _files(base).items() if not name.endswith("-shm")} == before


@pytest.mark.parametrize("name", ["Work.db", "a b.db", ".db", "nul.db", "x.y.db", "work.sqlite", "work.db.bak"])
def test_a_memory_under_another_name_is_left_alone(work: Path, memory: Path, base: Path, ask: Any, name: str) -> None:
    shutil.copy(memory, base / name)
    before = _files(base)
    assert ask("list_categories").result == ["fine"]
    with pytest.raises(MmemError):
        ask("delete_category", category=name.removesuffix(".db") or ".")
    assert _files(base) == before


@pytest.mark.parametrize("tool", ["read_graph", "create_entities"])
@pytest.mark.parametrize("kind", BAD)
def test_a_mended_file_works_at_once(work: Path, memory: Path, store: Store, kind: str, tool: str) -> None:
    BAD[kind][0](work, memory)
    _is_refused(store, tool)
    for path in work.parent.glob("work.db*"):
        path.rmdir() if path.is_dir() else path.unlink()
    shutil.copy(memory, work)
    assert call(store, tool, {**REQUESTS[tool], "category": "work"}).notices == []


@pytest.mark.parametrize("tool", ["read_graph", "create_entities", "delete_category"])
@pytest.mark.parametrize("kind", ["text", "other tables", "schema 4", "user_version 99"])
def test_a_file_that_turns_bad_while_it_is_open(
    work: Path, memory: Path, store: Store, base: Path, kind: str, tool: str
) -> None:
    shutil.copy(memory, work)
    call(store, "read_graph", {"category": "work"})
    BAD[kind][0](base / "other", memory)
    (base / "other").replace(work)
    content = work.read_bytes()
    _is_refused(store, tool, BAD[kind][1])
    assert work.read_bytes() == content


@pytest.mark.parametrize("tool", ["read_graph", "create_entities", "delete_entities", "delete_category"])
@pytest.mark.parametrize("upgrade", [("ALTER TABLE entities ADD COLUMN colour", _NEWER), (_NEWER,), (_MARKED,)])
def test_a_file_that_a_newer_program_takes_over_while_it_is_open(
    work: Path, memory: Path, store: Store, upgrade: tuple[str, ...], tool: str
) -> None:
    shutil.copy(memory, work)
    call(store, "add_observations", {**REQUESTS["add_observations"], "category": "work"})
    _sql(work, *upgrade)
    _is_refused(store, tool, "newer program")


# Files that are there and hold nothing: whatever is said to be stored has to be there afterwards.


def _empty(path: Path) -> None:
    path.touch()


def _dangling(path: Path) -> None:
    path.symlink_to("missing")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("make", [_empty, _dangling, _pipe])
def test_what_is_reported_as_stored_can_be_read(work: Path, base: Path, make: Callable[[Path], None]) -> None:
    make(work)
    with Store(base) as store:
        try:
            created = call(store, "create_entities", {**REQUESTS["create_entities"], "category": "work"})
        except Storage as error:
            _check_sentence(error.message, str(work))
            return
    assert created.notices == []
    with Store(base) as other:
        assert call(other, "read_graph", {"category": "work"}).result.entities == created.result
        assert "work" in call(other, "list_categories", {}).result


@pytest.mark.parametrize("make", [_empty, _dangling, _pipe])
def test_an_empty_file_is_no_category(work: Path, base: Path, ask: Any, make: Callable[[Path], None]) -> None:
    make(work)
    before = _files(base)
    assert ask("list_categories").result == ["fine"]
    assert ask("read_graph", category="work").notices[0].code == "no_such_category"
    with pytest.raises(MmemError, match="no category 'work'"):
        ask("delete_category", category="work")
    assert _files(base) == before


# Permissions. Root may do anything, so these run in a process that gave up root's power over modes.

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_EVERY_TOOL = """
import json, sys
from mmem.errors import MmemError
from mmem.registry import call
from mmem.store import Store
from pathlib import Path

base, requests = Path(sys.argv[1]), json.loads(sys.argv[2])
answers = {}
for tool, arguments in requests.items():
    with Store(base) as store:
        try:
            answers[tool] = ["", len(call(store, tool, arguments).notices), ""]
        except MmemError as error:
            answers[tool] = [error.code, int(error.exit), error.message]
print(json.dumps(answers))
"""


def _obey_modes() -> None:
    if os.geteuid() == 0:
        for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
            if ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
                os._exit(70)


def _as_a_user(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *words], preexec_fn=_obey_modes, capture_output=True, text=True, timeout=60, check=False
    )


def _answers(base: Path, tools: tuple[str, ...]) -> dict[str, list[Any]]:
    """Return the code, exit status and message that each tool answers with as a user."""
    requests = {tool: {**REQUESTS[tool], "category": "work"} for tool in tools}
    ran = _as_a_user("-c", _EVERY_TOOL, str(base), json.dumps(requests))
    assert ran.returncode == 0, ran.stderr
    answers: dict[str, list[Any]] = json.loads(ran.stdout)
    return answers


@contextmanager
def _mode(path: Path, mode: int) -> Iterator[None]:
    before = path.stat().st_mode
    path.chmod(mode)
    try:
        yield
    finally:
        if path.exists():
            path.chmod(before)


@pytest.fixture
def two(work: Path, memory: Path) -> Path:
    """Two categories, `fine` and `work`, that are as they should be."""
    shutil.copy(memory, work)
    return work


@pytest.mark.parametrize("mode", [0o000, 0o200])
def test_an_unreadable_file(two: Path, base: Path, mode: int) -> None:
    before = _files(base)
    with _mode(two, mode):
        for tool, (code, status, message) in _answers(base, (*READING, *WRITING)).items():
            assert (code, status) == ("storage", 5), tool
            _check_sentence(message, str(two), "permission denied")
        ran = _as_a_user("-m", "mmem", "--base-dir", str(base), "read-graph", "-c", "work")
        assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (5, "", 1)
        fine = _as_a_user("-m", "mmem", "--base-dir", str(base), "add-observations", "-c", "fine", "A", "more")
        assert (fine.returncode, fine.stderr) == (0, "")
        listed = _as_a_user("-m", "mmem", "--base-dir", str(base), "list-categories")
        assert json.loads(listed.stdout) == ["fine"]
    assert _files(base)["work.db"] == before["work.db"]


def test_a_file_that_may_only_be_read(two: Path, base: Path) -> None:
    before = _files(base)
    with _mode(two, 0o400):
        assert {code for code, _, _ in _answers(base, READING).values()} == {""}
        for tool, (code, status, message) in _answers(base, WRITING).items():
            assert (code, status) == ("storage", 5), tool
            _check_sentence(message, str(two), "permission denied")
    assert _files(base)["work.db"] == before["work.db"]


def test_a_directory_that_may_only_be_read(two: Path, base: Path) -> None:
    before = _files(base)
    with _mode(base, 0o500):
        for tool, (code, status, message) in _answers(base, WRITING).items():
            assert (code, status) == ("storage", 5), tool
            _check_sentence(message, str(base), "permission")
        for code, status, message in _answers(base, READING).values():
            assert (code, status) in {("", 0), ("storage", 5)}  # SQLite may need a file beside the database
            assert "can't be written" not in message  # nobody asked for that
        created = _as_a_user("-m", "mmem", "--base-dir", str(base), "create-entities", "N", "-c", "new")
        assert (created.returncode, created.stdout, created.stderr.count("\n")) == (5, "", 1)
    assert _files(base) == before


def test_a_directory_that_may_only_be_read_still_lists_its_categories(two: Path, base: Path) -> None:
    with _mode(base, 0o500):
        listed = _as_a_user("-m", "mmem", "--base-dir", str(base), "list-categories")
        assert (listed.returncode, listed.stdout and json.loads(listed.stdout)) in [(0, ["fine", "work"]), (5, "")]


def test_a_directory_that_may_not_be_entered(two: Path, base: Path) -> None:
    before = _files(base)
    with _mode(base, 0o000):
        for tool, (code, status, message) in _answers(base, (*READING, *WRITING)).items():
            assert (code, status) == ("storage", 5), tool
            _check_sentence(message, str(base), "permission denied", "--base-dir")
        listed = _as_a_user("-m", "mmem", "--base-dir", str(base), "list-categories")
        assert (listed.returncode, listed.stdout) == (5, "")
    assert _files(base) == before


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    with _mode(tmp_path, 0o500):
        ran = _as_a_user("-m", "mmem", "--base-dir", str(tmp_path / "a" / "b"), "create-entities", "N")
        assert (ran.returncode, ran.stdout) == (5, "")
        _check_sentence(ran.stderr.strip(), str(tmp_path / "a"), "permission denied", "MEMORY_BASE_DIR")
    assert list(tmp_path.iterdir()) == []


# Base directories that are none


@pytest.mark.parametrize("place", ["file", "file/below", "x" * 300])
@pytest.mark.parametrize("words", [*WORDS.values(), ("list-categories",)], ids=lambda words: words[0])
def test_a_base_directory_that_is_none(tmp_path: Path, mmem: Any, place: str, words: tuple[str, ...]) -> None:
    (tmp_path / "file").write_bytes(b"")
    ran = mmem("--base-dir", place, "-c", "work", *words)
    assert (ran.exit_status, ran.stdout, ran.stderr.count("\n")) == (5, "", 1)
    _check_sentence(ran.stderr.strip(), str(tmp_path / place), "--base-dir")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


# A full disk


@contextmanager
def _files_up_to(size: int) -> Iterator[None]:
    """Let no file grow beyond `size` bytes; to SQLite that is a failing write."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


LARGE: dict[str, dict[str, Any]] = {
    "create_entities": {"entities": [{"name": f"N{n}", "observations": ["large " * 2_000]} for n in range(30)]},
    "add_observations": {"observations": [{"entityName": "A", "contents": ["large " * 50_000]}]},
    "create_relations": {
        "relations": [{"from": "A", "to": "B", "relationType": "large " * 150 + str(n)} for n in range(300)]
    },
}


@pytest.mark.parametrize("tool", LARGE)
def test_a_failing_write_stores_nothing(two: Path, memory: Path, ask: Any, mmem: Any, tool: str) -> None:
    before = ask("read_graph", category="work").result
    request = json.dumps({**LARGE[tool], "category": "work"})
    with _files_up_to(memory.stat().st_size):
        ran = mmem(tool.replace("_", "-"), "--json", "-", stdin=request)
        with pytest.raises(Storage):
            ask(tool, category="work", **LARGE[tool])
        assert ask("read_graph", category="work").result == before
    assert (ran.exit_status, ran.stdout, ran.stderr.count("\n")) == (5, "", 1)
    _check_sentence(ran.stderr.strip(), str(two), "disk", "space")
    assert ask("read_graph", category="work").result == before
    assert ask(tool, category="work", **LARGE[tool]).result  # the same connection goes on


@pytest.mark.parametrize("size", [0, 4_096, 50_000])
def test_a_category_that_cannot_be_written_does_not_come_to_be(two: Path, base: Path, ask: Any, size: int) -> None:
    before = _files(base)
    with _files_up_to(size), pytest.raises(Storage, match=r"new\.db.*disk"):
        ask("create_entities", category="new", entities=[{"name": "N"}])
    assert _files(base) == before
    assert ask("create_entities", category="new", entities=[{"name": "N"}]).result[0].id == "1"


@pytest.fixture
def disk(base: Path, memory: Path) -> Iterator[Path]:
    """Put the base directory on a disk of its own, of 2 MiB."""
    base.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(base)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting isn't allowed here; RLIMIT_FSIZE stands in for it above")
    try:
        shutil.copy(memory, base / "work.db")
        yield base
    finally:
        subprocess.run(["umount", "--lazy", str(base)], check=True)


def _fill(disk: Path, free: int) -> None:
    """Leave so many KiB free."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    os.truncate(filler, filler.stat().st_size - free * 1024)


def _graph(base: Path, elsewhere: Path) -> Any:
    """Return what a copy of the category on a roomy disk holds."""
    elsewhere.mkdir()
    for path in base.glob("work.db*"):
        shutil.copy(path, elsewhere)
    with Store(elsewhere) as store:
        return call(store, "read_graph", {"category": "work"}).result


@pytest.mark.parametrize("tool", ["create_entities", "add_observations"])
@pytest.mark.parametrize("free", [0, 16, 36, 44, 64, 120, 250, 600])
def test_a_full_disk_stores_all_or_nothing(
    disk: Path, memory: Path, tmp_path: Path, mmem: Any, free: int, tool: str
) -> None:
    before = _graph(disk, tmp_path / "before")
    _fill(disk, free)
    ran = mmem(tool.replace("_", "-"), "--json", "-", stdin=json.dumps({**LARGE[tool], "category": "work"}))
    after = _graph(disk, tmp_path / "after")
    if ran.exit_status == 0:
        assert after != before
    else:
        assert (ran.exit_status, ran.stdout, ran.stderr.count("\n")) == (5, "", 1)
        _check_sentence(ran.stderr.strip(), str(disk / "work.db"), "disk")
        assert after == before
    assert not [path for path in disk.iterdir() if "new" in path.name]


@pytest.mark.parametrize("free", [0, 16, 60])
def test_a_full_disk_makes_no_category(disk: Path, ask: Any, free: int) -> None:
    _fill(disk, free)
    with pytest.raises(Storage, match=r"new\.db.*(space|room)"):
        ask("create_entities", category="new", entities=[{"name": "N"}])
    assert {path.name for path in disk.iterdir()} == {"work.db", "filler"}


def test_a_full_disk_still_lists_its_categories(disk: Path, mmem: Any) -> None:
    _fill(disk, 0)
    ran = mmem("list-categories")
    assert (ran.exit_status, ran.stdout and ran.json) in [(0, ["work"]), (5, "")]


@pytest.mark.parametrize("words", [("read-graph",), ("list-categories",), ("create-entities", "N")])
def test_output_that_cannot_be_written(two: Path, base: Path, words: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "mmem", "--base-dir", str(base), "-c", "work", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert ran.returncode == 5
    _check_sentence(ran.stderr.decode().strip(), "output", "no space left")
    assert ran.stderr.count(b"\n") == 1

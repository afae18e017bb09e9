"""`mmem doctor`: tells what is wrong with the machine, the files and the hosts, and mends what is safe."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mmem import vectors
from mmem.checkup import mounts
from mmem.checkup.folder import size
from mmem.schema import OWN_OBJECTS

Ask = Callable[..., Any]
Run = Callable[..., Any]

LONG_AGO = (1_000_000_000, 1_000_000_000)
NOBODY = 4_194_305  # above the largest number that Linux gives a process


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without hosts."""
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def path(base: Path, store: Any, ask: Ask) -> Path:
    """The file of a small category, closed."""
    ask("create_entities", entities=[{"name": "Lamp", "observations": ["amber light"]}, {"name": "Quay"}])
    store.close()
    return base / "default.db"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        yield conn


def found(ran: Any, level: str | None = None) -> dict[str, str]:
    """Return the messages by their checks, those of one level or those that aren't ok."""
    return {
        one["check"]: one["message"]
        for one in ran.json
        if one["level"] == level or (not level and one["level"] != "ok")
    }


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_sound_place_is_all_well(mmem: Run, path: Path) -> None:
    ran = mmem("doctor")
    assert (ran.exit_status, ran.stderr) == (0, "")
    assert found(ran, "ok").keys() == {"python", "sqlite", "base_directory", "category"}
    assert found(ran) == {"host": "none is configured to use a memory"}


def test_a_terminal_gets_a_line_each_and_a_sum(mmem: Run, path: Path) -> None:
    ran = mmem("doctor", terminal=True, environ={"NO_COLOR": "1"})
    assert "ok       category 'default': 2 entities, 1 observation, 0 relations; sound, in " in ran.stdout
    assert ran.stdout.endswith("\n0 problems, 0 warnings\n")
    colored = mmem("doctor", terminal=True).stdout
    assert "\x1b[32mok     \x1b[0m  category 'default'" in colored


@pytest.mark.parametrize("thorough", [[], ["--thorough"]])
def test_looking_changes_no_byte_and_leaves_no_file(mmem: Run, path: Path, base: Path, thorough: list[str]) -> None:
    path.chmod(0o644)
    with opened(path) as conn:
        conn.execute("DELETE FROM fts_content_docsize")
    before = bytes_of(base)
    assert mmem("doctor", *thorough).exit_status == 1
    assert bytes_of(base) == before
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_base_directory_that_is_not_there_yet_is_no_trouble(mmem: Run, base: Path) -> None:
    ran = mmem("doctor")
    assert (ran.exit_status, found(ran)["base_directory"]) == (0, f"{base} isn't there yet")
    assert not base.exists()


def test_a_base_directory_that_cannot_be_is_a_problem(mmem: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place, said in (("file", "isn't a folder"), ("file/below", "can't be made in")):
        ran = mmem("doctor", "--base-dir", place)
        assert ran.exit_status == 1
        assert said in found(ran, "problem")["base_directory"]


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM fts_content_docsize",
        "INSERT INTO fts_content_docsize VALUES (99, x'000000')",
        "DELETE FROM fts_content_data WHERE id > 10",
        "DELETE FROM fts_content_data",
        "DELETE FROM fts_content_config",
        "UPDATE fts_content_data SET block = x'ffffffff' WHERE id > 10",
        "INSERT INTO fts_content(fts_content) VALUES ('delete-all')",
        "INSERT INTO fts_content(rowid, observation_content) VALUES (99, 'ghost')",
        "DROP TABLE fts_content",
    ],
)
def test_a_damaged_index_is_a_problem_and_is_made_anew(mmem: Run, path: Path, damage: str) -> None:
    with opened(path) as conn:
        conn.execute(damage)
    told = mmem("doctor")
    assert told.exit_status == 1
    assert "doesn't fit its rows" in found(told, "problem")["index"]
    mended = mmem("doctor", "--fix")
    assert (mended.exit_status, found(mended, "fixed")) == (
        0,
        {"index": "its search index was made anew from its rows"},
    )
    assert mmem("search-nodes", "amber", "--names").json == ["Lamp"]
    assert mmem("doctor").exit_status == 0


def test_words_that_the_index_has_otherwise_are_found_by_a_thorough_look(mmem: Run, path: Path) -> None:
    with opened(path) as conn:
        conn.execute("DROP TRIGGER fts_observation_update")
        conn.execute("UPDATE observations SET content = 'violet light'")
        conn.execute(OWN_OBJECTS["fts_observation_update"])
    assert mmem("doctor").exit_status == 0
    assert "index" in found(mmem("doctor", "--thorough"), "problem")
    mmem("doctor", "--thorough", "--fix")
    assert mmem("search-nodes", "violet", "--names").json == ["Lamp"]


def test_a_file_that_is_torn_is_a_problem_that_stays(mmem: Run, path: Path) -> None:
    torn = path.read_bytes()[: 5 * 4096]
    path.write_bytes(torn)
    ran = mmem("doctor", "--fix")
    assert ran.exit_status == 1
    assert any("damaged" in said or "malformed" in said for said in found(ran, "problem").values())
    assert path.read_bytes() == torn


def test_rows_of_entities_that_are_gone_are_counted(mmem: Run, path: Path) -> None:
    with opened(path) as conn:
        conn.execute("PRAGMA foreign_keys = OFF")
        conn.execute("DELETE FROM entities WHERE name = 'Lamp'")
    ran = mmem("doctor", "-c", "default")
    assert (ran.exit_status, "references" in found(ran, "warning")) == (0, True)
    mmem("purge")
    assert found(mmem("doctor", "-c", "default")) == {}


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_what_others_can_read_is_closed(mmem: Run, path: Path, base: Path) -> None:
    path.chmod(0o664)
    base.chmod(0o755)
    ran = mmem("doctor")
    assert (ran.exit_status, [one["check"] for one in ran.json if one["level"] == "warning"]) == (
        0,
        ["permissions"] * 2,
    )
    assert "has the mode 0664" in ran.stdout
    fixed = mmem("doctor", "--fix")
    assert [one["level"] for one in fixed.json if one["check"] == "permissions"] == ["fixed"] * 2
    assert (path.stat().st_mode & 0o777, base.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_folder_that_others_use_too_stays_open(mmem: Run, path: Path, base: Path) -> None:
    (base / "holiday.jpg").write_bytes(b"x")
    base.chmod(0o755)
    assert "permissions" in found(mmem("doctor", "--fix"), "warning")
    assert base.stat().st_mode & 0o777 == 0o755


LEFT = [
    f".default.db.{NOBODY}-0a1b2c3d.new",
    f".mmem-{NOBODY}-0a1b2c3d.new",
    f".mmem-{NOBODY}-0a1b2c3d.new-journal",
    ".default.db.queue",
    "gone.db-shm",
]


@pytest.mark.parametrize("name", LEFT)
def test_what_a_stopped_program_left_is_removed(mmem: Run, path: Path, base: Path, name: str) -> None:
    (base / name).write_bytes(b"x")
    assert found(mmem("doctor")).keys() == {"host"}  # it may be at work still
    os.utime(base / name, LONG_AGO)
    assert set(found(mmem("doctor"), "warning")) <= {"leftover", "orphan"}
    assert (base / name).exists()
    assert "was removed" in next(iter(found(mmem("doctor", "--fix"), "fixed").values()))
    assert not (base / name).exists()


@pytest.mark.parametrize(
    "name",
    [
        f".default.db.{os.getpid()}-0a1b2c3d.new",
        "gone.db-wal",
        "notes.txt",
        ".hidden",
        "default.db-wal-of-the-one-before-0a1b2c3d",
        "other.new",
    ],
)
def test_what_may_be_of_use_is_never_removed(mmem: Run, path: Path, base: Path, name: str) -> None:
    (base / name).write_bytes(b"x")
    os.utime(base / name, LONG_AGO)
    mmem("doctor", "--fix")
    assert (base / name).read_bytes() == b"x"


def test_databases_of_others_are_named_and_left(mmem: Run, path: Path, base: Path) -> None:
    with opened(base / "music.db") as conn:
        conn.execute("CREATE TABLE songs (title)")
    (base / "letter.db").write_bytes(b"Dear all, " * 100)
    (base / "Work.db").write_bytes(path.read_bytes())
    (base / "empty.db").touch()
    before = bytes_of(base)
    ran = mmem("doctor", "--fix")
    said = {Path(one["path"]).name: (one["level"], one["check"]) for one in ran.json if one.get("path")}
    assert said["music.db"] == ("warning", "foreign")
    assert said["letter.db"] == ("problem", "foreign")
    assert said["Work.db"] == ("warning", "name")
    assert said["empty.db"] == ("info", "foreign")
    assert "mmem restore" in next(one["remedy"] for one in ran.json if one["check"] == "name")
    assert bytes_of(base) == before


def test_a_log_that_has_grown_is_emptied(mmem: Run, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmem.checkup.category.LARGE_LOG", 1_000)
    with opened(path) as reader:
        reader.execute("PRAGMA journal_mode = WAL")
        reader.execute("INSERT INTO schema_version VALUES (2)")
        assert "has grown to" in found(mmem("doctor"), "warning")["log"]
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM entities").fetchall()
        monkeypatch.setattr("mmem.checkup.reading.PATIENCE", 0.1)
        with opened(path) as writer:
            writer.execute("DELETE FROM schema_version WHERE version = 2")
        assert "mending it failed: another program" in found(mmem("doctor", "--fix"), "warning")["log"]
        reader.execute("ROLLBACK")
        assert "log" in found(mmem("doctor", "--fix"), "fixed")
    assert mmem("search-nodes", "amber", "--names").json == ["Lamp"]


def test_a_category_that_is_being_written_is_looked_at_and_not_held(mmem: Run, path: Path) -> None:
    with opened(path) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO entities(name, entity_type) VALUES ('New', '')")
        ran = mmem("doctor", "--thorough")
        writer.execute("COMMIT")
    assert ran.exit_status == 0
    assert "2 entities" in found(ran, "ok")["category"]
    assert len(mmem("read-graph").json["entities"]) == 3


def test_a_file_that_is_locked_whole_is_left_for_later(mmem: Run, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmem.checkup.reading.PATIENCE", 0.1)
    with opened(path) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        ran = mmem("doctor", "-c", "default")
    assert ran.exit_status == 0
    assert "keeps its file to itself" in found(ran, "info")["busy"]


def test_a_predecessors_file_is_told(mmem: Run, path: Path) -> None:
    with opened(path) as conn:
        conn.executescript("DROP TABLE mmem_names; DROP TRIGGER fts_entity_insert; DROP VIEW fts_map")
    ran = mmem("doctor", "-c", "default")
    assert ran.exit_status == 0
    assert "the first write gives it schema 3" in found(ran, "info")["converted"]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (None, "isn't installed or is off"),
        (SimpleNamespace(name="new"), "are of another model"),
        (SimpleNamespace(name="old"), None),
    ],
)
def test_vectors_that_are_not_used_are_told(
    mmem: Run, path: Path, monkeypatch: pytest.MonkeyPatch, model: Any, said: str | None
) -> None:
    with opened(path) as conn:
        vectors.let_wait(conn, SimpleNamespace(name="old"))  # type: ignore[arg-type]  # a model by its name alone
    monkeypatch.setattr("mmem.semantic.model", lambda: model)
    told = found(mmem("doctor", "-c", "default"), "info").get("vectors")
    assert told is None if said is None else said in str(told)


def test_a_base_directory_behind_a_link_is_told(mmem: Run, path: Path, base: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(base)
    (tmp_path / "dangling").symlink_to("nowhere")
    assert found(mmem("doctor", "--base-dir", "link"), "info")["link"].endswith(f"is a link to {base.resolve()}")
    assert "link to what isn't there" in found(mmem("doctor", "--base-dir", "dangling"), "problem")["base_directory"]


def test_little_room_is_warned_of(mmem: Run, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmem.checkup.folder._LITTLE", 1 << 62)
    assert "are free for" in found(mmem("doctor"), "warning")["space"]


def test_what_restores_kept_is_counted(mmem: Run, path: Path, base: Path) -> None:
    mmem("backup", "-o", "copy.db")
    mmem("restore", "copy.db", "-c", "default", "--yes")
    assert "in 1 file that restores replaced" in found(mmem("doctor"), "info")["replaced"]


def test_a_newer_programs_file_is_a_problem(mmem: Run, path: Path) -> None:
    with opened(path) as conn:
        conn.execute("INSERT INTO schema_version VALUES (9)")
    ran = mmem("doctor", "--fix")
    assert (ran.exit_status, "upgrade mmem" in found(ran, "problem")["category"]) == (1, True)


def test_one_category_is_looked_at_alone(mmem: Run, path: Path, ask: Ask) -> None:
    ask("create_entities", category="work", entities=[{"name": "A"}])
    subjects = {one["subject"] for one in mmem("doctor", "-c", "work").json}
    assert "category 'work'" in subjects
    assert not {"category 'default'", "hosts"} & subjects
    missing = mmem("doctor", "-c", "wrok")
    assert (missing.exit_status, missing.stdout) == (3, "")
    assert "did you mean 'work'?" in missing.stderr


MOUNTS = r"""sysfs /sys sysfs rw 0 0
/dev/sda1 / ext4 rw 0 0
server:/memory /srv/me\040mory nfs4 rw 0 0
/dev/sdb1 /srv/me\040mory/disk ext4 rw 0 0
host /mnt/c 9p rw 0 0
there: /home/x/far fuse.sshfs rw 0 0
crypt /home/x/near fuse.gocryptfs rw 0 0
shared /shared vboxsf rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind", "distance"),
    [
        ("/home/x/.aim", "ext4", None),
        ("/srv/me mory/.aim", "nfs4", "a network file system"),
        ("/srv/me mory/disk/.aim", "ext4", None),
        ("/srv/me moryland", "ext4", None),
        ("/mnt/c/Users", "9p", "a network file system"),
        ("/home/x/far/a", "fuse.sshfs", "served by a program, perhaps over a network"),
        ("/home/x/near/a", "fuse.gocryptfs", None),
        ("/shared", "vboxsf", "shared with another machine's system"),
    ],
)
def test_a_path_lies_on_the_innermost_mount(
    path: str, kind: str, distance: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mounts"
    table.write_text(MOUNTS)
    monkeypatch.setattr(mounts, "TABLE", str(table))
    mount = mounts.mount_of(path)
    assert mount is not None
    assert (mount.kind, mount.distance) == (kind, distance)


def test_a_network_file_system_is_warned_of(
    mmem: Run, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mounts"
    table.write_text(f"server:/x {str(tmp_path.resolve()).replace(' ', chr(92) + '040')} nfs rw 0 0\n")
    monkeypatch.setattr(mounts, "TABLE", str(table))
    ran = mmem("doctor")
    assert (ran.exit_status, "(nfs), a network file system" in found(ran, "warning")["file_system"]) == (0, True)
    monkeypatch.setattr(mounts, "TABLE", str(tmp_path / "nothing"))
    assert "file_system" not in found(mmem("doctor"))


@pytest.mark.parametrize(
    ("folder", "owner"),
    [
        ("Dropbox/notes", "Dropbox"),
        ("OneDrive - Acme/notes", "OneDrive"),
        ("Library/Mobile Documents/com~apple~CloudDocs", "iCloud"),
        ("Google Drive/My Drive", "Google Drive"),
        ("notes/dropboxes", None),
        ("plain", None),
    ],
)
def test_a_folder_that_a_cloud_copies_is_known_by_its_path(
    mmem: Run, tmp_path: Path, folder: str, owner: str | None
) -> None:
    place = tmp_path / folder
    place.mkdir(parents=True)
    ran = mmem("doctor", "--base-dir", str(place))
    assert (f"a folder that {owner} copies" in found(ran).get("synchronized", "")) is (owner is not None)


def test_a_mark_of_a_synchronizing_program_counts_below_it_but_not_at_home(
    mmem: Run, tmp_path: Path, home: Path
) -> None:
    for folder in (tmp_path / "shared", home):
        (folder / "a/b").mkdir(parents=True)
        (folder / ".stfolder").mkdir()
    assert "Syncthing" in found(mmem("doctor", "--base-dir", "shared/a/b"))["synchronized"]
    assert "synchronized" not in found(mmem("doctor", "--base-dir", str(home / "a/b")))


def write_host(home: Path, entries: object) -> Path:
    file = home / ".cursor/mcp.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"mcpServers": entries}))
    return file


def mmem_entry(base: Path, command: str = sys.executable, **more: object) -> dict[str, object]:
    return {"command": command, "args": ["-m", "mmem", "serve"], "env": {"MEMORY_BASE_DIR": str(base)}, **more}


def test_the_entry_that_config_writes_is_all_well(mmem_process: Run, path: Path, home: Path) -> None:
    assert mmem_process("config", "cursor", "--base-dir", ".aim", "--write", "--yes").exit_status == 0
    ran = mmem_process("doctor")
    assert "'mmem' in" in found(ran, "ok")["host"]
    assert found(ran) == {}


@pytest.mark.parametrize(
    ("entry", "level", "check", "said"),
    [
        ({"command": "/nowhere/mmem", "args": ["serve"]}, "problem", "command", "which isn't there"),
        ({"command": "no-such-program-x", "args": ["mmem", "serve"]}, "problem", "command", "which isn't there"),
        ({"command": "{other}", "args": ["serve"]}, "warning", "command", "runs another mmem"),
        ({"env": {"MEMORY_BASE_DIR": "/elsewhere"}}, "info", "host_base_directory", "which isn't there yet"),
        ({"env": {}}, "warning", "host_base_directory", "relative to wherever the host runs"),
        (
            {"args": ["-m", "mmem", "--base-dir", "/elsewhere", "serve"]},
            "info",
            "host_base_directory",
            "serves /elsewhere",
        ),
    ],
)
def test_an_entry_that_points_elsewhere_is_told(
    mmem: Run,
    path: Path,
    base: Path,
    home: Path,
    tmp_path: Path,
    entry: dict[str, Any],
    level: str,
    check: str,
    said: str,
) -> None:
    other = tmp_path / "other/mmem"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    if entry.get("command") == "{other}":
        entry = {**entry, "command": str(other)}
    file = write_host(home, {"mmem": {**mmem_entry(base), **entry}})
    before = file.read_bytes()
    ran = mmem("doctor", "--fix")
    assert said in found(ran, level)[check]
    assert ran.exit_status == (1 if level == "problem" else 0)
    assert file.read_bytes() == before


def test_the_program_beside_this_python_is_this_mmem(mmem_process: Run, path: Path, base: Path, home: Path) -> None:
    program = Path(sys.executable).with_name("mmem")
    assert program.exists()
    write_host(home, {"mmem": mmem_entry(base, str(program), args=["serve"])})
    assert found(mmem_process("doctor")) == {}


@pytest.mark.parametrize("form", ["jsonl", "yaml", "toon", "table"])
def test_every_format_says_it(mmem: Run, path: Path, form: str) -> None:
    ran = mmem("doctor", "-f", form)
    assert (ran.exit_status, ran.stderr) == (0, "")
    assert "2 entities, 1 observation, 0 relations" in ran.stdout


def test_other_memories_beside_mmem_and_twins_are_told(mmem: Run, path: Path, base: Path, home: Path) -> None:
    reference = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}
    write_host(home, {"mmem": mmem_entry(base), "again": mmem_entry(base), "memory": reference})
    said = found(mmem("doctor"), "warning")
    assert "'memory' in" in said["rivals"]
    assert "'mmem' and 'again'" in said["duplicate"]
    pinned = mmem_entry(base, args=["-m", "mmem", "serve", "--pin", "work"])
    write_host(home, {"mmem": mmem_entry(base), "work": pinned})
    assert found(mmem("doctor")) == {}
    write_host(home, {"memory": reference})
    assert "runs another memory" in found(mmem("doctor"), "info")["host"]


@pytest.mark.parametrize("text", ["// a comment\n{}", "[]", '{"mcpServers": []}', "\xff"])
def test_a_host_file_that_cannot_be_read_is_said(mmem: Run, path: Path, home: Path, text: str) -> None:
    write_host(home, {}).write_text(text, encoding="latin-1")
    ran = mmem("doctor")
    assert (ran.exit_status, "couldn't be looked at" in found(ran, "info")["host"]) == (0, True)


def test_a_python_without_full_text_search_is_warned_of(mmem: Run, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmem.checkup.machine.has_full_text", lambda conn: False)
    assert "built without FTS5" in found(mmem("doctor"), "warning")["full_text"]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1.0 kB"),
        (999_600, "1.0 MB"),
        (64_000_000, "64 MB"),
        (10**16, "10000 TB"),
    ],
)
def test_sizes_are_written_for_people(count: int, text: str) -> None:
    assert size(count) == text


def test_a_closed_pipe_ends_quietly(mmem: Run, path: Path) -> None:
    script = f"{sys.executable} -m mmem doctor -f table | true; echo ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.stdout.strip() in {"0", "141"}, ran.stderr) == (True, "")

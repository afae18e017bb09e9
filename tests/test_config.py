"""`mmem config`: what it prints, where that belongs, and that writing it changes nothing else."""

import ctypes
import errno
import json
import os
import pty
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mmem import hosts, jsonedit
from mmem.errors import Storage
from mmem.hosts import HOSTS

Mmem = Callable[..., Any]

PROGRAM = "/opt/bin/mmem"
LAUNCHER = hosts.launcher
WRITE = ["config", "cursor", "--base-dir", "/m", "--write"]
PLACES = ("XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "CLAUDE_CONFIG_DIR")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of the test's own, on Linux, and an mmem of a known place."""
    for name in PLACES:
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setattr(hosts, "this_system", lambda: "Linux")
    monkeypatch.setattr(hosts, "launcher", lambda program: [PROGRAM])
    return folder


@pytest.fixture
def file(home: Path) -> Path:
    """Cursor's file, in a folder that is there."""
    (home / ".cursor").mkdir()
    return home / ".cursor" / "mcp.json"


@pytest.fixture
def write(mmem: Mmem) -> Mmem:
    """Write the entry for Cursor with a base directory `/m`, without asking."""

    def run(*words: str, **how: Any) -> Any:
        return mmem("config", "cursor", "--write", "--yes", "--base-dir", "/m", *words, **how)

    return run


def entry(base: str = "/m", **more: str) -> dict[str, object]:
    return {"command": PROGRAM, "args": ["serve"], "env": {"MEMORY_BASE_DIR": base, **more}}


def only(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# What is printed


@pytest.mark.parametrize(
    ("host", "section", "kind"),
    [
        ("claude-desktop", "mcpServers", {}),
        ("claude-code", "mcpServers", {"type": "stdio"}),
        ("cursor", "mcpServers", {}),
        ("vscode", "servers", {"type": "stdio"}),
    ],
)
@pytest.mark.parametrize("terminal", [False, True])
def test_the_configuration_is_printed_in_the_hosts_shape(
    mmem: Mmem, host: str, section: str, kind: dict[str, str], terminal: bool
) -> None:
    ran = mmem("config", host, "--base-dir", "/m", terminal=terminal)
    wanted = {section: {"mmem": {**kind, **entry()}}}
    assert (ran.exit_status, ran.stdout) == (0, json.dumps(wanted, indent=2) + "\n")


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ((), []),
        (("--dialect", "multi-memory"), []),
        (
            ("--pin", "c", "--read-only", "--dialect", "server-memory"),
            "--dialect server-memory --pin c --read-only".split(),
        ),
        (("--read-only",), ["--read-only"]),
    ],
)
def test_options_of_the_server_become_its_arguments(mmem: Mmem, words: tuple[str, ...], arguments: list[str]) -> None:
    assert mmem("config", "cursor", *words).json["mcpServers"]["mmem"]["args"] == ["serve", *arguments]


@pytest.mark.parametrize(
    ("words", "environ", "variables"),
    [
        (("-c", "work"), {}, {"DEFAULT_CATEGORY": "work"}),
        ((), {"DEFAULT_CATEGORY": "work"}, {"DEFAULT_CATEGORY": "work"}),
        (("-f", "json"), {}, {"SERIALIZATION_FORMAT": "json"}),
        (("-f", "yaml"), {"SERIALIZATION_FORMAT": "toon"}, {"SERIALIZATION_FORMAT": "yaml"}),
        (("-f", "auto"), {"SERIALIZATION_FORMAT": "TOON"}, {"SERIALIZATION_FORMAT": "toon"}),
        (("-f", "auto"), {}, {}),
        ((), {"SERIALIZATION_FORMAT": "auto"}, {}),
        ((), {"SERIALIZATION_FORMAT": "table"}, {}),
        (("--pin", "c", "-c", "c"), {"DEFAULT_CATEGORY": "work"}, {}),
    ],
)
def test_settings_that_were_given_become_variables(
    mmem: Mmem, words: tuple[str, ...], environ: dict[str, str], variables: dict[str, str]
) -> None:
    ran = mmem("config", "cursor", "--base-dir", "/m", *words, environ=environ)
    assert ran.json["mcpServers"]["mmem"]["env"] == {"MEMORY_BASE_DIR": "/m", **variables}


def test_the_base_directory_is_absolute_and_a_default_one_is_pointed_out(mmem: Mmem, tmp_path: Path) -> None:
    default = mmem("config", "cursor")
    assert default.json["mcpServers"]["mmem"] == entry(str(tmp_path / ".aim"))
    assert f"the memory is the one of this folder, {tmp_path / '.aim'}; --base-dir" in default.stderr
    for given_one in (
        mmem("config", "cursor", "--base-dir", "x"),
        mmem("config", "cursor", environ={"MEMORY_BASE_DIR": "x"}),
    ):
        assert given_one.json["mcpServers"]["mmem"] == entry(str(tmp_path / "x"))
        assert "of this folder" not in given_one.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say which host: claude-desktop, claude-code, cursor, vscode"),
        (("emacs",), "'emacs' is not one of 'claude-desktop', "),
        (("cursor", "-f", "table"), "no --format table"),
        (("cursor", "-c", "A b"), "isn't a valid name"),
        (("cursor", "--pin", "A b"), "isn't a valid name"),
        (("cursor", "--pin", "c", "-c", "work"), "--category is 'work', but --pin is 'c'"),
        (("cursor", "--name", "a b"), "A-Z, a-z, 0-9, - and _"),
        (("cursor", "--name", ""), "A-Z, a-z, 0-9, - and _"),
        (("cursor", "--yes"), "goes with --write"),
        (("claude-desktop", "--project"), "Claude Desktop has no file for a project"),
        (("cursor", "--base-dir", "a\udcff"), "isn't UTF-8"),
        (("cursor", "--write"), "there is no terminal to ask on: say --yes"),
    ],
)
def test_wrong_words_are_refused_in_one_line(mmem: Mmem, home: Path, words: tuple[str, ...], said: str) -> None:
    ran = mmem("config", "--base-dir", "/m", *words)
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert said in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert only(home) == []


def test_stderr_names_the_file_on_each_system_and_what_to_do(mmem: Mmem, home: Path) -> None:
    said = mmem("config", "claude-desktop", "--base-dir", "/m").stderr
    name = "claude_desktop_config.json"
    assert f"macOS: ~/Library/Application Support/Claude/{name}\n" in said
    assert f"Windows: %APPDATA%\\Claude\\{name}, or in %LOCALAPPDATA%\\Packages\\Claude_*\\" in said
    assert f"Linux, this machine: {home}/.config/Claude/{name}\n" in said
    assert "restart Claude Desktop" in said


@pytest.mark.parametrize(("words", "scope"), [((), "user"), (("--project",), "project")])
def test_claude_codes_own_command_is_shown_and_means_the_same(mmem: Mmem, words: tuple[str, ...], scope: str) -> None:
    ran = mmem("config", "claude-code", "--base-dir", "/it's here", *words)
    shown = shlex.split(ran.stderr.partition("or run: ")[2])
    assert shown[:-1] == ["claude", "mcp", "add-json", "--scope", scope, "mmem"]
    assert json.loads(shown[-1]) == ran.json["mcpServers"]["mmem"]


def test_what_is_said_is_json_where_asked_for(mmem: Mmem) -> None:
    said = mmem("config", "cursor", "--errors", "json").stderr.splitlines()
    assert {json.loads(line)["code"] for line in said} == {"config"}


def test_a_process_is_configured_as_it_was_started(mmem_process: Mmem, tmp_path: Path) -> None:
    words = mmem_process("config", "cursor").json["mcpServers"]["mmem"]
    assert (words["command"], words["args"]) == (sys.executable, ["-m", "mmem", "serve"])


# Where things are


def program(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_program_is_found_on_the_path_and_a_link_to_it_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, link = program(tmp_path / "venv" / "mmem"), tmp_path / "bin" / "mmem"
    link.parent.mkdir()
    link.symlink_to(target)
    monkeypatch.setenv("PATH", str(link.parent))
    assert LAUNCHER("mmem") == LAUNCHER("bin/mmem") == [str(link)]


@pytest.mark.parametrize("started_as", ["lib/mmem/__main__.py", "nowhere/mmem", "not-on-the-path", "plain.pyz"])
def test_what_can_not_be_run_by_itself_is_run_by_python(started_as: str, tmp_path: Path) -> None:
    (tmp_path / "plain.pyz").write_text("")
    program(tmp_path / "lib" / "x")
    assert LAUNCHER(started_as) == [sys.executable, "-m", "mmem"]


def test_the_ending_that_windows_cuts_off_is_put_back(tmp_path: Path) -> None:
    wanted = program(tmp_path / "Scripts" / "mmem.exe")
    assert LAUNCHER(str(wanted.with_suffix(""))) == [str(wanted)]


@pytest.mark.parametrize(
    ("host", "system", "environ", "path"),
    [
        ("claude-desktop", "macOS", {}, "/h/Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude-desktop", "Windows", {"APPDATA": "/r"}, "/r/Claude/claude_desktop_config.json"),
        ("claude-desktop", "Windows", {}, "/h/AppData/Roaming/Claude/claude_desktop_config.json"),
        ("claude-desktop", "Linux", {}, "/h/.config/Claude/claude_desktop_config.json"),
        ("claude-desktop", "Linux", {"XDG_CONFIG_HOME": "/x"}, "/x/Claude/claude_desktop_config.json"),
        ("claude-desktop", "Linux", {"XDG_CONFIG_HOME": "x"}, "/h/.config/Claude/claude_desktop_config.json"),
        ("claude-code", "macOS", {}, "/h/.claude.json"),
        ("claude-code", "Windows", {"APPDATA": "/r"}, "/h/.claude.json"),
        ("claude-code", "Linux", {"XDG_CONFIG_HOME": "/x"}, "/h/.claude.json"),
        ("claude-code", "Linux", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
        ("cursor", "macOS", {}, "/h/.cursor/mcp.json"),
        ("cursor", "Windows", {"APPDATA": "/r"}, "/h/.cursor/mcp.json"),
        ("cursor", "Linux", {"XDG_CONFIG_HOME": "/x"}, "/h/.cursor/mcp.json"),
        ("vscode", "macOS", {}, "/h/Library/Application Support/Code/User/mcp.json"),
        ("vscode", "Windows", {"APPDATA": "/r"}, "/r/Code/User/mcp.json"),
        ("vscode", "Linux", {}, "/h/.config/Code/User/mcp.json"),
        ("vscode", "Linux", {"XDG_CONFIG_HOME": "/x"}, "/x/Code/User/mcp.json"),
    ],
)
def test_every_host_has_its_file_on_every_system(
    host: str, system: hosts.System, environ: dict[str, str], path: str
) -> None:
    places = {"HOME": "/h", "USERPROFILE": "/h", **environ}
    assert hosts.user_file(HOSTS[host], places, system) == path


@pytest.mark.parametrize(
    ("there", "read"),
    [
        ([], "roaming"),
        (["package/"], "package"),
        (["roaming/x.json"], "roaming"),
        (["roaming/x.json", "package/"], "roaming"),
        (["roaming/x.json", "package/x.json"], "package"),
    ],
)
def test_a_packaged_claude_desktop_reads_the_file_of_its_package_first(
    tmp_path: Path, there: list[str], read: str
) -> None:
    name = "claude_desktop_config.json"
    folders = {
        "roaming": tmp_path / "Roaming" / "Claude",
        "package": tmp_path / "Local" / "Packages" / "Claude_pz" / "LocalCache" / "Roaming" / "Claude",
    }
    for one in there:
        folder, _, present = one.partition("/")
        folders[folder].mkdir(parents=True)
        if present:
            (folders[folder] / name).touch()
    places = {"APPDATA": str(tmp_path / "Roaming"), "LOCALAPPDATA": str(tmp_path / "Local")}
    assert hosts.user_file(HOSTS["claude-desktop"], places, "Windows") == str(folders[read] / name)


@pytest.mark.parametrize(
    ("host", "path"), [("claude-code", ".mcp.json"), ("cursor", ".cursor/mcp.json"), ("vscode", ".vscode/mcp.json")]
)
def test_a_projects_file_is_the_one_in_this_folder(
    mmem: Mmem, tmp_path: Path, home: Path, host: str, path: str
) -> None:
    assert f"this project: {tmp_path / path} (not to share" in mmem("config", host, "--project").stderr
    assert mmem("config", host, "--project", "--write", "--yes").exit_status == 0
    assert HOSTS[host].section in json.loads((tmp_path / path).read_text())
    assert only(home) == []


# Writing


def test_a_missing_file_is_created_for_its_owner_alone(mmem: Mmem, home: Path) -> None:
    ran = mmem("config", "vscode", "--base-dir", "/m", "--write", "--yes")
    path = home / ".config/Code/User/mcp.json"
    assert ran.stdout == (
        f"Created {path} with 'mmem' (and its folder: VS Code may not have run yet); {HOSTS['vscode'].restart}\n"
    )
    assert path.read_text() == mmem("config", "vscode", "--base-dir", "/m").stdout
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (path.parent, home / ".config")} == {0o700}
    assert only(path.parent) == ["mcp.json"]


# Each: a text, and the text with the entry `m` in its section `s`.
LAYOUTS = {
    "empty": ("", '{\n  "s": {\n    "m": {\n      "c": 1\n    }\n  }\n}\n'),
    "empty with mark and newline": (
        "\ufeff\r\n",
        '\ufeff{\r\n  "s": {\r\n    "m": {\r\n      "c": 1\r\n    }\r\n  }\r\n}\r\n',
    ),
    "empty object": ("{}", '{\n  "s": {\n    "m": {\n      "c": 1\n    }\n  }\n}'),
    "no section": ('{\n  "a": 1.50\n}\n', '{\n  "a": 1.50,\n  "s": {\n    "m": {\n      "c": 1\n    }\n  }\n}\n'),
    "null section": ('{\n  "s": null\n}', '{\n  "s": {\n    "m": {\n      "c": 1\n    }\n  }\n}'),
    "empty section": ('{\n\t"s": {}\n}', '{\n\t"s": {\n\t\t"m": {\n\t\t\t"c": 1\n\t\t}\n\t}\n}'),
    "empty section on two lines": (
        '{\n  "s": {\n  }\n}',
        '{\n  "s": {\n    "m": {\n      "c": 1\n    }\n  }\n}',
    ),
    "another entry": (
        '{\n    "s": {\n        "o": [1, 2]\n    },\n    "z": 0\n}',
        '{\n    "s": {\n        "o": [1, 2],\n        "m": {\n            "c": 1\n        }\n    },\n    "z": 0\n}',
    ),
    "the entry": (
        '{\r\n  "s": {\r\n    "m": {"old": {}},\r\n    "o": 2\r\n  }\r\n}',
        '{\r\n  "s": {\r\n    "m": {\r\n      "c": 1\r\n    },\r\n    "o": 2\r\n  }\r\n}',
    ),
    "one line": ('{"a": 1, "s": {"o": 2}}', '{"a": 1, "s": {"o": 2, "m": {"c": 1}}}'),
    "one tight line": ('{"s":{},"a":"é"}\n', '{"s":{"m":{"c":1}},"a":"é"}\n'),
    "one line within lines": ('{\n  "s": {"o": 2}\n}', '{\n  "s": {"o": 2, "m": {"c": 1}}\n}'),
    "no indentation": ('{\n"s": {\n"o": 2\n}\n}', '{\n"s": {\n"o": 2,\n"m": {\n"c": 1\n}\n}\n}'),
    "the section deeper too": ('{"p": {"s": {"m": 0}}, "s": {}}', '{"p": {"s": {"m": 0}}, "s": {"m": {"c": 1}}}'),
    "escapes and odd numbers": (
        '{"\\u0061": "\\ud83d \\/", "n": [1e400, -0, 1.0, 10E+2], "s": {}}',
        '{"\\u0061": "\\ud83d \\/", "n": [1e400, -0, 1.0, 10E+2], "s": {"m": {"c": 1}}}',
    ),
}


@pytest.mark.parametrize(("old", "new"), LAYOUTS.values(), ids=LAYOUTS)
def test_an_entry_is_written_in_the_layout_of_the_file(old: str, new: str) -> None:
    assert jsonedit.with_entry(old, "s", "m", {"c": 1}) == new
    assert jsonedit.with_entry(new, "s", "m", {"c": 1}) == new


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)
members = st.dictionaries(st.text(max_size=3), values, max_size=3)
OLD = "the old entry"


@st.composite
def texts(draw: st.DrawFn, section: st.SearchStrategy[object]) -> str:
    """Draw the text of a file: an object with a section, in some layout, with some newlines, perhaps a mark before."""
    held = {**draw(members), "section": draw(section), **draw(members)}
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    separators = draw(st.sampled_from([(",", ":"), (",", ": "), (", ", ": "), (" ,", " : ")]))
    kept = {key: value for key, value in held.items() if value != {"absent": True}}
    text = json.dumps(kept, indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
    newline, end = draw(st.sampled_from(["\n", "\r\n"])), draw(st.sampled_from(["", "\n", "\n\n "]))
    return draw(st.sampled_from(["", "\ufeff"])) + (text + end).replace("\n", newline)


def require_only_the_entry_changed(text: str, new: str, value: object) -> None:
    old = json.loads(text.removeprefix("\ufeff"))
    wanted = {**old, "section": {**(old.get("section") or {}), "m": value}}
    assert json.dumps(json.loads(new.removeprefix("\ufeff"))) == json.dumps(wanted)


def common(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


@settings(max_examples=300, deadline=None)
@given(text=texts(st.just({"absent": True}) | st.none() | members), value=members)
def test_an_entry_is_put_between_two_halves_of_the_file(text: str, value: dict[str, object]) -> None:
    new = jsonedit.with_entry(text, "section", "m", value)
    require_only_the_entry_changed(text, new, value)
    if "m" in jsonedit.entries(text, "section"):
        return
    before = common(text, new)
    after = common(text[before:][::-1], new[before:][::-1])
    is_null = json.loads(text.removeprefix("\ufeff")).get("section", "") is None
    assert text[before : len(text) - after] == ("null" if is_null else "")


@settings(max_examples=300, deadline=None)
@given(text=texts(st.builds(lambda a, b: {**a, **b, "m": OLD}, members, members)), value=members)
@example(text=f'{{"section":{{"m":"{OLD}"}}}}', value={})
def test_an_entry_is_replaced_and_all_around_it_stays(text: str, value: dict[str, object]) -> None:
    before, _, after = text.partition(json.dumps(OLD))
    new = jsonedit.with_entry(text, "section", "m", value)
    require_only_the_entry_changed(text, new, value)
    assert new.startswith(before)
    assert new.endswith(after)
    assert json.loads(new[len(before) : len(new) - len(after)]) == value


REFUSED = [
    (b'{\n  // mine\n  "mcpServers": {}\n}', "line 2, column 3: a comment"),
    (b'{"a": 1} /* mine */', "line 1, column 10: a comment"),
    (b'{\n  "mcpServers": {},\n}', "line 2, column 19: a comma with nothing behind it"),
    (b'{"a": [1, ]}', "line 1, column 9: a comma with nothing behind it"),
    (b'{"mcpServers": {', "line 1, column 17: it ends too early"),
    (b'{"a": tru}', "line 1, column 7: expecting value"),
    (b"{} {}", "line 1, column 4: something stands behind the JSON"),
    (b'{"NaN": [NaN]}', "line 1, column 10: NaN"),
    (b'{"a": "\xff"}', "line 1, column 8: byte 0xff isn't UTF-8"),
    ('{"a": 1}'.encode("utf-16"), "line 1, column 1: byte 0xff isn't UTF-8"),
    (b"[]", "line 1, column 1: the top level is not an object"),
    (b"null", "the top level is not an object"),
    (b'{"mcpServers": []}', '"mcpServers" is not an object'),
    (b'{"mcpServers": {},\n "mcpServers": {}}', 'line 2, column 2: the key "mcpServers" stands twice'),
    (b'{"mcpServers": {"a": 1, "\\u0061": 2}}', 'the key "a" stands twice'),
    (b'{"a": ' + b"[" * 100_000, "nested too deep"),
    (b'{"a": ' + b"1" * 5_000 + b"}", "a number too long"),
]


@pytest.mark.parametrize(("content", "said"), REFUSED)
def test_a_file_that_is_not_strict_json_is_left_as_it_is(file: Path, write: Mmem, content: bytes, said: str) -> None:
    file.write_bytes(content)
    ran = write()
    assert (ran.exit_status, ran.stdout) == (5, "")
    assert f"mmem: {file}: " in ran.stderr
    assert said in ran.stderr
    assert "nothing was written: mend that, or put in by hand what 'mmem config cursor' prints\n" in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert (file.read_bytes(), only(file.parent)) == (content, ["mcp.json"])


def test_an_entry_is_added_then_found_then_replaced(file: Path, write: Mmem) -> None:
    file.write_text('{"mcpServers": {"x": {"command": "x"}}}')
    first, again, other = write(), write(), write("-c", "work")
    assert first.stdout == f"Added 'mmem' to {file} (backup: {file}.bak); restart Cursor\n"
    assert (again.exit_status, again.stdout) == (0, f"Nothing to do: 'mmem' stands in {file} already\n")
    assert other.stdout == f"Replaced 'mmem' in {file} (backup: {file}.bak.1); restart Cursor\n"
    wanted = {"mcpServers": {"x": {"command": "x"}, "mmem": entry(DEFAULT_CATEGORY="work")}}
    assert json.loads(file.read_text()) == wanted


def test_nothing_to_do_needs_no_yes_and_touches_nothing(mmem: Mmem, file: Path, write: Mmem) -> None:
    write()
    before = file.stat()
    assert mmem("config", "cursor", "--write", "--base-dir", "/m").exit_status == 0
    assert (file.stat(), only(file.parent)) == (before, ["mcp.json"])


def test_an_entry_can_have_another_name(file: Path, write: Mmem) -> None:
    write()
    write("--name", "notes")
    assert list(json.loads(file.read_text())["mcpServers"]) == ["mmem", "notes"]


def test_a_backup_is_the_old_file_and_never_overwrites_another(file: Path, write: Mmem) -> None:
    file.write_bytes(b"\xef\xbb\xbf{ }\r\n")
    file.chmod(0o640)
    taken = file.with_name("mcp.json.bak")
    taken.symlink_to("nowhere")
    write()
    backup = file.with_name("mcp.json.bak.1")
    assert backup.read_bytes() == b"\xef\xbb\xbf{ }\r\n"
    assert file.read_bytes().startswith(b"\xef\xbb\xbf{\r\n")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, backup)] == [0o640, 0o640]
    assert taken.is_symlink()
    assert only(file.parent) == ["mcp.json", "mcp.json.bak", "mcp.json.bak.1"]


@pytest.mark.parametrize("content", ["{}", None])
def test_a_link_stays_a_link(file: Path, write: Mmem, tmp_path: Path, content: str | None) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    if content is not None:
        (dotfiles / "cursor.json").write_text(content)
    file.symlink_to(dotfiles / "cursor.json")
    assert write().exit_status == 0
    assert os.readlink(file) == str(dotfiles / "cursor.json")
    assert json.loads(file.read_text()) == {"mcpServers": {"mmem": entry()}}
    assert only(dotfiles) == ["cursor.json"]


def meanwhile(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen while the new file is being written."""
    monkeypatch.setattr("mmem.rewriting.os.fsync", lambda descriptor: happens())


@pytest.mark.parametrize("before", ['{"a": 1}', None])
def test_a_file_that_changed_meanwhile_is_not_overwritten(
    file: Path, write: Mmem, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    if before is not None:
        file.write_text(before)
    meanwhile(monkeypatch, lambda: file.write_text('{"a": 2}'))
    ran = write()
    assert (ran.exit_status, ran.stdout) == (4, "")
    assert ran.stderr == f"mmem: {file} was changed by another program meanwhile; nothing was written: try again\n"
    assert (file.read_text(), only(file.parent)) == ('{"a": 2}', ["mcp.json"])


def test_a_full_disk_leaves_everything_as_it_was(file: Path, write: Mmem, monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    file.write_text("{}")
    meanwhile(monkeypatch, full)
    ran = write()
    assert (ran.exit_status, ran.stdout) == (5, "")
    assert ran.stderr.startswith("mmem: the disk is full: make room and try again; nothing was written")
    assert (file.read_text(), only(file.parent)) == ("{}", ["mcp.json"])


def test_a_process_that_may_write_no_byte_leaves_everything_as_it_was(file: Path) -> None:
    file.write_text("{}")
    script = f"ulimit -f 0; {sys.executable} -m mmem {shlex.join(WRITE)} --yes"
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (5, "")
    assert ran.stderr.startswith(f"mmem: {file}: file too large")
    assert (file.read_text(), only(file.parent)) == ("{}", ["mcp.json"])


@pytest.mark.parametrize("what", ["a folder", "a pipe", "a loop", "below a file"])
def test_what_is_no_file_is_refused(home: Path, write: Mmem, what: str) -> None:
    file = home / ".cursor" / "mcp.json"
    if what == "below a file":
        file.parent.write_text("")
    else:
        file.parent.mkdir()
        {"a folder": file.mkdir, "a pipe": lambda: os.mkfifo(file), "a loop": lambda: file.symlink_to(file)}[what]()
    ran = write()
    assert (ran.exit_status, ran.stdout, ran.stderr.count("\n")) == (5, "", 1)
    assert str(file) in ran.stderr


def obey_modes() -> None:
    """Give up root's right to write what its mode forbids, in a process that is about to begin."""
    bounding_set_drop, dac_override = 24, 1
    if os.geteuid() == 0 and ctypes.CDLL(None).prctl(bounding_set_drop, dac_override, 0, 0, 0):
        os._exit(70)


@pytest.mark.skipif(os.geteuid() == 0 and not sys.platform.startswith("linux"), reason="root may write everywhere")
@pytest.mark.parametrize(
    ("locked", "said"),
    [
        (".cursor/mcp.json", "the file is read-only"),
        (".cursor", "no permission to write in"),
        (".", "permission denied"),
    ],
)
def test_what_is_read_only_is_refused(home: Path, locked: str, said: str) -> None:
    file = home / ".cursor" / "mcp.json"
    if locked != ".":
        file.parent.mkdir()
        file.write_text("{}")
    (home / locked).chmod(0o500)
    words = [sys.executable, "-m", "mmem", *WRITE, "--yes"]
    ran = subprocess.run(words, preexec_fn=obey_modes, capture_output=True, text=True, timeout=60, check=False)
    (home / locked).chmod(0o700)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (5, "", 1)
    assert ran.stderr.startswith(f"mmem: {file}: {said}")
    assert (file.read_text(), only(file.parent)) == ("{}", ["mcp.json"]) if locked != "." else only(home) == []


@pytest.mark.parametrize(
    ("other", "warned"),
    [
        ({"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}, True),
        ({"command": "npx", "args": ["-y", "multi-memory-mcp@latest"]}, True),
        ({"command": "docker", "args": ["run", "-i", "--rm", "mcp/memory"]}, True),
        ({"command": "/usr/bin/mmem", "args": ["serve"]}, True),
        ({"command": "C:\\Scripts\\mmem.exe", "args": ["serve"]}, True),
        ({"command": "python", "args": ["-m", "mmem", "serve", "--read-only"]}, True),
        ({"command": "mmem", "args": ["batch"]}, False),
        ({"command": "npx", "args": ["server-filesystem", 5]}, False),
        ({"url": "https://example.com/memory"}, False),
        ("odd", False),
    ],
)
def test_another_memory_in_the_file_is_pointed_out_and_stays(
    file: Path, write: Mmem, other: object, warned: bool
) -> None:
    file.write_text(json.dumps({"mcpServers": {"old": other}}))
    ran = write()
    assert ("'old'" in ran.stderr and "remove one by hand" in ran.stderr) is warned
    assert json.loads(file.read_text())["mcpServers"]["old"] == other


# Asking


def test_the_question_says_what_will_happen(mmem: Mmem, file: Path, write: Mmem) -> None:
    def asked(*words: str) -> str:
        ran = mmem("config", "cursor", "--write", "--base-dir", "/m", *words, terminal=True, stdin="n\n")
        assert (ran.exit_status, ran.stdout) == (1, "")
        return str(ran.stderr)

    assert f"Create {file} with 'mmem'? [y/N]" in asked()
    file.write_text('{"mcpServers": {"mmem": {"command": "npx", "args": ["old one"]}}}')
    assert f"Replace 'mmem' in {file}, which now runs npx 'old one' (backup: {file}.bak)? [y/N]" in asked()
    assert f"Add 'x' to {file} (backup: {file}.bak)? [y/N]" in asked("--name", "x")
    write()
    assert "which now runs the same with other settings (backup" in asked("-c", "work")
    assert only(file.parent) == ["mcp.json", "mcp.json.bak"]


def on_a_terminal(words: list[str], answer: Callable[[], bytes]) -> tuple[int, str]:
    """Run mmem on a terminal of its own and answer its question; return its status and what the terminal shows."""
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "mmem", *words], stdin=terminal, stdout=terminal, stderr=terminal
    ) as process:
        os.close(terminal)
        shown = b""
        try:
            while chunk := os.read(controller, 65536):
                shown += chunk
                if chunk.endswith(b"[y/N] "):
                    os.write(controller, answer())
        except OSError:  # the other end was closed
            pass
    os.close(controller)
    return process.returncode, shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(("answer", "status", "keys"), [(b"y\n", 0, ["a", "mcpServers"]), (b"n\n", 1, ["a"])])
def test_a_person_is_asked(file: Path, answer: bytes, status: int, keys: list[str]) -> None:
    file.write_text('{"a": 1}')
    ran, shown = on_a_terminal(WRITE, lambda: answer)
    assert (ran, list(json.loads(file.read_text()))) == (status, keys)
    assert shown.startswith(f"Add 'mmem' to {file} (backup: {file}.bak)? [y/N] ")
    assert shown.splitlines()[-1].startswith("mmem: nothing was done" if status else "Added 'mmem' to")


def test_what_a_host_writes_while_a_person_thinks_is_kept(file: Path) -> None:
    file.write_text('{"a": 1}')

    def answer() -> bytes:
        file.write_text('{"a": 2}')
        return b"y\n"

    assert on_a_terminal(WRITE, answer)[0] == 0
    assert json.loads(file.read_text())["a"] == 2
    assert file.with_name("mcp.json.bak").read_text() == '{"a": 2}'


def test_an_entry_that_changed_while_a_person_thinks_is_not_replaced(file: Path) -> None:
    changed = '{"mcpServers": {"mmem": {"command": "another"}}}'
    status, shown = on_a_terminal(WRITE, lambda: (file.write_text(changed), b"y\n")[1])
    assert (status, file.read_text()) == (4, changed)
    assert "was changed meanwhile; nothing was written: try again" in shown


def test_a_deep_file_is_written_or_refused() -> None:
    for depth in range(900, 1100):
        text = '{"a":' + "[" * depth + "]" * depth + "}"
        with suppress(Storage):
            assert jsonedit.with_entry(text, "s", "m", {}) == text[:-1] + ',"s":{"m":{}}}'

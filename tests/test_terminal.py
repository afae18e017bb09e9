"""A terminal's comforts, which no pipe ever sees: a pager, links to files, what to do next; and names for scripts."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mmem.links import follows_links, linked

Ask = Callable[..., Any]
Mmem = Callable[..., Any]
PAGED = "sed s/^/paged:/"
QUIET = {"TERM": "xterm", "NO_COLOR": "1", "LANG": "C.UTF-8"}


def on_a_terminal(command: str, rows: int = 10, **environ: str) -> str:
    """Return what a shell command prints on a terminal of so many rows, and its exit status on a last line."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
    settings = {name: value for name, value in os.environ.items() if "PAGER" not in name and name != "LESS"}
    with subprocess.Popen(
        ["bash", "-c", f'mmem() {{ "{sys.executable}" -m mmem "$@"; }}; {command}; echo "status $?"'],
        env={**settings, **QUIET, **environ},
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
    ):
        os.close(terminal)
        printed = b""
        try:
            while chunk := os.read(controller, 65536):
                printed += chunk
        except OSError:  # the other end was closed
            pass
    os.close(controller)
    return printed.decode().replace("\r\n", "\n")


@pytest.fixture
def thirty(ask: Ask, store: Any) -> None:
    """Thirty entities: more lines than the terminal has."""
    ask("create_entities", entities=[{"name": f"n{n}"} for n in range(30)])
    store.close()


def test_long_output_goes_through_the_pager(thirty: None) -> None:
    printed = on_a_terminal("mmem read-graph", MMEM_PAGER=PAGED)
    assert printed.startswith("paged:n0 #1\n")
    assert printed.endswith("paged:30 entities, 0 observations, 0 relations\nstatus 0\n")


@pytest.mark.parametrize(
    ("command", "environ"),
    [
        ("mmem read-graph --no-pager", {"MMEM_PAGER": PAGED}),
        ("mmem --no-pager read-graph", {"MMEM_PAGER": PAGED}),
        ("mmem read-graph | cat", {"MMEM_PAGER": PAGED}),
        ("mmem read-graph", {"MMEM_PAGER": "", "PAGER": PAGED}),
        ("mmem read-graph", {"PAGER": "cat"}),
        ("mmem read-graph", {"PAGER": PAGED, "TERM": "dumb"}),
        ("mmem list-categories", {"PAGER": PAGED}),
    ],
)
def test_no_pager_where_it_is_unwanted_or_of_no_use(thirty: None, command: str, environ: dict[str, str]) -> None:
    printed = on_a_terminal(command, **environ)
    assert "paged:" not in printed
    assert printed.endswith("status 0\n")


def test_one_long_line_is_long_output_too(ask: Ask, store: Any) -> None:
    ask("create_entities", entities=[{"name": "n", "observations": ["x" * 900]}])
    store.close()
    assert on_a_terminal("mmem read-graph -f jsonl", PAGER=PAGED).startswith("paged:")


def test_mmem_pager_goes_before_pager(thirty: None) -> None:
    assert on_a_terminal("mmem read-graph", MMEM_PAGER=PAGED, PAGER="false").startswith("paged:")


def test_less_is_the_pager_where_none_is_named(thirty: None, tmp_path: Path) -> None:
    (tmp_path / "less").write_text('#!/bin/sh\necho "less $*"\ncat > /dev/null\n')
    (tmp_path / "less").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    assert on_a_terminal("mmem read-graph", PATH=path) == "less -FRX\nstatus 0\n"


def test_a_pager_that_is_left_early_ends_quietly(ask: Ask, store: Any) -> None:
    ask("create_entities", entities=[{"name": f"n{n}", "observations": ["x" * 1000]} for n in range(500)])
    store.close()
    assert on_a_terminal("mmem read-graph", PAGER="head -1") == "n0 #1\nstatus 0\n"


def test_ctrl_c_is_the_pagers(thirty: None) -> None:
    printed = on_a_terminal("mmem read-graph", PAGER="sleep 0.3; kill -INT $PPID; cat")
    assert printed.endswith("30 entities, 0 observations, 0 relations\nstatus 0\n")
    assert "interrupted" not in printed


def test_a_pager_that_is_not_there_loses_nothing(thirty: None) -> None:
    printed = on_a_terminal("mmem read-graph", PAGER="no-such-pager")
    assert "the pager 'no-such-pager' can't be started: see MMEM_PAGER and PAGER, or say --no-pager" in printed
    assert printed.endswith("n29 #30\n\n30 entities, 0 observations, 0 relations\nstatus 0\n")


def test_notices_come_after_the_pages(thirty: None) -> None:
    printed = on_a_terminal("mmem read-graph -n 20", PAGER=PAGED)
    assert re.search(r"paged:20 entities.*\nmmem: truncated: .*\nstatus 0\n$", printed)


@pytest.mark.parametrize(
    ("environ", "follows"),
    [
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"VTE_VERSION": "7200"}, True),
        ({"VTE_VERSION": "4600"}, False),
        ({"VTE_VERSION": "²"}, False),
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"VTE_VERSION": "7200", "SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}, False),
        ({"VTE_VERSION": "7200", "TMUX": "/run/tmux,1,0"}, False),
        ({"TERM": "xterm", "FORCE_HYPERLINK": "1"}, True),
        ({"VTE_VERSION": "7200", "FORCE_HYPERLINK": "0"}, False),
    ],
)
def test_links_are_for_terminals_that_follow_them(environ: dict[str, str], follows: bool) -> None:
    assert follows_links(environ) is follows


def test_a_link_shows_the_path_and_leads_to_the_file(tmp_path: Path) -> None:
    text = linked("Wrote a b.html: 1 entity", "a b.html")
    assert re.sub("\x1b\\]8;;[^\x1b]*\x1b\\\\", "", text) == "Wrote a b.html: 1 entity"
    assert f"{tmp_path}/a%20b.html\x1b\\a b.html\x1b]8;;\x1b\\" in text


@pytest.mark.parametrize(
    "words",
    [("backup", "-o", "b.db"), ("export", "-o", "b.jsonl"), ("view", "--output", "b.html")],
    ids=lambda words: words[0],
)
def test_the_files_that_are_written_are_links(ask: Ask, mmem: Mmem, words: tuple[str, ...]) -> None:
    ask("create_entities", entities=[{"name": "A"}])

    def sent(**environ: str) -> bool:
        again = ("--yes",) if words[0] == "backup" else ()
        return "\x1b]8;;file://" in mmem(*words, *again, terminal=True, environ=environ).stdout

    assert sent(FORCE_HYPERLINK="1", TERM="xterm")
    assert not sent(FORCE_HYPERLINK="1", NO_COLOR="1")
    assert not sent(FORCE_HYPERLINK="0", TERM="xterm-kitty")
    assert "\x1b" not in mmem(*words, environ={"FORCE_HYPERLINK": "1"}).stdout


def test_mmem_alone_says_where_the_memory_is_and_what_to_try(mmem: Mmem, base: Path) -> None:
    first = mmem()
    assert (first.exit_status, first.stdout) == (2, "")
    assert f"There is no memory in {base} yet" in first.stderr
    assert "mmem seed demo" in first.stderr
    assert not base.exists()
    mmem("create-entities", "A", "-o", "x", "-c", "work")
    again = mmem().stderr
    assert f"Your memory is in {base}:\n  work  1 entity, 1 observation, 0 relations\n" in again
    assert "mmem stats -c work" in again
    assert again.endswith("mmem: name a command; mmem --help lists them\n")


def test_mmem_alone_lists_ten_categories(ask: Ask, mmem: Mmem) -> None:
    for n in range(12):
        ask("create_entities", category=f"c{n:02}", entities=[{"name": "A"}])
    said = mmem().stderr
    assert "  c09  1 entity" in said
    assert "c10" not in said
    assert "  and 2 more: mmem list-categories\n" in said


@pytest.mark.parametrize("environ", [{"MEMORY_BASE_DIR": "/dev/null"}, {"DEFAULT_CATEGORY": "No Name"}])
def test_mmem_alone_helps_also_where_the_settings_are_wrong(mmem: Mmem, environ: dict[str, str]) -> None:
    ran = mmem(environ=environ)
    assert ran.exit_status == 2
    assert ran.stderr.startswith("Your memory can't be looked at: ")
    assert "Try one of these:" in ran.stderr


ODD = ["two words", "two\nlines", "-n", "'quoted'", "東京", "\x1b[31m"]


@pytest.fixture
def odd(ask: Ask) -> None:
    """Entities whose names no shell splits well."""
    ask("create_entities", entities=[{"name": name, "observations": ["same"]} for name in ODD])


@pytest.mark.parametrize(
    "words",
    [
        ("read-graph", "-0"),
        ("read-graph", "--names", "--print0"),
        ("open-nodes", "-0", *(f"id:{n}" for n in range(1, 7))),
        ("search-nodes", "-0", "same"),
        ("search-nodes", "-0", "--json", '{"query": "same"}'),
        ("search-nodes", "-0", "-a", "same"),
        ("-f", "auto", "read-graph", "-0"),
    ],
)
def test_names_for_xargs_are_raw_and_end_with_a_nul(odd: None, mmem: Mmem, words: tuple[str, ...]) -> None:
    ran = mmem(*words, environ={"SERIALIZATION_FORMAT": "yaml"})
    assert sorted(ran.stdout.split("\0")) == sorted(["", *ODD])
    assert ran.stdout.endswith("\0")


def test_categories_for_xargs(ask: Ask, mmem: Mmem) -> None:
    assert mmem("list-categories", "-0").stdout == ""
    for name in ("work", "home"):
        ask("create_entities", category=name, entities=[{"name": "A"}])
    assert mmem("list-categories", "-0").stdout == mmem("list-categories", "-0", "-v").stdout == "home\0work\0"


def test_xargs_takes_the_names(odd: None, mmem: Mmem) -> None:
    piped = "mmem read-graph -0 | xargs -0 -I{} " + sys.executable + " -m mmem open-nodes name:{} --names -f jsonl"
    printed = on_a_terminal(f"{piped} | wc -l")
    assert printed == "6\nstatus 0\n"


def test_names_alone_on_a_terminal_send_no_control_characters(odd: None, mmem: Mmem) -> None:
    shown = mmem("read-graph", "-0", terminal=True).stdout
    assert not re.search(r"[\x00-\x1f]", shown)


def test_names_for_xargs_and_another_format_exclude_each_other(odd: None, mmem: Mmem) -> None:
    ran = mmem("read-graph", "-0", "-f", "yaml")
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert ran.stderr == "mmem: -0 prints names alone and -f yaml whole results; give one of them\n"


def test_names_alone(odd: None, mmem: Mmem) -> None:
    assert mmem("read-graph", "--names").json == ODD
    assert mmem("open-nodes", "東京", "-n", "--", "-n", "--names").exit_status == 2
    assert mmem("open-nodes", "--names", "東京", "two words").json == ["東京", "two words"]
    page = mmem("read-graph", "--names", "--limit", "2", "--offset", "1")
    assert page.json == ODD[1:3]
    assert "truncated: these are entities 2 to 3 of 6" in page.stderr


def test_opening_names_that_are_not_there_still_exits_with_3(mmem: Mmem) -> None:
    mmem("create-entities", "A")
    ran = mmem("open-nodes", "--names", "B")
    assert (ran.exit_status, ran.stdout) == (3, "[]\n")

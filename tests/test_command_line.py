"""The command line's manners: options, JSON in, errors out, confirmation, streams and exit statuses."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mmem.exits import ExitStatus
from mmem.registry import COMMANDS

Mmem = Callable[..., Any]


def names(ran: Any) -> list[str]:
    return [entity["name"] for entity in ran.json["entities"]]


@pytest.mark.parametrize(
    "words",
    [
        ("-c", "work", "read-graph"),
        ("read-graph", "-c", "work"),
        ("--category=work", "read-graph"),
        ("-c", "home", "read-graph", "-c", "work"),
        ("read_graph", "-c", "work"),
    ],
)
def test_options_stand_before_or_after_the_command(mmem: Mmem, words: tuple[str, ...]) -> None:
    mmem("create-entities", "A", "-c", "work")
    assert names(mmem(*words)) == ["A"]


def test_the_base_directory_comes_from_the_option_then_the_variable(mmem: Mmem, tmp_path: Path) -> None:
    mmem("create-entities", "A", "--base-dir", "one")
    mmem("create-entities", "B", environ={"MEMORY_BASE_DIR": str(tmp_path / "two")})
    assert names(mmem("read-graph", environ={"MEMORY_BASE_DIR": "one"})) == ["A"]
    assert names(mmem("read-graph", "--base-dir", "two", environ={"MEMORY_BASE_DIR": "one"})) == ["B"]


def test_a_tilde_in_the_base_directory_is_the_home_folder(
    mmem: Mmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    mmem("create-entities", "A", environ={"MEMORY_BASE_DIR": "~/memory"})
    assert (tmp_path / "home/memory/default.db").is_file()
    assert not (tmp_path / "~").exists()


def test_the_category_comes_from_the_request_then_the_option_then_the_variable(mmem: Mmem) -> None:
    environ = {"DEFAULT_CATEGORY": "variable"}
    mmem("create-entities", "V", environ=environ)
    mmem("create-entities", "O", "-c", "option", environ=environ)
    mmem("create-entities", "--json", '{"category": "request", "entities": [{"name": "R"}]}', environ=environ)
    assert mmem("list-categories").json == ["option", "request", "variable"]
    assert names(mmem("read-graph", "--json", '{"category": ""}', environ=environ)) == ["V"]


def test_an_option_beside_another_category_in_the_request_is_refused(mmem: Mmem, base: Path) -> None:
    ran = mmem("create-entities", "-c", "work", "--json", '{"category": "home", "entities": [{"name": "A"}]}')
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert "'work'" in ran.stderr
    assert not base.exists()


def test_json_comes_from_a_word_a_file_or_standard_input(mmem: Mmem, tmp_path: Path) -> None:
    (tmp_path / "request.json").write_text('\ufeff{"entities": [{"name": "F"}]}')
    mmem("create-entities", "--json", '[{"name": "W"}]')
    mmem("create-entities", "--json", "@request.json")
    mmem("create-entities", "--json", "-", stdin='{"entities": [{"name": "S"}]}')
    assert names(mmem("read-graph")) == ["W", "F", "S"]


def test_a_file_that_is_not_there_is_a_usage_error(mmem: Mmem) -> None:
    ran = mmem("create-entities", "--json", "@nothing.json")
    assert (ran.exit_status, ran.stderr) == (2, "mmem: --json @nothing.json: no such file or directory\n")


def test_standard_input_is_read_only_where_a_dash_asks_for_it(base: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "mmem", "list-categories"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b"[]\n"  # stdin is still open
        process.stdin.close()  # type: ignore[union-attr]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(mmem: Mmem, command: str) -> None:
    ran = mmem(command, "--help")
    assert ran.exit_status == 0
    assert ran.stdout.splitlines()[2].strip() == COMMANDS[command].help
    assert f"  mmem {command}" in ran.stdout
    assert ("--json" in ran.stdout) is COMMANDS[command].tool


def test_the_help_lists_every_command_without_importing_one() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from mmem.cli import cli;"
        "result = CliRunner().invoke(cli, ['--help']); assert result.exit_code == 0;"
        "print(*[m for m in sys.modules if m.startswith('mmem.commands.')]); print(result.stdout)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported, _, shown = ran.stdout.partition("\n")
    assert imported == ""
    assert all(command in shown for command in COMMANDS)


def test_mmem_alone_shows_its_help_on_stderr(mmem: Mmem) -> None:
    ran = mmem()
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert "create-entities" in ran.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("creat-entities", "A"), "did you mean 'create-entities'"),
        (("create-entities", "--tipe", "x"), "did you mean '--type'?"),
        (("create-entities", "A", "-5% budget"), "a text that begins with a dash goes after --"),
        (("create-entities",), "name an entity to create"),
        (("create-entities", "A", "-p", "x"), "'x' must be KEY=TEXT or KEY:=JSON"),
        (("create-entities", "A", "-p", "x:={"), "not valid JSON"),
        (("create-entities", "A", "-p", "x=1", "-p", "x=2"), "given twice"),
        (("create-entities", "A", "--json", "{}"), "in words or with --json, not both"),
        (("read-graph", "-f", "xml"), "'xml' is not one of"),
        (("open-nodes", "id:7", "-t", "x", "--json", "[]"), "not both"),
        (("create-relations", "A", "uses"), "say FROM RELATION TO"),
        (("delete-observations", "A", "--id", "3"), "--id ID"),
    ],
)
def test_wrong_words_get_one_line_that_says_what_to_do(mmem: Mmem, words: tuple[str, ...], said: str) -> None:
    ran = mmem(*words)
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert said in ran.stderr
    assert ran.stderr.startswith("mmem: ")
    assert ran.stderr.count("\n") == 1


def test_errors_are_json_where_asked_for(mmem: Mmem) -> None:
    for ran in (
        mmem("add-observations", "Nobody", "x", "--errors", "json"),
        mmem("add-observations", "Nobody", "x", environ={"MMEM_ERRORS": "json"}),
    ):
        error = json.loads(ran.stderr.splitlines()[-1])
        assert (ran.exit_status, error["code"]) == (3, "not_found")
        assert set(error) == {"code", "message", "details"}


def test_usage_errors_are_json_too_even_before_the_options_are_read(mmem: Mmem) -> None:
    ran = mmem("create-entities", "--nothing", "--errors=json")
    assert json.loads(ran.stderr)["code"] == "usage"


def test_notices_are_json_where_asked_for_and_quiet_keeps_them(mmem: Mmem) -> None:
    mmem("create-entities", "A")
    ran = mmem("create-entities", "A", "-q", "--errors", "json")
    assert json.loads(ran.stderr)["code"] == "skipped"
    assert mmem("-q", "create-entities", "A").stderr.startswith("mmem: skipped: 'A' exists already")


def test_deleting_asks_on_a_terminal(mmem: Mmem) -> None:
    mmem("create-entities", "A", "-o", "x")
    no = mmem("delete-entities", "A", terminal=True, stdin="n\n")
    assert (no.exit_status, names(mmem("read-graph"))) == (1, ["A"])
    assert "Delete 'A' from category 'default', with 1 observation and 0 relations?" in no.stderr
    yes = mmem("delete-entities", "A", terminal=True, stdin="y\n")
    assert (yes.exit_status, names(mmem("read-graph"))) == (0, [])


@pytest.mark.parametrize(
    "words",
    [
        ("delete-entities", "A"),
        ("delete-observations", "A"),
        ("delete-relations", "A", "is", "A"),
        ("delete-category", "default"),
        ("delete-entities", "Nobody"),
    ],
)
def test_deleting_elsewhere_needs_yes(mmem: Mmem, words: tuple[str, ...]) -> None:
    mmem("create-entities", "A", "-o", "x")
    mmem("create-relations", "A", "is", "A")
    before = mmem("read-graph").stdout
    ran = mmem(*words)
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert "--yes" in ran.stderr
    assert mmem("read-graph").stdout == before


def test_a_deletion_in_json_does_not_ask(mmem: Mmem) -> None:
    mmem("create-entities", "A")
    assert mmem("delete-entities", "--json", '["A"]').exit_status == 0
    assert names(mmem("read-graph")) == []


def test_open_nodes_exits_with_3_where_nothing_was_found(mmem: Mmem) -> None:
    mmem("create-entities", "A")
    assert mmem("open-nodes", "B").exit_status == 3
    found = mmem("open-nodes", "B", "A")
    assert (found.exit_status, names(found)) == (0, ["A"])
    assert "no entity 'B'" in found.stderr


def test_an_empty_result_is_a_success(mmem: Mmem) -> None:
    mmem("create-entities", "A")
    assert mmem("search-nodes", "zzz").exit_status == 0
    assert mmem("read-graph", "-c", "nothing").exit_status == 0


def test_id_and_name_words_say_what_they_are(mmem: Mmem) -> None:
    mmem("create-entities", "--json", '[{"name": "A"}, {"name": "id:1"}]')
    assert names(mmem("open-nodes", "id:1")) == ["A"]
    assert names(mmem("open-nodes", "name:id:1")) == ["id:1"]


def test_a_text_that_begins_with_a_dash_is_stored(mmem: Mmem) -> None:
    mmem("create-entities", "A", "-o", "-50% budget")
    mmem("add-observations", "A", "--", "-5% more")
    texts = [one["text"] for one in mmem("open-nodes", "A").json["entities"][0]["observations"]]
    assert texts == ["-50% budget", "-5% more"]


def test_a_text_is_read_from_standard_input_for_a_dash(mmem: Mmem) -> None:
    mmem("create-entities", "A")
    mmem("add-observations", "A", "-", stdin="first line\nsecond line\n")
    assert mmem("open-nodes", "A").json["entities"][0]["observations"][0]["text"] == "first line\nsecond line"


def run_in_shell(script: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "MMEM": f"{sys.executable} -m mmem"}
    return subprocess.run(["bash", "-c", script], env=environ, capture_output=True, text=True, timeout=60)


def big_graph(mmem: Mmem) -> None:
    """Store more than any pipe holds."""
    entities = [{"name": f"E{n}", "observations": ["x" * 2000]} for n in range(1500)]
    mmem("create-entities", "--json", "-", stdin=json.dumps(entities))


@pytest.mark.parametrize("output", ["read-graph", "read-graph -f jsonl", "read-graph -f yaml", "read-graph -f table"])
def test_a_closed_pipe_ends_quietly(mmem: Mmem, output: str) -> None:
    big_graph(mmem)
    ran = run_in_shell(f"$MMEM {output} | head -1 > /dev/null; echo ${{PIPESTATUS[0]}}")
    assert (ran.stdout, ran.stderr) == ("141\n", "")


@pytest.mark.parametrize("output", ["read-graph", "--help", "read-graph --help", "--version"])
def test_a_full_disk_is_said(mmem: Mmem, output: str) -> None:
    mmem("create-entities", "A")
    ran = run_in_shell(f"$MMEM {output} > /dev/full")
    assert (ran.returncode, ran.stderr) == (5, "mmem: writing the output failed: no space left on device\n")


def test_closed_streams_bring_no_traceback(mmem: Mmem) -> None:
    mmem("create-entities", "A")
    assert run_in_shell("$MMEM read-graph >&-").returncode == ExitStatus.STORAGE
    closed = run_in_shell("$MMEM open-nodes Nobody 2>&-")
    assert (closed.returncode, closed.stderr) == (ExitStatus.NOT_FOUND, "")


def test_ctrl_c_ends_with_130(mmem: Mmem, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    command = [sys.executable, "-m", "mmem", "create-entities", "--json", f"@{fifo}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        descriptor = os.open(fifo, os.O_WRONLY)  # returns when the command has opened the other end
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
        os.close(descriptor)
    assert (process.returncode, said) == (ExitStatus.INTERRUPTED, "mmem: interrupted\n")


def test_colours_follow_the_option_the_variables_and_the_terminal(mmem: Mmem) -> None:
    mmem("create-entities", "A", "-t", "x")

    def colored(*words: str, terminal: bool = True, **environ: str) -> bool:
        return "\x1b[" in mmem("read-graph", "-f", "table", *words, terminal=terminal, environ=environ).stdout

    assert colored()
    assert not colored(NO_COLOR="1")
    assert colored(NO_COLOR="")
    assert not colored(TERM="dumb")
    assert not colored(terminal=False)
    assert colored(terminal=False, FORCE_COLOR="1")
    assert not colored("--color", "never")
    assert colored("--color", "always", terminal=False, NO_COLOR="1")


@pytest.mark.parametrize("name", ["json", "jsonl", "yaml", "toon", "table"])
def test_a_terminal_is_never_sent_control_characters(mmem: Mmem, name: str) -> None:
    evil = "\x1b]0;owned\x07 \x9b31m \x7f \u202e txt"
    mmem("create-entities", "--json", json.dumps([{"name": evil, "observations": [evil], "properties": {evil: evil}}]))
    ran = mmem("read-graph", "-f", name, terminal=True, environ={"NO_COLOR": "1"})
    assert not any(c in ran.stdout for c in "\x1b\x07\x9b\x7f\u202e")
    assert "owned" in ran.stdout


def test_what_is_said_on_stderr_holds_no_control_characters(mmem: Mmem) -> None:
    ran = mmem("open-nodes", "\x1b[31mred")
    assert "\x1b" not in ran.stderr
    assert "␛[31mred" in ran.stderr


def test_a_terminal_gets_a_table_and_a_pipe_gets_json(mmem: Mmem) -> None:
    mmem("create-entities", "A", "-o", "hello")
    assert "• hello" in mmem("read-graph", terminal=True).stdout
    assert names(mmem("read-graph")) == ["A"]
    assert names(mmem("-f", "json", "read-graph", terminal=True)) == ["A"]


def test_the_format_variable_counts_off_the_terminal(mmem: Mmem) -> None:
    mmem("create-entities", "A")
    assert mmem("list-categories", environ={"SERIALIZATION_FORMAT": "toon"}).stdout == "[1]: default\n"
    wrong = mmem("list-categories", environ={"SERIALIZATION_FORMAT": "xml"})
    assert (wrong.exit_status, wrong.stdout) == (2, "")


def test_a_bug_is_reported_without_a_traceback(mmem: Mmem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmem.files.os.scandir", lambda path: 1 / 0)
    ran = mmem("list-categories")
    assert ran.exit_status == 1
    assert "a bug in mmem" in ran.stderr
    assert "Traceback" not in ran.stderr

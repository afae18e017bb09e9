"""Every example of the README runs, on a real terminal, and prints what the README shows."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile

import pytest

README = Path(__file__).parent.parent / "README.md"
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COLOR = re.compile("\x1b\\[[0-9;]*m")  # jq's own, on a terminal
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")


def examples(language: str) -> list[str]:
    """Return the fenced blocks of a language, in order."""
    return [body for kind, body in _FENCE.findall(README.read_text()) if kind == language]


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with what the README shows below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        here = re.search(r"<<'(\w+)'$", lines[0].rstrip())
        end = lines.index(f"{here[1]}\n") + 1 if here else 1
        yield "".join(lines[:end]), "".join(lines[end:])


def on_a_terminal(command: str, folder: Path) -> str:
    """Return what a command prints on a terminal of 80 columns."""
    controller, terminal = pty.openpty()
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": programs, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "xterm"}
    with subprocess.Popen(
        ["bash", "-c", command], cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal
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


def comparable(printed: str, command: str) -> list[str]:
    """Return lines without the time; of a pipe sorted, since its notices may come first or last."""
    lines = _TIME.sub("TIME", _COLOR.sub("", printed)).splitlines()
    return sorted(lines) if "|" in command else lines


def test_the_console_examples_print_what_the_readme_shows(tmp_path: Path) -> None:
    first, *others = examples("console")
    (tmp_path / "first").mkdir()
    (tmp_path / "others").mkdir()
    blocks = [(tmp_path / "first", first), *((tmp_path / "others", block) for block in others)]
    for folder, block in blocks:
        for command, shown in commands(block):
            printed = on_a_terminal(command, folder)
            assert comparable(printed, command) == comparable(shown, command), f"$ {command}\n{printed}"


def test_the_python_examples_run(tmp_path: Path) -> None:
    work = next(block for block in examples("console") if "team.yaml" in block)
    for command, _ in commands(work):
        on_a_terminal(command, tmp_path)
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    printed = [
        subprocess.run(
            [sys.executable, "-c", example], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
        ).stdout
        for example in examples("python")
    ]
    assert printed == ["Oda\n", "['Ann'] []\n"]


@pytest.mark.parametrize("named", ["tests/run", "LICENSE", "README.md", "CHANGELOG.md", ".ci/run"])
def test_the_files_that_people_look_for_exist(named: str) -> None:
    assert (README.parent / named).is_file()


def test_who_comes_from_multi_memory_mcp_finds_everything(tmp_path: Path) -> None:
    section = README.read_text().split("## Coming from multi-memory-mcp", 1)[1].split("\n## ", 1)[0]
    [script] = [body for kind, body in _FENCE.findall(section) if kind == "sh"]
    folder = tmp_path / ".memory"
    folder.mkdir()
    copyfile(Path(__file__).with_name("predecessor") / "checkpointed.db", folder / "work.db")
    before = (folder / "work.db").read_bytes()
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": programs, "HOME": str(tmp_path), "DEFAULT_CATEGORY": "work"}
    asked = script.replace("what you know is in there", "alpha three")
    ran = subprocess.run(["bash", "-eu", "-c", asked], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    names, found = ran.stdout.split("\n]\n", 1)
    assert json.loads(names + "]") == ["work"]
    assert {one["name"] for one in json.loads(found)["entities"]} >= {"Alpha"}
    assert (folder / "work.db").read_bytes() == before

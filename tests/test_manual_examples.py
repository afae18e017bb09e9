"""Every example of a command's help, and so of its manual page, and of a topic runs and does what it says."""

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mmem.manual.describing import context_of, examples
from mmem.manual.page import Code
from mmem.manual.topics import TOPICS, topic_page
from mmem.registry import COMMANDS

# What every example finds in its folder, which is its home, too.
_WORLD = """
mmem seed demo
mmem seed demo -c work
mmem create-entities "Old plans" -c old-project
"""

# What the examples of a command need besides.
_BEFORE = {
    "add-observations": "git() { echo 'Keep sessions shorter'; }",
    "batch": """
        echo '{"tool": "read_graph"}' > requests.jsonl
        echo '{"name": "Bob"}' > people.jsonl""",
    "edit": """
        export EDITOR=true
        mkdir -p bin
        printf '#!/bin/sh\\n' > bin/code
        chmod +x bin/code
        export PATH="$PWD/bin:$PATH\"""",
    "import": """
        echo '{"type": "entity", "name": "Ann", "entityType": "person", "observations": []}' > memory.jsonl
        echo '[{"name": "Bo", "entityType": "person", "observations": ["Sails"]}]' > notes.json
        export HOME="$PWD/home"
        mkdir -p ~/.aim
        cp memory.jsonl ~/.aim""",
    "restore": """
        mmem backup -c work -o work-2026-11-30T09-30-00Z.db
        mmem backup -c work -o old-memory.db
        mmem backup --all-categories -o ~/backups""",
    "seed": """
        echo 'entities: {Ann: {type: person}}' > team.yaml
        mkdir fixtures
        mmem export --to yaml -o fixtures/default.yaml""",
}

COMMAND_EXAMPLES = [(name, example) for name in ["mmem", *COMMANDS] for example in examples(name)]
TOPIC_EXAMPLES = [
    (topic, line.removeprefix("$ "))
    for topic in TOPICS
    for section in topic_page(topic).sections
    for block in section.blocks
    if isinstance(block, Code)
    for line in block.lines
    if line.startswith("$ ")
]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what every example finds."""
    folder = tmp_path_factory.mktemp("world")
    assert run(_WORLD, folder).returncode == 0
    return folder


def run(script: str, folder: Path, *, answers: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    """Run a script of bash in a folder; with answers on a terminal, which stands for standard input and error."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": programs, "HOME": str(folder), "BROWSER": "true", "PAGER": "cat"}
    words = ["bash", "-e", "-o", "pipefail", "-c", script]
    if not answers:
        return subprocess.run(
            words, cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
        )
    controller, terminal = pty.openpty()
    os.write(controller, answers)
    try:
        return subprocess.run(
            words,
            cwd=folder,
            env=environ,
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=terminal,
            timeout=60,
            check=False,
        )
    finally:
        os.close(terminal)
        os.close(controller)


def may_ask(example: str) -> bool:
    """Tell whether a command of an example has `--yes`."""
    names = [name for name in re.findall(r"\bmmem ([a-z-]+)", example) if name in COMMANDS]
    return any(option.name == "assume_yes" for name in names for option in context_of(name).command.params)


@pytest.mark.parametrize(("name", "example"), [*COMMAND_EXAMPLES, *TOPIC_EXAMPLES])
def test_an_example_runs(world: Path, tmp_path: Path, name: str, example: str) -> None:
    folder = tmp_path / "home"
    shutil.copytree(world, folder)
    ran = run(f"{_BEFORE.get(name, '')}\n{example}", folder, answers=b"y\n" if may_ask(example) else b"")
    assert ran.returncode == 0, (ran.stdout, ran.stderr)
    assert b"not_found" not in (ran.stderr or b"")


@pytest.mark.parametrize("name", ["mmem", *COMMANDS])
def test_a_command_has_two_examples_or_more(name: str) -> None:
    assert sum(f"mmem {name}" in example or name == "mmem" for example in examples(name)) >= 2


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_has_examples(topic: str) -> None:
    assert [example for name, example in TOPIC_EXAMPLES if name == topic]

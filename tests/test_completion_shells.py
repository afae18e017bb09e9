"""TAB in real shells: what is typed, a TAB and a return; what the program then gets as its words is looked at."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mmem.registry import call
from mmem.store import Store

pexpect = pytest.importorskip("pexpect", reason="pexpect drives the shells, which it can't on Windows")

# Python 3.12 and later warn of it where a test before has started a thread; the child execs at once.
pytestmark = pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning")

SCRIPTS = Path(__file__).parent.parent / "completions"
STARTS = {
    "bash": (["--norc", "--noprofile", "-i"], f"source '{SCRIPTS}/mmem.bash'"),
    "zsh": (["-f", "-i"], f"fpath=('{SCRIPTS}' $fpath); autoload -Uz compinit && compinit -u -D; unsetopt beep"),
    "fish": (["--no-config", "-i"], f"source '{SCRIPTS}/mmem.fish'"),
}
ODD = [
    "Alice Smith",
    "Zed:colon",
    "star*",
    "cost $HOME",
    "it's",
    'say "hi"',
    "back\\slash",
    "bang!x",
    "#hash",
    "~tilde",
    "a=b",
    "semi;colon & pipe|",
    "日本語 の 名前",
    "émile",
    "[bracket] (paren) {brace}",
    "q?mark",
    "<angle>",
    "grave`s",
    "at@sign",
    "caret^",
    "percent%s",
]
# Answers what TAB asks; everything else is written down word by word.
PROGRAM = """#!/bin/sh
[ "$1" = __complete ] && exec "{python}" -m mmem "$@"
printf '%s\\0' "$@" > "{typed}.new"
mv "{typed}.new" "{typed}"
"""

Type = Callable[..., list[str]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program `mmem`, a memory and some files."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "bin").mkdir()
    program = folder / "bin" / "mmem"
    program.write_text(PROGRAM.format(python=sys.executable, typed=folder / "typed"))
    program.chmod(0o755)
    (folder / "people file.json").write_text("{}")
    (folder / "some folder").mkdir()
    with Store(folder / ".aim") as store:
        names = [{"name": name} for name in (*ODD, "-dashed", "--two dashes", "id:7")]
        call(store, "create_entities", {"entities": names})
        observed = {"name": "Oslo", "entityType": "big city", "observations": [{"observationType": "in", "text": "N"}]}
        call(store, "create_entities", {"category": "work", "entities": [observed]})
        relations = [{"from": "Oslo", "to": "Oslo", "relationType": "is near"}]
        call(store, "create_relations", {"category": "work", "relations": relations})
    return folder


@pytest.fixture(scope="module", params=["bash", "zsh", "fish"])
def type_line(request: pytest.FixtureRequest, world: Path) -> Iterator[Type]:
    """Type a line into a shell; return the words that the program got."""
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    options, start = STARTS[shell]
    environ = {
        "PATH": f"{world / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(world),
        "XDG_DATA_HOME": str(world / "data"),
        "TERM": "xterm",
        "LANG": "C.UTF-8",
        "PYTHONWARNINGS": "ignore",
    }
    child = pexpect.spawn(shell, options, cwd=str(world), env=environ, dimensions=(50, 200), timeout=20)
    typed = world / "typed"

    def run(line: str) -> list[str]:
        typed.unlink(missing_ok=True)
        child.send(f"{line}\r")
        deadline = time.monotonic() + 20
        while not typed.exists():
            child.expect([pexpect.TIMEOUT, ".+"], timeout=0.05)  # what the shell draws has to be read
            if time.monotonic() > deadline:
                child.send("\x03")  # the next line begins anew
                pytest.fail(f"the line didn't run: {child.before!r}")
        return typed.read_bytes().decode().split("\0")[:-1]

    run(f"{start}\rmmem ready")
    run.shell = shell  # type: ignore[attr-defined]
    yield run
    child.close(force=True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("mmem open-n\t", ["open-nodes"]),
        ("mmem compl\t fi\t", ["completions", "fish"]),
        ("mmem search-nodes x --no-re\t", ["search-nodes", "x", "--no-relations"]),
        ("mmem --cat\t", ["--category"]),
        ("mmem read-graph -f js\t", ["read-graph", "-f", "json"]),
        ("mmem read-graph --format=to\t", ["read-graph", "--format=toon"]),
        ("mmem --color al\t", ["--color", "always"]),
        ("mmem config cla\td\t", ["config", "claude-desktop"]),
        ("mmem read-graph -c wo\t", ["read-graph", "-c", "work"]),
        ("mmem read-graph --category=wo\t", ["read-graph", "--category=work"]),
        ("mmem -c work open-nodes Os\t", ["-c", "work", "open-nodes", "Oslo"]),
        ("mmem open-nodes -c work Os\t", ["open-nodes", "-c", "work", "Oslo"]),
        ("mmem open-nodes --category=work Os\t", ["open-nodes", "--category=work", "Oslo"]),
        ("mmem open_nodes -qcwork Os\t", ["open_nodes", "-qcwork", "Oslo"]),
        ("DEFAULT_CATEGORY=x mmem -c work open-nodes Os\t", ["-c", "work", "open-nodes", "Oslo"]),
        ("mmem delete-category wo\t", ["delete-category", "work"]),
        ("mmem -c work create-relations Os\t is\t Os\t", ["-c", "work", "create-relations", "Oslo", "is near", "Oslo"]),
        ("mmem -c work search-nodes x -t bi\t", ["-c", "work", "search-nodes", "x", "-t", "big city"]),
        ("mmem -c work search-nodes x --relation i\t", ["-c", "work", "search-nodes", "x", "--relation", "is near"]),
        ("mmem -c work delete-observations Oslo -O i\t", ["-c", "work", "delete-observations", "Oslo", "-O", "in"]),
        (
            "mmem -c work add-observations -O i\t text Os\t",
            ["-c", "work", "add-observations", "-O", "in", "text", "Oslo"],
        ),
        ("mmem -c work export --around Os\t", ["-c", "work", "export", "--around", "Oslo"]),
        ("mmem -c work open-nodes id:\t", ["-c", "work", "open-nodes", "id:1"]),
        ("mmem -c work delete-relations --id \t", ["-c", "work", "delete-relations", "--id", "1"]),
        ("mmem seed hou\t", ["seed", "household"]),
        ("mmem import peo\t", ["import", "people file.json"]),
        ("mmem --base-dir so\t", ["--base-dir", "some folder"]),
        ("mmem open-nodes --json @peo\t", ["open-nodes", "--json", "@people file.json"]),
        ("mmem open-nodes --json=@peo\t", ["open-nodes", "--json=@people file.json"]),
        ("mmem view --output peo\t", ["view", "--output", "people file.json"]),
        ("mmem export --around=Zed:\t", ["export", "--around=Zed:colon"]),
        ("mmem open-nodes -- -d\t", ["open-nodes", "--", "-dashed"]),
        ("mmem open-nodes name:-d\t", ["open-nodes", "name:-dashed"]),
        ("mmem open-nodes -- --t\t", ["open-nodes", "--", "--two dashes"]),
        ("mmem open-nodes name:id\t", ["open-nodes", "name:id:7"]),
        ("mmem open-nodes aLI\t", ["open-nodes", "Alice Smith"]),
        ("mmem open-nodes Alice\\ S\t Zed\t", ["open-nodes", "Alice Smith", "Zed:colon"]),
        ("mmem open-nodes 'Alice S\t Zed:\t", ["open-nodes", "Alice Smith", "Zed:colon"]),
        ("mmem -c work open-nodes -t 'big c\t", ["-c", "work", "open-nodes", "-t", "big city"]),
    ],
    ids=lambda value: value.replace("\t", "<TAB>") if isinstance(value, str) else "",
)
def test_tab_completes_a_line(type_line: Type, line: str, words: list[str]) -> None:
    assert [word.rstrip("/") for word in type_line(line)] == words


def escaped(text: str) -> str:
    return "".join(c if c.isalnum() else f"\\{c}" for c in text)


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("typed", [1, 3])
def test_a_name_arrives_as_it_is_stored(type_line: Type, name: str, typed: int) -> None:
    begin = name[:typed]
    if [one for one in ODD if one.startswith(begin)] != [name]:
        begin = name[: typed + 3]
    assert type_line(f"mmem open-nodes {escaped(begin)}\t") == ["open-nodes", name]


@pytest.mark.parametrize("quote", ["'", '"'])
@pytest.mark.parametrize("name", [name for name in ODD if name[:3].isalnum()])
def test_a_name_is_completed_in_open_quotes(type_line: Type, name: str, quote: str) -> None:
    assert type_line(f"mmem open-nodes {quote}{name[:3]}\t") == ["open-nodes", name]

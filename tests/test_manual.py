"""The manual: its pages are those of the commands as they are, `man` takes them, and `mmem help` shows them."""

import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import mmem as package
from mmem.exporting.formats import FORMATS as EXPORTS
from mmem.manual.declared import VARIABLES
from mmem.manual.describing import pages
from mmem.manual.generate import main, page_files, with_tables
from mmem.manual.markup import sections
from mmem.manual.page import Code, Items, Page, Section, Text
from mmem.manual.plain import plain
from mmem.manual.roff import roff
from mmem.manual.shipped import shipped
from mmem.manual.topics import TOPICS, Asked, asked, topic_page
from mmem.query import Query
from mmem.registry import COMMANDS
from mmem.settings import FORMATS

Mmem = Callable[..., Any]

CHECKOUT = Path(__file__).parent.parent
ANEW = "differs from what is declared: run `python -m mmem.manual.generate`"


def page_of(*blocks: Any) -> Page:
    return Page("mmem-x", 7, "a page", (Section("Part", blocks),))


def test_the_pages_are_those_of_the_commands() -> None:
    files = page_files()
    assert {path.name for path in (CHECKOUT / "man").iterdir()} == files.keys(), ANEW
    differing = [name for name, text in files.items() if (CHECKOUT / "man" / name).read_text("utf-8") != text]
    assert not differing, ANEW


def test_the_readmes_tables_are_those_of_the_declarations() -> None:
    readme = (CHECKOUT / "README.md").read_text("utf-8")
    assert with_tables(readme) == readme, ANEW


def test_pages_are_made_anew_and_stale_ones_go(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(CHECKOUT / "README.md", tmp_path)
    (tmp_path / "man").mkdir()
    (tmp_path / "man" / "mmem-gone.1").write_text("")
    main(tmp_path)
    assert {path.name: path.read_text("utf-8") for path in (tmp_path / "man").iterdir()} == page_files()
    assert capsys.readouterr().out.startswith(f"{len(page_files())} pages in ")


def test_a_readme_without_a_table_is_left_alone() -> None:
    with pytest.raises(ValueError, match="no table"):
        with_tables("# nothing\n")


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="there is no mandoc here")
def test_mandoc_finds_nothing_to_say() -> None:
    files = sorted(map(str, (CHECKOUT / "man").iterdir()))
    ran = subprocess.run(["mandoc", "-T", "lint", "-W", "style", *files], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr, ran.returncode) == ("", "", 0)


@pytest.mark.parametrize("name", ["mmem", *COMMANDS, *(f"{topic}.7" for topic in TOPICS)])
def test_every_page_is_installed(name: str) -> None:
    file = shipped(asked([name]))
    assert file is not None
    assert file.read_text("utf-8") == page_files()[file.name]


@pytest.mark.parametrize("name", ["mmem", *COMMANDS])
def test_a_commands_page_has_every_option_of_its_help(mmem: Mmem, name: str) -> None:
    ran = mmem("--help") if name == "mmem" else mmem(name, "--help")
    page = next(page for page in pages() if page.file == Asked(name, 1).file)
    told = plain(page)
    options = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", ran.stdout, re.MULTILINE)
    assert options
    assert not [option for option in options if f" {option}" not in told]


def test_every_variable_that_is_read_is_declared() -> None:
    source = "\n".join(file.read_text("utf-8") for file in Path(package.__file__).parent.rglob("*.py"))
    patterns = (
        r'environ(?:\.get\(|\[)"(\w+)"',
        r'"(\w+)" in [\w.]*environ\b',
        r'(?:_VARIABLE|SWITCH|moved_by) ?= ?"(\w+)"',
    )
    read = set(chain.from_iterable(re.findall(pattern, source) for pattern in patterns))
    assert {"MEMORY_BASE_DIR", "MMEM_SEMANTIC", "NO_COLOR", "COLUMNS", "CLAUDE_CONFIG_DIR"} <= read
    assert not read - {name for variable in VARIABLES for name in variable.names}


def test_the_formats_topic_tells_of_every_format() -> None:
    told = {
        name
        for section in topic_page("formats").sections
        for block in section.blocks
        if isinstance(block, Items)
        for term, _ in block.items
        for name in re.findall(r"`([^`]+)`", term)
    }
    assert {*FORMATS, *EXPORTS} <= told


def test_the_query_topics_syntax_is_what_a_query_takes_for_syntax() -> None:
    syntax = next(section for section in topic_page("query").sections if section.title == "Syntax")
    terms = [term for block in syntax.blocks if isinstance(block, Items) for term, _ in block.items]
    forms = [form.replace("`", "") for term in terms for form in re.split(r", (?=`)", term) if "..." not in form]
    assert len(forms) == 10
    assert [form for form in forms if Query(form.replace(" N)", " 5)")).explicit is None] == []
    searches = [line for block in syntax.blocks if isinstance(block, Code) for line in block.lines]
    assert all(Query(line.split("'")[1]).explicit for line in searches)


@pytest.mark.parametrize(
    ("words", "page"),
    [
        (["mmem"], "mmem.1"),
        (["search-nodes"], "mmem-search-nodes.1"),
        (["Search_Nodes"], "mmem-search-nodes.1"),
        (["mmem-query"], "mmem-query.7"),
        (["query"], "mmem-query.7"),
        (["batch"], "mmem-batch.1"),
        (["batch.7"], "mmem-batch.7"),
        (["mmem-batch(7)"], "mmem-batch.7"),
        (["7", "batch"], "mmem-batch.7"),
        (["1", "batch"], "mmem-batch.1"),
    ],
)
def test_a_page_is_asked_for_in_many_ways(words: list[str], page: str) -> None:
    assert asked(words).file == page


@pytest.mark.parametrize("command", ["help", "man"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["qery"], "no command or topic 'qery'; did you mean 'query'? (mmem help lists them)"),
        (["search", "nodes"], "no command or topic 'search nodes'; did you mean 'search-nodes'"),
        (["query.1"], "no command or topic 'query.1'; did you mean 'query'?"),
        (["seed.7"], "no command or topic 'seed.7'; did you mean 'seed'?"),
        (["zzzzzz"], "no command or topic 'zzzzzz' (mmem help lists them)"),
        ([""], "no command or topic '' (mmem help lists them)"),
        (["a\nb"], "no command or topic 'a\u240ab'"),
    ],
)
def test_an_unknown_page_gets_the_nearest(mmem: Mmem, command: str, words: list[str], said: str) -> None:
    ran = mmem(command, *words)
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert said in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_help_alone_lists_commands_and_topics(mmem: Mmem) -> None:
    ran = mmem("help")
    assert (ran.exit_status, ran.stderr) == (0, "")
    listed = {line.split()[0] for line in ran.stdout.splitlines() if line.startswith("  ")}
    assert listed == {*COMMANDS, "batch.7", "environment", "formats", "query"}


@pytest.mark.parametrize("name", ["search-nodes", "batch", "help"])
def test_help_of_a_command_is_what_the_command_says(mmem_process: Mmem, name: str) -> None:
    assert mmem_process("help", name).stdout == mmem_process(name, "--help").stdout


def test_help_of_mmem_is_what_mmem_says(mmem_process: Mmem) -> None:
    assert mmem_process("help", "mmem").stdout == mmem_process("--help").stdout


@pytest.mark.parametrize("topic", ["batch.7", "environment", "formats", "query"])
def test_help_of_a_topic_is_text(mmem: Mmem, topic: str) -> None:
    ran = mmem("help", topic)
    assert (ran.exit_status, ran.stderr) == (0, "")
    assert ran.stdout.startswith("NAME\n   mmem-")
    assert "\x1b" not in ran.stdout
    assert "SEE ALSO\n   mmem(1), " in ran.stdout


@pytest.mark.parametrize(("columns", "widest"), [("20", 40), ("60", 60), ("200", 80)])
def test_a_topic_fits_the_terminal(mmem: Mmem, columns: str, widest: int) -> None:
    shown = mmem("help", "query", environ={"COLUMNS": columns}).stdout
    prose = [line for line in shown.splitlines() if not line.startswith("       $ ")]
    assert widest - 8 < max(map(len, prose)) <= widest


def test_a_topic_is_bold_where_there_are_colours(mmem: Mmem) -> None:
    shown = mmem("help", "query", terminal=True, environ={"PAGER": "", "TERM": "xterm"}).stdout
    assert "\x1b[1mNAME\x1b[0m\n" in shown
    assert re.sub("\x1b\\[[01]m", "", shown) == mmem("help", "query").stdout


@pytest.mark.parametrize(("words", "file"), [([], "mmem.1"), (["seed"], "mmem-seed.1"), (["batch.7"], "mmem-batch.7")])
def test_man_hands_the_page_to_man(mmem_process: Mmem, tmp_path: Path, words: list[str], file: str) -> None:
    program = tmp_path / "man"
    program.write_text('#!/bin/sh\nread -r first < "$1"; echo "$1 $first"\n')
    program.chmod(0o755)
    ran = mmem_process("man", *words, environ={"PATH": str(tmp_path)})
    path, _, first = ran.stdout.partition(" ")
    assert (Path(path).name, first[:4], ran.exit_status) == (file, ".TH ", 0)


@pytest.mark.parametrize("name", ["mmem", "seed", "query"])
def test_man_is_text_where_there_is_no_man(mmem: Mmem, tmp_path: Path, name: str) -> None:
    ran = mmem("man", name, environ={"PATH": str(tmp_path)})
    assert (ran.stderr, ran.exit_status) == ("", 0)
    assert ran.stdout.startswith(f"NAME\n   mmem{'' if name == 'mmem' else f'-{name}'} - ")
    assert "\nSEE ALSO\n" in ran.stdout


@pytest.mark.parametrize(
    ("block", "written"),
    [
        (Text(".start with a dot"), "\\&.start with a dot"),
        (Text("'tis a quote"), "\\&'tis a quote"),
        (Text("a \\ and a-b"), "a \\e and a\\-b"),
        (Text("type `it's ~^`"), "type \\fBit\\(aqs \\(ti\\(ha\\fR"),
        (Text("see mmem-query(7)"), "see \\fBmmem\\-query\\fR(7)"),
        (Text("東 é"), "\\[u6771] \\[u00E9]"),
        (Items((("`-n`, `--limit` N", "So many."),)), ".TP\n\\fB\\-n\\fR, \\fB\\-\\-limit\\fR \\fIN\\fR\nSo many."),
        (Code((".x", "a  b")), ".EX\n\\&.x\na  b\n.EE"),
    ],
)
def test_roff_says_what_was_written(block: Any, written: str) -> None:
    assert roff(page_of(block)).endswith(f".SH PART\n{written}\n")


@pytest.mark.parametrize(
    ("source", "blocks"),
    [
        ("one\ntwo", (Text("one two"),)),
        ("`a`\n: one\n  more\n\n`b`\n: two", (Items((("`a`", "one more"), ("`b`", "two"))),)),
        ("    x\n\n    y\n\nend", (Code(("x", "", "y")), Text("end"))),
        ("@known", (Items((("`K`", "It."),)),)),
    ],
)
def test_a_topics_source_is_read_as_blocks(source: str, blocks: tuple[Any, ...]) -> None:
    known = {"known": Items((("`K`", "It."),))}
    assert sections(f"## Part\n\n{source}\n", known) == (Section("Part", blocks),)

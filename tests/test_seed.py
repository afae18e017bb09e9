"""`mmem seed`: what it adds, leaves, replaces and shows; all categories or none."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mmem.seeding.sources import fixtures

Run = Callable[..., Any]

TEAM = """
entities:
  Ann:
    type: person
    properties: {age: 41}
    observations:
      - Speaks Norwegian
      - role: Lead
        source: hr
    relations:
      - leads Atlas
  Atlas: {type: project}
"""

GROWN = """
entities:
  Ann:
    type: person
    properties: {age: 42, city: Oslo}
    observations:
      - Speaks Norwegian
      - Sails
      - role: Director
        source: hr
  Atlas: {type: project}
  Bo: {type: person}
relations:
  - Bo knows Ann
"""


def rows(path: Path) -> dict[str, list[Any]]:
    """Return what a category's tables hold."""
    with closing(sqlite3.connect(path)) as conn:
        tables = ("entities", "observations", "relations", "mmem_names", "sqlite_sequence")
        return {table: conn.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables}


def texts(ask: Run, name: str, **more: Any) -> list[tuple[str, str, str]]:
    (entity,) = ask("open_nodes", entities=[name], **more).result.entities
    return [(one.observation_type, one.source, one.text) for one in entity.observations]


def counts(ran: Any) -> list[tuple[int, ...]]:
    keys = ("entities", "observations", "relations", "changed", "removed", "left")
    return [tuple(one[key] for key in keys) for one in ran.json]


@pytest.fixture
def seed(mmem: Run) -> Run:
    """Seed a text: `seed(TEAM, "--check")`."""
    return lambda text, *words, **more: mmem("seed", "-", *words, stdin=text, **more)


def test_a_graph_is_stored(seed: Run, ask: Run) -> None:
    ran = seed(TEAM)
    assert (counts(ran), ran.stderr, ran.exit_status) == ([(2, 2, 1, 0, 0, 0)], "", 0)
    graph = ask("read_graph").result
    assert [(one.name, one.entity_type, one.properties) for one in graph.entities] == [
        ("Ann", "person", {"age": 41}),
        ("Atlas", "project", None),
    ]
    assert texts(ask, "Ann") == [("", "", "Speaks Norwegian"), ("role", "hr", "Lead")]
    assert [(one.from_name, one.relation_type, one.to_name) for one in graph.relations] == [("Ann", "leads", "Atlas")]
    assert ask("search_nodes", query="norwegian").result.entities


@pytest.mark.parametrize("words", [(), ("--override",)])
@pytest.mark.parametrize("name", fixtures())
def test_seeding_twice_changes_no_row(mmem: Run, base: Path, name: str, words: tuple[str, ...]) -> None:
    mmem("seed", name)
    before = {path.name: rows(path) for path in base.glob("*.db")}
    again = mmem("seed", name, *words)
    assert set(counts(again)) == {(0, 0, 0, 0, 0, 0)}
    assert again.stderr == ""
    assert {path.name: rows(path) for path in base.glob("*.db")} == before
    assert mmem("seed", name, "--check", *words).exit_status == 0


def test_a_file_that_grew_adds_what_is_lacking_and_says_what_differs(seed: Run, ask: Run) -> None:
    seed(TEAM)
    ran = seed(GROWN)
    assert counts(ran) == [(1, 1, 1, 1, 0, 2)]
    assert ran.stderr.splitlines() == [
        f"mmem: skipped: standard input:{rest}, which was left: replace it with --override"
        for rest in (
            "9:9: 'Ann' (person) has an observation of type 'role' from source 'hr' (id 2) with another text",
            "3:3: 'Ann' (person) has another value in its property 'age'",
        )
    ]
    assert texts(ask, "Ann") == [("", "", "Speaks Norwegian"), ("role", "hr", "Lead"), ("note-2", "", "Sails")]
    assert ask("open_nodes", entities=["Ann"]).result.entities[0].properties == {"age": 41, "city": "Oslo"}
    assert counts(seed(GROWN)) == [(0, 0, 0, 0, 0, 2)]


def test_override_makes_properties_and_observations_the_files(seed: Run, ask: Run) -> None:
    seed(TEAM)
    ask("add_observations", observations=[{"entityName": "Ann", "contents": ["Gone", {"text": "x", "source": "y"}]}])
    ask("create_relations", relations=[{"from": "Atlas", "to": "Ann", "relationType": "employs"}])
    ran = seed(GROWN, "--override")
    assert (counts(ran), ran.stderr) == ([(1, 1, 1, 2, 2, 0)], "")
    assert sorted(texts(ask, "Ann")) == [
        ("", "", "Speaks Norwegian"),
        ("note-2", "", "Sails"),
        ("role", "hr", "Director"),
    ]
    assert ask("open_nodes", entities=["Ann"]).result.entities[0].properties == {"age": 42, "city": "Oslo"}
    assert len(ask("read_graph").result.relations) == 3
    assert seed(GROWN, "--override", "--check").exit_status == 0
    assert not ask("search_nodes", query="gone").result.entities
    assert ask("search_nodes", query="director").result.entities


def test_override_keeps_ids_and_times_of_what_stays(seed: Run, ask: Run) -> None:
    seed(TEAM)
    before = ask("read_graph").result.entities[0].observations[0]
    seed(GROWN, "--override")
    assert ask("read_graph").result.entities[0].observations[0] == before


def test_properties_of_relations_are_added_left_or_replaced(seed: Run, ask: Run) -> None:
    text = "entities: {A: , B: }\nrelations: [{from: A, to: B, type: uses, properties: {a: 1}}]\n"
    seed(text)
    other = text.replace("{a: 1}", "{a: 2, b: 1}")
    ran = seed(other)
    assert (counts(ran), "'A' uses 'B' has another value in its property 'a'" in ran.stderr) == (
        [(0, 0, 0, 1, 0, 1)],
        True,
    )
    assert ask("read_graph").result.relations[0].properties == {"a": 1, "b": 1}
    assert counts(seed(other, "--override")) == [(0, 0, 0, 1, 0, 0)]
    assert ask("read_graph").result.relations[0].properties == {"a": 2, "b": 1}


def test_a_dry_run_shows_a_diff_and_writes_nothing(seed: Run, base: Path) -> None:
    ran = seed(TEAM, "--dry-run")
    assert ran.json[0]["diff"] == [
        "--- default",
        "+++ standard input",
        "+Ann (person)",
        "+  age: 41",
        "+  • Speaks Norwegian",
        "+  • role: Lead  [hr]",
        "+Atlas (project)",
        "+Ann (person) → leads → Atlas (project)",
    ]
    assert (ran.exit_status, base.exists()) == (0, False)


def test_a_diff_shows_what_override_takes_away(seed: Run) -> None:
    seed(TEAM)
    assert seed(GROWN, "--override", "--dry-run").json[0]["diff"] == [
        "--- default",
        "+++ standard input",
        " Ann (person)",
        "-  age: 41",
        "+  age: 42",
        "+  city: Oslo",
        "-  • role: Lead  [hr]",
        "+  • role: Director  [hr]",
        "+  • note-2: Sails",
        "+Bo (person)",
        "+Bo (person) → knows → Ann (person)",
    ]


def test_a_diff_is_coloured_on_a_terminal_only(seed: Run) -> None:
    shown = seed(TEAM, "--dry-run", terminal=True, environ={"TERM": "xterm"}).stdout
    assert "\x1b[32m+Ann (person)\x1b[0m\n" in shown
    plain = seed(TEAM, "--dry-run", terminal=True, environ={"NO_COLOR": "1"}).stdout
    assert "\x1b" not in plain
    assert plain.endswith(
        "Category 'default', if seeded: 2 entities, 2 observations and 1 relation added; nothing was written\n"
    )


def test_no_control_character_of_a_file_reaches_the_terminal(seed: Run) -> None:
    shown = seed('entities: {"A\\e[2J": "b\\nc"}', "--dry-run", terminal=True, environ={"NO_COLOR": "1"}).stdout
    assert ("\x1b" in shown, "b␊c" in shown) == (False, True)


@pytest.mark.parametrize(
    ("text", "words", "status"),
    [
        (TEAM, (), 0),
        (TEAM, ("--override",), 0),
        (GROWN, (), 1),
        (TEAM.replace("Lead", "Boss"), (), 1),
        ("entities: {Ann: {type: person}}", (), 0),
        ("entities: {Ann: {type: person}}", ("--override",), 1),
    ],
)
def test_check_tells_whether_a_category_differs(
    seed: Run, base: Path, text: str, words: tuple[str, ...], status: int
) -> None:
    seed(TEAM)
    before = rows(base / "default.db")
    assert seed(text, "--check", *words).exit_status == status
    assert rows(base / "default.db") == before


def test_sentences_on_a_terminal(seed: Run) -> None:
    def said(*given: str) -> str:
        return str(seed(*given, terminal=True, environ={"NO_COLOR": "1"}).stdout).splitlines()[-1]

    assert said(TEAM) == "Seeded category 'default': 2 entities, 2 observations and 1 relation added"
    assert said(TEAM) == "Category 'default' holds all of it already: nothing changed"
    assert said(GROWN, "--check") == (
        "Category 'default' differs; seeding it: 1 entity, 1 observation and 1 relation added, 1 changed, "
        "2 things that differ left as they are"
    )
    assert said(GROWN, "--override") == (
        "Seeded category 'default': 1 entity, 1 observation and 1 relation added, 2 changed"
    )


def test_several_files_and_documents_fill_several_categories(mmem: Run, ask: Run, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("category: work\nentities: {A: a}\n---\ncategory: home\nentities: {B: b}\n")
    (tmp_path / "two.yaml").write_text("category: work\nentities: {A: a2, C: c}\nrelations: [A knows C]\n")
    ran = mmem("seed", "one.yaml", "two.yaml")
    assert [(one["category"], one["entities"], one["observations"]) for one in ran.json] == [
        ("work", 2, 3),
        ("home", 1, 1),
    ]
    assert texts(ask, "A", category="work") == [("", "", "a"), ("note-2", "", "a2")]


def test_where_a_later_category_fails_nothing_of_an_earlier_is_stored(seed: Run, base: Path) -> None:
    text = "category: a\nentities: {A: a}\n---\ncategory: b\nentities: {B: }\nrelations: [B knows Nobody]\n"
    ran = seed(text)
    assert (ran.exit_status, ran.stdout) == (3, "")
    assert "standard input:6:13: no entity 'Nobody' in the file or in category 'b'" in ran.stderr
    assert list(base.glob("*.db")) == []


def test_an_error_in_the_second_file_leaves_the_first_unread(mmem: Run, base: Path, tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text("entities: {A: a}")
    (tmp_path / "bad.yaml").write_text("entities: {A: [}")
    ran = mmem("seed", "good.yaml", "bad.yaml")
    assert (ran.exit_status, ran.stderr.startswith("mmem: bad.yaml:1:16: "), base.exists()) == (2, True, False)


def test_the_category_of_a_document_and_of_the_command_line(seed: Run, mmem: Run) -> None:
    assert [one["category"] for one in seed("entities: {A: a}\n---\ncategory: w\nentities: {B: b}").json] == [
        "default",
        "w",
    ]
    assert [one["category"] for one in seed("entities: {A: a}", "-c", "w").json] == ["w"]
    ran = seed("category: w\nentities: {A: a}", "-c", "home")
    assert ran.exit_status == 2
    assert "--category is 'home', but standard input:1:1 is for category 'w'; give one of them" in ran.stderr
    assert mmem("list-categories").json == ["default", "w"]


def test_relations_reach_what_the_category_holds(seed: Run, ask: Run) -> None:
    ask("create_entities", entities=[{"name": "Old Town Hall", "entityType": "place"}])
    assert counts(seed("entities: {Ann: }\nrelations:\n  - Ann lives_near Old Town Hall\n")) == [(1, 0, 1, 0, 0, 0)]


def test_a_file_means_the_same_beside_other_entities_of_its_names(seed: Run, ask: Run) -> None:
    seed(TEAM)
    ask("create_entities", entities=[{"name": "Atlas"}, {"name": "leads"}, {"name": "Ann", "entityType": "boat"}])
    assert counts(seed(TEAM)) == [(0, 0, 0, 0, 0, 0)]


def test_a_new_name_that_differs_in_spelling_alone_is_said_with_its_place(seed: Run, ask: Run) -> None:
    ask("create_entities", entities=[{"name": "UserService"}])
    ran = seed("entities:\n  user_service: x\n")
    assert ran.stderr.startswith("mmem: near_twin: standard input:2:3: the new entity 'user_service' differs from ")


def test_what_is_repeated_is_stored_once_and_said(seed: Run, ask: Run) -> None:
    ran = seed("entities: {A: [x, y, x], B: }\nrelations: [A knows B, A knows B]\n")
    assert [line.partition(": ")[2] for line in ran.stderr.splitlines()] == [
        "skipped: standard input:1:22: 'A' has this observation in standard input:1:16 already",
        "skipped: standard input:2:24: 'A' knows 'B' stands in standard input:2:13 already",
    ]
    assert texts(ask, "A") == [("", "", "x"), ("note-2", "", "y")]


def test_a_damaged_index_is_rebuilt_on_the_way(seed: Run, base: Path, store: Any, ask: Run) -> None:
    seed(TEAM)
    store.close()
    with closing(sqlite3.connect(base / "default.db", isolation_level=None)) as conn:
        conn.execute("UPDATE fts_content_data SET block = x'ffffffff' WHERE id > 10")
    ran = seed(GROWN, "--override")
    assert ran.exit_status == 0
    assert ask("search_nodes", query="sails").result.entities


def test_a_dry_run_of_a_busy_or_missing_category_is_quiet(seed: Run, store: Any) -> None:
    seed(TEAM)
    with store.writing(None):
        ran = seed(TEAM, "--dry-run")
    assert (ran.exit_status, ran.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say which graph"),
        (("nowhere.yaml",), "there is no file 'nowhere.yaml', and no graph of that name ships with mmem (demo"),
        (("-", "-"), "standard input can be read once"),
        ((".",), ".: is a directory"),
        (("a\0b",), "not a file's name"),
    ],
)
def test_words_that_are_off(mmem: Run, words: tuple[str, ...], said: str) -> None:
    ran = mmem("seed", *words)
    assert (ran.exit_status, ran.stdout, len(ran.stderr.splitlines())) == (2, "", 1)
    assert said in ran.stderr


def test_a_closed_pipe_ends_it_quietly() -> None:
    words = [sys.executable, "-m", "mmem", "seed", "demo", "--dry-run", "-f", "json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 141)

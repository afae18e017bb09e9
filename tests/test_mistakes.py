"""Mistakes that people make at the prompt: each gets one line that says what is wrong and how to mend it."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mmem.errors import Busy
from mmem.store import Store

Ask = Callable[..., Any]
Run = Callable[..., Any]

DASH = "a text that begins with a dash goes after --, behind all options"


@pytest.fixture
def world(ask: Ask) -> None:
    """A small category, and another one."""
    service = {
        "name": "UserService",
        "entityType": "service",
        "properties": {"tier": 1, "language": "go", "public": True},
        "observations": [{"text": "Second one", "observationType": "version", "source": "Crew list"}],
    }
    ask("create_entities", entities=[service, {"name": "Gateway", "entityType": "service"}])
    ask("create_relations", relations=[{"from": "UserService", "to": "Gateway", "relationType": "uses"}])
    ask("create_entities", category="work", entities=[{"name": "A"}])


MISTAKES = [
    (
        "serch-nodes x",
        2,
        "there is no command 'serch-nodes'; did you mean 'search-nodes' or 'open-nodes'? (see mmem --help)",
    ),
    ("read-graph --limt 3", 2, f"there is no option '--limt'; did you mean '--limit'? ({DASH})"),
    ("search-nodes -auth", 2, f"there is no option '-auth' ({DASH}: -- -auth)"),
    ("add-observations UserService -5%", 2, f"there is no option '-5%' ({DASH}: -- -5%)"),
    (
        "read-graph -f jsom",
        2,
        (
            "invalid value for '-f' / '--format': 'jsom' is not one of 'auto', 'json', 'jsonl', 'toon', 'yaml', "
            "'table'; did you mean 'json'? (see mmem read-graph --help)"
        ),
    ),
    (
        "config claud-desktop",
        2,
        (
            "invalid value for 'HOST': 'claud-desktop' is not one of 'claude-desktop', 'claude-code', 'cursor', "
            "'vscode'; did you mean 'claude-desktop'? (see mmem config --help)"
        ),
    ),
    (
        "read-graph -c Work",
        2,
        (
            "category 'Work' (from --category) isn't a valid name: only lowercase letters a-z, digits, - and _ are "
            "allowed; did you mean 'work'?"
        ),
    ),
    (
        "read-graph -c ★",
        2,
        (
            r"category '\u2605' (from --category) isn't a valid name: only lowercase letters a-z, digits, - and _ are "
            "allowed"
        ),
    ),
    ("read-graph -c wrok", 0, "no_such_category: there is no category 'wrok' in {base}; did you mean 'work'?"),
    ("delete-category wrok --yes", 3, "there is no category 'wrok' in {base}; did you mean 'work'?"),
    ("backup -c wrok", 3, "there is no category 'wrok' in {base}; did you mean 'work'?"),
    ("doctor -c wrok", 3, "there is no category 'wrok' in {base}; did you mean 'work'?"),
    (
        "open-nodes userservice",
        3,
        "not_found: no entity 'userservice' in category 'default'; did you mean 'UserService'?",
    ),
    (
        "open-nodes UserService -t Service",
        3,
        (
            "not_found: no entity 'UserService' of type 'Service' in category 'default'; the name exists with the type "
            "'service' (id 1)"
        ),
    ),
    (
        "add-observations UserServce x",
        3,
        "no entity 'UserServce' in category 'default'; did you mean 'UserService'? (nothing was written)",
    ),
    ("search-nodes one -t Service", 0, "not_found: no entity has the type 'Service'; did you mean 'service'?"),
    ("search-nodes one -t place", 0, "not_found: no entity has the type 'place'; there is only 'service'"),
    ("search-nodes one -O Version", 0, "not_found: no observation has the type 'Version'; did you mean 'version'?"),
    (
        "search-nodes one --source crew_list",
        0,
        "not_found: no observation has the source 'crew_list'; did you mean 'Crew list'?",
    ),
    ("search-nodes one --relation Uses", 0, "not_found: no relation has the type 'Uses'; did you mean 'uses'?"),
    (
        "search-nodes one -p tier=1",
        0,
        (
            """not_found: no property 'tier' is the text "1"; there is the number 1, which is said -p tier:=1 """
            """(in JSON {{"tier": 1}})"""
        ),
    ),
    (
        "search-nodes one -p public=true",
        0,
        (
            """not_found: no property 'public' is the text "true"; there is the boolean true, which is said """
            """-p public:=true (in JSON {{"public": true}})"""
        ),
    ),
    ("search-nodes one -p tier:=2", 0, "not_found: no property 'tier' is the number 2; there is only 1"),
    (
        "search-nodes one -p language=Go",
        0,
        """not_found: no property 'language' is the text "Go"; did you mean 'go'?""",
    ),
    (
        "search-nodes one -p langauge=go",
        0,
        "not_found: nothing has a property 'langauge'; did you mean 'language'?",
    ),
    (
        "search-nodes one -a -t Service",
        0,
        "not_found: in category 'default': no entity has the type 'Service'; did you mean 'service'?",
    ),
    (
        "delete-entities UserService -t service",
        2,
        "this deletes for good, and there is no terminal to ask on: say --yes if you mean it",
    ),
    (
        "seed hosehold",
        2,
        (
            "there is no file 'hosehold', and no graph of that name ships with mmem (demo, household, recall, "
            "research); did you mean 'household'?"
        ),
    ),
    ("restore gone.db", 2, "there is no file gone.db"),
    (
        "create-entities A --base-dir /dev/null",
        5,
        "/dev/null/default.db: not a directory; choose another place with --base-dir or MEMORY_BASE_DIR",
    ),
]


@pytest.mark.parametrize(("words", "status", "line"), MISTAKES, ids=[words for words, _, _ in MISTAKES])
def test_a_mistake_gets_just_this_line(world: None, mmem: Run, base: Path, words: str, status: int, line: str) -> None:
    ran = mmem(*words.split(" "))
    said = ran.stderr.replace("(see cli ", "(see mmem ")  # as click's runner calls the program
    assert (ran.exit_status, said) == (status, f"mmem: {line.format(base=base)}\n")


@pytest.mark.parametrize(
    "words", ["search-nodes one -t service", "search-nodes zzz -t service", "search-nodes one -p tier:=1 -O version"]
)
def test_filters_that_something_has_get_no_hint(world: None, mmem: Run, words: str) -> None:
    assert mmem(*words.split(" ")).stderr == ""


def test_an_empty_category_gets_no_hint(mmem: Run) -> None:
    mmem("create-entities", "A")
    mmem("delete-entities", "A", "--yes")
    assert mmem("search-nodes", "one", "-t", "x").stderr == ""


def test_a_hint_of_one_category_is_not_said_where_another_has_it(world: None, mmem: Run) -> None:
    mmem("create-entities", "B", "-t", "Service", "-o", "Number one", "-c", "work")
    ran = mmem("search-nodes", "one", "-t", "Service", "-a", "--names")
    assert (ran.json, ran.stderr) == ([{"category": "work", "name": "B"}], "")


def test_a_dash_word_behind_the_dashes_is_no_option(world: None, mmem: Run) -> None:
    ran = mmem("search-nodes", "-x", "--", "-xyz")
    assert f"there is no option '-x' ({DASH})" in ran.stderr


def test_a_locked_file_says_how_to_see_who_holds_it(world: None, base: Path) -> None:
    conn = sqlite3.connect(base / "default.db", isolation_level=None)
    conn.execute("BEGIN IMMEDIATE")
    with Store(base, timeout=0.05) as store, pytest.raises(Busy, match=r"try again; `lsof .*default\.db` shows which"):
        store.heal_index("default")
    conn.close()


def test_a_file_that_is_no_database_says_what_to_do(mmem: Run, base: Path) -> None:
    base.mkdir()
    (base / "default.db").write_text("Dear diary, " * 400)
    ran = mmem("read-graph")
    said = f"{base}/default.db is not a database; it was left as it is: move it out of the base directory"
    assert (ran.exit_status, ran.stderr) == (5, f"mmem: {said}\n")


def test_a_damaged_file_says_what_to_do(world: None, store: Store, mmem: Run, base: Path) -> None:
    store.close()
    path = base / "default.db"
    path.write_bytes(path.read_bytes()[: 4 * 4096])
    ran = mmem("read-graph")
    assert ran.exit_status == 5
    assert "is damaged" in ran.stderr
    assert "bring a backup back with mmem restore" in ran.stderr

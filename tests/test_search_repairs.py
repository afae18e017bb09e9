"""A search on an index that is broken, or whose answer has to hold together over pages, large entities, categories."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mmem.registry import call
from mmem.store import Store

Ask = Callable[..., Any]


def names(outcome: Any) -> list[str]:
    return [entity.name for entity in outcome.result.entities]


def codes(outcome: Any) -> list[str]:
    return [notice.code for notice in outcome.notices]


def spoiled(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as conn, conn:
        for statement in statements:
            conn.execute(statement)


BREAKS = [
    *(f"DROP TABLE fts_content_{part}" for part in ("data", "idx", "docsize", "config")),
    *("DROP TABLE fts_content", "DROP VIEW fts_map", "DROP VIEW fts_source", "DROP TRIGGER fts_entity_delete"),
    *("DELETE FROM fts_content_data", "INSERT INTO fts_content(fts_content) VALUES ('delete-all')"),
]


@pytest.mark.parametrize("broken", BREAKS)
def test_a_search_on_a_broken_index_finds_all_and_says_once_that_it_healed_it(
    base: Path, mmem: Any, broken: str
) -> None:
    mmem("create-entities", "Ann", "-o", "likes green tea")
    spoiled(base / "default.db", broken)
    ran = mmem("search-nodes", "teas", "--names", "-f", "json")
    assert (ran.json, ran.stderr.count("index_healed")) == (["Ann"], 1)
    again = mmem("search-nodes", "teas", "--names", "-f", "json")
    assert (again.json, again.stderr) == (["Ann"], "")


@pytest.mark.parametrize("command", [["create-entities", "Bo"], ["delete-entities", "Ann", "--yes"], ["purge"]])
@pytest.mark.parametrize("broken", BREAKS)
def test_every_write_goes_on_after_a_broken_index(base: Path, mmem: Any, command: list[str], broken: str) -> None:
    mmem("create-entities", "Ann", "-o", "likes green tea")
    spoiled(base / "default.db", broken)
    assert mmem(*command).exit_status == 0
    assert "the old one was sound" in mmem("reindex", "-f", "table").stdout or broken == BREAKS[-1]


@pytest.mark.parametrize("broken", BREAKS[:8])
def test_reindex_says_what_it_found(base: Path, mmem: Any, broken: str) -> None:
    mmem("create-entities", "Ann", "-o", "likes green tea")
    spoiled(base / "default.db", broken)
    assert "the old one didn't fit the rows" in mmem("reindex", "-f", "table").stdout


def test_an_index_of_another_category_is_healed_in_a_search_of_all(base: Path, mmem: Any) -> None:
    mmem("create-entities", "Ann", "-o", "likes tea", "-c", "work")
    mmem("create-entities", "Bo", "-o", "likes tea", "-c", "home")
    spoiled(base / "work.db", "DELETE FROM fts_content_data")
    ran = mmem("search-nodes", "-a", "tea", "--names", "-f", "jsonl")
    assert ran.stdout.splitlines() == [
        '{"category":"home","name":"Bo"}',
        '{"category":"work","name":"Ann"}',
    ]
    assert ran.stderr.count("index_healed") == 1


def test_a_category_that_cannot_be_read_does_not_hide_the_others(base: Path, mmem: Any) -> None:
    mmem("create-entities", "Ann", "-o", "likes tea", "-c", "work")
    mmem("create-entities", "Bo", "-o", "likes tea", "-c", "newer")
    spoiled(base / "newer.db", "INSERT INTO schema_version VALUES (99)")
    ran = mmem("search-nodes", "-a", "tea", "--names", "-f", "json")
    assert [one["name"] for one in ran.json] == ["Ann"]
    assert "skipped: in category 'newer': it was left out" in ran.stderr


def test_an_entity_of_just_that_name_comes_first_in_a_search_of_all(mmem: Any) -> None:
    mmem("create-entities", "Trip", "-o", "Oslo by train", "-c", "a")
    mmem("create-entities", "Oslo", "-c", "b")
    assert [one["name"] for one in mmem("search-nodes", "-a", "oslo", "--names", "-f", "json").json] == ["Oslo", "Trip"]


def test_a_search_of_all_speaks_only_of_what_it_shows(ask: Ask) -> None:
    for category in "abc":
        texts = [{"text": f"tea {number}", "observationType": f"t{number}"} for number in range(30)]
        ask("create_entities", category=category, entities=[{"name": "Big", "observations": [*texts, "rain"]}])
    outcome = ask("search_nodes", query="rain", allCategories=True, limit=1)
    assert [(one.code, one.details.get("category")) for one in outcome.notices] == [
        ("truncated", "a"),
        ("truncated", None),
    ]


@pytest.mark.parametrize("query", ["alpha beta", "beta", "alpha beta gamma", "be", "alpha-beta"])
def test_the_pages_of_an_answer_are_together_the_answer(ask: Ask, query: str) -> None:
    texts = [f"{'beta alpha' if number % 3 else 'beta gamma'} {number}" for number in range(700)]
    entities = [{"name": f"n{number}", "observations": [text]} for number, text in enumerate(texts)]
    ask("create_entities", entities=[*entities, {"name": "Typed", "observations": ["then the alpha beta of all"]}])
    whole = names(ask("search_nodes", query=query, limit=1000))
    pages = [names(ask("search_nodes", query=query, limit=50, offset=offset)) for offset in range(0, 750, 50)]
    assert [name for page in pages for name in page] == whole


@pytest.mark.parametrize("limit", [1, 50, 200])
def test_what_holds_the_text_as_typed_comes_first_among_many(ask: Ask, limit: int) -> None:
    entities = [{"name": f"n{number}", "observations": [f"beta alpha {number}"]} for number in range(400)]
    typed = {"name": "Typed", "observations": ["one long text in which somewhere alpha beta stands as it was typed"]}
    ask("create_entities", entities=[typed, *entities])
    assert names(ask("search_nodes", query="alpha beta", limit=limit))[0] == "Typed"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("cat dog", "category dogma"),
        ("user service", "UserServiceImpl is slow"),
        ("auth", "authentication by token"),
        ("big AND python", "Uses Python at work"),
        ("name:big AND text:python", "Uses Python at work"),
        ("猫は何匹", "猫を二匹飼っている"),
    ],
)
def test_the_observation_of_a_large_entity_that_matched_is_shown(ask: Ask, query: str, text: str) -> None:
    words = query.replace("name:", "").replace("text:", "").replace(" AND ", " ")
    others = [{"name": f"n{number}", "observations": [f"{words} {number}"]} for number in range(320)]
    filler = [{"text": f"filler {number}", "observationType": f"t{number}"} for number in range(30)]
    ask("create_entities", entities=[{"name": "Big", "observations": [text, *filler]}, *others])
    found = {one.name: one for one in ask("search_nodes", query=query, limit=1000).result.entities}
    assert [one.text for one in found["Big"].observations] == [text]


@pytest.mark.parametrize("query", ["*reads AND x", "*id AND a", "*", "*rank", '*"a b"'])
def test_the_commands_of_fts5_are_plain_text(store: Store, query: str) -> None:
    call(store, "create_entities", {"entities": [{"name": "A", "observations": ["x"]}]})
    for _ in range(5):
        call(store, "search_nodes", {"query": "x"})
        call(store, "search_nodes", {"query": query})


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("user-service NOT restarts", ["order"]),
        ("node.js NOT LTS", []),
        ("user-service AND restarts", ["user"]),
        ("text:C++", ["cpp"]),
        ("login AND tokens", ["Auth"]),
        ("东京 OR 上海", ["dong", "shang"]),
    ],
)
def test_syntax_holds_for_words_with_signs_and_over_observations(ask: Ask, query: str, found: list[str]) -> None:
    texts = {
        "user": ["the user-service restarts"],
        "order": ["calls the user-service"],
        "node": ["node.js 20 LTS"],
        "cpp": ["addon in C++"],
        "Auth": ["the login page", "session tokens"],
        "dong": ["我住在东京"],
        "shang": ["我住在上海"],
    }
    ask("create_entities", entities=[{"name": name, "observations": texts[name]} for name in texts])
    assert sorted(names(ask("search_nodes", query=query))) == found


def test_a_nul_in_another_programs_text_does_no_harm(base: Path, ask: Ask) -> None:
    ask("create_entities", entities=[{"name": f"n{number}", "observations": [f"東京 {number}"]} for number in range(5)])
    text = "'a' || char(0) || 'b' || char(0) || 'cü'"
    spoiled(
        base / "default.db", f"INSERT INTO observations(entity_id, observation_type, content) VALUES (1, 'x', {text})"
    )
    assert names(ask("search_nodes", query="東京 4"))[0] == "n4"


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, 2**63 - 1, -(2**63)])
def test_large_numbers_are_found_as_properties(ask: Ask, number: int) -> None:
    ask(
        "create_entities",
        entities=[{"name": "A", "properties": {"n": number}}, {"name": "A B", "properties": {"n": 1}}],
    )
    assert names(ask("search_nodes", query="A", properties={"n": number})) == ["A"]


@pytest.mark.parametrize("query", ["C++", "ervic", "user", "UserService C++"])
@pytest.mark.parametrize("narrowed", [{"source": "web"}, {"properties": {"k": "v"}}, {"observationType": "fact"}])
def test_a_name_counts_through_an_observation_that_passes(ask: Ask, query: str, narrowed: dict[str, object]) -> None:
    passing = {"text": "x", "source": "web", "observationType": "fact", "properties": {"k": "v"}}
    ask(
        "create_entities",
        entities=[{"name": "UserService C++", "observations": [passing]}, {"name": "C++ userservice"}],
    )
    assert names(ask("search_nodes", query=query, **narrowed)) == ["UserService C++"]


def test_a_time_that_ends_before_it_begins_is_refused(mmem: Any) -> None:
    ran = mmem("search-nodes", "a", "--since", "2026-02-01", "--until", "2026-01-01")
    assert ran.exit_status == 2
    assert "since: 2026-02-01 is after until (2026-01-01)" in ran.stderr


def test_a_score_counts_the_words_of_the_whole_entity(ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "Auth", "observations": ["the login page", "one session each"]}])
    outcome = ask("search_nodes", query="login session")
    assert outcome.matches.scores == {"1": pytest.approx(1.0)}

"""Which observations come with a found entity, that large entities hide no other, and files with another index."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mmem import schema

Ask = Callable[..., Any]
Mmem = Callable[..., Any]


def remember(ask: Ask, **entities: list[str]) -> None:
    """Create entities, each given as its name and its plain texts."""
    ask("create_entities", entities=[{"name": name, "observations": those} for name, those in entities.items()])


def names(outcome: Any) -> list[str]:
    return [entity.name for entity in outcome.result.entities]


def texts(outcome: Any) -> list[str]:
    """Return the texts of the first entity found."""
    return [observation.text for observation in outcome.result.entities[0].observations]


def codes(outcome: Any) -> list[str]:
    return [notice.code for notice in outcome.notices]


def numbered(word: str, count: int) -> list[str]:
    return [f"{word} number {i}" for i in range(count)]


def test_an_entity_of_20_observations_comes_whole(ask: Ask) -> None:
    remember(ask, Small=[*numbered("plain", 19), "the needle"])
    outcome = ask("search_nodes", query="needle")
    assert len(texts(outcome)) == 20
    assert outcome.notices == []


def test_a_larger_entity_comes_with_what_matched_best_first_and_a_notice(ask: Ask) -> None:
    long = "a needle in a text of very many other words than that one alone"
    remember(ask, Large=[long, *numbered("plain", 30), "needle and needle", "Needless"])
    outcome = ask("search_nodes", query="needle")
    assert texts(outcome) == ["needle and needle", "Needless", long]
    (notice,) = outcome.notices
    assert (notice.code, notice.details) == ("truncated", {"id": "1", "name": "Large", "total": 33, "returned": 3})
    assert "33" in notice.message


@pytest.mark.parametrize("observations", ["auto", None])
def test_a_larger_entity_found_by_its_name_comes_with_its_newest_20(ask: Ask, observations: str | None) -> None:
    remember(ask, Hub=numbered("plain", 25), Other=["unrelated"])
    outcome = ask("search_nodes", query="hub", observations=observations)
    assert texts(outcome) == [f"plain number {i}" for i in range(24, 4, -1)]
    assert codes(outcome) == ["truncated"]
    assert outcome.notices[0].details == {"id": "1", "name": "Hub", "total": 25, "returned": 20}


def test_a_type_or_a_property_of_the_entity_does_not_make_its_texts_match(ask: Ask) -> None:
    entity = {"name": "Hub", "entityType": "airport", "properties": {"code": "ZRH"}}
    ask("create_entities", entities=[{**entity, "observations": numbered("plain", 25)}])
    for query in ("airport", "zrh", "entity_type:airport"):
        assert len(texts(ask("search_nodes", query=query))) == 20
        assert texts(ask("search_nodes", query=query, observations="matched")) == []


def test_a_property_of_an_observation_makes_it_match(ask: Ask) -> None:
    observation = {"text": "reviewed", "source": "desk", "properties": {"by": "Marguerite"}}
    ask("create_entities", entities=[{"name": "Hub", "observations": [*numbered("plain", 25), observation]}])
    assert texts(ask("search_nodes", query="marguerite")) == ["reviewed"]


def test_all_shows_every_observation_without_a_notice(ask: Ask) -> None:
    remember(ask, Large=[*numbered("plain", 30), "needle"])
    outcome = ask("search_nodes", query="needle", observations="all")
    assert len(texts(outcome)) == 31
    assert outcome.notices == []


def test_matched_shows_only_what_matched_of_small_entities_too(ask: Ask) -> None:
    remember(ask, Small=["plain", "the needle"], Needle=["plain"])
    outcome = ask("search_nodes", query="needle", observations="matched")
    assert {entity.name: len(entity.observations) for entity in outcome.result.entities} == {"Needle": 0, "Small": 1}
    assert outcome.notices == []


@pytest.mark.parametrize(
    ("query", "match", "other"),
    [
        ("C++", "written in C++", "c code"),
        ("🚀", "the 🚀 flies", "plain"),
        ("天気", "今日の天気は良い", "東京都"),
        ("eedl", "a needle", "plain"),
        ("user-service", "the user-service", "user service"),
        ('"user data"', "the user data", "data of the user"),
        ("flies OR needle", "a needle that flies", "plain"),
    ],
)
@pytest.mark.parametrize("limit", [None, 1])
def test_every_observation_that_matched_is_shown_however_it_was_found(
    ask: Ask, query: str, match: str, other: str, limit: int | None
) -> None:
    remember(ask, Large=[*numbered(other, 21), *numbered(match, 5)])
    outcome = ask("search_nodes", query=query, limit=limit)
    assert sorted(texts(outcome)) == numbered(match, 5)
    assert outcome.notices[0].details["returned"] == 5


def test_observations_takes_three_words_alone(mmem: Mmem) -> None:
    assert mmem("search-nodes", "x", "--observations", "some").exit_status == 2
    assert mmem("search-nodes", "--json", '{"query": "x", "observations": "some"}').exit_status == 2


def test_the_notice_stands_on_stderr_and_the_option_works(ask: Ask, mmem: Mmem) -> None:
    remember(ask, Large=[*numbered("plain", 30), "needle"])
    ran = mmem("search-nodes", "needle")
    assert [observation["text"] for observation in ran.json["entities"][0]["observations"]] == ["needle"]
    assert "31 observations" in ran.stderr
    everything = mmem("search-nodes", "needle", "--observations", "all")
    assert (len(everything.json["entities"][0]["observations"]), everything.stderr) == (31, "")


@pytest.mark.parametrize("match", ["kiwi", "🚀", "天気です", "C++"])
def test_an_entity_of_many_matches_hides_no_other(ask: Ask, match: str) -> None:
    remember(ask, Old=[f"the {match}"], Large=numbered(match, 120), New=[f"a {match}"])
    query = match.removesuffix("です")
    assert set(names(ask("search_nodes", query=query))) == {"Old", "Large", "New"}
    assert len(names(ask("search_nodes", query=query, limit=2))) == 2


@pytest.mark.parametrize(("query", "common"), [("kiwi", "kiwi"), ("C++", "c code")])
def test_an_entity_of_thousands_of_matches_hides_no_other(ask: Ask, query: str, common: str) -> None:
    remember(ask, Old=[f"the {query}"], Giant=numbered(common, 5_001), New=[f"a {query}"])
    assert {"Old", "New"} <= set(names(ask("search_nodes", query=query, observations="matched")))


def test_a_limit_of_thousands_is_reached(ask: Ask) -> None:
    ask("create_entities", entities=[{"name": f"n{i}", "observations": ["kiwi"]} for i in range(5_100)])
    assert len(names(ask("search_nodes", query="kiwi", limit=100_000))) == 5_100


# A predecessor's index as that program leaves it: rows of deleted entities (9, 10) stay in it.
PREDECESSORS_INDEX = """
CREATE VIRTUAL TABLE fts_content USING fts5(entity_name, entity_type, observation_content);
CREATE TABLE fts_map (fts_rowid INTEGER PRIMARY KEY, entity_id INTEGER NOT NULL, observation_id INTEGER);
INSERT INTO fts_content(rowid, entity_name, entity_type, observation_content) VALUES
  (1, 'Redis', 'cache', '{"tier":"gold"}'), (2, 'Redis', 'cache', 'the café is warm '),
  (3, 'Postgres', 'database', ''), (4, 'Postgres', 'database', 'not redis but C++ '),
  (5, 'Ghost', 'cache', ''), (6, 'Ghost', 'cache', 'redis of the dead '), (7, 'Lost', 'cache', 'redis again ');
INSERT INTO fts_map VALUES (1, 1, NULL), (2, 1, 1), (3, 2, NULL), (4, 2, 2), (6, 9, 9), (7, 10, NULL);
"""


@pytest.fixture(params=["with the predecessor's index", "without an index"])
def foreign(request: pytest.FixtureRequest, base: Path) -> str:
    """A category's file that this program didn't make; the index that it has."""
    base.mkdir(mode=0o700)
    with closing(sqlite3.connect(base / "default.db")) as conn:
        for statement in schema.TABLES.values():
            conn.execute(statement)
        conn.execute("INSERT INTO schema_version VALUES (3)")
        conn.executescript(PREDECESSORS_INDEX if "predecessor" in request.param else "")
        conn.executescript("""
            INSERT INTO entities(id, name, entity_type, properties) VALUES
              (1, 'Redis', 'cache', '{"tier":"gold"}'), (2, 'Postgres', 'database', NULL);
            INSERT INTO observations(id, entity_id, content) VALUES
              (1, 1, 'the café is warm'), (2, 2, 'not redis but C++');""")
    return str(request.param)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("redis", ["Redis", "Postgres"]),
        ("Postgres", ["Postgres"]),
        ("red", ["Redis", "Postgres"]),
        ("CACHE", ["Redis"]),
        ("gold", ["Redis"]),
        ("café", ["Redis"]),
        ("C++", ["Postgres"]),
        ("warm café", ["Redis"]),
        ("ghost", []),
        ("dead again lost", []),
        ("(" * 300, []),
    ],
)
def test_a_foreign_file_is_searched_as_it_is(ask: Ask, foreign: str, base: Path, query: str, found: list[str]) -> None:
    before = (base / "default.db").read_bytes()
    outcome = ask("search_nodes", query=query)
    assert names(outcome) == found
    assert codes(outcome) == ([] if "predecessor" in foreign else ["no_full_text"])
    assert (base / "default.db").read_bytes() == before


def test_a_foreign_file_gets_an_index_with_the_first_write(ask: Ask, foreign: str) -> None:
    remember(ask, Redisson=["new"])
    outcome = ask("search_nodes", query="redis")
    assert (names(outcome), outcome.notices) == (["Redis", "Postgres", "Redisson"], [])
    assert names(ask("search_nodes", query="ghost dead again lost")) == []

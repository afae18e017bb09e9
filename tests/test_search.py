"""Searching: what is found, in which order, and what comes beside it."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mmem.errors import InvalidArguments

Ask = Callable[..., Any]
Mmem = Callable[..., Any]

WORLD: tuple[dict[str, Any], ...] = (
    {
        "name": "UserService",
        "entityType": "service",
        "properties": {"tier": "gold", "owner": {"team": "payments"}, "ports": [8080]},
        "observations": [
            "Manages user data and authentication",
            {"text": "Updated to v2.0", "observationType": "version", "properties": {"reviewer": "Marguerite"}},
        ],
    },
    {"name": "APIController", "entityType": "controller", "observations": ["Calls the data layer for each user"]},
    {"name": "Café Zürich", "entityType": "place", "observations": ["A naïve smörgåsbord near the Straße"]},
    {"name": "Москва", "entityType": "город", "observations": ["Привет, мир"]},
    {"name": "Loner", "observations": ["authored alone"]},
)
RELATIONS = (
    {"from": "APIController", "to": "UserService", "relationType": "delegates", "properties": {"since": "winter"}},
    {"from": "Loner", "to": "Москва", "relationType": "visits"},
)


@pytest.fixture
def world(ask: Ask) -> Ask:
    """The same `ask`, on a memory that holds `WORLD`."""
    ask("create_entities", entities=list(WORLD))
    ask("create_relations", relations=list(RELATIONS))
    return ask


def names(outcome: Any) -> list[str]:
    return [entity.name for entity in outcome.result.entities]


def texts(outcome: Any, index: int = 0) -> list[str]:
    return [observation.text for observation in outcome.result.entities[index].observations]


def codes(outcome: Any) -> list[str]:
    return [notice.code for notice in outcome.notices]


def remember(ask: Ask, **entities: list[str]) -> None:
    """Create entities, each given as its name and its plain texts."""
    ask("create_entities", entities=[{"name": name, "observations": those} for name, those in entities.items()])


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("UserService", {"UserService"}),
        ("service", {"UserService"}),
        ("controller", {"APIController"}),
        ("authentication", {"UserService"}),
        ("gold", {"UserService"}),
        ("payments", {"UserService"}),
        ("8080", {"UserService"}),
        ("tier", {"UserService"}),
        ("marguerite", {"UserService"}),
        ("userserv", {"UserService"}),
        ("auth", {"UserService", "Loner"}),
        ("userservice manages", {"UserService"}),
        ("place naïve", {"Café Zürich"}),
        ("город привет", {"Москва"}),
    ],
)
def test_names_types_texts_and_properties_are_found_by_the_beginnings_of_words(
    world: Ask, query: str, found: set[str]
) -> None:
    outcome = world("search_nodes", query=query)
    assert set(names(outcome)) == found
    assert outcome.notices == []


def test_what_has_all_of_the_words_comes_before_what_has_some(world: Ask) -> None:
    outcome = world("search_nodes", query="auth user")
    assert names(outcome)[0] == "UserService"
    assert set(names(outcome)) == {"UserService", "APIController", "Loner"}
    assert outcome.notices == []


@pytest.mark.parametrize("query", ["delegates", "winter", "nowhere"])
def test_relations_are_not_searched(world: Ask, query: str) -> None:
    outcome = world("search_nodes", query=query)
    assert (names(outcome), outcome.result.relations, outcome.notices) == ([], [], [])


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("USERSERVICE", "UserService"),
        ("apicontroller", "APIController"),
        ("cafe", "Café Zürich"),
        ("CAFÉ", "Café Zürich"),
        ("cafe\u0301", "Café Zürich"),
        ("zurich", "Café Zürich"),
        ("ZÜR", "Café Zürich"),
        ("naive SMORGAS", "Café Zürich"),
        ("STRAßE", "Café Zürich"),
        ("москва", "Москва"),
        ("ПРИВЕТ", "Москва"),
    ],
)
def test_case_and_accents_make_no_difference(world: Ask, query: str, found: str) -> None:
    assert names(world("search_nodes", query=query)) == [found]


@pytest.mark.parametrize("query", ["café", "cafe", "CAFÉ", "Cafe\u0301", "cafe\u0301", "CAFE\u0301"])
def test_composed_decomposed_and_bare_letters_find_the_same(ask: Ask, query: str) -> None:
    remember(ask, A=["at the café"], B=["at the cafe\u0301"], C=["AT THE CAFÉ"], D=["at the cafe"])
    assert set(names(ask("search_nodes", query=query))) == {"A", "B", "C", "D"}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"user data"', {"UserService"}),
        ('"data user"', set()),
        ("data AND layer", {"APIController"}),
        ("gold OR alone", {"UserService", "Loner"}),
        ("data NOT layer", {"UserService"}),
        ("NEAR(user authentication, 3)", {"UserService"}),
        ("NEAR(manages authentication, 1)", set()),
        ("auth*", {"UserService", "Loner"}),
        ("author", {"Loner"}),
        ("(gold OR alone) AND auth*", {"Loner"}),
        ('"user dat"*', {"UserService"}),
        ("entity_type:controller", {"APIController"}),
        ("entity_name : user*", {"UserService"}),
        ("{entity_name entity_type} : serv*", {"UserService"}),
        ("observation_content:controller", set()),
    ],
)
def test_fts5_syntax_means_what_it_means(world: Ask, query: str, found: set[str]) -> None:
    outcome = world("search_nodes", query=query)
    assert set(names(outcome)) == found
    assert outcome.notices == []


def test_a_part_of_a_word_is_found_where_no_word_begins_with_it(world: Ask) -> None:
    assert names(world("search_nodes", query="thentic")) == ["UserService"]
    assert names(world("search_nodes", query="осква")) == ["Москва"]
    assert names(world("search_nodes", query="ta and auth"))[0] == "UserService"


def test_the_entity_of_just_that_name_comes_first(ask: Ask) -> None:
    remember(ask, Log=["a text"], other=["redis redis redis"], **{"redis-cluster": [], "Redis": [], "redis": []})
    assert names(ask("search_nodes", query="redis"))[:2] == ["redis", "Redis"]
    assert names(ask("search_nodes", query="Redis"))[:2] == ["Redis", "redis"]
    assert names(ask("search_nodes", query="rediscluster"))[0] == "redis-cluster"
    assert names(ask("search_nodes", query="redis", limit=1)) == ["redis"]


def test_the_exact_name_comes_first_however_its_accents_are_typed(ask: Ask) -> None:
    remember(ask, CAFÉ=[], café=[])
    assert names(ask("search_nodes", query="cafe\u0301")) == ["café", "CAFÉ"]


def test_the_best_match_comes_first(ask: Ask) -> None:
    long = "a long text about many things in which a tide is mentioned once among very many other words"
    remember(ask, Once=[long], Twice=["the tide and the tide"], Short=["tide"], Other=["nothing"])
    assert names(ask("search_nodes", query="tide")) in (["Short", "Twice", "Once"], ["Twice", "Short", "Once"])


def test_equal_matches_come_by_id_and_the_same_twice(ask: Ask) -> None:
    ask("create_entities", entities=[{"name": f"n{9 - i}", "observations": ["the same words"]} for i in range(10)])
    first = ask("search_nodes", query="same words")
    assert [entity.id for entity in first.result.entities] == [str(i) for i in range(1, 11)]
    assert ask("search_nodes", query="same words").result == first.result


def test_the_limit_counts_entities_and_is_50_by_default(ask: Ask) -> None:
    ask("create_entities", entities=[{"name": f"n{i}", "observations": ["kiwi"]} for i in range(60)])
    ask("add_observations", observations=[{"entityName": "n0", "contents": [f"kiwi {i}" for i in range(300)]}])
    assert len(names(ask("search_nodes", query="kiwi"))) == 50
    assert len(names(ask("search_nodes", query="kiwi", limit=7))) == 7
    assert len(set(names(ask("search_nodes", query="kiwi", limit=1000)))) == 60


@pytest.mark.parametrize("limit", [0, -1, 100_001, "many", 1.5])
def test_a_limit_out_of_range_is_refused(world: Ask, limit: object) -> None:
    with pytest.raises(InvalidArguments, match=r"^\$\.limit: "):
        world("search_nodes", query="user", limit=limit)


def test_some_of_the_words_are_enough_where_no_place_has_all_and_a_notice_says_so(ask: Ask) -> None:
    remember(ask, qv77=["qv77 has 12 parts"], Other=["parts of a walrus"])
    outcome = ask("search_nodes", query="qv77 walrus")
    assert set(names(outcome)) == {"qv77", "Other"}
    assert codes(outcome) == ["matched_any"]
    assert codes(ask("search_nodes", query="qv77 parts")) == []
    assert codes(ask("search_nodes", query="nothing anywhere")) == []


def test_every_relation_that_touches_a_found_entity_comes_along(world: Ask) -> None:
    def ends(query: str) -> list[tuple[str, str]]:
        found = world("search_nodes", query=query).result.relations
        return [(relation.from_name, relation.to_name) for relation in found]

    assert ends("gold") == [("APIController", "UserService")]
    assert ends("gold OR controller") == [("APIController", "UserService")]
    assert ends("gold OR alone") == [("APIController", "UserService"), ("Loner", "Москва")]
    assert ends("smörgåsbord") == []


def test_deleted_and_replaced_texts_are_never_found_again(ask: Ask, base: Path) -> None:
    observations = ["zebra", {"text": "quagga", "observationType": "wild"}]
    ask("create_entities", entities=[{"name": "Okapi", "entityType": "mammal", "observations": observations}])
    remember(ask, Kept=["kept"])
    ask("add_observations", override=True, observations=[{"entityName": "Okapi", "contents": ["giraffe"]}])
    assert names(ask("search_nodes", query="zebra")) == []
    ask("delete_observations", deletions=[{"entityName": "Okapi", "entityType": "mammal", "observationType": "wild"}])
    assert names(ask("search_nodes", query="quagga")) == []
    ask("delete_entities", entities=[{"name": "Okapi", "entityType": "mammal"}])
    assert names(ask("search_nodes", query="okapi giraffe mammal")) == []
    with closing(sqlite3.connect(base / "default.db")) as conn:
        conn.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, fts_content, 'row')")
        assert {row[0] for row in conn.execute("SELECT term FROM temp.vocabulary")} == {"kept"}


def test_words_on_the_command_line_are_one_query(world: Ask, mmem: Mmem) -> None:
    ran = mmem("search-nodes", "auth", "user", "--limit", "5")
    assert (ran.exit_status, ran.stderr) == (0, "")
    assert ran.json["entities"][0]["name"] == "UserService"
    assert ran.json == mmem("search-nodes", "--json", json.dumps({"query": "auth user"})).json
    assert ran.json != mmem("search-nodes", "auth").json
    assert list(ran.json) == ["entities", "relations"]


def test_a_dash_or_a_quote_on_the_command_line_is_text(ask: Ask, mmem: Mmem) -> None:
    remember(ask, A=["the flag -foo went"], B=["a user data"], C=["data user"])
    assert [entity["name"] for entity in mmem("search-nodes", "--", "-foo").json["entities"]] == ["A"]
    assert [entity["name"] for entity in mmem("search-nodes", '"user data"').json["entities"]] == ["B"]


def test_finding_nothing_is_no_failure_and_loose_matches_are_said_on_stderr(world: Ask, mmem: Mmem) -> None:
    nothing = mmem("search-nodes", "nowhere")
    assert (nothing.exit_status, nothing.json, nothing.stderr) == (0, {"entities": [], "relations": []}, "")
    loose = mmem("search-nodes", "gold", "smörgåsbord")
    assert loose.exit_status == 0
    assert loose.stderr.startswith("mmem: ")
    assert loose.stderr.count("\n") == 1
    assert "smörgåsbord" in loose.stdout


def test_a_category_that_does_not_exist_is_empty(mmem: Mmem, base: Path) -> None:
    ran = mmem("search-nodes", "anything", "-c", "work")
    assert (ran.exit_status, ran.json) == (0, {"entities": [], "relations": []})
    assert "work" in ran.stderr
    assert not base.exists()


@pytest.mark.parametrize("words", [[""], ["   "], ["", ""], ["\t\n"], ["\u3000"]])
def test_a_blank_query_is_refused(world: Ask, mmem: Mmem, words: list[str]) -> None:
    with pytest.raises(InvalidArguments, match="blank"):
        world("search_nodes", query=" ".join(words))
    ran = mmem("search-nodes", *words)
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert "blank" in ran.stderr


def test_no_query_is_refused(mmem: Mmem) -> None:
    assert mmem("search-nodes").exit_status == 2
    assert mmem("search-nodes", "--json", "{}").exit_status == 2

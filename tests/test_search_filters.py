"""Searches that are narrowed, in one category or all of them, and what they return beside whole entities."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from mmem.errors import InvalidArguments

Ask = Callable[..., Any]
Mmem = Callable[..., Any]

ENTITIES = [
    {
        "name": "Cache",
        "entityType": "service",
        "properties": {"tier": 1, "tags": ["fast"], "owner": "ann", "on": True},
        "observations": [
            {"observationType": "note", "text": "The cache is warm", "source": "chat", "timestamp": "2026-01-10"},
            {
                "observationType": "fix",
                "text": "Cache keys are hashed",
                "source": "adr",
                "timestamp": "2026-02-10T12:00:00Z",
            },
        ],
    },
    {
        "name": "Queue",
        "entityType": "library",
        "properties": {"tier": 2, "owner": "bo"},
        "observations": [
            {
                "observationType": "note",
                "text": "Shares the cache",
                "source": "chat",
                "timestamp": "2026-02-10T13:30:00+02:00",
                "properties": {"owner": "ann"},
            }
        ],
    },
    {"name": "Cache of notes", "observations": ["A cache without a type"]},
]


@pytest.fixture
def world(ask: Ask) -> Ask:
    """Ask a category that holds a few entities about caches."""
    ask("create_entities", entities=ENTITIES)
    ask("create_relations", relations=[{"from": "Queue", "to": "Cache", "relationType": "uses"}])
    return ask


def names(outcome: Any) -> list[str]:
    return [entity.name for entity in outcome.result.entities]


@pytest.mark.parametrize(
    ("narrowed", "found"),
    [
        ({}, {"Cache", "Queue", "Cache of notes"}),
        ({"entityType": "service"}, {"Cache"}),
        ({"entityType": ""}, {"Cache of notes"}),
        ({"entityType": "nothing"}, set()),
        ({"observationType": "note"}, {"Cache", "Queue"}),
        ({"observationType": "fix"}, {"Cache"}),
        ({"source": "adr"}, {"Cache"}),
        ({"source": "chat", "entityType": "library"}, {"Queue"}),
        ({"since": "2026-02-01", "until": "2026-06-30"}, {"Cache", "Queue"}),
        ({"since": "2026-01-10", "until": "2026-01-10"}, {"Cache"}),  # a date is its first moment
        ({"since": "2026-02-10T12:00:00Z", "until": "2026-02-10T12:00Z"}, {"Cache"}),
        ({"since": "2026-02-10T11:30:00.000Z", "until": "2026-02-10T13:30+02:00"}, {"Queue"}),  # the same instant
        ({"properties": {"tier": 1}}, {"Cache"}),
        ({"properties": {"tier": "1"}}, set()),  # a text isn't a number
        ({"properties": {"owner": "ann"}}, {"Cache", "Queue"}),  # the entity's, or the observation's
        ({"properties": {"owner": "bo", "tier": 2}}, {"Queue"}),
        ({"properties": {"tags": ["fast"]}}, {"Cache"}),
        ({"properties": {"on": True}}, {"Cache"}),
        ({"properties": {"on": 1}}, set()),
        ({"properties": {"a\"b'.$[0]": None}}, set()),
        ({"relationType": "uses"}, {"Cache", "Queue"}),
        ({"relationType": "used"}, set()),
    ],
)
def test_a_search_is_narrowed(world: Ask, narrowed: dict[str, Any], found: set[str]) -> None:
    assert set(names(world("search_nodes", query="cache", **narrowed))) == found


@pytest.mark.parametrize("query", ["cache", '"the cache"', "ache", "cache hashed nonsense", "キャッシュ"])
def test_whatever_the_way_it_is_found_a_filter_holds(world: Ask, query: str) -> None:
    world("create_entities", entities=[{"name": "Other", "entityType": "x", "observations": ["the cache キャッシュ"]}])
    assert names(world("search_nodes", query=query, entityType="nothing")) == []
    assert names(world("search_nodes", query=query, source="nowhere")) == []


def test_only_observations_that_pass_are_shown(world: Ask) -> None:
    [cache] = world("search_nodes", query="cache", source="adr").result.entities
    assert [one.text for one in cache.observations] == ["Cache keys are hashed"]
    [cache] = world("search_nodes", query="cache", source="adr", observations="all").result.entities
    assert len(cache.observations) == 2


def test_a_filter_reaches_past_the_rows_that_are_ranked(ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "old", "entityType": "rare", "observations": ["common"]}])
    ask("create_entities", entities=[{"name": f"n{n}", "observations": ["common words"]} for n in range(8_000)])
    assert names(ask("search_nodes", query="common", entityType="rare")) == ["old"]
    assert names(ask("search_nodes", query="common words old", entityType="rare")) == ["old"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"since": "yesterday"},
        {"until": "2026-02-30"},
        {"properties": ["tier"]},
        {"category": "work", "allCategories": True},
        {"names": "yes"},
        {"limit": 0},
    ],
)
def test_what_makes_no_sense_is_refused(world: Ask, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments):
        world("search_nodes", query="cache", **arguments)


def test_pages_follow_each_other(ask: Ask) -> None:
    ask("create_entities", entities=[{"name": f"note {n}"} for n in range(7)])
    pages = [ask("search_nodes", query="note", limit=3, offset=offset) for offset in (0, 3, 6)]
    assert [name for page in pages for name in names(page)] == [f"note {n}" for n in range(7)]
    assert [[n.details.get("nextOffset") for n in page.notices] for page in pages] == [[3], [6], []]


def test_names_alone_and_no_relations(world: Ask) -> None:
    assert world("search_nodes", query="cache", names=True, limit=1).result == ["Cache"]
    assert world("search_nodes", query="cache", relations=False).result.relations == []


def test_all_categories_are_searched_and_every_record_says_its_own(world: Ask, mmem: Mmem) -> None:
    world("create_entities", category="work", entities=[{"name": "Warm", "observations": ["A warm cache"]}])
    world("create_entities", category="work", entities=[{"name": "B"}])
    world("create_relations", category="work", relations=[{"from": "Warm", "to": "B", "relationType": "r"}])
    result = world("search_nodes", query="warm cache", allCategories=True).result
    assert [(entity.category, entity.name) for entity in result.entities][:2] == [
        ("default", "Cache"),
        ("work", "Warm"),
    ]
    assert {relation.category for relation in result.relations} == {"default", "work"}
    ran = mmem("search-nodes", "warm", "cache", "-a", "--names", "-n", "2")
    assert ran.json == [{"category": "default", "name": "Cache"}, {"category": "work", "name": "Warm"}]
    assert "nextOffset" not in ran.stdout
    assert "offset 2" in ran.stderr


def test_categories_where_an_entity_has_all_words_come_first(ask: Ask) -> None:
    ask("create_entities", category="a", entities=[{"name": "half", "observations": ["green"]}])
    ask("create_entities", category="b", entities=[{"name": "whole", "observations": ["green tea"]}])
    assert ask("search_nodes", query="green tea", allCategories=True, names=True).result[0].name == "whole"


@pytest.mark.parametrize(("words", "status"), [(["cache"], 0), (["nothing-like-it"], 1)])
def test_a_script_can_be_told_that_nothing_matched(world: Ask, mmem: Mmem, words: list[str], status: int) -> None:
    assert mmem("search-nodes", *words).exit_status == 0
    for option in ("-e", "--exit-status"):
        assert mmem("search-nodes", *words, option).exit_status == status
        assert mmem("search-nodes", "--json", json.dumps({"query": words[0]}), option).exit_status == status


def test_the_command_line_has_them_all(world: Ask, mmem: Mmem) -> None:
    options = ["-t", "service", "-O", "fix", "--source", "adr", "--since", "2026-02-01", "--until", "2026-03-01"]
    ran = mmem("search-nodes", "cache", *options, "-p", "tier:=1", "--relation", "uses", "--no-relations")
    assert [entity["name"] for entity in ran.json["entities"]] == ["Cache"]
    assert ran.json["relations"] == []


def test_matches_are_highlighted_on_a_terminal_and_scores_shown_when_asked_for(world: Ask, mmem: Mmem) -> None:
    shown = mmem("search-nodes", "hashed cache", "--color", "always", terminal=True).stdout
    assert "\x1b[1;4mhashed\x1b[0m" in shown
    assert "1.00" not in shown
    assert "1.00" in mmem("search-nodes", "hashed cache", "-v", terminal=True).stdout
    assert "\x1b" not in mmem("search-nodes", "hashed cache", "-f", "json").stdout


def test_of_a_long_text_the_part_around_the_match_is_shown_on_a_terminal(ask: Ask, mmem: Mmem) -> None:
    text = "before " * 300 + "needle " + "after " * 300
    ask("create_entities", entities=[{"name": "Hay", "observations": [text]}])
    shown = mmem("search-nodes", "needle", terminal=True).stdout
    assert "needle" in shown
    assert len(shown) < 1_500
    assert mmem("search-nodes", "needle").json["entities"][0]["observations"][0]["text"] == text


def test_all_categories_and_one_exclude_each_other(mmem: Any) -> None:
    ran = mmem("search-nodes", "a", "-a", "-c", "work")
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert "exclude each other" in ran.stderr

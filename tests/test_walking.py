"""`neighbors` and `path`: what is near, and the shortest way; the same as a plain walk in Python."""

import json
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmem.errors import Ambiguous, InvalidArguments, NotFound
from mmem.registry import call
from mmem.store import Store

Ask = Callable[..., Any]
Run = Callable[..., Any]
Edges = list[tuple[int, int, str]]


def graph_of(outcome: Any) -> tuple[list[str], list[str]]:
    return [one.name for one in outcome.result.entities], [one.id for one in outcome.result.relations]


@pytest.fixture
def line(ask: Ask) -> Ask:
    """A line a -> b -> c -> d -> e (relations 1 to 4, the last of type `s`), f -> b (5), and g alone."""
    ask("create_entities", entities=[{"name": name, "observations": [f"of {name}"]} for name in "abcdefg"])
    edges = [("a", "b", "r"), ("b", "c", "r"), ("c", "d", "r"), ("d", "e", "s"), ("f", "b", "r")]
    ask("create_relations", relations=[{"from": f, "to": t, "relationType": kind} for f, t, kind in edges])
    return ask


AROUND = [
    ({}, "bacf", ["1", "2", "5"]),
    ({"depth": 2}, "bacfd", ["1", "2", "3", "5"]),
    ({"depth": 10}, "bacfde", ["1", "2", "3", "4", "5"]),
    ({"direction": "out"}, "bc", ["2"]),
    ({"direction": "in", "depth": 3}, "baf", ["1", "5"]),
    ({"direction": "both", "relationTypes": ["s"]}, "b", []),
    ({"depth": 4, "relationTypes": ["r"]}, "bacfd", ["1", "2", "3", "5"]),
    ({"depth": 4, "relationTypes": ["r", "s"], "direction": "out"}, "bcde", ["2", "3", "4"]),
]


@pytest.mark.parametrize(("asked", "names", "relations"), AROUND)
def test_the_nearest_come_first_with_the_relations_among_them(
    line: Ask, asked: dict[str, Any], names: str, relations: list[str]
) -> None:
    outcome = line("neighbors", entity="b", **asked)
    assert graph_of(outcome) == (list(names), relations)
    assert all(len(one.observations) == 1 for one in outcome.result.entities)
    assert outcome.notices == []


def test_a_limit_keeps_the_nearest_and_says_that_there_are_more(line: Ask) -> None:
    outcome = line("neighbors", entity="b", depth=3, limit=4)
    assert graph_of(outcome) == (list("bacf"), ["1", "2", "5"])
    assert [(notice.code, notice.details) for notice in outcome.notices] == [("truncated", {"shown": 4})]
    assert line("neighbors", entity="b", limit=4).notices == []


def test_relations_of_a_type_alone_are_shown_among_what_is_near(line: Ask) -> None:
    line("create_relations", relations=[{"from": "a", "to": "b", "relationType": "s"}])
    assert graph_of(line("neighbors", entity="a", relationTypes=["s"])) == (["a", "b"], ["6"])


def test_a_type_that_no_relation_has_is_said(line: Ask) -> None:
    line("create_relations", relations=[{"from": "a", "to": "b", "relationType": "depends_on"}])
    [notice] = line("neighbors", entity="a", relationTypes=["depend-on"]).notices
    assert (notice.code, notice.details["path"]) == ("not_found", "$.relationTypes[0]")
    assert "did you mean 'depends_on'" in notice.message


PATHS = [
    ("a", "e", {}, "abcde", ["1", "2", "3", "4"]),
    ("e", "a", {}, "edcba", ["4", "3", "2", "1"]),
    ("a", "e", {"directed": True}, "abcde", ["1", "2", "3", "4"]),
    ("a", "f", {}, "abf", ["1", "5"]),
    ("a", "a", {}, "a", []),
    ("a", "d", {"relationTypes": ["r"], "maxLength": 3}, "abcd", ["1", "2", "3"]),
]


@pytest.mark.parametrize(("begin", "end", "asked", "names", "relations"), PATHS)
def test_a_path_has_its_entities_and_relations_in_order(
    line: Ask, begin: str, end: str, asked: dict[str, Any], names: str, relations: list[str]
) -> None:
    assert graph_of(line("path", **{"from": begin, "to": end}, **asked)) == (list(names), relations)


NO_PATHS = [
    ("a", "g", {}, "no path leads from 'a' to 'g'", True),
    ("e", "a", {"directed": True}, "no path leads.*without `directed`", True),
    ("a", "e", {"maxLength": 3}, "no path of at most 3 relations.*a larger `maxLength`", False),
    ("a", "e", {"relationTypes": ["r"]}, "no path", True),
    ("a", "e", {"relationTypes": ["x"]}, "no relation is of the type 'x'", True),
]


@pytest.mark.parametrize(("begin", "end", "asked", "message", "exhausted"), NO_PATHS)
def test_where_there_is_no_path_the_bound_is_said(
    line: Ask, begin: str, end: str, asked: dict[str, Any], message: str, exhausted: bool
) -> None:
    with pytest.raises(NotFound, match=message) as raised:
        line("path", **{"from": begin, "to": end}, **asked)
    assert raised.value.details["exhausted"] is exhausted


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("neighbors", {"entity": "a", "depth": 0}),
        ("neighbors", {"entity": "a", "depth": 11}),
        ("neighbors", {"entity": "a", "direction": "up"}),
        ("neighbors", {"entity": "a", "limit": 0}),
        ("neighbors", {"entity": {"id": "x"}}),
        ("neighbors", {}),
        ("path", {"from": "a"}),
        ("path", {"from": "a", "to": "b", "maxLength": 0}),
        ("path", {"from": "a", "to": "b", "maxLength": 101}),
        ("path", {"from": {}, "to": "b"}),
    ],
)
def test_what_is_asked_for_is_checked(line: Ask, tool: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments, match=r"^\$"):
        line(tool, **arguments)


def test_an_entity_that_isn_t_there_is_an_error_and_all_are_named(line: Ask) -> None:
    with pytest.raises(NotFound, match=r"\$\.from: no entity 'x'.*\$\.to: no entity 'y' in category 'default'$"):
        line("path", **{"from": "x", "to": "y"})
    with pytest.raises(NotFound, match="there is no category 'other'"):
        line("neighbors", entity="a", category="other")
    line("create_entities", entities=[{"name": "h", "entityType": kind} for kind in "tu"])
    with pytest.raises(Ambiguous, match=r"\$\.entity: 2 entities are named 'h'"):
        line("neighbors", entity="h")


def test_the_words_say_the_same_as_json(line: Ask, mmem: Run) -> None:
    words = mmem("neighbors", "b", "--depth", "2", "--relation", "r", "--direction", "out", "-n", "9")
    asked = {"entity": "b", "depth": 2, "relationTypes": ["r"], "direction": "out", "limit": 9}
    assert words.stdout == mmem("neighbors", "--json", json.dumps(asked)).stdout
    assert [one["name"] for one in words.json["entities"]] == ["b", "c", "d"]
    words = mmem("path", "a", "d", "--directed", "--relation", "r", "--max", "3")
    asked = {"from": "a", "to": "d", "directed": True, "relationTypes": ["r"], "maxLength": 3}
    assert words.stdout == mmem("path", "--json", json.dumps(asked)).stdout
    ran = mmem("path", "a", "g")
    assert (ran.stdout, ran.exit_status) == ("", 3)
    ran = mmem("path", "a", "e", "--max", "2")
    shown = "no path of at most 2 relations leads from 'a' to 'e' in category 'default'; a larger --max looks further"
    assert ran.stderr == f"mmem: {shown}\n"
    assert mmem("path", "a").exit_status == mmem("neighbors").exit_status == 2


def test_a_terminal_shows_the_path_in_its_order(line: Ask, mmem: Run) -> None:
    shown = mmem("path", "a", "c", "--color", "never", terminal=True).stdout
    assert [row for row in shown.splitlines() if "#" in row] == ["a #1", "b #2", "c #3"]


@pytest.fixture(scope="module")
def world() -> Iterator[Store]:
    """A store that a law fills anew for each example."""
    with tempfile.TemporaryDirectory() as base, Store(base) as opened:
        yield opened


def reached(edges: Edges, start: int, directed: bool, kinds: set[str]) -> dict[int, int]:
    """Return how far each entity is from one: a plain breadth-first search."""
    distances, level = {start: 0}, [start]
    while level:
        ends = [(a, b) for a, b, kind in edges if not kinds or kind in kinds]
        ends += [] if directed else [(b, a) for a, b in ends]
        found = {b for a, b in ends if a in level and b not in distances}
        distances.update(dict.fromkeys(found, max(distances.values()) + 1))
        level = sorted(found)
    return distances


EDGES = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9), st.sampled_from("rs")), max_size=24, unique=True)


@settings(deadline=None, derandomize=True, database=None, max_examples=120)
@given(
    edges=EDGES,
    ends=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    directed=st.booleans(),
    kinds=st.sets(st.sampled_from("rs")),
)
def test_a_path_is_a_shortest_one(
    world: Store, edges: Edges, ends: tuple[int, int], directed: bool, kinds: set[str]
) -> None:
    if world.has("default"):
        world.delete("default")
    call(world, "create_entities", {"entities": [{"name": f"n{number}"} for number in range(1, 10)]})
    relations = [{"from": {"id": a}, "to": {"id": b}, "relationType": kind} for a, b, kind in edges]
    call(world, "create_relations", {"relations": relations})
    distances = reached(edges, ends[0], directed, kinds)
    asked = {"from": ends[0], "to": ends[1], "directed": directed, "relationTypes": sorted(kinds)}
    if ends[1] not in distances:
        with pytest.raises(NotFound):
            call(world, "path", asked)
        return
    path = call(world, "path", asked).result
    assert len(path.relations) == distances[ends[1]]
    visited = [int(one.id) for one in path.entities]
    assert (visited[0], visited[-1]) == ends
    for begin, end, relation in zip(visited, visited[1:], path.relations, strict=False):
        steps = {(int(relation.from_id), int(relation.to_id))}
        assert (begin, end) in steps if directed else {(begin, end), (end, begin)} & steps
        assert not kinds or relation.relation_type in kinds
    near = call(world, "neighbors", {"entity": ends[0], "depth": 3, "direction": "out" if directed else "both"})
    every = reached(edges, ends[0], directed, set())
    order = [every[int(one.id)] for one in near.result.entities]
    assert order == sorted(far for far in every.values() if far <= 3)

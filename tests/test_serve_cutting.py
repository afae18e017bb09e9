"""Results within `--max-bytes`: cut where an entity ends, and nothing is lost to who goes on as the notice says."""

import json
import random
import re
import string
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import toon_format
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mmem.errors import MmemError
from mmem.server.answers import Result
from mmem.server.multi_memory import MultiMemory, Options
from mmem.store import Store

LEAST = 10_000
FORMATS = ["json", "toon", "yaml", "jsonl"]
CHARACTERS = string.ascii_letters + " .,:-#'" + '"\\\n\t\x01\x7féß天𝄞\u200b\u2028'
Graph = dict[str, list[dict[str, Any]]]


@contextmanager
def memory(limit: int = LEAST, name: str = "json", **options: Any) -> Iterator[MultiMemory]:
    """Open the dialect on an empty store."""
    with tempfile.TemporaryDirectory() as base, Store(base) as store:
        yield MultiMemory(store, Options(name, limit, **options))


def frame(result: Result) -> bytes:
    """Return the frame that carries a result, of the era that adds the most to it."""
    stamp = {"io.modelcontextprotocol/serverInfo": {"name": "mmem", "title": "mmem", "version": "0.123.4"}}
    whole = {"jsonrpc": "2.0", "id": 1_234_567, "result": {"_meta": stamp, **result}}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


def call(memory: MultiMemory, tool: str, **arguments: Any) -> Result:
    """Call a tool, and require that its result or its error fits into the limit."""
    try:
        result = memory.call(tool, arguments)
    except MmemError as error:
        result = memory.failure(error)
    assert len(frame(result)) <= memory._options.max_bytes
    return result


def notices(result: Result) -> list[str]:
    return result["content"][1]["text"].splitlines() if len(result["content"]) > 1 else []


def _of_lines(text: str) -> Graph:
    records = [json.loads(line) for line in text.split("\n") if line]
    of_type = {kind: [one for one in records if one["type"] == kind] for kind in ("entity", "relation")}
    return {"entities": of_type["entity"], "relations": of_type["relation"]}


READERS = {"json": json.loads, "toon": toon_format.decode, "yaml": lambda text: yaml.load(text, yaml.CSafeLoader)}


def graph(result: Result, name: str = "json") -> Graph:
    read: Graph = READERS.get(name, _of_lines)(result["content"][0]["text"])
    return read


def names(count: int, start: int = 0) -> list[str]:
    return [f"N{number}" for number in range(start, start + count)]


def fill(memory: MultiMemory, count: int, text: str = "x" * 60) -> None:
    entities = [{"name": name, "observations": [text]} for name in names(count)]
    call(memory, "create_entities", entities=entities)


# The laws, on random graphs


def world(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return entities and relations of all sizes, a few of them too large for a result of the least size."""
    chance = random.Random(seed)

    def text(most: int) -> str:
        return "".join(chance.choices(CHARACTERS, k=chance.randint(0, most)))

    count, length, many = chance.randint(1, 60), chance.choice([5, 50, 300]), chance.choice([1, 3, 10])
    entities = []
    for number in range(count):
        huge, repeated = chance.choice([(200, 1), (1, 200)]) if chance.random() < 0.02 else (1, 1)
        texts = [f"n {text(length)}" * repeated for _ in range(chance.randint(0, many) * huge)]
        properties = {"k": text(length) * repeated} if chance.random() < 0.2 else None
        kind = chance.choice(["", "t", text(20)])
        entity = {"name": f"{number} {text(40)}", "entityType": kind, "properties": properties}
        entities.append({**entity, "observations": texts})
    ends = [(chance.randint(1, count), chance.randint(1, count)) for _ in range(chance.choice([0, count, 3 * count]))]
    relations = [
        {"from": begin, "to": end, "relationType": f"r{n}", "properties": {"k": text(length)} if n % 7 == 0 else None}
        for n, (begin, end) in enumerate(ends)
    ]
    return entities, relations


def pages(memory: MultiMemory, name: str, tool: str, **arguments: Any) -> Iterator[tuple[Graph, str]]:
    """Yield each page of a graph with the notice that tells of the next, going on as that says."""
    offset: int | None = 0
    while offset is not None:
        result = call(memory, tool, **arguments, offset=offset)
        told = next(iter(notices(result)), "")
        yield graph(result, name), told
        following = next(iter(re.findall(r"`offset (\d+)`", told)), None)
        assert following is None or int(following) > offset
        offset = None if following is None else int(following)


@settings(max_examples=30, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 1 << 32), limit=st.integers(LEAST, 60_000), name=st.sampled_from(FORMATS))
def test_every_result_fits_and_paging_finds_everything_once(seed: int, limit: int, name: str) -> None:
    entities, relations = world(seed)
    with memory(limit, name) as one:
        call(one, "create_entities", entities=entities)
        call(one, "create_relations", relations=relations)
        call(one, "create_entities", entities=entities)
        call(one, "open_nodes", entities=list(range(1, len(entities) + 50)))
        call(one, "open_nodes", entities=[{"name": entity["name"]} for entity in entities], related=True)
        ids = [str(number + 1) for number in range(len(entities))]
        read = list(pages(one, name, "read_graph"))
        assert [entity["id"] for page, _ in read for entity in page["entities"]] == ids
        found = [
            entity["id"] for page, _ in pages(one, name, "search_nodes", query="n*") for entity in page["entities"]
        ]
        assert (len(found), set(found)) == (len(set(found)), set(found) & set(ids))
        require_all_relations(read, relations)


def require_all_relations(read: list[tuple[Graph, str]], relations: list[dict[str, Any]]) -> None:
    """Require each relation once, with the entity that it comes from, but for those that were said to be cut."""
    seen = [relation for page, _ in read for relation in page["relations"]]
    assert len({relation["id"] for relation in seen}) == len(seen)
    for page, _ in read:
        assert {relation["fromId"] for relation in page["relations"]} <= {entity["id"] for entity in page["entities"]}
    parts = {page["entities"][0]["id"] for page, told in read if "a part of 1" in told}
    missing = {str(n + 1) for n in range(len(relations))} - {relation["id"] for relation in seen}
    assert {str(relations[int(id) - 1]["from"]) for id in missing} <= parts


# What is said


def test_a_page_says_how_many_of_how_many_and_how_to_go_on() -> None:
    with memory() as one:
        fill(one, 300)
        result = call(one, "read_graph")
        kept = len(graph(result)["entities"])
        assert notices(result) == [
            f"truncated: these are {kept} of 300: more wouldn't fit into one result; `offset {kept}` shows the next"
        ]
        assert 30 < kept < 300
        assert len(frame(result)) > LEAST * 0.75


@pytest.mark.parametrize("arguments", [{}, {"limit": 250}, {"limit": 5}, {"limit": 250, "offset": 290}])
def test_a_limit_of_the_request_is_kept_to(arguments: dict[str, int]) -> None:
    with memory() as one:
        fill(one, 300)
        result = call(one, "read_graph", **arguments)
        shown = [entity["name"] for entity in graph(result)["entities"]]
        start = arguments.get("offset", 0)
        assert shown == names(len(shown), start)
        assert len(shown) <= arguments.get("limit", 300)
        assert ["of 300" in line and f"`offset {start + len(shown)}` shows" in line for line in notices(result)] == [
            True
        ] * (start == 0)


@pytest.mark.parametrize("length", [1, 60, 900])
def test_names_alone_go_on_page_by_page(length: int) -> None:
    with memory() as one:
        every = [f"{number:0{length}}" for number in range(300)]
        call(one, "create_entities", entities=[{"name": name} for name in every])
        shown: list[str] = []
        for _ in range(50):
            result = call(one, "read_graph", names=True, offset=len(shown))
            shown += json.loads(result["content"][0]["text"])
            if not notices(result):
                break
            assert f"`offset {len(shown)}` shows the next" in notices(result)[0]
        assert shown == every


def test_a_search_goes_on_with_the_same_limit() -> None:
    with memory() as one:
        fill(one, 130)
        found = list(pages(one, "json", "search_nodes", query="x*", limit=60))
        shown = [entity["name"] for page, _ in found for entity in page["entities"]]
        assert sorted(shown) == sorted(names(130))
        assert re.match(r"truncated: these are \d+ of more than 60: ", found[0][1])
        assert found[-1][1] == ""


def test_a_search_tells_only_of_entities_that_it_shows() -> None:
    with memory() as one:
        many = [{"text": f"word {number} " + "x" * 200, "source": str(number)} for number in range(21)]
        call(one, "create_entities", entities=[{"name": name, "observations": many} for name in names(9)])
        result = call(one, "search_nodes", query="word", observations="auto")
        shown = [entity["name"] for entity in graph(result)["entities"]]
        told = [line for line in notices(result) if "has 21 observations" in line]
        assert all(any(f"'{name}'" in line for name in shown) for line in told)


def test_what_was_opened_and_doesnt_fit_is_named() -> None:
    with memory() as one:
        fill(one, 300)
        call(one, "create_relations", relations=[{"from": 1, "to": id, "relationType": "r"} for id in (2, 299, 300)])
        result = call(one, "open_nodes", entities=names(300))
        kept = len(graph(result)["entities"])
        assert f"these are {kept} of 300" in notices(result)[0]
        assert f"open the others in another call: id {kept + 1}, id {kept + 2}, " in notices(result)[0]
        assert f" and {300 - kept - 10} more" in notices(result)[0]
        assert [relation["to"] for relation in graph(result)["relations"]] == ["N1"]
        related = call(one, "open_nodes", entities=names(300), related=True)
        assert [relation["to"] for relation in graph(related)["relations"]] == ["N1", "N298", "N299"]


@pytest.mark.parametrize("tool", ["create_entities", "add_observations", "create_relations"])
def test_a_large_echo_is_cut_though_all_is_stored(tool: str) -> None:
    requests = {
        "create_entities": {"entities": [{"name": name} for name in names(500)]},
        "add_observations": {"observations": [{"entityName": name, "contents": ["x"]} for name in names(500)]},
        "create_relations": {"relations": [{"from": "N0", "to": name, "relationType": "r"} for name in names(500)]},
    }
    with memory() as one:
        result = call(one, "create_entities", **requests["create_entities"])
        if tool != "create_entities":
            result = call(one, tool, **requests[tool])
        kept = len(graph(result))
        left = "more wouldn't fit into one result; what isn't shown is stored all the same"
        assert notices(result) == [f"truncated: these are {kept} of 500: {left}"]


def test_categories_that_dont_fit_are_counted() -> None:
    with memory() as one:
        for number in range(60):
            one.store.delete("c") if number < 0 else call(
                one, "create_entities", category=f"{number:0200}", entities=[{"name": "A"}]
            )
        result = call(one, "list_categories")
        kept = len(graph(result))
        [line] = notices(result)
        assert line.startswith(f"truncated: these are {kept} of 60: more wouldn't fit into one result; a larger --max")


# One thing that is too large on its own

GIANTS: dict[str, dict[str, Any]] = {
    "many observations": {"observations": [f"text {number}" for number in range(2_000)]},
    "a giant text": {"observations": ["small", "x" * 50_000, "after"]},
    "giant properties": {"properties": {"k": "x" * 50_000}},
    "giant properties and texts": {"properties": {"k": "x" * 50_000}, "observations": ["x" * 50_000]},
    "escapes": {"observations": ['"\\\x01' * 5_000]},
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("giant", GIANTS.values(), ids=GIANTS)
def test_a_giant_is_shown_in_part_and_said(name: str, giant: dict[str, Any]) -> None:
    with memory(name=name) as one:
        echo = call(one, "create_entities", entities=[{"name": "giant", **giant}])
        assert notices(echo)[0].startswith("truncated: this is a part of 1 of 1, which is too large")
        call(one, "create_entities", entities=[{"name": "next"}])
        first, second = [page for page, _ in pages(one, name, "read_graph")]
        assert [entity["name"] for entity in first["entities"] + second["entities"]] == ["giant", "next"]
        opened = call(one, "open_nodes", entities=["giant"])
        assert "a larger --max-bytes of the server shows more of it" in notices(opened)[0]


def test_of_a_giant_as_many_observations_are_shown_as_fit() -> None:
    with memory() as one:
        call(one, "create_entities", entities=[{"name": "A", **GIANTS["many observations"]}])
        result = call(one, "read_graph")
        [entity] = graph(result)["entities"]
        assert [one["text"] for one in entity["observations"]] == [
            f"text {n}" for n in range(len(entity["observations"]))
        ]
        assert len(frame(result)) > LEAST * 0.85
        assert "`offset" not in notices(result)[0]


def test_an_entity_whose_relations_are_too_many_shows_the_first() -> None:
    with memory() as one:
        fill(one, 300, "x")
        call(one, "create_relations", relations=[{"from": 2, "to": id, "relationType": "r"} for id in range(1, 301)])
        read = list(pages(one, "json", "read_graph"))
        assert [entity["name"] for page, _ in read for entity in page["entities"]] == names(300)
        assert [relation["to"] for relation in read[1][0]["relations"]][:5] == names(5)
        assert "this is a part of 1 of 300" in read[1][1]


@pytest.mark.parametrize("name", FORMATS)
def test_a_name_that_is_too_large_for_any_result_is_left_out(name: str) -> None:
    with memory(name=name) as one:
        giant = {"name": '"\\' * 500, "entityType": '\\"' * 500}
        call(one, "create_entities", entities=[{"name": "A"}, giant, {"name": "B"}])
        call(one, "create_relations", relations=[{"from": 2, "to": 2, "relationType": '"' * 1_000}])
        call(one, "create_relations", relations=[{"from": 2, "to": 2, "relationType": '"' * 1_000}])
        call(one, "open_nodes", entities=[giant, {**giant, "entityType": "x"}])
        read = list(pages(one, name, "read_graph"))
        shown = [entity["name"] for page, _ in read for entity in page["entities"]]
        assert [one for one in shown if len(one) == 1] == ["A", "B"]


def test_a_category_as_a_resource_is_cut_too() -> None:
    with memory() as one:
        fill(one, 300)
        text, told = one.graph_text("default")
        read = json.loads(text)
        contents = [{"uri": "memory://default", "mimeType": "application/json", "text": part} for part in (text, told)]
        assert len(frame({"contents": contents})) <= LEAST
        assert told == (
            f"these are {len(read['entities'])} of 300: more wouldn't fit into one result; "
            "read_graph shows the others with `limit` and `offset`"
        )


def test_a_resource_that_fits_is_whole() -> None:
    with memory() as one:
        fill(one, 3)
        text, told = one.graph_text("default")
        assert (json.loads(text), told) == (graph(call(one, "read_graph")), None)


# Notices beside a result


def test_the_notice_of_the_cut_comes_first_and_the_others_leave_room() -> None:
    with memory() as one:
        skipped = [{"name": f"{number}" * 200} for number in range(100, 400)]
        call(one, "create_entities", entities=skipped)
        result = call(one, "create_entities", entities=[*skipped, *({"name": name} for name in names(300))])
        told = notices(result)
        assert told[0].startswith("truncated: these are ")
        assert told[1].startswith("skipped: $.entities[0]")
        assert told[-1] == f"skipped: {300 - len(told) + 2} more"


@pytest.mark.parametrize("tool", ["open_nodes", "delete_entities"])
def test_thousands_of_notices_are_counted(tool: str) -> None:
    with memory() as one:
        fill(one, 1)
        told = notices(call(one, tool, entities=[f"nobody {number}" for number in range(5_000)]))
        assert told[:-1] == [line for line in told if line.startswith("not_found: $.entities[")]
        assert told[-1] == f"not_found: {5_001 - len(told)} more"


def test_an_error_that_names_thousands_fits() -> None:
    with memory() as one:
        fill(one, 1)
        relations = [{"from": f"nobody {number}", "to": 1, "relationType": "r"} for number in range(2_000)]
        error = json.loads(call(one, "create_relations", relations=relations)["content"][0]["text"])
        assert error["error"].startswith("$.relations[0].from: no entity 'nobody 0'")
        assert error["error"].endswith("(nothing was written)")


def test_with_room_for_it_nothing_is_cut() -> None:
    with memory(900_000) as one:
        fill(one, 2_000)
        result = call(one, "read_graph")
        assert (len(graph(result)["entities"]), notices(result)) == (2_000, [])

"""Reading: whole graphs, pages, chosen entities; categories that aren't there; rows another program left."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mmem.errors import InvalidArguments, NotFound

Ask = Callable[..., Any]

EMPTY = '{"entities":[],"relations":[]}'
THEN = "2025-11-19T10:00:00Z"


def written(result: object) -> str:
    """Return the JSON text of a result: the order of keys counts."""
    return msgspec.json.encode(result).decode()


def ids(graph: Any) -> tuple[list[str], list[str]]:
    return [entity.id for entity in graph.entities], [relation.id for relation in graph.relations]


@pytest.fixture
def five(ask: Ask) -> Ask:
    """Entities 1 to 5 in a ring (relations 1 to 5), a chord from 4 to 2 (6) and a loop at 3 (7)."""
    ask("create_entities", entities=[{"name": f"n{i}", "observations": [f"text {i}"]} for i in range(1, 6)])
    ends = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 1), (4, 2), (3, 3)]
    ask("create_relations", relations=[{"from": f, "to": t, "relationType": "r"} for f, t in ends])
    return ask


def test_a_graph_reads_as_documented(ask: Ask) -> None:
    observation = {"text": "Manages user data", "timestamp": THEN}
    user = {"name": "UserService", "entityType": "service", "observations": [observation]}
    api = {"name": "APIController", "entityType": "controller", "observations": []}
    relation = {"from": "APIController", "fromType": "controller", "to": "UserService", "toType": "service"}
    ask("create_entities", category="work", entities=[user, api])
    ends = {"from": {"name": "APIController", "type": "controller"}, "to": {"name": "UserService", "type": "service"}}
    ask("create_relations", category="work", relations=[{**ends, "relationType": "uses"}])
    entities = [{"id": "1", **user, "observations": [{"id": "1", **observation}]}, {"id": "2", **api}]
    relations = [{"id": "1", **relation, "relationType": "uses", "fromId": "2", "toId": "1"}]
    documented = json.dumps({"entities": entities, "relations": relations}, separators=(",", ":"))
    assert written(ask("read_graph", category="work").result) == documented
    by_name = [{"name": "UserService", "entityType": "service"}, {"name": "APIController", "entityType": "controller"}]
    assert written(ask("open_nodes", category="work", entities=by_name).result) == documented
    found = json.dumps({"entities": entities[:1], "relations": relations}, separators=(",", ":"))
    assert written(ask("search_nodes", category="work", query="manages").result) == found


PAGES = [
    ({}, ["1", "2", "3", "4", "5"], ["1", "2", "3", "4", "5", "6", "7"], None),
    ({"limit": None, "offset": None}, ["1", "2", "3", "4", "5"], ["1", "2", "3", "4", "5", "6", "7"], None),
    ({"limit": 2}, ["1", "2"], ["1", "2"], 2),
    ({"limit": 2, "offset": 2}, ["3", "4"], ["3", "4", "6", "7"], 4),
    ({"limit": 2, "offset": 3}, ["4", "5"], ["4", "5", "6"], None),
    ({"limit": 2, "offset": 4}, ["5"], ["5"], None),
    ({"offset": 4}, ["5"], ["5"], None),
    ({"offset": 5}, [], [], None),
    ({"limit": 100_000, "offset": 10**12}, [], [], None),
]


@pytest.mark.parametrize(("page", "entities", "relations", "following"), PAGES)
def test_a_page_counts_entities_and_carries_the_relations_that_begin_on_it(
    five: Ask, page: dict[str, int], entities: list[str], relations: list[str], following: int | None
) -> None:
    outcome = five("read_graph", **page)
    assert ids(outcome.result) == (entities, relations)
    assert all(len(entity.observations) == 1 for entity in outcome.result.entities)
    details = [(n.code, n.details["total"], n.details["nextOffset"]) for n in outcome.notices]
    assert details == ([("truncated", 5, following)] if following else [])


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_graph", {"limit": 0}),
        ("read_graph", {"limit": 100_001}),
        ("read_graph", {"limit": -1}),
        ("read_graph", {"limit": 2**63}),
        ("read_graph", {"offset": -1}),
        ("read_graph", {"offset": 2**63}),
        ("search_nodes", {"query": "x", "limit": 0}),
        ("search_nodes", {"query": "x", "limit": 100_001}),
    ],
)
def test_a_limit_is_1_to_100_000_and_an_offset_not_negative(ask: Ask, tool: str, arguments: Any) -> None:
    with pytest.raises(InvalidArguments, match=r"^\$\.(limit|offset)"):
        ask(tool, **arguments)


OPENED = [
    ([3, 1, 2], {}, ["3", "1", "2"], ["1", "2", "7"]),
    ([3, 1, "n3", {"id": "1"}], {}, ["3", "1"], ["7"]),
    ([4, 2], {"related": False}, ["4", "2"], ["6"]),
    ([4], {"related": True}, ["4"], ["3", "4", "6"]),
    ([3, 4], {"related": True}, ["3", "4"], ["2", "3", "4", "6", "7"]),
    ([], {}, [], []),
    ([], {"related": True}, [], []),
]


@pytest.mark.parametrize(("asked", "options", "entities", "relations"), OPENED)
def test_opened_entities_come_in_the_order_asked_each_once(
    five: Ask, asked: list[Any], options: Any, entities: object, relations: object
) -> None:
    outcome = five("open_nodes", entities=asked, **options)
    assert ids(outcome.result) == (entities, relations)
    assert outcome.notices == []


def test_a_missing_entity_is_a_notice_beside_what_was_found(five: Ask) -> None:
    outcome = five("open_nodes", entities=["n1", "N2", 9, "n3"])
    assert ids(outcome.result) == (["1", "3"], ["7"])
    assert [(n.code, n.details["path"]) for n in outcome.notices] == [
        ("not_found", "$.entities[1]"),
        ("not_found", "$.entities[2]"),
    ]
    assert "did you mean 'n2'" in outcome.notices[0].message


@pytest.mark.parametrize("value", [2**64 - 1, -(2**63), 0.1, 1e300, True, None, "\u2028", "e\u0301", {}])
def test_every_json_value_comes_back_as_it_was(ask: Ask, value: object) -> None:
    ask("create_entities", entities=[{"name": "A", "properties": {"k": [value]}}])
    assert ask("read_graph").result.entities[0].properties == {"k": [value]}


READS = [("read_graph", {}), ("open_nodes", {"entities": ["A"]}), ("search_nodes", {"query": "A"})]
EMPTY_WRITES = [
    ("create_entities", {"entities": []}),
    ("create_relations", {"relations": []}),
    ("add_observations", {"observations": []}),
    ("delete_entities", {"entities": ["A"]}),
    ("delete_observations", {"deletions": [{"id": 1}]}),
    ("delete_relations", {"relations": [{"id": 1}]}),
]
FAILING_WRITES = [
    ("create_relations", {"relations": [{"from": "A", "to": "B", "relationType": "r"}]}),
    ("add_observations", {"observations": [{"entityName": "A", "contents": ["x"]}]}),
]


@pytest.mark.parametrize(("tool", "arguments"), READS)
def test_a_missing_category_reads_as_empty_and_names_the_nearest(ask: Ask, tool: str, arguments: Any) -> None:
    ask("create_entities", category="work", entities=[{"name": "A"}])
    outcome = ask(tool, category="wrok", **arguments)
    assert written(outcome.result) == EMPTY
    notice = outcome.notices[0]
    assert (notice.code, notice.details["category"], notice.details["nearest"]) == (
        "no_such_category",
        "wrok",
        ["work"],
    )
    assert "did you mean 'work'" in notice.message
    assert ask("list_categories").result == ["work"]


@pytest.mark.parametrize(("tool", "arguments"), [*READS, *EMPTY_WRITES])
def test_only_a_write_that_stores_something_creates_a_category(
    ask: Ask, base: Path, tool: str, arguments: dict[str, object]
) -> None:
    assert "no_such_category" in [notice.code for notice in ask(tool, **arguments).notices]
    assert not base.exists()


@pytest.mark.parametrize(("tool", "arguments"), FAILING_WRITES)
def test_a_write_that_fails_in_a_missing_category_creates_none(ask: Ask, base: Path, tool: str, arguments: Any) -> None:
    with pytest.raises(NotFound, match="in category 'wrok'"):
        ask(tool, category="wrok", **arguments)
    assert not base.exists()


@pytest.mark.parametrize("tool", ["read_graph", "create_entities"])
@pytest.mark.parametrize("name", ["../x", "a/b", "A", "work\n", ".", "é", "a b", "x" * 201, "con", "lpt1", "%2e"])
def test_what_isn_t_a_category_s_name_is_refused(ask: Ask, base: Path, tool: str, name: str) -> None:
    arguments = {"entities": [{"name": "A"}]} if tool == "create_entities" else {}
    with pytest.raises(InvalidArguments, match="category"):
        ask(tool, category=name, **arguments)
    assert not base.exists()


@pytest.mark.parametrize("name", ["work", "a", "0", "_-", "x" * 200, "null", "com", "console"])
def test_a_category_s_name_is_lowercase_letters_digits_hyphens_and_underscores(ask: Ask, name: str) -> None:
    ask("create_entities", category=name, entities=[{"name": "A"}])
    assert ask("list_categories").result == [name]


def test_missing_null_and_empty_category_mean_the_default(ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "A"}])
    for category in (None, ""):
        assert ids(ask("read_graph", category=category).result) == (["1"], [])


def test_categories_are_sorted_and_other_files_are_not_among_them(ask: Ask, base: Path) -> None:
    for name in ("work", "b-2", "alpha"):
        ask("create_entities", category=name, entities=[{"name": "A"}])
    (base / "empty.db").touch()
    (base / "folder.db").mkdir()
    (base / "notes.db").write_text("not a database, just a text of some length")
    (base / "Upper.db").write_bytes((base / "work.db").read_bytes())
    with closing(sqlite3.connect(base / "other.db")) as conn:
        conn.execute("CREATE TABLE entities (id INTEGER)")
    before = {path.name: path.read_bytes() for path in base.glob("[Unoe]*.db")}
    assert ask("list_categories").result == ["alpha", "b-2", "work"]
    assert {path.name: path.read_bytes() for path in base.glob("[Unoe]*.db")} == before


ODD = [('{"k": 1}', {"k": 1}), ("{}", None), ("", None), (None, None)] + [
    (odd, {"_value": shown})
    for odd, shown in (
        ("[1, 2]", [1, 2]),
        ("7", 7),
        ('"text"', "text"),
        ("null", None),
        ("no JSON", "no JSON"),
        ("{", "{"),
    )
]


@pytest.mark.parametrize(("stored", "shown"), ODD)
def test_properties_that_are_no_object_are_shown_and_said(five: Ask, store: Any, stored: Any, shown: Any) -> None:
    with store.writing(None) as transaction:
        for table in ("entities", "observations", "relations"):
            transaction.conn.execute(f"UPDATE {table} SET properties = ? WHERE id = 1", (stored,))
    outcome = five("read_graph", limit=1)
    entity, relation = outcome.result.entities[0], outcome.result.relations[0]
    assert [entity.properties, entity.observations[0].properties, relation.properties] == [shown] * 3
    repaired = [n.details for n in outcome.notices if n.code == "repaired"]
    kinds = ("entity", "observation", "relation")
    assert repaired == ([{"kind": kind, "id": "1"} for kind in kinds] if shown and "_value" in shown else [])


def test_a_row_without_a_timestamp_is_shown_without_one(five: Ask, store: Any) -> None:
    with store.writing(None) as transaction:
        transaction.conn.execute("UPDATE observations SET timestamp = NULL WHERE id = 1")
    observation = five("open_nodes", entities=[1]).result.entities[0].observations[0]
    assert written(observation) == '{"id":"1","text":"text 1"}'

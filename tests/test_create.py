"""Creating entities: what is new, what exists, what replaces what, and what a name may be."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mmem.errors import InvalidArguments

Ask = Callable[..., Any]

NFD, NFC = "cafe\u0301", "caf\u00e9"
THEN = "2025-11-19T10:00:00Z"
MIB = 1 << 20
USER_SERVICE: dict[str, Any] = {
    "name": "UserService",
    "entityType": "service",
    "properties": {"filePath": "/src/services/user.ts", "tags": ["core", "authentication"]},
    "observations": [
        {
            "observationType": "description",
            "text": "Manages user data",
            "timestamp": THEN,
            "source": "code-analysis",
            "properties": {"confidence": 0.95, "lineNumber": 42},
        }
    ],
}


def written(result: object) -> str:
    """Return the JSON text of a result: the order of keys counts."""
    return msgspec.json.encode(result).decode()


def expected(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def codes(outcome: Any) -> list[str]:
    return [notice.code for notice in outcome.notices]


def named(*names: str) -> list[dict[str, str]]:
    return [{"name": name} for name in names]


@pytest.fixture
def sql(base: Path) -> Callable[[str], list[Any]]:
    """Run SQL on the default category, as another program would."""

    def run(statement: str) -> list[Any]:
        with closing(sqlite3.connect(base / "default.db")) as conn, conn:
            return conn.execute(statement).fetchall()

    return run


def test_a_created_entity_comes_back_as_documented(ask: Ask) -> None:
    outcome = ask("create_entities", category="work", override=False, entities=[USER_SERVICE])
    stored = {"id": "1", **USER_SERVICE, "observations": [{"id": "1", **USER_SERVICE["observations"][0]}]}
    assert written(outcome.result) == expected([stored])
    assert outcome.notices == []


@pytest.mark.parametrize("given", [{}, {"entityType": "", "properties": {}, "observations": []}])
def test_empty_keys_are_left_out_but_type_and_observations_stay(ask: Ask, given: dict[str, object]) -> None:
    outcome = ask("create_entities", entities=[{"name": "A", **given}])
    assert written(outcome.result) == '[{"id":"1","name":"A","entityType":"","observations":[]}]'


def test_an_entity_is_unique_by_name_and_type(ask: Ask) -> None:
    outcome = ask("create_entities", entities=[{"name": "A"}, {"name": "A", "entityType": "t"}])
    assert [entity.id for entity in outcome.result] == ["1", "2"]
    assert outcome.notices == []


def test_an_id_is_never_given_twice(ask: Ask) -> None:
    ask("create_entities", entities=named("A", "B"))
    ask("delete_entities", entities=["B"])
    assert ask("create_entities", entities=named("C")).result[0].id == "3"


def test_an_entity_that_exists_is_skipped_and_its_observations_too(ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "A", "observations": ["x"]}])
    outcome = ask("create_entities", entities=[{"name": "A", "observations": ["y", "z"]}])
    (notice,) = outcome.notices
    assert outcome.result == []
    assert (notice.code, notice.details["id"], notice.details["observationsNotStored"]) == ("skipped", "1", 2)
    assert all(
        part in notice.message for part in ("'A'", "2 observations weren't stored", "add_observations", "override")
    )
    assert [o.text for o in ask("read_graph").result.entities[0].observations] == ["x"]


def test_the_second_of_two_equal_entities_counts_as_existing(ask: Ask) -> None:
    twice = [{"name": NFC, "observations": ["x"]}, {"name": NFD, "observations": ["y"]}]
    outcome = ask("create_entities", entities=twice)
    assert [(entity.name, entity.observations[0].text) for entity in outcome.result] == [(NFC, "x")]
    assert [(notice.code, notice.details["path"]) for notice in outcome.notices] == [("skipped", "$.entities[1]")]


def test_override_replaces_properties_and_observations_and_says_how_many_went(
    ask: Ask, sql: Callable[..., Any]
) -> None:
    ask("create_entities", entities=[USER_SERVICE, {"name": "B"}])
    ask("create_relations", relations=[{"from": "UserService", "to": "B", "relationType": "r"}])
    sql("UPDATE entities SET created_at = 5, updated_at = 5")
    outcome = ask(
        "create_entities",
        override=True,
        entities=[{"name": "UserService", "entityType": "service", "observations": ["now"]}],
    )
    (notice,) = outcome.notices
    assert (notice.code, notice.details["id"], notice.details["replacedObservations"]) == ("replaced", "1", 1)
    graph = ask("read_graph").result
    assert graph.entities[0] == outcome.result[0]
    assert (graph.entities[0].id, graph.entities[0].properties) == ("1", None)
    assert [o.text for o in graph.entities[0].observations] == ["now"]
    assert [relation.from_id for relation in graph.relations] == ["1"]
    assert sql("SELECT created_at, updated_at > 5 FROM entities WHERE id = 1") == [(5, 1)]


@pytest.mark.parametrize(("first", "went"), [([], 0), (["x"], 1), (["x", "y"], 2), (["x", "x"], 1)])
def test_override_within_a_request_keeps_the_last_and_says_what_went(ask: Ask, first: list[str], went: int) -> None:
    entities = [{"name": "A", "observations": first}, {"name": "A", "observations": ["z"]}]
    outcome = ask("create_entities", override=True, entities=entities)
    assert [(e.id, [o.text for o in e.observations]) for e in outcome.result] == [("1", ["z"])]
    assert outcome.notices[0].details["replacedObservations"] == went
    assert ask("read_graph").result.entities == outcome.result


def test_old_texts_of_a_replaced_entity_are_not_found(ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "A", "observations": ["zebra"], "properties": {"k": "lion"}}])
    ask("create_entities", override=True, entities=[{"name": "A", "observations": ["tiger"]}])
    found = {word: len(ask("search_nodes", query=word).result.entities) for word in ("zebra", "lion", "tiger")}
    assert found == {"zebra": 0, "lion": 0, "tiger": 1}


def test_the_result_holds_what_was_stored_in_the_order_asked(ask: Ask) -> None:
    ask("create_entities", entities=named("old", "kept"))
    outcome = ask("create_entities", override=True, entities=named("new1", "old", "new2"))
    assert [(entity.id, entity.name) for entity in outcome.result] == [("3", "new1"), ("1", "old"), ("4", "new2")]


@pytest.mark.parametrize("key", ["name", "entityType"])
def test_names_and_types_are_stored_in_nfc(ask: Ask, key: str, sql: Callable[..., Any]) -> None:
    ask("create_entities", entities=[{"name": "A", key: NFD}])
    column = {"name": "name", "entityType": "entity_type"}[key]
    assert sql(f"SELECT {column} FROM entities") == [(NFC,)]


@pytest.mark.parametrize("character", ["x", "\u00e9", "\U0001f600"])
@pytest.mark.parametrize("path", ["$.entities[0].name", "$.entities[0].entityType", "$.relations[0].relationType"])
def test_names_and_types_have_at_most_1_000_characters(ask: Ask, path: str, character: str) -> None:
    ask("create_entities", entities=named("A"))
    kind, key = path[2:].split("[0].")
    rest = {"entities": {"name": "B"}, "relations": {"from": "A", "to": "A"}}[kind]
    ask(f"create_{kind}", **{kind: [{**rest, key: character * 1000}]})
    with pytest.raises(InvalidArguments, match="1,000") as raised:
        ask(f"create_{kind}", **{kind: [{**rest, key: character * 1001}]})
    assert raised.value.details["path"] == path


def test_a_stored_name_is_never_longer_than_a_name_may_be(ask: Ask) -> None:
    grows = "\u0958" * 1000  # in NFC each is two characters
    with pytest.raises(InvalidArguments):
        ask("create_entities", entities=named(grows))


@pytest.mark.parametrize("name", ["", " ", "\t\n", "\u00a0"])
def test_a_name_can_t_be_blank(ask: Ask, name: str) -> None:
    with pytest.raises(InvalidArguments, match="empty"):
        ask("create_entities", entities=named("A", name))
    assert ask("list_categories").result == []


@pytest.mark.parametrize("character", ["x", "\u00e9", "\U0001f600"])
def test_properties_have_at_most_one_mebibyte_as_json(ask: Ask, character: str) -> None:
    size, room = len(character.encode()), MIB - len('{"k":""}')
    longest = character * (room // size) + "x" * (room % size)
    ask("create_entities", entities=[{"name": "A", "properties": {"k": longest}}])
    assert ask("read_graph").result.entities[0].properties == {"k": longest}
    with pytest.raises(InvalidArguments, match="1,048,577 bytes"):
        ask("create_entities", entities=[{"name": "B", "properties": {"k": longest + "x"}}])


TWINS = [
    ("UserService", "user_service"),
    ("UserService", "User-Service"),
    ("Nora", "NORA"),
    ("straße", "STRASSE"),
    ("file", "\ufb01le"),
    ("a1", "\uff21\uff11"),
    ("a b", "a\u00a0b"),
    ("caf\u00e9", "CAFE\u0301"),
]


@pytest.mark.parametrize(("old", "new"), TWINS)
def test_a_near_twin_is_said_and_created(ask: Ask, old: str, new: str) -> None:
    ask("create_entities", entities=named(old))
    outcome = ask("create_entities", entities=[{"name": new, "entityType": "t"}])
    assert [(n.code, n.details["id"], n.details["twinId"]) for n in outcome.notices] == [("near_twin", "2", "1")]
    assert f"'{old}'" in outcome.notices[0].message
    assert len(outcome.result) == 1


@pytest.mark.parametrize(("old", "new"), [("a.b", "ab"), ("caf\u00e9", "cafe"), ("A", "A"), ("A1", "A2")])
def test_other_names_and_the_same_name_of_another_type_are_no_near_twins(ask: Ask, old: str, new: str) -> None:
    ask("create_entities", entities=named(old))
    assert ask("create_entities", entities=[{"name": new, "entityType": "t"}]).notices == []


def test_near_twins_are_seen_within_a_request(ask: Ask) -> None:
    outcome = ask("create_entities", entities=named("user service", "UserService"))
    assert [(n.code, n.details["path"]) for n in outcome.notices] == [("near_twin", "$.entities[1]")]


@pytest.mark.parametrize(
    "by_another_program",
    [
        "INSERT INTO entities(name, entity_type) VALUES ('User Service', 't')",
        "UPDATE entities SET name = 'User Service' WHERE id = 1",
    ],
)
def test_near_twins_of_names_that_another_program_wrote_are_seen(
    ask: Ask, sql: Callable[..., Any], by_another_program: str
) -> None:
    ask("create_entities", entities=named("first", "second"))
    sql(by_another_program)
    assert codes(ask("create_entities", entities=named("user-service"))) == ["near_twin"]


@pytest.mark.parametrize(("new", "said"), [(20, ["near_twin"]), (21, [])])
def test_near_twins_are_looked_for_up_to_twenty_new_entities(ask: Ask, new: int, said: list[str]) -> None:
    ask("create_entities", entities=named("nora"))
    outcome = ask("create_entities", entities=named("nora", "Nora", *(f"n{i}" for i in range(new - 1))))
    assert codes(outcome) == ["skipped", *said]

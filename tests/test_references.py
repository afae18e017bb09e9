"""How a request names entities, and the relations that it makes between them."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from mmem.errors import Ambiguous, InvalidArguments, NotFound

Ask = Callable[..., Any]

NFD, NFC = "cafe\u0301", "caf\u00e9"
ENDS = [{"name": "UserService", "entityType": "service"}, {"name": "APIController", "entityType": "controller"}]
USES = {
    "from": {"name": "APIController", "type": "controller"},
    "to": {"name": "UserService", "type": "service"},
    "relationType": "uses",
    "properties": {"weight": 0.8, "since": "2024-01-01"},
}


@pytest.fixture
def world(ask: Ask) -> Ask:
    """Seven entities; `7` is a name, `shared` has three types, `both` a type and none."""
    entities = [("plain", ""), ("typed", "t"), ("7", ""), ("both", ""), ("both", "t"), ("shared", "a"), ("shared", "b")]
    ask("create_entities", entities=[{"name": name, "entityType": kind} for name, kind in [*entities, (NFC, NFD)]])
    return ask


def opened(ask: Ask, reference: object) -> str | None:
    """Return the id of the entity that a reference means, None where it means none."""
    outcome = ask("open_nodes", entities=[reference])
    assert [notice.code for notice in outcome.notices] == ([] if outcome.result.entities else ["not_found"])
    return next((entity.id for entity in outcome.result.entities), None)


MEANT = [
    (1, "1"),
    ({"id": 1}, "1"),
    ({"id": "1"}, "1"),
    ({"id": "01"}, "1"),
    ("1", None),
    ("7", "3"),
    (7, "7"),
    ("plain", "1"),
    ({"name": "plain"}, "1"),
    ({"name": "plain", "entityType": ""}, "1"),
    ({"name": "plain", "entityType": None}, "1"),
    ({"name": "plain", "entityType": "t"}, None),
    ("typed", "2"),
    ({"name": "typed", "entityType": "t"}, "2"),
    ({"name": "typed", "entityType": ""}, None),
    ("both", "4"),
    ({"name": "both", "entityType": ""}, "4"),
    ({"name": "both", "entityType": "t"}, "5"),
    ({"name": "shared", "entityType": "b"}, "7"),
    ({"id": 1, "name": "plain"}, "1"),
    ({"id": 1, "name": "typed"}, None),
    ({"id": 2, "entityType": "t"}, "2"),
    ({"id": 2, "entityType": ""}, None),
    ({"id": 8, "name": NFD, "entityType": NFD}, "8"),
    (NFD, "8"),
    (NFC, "8"),
    ({"name": NFD, "entityType": NFD}, "8"),
    ({"name": NFC, "entityType": NFC}, "8"),
    ("Plain", None),
    ("plain ", None),
    ("", None),
    (0, None),
    (99, None),
    ({"id": "999999999999999999"}, None),
]


@pytest.mark.parametrize(("reference", "id"), MEANT)
def test_a_reference_means_exactly_one_entity_or_none(world: Ask, reference: object, id: str | None) -> None:
    assert opened(world, reference) == id


@pytest.mark.parametrize("type_key", ["type", "entityType"])
@pytest.mark.parametrize(("reference", "id"), MEANT)
def test_a_relation_s_end_is_the_same(world: Ask, reference: Any, id: str | None, type_key: str) -> None:
    if isinstance(reference, dict):
        reference = {type_key if key == "entityType" else key: value for key, value in reference.items()}
    relation = {"from": reference, "to": 1, "relationType": "r"}
    if id is None:
        with pytest.raises(NotFound):
            world("create_relations", relations=[relation])
    else:
        assert world("create_relations", relations=[relation]).result[0].from_id == id


AMBIGUOUS = [
    ("open_nodes", {"entities": ["plain", "shared"]}, "$.entities[1]"),
    ("open_nodes", {"entities": [{"name": "shared", "entityType": None}]}, "$.entities[0]"),
    ("add_observations", {"observations": [{"entityName": "shared", "contents": ["x"]}]}, "$.observations[0]"),
    ("create_relations", {"relations": [{"from": 1, "to": "shared", "relationType": "r"}]}, "$.relations[0].to"),
]


@pytest.mark.parametrize(("tool", "arguments", "path"), AMBIGUOUS)
def test_a_name_that_several_types_share_is_ambiguous(world: Ask, tool: str, arguments: Any, path: str) -> None:
    with pytest.raises(Ambiguous) as raised:
        world(tool, **arguments)
    assert raised.value.details["path"] == path
    assert raised.value.details["candidates"] == [{"id": "6", "entityType": "a"}, {"id": "7", "entityType": "b"}]
    assert raised.value.message.startswith(path)
    assert all(part in raised.value.message for part in ("'a' (id 6)", "'b' (id 7)"))


def test_a_name_in_another_spelling_is_suggested_and_never_taken(world: Ask) -> None:
    (notice,) = world("open_nodes", entities=["PLAIN"]).notices
    assert "'plain'" in notice.message
    assert (notice.details["path"], notice.details["name"]) == ("$.entities[0]", "PLAIN")


def test_another_type_of_a_missing_name_is_listed(world: Ask) -> None:
    (notice,) = world("open_nodes", entities=[{"name": "typed", "entityType": "x"}]).notices
    assert (notice.details["candidates"], "'t' (id 2)" in notice.message) == ([{"id": "2", "entityType": "t"}], True)


@pytest.mark.parametrize("reference", [{"id": 1, "name": "typed"}, {"id": 1, "entityType": "t"}])
def test_an_id_that_contradicts_the_rest_is_said_to_do_so(world: Ask, reference: dict[str, object]) -> None:
    (notice,) = world("open_nodes", entities=[reference]).notices
    assert "no entity has" not in notice.message


def test_what_another_program_stored_in_nfd_is_found_as_it_was_given(world: Ask, store: Any) -> None:
    with store.writing(None) as transaction:
        transaction.conn.execute("INSERT INTO entities(name, entity_type) VALUES (?, '')", (NFD,))
    assert opened(world, {"name": NFD, "entityType": ""}) == "9"
    assert opened(world, {"name": NFC, "entityType": ""}) is None
    assert world("create_entities", entities=[{"name": NFD}]).notices[0].details["id"] == "9"


REFUSED = [
    ({}, "by id, or by name"),
    ({"id": ""}, "an id is a number"),
    ({"id": "1.0"}, "an id is a number"),
    ({"id": "\u0661"}, "an id is a number"),
    ({"id": -1}, "an id is a number"),
    ({"id": True}, "true or false"),
    (1.5, "not a number"),
    (None, "not null"),
    (["plain"], "not an array"),
    ({"name": "x" * 1001}, "1,000"),
    ("x" * 1001, "1,000"),
    ({"name": "plain", "entityTyp": "t"}, "entityTyp"),
]


@pytest.mark.parametrize(("reference", "why"), REFUSED)
def test_what_is_no_reference_is_refused(world: Ask, reference: object, why: str) -> None:
    for tool in ("open_nodes", "delete_entities"):
        with pytest.raises(InvalidArguments) as raised:
            world(tool, entities=["plain", reference])
        assert raised.value.message.startswith("$.entities[1]")
        assert why in raised.value.message


def test_an_end_whose_type_and_entity_type_differ_is_refused(world: Ask) -> None:
    end = {"id": 2, "type": "t", "entityType": "u"}
    with pytest.raises(InvalidArguments, match=r"^\$\.relations\[0\]\.from"):
        world("create_relations", relations=[{"from": end, "to": 1, "relationType": "r"}])


@pytest.mark.parametrize("id", [2, "2"])
def test_add_observations_takes_an_id_and_checks_it_against_the_name(world: Ask, id: object) -> None:
    (added,) = world("add_observations", observations=[{"entityId": id, "contents": ["x"]}]).result
    assert (added.entity_id, added.entity_name, added.entity_type) == ("2", "typed", "t")
    with pytest.raises(NotFound, match="isn't 'plain'"):
        world("add_observations", observations=[{"entityId": id, "entityName": "plain", "contents": ["y"]}])


@pytest.mark.parametrize(
    "ends",
    [
        {"from": USES["from"], "to": USES["to"]},
        {"from": {"id": "2"}, "to": {"id": "1"}},
        {"from": {"id": "2"}, "to": USES["to"]},
        {"from": {"name": "APIController", "entityType": "controller"}, "to": 1},
        {"from": "APIController", "to": "UserService"},
    ],
)
def test_a_created_relation_comes_back_as_documented_however_its_ends_are_named(ask: Ask, ends: dict[str, Any]) -> None:
    ask("create_entities", entities=ENDS)
    stored = {"id": "1", "from": "APIController", "fromType": "controller", "to": "UserService", "toType": "service"}
    stored |= {"relationType": "uses", "properties": USES["properties"], "fromId": "2", "toId": "1"}
    result = ask("create_relations", relations=[{**USES, **ends}]).result
    assert msgspec.json.encode(result).decode() == json.dumps([stored], separators=(",", ":"))


def test_a_relation_to_a_missing_entity_writes_nothing_and_names_every_missing_end(ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "A"}])
    pairs = [("A", "A"), ("A", "Q"), ("R", "S")]
    with pytest.raises(NotFound) as raised:
        ask("create_relations", relations=[{"from": f, "to": t, "relationType": "r"} for f, t in pairs])
    missing = [(one["path"], one["name"]) for one in raised.value.details["missing"]]
    assert missing == [("$.relations[1].to", "Q"), ("$.relations[2].from", "R"), ("$.relations[2].to", "S")]
    assert all(f"{path}: no entity '{name}'" in raised.value.message for path, name in missing)
    assert ask("read_graph").result.relations == []


@pytest.fixture
def related(ask: Ask) -> Ask:
    """A function that creates relations between A and B, and the relation `A r B` with properties."""
    ask("create_entities", entities=[{"name": "A"}, {"name": "B"}])

    def relate(*relations: dict[str, Any], **options: bool) -> Any:
        ends = {"from": "A", "to": "B", "relationType": "r"}
        return ask("create_relations", relations=[{**ends, **relation} for relation in relations], **options)

    relate({"properties": {"old": 1}})
    return relate


def test_a_relation_that_exists_is_skipped(related: Ask, ask: Ask) -> None:
    outcome = related({"properties": {"new": 1}}, {"relationType": "s"}, {"relationType": "s"})
    assert [relation.relation_type for relation in outcome.result] == ["s"]
    assert [(n.code, n.details["path"], n.details["id"]) for n in outcome.notices] == [
        ("skipped", "$.relations[0]", "1"),
        ("skipped", "$.relations[2]", "2"),
    ]
    assert "the new properties weren't stored" in outcome.notices[0].message
    assert ask("read_graph").result.relations[0].properties == {"old": 1}


@pytest.mark.parametrize("properties", [{"new": 1}, None])
def test_override_replaces_the_properties_of_a_relation(related: Ask, ask: Ask, properties: Any) -> None:
    outcome = related({"properties": {"between": 1}}, {"properties": properties}, override=True)
    assert [(relation.id, relation.properties) for relation in outcome.result] == [("1", properties)]
    assert [notice.code for notice in outcome.notices] == ["replaced", "replaced"]
    assert ask("read_graph").result.relations == outcome.result


def test_a_relation_is_directed_and_unique_by_its_type_in_nfc(related: Ask) -> None:
    outcome = related({"from": "B", "to": "A"}, {"relationType": NFD}, {"relationType": NFC})
    assert [(r.from_name, r.relation_type) for r in outcome.result] == [("B", "r"), ("A", NFC)]
    assert [notice.code for notice in outcome.notices] == ["skipped"]


def test_an_entity_may_relate_to_itself(related: Ask, ask: Ask) -> None:
    (relation,) = related({"to": "A"}).result
    assert (relation.from_id, relation.to_id) == ("1", "1")
    assert relation in ask("open_nodes", entities=["A"]).result.relations
    ask("delete_entities", entities=["A"])
    assert ask("read_graph").result.relations == []

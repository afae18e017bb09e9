"""`rename`, `retype` and `merge`: the graph is mended, and nothing is lost unsaid."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmem import semantic
from mmem.errors import InvalidArguments, NotFound
from mmem.registry import call
from mmem.store import Store
from mmem.upkeep import reindex

Ask = Callable[..., Any]
Run = Callable[..., Any]

LAW = settings(deadline=None, derandomize=True, database=None, max_examples=60)
THEN = "2026-01-31"


def graph(ask: Ask) -> Any:
    return msgspec.to_builtins(ask("read_graph").result)


def found(ask: Ask, query: str) -> list[str]:
    return [one.name for one in ask("search_nodes", query=query, relations=False).result.entities]


@pytest.fixture
def team(ask: Ask) -> Ask:
    """Two services and a person who maintains both; the first uses the second."""
    texts = [{"text": "Manages accounts", "timestamp": THEN}, {"text": "2.0", "observationType": "version"}]
    entities = [
        {"name": "Users", "entityType": "service", "observations": texts, "properties": {"tier": 1, "on": True}},
        {"name": "Accounts", "entityType": "service", "properties": {"tier": 2, "path": "src"}},
        {"name": "Ann", "entityType": "person"},
    ]
    ask("create_entities", entities=entities)
    edges = [("Ann", "Users"), ("Ann", "Accounts"), ("Users", "Accounts")]
    ask("create_relations", relations=[{"from": f, "to": t, "relationType": "knows"} for f, t in edges])
    return ask


def test_a_renamed_entity_keeps_its_id_observations_and_relations(team: Ask) -> None:
    before = graph(team)
    renamed = team("rename", entity="Users", newName="Members")
    assert (renamed.result.id, renamed.result.name, len(renamed.result.observations)) == ("1", "Members", 2)
    assert renamed.notices == []
    text = json.dumps(before).replace("Users", "Members")
    assert graph(team) == json.loads(text)
    assert (found(team, "users"), found(team, "members"), found(team, "accounts")[:1]) == (
        [],
        ["Members"],
        ["Accounts"],
    )


def test_a_retyped_entity_is_found_by_its_new_type(team: Ask) -> None:
    retyped = team("retype", entity={"id": 1}, newType="module").result
    assert (retyped.name, retyped.entity_type) == ("Users", "module")
    assert [one.from_type for one in team("open_nodes", entities=[1, 2]).result.relations] == ["module"]
    assert found(team, "type:module") == ["Users"]
    assert team("retype", entity="Users", newType="").result.entity_type == ""


REFUSED = [
    ("rename", {"entity": 1, "newName": "Accounts"}, r"\$\.newName: .*'Accounts' \(service\).*\(id 2\); `merge`"),
    ("retype", {"entity": 4, "newType": "service"}, r"\$\.newType: .*'Users' \(service\).*\(id 1\); `merge`"),
    ("rename", {"entity": 1, "newName": " "}, r"\$\.newName: can't be empty or blank"),
    ("rename", {"entity": 1, "newName": ""}, r"\$\.newName: can't be empty"),
    ("rename", {"entity": 1, "newName": "x" * 1_001}, r"\$\.newName: has too many"),
    ("retype", {"entity": 1, "newType": "\u0958" * 600}, r"\$\.newType: has more than 1,000"),
    ("merge", {"into": 1, "from": {"id": "1"}}, r"\$\.from: this is 'Users'"),
    ("merge", {"into": 1, "from": {}}, r"\$\.from: name an entity"),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), REFUSED)
def test_what_can_t_be_mended_so_is_said_and_left(
    team: Ask, tool: str, arguments: dict[str, Any], message: str
) -> None:
    team("create_entities", entities=[{"name": "Users", "entityType": "twin"}])
    before = graph(team)
    with pytest.raises(InvalidArguments, match=message):
        team(tool, **arguments)
    assert graph(team) == before


@pytest.mark.parametrize("tool", ["rename", "retype", "merge"])
def test_an_entity_that_isn_t_there_changes_nothing_and_creates_no_category(ask: Ask, base: Any, tool: str) -> None:
    arguments = {
        "rename": {"entity": "A", "newName": "B"},
        "retype": {"entity": "A", "newType": "t"},
        "merge": {"into": "A", "from": "B"},
    }
    with pytest.raises(NotFound, match="no entity 'A'"):
        ask(tool, **arguments[tool])
    assert not base.exists()


def test_the_same_name_again_is_said(team: Ask) -> None:
    assert [one.code for one in team("rename", entity="Users", newName="Users").notices] == ["skipped"]
    assert [one.code for one in team("retype", entity="Users", newType="service").notices] == ["skipped"]


def test_a_new_name_is_stored_in_normal_form_c(team: Ask) -> None:
    assert team("rename", entity="Ann", newName="Zoe\u0308").result.name == "Zo\u00eb"


def test_near_twins_of_new_names_are_said_and_old_names_have_none(team: Ask) -> None:
    [notice] = team("rename", entity="Ann", newName="users").notices
    assert (notice.code, notice.details["twinId"]) == ("near_twin", "1")
    assert team("create_entities", entities=[{"name": "ann"}]).notices == []
    assert [one.code for one in team("create_entities", entities=[{"name": "USERS"}]).notices] == ["near_twin"]


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8).filter(
    lambda name: not name.isspace()
)


@pytest.fixture(scope="module")
def world() -> Iterator[Store]:
    """A store that a law fills anew for each example."""
    with TemporaryDirectory() as base, Store(base) as opened:
        yield opened


def emptied(store: Store) -> Ask:
    if store.has("default"):
        store.delete("default")
    return lambda tool, **arguments: call(store, tool, arguments)


@LAW
@given(name=NAMES)
def test_renamed_and_renamed_back_is_the_same_graph(world: Store, name: str) -> None:
    ask = emptied(world)
    ask("create_entities", entities=[{"name": "alpha", "observations": ["one text"]}, {"name": "beta"}])
    ask("create_relations", relations=[{"from": "alpha", "to": "beta", "relationType": "r"}])
    before = graph(ask)
    if name == "beta":
        return
    ask("rename", entity={"id": 1}, newName=name)
    ask("rename", entity={"id": 1}, newName="alpha")
    assert graph(ask) == before
    assert found(ask, "alpha") == ["alpha"]


def test_merged_observations_relations_and_properties_are_counted_and_said(team: Ask) -> None:
    texts = [
        {"text": "Manages accounts", "timestamp": "2026-02-01"},
        {"text": "3.0", "observationType": "version", "properties": {"by": "ci"}},
        {"text": "Written in Go"},
    ]
    team("add_observations", observations=[{"entityName": "Accounts", "contents": texts}])
    outcome = team("merge", into="Users", **{"from": "Accounts"})
    assert msgspec.to_builtins(outcome.result) == {
        "into": {"id": "1", "name": "Users", "entityType": "service"},
        "from": {"id": "2", "name": "Accounts", "entityType": "service"},
        "observations": 2,
        "relations": 1,
        "properties": 1,
        "foldedObservations": 1,
        "foldedRelations": 1,
    }
    assert [one.code for one in outcome.notices] == ["skipped", "replaced", "skipped"]
    assert outcome.notices[2].details == {"property": "tier", "kept": 1, "dropped": 2}
    [users] = team("open_nodes", entities=["Users"]).result.entities
    assert users.properties == {"tier": 1, "on": True, "path": "src"}
    held = [(one.observation_type, one.text, one.timestamp == THEN) for one in users.observations]
    assert held == [
        ("", "Manages accounts", True),
        ("version", "2.0", False),
        ("version-2", "3.0", False),
        ("note-2", "Written in Go", False),
    ]
    assert found(team, "go") == ["Users"]
    assert found(team, "name:accounts") == []
    relations = [(one.from_name, one.to_name) for one in team("read_graph").result.relations]
    assert relations == [("Ann", "Users"), ("Users", "Users")]


def test_a_text_that_both_have_is_kept_twice_where_its_properties_differ(ask: Ask) -> None:
    for name, value in (("A", 1), ("B", True)):
        ask("create_entities", entities=[{"name": name, "observations": [{"text": "x", "properties": {"n": value}}]}])
    assert ask("merge", into="A", **{"from": "B"}).result.observations == 1
    [entity] = ask("open_nodes", entities=["A"]).result.entities
    assert [(one.observation_type, one.properties) for one in entity.observations] == [
        ("", {"n": 1}),
        ("note-2", {"n": True}),
    ]


def test_properties_of_relations_that_become_one_are_joined(ask: Ask) -> None:
    ask("create_entities", entities=[{"name": name} for name in "ABC"])
    given = [("A", {"since": 1}), ("B", {"since": 2, "why": "x"})]
    ask("create_relations", relations=[{"from": f, "to": "C", "relationType": "r", "properties": p} for f, p in given])
    outcome = ask("merge", into="A", **{"from": "B"})
    assert [notice.details for notice in outcome.notices] == [{"property": "since", "kept": 1, "dropped": 2}]
    assert [one.properties for one in ask("read_graph").result.relations] == [{"since": 1, "why": "x"}]


TEXTS = st.lists(
    st.fixed_dictionaries(
        {"text": st.sampled_from("xyz")},
        optional={"observationType": st.sampled_from(["t", "note-2"]), "source": st.just("s")},
    ),
    max_size=5,
)
LINKS = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4), st.sampled_from("rs")), unique=True, max_size=10)


@LAW
@given(first=TEXTS, second=TEXTS, links=LINKS)
def test_a_merge_loses_no_text_and_no_relation(world: Store, first: Any, second: Any, links: Any) -> None:
    ask = emptied(world)
    named = [{"name": "A", "observations": first}, {"name": "B", "observations": second}, {"name": "C"}, {"name": "D"}]
    ask("create_entities", entities=named)
    ask("create_relations", relations=[{"from": {"id": a}, "to": {"id": b}, "relationType": k} for a, b, k in links])
    before = ask("read_graph").result
    texts = [Counter(one.text for one in entity.observations) for entity in before.entities]
    merged = ask("merge", into="A", **{"from": "B"}).result
    after = ask("read_graph").result
    held = Counter(one.text for one in after.entities[0].observations)
    assert all(max(texts[0][text], texts[1][text], 1) <= held[text] for text in texts[0] | texts[1])
    assert held.total() == texts[0].total() + merged.observations
    assert merged.observations + merged.folded_observations == texts[1].total()
    moved = {tuple("1" if id == "2" else id for id in (one.from_id, one.to_id)) for one in before.relations}
    assert {(one.from_id, one.to_id) for one in after.relations} == moved
    assert len(after.relations) + merged.folded_relations == len(before.relations)
    assert all(found(ask, text) == ["A"] for text in held)


def test_a_merge_asks_on_a_terminal_and_needs_yes_elsewhere(team: Ask, mmem: Run) -> None:
    refused = mmem("merge", "Users", "Accounts")
    assert (refused.exit_status, "say --yes" in refused.stderr) == (2, True)
    asked = mmem("merge", "Users", "Accounts", stdin="n\n", terminal=True)
    assert asked.exit_status == 1
    assert "Merge 'Accounts' (service) (id 2), with 0 observations and 2 relations, into 'Users'" in asked.stderr
    ran = mmem("merge", "Users", "Accounts", "--yes", "-f", "table")
    assert ran.stdout == (
        "Merged 'Accounts' (service) into 'Users' (service) (id 1): 1 relation, 1 property moved; 1 duplicate folded\n"
    )


def test_json_does_not_ask(team: Ask, mmem: Run) -> None:
    assert mmem("merge", "--json", '{"into": "Users", "from": "Accounts"}').json["relations"] == 1


def test_the_words_of_rename_and_retype(team: Ask, mmem: Run) -> None:
    assert mmem("rename", "Ann", "id:7").exit_status == 2
    assert mmem("rename", "Ann", "name:id:7").json["name"] == "id:7"
    assert mmem("retype", "name:id:7", "", "-t", "person").json["entityType"] == ""
    ran = mmem("rename", "Users", "Accounts")
    assert (ran.exit_status, ran.stderr) == (
        2,
        "mmem: newName: there is another 'Accounts' (service) already (id 2); mmem merge makes one of the two\n",
    )


def test_a_batch_mends_as_the_commands_do(team: Ask, mmem_process: Run) -> None:
    requests = [
        {"id": 1, "tool": "rename", "arguments": {"entity": "Ann", "newName": "Anna"}},
        {"id": 2, "tool": "retype", "arguments": {"entity": "Anna", "newType": "user"}},
        {"id": 3, "tool": "merge", "arguments": {"into": "Users", "from": "Accounts"}},
        {"id": 4, "tool": "neighbors", "arguments": {"entity": "Anna"}},
        {"id": 5, "tool": "edit", "arguments": {}},
    ]
    ran = mmem_process("batch", stdin="\n".join(map(json.dumps, requests)).encode())
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [answer["ok"] for answer in answers] == [True, True, True, True, False]
    assert [one["name"] for one in answers[3]["result"]["entities"]] == ["Anna", "Users"]
    assert answers[4]["error"]["code"] == "unknown_tool"


@pytest.mark.skipif(find_spec("wordllama") is None, reason="the extra mmem[semantic] isn't installed")
@pytest.mark.parametrize(
    ("tool", "arguments", "category"),
    [
        ("rename", {"entity": "Users", "newName": "Members"}, "default"),
        ("merge", {"into": "Accounts", "from": "Users"}, "default"),
        ("move", {"entities": ["Users"], "to": "work", "dropRelations": True}, "work"),
    ],
)
def test_every_observation_has_a_vector_afterwards(
    store: Store, team: Ask, monkeypatch: pytest.MonkeyPatch, tool: str, arguments: dict[str, Any], category: str
) -> None:
    monkeypatch.delenv(semantic.SWITCH)
    reindex(store, "default", lambda done, total: None)
    team(tool, **arguments)
    with store.reading(category) as transaction:
        count = "SELECT (SELECT count(*) FROM mmem_vectors), (SELECT count(*) FROM mmem_unembedded)"
        assert transaction.conn.execute(count).fetchone() == (2, 0)

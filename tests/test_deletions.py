"""Deleting: exactly what was named goes, with all that hangs on it, and what isn't there is said."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mmem.errors import InvalidArguments, NotFound, Storage

Ask = Callable[..., Any]

NFD, NFC = "cafe\u0301", "caf\u00e9"
DONE = {
    "delete_entities": "Entities deleted successfully",
    "delete_observations": "Observations deleted successfully",
    "delete_relations": "Relations deleted successfully",
}


@pytest.fixture
def delete(ask: Ask) -> Ask:
    """Delete in a world of A, B of type t, C and C of type t; return what was not found: `(path, candidates)`.

    A has plain texts 1 and 2 (`note-2`), 3 of type v and 4 of type v from source s; relations 1 `A r B`, 2 `A s A`.
    """
    texts = ["x", "y", {"observationType": "v", "text": "z"}, {"observationType": "v", "source": "s", "text": "q"}]
    entities = [{"name": "A", "observations": texts}, {"name": "B", "entityType": "t"}]
    ask("create_entities", entities=[*entities, {"name": "C"}, {"name": "C", "entityType": "t"}])
    ends = [("A", "B", "r"), ("A", "A", "s")]
    ask("create_relations", relations=[{"from": f, "to": t, "relationType": kind} for f, t, kind in ends])

    def run(tool: str, **arguments: Any) -> list[tuple[str, object]]:
        outcome = ask(tool, **arguments)
        assert outcome.result == DONE[tool]
        assert {notice.code for notice in outcome.notices} <= {"not_found"}
        return [(notice.details["path"], notice.details.get("candidates")) for notice in outcome.notices]

    return run


@pytest.fixture
def left(ask: Ask) -> Callable[[str], list[str]]:
    """The ids of what is left: of `entities`, of A's `observations`, or of `relations`."""

    def run(kind: str) -> list[str]:
        graph = ask("read_graph").result
        kinds = {"entities": graph.entities, "relations": graph.relations}
        kinds["observations"] = [o for entity in graph.entities if entity.name == "A" for o in entity.observations]
        return [one.id for one in kinds[kind]]

    return run


@pytest.fixture
def rows(base: Path) -> Callable[..., list[Any]]:
    """Rows of the category's file as another program reads them; `words(term)` is the index's vocabulary."""

    def run(statement: str, *parameters: str) -> list[Any]:
        with closing(sqlite3.connect(base / "default.db")) as conn:
            conn.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'fts_content', 'row')")
            return conn.execute(statement, parameters).fetchall()

    return run


ENTITIES = [
    (["A"], ["2", "3", "4"], []),
    ([1, {"id": "2"}, "A"], ["3", "4"], []),
    ([{"name": "B", "entityType": "t"}], ["1", "3", "4"], []),
    (["B"], ["1", "2", "3", "4"], [("$.entities[0]", [{"id": "2", "entityType": "t"}])]),
    ([{"name": "B", "entityType": None}], ["1", "2", "3", "4"], [("$.entities[0]", [{"id": "2", "entityType": "t"}])]),
    (["C"], ["1", "2", "4"], []),
    (["C", "a", 9], ["1", "2", "4"], [("$.entities[1]", None), ("$.entities[2]", None)]),
    ([{"id": 1, "name": "B"}], ["1", "2", "3", "4"], [("$.entities[0]", None)]),
    ([{"id": 1, "entityType": "t"}], ["1", "2", "3", "4"], [("$.entities[0]", None)]),
    ([], ["1", "2", "3", "4"], []),
]


@pytest.mark.parametrize(("entities", "remain", "absent"), ENTITIES)
def test_exactly_the_named_entities_go(delete: Ask, left: Ask, entities: Any, remain: object, absent: object) -> None:
    assert delete("delete_entities", entities=entities) == absent
    assert left("entities") == remain


OBSERVATIONS = [
    ([{"id": 1}, {"id": "3"}], ["2", "4"], []),
    ([{"id": 9}], ["1", "2", "3", "4"], [("$.deletions[0]", None)]),
    ([{"entityName": "A"}], ["2", "3", "4"], []),
    ([{"entityName": "A", "observationType": "", "source": None}], ["2", "3", "4"], []),
    ([{"entityId": "1", "observationType": "v"}], ["1", "2", "4"], []),
    ([{"entityId": 1, "observationType": "v", "source": "s"}], ["1", "2", "3"], []),
    ([{"entityName": "A", "entityType": "", "observationType": "note-2"}], ["1", "3", "4"], []),
    ([{"entityName": "A"}, {"entityName": "A"}, {"id": 1}], ["2", "3", "4"], []),
    ([{"entityName": "B"}], ["1", "2", "3", "4"], [("$.deletions[0]", [{"id": "2", "entityType": "t"}])]),
    ([{"entityId": 1, "entityName": "B"}], ["1", "2", "3", "4"], [("$.deletions[0]", None)]),
    ([{"entityName": "C"}], ["1", "2", "3", "4"], [("$.deletions[0]", [])]),
]


@pytest.mark.parametrize(("deletions", "remain", "absent"), OBSERVATIONS)
def test_exactly_the_named_observations_go(delete: Ask, left: Ask, deletions: Any, remain: Any, absent: Any) -> None:
    assert delete("delete_observations", deletions=deletions) == absent
    assert left("observations") == remain


def test_other_observations_are_named_where_the_key_is_not_there(ask: Ask, delete: Ask) -> None:
    deletion = {"entityName": "A", "source": "s"}
    candidates = [("1", "", ""), ("2", "note-2", ""), ("3", "v", ""), ("4", "v", "s")]
    expected = [{"id": id, "observationType": kind, "source": source} for id, kind, source in candidates]
    assert delete("delete_observations", deletions=[deletion]) == [("$.deletions[0]", expected)]
    (notice,) = ask("delete_observations", deletions=[deletion]).notices
    assert all(shown in notice.message for shown in ("a plain text", "'note-2'", "'v'", "'v' from 's'"))


RELATIONS = [
    ([{"id": 1}, {"id": "2"}], [], []),
    ([{"id": 9}], ["1", "2"], [("$.relations[0]", None)]),
    ([{"fromId": 1, "toId": "2", "relationType": "r"}], ["2"], []),
    ([{"from": "A", "to": "B", "toType": "t", "relationType": "r"}], ["2"], []),
    ([{"from": "A", "to": {"name": "B", "type": "t"}, "relationType": "r"}], ["2"], []),
    ([{"from": 1, "to": {"id": 1}, "relationType": "s"}], ["1"], []),
    ([{"from": "A", "fromType": "", "toId": 2, "relationType": "r"}, {"id": 1}], ["2"], []),
    (
        [{"from": "A", "to": "B", "relationType": "r"}],
        ["1", "2"],
        [("$.relations[0].to", [{"id": "2", "entityType": "t"}])],
    ),
    (
        [{"from": "B", "to": "a", "relationType": "r"}],
        ["1", "2"],
        [("$.relations[0].from", [{"id": "2", "entityType": "t"}]), ("$.relations[0].to", None)],
    ),
    ([{"fromId": 1, "toId": 2, "relationType": "s"}], ["1", "2"], [("$.relations[0]", ["r"])]),
    ([{"fromId": 2, "toId": 1, "relationType": "r"}], ["1", "2"], [("$.relations[0]", [])]),
    ([{"from": "A", "fromId": 2, "toId": 2, "relationType": "r"}], ["1", "2"], [("$.relations[0].from", None)]),
]


@pytest.mark.parametrize(("relations", "remain", "absent"), RELATIONS)
def test_exactly_the_named_relations_go(delete: Ask, left: Ask, relations: Any, remain: Any, absent: Any) -> None:
    assert delete("delete_relations", relations=relations) == absent
    assert left("relations") == remain


@pytest.mark.parametrize(
    ("tool", "key", "fault"),
    [
        ("delete_observations", "deletions", {}),
        ("delete_observations", "deletions", {"observationType": "v"}),
        ("delete_observations", "deletions", {"id": "x"}),
        ("delete_observations", "deletions", {"id": 2, "sorce": "s"}),
        ("delete_relations", "relations", {"id": 2, "relation_type": "r"}),
        ("delete_relations", "relations", {}),
        ("delete_relations", "relations", {"from": "A", "to": "A"}),
        ("delete_relations", "relations", {"from": "A", "relationType": "s"}),
        ("delete_relations", "relations", {"from": {"name": "A"}, "fromType": "", "to": 1, "relationType": "s"}),
    ],
)
def test_a_deletion_that_is_in_doubt_is_refused_as_a_whole(
    ask: Ask, delete: Ask, left: Ask, tool: str, key: str, fault: dict[str, object]
) -> None:
    with pytest.raises(InvalidArguments, match=rf"^\$\.{key}\[1\]"):
        ask(tool, **{key: [{"id": 1}, fault]})
    assert left(key.replace("deletions", "observations"))[0] == "1"


@pytest.mark.parametrize("given", [NFD, NFC])
@pytest.mark.parametrize("stored", [NFD, NFC])
def test_a_deletion_finds_a_type_as_given_then_in_nfc(
    ask: Ask, delete: Ask, base: Path, stored: str, given: str
) -> None:
    with closing(sqlite3.connect(base / "default.db")) as conn, conn:  # as a program that doesn't normalize
        conn.execute("UPDATE observations SET observation_type = ? WHERE id = 1", (stored,))
        conn.execute("UPDATE relations SET relation_type = ? WHERE id = 1", (stored,))
    gone = stored in {given, NFC}
    relation = {"fromId": 1, "toId": 2, "relationType": given}
    assert (delete("delete_observations", deletions=[{"entityId": 1, "observationType": given}]) == []) is gone
    assert (delete("delete_relations", relations=[relation]) == []) is gone


def test_a_deleted_entity_takes_everything_with_it(ask: Ask, rows: Ask) -> None:
    texts = ["zebra", {"text": "lion", "observationType": "v", "properties": {"key": "tiger"}}]
    entity = {"name": "savanna", "entityType": "place", "properties": {"in": "africa"}, "observations": texts}
    ask("create_entities", entities=[{"name": "A"}, entity])
    for source, target in ((1, 2), (2, 1), (2, 2), (1, 1)):
        ask("create_relations", relations=[{"from": source, "to": target, "relationType": "r"}])
    ask("delete_entities", entities=[2])
    assert [relation.id for relation in ask("read_graph").result.relations] == ["4"]
    assert rows("SELECT id FROM observations") == []
    assert rows("SELECT term FROM words") == [("a",)]
    for word in ("savanna", "place", "africa", "zebra", "lion", "tiger"):
        assert rows("SELECT rowid FROM fts_content WHERE fts_content MATCH ?", word) == []


def test_a_deleted_observation_is_found_no_more(ask: Ask, delete: Ask, rows: Ask) -> None:
    delete("delete_observations", deletions=[{"id": 4}])
    assert rows("SELECT term FROM words WHERE term = 'q'") == []
    assert ask("search_nodes", query="q").result.entities == []


def test_a_deleted_category_leaves_no_file_and_begins_anew(ask: Ask, delete: Ask, base: Path) -> None:
    assert list(ask("delete_category", category="default").notices) == []
    assert [path.name for path in base.iterdir() if path.name.startswith("default")] == []
    ask("create_entities", entities=[{"name": "new"}])
    assert [entity.id for entity in ask("read_graph").result.entities] == ["1"]


def test_deleting_a_missing_category_is_an_error_that_names_the_nearest(ask: Ask, base: Path) -> None:
    ask("create_entities", category="work", entities=[{"name": "A"}])
    with pytest.raises(NotFound, match=r"there is no category 'wrok' in .*; did you mean 'work'"):
        ask("delete_category", category="wrok")
    assert ask("list_categories").result == ["work"]


@pytest.mark.parametrize(
    "arguments", [{}, {"category": None}, {"category": ""}, {"category": "../x"}, {"category": "A"}]
)
def test_a_category_to_delete_must_be_named_and_never_is_the_default(ask: Ask, delete: Ask, arguments: Any) -> None:
    with pytest.raises(InvalidArguments, match="category"):
        ask("delete_category", **arguments)
    assert ask("list_categories").result == ["default"]


@pytest.mark.parametrize("content", [b"hello, this is no database at all", None])
def test_a_file_that_is_no_memory_is_never_deleted(ask: Ask, base: Path, content: bytes | None) -> None:
    base.mkdir()
    path = base / "notes.db"
    if content is None:
        with closing(sqlite3.connect(path)) as conn:
            conn.execute("CREATE TABLE recipes (name TEXT)")
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(Storage):
        ask("delete_category", category="notes")
    assert path.read_bytes() == before
    assert list(base.iterdir()) == [path]

"""`mmem purge`: no byte of what was deleted can be read in a category's file any more; what is stored stays."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest

from mmem import semantic
from mmem.errors import Busy
from mmem.registry import call
from mmem.store import Store
from mmem.upkeep import purge

Ask = Callable[..., Any]
Run = Callable[..., Any]

_SLICE = 6  # characters: FTS5 stores a word without what it has in common with the word before

# Words that share no six characters with anything else in a file.
_GONE = {
    "name": "Vexmoqural",
    "type": "zibbrunqot",
    "text": "kwyjbolnarp",
    "override": "flumpotzwer",
    "observation": "grintavuqex",
    "property": "yopzildraqu",
    "of the text": "mulbexwontiz",
    "relation": "drovquimpaz",
    "relation's property": "hexalvopqui",
    "a long text": "wubblexorniq",
}


@contextmanager
def opened(path: Path, *, foreign_keys: bool = True) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute(f"PRAGMA foreign_keys = {foreign_keys:d}")
        yield conn


def found_in(base: Path, category: str = "default") -> set[str]:
    """Return which of the words, or what part of them an index would keep, stand in the files of a category."""
    kept = b"\n".join(file.read_bytes() for file in sorted(base.iterdir()) if file.name.startswith(f"{category}."))
    content = kept.lower()
    return {
        word
        for word in _GONE.values()
        if any(word[at : at + _SLICE].lower().encode() in content for at in range(len(word) - _SLICE + 1))
    }


def fill(ask: Ask) -> None:
    """Store a world of which most goes again."""
    gone = {
        "name": _GONE["name"],
        "entityType": _GONE["type"],
        "properties": {"k": _GONE["property"]},
        "observations": [
            {"text": f"it said {_GONE['text']} twice", "properties": {"p": _GONE["of the text"]}},
            *(f"{number} {_GONE['a long text']} " + "long " * 3_000 for number in range(3)),
        ],
    }
    stays = {"name": "Lamp", "properties": {"wire": "copper"}, "observations": [f"it is {_GONE['override']}"]}
    more = [{"name": f"Filler {number}", "observations": [f"stone {number}", "amber"]} for number in range(200)]
    ask("create_entities", entities=[*more, gone, stays])
    ask("create_relations", relations=[{"from": _GONE["name"], "to": "Lamp", "relationType": _GONE["relation"]}])
    related = {
        "from": "Lamp",
        "to": "Filler 1",
        "relationType": "by",
        "properties": {"x": _GONE["relation's property"]},
    }
    ask("create_relations", relations=[related])
    ask("add_observations", observations=[{"entityName": "Filler 2", "contents": [f"a {_GONE['observation']}"]}])
    ask("add_observations", override=True, observations=[{"entityName": "Lamp", "contents": ["it is lit"]}])
    ask("delete_entities", entities=[{"name": _GONE["name"], "entityType": _GONE["type"]}])
    ask("delete_observations", deletions=[{"entityName": "Filler 2", "observationType": "note-3"}])
    ask("delete_relations", relations=[{"from": "Lamp", "to": "Filler 1", "relationType": "by"}])


@pytest.mark.parametrize(
    "with_vectors",
    [
        False,
        pytest.param(True, marks=pytest.mark.skipif(find_spec("wordllama") is None, reason="needs mmem[semantic]")),
    ],
)
@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "open elsewhere"])
def test_no_byte_of_what_was_deleted_stays(
    base: Path, store: Store, ask: Ask, mmem: Run, monkeypatch: pytest.MonkeyPatch, with_vectors: bool, is_open: bool
) -> None:
    if with_vectors:
        monkeypatch.delenv(semantic.SWITCH)
    fill(ask)
    before = ask("read_graph").result
    if not is_open:
        store.close()
    assert len(found_in(base)) >= len(_GONE) - 2  # SQLite may have needed the room already
    ran = mmem("purge")
    assert found_in(base) == set()
    assert (ran.stderr, ran.exit_status) == ("", 0)
    assert ran.json["bytesAfter"] < ran.json["bytesBefore"]
    assert ran.json["bytesAfter"] == sum(file.stat().st_size for file in base.iterdir() if file.suffix != ".db-shm")
    assert ask("read_graph").result == before
    outcome = ask("search_nodes", query="lit lamp")
    assert (outcome.result.entities[0].name, outcome.notices) == ("Lamp", [])
    assert ask("create_entities", entities=[{"name": "Z", "observations": ["z"]}]).notices == []
    assert mmem("reindex").json.get("embedded") == (0 if with_vectors else None)


def test_the_index_is_sound_after_it(base: Path, ask: Ask, mmem: Run) -> None:
    fill(ask)
    mmem("purge")
    with opened(base / "default.db") as conn:
        conn.execute("INSERT INTO fts_content(fts_content, rank) VALUES ('integrity-check', 1)")
        assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert conn.execute("PRAGMA foreign_key_check").fetchall() == []
        assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_what_a_program_without_foreign_keys_left_behind_goes_too(
    base: Path, store: Store, ask: Ask, mmem: Run
) -> None:
    gone = {"name": _GONE["name"], "observations": [_GONE["text"]]}
    ask("create_entities", entities=[gone, {"name": "Lamp", "observations": ["lit"]}])
    ask("create_relations", relations=[{"from": _GONE["name"], "to": "Lamp", "relationType": _GONE["relation"]}])
    store.close()
    with opened(base / "default.db", foreign_keys=False) as conn:
        conn.execute("DELETE FROM entities WHERE id = 1")
    mmem("purge")
    assert found_in(base) == set()
    graph = ask("read_graph")
    assert ([one.name for one in graph.result.entities], list(graph.notices)) == (["Lamp"], [])


def test_what_stands_in_the_index_alone_goes_too(base: Path, store: Store, ask: Ask, mmem: Run) -> None:
    ask("create_entities", entities=[{"name": "Lamp", "observations": [_GONE["text"]]}])
    store.close()
    with opened(base / "default.db") as conn:
        replace = "INSERT OR REPLACE INTO observations(entity_id, content) VALUES (1, 'lit')"
        conn.execute(replace)  # runs no delete trigger: recursive_triggers is off
        conn.execute("VACUUM")
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert found_in(base) == {_GONE["text"]}
    mmem("purge")
    assert found_in(base) == set()


def test_what_the_predecessor_deleted_but_kept_in_its_index_goes(base: Path, mmem: Run) -> None:
    base.mkdir()
    copyfile(Path(__file__).with_name("predecessor") / "checkpointed.db", base / "default.db")
    with opened(base / "default.db") as conn:
        entity = "INSERT INTO entities(name, entity_type) VALUES (?, ?)"
        id = conn.execute(entity, (_GONE["name"], _GONE["type"])).lastrowid
        observation = "INSERT INTO observations(entity_id, observation_type, content) VALUES (?, '', ?)"
        conn.execute(observation, (id, _GONE["text"]))
        conn.execute("DELETE FROM entities WHERE id = ?", (id,))
    assert found_in(base) == {_GONE["name"], _GONE["type"], _GONE["text"]}
    ran = mmem("purge")
    assert found_in(base) == set()
    assert "mmem: repaired:" in ran.stderr


def test_who_reads_an_older_state_holds_it_back_and_is_named(base: Path, ask: Ask) -> None:
    fill(ask)
    with opened(base / "default.db") as reader, Store(base, timeout=0.2) as store:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entities").fetchone()
        with pytest.raises(Busy, match="another process is reading category 'default'") as caught:
            purge(store, "default")
        assert caught.value.exit == 4
        reader.execute("COMMIT")
        purge(store, "default")
    assert found_in(base) == set()


def test_who_writes_meanwhile_is_waited_for_and_then_named(base: Path, ask: Ask) -> None:
    fill(ask)
    with opened(base / "default.db") as writer, Store(base, timeout=0.2) as store:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(Busy, match="is locked: another process has been writing"):
            purge(store, "default")
        writer.execute("ROLLBACK")
        purge(store, "default")
    assert found_in(base) == set()


def test_all_categories_are_purged(base: Path, store: Store, ask: Ask, mmem: Run) -> None:
    for category in ("home", "work"):
        ask("create_entities", category=category, entities=[{"name": "A", "observations": [_GONE["text"]]}])
        call(store, "delete_entities", {"category": category, "entities": ["A"]})
    ran = mmem("purge", "--all")
    assert [one["category"] for one in ran.json] == ["home", "work"]
    assert found_in(base, "home") == found_in(base, "work") == set()


def test_on_a_terminal_a_sentence_says_it(ask: Ask, mmem: Run) -> None:
    ask("create_entities", entities=[{"name": "A"}])
    stdout = mmem("purge", terminal=True).stdout
    assert stdout.startswith("Purged category 'default': ")
    assert stdout.endswith(" bytes after\n")


def test_a_category_that_does_not_exist_is_not_found(base: Path, mmem: Run) -> None:
    ran = mmem("purge", "-c", "nope")
    assert (ran.stdout, ran.exit_status) == ("", 3)
    assert not base.exists()

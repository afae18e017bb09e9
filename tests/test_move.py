"""`move`: entities go from one category's file to another's; whatever happens, they are in one of them or in both."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mmem.errors import InvalidArguments, NotFound, Storage
from mmem.registry import call
from mmem.store import Store
from mmem.transaction import Transaction

Ask = Callable[..., Any]
Run = Callable[..., Any]


def names(ask: Ask, category: str) -> list[str]:
    return [one.name for one in ask("read_graph", category=category).result.entities]


@pytest.fixture
def home(ask: Ask) -> Ask:
    """In `home`, three entities: A and B know each other, B knows C, and C itself."""
    observation = {"text": "amber", "observationType": "t", "source": "s", "timestamp": "2026-01-31"}
    entities = [
        {"name": "A", "entityType": "x", "properties": {"n": 1}, "observations": [observation, "plain"]},
        {"name": "B"},
        {"name": "C"},
    ]
    ask("create_entities", category="home", entities=entities)
    edges = [("A", "B", {"w": 2}), ("B", "A", None), ("B", "C", None), ("C", "C", None)]
    relations = [{"from": f, "to": t, "relationType": "knows", "properties": p} for f, t, p in edges]
    ask("create_relations", category="home", relations=relations)
    return ask


def without_ids(graph: Any) -> str:
    def kept(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: kept(one) for key, one in value.items() if key not in {"id", "fromId", "toId"}}
        return [kept(one) for one in value] if isinstance(value, list) else value

    return json.dumps(kept(msgspec.to_builtins(graph)))


def test_everything_of_a_group_goes_along(home: Ask) -> None:
    home("create_entities", category="work", entities=[{"name": "other"}])
    before = without_ids(home("read_graph", category="home").result)
    outcome = home("move", category="home", entities=["A", "B", "C", {"id": 1}], to="fresh")
    assert msgspec.to_builtins(outcome.result) == {
        "from": "home",
        "to": "fresh",
        "entities": [
            {"id": "1", "name": "A", "entityType": "x"},
            {"id": "2", "name": "B", "entityType": ""},
            {"id": "3", "name": "C", "entityType": ""},
        ],
        "observations": 2,
        "relations": 4,
        "droppedRelations": 0,
    }
    assert outcome.notices == []
    assert without_ids(home("read_graph", category="fresh").result) == before
    assert names(home, "home") == []
    assert [one.name for one in home("search_nodes", category="fresh", query="amber").result.entities] == ["A"]
    assert home("search_nodes", category="home", query="amber").result.entities == []


def test_relations_to_those_that_stay_are_dropped_only_where_that_is_said(home: Ask) -> None:
    with pytest.raises(InvalidArguments, match=r"2 relations to 'A' can't go along.*`dropRelations`"):
        home("move", category="home", entities=["B", "C"], to="work")
    assert names(home, "home") == ["A", "B", "C"]
    assert home("list_categories").result == ["home"]
    moved = home("move", category="home", entities=["B", "C"], to="work", dropRelations=True).result
    assert (moved.relations, moved.dropped_relations) == (2, 2)
    assert home("read_graph", category="home").result.relations == []


def test_what_is_there_already_isn_t_overwritten(home: Ask) -> None:
    home("create_entities", category="work", entities=[{"name": "C"}])
    with pytest.raises(InvalidArguments, match=r"\$\.entities\[1\]: category 'work' has 'C' already \(id 1\)"):
        home("move", category="home", entities=["B", "C"], to="work", dropRelations=True)
    assert (names(home, "home"), names(home, "work")) == (["A", "B", "C"], ["C"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"entities": ["A"], "to": "home"}, "in category 'home' already"),
        ({"entities": ["A"], "to": "Bad"}, r"\$\.to: 'Bad' isn't a category's name"),
        ({"entities": ["A"], "to": ""}, r"\$\.to: '' isn't"),
        ({"entities": ["A"]}, "'to' is required"),
    ],
)
def test_another_category_has_to_be_named(home: Ask, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArguments, match=message):
        home("move", category="home", **arguments)


def test_an_entity_that_isn_t_there_creates_no_category(home: Ask, base: Path) -> None:
    with pytest.raises(NotFound, match=r"\$\.entities\[1\]: no entity 'Z'"):
        home("move", category="home", entities=["A", "Z"], to="work")
    with pytest.raises(NotFound, match="no category 'hme'"):
        home("move", category="hme", entities=["A"], to="work")
    assert sorted(path.name for path in base.glob("*.db")) == ["home.db"]


def test_near_twins_in_the_other_category_are_said(home: Ask) -> None:
    home("create_entities", category="work", entities=[{"name": "c"}])
    [notice] = home("move", category="home", entities=["C"], to="work", dropRelations=True).notices
    assert (notice.code, notice.details["twinName"]) == ("near_twin", "c")


@pytest.mark.parametrize(("failing", "home_has", "work_has"), [("work", ["C"], []), ("home", ["C"], ["C"])])
def test_a_failed_commit_leaves_them_in_one_or_in_both(
    home: Ask, monkeypatch: pytest.MonkeyPatch, failing: str, home_has: list[str], work_has: list[str]
) -> None:
    home("delete_entities", category="home", entities=[1, 2])
    finish = Transaction.finish

    def failed(self: Transaction) -> None:
        if self.category == failing:
            raise Storage("the disk is full")
        finish(self)

    monkeypatch.setattr(Transaction, "finish", failed)
    with pytest.raises(Storage) as raised:
        home("move", category="home", entities=["C"], to="work")
    monkeypatch.undo()
    assert (names(home, "home"), names(home, "work")) == (home_has, work_has)
    assert ("delete them here" in raised.value.message) is bool(work_has)
    if work_has:
        with pytest.raises(InvalidArguments, match="where a `move` was cut off"):
            home("move", category="home", entities=["C"], to="work")


_KILLED = """
import os, signal, sys
from mmem.registry import call
from mmem.store import Store
from mmem.transaction import Transaction
finish = Transaction.finish
def killed(self):
    if self.category == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
    finish(self)
Transaction.finish = killed
with Store(sys.argv[1]) as store:
    call(store, "move", {"category": "home", "entities": ["A", "B", "C"], "to": "work"})
"""


@pytest.mark.skipif(os.name == "nt", reason="has no SIGKILL")
@pytest.mark.parametrize(("moment", "copied"), [("work", False), ("home", True)])
def test_a_process_that_is_killed_loses_nothing(home: Ask, store: Store, moment: str, copied: bool) -> None:
    before = without_ids(home("read_graph", category="home").result)
    store.close()
    ran = subprocess.run([sys.executable, "-c", _KILLED, store.base_dir, moment], check=False)
    assert ran.returncode == -signal.SIGKILL
    assert without_ids(home("read_graph", category="home").result) == before
    assert (without_ids(home("read_graph", category="work").result) == before) is copied


def test_what_arrives_is_on_the_disk_before_it_goes_from_where_it_was(
    home: Ask, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels = []
    finish = Transaction.finish

    def noted(self: Transaction) -> None:
        levels.append((self.category, self.conn.execute("PRAGMA synchronous").fetchone()[0]))
        finish(self)

    monkeypatch.setattr(Transaction, "finish", noted)
    home("move", category="home", entities=["C"], to="work", dropRelations=True)
    home("create_entities", category="work", entities=[{"name": "D"}])
    normal, full = 1, 2
    assert levels == [("work", full), ("home", normal), ("work", normal)]


def test_two_that_move_in_opposite_directions_don_t_block_each_other(home: Ask, store: Store) -> None:
    home("create_entities", category="work", entities=[{"name": f"w{number}"} for number in range(20)])
    home("create_entities", category="home", entities=[{"name": f"h{number}"} for number in range(20)])
    code = (
        "import sys; from mmem.registry import call; from mmem.store import Store\n"
        "with Store(sys.argv[1], timeout=20) as store:\n"
        "    for n in range(20):\n"
        "        arguments = {'category': sys.argv[2], 'to': sys.argv[3], 'entities': [sys.argv[2][0] + str(n)]}\n"
        "        call(store, 'move', arguments)"
    )
    ways = (("home", "work"), ("work", "home"))
    running = [subprocess.Popen([sys.executable, "-c", code, store.base_dir, *way]) for way in ways]
    assert [process.wait(60) for process in running] == [0, 0]
    assert sorted(names(home, "work")) == sorted(f"h{number}" for number in range(20))
    assert sorted(set(names(home, "home")) - set("ABC")) == sorted(f"w{number}" for number in range(20))


def test_a_batch_moves_alone_and_a_dry_run_moves_nothing(home: Ask, store: Store, mmem_process: Run) -> None:
    store.close()
    requests = [
        {"tool": "create_entities", "arguments": {"category": "home", "entities": [{"name": "D"}]}},
        {"tool": "move", "arguments": {"category": "home", "entities": ["D", "C"], "to": "new", "dropRelations": True}},
        {"tool": "open_nodes", "arguments": {"category": "new", "entities": ["D"]}},
    ]
    lines = "\n".join(map(json.dumps, requests)).encode()

    def results(*options: str) -> list[Any]:
        return [json.loads(one) for one in mmem_process("batch", *options, stdin=lines).stdout.splitlines()]

    tried = results("--dry-run")
    assert [one["name"] for one in tried[1]["result"]["entities"]] == ["D", "C"]
    assert [one["name"] for one in tried[2]["result"]["entities"]] == ["D"]
    assert (names(home, "home"), home("list_categories").result) == (["A", "B", "C"], ["home"])
    refused = results("--atomic")
    assert [one["error"]["code"] for one in refused] == ["rolled_back", "invalid_request", "skipped"]
    done = results()
    assert [one["ok"] for one in done] == [True, True, True]
    assert [{**one, "notices": None} for one in done[1:]] == [{**one, "notices": None} for one in tried[1:]]
    assert (names(home, "home"), names(home, "new")) == (["A", "B"], ["C", "D"])


def test_the_words(home: Ask, mmem: Run) -> None:
    assert mmem("move", "C", "-c", "home").exit_status == 2
    refused = mmem("move", "C", "-c", "home", "--to", "work")
    assert (refused.exit_status, "drop the relations with --drop-relations" in refused.stderr) == (2, True)
    ran = mmem("move", "C", "-c", "home", "--to", "work", "--drop-relations", "-f", "table")
    assert ran.stdout == (
        "Moved 'C' from category 'home' to 'work', with 0 observations and 1 relation; 1 relation to others dropped\n"
    )


def test_an_empty_list_moves_nothing(home: Ask, base: Path) -> None:
    assert call(Store(base), "move", {"category": "home", "entities": [], "to": "work"}).result.entities == []
    assert not (base / "work.db").exists()

"""`mmem batch`: each line is answered in order, on its own, and only with what is true."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import msgspec
import pytest

from mmem.batch import Batch
from mmem.lines import MAX_LINE, Lines
from mmem.registry import COMMANDS, call
from mmem.store import Store

PREDECESSOR = Path(__file__).with_name("predecessor") / "checkpointed.db"
DATED = [{"text": "x", "timestamp": "2026-01-31"}]


def said(tool: str, id: Any = None, **arguments: Any) -> bytes:
    return json.dumps({"id": id, "tool": tool, "arguments": arguments}).encode()


def create(*names: str, **more: Any) -> bytes:
    return said("create_entities", entities=[{"name": name} for name in names], **more)


def add(name: str, *texts: str, **more: Any) -> bytes:
    contents = [{"text": text, "timestamp": "2026-01-31"} for text in texts]
    return said("add_observations", observations=[{"entityName": name, "contents": contents}], **more)


def fed(base: Path, raw: bytes, **options: Any) -> list[Any]:
    """Return the answers to an input, carried out as one group as far as that is possible."""
    written: list[bytes] = []
    with TemporaryFile() as file, Store(base) as store, Batch(store, written.append, **options) as batch:
        file.write(raw)
        file.seek(0)
        lines = Lines(file.fileno())
        while arrived := lines.next():
            batch.feed(arrived)
        batch.finish()
    return [json.loads(line) for line in b"".join(written).splitlines()]


def answers(base: Path, *lines: bytes, **options: Any) -> list[Any]:
    return fed(base, b"\n".join(lines), **options)


def codes(answer: Any) -> list[str]:
    return [answer["error"]["code"]] if "error" in answer else [notice["code"] for notice in answer.get("notices", ())]


def stored(base: Path, category: str = "default") -> dict[str, list[str]]:
    with Store(base) as store:
        graph = call(store, "read_graph", {"category": category}).result
    return {entity.name: [observation.text for observation in entity.observations] for entity in graph.entities}


def test_answers_come_in_order_and_echo_the_id(base: Path) -> None:
    ids = ["text", "", "\u2028", 7, -1.5, True, False, None]
    given = [said("list_categories", id) for id in ids] + [b'{"tool": "list_categories"}', b'{"tool":"nope","id":3}']
    assert [answer["id"] for answer in answers(base, *given)] == [*ids, None, 3]
    assert [type(answer["id"]) for answer in answers(base, said("list_categories", 1.0))] == [float]


def test_the_envelope_of_success_and_of_failure(base: Path) -> None:
    good, bad = answers(base, said("list_categories", 1), add("B", "x"))
    assert list(good.items()) == [("id", 1), ("ok", True), ("result", [])]
    assert list(bad) == ["id", "ok", "line", "error"]
    assert (bad["ok"], bad["line"], list(bad["error"])) == (False, 2, ["code", "message", "details"])


def test_every_tool_answers_as_it_does_elsewhere(tmp_path: Path) -> None:
    requests: list[tuple[str, dict[str, Any]]] = [
        ("create_entities", {"entities": [{"name": name, "observations": DATED} for name in "ABC"]}),
        ("create_relations", {"relations": [{"from": "A", "to": "B", "relationType": "r"}]}),
        ("add_observations", {"observations": [{"entityName": "A", "contents": [{**DATED[0], "text": "y"}]}]}),
        ("read_graph", {}),
        ("search_nodes", {"query": "x"}),
        ("open_nodes", {"entities": ["A", "none"]}),
        ("neighbors", {"entity": "A", "depth": 2}),
        ("path", {"from": "B", "to": "A"}),
        ("rename", {"entity": "C", "newName": "c"}),
        ("retype", {"entity": "c", "newType": "t"}),
        ("merge", {"into": "B", "from": "c"}),
        ("move", {"entities": ["B"], "to": "work", "dropRelations": True}),
        ("delete_observations", {"deletions": [{"entityName": "A"}]}),
        ("delete_relations", {"relations": [{"id": 1}, {"id": 9}]}),
        ("delete_entities", {"entities": ["C"]}),
        ("list_categories", {}),
        ("delete_category", {"category": "default"}),
    ]
    assert {tool for tool, _ in requests} == {n.replace("-", "_") for n, entry in COMMANDS.items() if entry.tool}
    given = answers(tmp_path / "batch", *(said(tool.replace("_", "-"), **arguments) for tool, arguments in requests))
    with Store(tmp_path / "calls") as store:
        for answer, (tool, arguments) in zip(given, requests, strict=True):
            outcome = call(store, tool, arguments)
            assert answer["result"] == msgspec.to_builtins(outcome.result)
            assert codes(answer) == [notice.code for notice in outcome.notices]


@pytest.mark.parametrize("name", ["batch", "seed", "serve", "", "read graph", "mmem.commands.batch"])
def test_what_is_no_tool_cant_be_asked_for(base: Path, name: str) -> None:
    (answer,) = answers(base, said(name, 1))
    assert (answer["id"], codes(answer)) == (1, ["unknown_tool"])


@pytest.mark.parametrize("raw", [b"\xef\xbb\xbf%s\n%s\n", b"%s\r\n%s\r\n", b"\n \t\n%s\n\r\n\n%s", b"%s\n%s"])
def test_input_as_programs_write_it(base: Path, raw: bytes) -> None:
    assert [answer["ok"] for answer in fed(base, raw % (create("A"), create("B")))] == [True, True]
    assert fed(base, b"") == fed(base, b"\n\n") == []


def test_a_line_separator_inside_a_string_ends_no_line(base: Path) -> None:
    line = json.dumps({"tool": "list_categories", "id": "a\u2028b\u2029c\x85d"}, ensure_ascii=False)
    assert fed(base, line.encode())[0]["id"] == "a\u2028b\u2029c\x85d"


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize("more", [0, 1, 2, MAX_LINE])
def test_a_line_has_at_most_16_mib(base: Path, more: int, ending: bytes) -> None:
    line = b'{"id": 1, "tool": "list_categories"}'
    raw = line + b"\n" + line.ljust(MAX_LINE + more) + ending + (b'{"tool": "no"}' if ending else b"")
    first, long, *rest = fed(base, raw)
    assert (first["ok"], long["ok"], [answer["line"] for answer in rest]) == (True, not more, [3] if ending else [])
    if more:
        assert (long["line"], codes(long)) == (2, ["invalid_request"])


BAD = {
    "not JSON": (b"{", "invalid_json"),
    "UTF-16": ('{"tool": "list_categories"}'.encode("utf-16"), "invalid_json"),
    "not UTF-8": (b'{"id": "\xe9", "tool": "list_categories"}', "invalid_json"),
    "NaN": (b'{"id": NaN, "tool": "list_categories"}', "invalid_json"),
    "lone surrogate": (b'{"id": "\\ud800", "tool": "list_categories"}', "invalid_json"),
    "duplicate key": (b'{"id": 1, "id": 2, "tool": "list_categories"}', "invalid_json"),
    "nested": (b"[" * 100_000, "invalid_json"),
    "nested whole": (b'{"id": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "invalid_json"),
    "digits": (b'{"id": ' + b"9" * 5_000 + b', "tool": "list_categories"}', "invalid_arguments"),
    "NUL": (b'{"id": "\\u0000", "tool": "list_categories"}', "invalid_arguments"),
    "raw NUL": (b'{"id": "a\0", "tool": "list_categories"}', "invalid_json"),
    "unknown tool": (b'{"tool": "make_coffee"}', "unknown_tool"),
    "unknown key": (b'{"tool": "list_categories", "args": {}}', "invalid_request"),
    "arguments are a list": (b'{"tool": "open_nodes", "arguments": ["A"]}', "invalid_request"),
    "id is a list": (b'{"id": [1], "tool": "list_categories"}', "invalid_request"),
    "a list": (b"[]", "invalid_request"),
}


@pytest.mark.parametrize(("line", "code"), BAD.values(), ids=list(BAD))
def test_after_a_bad_line_the_next_one_works(base: Path, line: bytes, code: str) -> None:
    first, bad, last = answers(base, b"", create("A"), line, said("create_entities", 9, entities=[{"name": "B"}]))
    assert (bad["line"], codes(bad)) == (3, [code])
    assert (first["ok"], last["ok"], last["id"], list(stored(base))) == (True, True, 9, ["A", "B"])


def test_the_id_of_a_refused_request_is_echoed_where_it_can_be_read(base: Path) -> None:
    after = ['"tool": "list_categories", "args": {}', '"tool": 1', '"tool": "nope"', '"tool": "read_graph"']
    bad = [b'{"id": 5, %s, "arguments": []}' % rest.encode() for rest in after]
    assert [answer["id"] for answer in answers(base, *bad, b'{"args": 1, "id": 5}')] == [5] * 5


def test_a_failure_among_creates_undoes_itself_alone(base: Path) -> None:
    two = [{"entityName": name, "contents": ["x"]} for name in ("A", "Z")]
    relate = said("create_relations", relations=[{"from": "A", "to": "Z", "relationType": "r"}])
    lines = [create("A"), create("B"), relate, create("C"), said("add_observations", observations=two), create("D")]
    assert [answer["ok"] for answer in answers(base, *lines)] == [True, True, False, True, False, True]
    assert stored(base) == {"A": [], "B": [], "C": [], "D": []}


def test_what_an_earlier_create_of_the_group_made_is_skipped_with_its_id(base: Path) -> None:
    lines = [create("A", "B"), create("C"), create("B", "D"), create("A")]
    given = answers(base, *lines)
    assert [[entity["id"] for entity in answer["result"]] for answer in given] == [["1", "2"], ["3"], ["4"], []]
    assert [answer["notices"][0]["code"] for answer in given[2:]] == ["skipped"] * 2
    assert [answer["notices"][0]["id"] for answer in given[2:]] == ["2", "1"]


def test_a_near_twin_of_the_same_group_is_named(base: Path) -> None:
    given = answers(base, create("UserService"), create("Other"), create("user_service"))
    assert [codes(answer) for answer in given] == [[], [], ["near_twin"]]
    assert given[2]["notices"][0]["twinId"] == "1"


@pytest.mark.parametrize("first", [create("N"), add("none", "x"), create()], ids=["done", "failed", "nothing"])
def test_the_conversion_of_a_file_is_told_once_by_the_first_write_that_is_stored(base: Path, first: bytes) -> None:
    base.mkdir()
    shutil.copyfile(PREDECESSOR, base / "default.db")
    given = answers(base, said("read_graph"), first, create("O"), create("P"), add("P", "x"))
    told = [number for number, answer in enumerate(given) if "repaired" in codes(answer)]
    assert told == [1 if given[1]["ok"] else 2]


def test_a_read_sees_the_writes_before_it(base: Path) -> None:
    lines = [create("A"), said("open_nodes", entities=["A"]), add("A", "amber"), said("search_nodes", query="amber")]
    lines += [create("B"), create("C"), said("read_graph"), said("list_categories")]
    given = [answer["result"] for answer in answers(base, *lines)]
    assert ([len(given[index]["entities"]) for index in (1, 3, 6)], given[7]) == ([1, 1, 3], ["default"])


def test_a_deletion_amid_a_stream_takes_what_came_before(base: Path) -> None:
    given = answers(base, create("A"), said("delete_category", category="default"), create("B"))
    assert ([answer["ok"] for answer in given], stored(base)) == ([True] * 3, {"B": []})


def test_a_bad_category_fails_alone(base: Path) -> None:
    lines = [create("A"), create("B", category="Bad"), create("C"), said("read_graph", category="Bad"), create("D")]
    assert [answer["ok"] for answer in answers(base, *lines)] == [True, False, True, False, True]
    assert list(stored(base)) == ["A", "C", "D"]


def test_many_categories_in_one_stream(base: Path) -> None:
    lines = [create(f"{n}", category=f"c{n % 60:02}") for n in range(240)]
    *_, listed = answers(base, *lines, said("list_categories"))
    assert listed["result"] == [f"c{n:02}" for n in range(60)]
    assert list(stored(base, "c07")) == ["7", "67", "127", "187"]


def test_the_next_group_sees_what_another_process_committed(base: Path, store: Store) -> None:
    written: list[bytes] = []
    with Store(base) as own, Batch(own, written.append) as batch:
        for number in range(3):
            call(store, "create_entities", {"entities": [{"name": f"{number}"}]})
            batch.feed([(1, said("read_graph")), (2, create(f"own {number}")), (3, said("read_graph"))])
            batch.settle()
    reads = [line for line in b"".join(written).splitlines() if b'"entities"' in line]
    assert [len(json.loads(line)["result"]["entities"]) for line in reads] == [1, 2, 3, 4, 5, 6]


MIXED = [create("A"), add("Z", "x"), b"{", create("B"), said("nope"), said("read_graph")]


def test_errors_only_prints_the_failures(base: Path) -> None:
    assert [answer["line"] for answer in answers(base, *MIXED, errors_only=True)] == [2, 3, 5]


def test_stop_on_error_skips_the_rest(base: Path) -> None:
    given = answers(base, *MIXED, stop_on_error=True)
    assert [codes(answer) for answer in given] == [[], ["not_found"], *[["skipped"]] * 4]
    assert stored(base) == {"A": []}


@pytest.mark.parametrize("durable", ["full", "normal"])
def test_the_summary_counts_and_stands_last(tmp_path: Path, base: Path, mmem: Any, durable: str) -> None:
    (tmp_path / "in").write_bytes(b"\n".join([*MIXED, b"", said("read-graph")]))
    ran = mmem("batch", "in", "--summary", "--durable", durable)
    *given, last = map(json.loads, ran.stdout.splitlines())
    summary = last["summary"]
    assert (ran.exit_status, len(given), list(last)) == (1, 7, ["summary"])
    assert (summary["requests"], summary["ok"], summary["failed"]) == (7, 4, 3)
    assert summary["tools"] == {"add_observations": 1, "create_entities": 2, "read_graph": 2}
    assert summary["errors"] == {"invalid_json": 1, "not_found": 1, "unknown_tool": 1}
    assert {"seconds", "requestsPerSecond"} < set(summary)


def test_when_sqlite_ends_a_group_by_itself_nothing_of_it_is_said_to_be_stored(base: Path, store: Store) -> None:
    # As it does where the disk is full in the middle of a statement.
    assert answers(base, create("old"))[0]["ok"]
    written: list[bytes] = []
    with Batch(store, written.append) as batch:
        batch.feed([(1, said("add_observations", observations=[{"entityName": "old", "contents": ["x"]}]))])
        assert batch._transaction is not None
        batch._transaction.conn.execute("ROLLBACK")
        batch.feed([(2, said("add_observations", observations=[{"entityName": "old", "contents": ["y"]}]))])
        batch.finish()
    given = [json.loads(line) for line in b"".join(written).splitlines()]
    assert [codes(answer) for answer in given] == [["storage"], ["storage"]]
    assert stored(base) == {"old": []}


def test_a_search_on_its_own_heals_a_damaged_index(base: Path) -> None:
    assert answers(base, create("amber"))[0]["ok"]
    with closing(sqlite3.connect(base / "default.db", isolation_level=None)) as conn:
        conn.execute("DELETE FROM fts_content_data WHERE id > 10")
    found, again = answers(base, *[said("search_nodes", query="amber OR nothing")] * 2)
    assert ([notice["code"] for notice in found["notices"]], "notices" in again) == (["index_healed"], False)
    assert len(found["result"]["entities"]) == len(again["result"]["entities"]) == 1

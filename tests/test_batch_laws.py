"""Laws of `mmem batch`: sharing a commit, or a stream with others, never shows in answers or stores."""

import json
import shutil
import tempfile
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mmem import envelope
from mmem.batch import Batch
from mmem.errors import MmemError
from mmem.registry import call, carry_out
from mmem.store import Store
from mmem.whole_batch import WholeBatch

Said = dict[str, Any]  # a request: its tool and its arguments

PREDECESSOR = Path(__file__).with_name("predecessor") / "checkpointed.db"
CATEGORIES = ["default", "work", "old"]

# A small world, so that requests meet each other; with some that fail.
NAMES = st.sampled_from(["A"] * 6 + ["B"] * 4 + ["a", "a b", "A_B", "café", "cafe\u0301", "Alpha", ""])
TYPES = st.sampled_from([None, None, None, "", "t"])
TEXTS = st.sampled_from(["x", "y", "amber", "two words"])
KINDS = st.sampled_from([None, None, "v", "note-2", ""])
SOURCES = st.sampled_from([None, None, "s"])
STAMPS = st.sampled_from(["2026-01-31", "2026-01-31T09:30:00Z"])
FLAGS = st.sampled_from([None, None, None, True])
PROPERTIES = st.sampled_from([None, None, {"a": 1}, {"a": "amber"}])


def _object(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Said]:
    """Draw an object; what is None is left out."""
    return st.fixed_dictionaries(fields).map(lambda drawn: {key: one for key, one in drawn.items() if one is not None})


def _list(items: st.SearchStrategy[Any], least: int = 1, most: int = 2) -> st.SearchStrategy[list[Any]]:
    return st.lists(items, min_size=least, max_size=most)


def _tool(name: str, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Said]:
    category = st.sampled_from([None] * 8 + ["work", "work", "old", "Bad"])
    return _object(tool=st.just(name), arguments=_object(category=category, **arguments))


OBSERVATIONS = _object(text=TEXTS, observationType=KINDS, source=SOURCES, timestamp=STAMPS)
ENTITIES = _object(
    name=NAMES, entityType=TYPES, properties=PROPERTIES, observations=st.none() | _list(OBSERVATIONS, 0, 3)
)
REFERENCES = _object(name=NAMES, entityType=TYPES) | _object(id=st.integers(1, 4)) | NAMES
ENDS = _object(name=NAMES, entityType=TYPES) | _object(id=st.integers(1, 4))
RELATIONS = _object(**{"from": ENDS, "to": ENDS}, relationType=st.sampled_from(["r", "q"]), properties=PROPERTIES)
CREATE = _tool("create_entities", entities=_list(ENTITIES, 0, 3), override=FLAGS)
WRITES = st.one_of(
    CREATE,
    CREATE,
    CREATE,
    _tool("create_relations", relations=_list(RELATIONS), override=FLAGS),
    _tool(
        "add_observations",
        observations=_list(_object(entityName=NAMES, entityType=TYPES, contents=_list(OBSERVATIONS))),
        override=FLAGS,
    ),
    _tool("delete_entities", entities=_list(REFERENCES)),
    _tool("rename", entity=REFERENCES, newName=NAMES),
    _tool("retype", entity=REFERENCES, newType=st.sampled_from(["", "t"])),
    _tool("merge", into=REFERENCES, **{"from": REFERENCES}),
    _tool("delete_observations", deletions=_list(_object(entityName=NAMES, observationType=KINDS, source=SOURCES))),
    _tool("delete_relations", relations=_list(_object(id=st.integers(1, 3)))),
)
READS = st.one_of(
    _tool("read_graph", limit=st.sampled_from([None, 1, 2])),
    _tool("search_nodes", query=st.sampled_from(["amber", "x", "two", "A", "cafe", ""])),
    _tool("open_nodes", entities=_list(REFERENCES), related=FLAGS),
    _tool("neighbors", entity=REFERENCES, depth=st.sampled_from([None, 2])),
    _tool("path", **{"from": REFERENCES, "to": REFERENCES}),
    st.just({"tool": "list_categories"}),
)
DELETIONS = _object(tool=st.just("delete_category"), arguments=_object(category=st.sampled_from([*CATEGORIES, "x"])))
ANY = st.integers(0, 11).flatmap(lambda n: DELETIONS if n == 0 else READS if n < 4 else WRITES)

NOTHING: Said = {"tool": "create_entities", "arguments": {"entities": []}}
NAMED: Said = {"tool": "create_entities", "arguments": {"entities": [{"name": "A"}]}}

LAW = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def line(request: Said) -> bytes:
    return json.dumps(request).encode()


def fresh(place: Path) -> Path:
    """Return a new base directory, in which `old` is a predecessor's file and `default` may come to be."""
    base = Path(tempfile.mkdtemp(dir=place)) / "base"
    base.mkdir()
    shutil.copyfile(PREDECESSOR, base / "old.db")
    return base


def cleaned(answers: bytes, base: Path) -> list[Any]:
    return [json.loads(one) for one in answers.decode().replace(str(base), "BASE").splitlines()]


def together(base: Path, requests: Sequence[Said], kind: type[Batch] = Batch, **options: Any) -> list[Any]:
    written: list[bytes] = []
    with Store(base) as store, kind(store, written.append, **options) as batch:
        batch.feed([(number, line(request)) for number, request in enumerate(requests, 1)])
        batch.finish()
    return cleaned(b"".join(written), base)


def line_by_line(base: Path, requests: Sequence[Said]) -> list[Any]:
    """Answer each request as the only one of its group."""
    written: list[bytes] = []
    with Store(base) as store, Batch(store, written.append) as batch:
        for number, request in enumerate(requests, 1):
            batch.feed([(number, line(request))])
            batch.settle()
            assert len(written) == number
    return cleaned(b"".join(written), base)


def apart(base: Path, requests: Sequence[Said]) -> list[Any]:
    """Answer each request as a process of its own would, without any batch."""
    answers = []
    for number, request in enumerate(requests, 1):
        asked = envelope.read(number, line(request))
        with Store(base) as store:
            try:
                if isinstance(asked, envelope.Refused):
                    raise asked.error
                answers.append(envelope.answer(asked, carry_out(store, asked.tool, asked.request)))
            except MmemError as error:
                answers.append(envelope.refusal(number, asked.id, error))
    return cleaned(b"".join(answers), base)


def stores(base: Path) -> Said:
    with Store(base) as store:
        return {
            category: [
                msgspec.to_builtins(call(store, tool, {"category": category, **more}).result)
                for tool, more in (("read_graph", {}), ("search_nodes", {"query": "amber"}))
            ]
            for category in call(store, "list_categories").result
        }


@settings(LAW, max_examples=80)
@example(requests=[NOTHING, NOTHING, NAMED])
@example(requests=[NAMED, {**NAMED, "arguments": {**NAMED["arguments"], "category": "Bad"}}, NAMED])
@given(requests=_list(ANY, 1, 10))
def test_a_batch_is_the_same_as_its_requests_one_by_one(tmp_path: Path, requests: list[Said]) -> None:
    bases = [fresh(tmp_path) for _ in range(3)]
    expected = apart(bases[0], requests)
    assert together(bases[1], requests) == expected
    assert line_by_line(bases[2], requests) == expected
    assert stores(bases[0]) == stores(bases[1]) == stores(bases[2])


@settings(LAW, max_examples=50)
@given(requests=_list(WRITES | READS, 1, 8))
def test_an_atomic_batch_is_the_same_where_nothing_fails_and_nothing_else(tmp_path: Path, requests: list[Said]) -> None:
    bases = [fresh(tmp_path) for _ in range(2)]
    before = stores(bases[1])
    expected = apart(bases[0], requests)
    answers = together(bases[1], requests, WholeBatch, atomic=True)
    failed = next((number for number, answer in enumerate(expected) if not answer["ok"]), None)
    if failed is None:
        assert answers == expected
        assert stores(bases[0]) == stores(bases[1])
    else:
        codes = [answer["error"]["code"] for answer in answers]
        assert codes[:failed] == ["rolled_back"] * failed
        assert answers[failed]["error"] == expected[failed]["error"]
        assert codes[failed + 1 :] == ["skipped"] * (len(requests) - failed - 1)
        assert stores(bases[1]) == before


@settings(LAW, max_examples=50)
@given(requests=_list(WRITES | READS, 1, 8))
def test_a_dry_run_answers_the_same_and_changes_nothing(tmp_path: Path, requests: list[Said]) -> None:
    bases = [fresh(tmp_path) for _ in range(2)]
    before = stores(bases[1])
    written: list[bytes] = []
    with Store(bases[1], dry_run=True) as store, WholeBatch(store, written.append, dry_run=True) as batch:
        batch.feed([(number, line(request)) for number, request in enumerate(requests, 1)])
        batch.finish()
    assert cleaned(b"".join(written), bases[1]) == apart(bases[0], requests)
    assert stores(bases[1]) == before


def interleavings(first: Sequence[Said], second: Sequence[Said]) -> list[tuple[list[Said], list[int]]]:
    """Return every serial order of two batches' requests, with the places of the first batch's."""
    size = len(first) + len(second)
    orders = []
    for places in combinations(range(size), len(first)):
        one, other = iter(first), iter(second)
        orders.append(([next(one if place in places else other) for place in range(size)], list(places)))
    return orders


def _without_lines(answers: list[Any]) -> list[Any]:
    return [{key: value for key, value in answer.items() if key != "line"} for answer in answers]


@settings(LAW, max_examples=60)
@given(first=_list(WRITES | READS, 2, 3), second=_list(WRITES | READS, 2, 3))
def test_two_batches_at_once_are_some_serial_order(tmp_path: Path, first: list[Said], second: list[Said]) -> None:
    base = fresh(tmp_path)
    gate, answers = Barrier(2), [[{}], [{}]]

    def run(which: int, requests: list[Said]) -> None:
        gate.wait()
        answers[which] = together(base, requests)

    threads = [Thread(target=run, args=one) for one in enumerate((first, second))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen = (_without_lines(answers[0]), _without_lines(answers[1]), stores(base))
    for order, places in interleavings(first, second):
        serial = fresh(tmp_path)
        given = _without_lines(apart(serial, order))
        mine = [given[place] for place in places]
        theirs = [answer for place, answer in enumerate(given) if place not in places]
        if seen == (mine, theirs, stores(serial)):
            return
    pytest.fail(f"no serial order gives {seen}")

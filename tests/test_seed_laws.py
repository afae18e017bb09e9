"""A random graph, written in any of the forms, becomes that graph; seeded again it changes nothing."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mmem.errors import MmemError
from mmem.registry import call
from mmem.seeding import run
from mmem.seeding.documents import read
from mmem.seeding.joining import join
from mmem.store import Store

_TRAPS = st.sampled_from(
    ["no", "1.10", "12:30", "~", "null", "2024-01-05", "A b", "A", "b", "x (y)", '"q"', "a: b", "# c"]
)
_ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
_TEXTS = _TRAPS | _ANY
_NAMES = _TEXTS.filter(lambda text: not text.isspace())
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 63) - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)
_PROPERTIES = st.none() | st.dictionaries(_TEXTS, _JSON, min_size=1, max_size=3)
_OBSERVATIONS = st.lists(
    st.fixed_dictionaries(
        {"text": _TEXTS},
        optional={
            "observationType": _TEXTS,
            "source": _TEXTS,
            "timestamp": st.sampled_from(["2026-01-31", "2026-01-31T09:30:00Z"]),
            "properties": st.dictionaries(_TEXTS, _JSON, min_size=1, max_size=2),
        },
    ),
    max_size=4,
    unique_by=lambda one: (_nfc(one.get("observationType", "")), one.get("source", "")),
)


def _nfc(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFC", text)


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    """Return a graph with the keys of the tools, whose names and types are in NFC."""
    keys = draw(st.lists(st.tuples(_NAMES.map(_nfc), (st.just("") | _NAMES).map(_nfc)), max_size=5, unique=True))
    entities = [
        {"name": name, "entityType": kind, "properties": draw(_PROPERTIES), "observations": draw(_OBSERVATIONS)}
        for name, kind in keys
    ]
    ends = st.sampled_from(keys) if keys else st.nothing()
    triples = draw(st.lists(st.tuples(ends, _NAMES.map(_nfc), ends), max_size=4, unique=True)) if keys else []
    relations = [(begin, kind, end, draw(_PROPERTIES)) for begin, kind, end in triples]
    return {"entities": entities, "relations": relations}


def _compact(one: dict[str, Any]) -> Any:
    """Return an observation in the form that a person would choose."""
    reserved = {"text", "type", "observationType", "source", "timestamp", "properties"}
    kind = one.get("observationType", "")
    if set(one) == {"text"}:
        return one["text"]
    if kind and kind not in reserved:
        return {kind: one["text"], **{key: one[key] for key in one.keys() - {"text", "observationType"}}}
    return one


def _entity(one: dict[str, Any]) -> dict[str, Any]:
    record = {"type": one["entityType"], "observations": [_compact(item) for item in one["observations"]]}
    return {**record, **({"properties": one["properties"]} if one["properties"] else {})}


def _relation(begin: Any, kind: str, end: Any, properties: Any) -> dict[str, Any]:
    ends = {"from": {"name": begin[0], "type": begin[1]}, "to": {"name": end[0], "type": end[1]}}
    return {**ends, "type": kind, **({"properties": properties} if properties else {})}


def records(graph: dict[str, Any]) -> list[dict[str, Any]]:
    """Write a graph as one document of records."""
    entities = [{"name": one["name"], **_entity(one)} for one in graph["entities"]]
    return [{"entities": entities, "relations": [_relation(*one) for one in graph["relations"]]}]


def by_name(graph: dict[str, Any]) -> list[dict[str, Any]]:
    """Write a graph with its entities by name, relations below them, in as many documents as names need."""
    documents: list[dict[str, Any]] = []
    for one in graph["entities"]:
        own = [
            (kind, end, more)
            for begin, kind, end, more in graph["relations"]
            if begin == (one["name"], one["entityType"])
        ]
        below = [
            {key: value for key, value in _relation(("", ""), kind, end, more).items() if key != "from"}
            for kind, end, more in own
        ]
        document = next((d for d in documents if one["name"] not in d["entities"]), None)
        if document is None:
            documents.append(document := {"entities": {}})
        document["entities"][one["name"]] = {**_entity(one), **({"relations": below} if below else {})}
    return documents or [{"entities": {}}]


def stored(store: Store) -> dict[str, Any]:
    """Return what a store holds, as `graphs` gives it."""
    graph = call(store, "read_graph").result
    entities = [
        {
            "name": one.name,
            "entityType": one.entity_type,
            "properties": one.properties,
            "observations": [
                (each.observation_type, each.source, each.text, each.properties) for each in one.observations
            ],
        }
        for one in graph.entities
    ]
    relations = [
        ((one.from_name, one.from_type), one.relation_type, (one.to_name, one.to_type), one.properties)
        for one in graph.relations
    ]
    return {"entities": sorted(entities, key=repr), "relations": sorted(relations, key=repr)}


def wanted(graph: dict[str, Any]) -> dict[str, Any]:
    """Return a graph as a store holds it."""
    entities = [
        {
            **one,
            "observations": [
                (_nfc(each.get("observationType", "")), each.get("source", ""), each["text"], each.get("properties"))
                for each in one["observations"]
            ],
        }
        for one in graph["entities"]
    ]
    return {"entities": sorted(entities, key=repr), "relations": sorted(graph["relations"], key=repr)}


def seed(store: Store, text: str, *, override: bool = False) -> Any:
    (outcome,) = run.seed(store, join(read(text.encode(), "random.yaml"), "default"), override=override)
    return outcome


def dump(base: str) -> list[str]:
    with closing(sqlite3.connect(Path(base) / "default.db")) as conn:
        return [line for line in conn.iterdump() if "fts_content" not in line]


@pytest.mark.parametrize("write", [records, by_name])
@settings(max_examples=40, deadline=None)
@given(graph=graphs())
def test_a_graph_becomes_that_graph_and_a_second_time_nothing(write: Callable[[Any], Any], graph: Any) -> None:
    text = yaml.dump_all(write(graph), Dumper=_Plain, sort_keys=False)
    with TemporaryDirectory() as base, Store(base) as store:
        seed(store, text)
        assert stored(store) == wanted(graph)
        if graph["entities"]:
            store.close()
            before = dump(base)
            assert seed(store, text).result.is_same
            assert seed(store, text, override=True).result.is_same
            store.close()
            assert dump(base) == before


@settings(max_examples=40, deadline=None)
@given(first=graphs(), second=graphs())
def test_override_makes_any_state_that_of_the_file(first: Any, second: Any) -> None:
    old, new = (yaml.dump_all(records(one), Dumper=_Plain) for one in (first, second))
    with TemporaryDirectory() as base, Store(base) as store:
        seed(store, old)
        seed(store, new, override=True)
        names = {(one["name"], one["entityType"]): one for one in wanted(second)["entities"]}
        for one in stored(store)["entities"]:
            if (same := names.get((one["name"], one["entityType"]))) is not None:
                assert one["properties"] == same["properties"]
                assert {item[2] for item in one["observations"]} == {item[2] for item in same["observations"]}
        assert seed(store, new, override=True).result.is_same


@settings(max_examples=300, deadline=None)
@given(text=st.text(st.sampled_from("ab:-[]{},'\"\n \t&*!#|>~?%@é(") | st.characters(), max_size=60))
def test_no_text_makes_reading_fail_otherwise_than_in_one_line(text: str) -> None:
    said = "random.yaml:"
    try:
        read(f"entities:\n  {text}".encode("utf-8", "surrogatepass"), "random.yaml")
    except MmemError as error:
        said = error.message
    assert (said.startswith("random.yaml:"), len(said.splitlines())) == (True, 1)


class _Plain(yaml.SafeDumper):
    """Writes what is equal twice, not as an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

"""Formats: every one carries the same graph, and reads back as it was."""

import json
from typing import Any

import msgspec
import pytest
import toon_format
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mmem.formats import formatted
from mmem.records import Entity, Graph, Observation, Relation

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
scalar = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | text
values = st.recursive(scalar, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3))
properties = st.none() | st.dictionaries(text, values, min_size=1, max_size=3)
observations = st.builds(
    Observation,
    id=st.integers(1, 10**9).map(str),
    observation_type=text,
    text=text,
    timestamp=st.none() | st.just("2026-01-31T09:30:00.000Z"),
    source=text,
    properties=properties,
)
entities = st.builds(
    Entity,
    id=st.integers(1, 10**9).map(str),
    name=text,
    entity_type=text,
    properties=properties,
    observations=st.lists(observations, max_size=3),
)
relations = st.builds(
    Relation,
    id=st.integers(1, 10**9).map(str),
    from_name=text,
    from_type=text,
    to_name=text,
    to_type=text,
    relation_type=text,
    properties=properties,
    from_id=st.just("1"),
    to_id=st.just("2"),
)
graphs = st.builds(Graph, entities=st.lists(entities, max_size=3), relations=st.lists(relations, max_size=3))


def from_json_lines(output: str) -> dict[str, list[Any]]:
    graph: dict[str, list[Any]] = {"entities": [], "relations": []}
    for line in output.split("\n")[:-1]:
        record = json.loads(line)
        graph["entities" if record.pop("type") == "entity" else "relations"].append(record)
    return graph


READERS: dict[str, Any] = {
    "json": json.loads,
    "jsonl": from_json_lines,
    "toon": toon_format.decode,
    "yaml": yaml.safe_load,
}


@pytest.mark.parametrize("on_terminal", [False, True])
@pytest.mark.parametrize("name", ["json", "jsonl", "yaml"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs)
def test_a_graph_reads_back_as_it_was(name: str, on_terminal: bool, graph: Graph) -> None:
    output = formatted(graph, name, on_terminal=on_terminal).decode()
    assert READERS[name](output) == msgspec.to_builtins(graph)


@settings(max_examples=100, deadline=None)
@given(graph=graphs)
def test_a_graph_in_toon_decodes_to_the_same_graph(graph: Graph) -> None:
    assert toon_format.decode(formatted(graph, "toon").decode()) == msgspec.to_builtins(graph)


def test_json_has_two_spaces_and_no_ascii_escapes(mmem: Any) -> None:
    ran = mmem("create-entities", "東京", "-o", "é")
    assert '[\n  {\n    "id": "1",\n    "name": "東京",' in ran.stdout


def test_read_graph_in_toon_decodes_to_what_json_says(mmem: Any) -> None:
    mmem("seed", "demo")
    assert toon_format.decode(mmem("read-graph", "-f", "toon").stdout) == mmem("read-graph").json


def test_json_lines_name_each_record(mmem: Any) -> None:
    mmem("seed", "demo")
    graph = mmem("read-graph").json
    kinds = [json.loads(line)["type"] for line in mmem("read-graph", "-f", "jsonl").stdout.splitlines()]
    assert kinds == ["entity"] * len(graph["entities"]) + ["relation"] * len(graph["relations"])
    assert set(kinds) == {"entity", "relation"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("json", '"Entities deleted successfully"\n'),
        ("jsonl", '"Entities deleted successfully"\n'),
        ("yaml", "Entities deleted successfully\n"),
        ("toon", "Entities deleted successfully\n"),
        ("table", "Entities deleted successfully\n"),
    ],
)
def test_a_sentence_is_a_sentence_in_every_format(mmem: Any, name: str, shown: str) -> None:
    mmem("create-entities", "A")
    assert mmem("delete-entities", "A", "--yes", "-f", name).stdout == shown


def test_added_observations_are_shown_in_every_format(mmem: Any) -> None:
    mmem("create-entities", "A")
    for number, name in enumerate(["json", "jsonl", "yaml", "toon", "table"]):
        assert f"text {number}" in mmem("add-observations", "A", f"text {number}", "-f", name).stdout

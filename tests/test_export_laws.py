"""What holds for the export of any graph: other programs' parsers read it, and give back what was stored."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO
from xml.etree import ElementTree as ET

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mmem.exporting.formats import FORMATS
from mmem.exporting.places import Folder, StandardOutput
from mmem.exporting.run import export
from mmem.exporting.selection import Wanted
from mmem.exporting.yaml_text import block, flow
from mmem.importing.job import Rules
from mmem.importing.run import Imported, run
from mmem.importing.sources import Source
from mmem.outcomes import Notice
from mmem.records import Graph
from mmem.registry import call
from mmem.seeding.documents import read
from mmem.seeding.joining import join
from mmem.seeding.run import seed
from mmem.store import Store
from mmem.values import nfc
from mmem.visible import visible

NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")

character = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
telling = st.sampled_from(
    "\n|\r|\r\n|\t| |  |: | #|- |? |---|...|'|\"|\\|{|}|[|]|,|&|*|!|>|%|@|`|<b>|&amp;|no|~|null|1.10|2024-01-05|1e3|"
    "\x07|\x1b|\x85|\u2028|\ufeff|\u202e|\U0001f389|é|名".split("|")
)
text = st.lists(telling | character | st.text(character, max_size=4), max_size=8).map("".join)
key = text.filter(lambda one: bool(one.strip()))
scalar = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(scalar | text, lambda one: st.lists(one, max_size=3) | st.dictionaries(text, one, max_size=3))
properties = st.none() | st.dictionaries(text | st.sampled_from(["name", "type", "from", "label"]), values, max_size=3)
observation = text | st.fixed_dictionaries(
    {"text": text | text.map(lambda one: one * 30)},
    optional={
        "observationType": text,
        "source": text,
        "timestamp": st.sampled_from(["2026-01-31", "2026-01-31T09:30:00Z"]),
        "properties": properties,
    },
)
entity = st.fixed_dictionaries(
    {"name": key},
    optional={"entityType": text, "properties": properties, "observations": st.lists(observation, max_size=4)},
)


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    """Return requests for entities, some of one name, and for relations between them."""
    entities = draw(st.lists(entity, max_size=4))
    if entities and draw(st.booleans()):
        entities.append({"name": entities[0]["name"], "entityType": "another"})
    places = st.integers(1, max(len(entities), 1))
    relation = st.tuples(places, places, key, properties)
    relations = draw(st.lists(relation, max_size=4)) if entities else []
    return {"entities": entities, "relations": relations}


@contextmanager
def stored(asked: dict[str, Any]) -> Iterator[tuple[Store, Graph]]:
    """Store a graph in a fresh place."""
    with TemporaryDirectory() as folder, Store(Path(folder) / "base") as store:
        ids = [one.id for one in call(store, "create_entities", {"entities": asked["entities"]}).result]
        relations = [
            {"from": {"id": ids[a % len(ids)]}, "to": {"id": ids[b % len(ids)]}, "relationType": kind, "properties": p}
            for a, b, kind, p in asked["relations"]
        ]
        call(store, "create_relations", {"relations": relations})
        yield store, call(store, "read_graph").result


def exported(store: Store, form: str) -> tuple[str, list[Notice]]:
    """Return a graph in a format, and the notices."""
    written: list[bytes] = []
    outcome = export(store, ["default"], Wanted(), form, StandardOutput(written.append, None))
    return b"".join(written).decode(), list(outcome.notices)


def law(test: Any) -> Any:
    return settings(max_examples=60, deadline=None)(given(asked=graphs())(test))


@law
def test_two_exports_are_byte_equal(asked: dict[str, Any]) -> None:
    with stored(asked) as (store, _):
        for form in sorted(FORMATS.keys() - {"csv", "html", "toon"}):
            assert repr(exported(store, form)) == repr(exported(store, form))


@law
def test_jsonl_holds_everything(asked: dict[str, Any]) -> None:
    with stored(asked) as (store, graph):
        records = [json.loads(line) for line in exported(store, "jsonl")[0].split("\n")[:-1]]
    entities = [{"type": "entity", **one} for one in msgspec.to_builtins(graph.entities)]
    assert records == entities + [{"type": "relation", **one} for one in msgspec.to_builtins(graph.relations)]


@law
def test_memory_jsonl_holds_names_texts_and_properties(asked: dict[str, Any]) -> None:
    with stored(asked) as (store, graph):
        lines, notices = exported(store, "memory-jsonl")
    records = [json.loads(line) for line in lines.split("\n")[:-1]]
    known = [
        {
            "type": "entity",
            "name": one.name,
            "entityType": one.entity_type,
            "observations": [o.text for o in one.observations],
        }
        for one in graph.entities
    ] + [
        {"type": "relation", "from": one.from_name, "to": one.to_name, "relationType": one.relation_type}
        for one in graph.relations
    ]
    given_properties = [one.properties or {} for one in (*graph.entities, *graph.relations)]
    assert records == [{**extra, **fields} for extra, fields in zip(given_properties, known, strict=True)]
    assert [list(one)[: len(fields)] for one, fields in zip(records, known, strict=True)] == [
        list(one) for one in known
    ]
    lost = sum(len(extra.keys() & fields.keys()) for extra, fields in zip(given_properties, known, strict=True))
    counted = [notice.details["counts"] for notice in notices if "counts" in notice.details]
    assert (counted or [{}])[0].get("property that has the name of a field", 0) == lost


@law
def test_yaml_seeds_the_same_graph(asked: dict[str, Any]) -> None:
    with stored(asked) as (store, graph), Store(Path(store.base_dir, "other")) as other:
        documents = read(exported(store, "yaml")[0].encode(), "graph")
        seed(other, join(documents, "default"))
        again = call(other, "read_graph").result
    assert without_ids(again) == without_ids(graph)


def no_input() -> BinaryIO:
    raise AssertionError("nothing is read from standard input")


@contextmanager
def imported(store: Store, form: str) -> Iterator[tuple[Store, Imported, Graph]]:
    """Import an export into another place."""
    path = Path(store.base_dir).with_name(f"export.{form.replace('memory-', '')}")
    path.write_bytes(exported(store, form)[0].encode())
    with Store(Path(store.base_dir, "other")) as other:
        result = run(other, [Source(str(path), path.name)], no_input, Rules("default")).result
        yield other, result, call(other, "read_graph").result


@pytest.mark.parametrize("form", ["jsonl", "json", "yaml"])
def test_an_export_comes_back_by_import(form: str) -> None:
    @law
    def holds(asked: dict[str, Any]) -> None:
        with stored(asked) as (store, graph), imported(store, form) as (_, result, again):
            assert result.created == result.records == len(graph.entities) + len(graph.relations)
            assert again == graph if form != "yaml" else without_ids(again) == without_ids(graph)

    holds()


@law
def test_the_reference_servers_form_comes_back_by_import_as_far_as_it_goes(asked: dict[str, Any]) -> None:
    with stored(asked) as (store, graph), imported(store, "memory-jsonl") as (_, result, again):
        assert result.kept_aside == 0
    texts = {
        (one.name, one.entity_type): list(dict.fromkeys(o.text for o in one.observations)) for one in graph.entities
    }
    assert {(one.name, one.entity_type): [o.text for o in one.observations] for one in again.entities} == texts
    names = {(one.from_name, one.relation_type, one.to_name) for one in graph.relations}
    assert {(one.from_name, one.relation_type, one.to_name) for one in again.relations} == names


def without_ids(graph: Graph) -> Any:
    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: bare(item) for key, item in value.items() if key not in {"id", "fromId", "toId"}}
        return [bare(item) for item in value] if isinstance(value, list) else value

    entities, relations = msgspec.to_builtins(graph.entities), msgspec.to_builtins(graph.relations)
    return [
        {
            key: item if key == "properties" else bare(item)
            for key, item in one.items()
            if key not in {"id", "fromId", "toId"}
        }
        for one in (*entities, *relations)
    ]


@settings(max_examples=400, deadline=None)
@given(value=text | text.map(lambda one: one * 40), indent=st.integers(3, 12))
def test_yaml_gives_a_text_back_wherever_it_stands(value: str, indent: int) -> None:
    document = f"- k: {block(value, indent)}\n  flow: [{flow(value)}, {flow({value: 1})}]\n- {block(value, indent)}\n"
    for loaded in (yaml.safe_load(document), yaml.load(document, Loader=yaml.CSafeLoader)):
        assert loaded == [{"k": value, "flow": [value, {value: 1}]}, value]


@settings(max_examples=200, deadline=None)
@given(value=values)
def test_yaml_gives_properties_back_with_their_types(value: Any) -> None:
    for loaded in (yaml.safe_load(f"k: {flow(value)}\n"), yaml.load(f"- {flow(value)}\n", Loader=yaml.CSafeLoader)):
        assert repr(loaded["k"] if isinstance(loaded, dict) else loaded[0]) == repr(value)


@law
def test_csv_holds_everything(asked: dict[str, Any]) -> None:
    with stored(asked) as (store, graph):
        folder = Path(store.base_dir + "-tables")
        export(store, ["default"], Wanted(), "csv", Folder(str(folder), FORMATS["csv"], nested=False))
        tables = {
            file.stem: list(csv.reader(io.StringIO(file.read_bytes().decode(), newline="")))
            for file in folder.iterdir()
        }

    def packed(properties: Any) -> str:
        return "" if properties is None else msgspec.json.encode(properties).decode()

    assert tables["entities"][1:] == [
        [one.id, one.name, one.entity_type, packed(one.properties)] for one in graph.entities
    ]
    assert tables["observations"][1:] == [
        [o.id, one.id, o.observation_type, o.text, o.timestamp, o.source, packed(o.properties)]
        for one in graph.entities
        for o in one.observations
    ]
    assert tables["relations"][1:] == [
        [
            r.id,
            r.from_id,
            r.from_name,
            r.from_type,
            r.relation_type,
            r.to_id,
            r.to_name,
            r.to_type,
            packed(r.properties),
        ]
        for r in graph.relations
    ]


@law
def test_graphml_holds_names_types_and_texts(asked: dict[str, Any]) -> None:
    with stored(asked) as (store, graph):
        document, notices = exported(store, "graphml")
    space = {"g": "http://graphml.graphdrawing.org/xmlns"}
    root = ET.fromstring(document)
    columns = {key.get("id"): key.get("attr.name") for key in root.findall("g:key", space)}
    for kind in ("node", "edge"):
        names = [str(key.get("attr.name")).lower() for key in root.findall(f"g:key[@for='{kind}']", space)]
        assert len(names) == len(set(names))

    def cells(element: ET.Element) -> dict[str | None, str]:
        return {columns[cell.get("key")]: cell.text or "" for cell in element.findall("g:data", space)}

    def clean(given_text: str) -> str:
        return NOT_XML.sub("\ufffd", given_text)

    for node, one in zip(root.iterfind(".//g:node", space), graph.entities, strict=True):
        shown = cells(node)
        texts = [f"{o.observation_type}: {o.text}" if o.observation_type else o.text for o in one.observations]
        assert (node.get("id"), shown.get("label", "")) == (one.id, clean(one.name))
        assert (shown.get("entityType", ""), shown.get("observations", "")) == (
            clean(one.entity_type),
            clean("\n".join(texts)),
        )
        set_properties = [value for value in (one.properties or {}).values() if value is not None]
        assert len(shown.keys() - {"label", "entityType", "observations"}) == len(set_properties)
    for edge, other in zip(root.iterfind(".//g:edge", space), graph.relations, strict=True):
        assert (edge.get("id"), edge.get("source"), edge.get("target")) == (other.id, other.from_id, other.to_id)
        assert cells(edge)["label"] == clean(other.relation_type)
    assert ("\ufffd" in document) or not any(notice.code == "repaired" for notice in notices)


@pytest.mark.parametrize("value", [1, 1.5, True, "x", None, 2**63, [1], {"a": 1}])
@pytest.mark.parametrize("other", [1, 2.5, False, "y", 2**60, None])
def test_graphml_columns_have_a_type_that_all_values_have(value: Any, other: Any) -> None:
    asked = [{"name": "A", "properties": {"k": value}}, {"name": "B", "properties": {"k": other}}]
    with stored({"entities": asked, "relations": []}) as (store, _):
        root = ET.fromstring(exported(store, "graphml")[0])
    kinds = {key.get("attr.name"): key.get("attr.type") for key in root if key.tag.endswith("key")}
    read = {"boolean": json.loads, "long": int, "double": float, "string": str}[kinds.get("k") or "string"]
    shown = [read(cell.text) for cell in root.iter() if cell.get("key") == "n3"]
    expected = [one for one in (value, other) if one is not None]
    assert shown == expected or (kinds["k"] == "string" and len(shown) == len(expected))


@settings(max_examples=300, deadline=None)
@given(name=key, given_text=text.filter(lambda one: bool(one.strip())))
def test_markdown_shows_texts_as_texts(name: str, given_text: str) -> None:
    with stored({"entities": [{"name": name, "observations": [given_text]}], "relations": []}) as (store, _):
        document = exported(store, "markdown")[0]
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(document)
    opened = Counter(
        token.type for token in tokens if token.nesting >= 0 and token.type not in {"inline", "paragraph_open"}
    )
    assert opened == Counter({"heading_open": 2, "bullet_list_open": 1, "list_item_open": 1})
    inline = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in inline} <= {"text", "text_special", "softbreak", "hardbreak", "html_inline"}
    assert [child.content for child in inline if child.type == "html_inline"] == ['<a id="entity-1">', "</a>"]
    read = "".join(child.content for child in inline if child.type.startswith("text"))
    assert letters(visible(given_text)) in letters(read)
    assert letters(visible(nfc(name))) in letters(read)


def letters(given_text: str) -> str:
    return "".join(letter for letter in given_text if letter.isalnum())

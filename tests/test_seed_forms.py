"""The forms in which a seed file says entities, observations and relations; texts stay texts."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


def load(mmem: Run, text: str) -> Any:
    ran = mmem("seed", "-", stdin=text)
    assert (ran.stderr, ran.exit_status) == ("", 0)
    return mmem("read-graph").json


def entity(graph: Any) -> Any:
    (one,) = graph["entities"]
    for observation in one["observations"]:
        del observation["id"], observation["timestamp"]
    del one["id"]
    return one


A = {"name": "A", "entityType": "", "observations": [{"text": "x"}]}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("A: x", A),
        ("A: [x]", A),
        ("A: {observations: [x]}", A),
        ("A: {observations: [{text: x}]}", A),
        ("[{name: A, observations: [x]}]", A),
        ("[{name: A, entityType: '', properties: , observations: [x]}]", A),
        ("A:", {**A, "observations": []}),
        ("A: {}", {**A, "observations": []}),
        ("A: []", {**A, "observations": []}),
        ("A: {type: t}", {**A, "entityType": "t", "observations": []}),
        ("A: {entityType: t}", {**A, "entityType": "t", "observations": []}),
        ("A: {observations: [k: x]}", {**A, "observations": [{"observationType": "k", "text": "x"}]}),
        ("A: [{type: k, text: x}]", {**A, "observations": [{"observationType": "k", "text": "x"}]}),
        ("A: [{observationType: k, text: x}]", {**A, "observations": [{"observationType": "k", "text": "x"}]}),
        (
            "A: [{k: x, source: s, properties: {a: [1, true]}}]",
            {
                **A,
                "observations": [
                    {"observationType": "k", "text": "x", "source": "s", "properties": {"a": [1, True]}},
                ],
            },
        ),
        ("A: [x, y]", {**A, "observations": [{"text": "x"}, {"observationType": "note-2", "text": "y"}]}),
        (
            "A: [x, y, note-2: z]",
            {
                **A,
                "observations": [
                    {"text": "x"},
                    {"observationType": "note-3", "text": "y"},
                    {"observationType": "note-2", "text": "z"},
                ],
            },
        ),
        ("A: [x, k: x]", {**A, "observations": [{"text": "x"}, {"observationType": "k", "text": "x"}]}),
    ],
)
def test_an_entity_in_every_form(mmem: Run, text: str, same: Any) -> None:
    assert entity(load(mmem, f"entities:\n  {text}\n")) == same


@pytest.mark.parametrize(
    "text",
    ["no", "1.10", "12:30", "2024-01-05", "~", "null", "true", "0x1F", "1_000", "1e5", ".nan", "=", "<<", "0o7", "+1"],
)
def test_a_text_is_what_is_written(mmem: Run, text: str) -> None:
    graph = load(
        mmem, f"entities:\n  {text}:\n    type: {text}\n    observations:\n      - {{{text}: {text}, source: {text}}}\n"
    )
    assert entity(graph) == {
        "name": text,
        "entityType": text,
        "observations": [{"observationType": text, "text": text, "source": text}],
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("1.10", 1.1),
        ("'1.10'", "1.10"),
        ("12", 12),
        ("~", None),
        ("2024-01-05", "2024-01-05"),
        ("12:30", "12:30"),
        ("[a, {b: 1}]", ["a", {"b": 1}]),
        ("=", "="),
        ('"\\x07"', "\x07"),
    ],
)
def test_below_properties_values_have_types(mmem: Run, text: str, value: object) -> None:
    assert load(mmem, f"entities: {{A: {{properties: {{k: {text}}}}}}}")["entities"][0]["properties"] == {"k": value}


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("|\n          one\n          two\n", "one\ntwo\n"),
        (">-\n          one\n          two\n", "one two"),
        ("' led by a space'", " led by a space"),
        ("# no text\n          but this", "but this"),
        ("R & D, 2 * 3! a&b *", "R & D, 2 * 3! a&b *"),
        ('"\\"quoted\\" \\u00e9"', '"quoted" é'),
        ("'*bold*'", "*bold*"),
        ("C# is not a comment # but this is", "C# is not a comment"),
        ("''", ""),
    ],
)
def test_texts_of_every_style(mmem: Run, text: str, stored: str) -> None:
    graph = load(mmem, f"entities:\n  A:\n    observations:\n      - {text}\n")
    assert [one["text"] for one in graph["entities"][0]["observations"]] == [stored]


ENTITIES = """
entities:
  A: {type: t}
  User Service:
  C D: {type: the type}
  E (x):
  Say "hi":
relations:
"""


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("A uses User Service", ("A", "uses", "User Service")),
        ("User Service is_used_by A", ("User Service", "is_used_by", "A")),
        ("User Service knows C D", ("User Service", "knows", "C D")),
        ("A (t) uses C D (the type)", ("A", "uses", "C D")),
        ("A uses E (x)", ("A", "uses", "E (x)")),
        ("""'"User Service" "talks to" "C D" (the type)'""", ("User Service", "talks to", "C D")),
        ('A says Say "hi"', ("A", "says", 'Say "hi"')),
        ("A\n    uses\n    C D", ("A", "uses", "C D")),
        ("{from: A, to: C D, type: uses}", ("A", "uses", "C D")),
        ("{from: {name: A, entityType: t}, to: {name: C D}, relationType: uses it}", ("A", "uses it", "C D")),
        ("A uses A", ("A", "uses", "A")),
        ("A 使う C D # why", ("A", "使う", "C D")),
    ],
)
def test_a_relation_in_every_form(mmem: Run, line: str, same: tuple[str, str, str]) -> None:
    graph = load(mmem, f"{ENTITIES}  - {line}\n")
    assert [(one["from"], one["relationType"], one["to"]) for one in graph["relations"]] == [same]


@pytest.mark.parametrize("line", ["uses C D", "uses C D (the type)", "{to: C D, type: uses}", '\'"uses" "C D"\''])
def test_a_relation_below_its_entity(mmem: Run, line: str) -> None:
    graph = load(mmem, f"entities:\n  C D: {{type: the type}}\n  A:\n    relations:\n      - {line}\n")
    assert [(one["from"], one["relationType"], one["to"]) for one in graph["relations"]] == [("A", "uses", "C D")]


def test_an_end_can_be_an_id_of_the_category(mmem: Run) -> None:
    mmem("create-entities", "Old")
    graph = load(mmem, "entities: {A: }\nrelations: [{from: A, to: {id: 1}, type: replaces}]\n")
    assert graph["relations"][0]["to"] == "Old"


def test_json_is_yaml(mmem: Run) -> None:
    text = '{"entities": [{"name": "A\\/b", "observations": ["x", {"text": "é\\u00e9"}]}],\n\t"relations": []}'
    assert load(mmem, text)["entities"][0]["name"] == "A/b"


@pytest.mark.parametrize("before", ["\ufeff", "# comment\n", "---\n", "%YAML 1.2\n---\n", "--- # one\n---\n"])
def test_what_may_stand_before_a_graph(mmem: Run, before: str) -> None:
    assert entity(load(mmem, before + "entities: {A: x}\n...\n")) == A


def test_lines_may_end_as_on_windows(mmem: Run) -> None:
    assert entity(load(mmem, "entities:\r\n  A:\r\n    - x\r\n")) == A


def test_names_are_one_in_every_normal_form(mmem: Run) -> None:
    graph = load(mmem, "entities:\n  Cafe\u0301: x\n  B:\nrelations:\n  - B likes Caf\u00e9\n")
    assert (graph["entities"][0]["name"], graph["relations"][0]["to"]) == ("Caf\u00e9", "Caf\u00e9")


def test_the_worlds_that_ship_with_mmem_hold_what_they_say(mmem: Run) -> None:
    mmem("seed", "demo", "research", "household")
    assert len(mmem("read-graph").json["entities"]) == 12
    assert mmem("list-categories").json == ["default", "groceries", "household", "research"]
    found = mmem("search-nodes", "海洋微生物", "-c", "research").json
    assert found["entities"][0]["name"] == "山田 花子"
    (pipeline,) = mmem("search-nodes", "species", "-c", "research").json["entities"]
    assert [one["text"] for one in pipeline["observations"]][1] == "3.10"
    (tom,) = mmem("search-nodes", "coriander", "-c", "household").json["entities"]
    assert tom["name"] == "Tom"

"""Wrong requests: each gets its code and one sentence that names the place, and the store stays as it was."""

import datetime as dt
import json
import math
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mmem.errors import InvalidArguments, MmemError
from mmem.registry import call
from mmem.store import Store
from mmem.streams import visible

LONG = "x" * 1_001  # characters: one more than a name may have
HUGE = "x" * (2 << 20)  # bytes: twice what a text or properties may have
LONE = "\ud83d"
TWINS = {"name": "Twin"}  # a name that two types share

GRAPH: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "create_entities",
        {
            "entities": [
                {"name": "A", "observations": ["plain", {"text": "v1", "observationType": "version"}]},
                {"name": "B", "entityType": "t"},
                {"name": "Twin", "entityType": "t", "observations": ["of the twin"]},
                {"name": "Twin", "entityType": "u"},
            ]
        },
    ),
    (
        "create_relations",
        {"relations": [{"from": "A", "to": "B", "relationType": "r", "properties": {"weight": 1}}]},
    ),
)

# A right request for each tool, which every table below makes wrong.
RIGHT: dict[str, dict[str, Any]] = {
    "create_entities": {"entities": [{"name": "New"}]},
    "create_relations": {"relations": [{"from": "B", "to": "A", "relationType": "new"}]},
    "add_observations": {"observations": [{"entityName": "A", "contents": ["new"]}]},
    "delete_entities": {"entities": ["A"]},
    "delete_observations": {"deletions": [{"entityName": "A"}]},
    "delete_relations": {"relations": [{"id": 1}]},
    "read_graph": {},
    "search_nodes": {"query": "plain"},
    "open_nodes": {"entities": ["A"]},
    "list_categories": {},
    "delete_category": {"category": "default"},
}
TOOLS = list(RIGHT)

REQUIRED = {
    "create_entities": "entities",
    "create_relations": "relations",
    "add_observations": "observations",
    "delete_entities": "entities",
    "delete_observations": "deletions",
    "delete_relations": "relations",
    "search_nodes": "query",
    "open_nodes": "entities",
    "delete_category": "category",
}
OPTIONAL = {
    "create_entities": ["override"],
    "create_relations": ["override"],
    "add_observations": ["override"],
    "read_graph": ["limit", "offset"],
    "search_nodes": ["limit", "observations"],
    "open_nodes": ["related"],
}

_NO_ARRAY = [5, 1.5, True, {}, "A", '{"name": "A"}', "[", None]
_NO_FLAG = [1, 0, "true", "yes", [], {}]
_NO_TEXT = [5, 1.5, True, [], {}]
_NO_NUMBER = ["5", 1.5, True, [], {}]
WRONG_TYPES: dict[str, list[Any]] = {
    "entities": _NO_ARRAY,
    "relations": _NO_ARRAY,
    "observations": _NO_ARRAY,
    "deletions": _NO_ARRAY,
    "override": _NO_FLAG,
    "related": _NO_FLAG,
    "query": [*_NO_TEXT, None, "", " \n\t"],
    "category": _NO_TEXT,
    "limit": [*_NO_NUMBER, 0, -1, 100_001, 1 << 63, 1 << 64],
    "offset": [*_NO_NUMBER, -1, 1 << 63, 1 << 64],
}


class Wrong(NamedTuple):
    """A wrong request, where it is wrong, and its code: from Python, and where JSON itself is at fault."""

    tool: str
    arguments: dict[str, Any]
    places: tuple[str, ...]
    code: str = "invalid_arguments"
    json_code: str = "invalid_arguments"


def _generated() -> list[Wrong]:
    """Return what every tool refuses: arguments missing, unknown and of the wrong type."""
    wrong = [Wrong(tool, {}, (name,)) for tool, name in REQUIRED.items()]
    wrong += [Wrong(tool, {**right, "frobnicate": 1}, ("$: ", "'frobnicate'")) for tool, right in RIGHT.items()]
    for tool, right in RIGHT.items():
        names = ["category", *OPTIONAL.get(tool, []), *([REQUIRED[tool]] if tool in REQUIRED else [])]
        for name in dict.fromkeys(names):
            values: list[Any] = WRONG_TYPES[name]
            if tool == "search_nodes" and name == "observations":
                values = [*_NO_TEXT, "some", "", "ALL"]
            if tool == "delete_category":
                values = [*_NO_TEXT, None, ""]
            wrong += [Wrong(tool, {**right, name: value}, (f"$.{name}",)) for value in values]
    return wrong


def _at(tool: str, argument: str, cases: list[tuple[Any, str]]) -> list[Wrong]:
    """Return a wrong request for each wrong item of the tool's list; its place is below that item."""
    return [Wrong(tool, {argument: [item]}, tuple(f"$.{argument}[0]{place}".split(" | "))) for item, place in cases]


def _entities(**change: Any) -> dict[str, Any]:
    return {"name": "New", **change}


def _observed(observation: Any) -> dict[str, Any]:
    return {"name": "New", "observations": ["fine", observation]}


def _relation(**change: Any) -> dict[str, Any]:
    return {"from": "B", "to": "A", "relationType": "new", **change}


def _from(end: Any) -> dict[str, Any]:
    return {"from": end, "to": "A", "relationType": "new"}


def _added(**change: Any) -> dict[str, Any]:
    return {"entityName": "A", "contents": ["fine"], **change}


# What is wrong with an observation to store, and where below the observation.
OBSERVATIONS: list[tuple[Any, str]] = [
    (None, ""),
    (5, ""),
    (True, ""),
    (["a"], ""),
    ({}, " | text"),
    ({"text": None}, ".text"),
    ({"text": 5}, ".text"),
    ({"text": ["a"]}, ".text"),
    ({"text": "a\0b"}, ".text | NUL"),
    ({"text": HUGE}, " | text | 1,048,576"),
    (HUGE, " | text | 1,048,576"),
    ("é" * (1 << 19) + "e", " | text | 1,048,577"),
    ({"text": "a", "type": "t"}, " | 'type'"),
    ({"text": "a", "content": "b"}, " | 'content'"),
    ({"text": "a", "observationtype": "t"}, " | 'observationtype' | did you mean 'observationType'"),
    ({"text": "a", "observationType": 5}, ".observationType"),
    ({"text": "a", "observationType": LONG}, ".observationType | 1,000"),
    ({"text": "a", "source": 5}, ".source"),
    ({"text": "a", "source": LONG}, ".source | 1,000"),
    ({"text": "a", "source": "\0"}, ".source | NUL"),
    ({"text": "a", "timestamp": 1767225600}, ".timestamp"),
    *(
        ({"text": "a", "timestamp": timestamp}, " | timestamp | ISO 8601")
        for timestamp in (
            "",
            "yesterday",
            "2026",
            "2026-02-30",
            "2026-1-1",
            "0000-01-01",
            "20260131",
            "2026-01-31T25:00",
            "2026-01-31T09:60",
            "2026-01-31T24:00:01Z",
            "2026-01-31T09:30:00+24:00",
            "2026-01-31T09:30:00Z\n",
            "٢٠٢٦-01-31",
            "31.01.2026",
        )
    ),
    ({"text": "a", "properties": []}, ".properties"),
    ({"text": "a", "properties": "x"}, ".properties"),
    ({"text": "a", "properties": "[1]"}, ".properties"),
    ({"text": "a", "properties": {"t": HUGE}}, " | properties | 1,048,576"),
    ({"text": "a", "properties": {"n": 1 << 64}}, ".properties.n | 64 bits"),
    ({"text": "a", "properties": {"n": -(1 << 63) - 1}}, ".properties.n | 64 bits"),
    ({"text": "a", "properties": {"a": [{"b c": "\0"}]}}, '.properties.a[0]["b c"] | NUL'),
]

# What is wrong with a reference to an entity, whatever the names of its keys.
BAD_IDS: list[Any] = ["x", "", "-1", "1.0", " 1", "1e3", "٣", "9" * 19, -1, 1 << 62, True, 1.5, [], {}]
REFERENCES: list[tuple[Any, str]] = [
    (None, ""),
    (True, ""),
    (1.5, ""),
    ([], ""),
    ({}, " | id | name"),
    ({"name": None}, " | id | name"),
    ({"name": 5}, ".name"),
    ({"name": LONG}, ".name | 1,000"),
    (LONG, " | 1,000"),
    ("\0", " | NUL"),
    (-1, " | -1"),
    (1 << 60, f" | {1 << 60}"),
    ((1 << 63) - 1, f" | {(1 << 63) - 1}"),
    (1 << 63, f" | {1 << 63}"),
    (1 << 64, " | 64 bits"),
    ({"nam": "A"}, " | 'nam' | did you mean 'name'"),
    *(({"id": id}, " | a number" if isinstance(id, str | int) and id is not True else ".id") for id in BAD_IDS),
]
OPENED: list[tuple[Any, str]] = [
    *REFERENCES,
    ({"name": "A", "type": "t"}, " | 'type' | entityType"),
    ({"entityName": "A"}, " | 'entityName' | name"),
    ({"name": "A", "entityType": 5}, ".entityType"),
    ({"name": "A", "entityType": LONG}, ".entityType | 1,000"),
]

LISTED = [
    *_at(
        "create_entities",
        "entities",
        [
            (None, ""),
            (5, ""),
            ("New", ""),
            (["New"], ""),
            ({}, " | 'name'"),
            ({"name": None}, ".name"),
            ({"name": 5}, ".name"),
            ({"name": ["New"]}, ".name"),
            ({"name": ""}, ".name | empty"),
            ({"name": " \t\n"}, " | name | blank"),
            ({"name": LONG}, ".name | 1,000"),
            ({"name": "a\0b"}, ".name | NUL"),
            (_entities(type="t"), " | 'type' | entityType"),
            (_entities(entitytype="t"), " | 'entitytype' | did you mean 'entityType'"),
            (_entities(**{"k" * 5_000: 1}), " | 'kkkk"),
            (_entities(entityType=5), ".entityType"),
            (_entities(entityType=LONG), ".entityType | 1,000"),
            (_entities(entityType="\0"), ".entityType | NUL"),
            (_entities(properties=[]), ".properties"),
            (_entities(properties="x"), ".properties"),
            (_entities(properties="[1]"), ".properties"),
            (_entities(properties={"t": HUGE}), " | properties | 1,048,576"),
            (_entities(properties={"n": 10**40}), ".properties.n | 64 bits"),
            (_entities(properties={"a\0": 1}), ".properties | key | NUL"),
            (_entities(observations="x"), ".observations"),
            (_entities(observations=5), ".observations"),
            (_entities(observations={}), ".observations"),
            *((_observed(observation), f".observations[1]{place}") for observation, place in OBSERVATIONS),
        ],
    ),
    *_at(
        "create_relations",
        "relations",
        [
            (None, ""),
            (5, ""),
            ("A r B", ""),
            ({}, " | 'from'"),
            ({"from": "A", "relationType": "r"}, " | 'to'"),
            ({"from": "A", "to": "B"}, " | 'relationType'"),
            *((_from(end), f".from{place}") for end, place in REFERENCES),
            (_relation(to={}), ".to"),
            (_relation(to=-1), ".to | -1"),
            (_from({"name": "A", "type": "t", "entityType": "u"}), ".from | type | entityType"),
            (_from({"name": "A", "fromType": "t"}), ".from | 'fromType' | type"),
            (_relation(relationType=None), ".relationType"),
            (_relation(relationType=5), ".relationType"),
            (_relation(relationType=""), ".relationType | empty"),
            (_relation(relationType=" "), " | relationType | blank"),
            (_relation(relationType=LONG), ".relationType | 1,000"),
            (_relation(relationType="\0"), ".relationType | NUL"),
            (_relation(type="r"), " | 'type' | relationType"),
            (_relation(fromType="t"), " | 'fromType' | from"),
            (_relation(properties=[]), ".properties"),
            (_relation(properties={"t": HUGE}), " | properties | 1,048,576"),
        ],
    ),
    *_at(
        "add_observations",
        "observations",
        [
            (None, ""),
            (5, ""),
            ("new", ""),
            ({}, " | 'contents'"),
            ({"entityName": "A"}, " | 'contents'"),
            ({"contents": ["new"]}, " | entityId | entityName"),
            ({"entityType": "t", "contents": ["new"]}, " | entityId | entityName"),
            (_added(entityName=None), " | entityId | entityName"),
            (_added(entityName=5), ".entityName"),
            (_added(entityName=LONG), ".entityName | 1,000"),
            (_added(entityType=5), ".entityType"),
            (_added(name="A"), " | 'name' | entityName"),
            (_added(observations=["new"]), " | 'observations' | contents"),
            (_added(contents=None), ".contents"),
            (_added(contents="new"), ".contents"),
            (_added(contents={"text": "new"}), ".contents"),
            *(({"entityId": id, "contents": ["new"]}, "") for id in BAD_IDS),
            *((_added(contents=["fine", observation]), f".contents[1]{place}") for observation, place in OBSERVATIONS),
        ],
    ),
    *_at("delete_entities", "entities", OPENED),
    *_at("open_nodes", "entities", OPENED),
    *_at(
        "delete_observations",
        "deletions",
        [
            (None, ""),
            (5, ""),
            ("A", ""),
            ({}, " | id | entityName"),
            ({"id": None}, " | id | entityName"),
            ({"entityType": "t"}, " | id | entityName"),
            ({"entityName": 5}, ".entityName"),
            ({"entityName": LONG}, ".entityName | 1,000"),
            ({"entityName": "A", "type": "version"}, " | 'type' | observationType"),
            ({"entityName": "A", "observations": ["plain"]}, " | 'observations' | observationType"),
            ({"entityName": "A", "observationType": 5}, ".observationType"),
            ({"entityName": "A", "observationType": LONG}, ".observationType | 1,000"),
            ({"entityName": "A", "source": "\0"}, ".source | NUL"),
            *(({"id": id}, "") for id in BAD_IDS),
            *(({"entityId": id}, "") for id in BAD_IDS),
        ],
    ),
    *_at(
        "delete_relations",
        "relations",
        [
            (None, ""),
            (5, ""),
            ("A r B", ""),
            ({}, " | id | relationType"),
            ({"id": None}, " | id | relationType"),
            ({"fromId": 1, "toId": 2}, " | relationType"),
            ({"from": "A", "relationType": "r"}, " | 'to'"),
            ({"to": "B", "relationType": "r"}, " | 'from'"),
            ({"from": "A", "to": "B", "relationType": ""}, " | relationType"),
            ({"from": "A", "to": "B", "relationType": LONG}, ".relationType | 1,000"),
            ({"from": "A", "to": "B", "toType": 5, "relationType": "r"}, ".toType"),
            ({"from": {}, "to": "B", "relationType": "r"}, ".from"),
            ({"from": {"name": "A"}, "fromType": "t", "to": "B", "relationType": "r"}, " | 'from' | 'fromType'"),
            ({"from": {"name": "A"}, "fromId": 1, "to": "B", "relationType": "r"}, " | 'from' | 'fromId'"),
            ({"from": "A", "to": "B", "type": "r"}, " | 'type' | relationType"),
            *(({"id": id}, "") for id in BAD_IDS),
            *(({"fromId": id, "toId": 2, "relationType": "r"}, "") for id in BAD_IDS),
        ],
    ),
]

_NOT_JSON = [
    Wrong(tool, arguments, (place,), json_code="invalid_json")
    for tool, arguments, place in (
        ("create_entities", {"entities": [_entities(properties={"s": math.nan})]}, "$.entities[0].properties.s"),
        (
            "create_entities",
            {"entities": [_entities(properties={"s": [1, -math.inf]})]},
            "$.entities[0].properties.s[1]",
        ),
        ("create_entities", {"entities": [_entities(name=LONE)]}, "$.entities[0].name"),
        ("create_entities", {"entities": [_entities(properties={LONE: 1})]}, "$.entities[0].properties"),
        ("create_entities", {"entities": [_observed(LONE)]}, "$.entities[0].observations[1]"),
        ("create_relations", {"relations": [_relation(properties={"w": math.inf})]}, "$.relations[0].properties.w"),
        ("create_relations", {"relations": [_relation(relationType="a" + LONE)]}, "$.relations[0].relationType"),
        ("create_relations", {"relations": [_from({"name": LONE})]}, "$.relations[0].from.name"),
        ("add_observations", {"observations": [_added(contents=[LONE])]}, "$.observations[0].contents[0]"),
        ("add_observations", {"observations": [_added(entityName=LONE)]}, "$.observations[0].entityName"),
        ("delete_entities", {"entities": ["A", LONE]}, "$.entities[1]"),
        ("delete_observations", {"deletions": [{"entityName": LONE}]}, "$.deletions[0].entityName"),
        ("delete_relations", {"relations": [{"id": math.nan}]}, "$.relations[0].id"),
        ("read_graph", {"limit": math.nan}, "$.limit"),
        ("read_graph", {"category": LONE}, "$.category"),
        ("search_nodes", {"query": LONE}, "$.query"),
        ("open_nodes", {"entities": [LONE]}, "$.entities[0]"),
        ("list_categories", {"category": LONE}, "$.category"),
        ("delete_category", {"category": LONE}, "$.category"),
    )
]

_UNFOUND = [
    Wrong(tool, arguments, places, code, code)
    for tool, arguments, places, code in (
        (
            "create_relations",
            {"relations": [_relation(), _from("Zed"), {"from": "A", "to": 99, "relationType": "r"}]},
            ("$.relations[1].from", "'Zed'", "$.relations[2].to", "id 99", "nothing was written"),
            "not_found",
        ),
        ("create_relations", {"relations": [_from("b")]}, ("$.relations[0].from", "did you mean 'B'"), "not_found"),
        ("create_relations", {"relations": [_from({"name": "B", "type": "u"})]}, ("'B'", "'u'", "'t'"), "not_found"),
        ("create_relations", {"relations": [_from({"id": 1, "name": "B"})]}, ("id 1", "'B'"), "not_found"),
        ("create_relations", {"relations": [_from("")]}, ("$.relations[0].from",), "not_found"),
        ("create_relations", {"relations": [_from("Twin")]}, ("$.relations[0].from", "'t'", "'u'"), "ambiguous"),
        ("add_observations", {"observations": [_added(), _added(entityName="Zed")]}, ("[1]", "'Zed'"), "not_found"),
        ("add_observations", {"observations": [_added(entityType="t")]}, ("[0]", "'A'", "'t'"), "not_found"),
        ("add_observations", {"observations": [{"entityId": 0, "contents": ["new"]}]}, ("[0]", "id 0"), "not_found"),
        ("add_observations", {"observations": [_added(entityName="Twin")]}, ("[0]", "'Twin'", "id"), "ambiguous"),
        ("open_nodes", {"entities": ["A", "Twin"]}, ("$.entities[1]", "'t'", "'u'"), "ambiguous"),
        ("delete_category", {"category": "nope"}, ("'nope'",), "not_found"),
        ("delete_category", {"category": "null"}, ("'null'",), "not_found"),
        ("delete_category", {"category": "defalt"}, ("'defalt'", "did you mean 'default'"), "not_found"),
    )
]

INVALID = [*_generated(), *LISTED, *_NOT_JSON, Wrong("search_nodes", {"query": HUGE}, ("$.query",))]
WRONG = [*INVALID, *_UNFOUND]
EXITS = {"usage": 2, "invalid_json": 2, "invalid_arguments": 2, "not_found": 3, "ambiguous": 3}


def _named(cases: list[Wrong]) -> list[Any]:
    def name(arguments: Any) -> str:
        text = json.dumps(arguments)
        return text if len(text) <= 90 else f"{text[:70]}...{text[-15:]}"

    return [pytest.param(case, id=f"{case.tool} {name(case.arguments)}") for case in cases]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base directory with the graph that the wrong requests are about."""
    directory = tmp_path_factory.mktemp("template")
    with Store(directory) as store:
        for tool, arguments in GRAPH:
            call(store, tool, arguments)
    return directory


@pytest.fixture
def known(template: Path, base: Path) -> None:
    """Put the graph into the test's base directory."""
    shutil.copytree(template, base)


Unchanged = Callable[[], bool]


@pytest.fixture
def unchanged(tmp_path: Path, store: Store) -> Unchanged:
    """Tell whether every file below the test's folder is byte for byte what it was when the test began."""

    def files() -> dict[str, bytes]:
        return {str(file): file.read_bytes() if file.is_file() else b"" for file in tmp_path.rglob("*")}

    before = files()

    def compare() -> bool:
        store.close()
        return files() == before

    return compare


def _check_sentence(message: str, places: tuple[str, ...]) -> None:
    assert all(place in message for place in places), message
    assert message.isprintable(), message
    assert len(message) < 500, message


def _command(tool: str) -> str:
    return tool.replace("_", "-")


@pytest.mark.parametrize("wrong", _named(WRONG))
def test_a_wrong_request_from_python(known: None, unchanged: Unchanged, ask: Any, wrong: Wrong) -> None:
    with pytest.raises(MmemError) as raised:
        ask(wrong.tool, **wrong.arguments)
    assert raised.value.code == wrong.code
    _check_sentence(raised.value.message, wrong.places)
    assert json.loads(json.dumps(raised.value.to_dict()))["message"] == raised.value.message
    assert unchanged()


@pytest.mark.parametrize("wrong", _named(WRONG))
def test_a_wrong_request_as_json(known: None, unchanged: Unchanged, mmem: Any, wrong: Wrong) -> None:
    request = json.dumps(wrong.arguments)
    ran = mmem(_command(wrong.tool), "--json", request, "--errors", "json")
    error = json.loads(ran.stderr)
    assert (error["code"], ran.exit_status) == (wrong.json_code, EXITS[wrong.json_code])
    _check_sentence(error["message"], wrong.places)
    assert ran.stdout == ""
    assert ran.stderr.count("\n") == 1
    text = mmem(_command(wrong.tool), "--json", request)
    assert text.stderr == f"mmem: {visible(error['message'])}\n"
    assert (text.exit_status, text.stdout) == (ran.exit_status, "")
    assert unchanged()


@pytest.mark.parametrize("wrong", _named(INVALID))
def test_a_wrong_request_creates_nothing(ask: Any, base: Path, wrong: Wrong) -> None:
    with pytest.raises(InvalidArguments):
        ask(wrong.tool, **wrong.arguments)
    assert not base.exists()


@pytest.mark.parametrize("tool", ["create_relations", "add_observations"])
def test_a_missing_entity_creates_no_category(ask: Any, base: Path, tool: str) -> None:
    with pytest.raises(MmemError, match=r"'[AB]'.*'default'"):
        ask(tool, **RIGHT[tool])
    assert not base.exists()


@pytest.mark.parametrize("tool", REQUIRED)
def test_one_wrong_item_spoils_the_whole_request(known: None, unchanged: Unchanged, ask: Any, tool: str) -> None:
    name = REQUIRED[tool]
    if isinstance(RIGHT[tool][name], list):
        with pytest.raises(InvalidArguments, match=rf"^\$\.{name}\[1\]"):
            ask(tool, **{name: [*RIGHT[tool][name], None]})
    assert unchanged()


@pytest.mark.parametrize("tool", TOOLS)
def test_an_unknown_argument_is_told_the_valid_ones(known: None, ask: Any, tool: str) -> None:
    valid = {"category", *OPTIONAL.get(tool, []), *([REQUIRED[tool]] if tool in REQUIRED else [])}
    with pytest.raises(InvalidArguments) as raised:
        ask(tool, **RIGHT[tool], frobnicate=None)
    assert all(name in raised.value.message for name in valid)


@pytest.mark.parametrize(
    ("tool", "typo", "meant"),
    [
        ("read_graph", "limt", "limit"),
        ("search_nodes", "Limit", "limit"),
        ("create_entities", "overide", "override"),
        ("create_relations", "relation", "relations"),
        ("open_nodes", "relatd", "related"),
        ("delete_category", "catgory", "category"),
    ],
)
def test_a_mistyped_argument_gets_the_nearest_name(ask: Any, tool: str, typo: str, meant: str) -> None:
    with pytest.raises(InvalidArguments, match=f"'{typo}'.*did you mean '{meant}'"):
        ask(tool, **{typo: 1})


@pytest.mark.parametrize("key", ["a\nb", "\x1b[31m", "a\u2028b"])
def test_a_message_is_one_line_whatever_it_quotes(ask: Any, key: str) -> None:
    with pytest.raises(InvalidArguments) as raised:
        ask("read_graph", **{key: 1})
    assert len(raised.value.message.splitlines()) == 1


@pytest.mark.parametrize("which", ["some", "", "ALL"])
def test_a_wrong_choice_is_told_the_right_ones(known: None, ask: Any, which: str) -> None:
    with pytest.raises(InvalidArguments) as raised:
        ask("search_nodes", query="plain", observations=which)
    _check_sentence(raised.value.message, ("$.observations", "auto", "matched", "all"))


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("arguments", [5, 1.5, True, "x", "[]", "{", [None]], ids=repr)
def test_arguments_that_are_no_object(
    known: None, unchanged: Unchanged, store: Store, mmem: Any, tool: str, arguments: object
) -> None:
    with pytest.raises(InvalidArguments, match=r"^\$: must be an object"):
        call(store, tool, arguments)
    ran = mmem(_command(tool), "--json", json.dumps(arguments), "--errors", "json")
    assert (json.loads(ran.stderr)["code"], ran.exit_status) == ("invalid_arguments", 2)
    assert unchanged()


_RECURSIVE: list[Any] = []
_RECURSIVE.append(_RECURSIVE)
_DEEP = json.loads("[" * 200 + "]" * 200)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (b"x", "bytes"),
        ({1}, "set"),
        (object(), "object"),
        (Decimal("1.5"), "Decimal"),
        (dt.date(2026, 1, 31), "date"),
        ({1: 2}, "key"),
        ({None: 2}, "key"),
        ({"a": {True: 2}}, "key"),
        (_RECURSIVE, "nested deeper"),
        (_DEEP, "nested deeper"),
    ],
    ids=["bytes", "set", "object", "decimal", "date", "number", "none", "flag", "recursive", "deep"],
)
def test_values_that_are_no_json(known: None, unchanged: Unchanged, ask: Any, value: object, fault: str) -> None:
    with pytest.raises(InvalidArguments) as raised:
        ask("create_entities", entities=[_entities(properties={"p": value})])
    _check_sentence(
        raised.value.message, (fault,) if fault == "nested deeper" else ("$.entities[0].properties.p", fault)
    )
    assert unchanged()


# Categories

BAD_CATEGORIES = [
    "../x",
    "..",
    ".",
    "a/b",
    "/x",
    "..\\x",
    "C:x",
    "work\n",
    "\nwork",
    " ",
    "work ",
    "Work",
    "wörk",
    "a.b",
    "work.db",
    "~",
    "%2e%2e",
    "work\0",
    "nul",
    "con",
    "aux",
    "prn",
    "com1",
    "lpt9",
    "٣",
    "x" * 201,
    "x" * 300,
]


def _short(category: str) -> str:
    return ascii(category)[:20] + (f"...{len(category)}" if len(category) > 20 else "")


def _in(tool: str, category: str) -> dict[str, Any]:
    return {**RIGHT[tool], "category": category}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("category", BAD_CATEGORIES, ids=_short)
def test_a_bad_category(known: None, unchanged: Unchanged, ask: Any, mmem: Any, tool: str, category: str) -> None:
    with pytest.raises(InvalidArguments) as raised:
        ask(tool, **_in(tool, category))
    _check_sentence(raised.value.message, ("category",))
    ran = mmem(_command(tool), "--json", json.dumps(_in(tool, category)), "--errors", "json")
    assert (json.loads(ran.stderr)["message"], ran.exit_status) == (raised.value.message, 2)
    assert unchanged()


@pytest.mark.parametrize("category", [category for category in BAD_CATEGORIES if "\0" not in category], ids=_short)
def test_a_bad_category_in_words(known: None, unchanged: Unchanged, mmem: Any, category: str) -> None:
    for words in (
        ("read-graph", "-c", category),
        ("-c", category, "search-nodes", "plain"),
        ("create-entities", "New", f"--category={category}"),
        ("delete-category", category, "--yes"),
        ("delete-category", "--yes", "--", category),
    ):
        ran = mmem(*words)
        assert ran.exit_status == 2, words
        assert ran.stderr.startswith("mmem: category "), words
    ran = mmem("read-graph", environ={"DEFAULT_CATEGORY": category})
    assert ran.exit_status == 2
    assert "DEFAULT_CATEGORY" in ran.stderr
    assert unchanged()


@pytest.mark.parametrize("category", ["../x", "Work", "nul"])
def test_list_categories_checks_the_category_that_it_does_not_need(mmem: Any, category: str) -> None:
    for words in (("-c", category, "list-categories"), ("list-categories", "-c", category, "--json", "{}")):
        assert mmem(*words).exit_status == 2, words
    assert mmem("list-categories", environ={"DEFAULT_CATEGORY": category}).exit_status == 2


@pytest.mark.parametrize("category", [None, ""])
def test_only_delete_category_has_no_default(known: None, ask: Any, unchanged: Unchanged, category: str | None) -> None:
    assert ask("read_graph", category=category).result.entities[0].name == "A"
    with pytest.raises(InvalidArguments, match="category"):
        ask("delete_category", category=category)
    assert unchanged()


# JSON that is none

BAD_JSON = [
    ("", "invalid_json", "empty"),
    (" \n", "invalid_json", "empty"),
    ("{", "invalid_json", "line 1 column 2"),
    ('{"limit": }', "invalid_json", "line 1 column 11"),
    ('{"limit": 1,}', "invalid_json", "line 1 column 13"),
    ("{'limit': 1}", "invalid_json", "line 1 column 2"),
    ("{limit: 1}", "invalid_json", "line 1 column 2"),
    ('{"limit": 1} x', "invalid_json", "line 1 column 14"),
    ('{"limit": 1}{"limit": 1}', "invalid_json", "line 1 column 13"),
    ('{\n"limit": 01}', "invalid_json", "line 2"),
    ("nul", "invalid_json", "line 1 column 1"),
    ('{"limit": 1, "limit": 2}', "invalid_json", "limit"),
    ('{"limit": 1, "l\\u0069mit": 2}', "invalid_json", "limit"),
    ('{"category": "a", "category": "b"}', "invalid_json", "category"),
    ('{"limit": NaN}', "invalid_json", "$.limit"),
    ('{"limit": 1e999}', "invalid_json", "$.limit"),
    ('{"limit": -Infinity}', "invalid_json", "$.limit"),
    ('{"limit": 123456789012345678901234567890}', "invalid_arguments", "$.limit"),
    ('{"category": "\\ud83d"}', "invalid_json", "$.category"),
    ('{"category": "\\udc00\\ud83d"}', "invalid_json", "$.category"),
    ('{"\\ud83d": 1}', "invalid_json", "surrogate"),
    ('{"category": "a\\u0000"}', "invalid_arguments", "$.category"),
    ('{"category": "a\nb"}', "invalid_json", "line 1"),
    ('{"category": "\\x"}', "invalid_json", "line 1"),
    ('{"limit": ' + "[" * 100 + "]" * 100 + "}", "invalid_", ""),
    ("[" * 100_000, "invalid_json", "nested"),
    ('{"limit":' * 100_000, "invalid_json", "nested"),
]


@pytest.mark.parametrize(("text", "code", "fragment"), BAD_JSON, ids=[ascii(case[0])[:50] for case in BAD_JSON])
def test_text_that_is_no_json(
    known: None, unchanged: Unchanged, mmem: Any, tmp_path: Path, text: str, code: str, fragment: str
) -> None:
    ran = mmem("read-graph", "--json", text, "--errors", "json")
    error = json.loads(ran.stderr)
    assert ran.exit_status == 2
    assert error["code"].startswith(code)
    _check_sentence(error["message"], (fragment,))
    assert unchanged()
    piped = mmem("read-graph", "--json", "-", "--errors", "json", stdin=text)
    (tmp_path / "request.json").write_text(text, encoding="utf-8", newline="")
    filed = mmem("read-graph", "--json", "@request.json", "--errors", "json")
    assert piped.stderr == filed.stderr == ran.stderr


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_refuses_what_is_no_json(known: None, unchanged: Unchanged, mmem: Any, tool: str) -> None:
    twice = json.dumps({**RIGHT[tool], "category": "a", "again": "b"}).replace("again", "category")
    ran = mmem(_command(tool), "--json", twice)
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert "category" in ran.stderr
    assert unchanged()


@pytest.mark.parametrize(
    ("content", "fragment"),
    [
        (b"", "empty"),
        (b'{"category": "caf\xe9"}', "byte 18"),
        (b'{"category": "\xed\xa0\x80"}', "UTF-8"),
        ('{"limit": 1}'.encode("utf-16"), "UTF-16"),
        ('{"limit": 1}'.encode("utf-16-le"), "UTF-16"),
        ('{"limit": 1}'.encode("utf-32"), "UTF-16"),
        (b"\xff\xfe\xfd\xfc", ""),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00", ""),
    ],
)
def test_a_file_that_is_no_json(known: None, unchanged: Unchanged, mmem: Any, content: bytes, fragment: str) -> None:
    ran = mmem("read-graph", "--json", "-", "--errors", "json", stdin=content)
    error = json.loads(ran.stderr)
    assert (error["code"], ran.exit_status) == ("invalid_json", 2)
    _check_sentence(error["message"], (fragment,))
    assert unchanged()


@pytest.mark.parametrize("file", ["@missing.json", "@.", "@", "@missing/file", "@" + "x" * 300])
def test_a_request_file_that_cannot_be_read(known: None, unchanged: Unchanged, mmem: Any, file: str) -> None:
    ran = mmem("create-entities", "--json", file)
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"mmem: --json {file}: ")
    assert ran.stderr.count("\n") == 1
    assert unchanged()


@pytest.mark.parametrize(
    ("entities", "fragment"),
    [
        ('[{"name": "N", "name": "M"}]', "twice"),
        ('[{"name": "N", "properties": {"s": NaN}}]', "NaN"),
        ('[{"name": "\\ud83d"}]', "surrogate"),
        ('[{"name": "a\\u0000"}]', "NUL"),
        ('[{"name": "N"},]', "JSON"),
    ],
)
def test_a_broken_array_in_a_text_is_told_what_is_broken(
    known: None, unchanged: Unchanged, ask: Any, entities: str, fragment: str
) -> None:
    with pytest.raises(MmemError) as raised:
        ask("create_entities", entities=entities)
    assert raised.value.code in {"invalid_arguments", "invalid_json"}
    _check_sentence(raised.value.message, ("$.entities", fragment))
    assert unchanged()


# Words

BAD_WORDS: list[tuple[tuple[str, ...], int, tuple[str, ...]]] = [
    (("create-entities",), 2, ("--json", "create-entities --help")),
    (("create-entities", ""), 2, ("name", "empty")),
    (("create-entities", " "), 2, ("name", "blank")),
    (("create-entities", LONG), 2, ("name", "1,000")),
    (("create-entities", "New", "-t", LONG), 2, ("ype", "1,000")),
    (("create-entities", "New", "-o", "é" * (1 << 20)), 2, ("text", "1,048,576")),
    (("create-entities", "New", "-p", "novalue"), 2, ("'-p'", "'novalue'", "KEY=TEXT", "KEY:=JSON")),
    (("create-entities", "New", "-p", "=x"), 2, ("'-p'", "'=x'")),
    (("create-entities", "New", "-p", ":=1"), 2, ("'-p'", "':=1'")),
    (("create-entities", "New", "-p", "k:=nope"), 2, ("'k:=nope'", "JSON")),
    (("create-entities", "New", "-p", "k:="), 2, ("'k:='", "empty")),
    (("create-entities", "New", "-p", "k:=NaN"), 2, ("'k:=NaN'", "NaN")),
    (("create-entities", "New", "-p", "k:=1e999"), 2, ("'k:=1e999'", "Infinity")),
    (("create-entities", "New", "-p", 'k:="\\ud83d"'), 2, ("surrogate",)),
    (("create-entities", "New", "-p", 'k:={"a":1,"a":2}'), 2, ('"a"', "twice")),
    (("create-entities", "New", "-p", "k:=" + "9" * 30), 2, ("64 bits",)),
    (("create-entities", "New", "-p", "a=1", "-p", "a:=2"), 2, ("'a'", "twice")),
    (("create-entities", "New", "-p", LONE + "=1"), 2, ("surrogate",)),
    (("create-entities", "New", "-o"), 2, ("-o", "argument")),
    (("create-entities", "New", "-O", "version"), 2, ("-O", "2 arguments")),
    (("create-entities", "New", "-o", "x", "--timestamp", "yesterday"), 2, ("'yesterday'", "ISO 8601")),
    (("create-entities", "New", "--timestamp", "yesterday"), 2, ("timestamp",)),
    (("create-entities", "New", "--nme"), 2, ("--nme",)),
    (("create-entities", "New", "--overide"), 2, ("--overide", "--override")),
    (("create-entities", "-x"), 2, ("'-x'", "after --")),
    (("create-entities", "New", "--json", '{"entities":[]}'), 2, ("words", "--json", "NAME")),
    (("create-entities", "--override", "--json", '{"entities":[]}'), 2, ("words", "--override")),
    (("create-entities", "-t", "t", "--json", '{"entities":[]}'), 2, ("words", "-t")),
    (("create-entities", "--json"), 2, ("--json", "argument")),
    (("create-relations",), 2, ("FROM", "RELATION", "TO")),
    (("create-relations", "A", "r"), 2, ("FROM", "RELATION", "TO")),
    (("create-relations", "A", "r", "B", "more"), 2, ("more",)),
    (("create-relations", "A", "", "B"), 2, ("elation", "empty")),
    (("create-relations", "A", "r", "Zed"), 3, ("'Zed'", "nothing was written")),
    (("create-relations", "A", "r", "Twin"), 3, ("'t'", "'u'", "id")),
    (("create-relations", "id:99", "r", "B"), 3, ("id 99",)),
    (("create-relations", "id:1", "r", "B", "--from-type", "t"), 2, ("id:1", "type")),
    (("create-relations", "A", "r", "B", "-p", "x"), 2, ("'-p'",)),
    (("add-observations",), 2, ("NAME", "TEXT")),
    (("add-observations", "A"), 2, ("NAME", "TEXT")),
    (("add-observations", "A", "-50% budget"), 2, ("'-50% budget'", "after --", "-- '-50% budget'")),
    (("add-observations", "A", "--budget"), 2, ("'--budget'", "after --")),
    (("add-observations", "Zed", "x"), 3, ("'Zed'", "nothing was written")),
    (("add-observations", "Twin", "x"), 3, ("'t'", "'u'")),
    (("add-observations", "A", "x", "-t", "t"), 3, ("'A'", "'t'")),
    (("add-observations", "A", "x", "-O", "y"), 2, ("-O", "2 arguments")),
    (("add-observations", "A", "x", "--timestamp", "2026-02-30"), 2, ("'2026-02-30'",)),
    (("delete-entities",), 2, ("name", "--json")),
    (("delete-entities", "--yes"), 2, ("name", "--json")),
    (("delete-entities", "A"), 2, ("--yes",)),
    (("delete-entities", "-A"), 2, ("'-A'", "after --")),
    (("delete-entities", "id:" + "9" * 30, "--yes"), 2, ("id",)),
    (("delete-observations", "--yes"), 2, ("NAME", "--id")),
    (("delete-observations", "A"), 2, ("--yes",)),
    (("delete-observations", "A", "--id", "1", "--yes"), 2, ("NAME", "--id")),
    (("delete-observations", "--id", "x", "--yes"), 2, ("id", "'x'")),
    (("delete-observations", "--id", "1", "-t", "t", "--yes"), 2, ("type",)),
    (("delete-observations", "id:1", "-t", "t", "--yes"), 2, ("id:1", "type")),
    (("delete-relations", "A", "r", "--yes"), 2, ("FROM", "RELATION", "TO", "--id")),
    (("delete-relations", "--yes"), 2, ("FROM", "RELATION", "TO", "--id")),
    (("delete-relations", "A", "r", "B", "--id", "1", "--yes"), 2, ("--id",)),
    (("delete-relations", "--id", "x", "--yes"), 2, ("id", "'x'")),
    (("delete-relations", "--id", "1", "--from-type", "t", "--yes"), 2, ("type",)),
    (("delete-relations", "--id", "1"), 2, ("--yes",)),
    (("read-graph", "A"), 2, ("A",)),
    (("read-graph", "--limit", "x"), 2, ("--limit", "'x'")),
    (("read-graph", "--limit", "0"), 2, ("limit", "at least 1")),
    (("read-graph", "-n", "100001"), 2, ("limit", "100,000")),
    (("read-graph", "--limit", "9" * 30), 2, ("limit",)),
    (("read-graph", "--offset", "-1"), 2, ("offset", "at least 0")),
    (("read-graph", "-f", "xml"), 2, ("--format", "'xml'", "jsonl")),
    (("read-graph", "--errors", "xml"), 2, ("--errors", "'xml'")),
    (("read-graph", "--base-dir"), 2, ("--base-dir", "argument")),
    (("read-graph", "-c", "work", "--json", '{"category":"home"}'), 2, ("'work'", "'home'", "--category")),
    (("-c", "work", "read-graph", "--json", '{"category":"home"}'), 2, ("'work'", "'home'", "--category")),
    (("search-nodes",), 2, ("search", "--json")),
    (("search-nodes", ""), 2, ("query", "blank")),
    (("search-nodes", "a", "-n", "0"), 2, ("limit", "at least 1")),
    (("search-nodes", "a", "--observations", "some"), 2, ("--observations", "'some'", "matched")),
    (("search-nodes", "-x"), 2, ("'-x'", "after --")),
    (("open-nodes",), 2, ("name", "--json")),
    (("open-nodes", "Twin"), 3, ("'t'", "'u'", "id")),
    (("open-nodes", "id:" + "9" * 30), 2, ("id",)),
    (("list-categories", "x"), 2, ("x",)),
    (("delete-category",), 2, ("name", "--json")),
    (("delete-category", "default"), 2, ("--yes",)),
    (("delete-category", "", "--yes"), 2, ("name", "category")),
    (("delete-category", "defalt", "--yes"), 3, ("'defalt'", "did you mean 'default'")),
    (("delete-category", "-c", "default", "--yes"), 2, ("name", "category")),
    (("read-grap",), 2, ("'read-grap'", "did you mean 'read-graph'")),
    (("--nope",), 2, ("'--nope'",)),
]


@pytest.mark.parametrize(("words", "status", "fragments"), BAD_WORDS, ids=[ascii(case[0])[:70] for case in BAD_WORDS])
def test_wrong_words(
    known: None, unchanged: Unchanged, mmem: Any, words: tuple[str, ...], status: int, fragments: tuple[str, ...]
) -> None:
    ran = mmem(*words)
    assert (ran.exit_status, ran.stdout) == (status, ""), ran
    assert ran.stderr.startswith("mmem: ")
    assert ran.stderr.count("\n") == 1
    assert "$" not in ran.stderr  # a JSON path, which nobody wrote
    assert "a bug in mmem" not in ran.stderr
    _check_sentence(ran.stderr.strip(), fragments)
    assert unchanged()
    assert json.loads(mmem("--errors", "json", *words).stderr)["code"] in EXITS


@pytest.mark.parametrize(
    "words", [("read-graph", "-c", "../x"), ("create-entities", "New", "-p", "x"), ("search-nodes",)]
)
def test_wrong_words_create_nothing(mmem: Any, base: Path, words: tuple[str, ...]) -> None:
    assert mmem(*words).exit_status == 2
    assert not base.exists()


def test_without_a_command_the_help_is_shown_as_lines(mmem: Any) -> None:
    ran = mmem()
    assert "create-entities" in ran.stdout + ran.stderr
    assert "␊" not in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("add-observations", "A", "--", "-50% budget"), "-50% budget"),
        (("add-observations", "--", "A", "--json"), "--json"),
        (("create-entities", "New", "-o", "-x"), "-x"),
        (("create-entities", "New", "-O", "version", "--errors"), "--errors"),
    ],
)
def test_a_text_may_begin_with_a_dash(known: None, mmem: Any, words: tuple[str, ...], text: str) -> None:
    assert mmem(*words).exit_status == 0
    texts = [one["text"] for entity in mmem("read-graph").json["entities"] for one in entity["observations"]]
    assert text in texts


def test_the_type_of_a_name_that_looks_like_an_id_counts(known: None, ask: Any, mmem: Any) -> None:
    ask("create_entities", entities=[{"name": "id:x"}, {"name": "id:x", "entityType": "t"}])
    assert mmem("delete-entities", "id:x", "-t", "t", "--yes").exit_status == 0
    left = [(entity.name, entity.entity_type) for entity in ask("read_graph").result.entities]
    assert ("id:x", "") in left
    assert ("id:x", "t") not in left


# Requests that contradict themselves or that grow


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("delete_observations", {"deletions": [{"id": 1, "entityName": "B"}]}),
        ("delete_observations", {"deletions": [{"id": 1, "entityId": 2}]}),
        ("delete_observations", {"deletions": [{"id": 1, "observationType": "version"}]}),
        ("delete_observations", {"deletions": [{"entityId": 1, "entityName": "B"}]}),
        ("delete_relations", {"relations": [{"id": 1, "from": "Twin", "to": "A", "relationType": "r"}]}),
        ("delete_relations", {"relations": [{"id": 1, "relationType": "other"}]}),
        ("delete_relations", {"relations": [{"fromId": 1, "fromType": "t", "toId": 2, "relationType": "r"}]}),
        ("delete_relations", {"relations": [{"fromId": 1, "from": "B", "toId": 2, "relationType": "r"}]}),
        ("delete_entities", {"entities": [{"id": 1, "name": "B"}]}),
        ("delete_entities", {"entities": [{"id": 1, "entityType": "t"}]}),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else value,
)
def test_an_id_that_contradicts_a_name_deletes_nothing(
    known: None, unchanged: Unchanged, store: Store, tool: str, arguments: dict[str, Any]
) -> None:
    try:
        assert [notice.code for notice in call(store, tool, arguments).notices] == ["not_found"]
    except MmemError as error:
        assert error.code == "invalid_arguments"  # noqa: PT017 - either answer is honest
    assert unchanged()


@pytest.mark.parametrize("letters", [1_000, 600])
def test_an_entity_can_be_opened_by_the_name_it_was_given(known: None, ask: Any, letters: int) -> None:
    """Some letters become two in NFC (U+0958), so the stored name may be longer than the given one."""
    try:
        created = ask("create_entities", entities=[{"name": "\u0958" * letters}]).result[0]
    except InvalidArguments:
        return
    assert ask("open_nodes", entities=[created.name]).result.entities == [created]


@pytest.mark.parametrize("query", ["x" * 60_000, "é" * 40_000, '"' + "x" * 60_000, "x " * 40_000, "(" * 60_000])
def test_a_long_query_is_searched_or_refused(known: None, unchanged: Unchanged, ask: Any, query: str) -> None:
    try:
        assert ask("search_nodes", query=query).result.entities == []
    except MmemError as error:
        assert error.code == "invalid_arguments"  # noqa: PT017 - either answer is honest
    assert unchanged()


@pytest.mark.parametrize("tool", ["reed_graph", "", "seed", "Read_Graph", "x" * 5_000, "../read_graph"])
def test_an_unknown_tool(store: Store, base: Path, tool: str) -> None:
    with pytest.raises(MmemError) as raised:
        call(store, tool, {})
    assert (raised.value.code, int(raised.value.exit)) == ("unknown_tool", 2)
    _check_sentence(raised.value.message, ("there is no tool",))
    assert not base.exists()

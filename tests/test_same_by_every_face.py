"""A request is the same request in words, as JSON, from Python and over MCP: same outcome, same store."""

import json
import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mmem.errors import MmemError
from mmem.registry import call
from mmem.server.multi_memory import MultiMemory, Options
from mmem.store import Store

Arguments = dict[str, Any]


class Request(NamedTuple):
    """One request, said in words and as a tool's arguments."""

    tool: str
    words: list[str]
    arguments: Arguments


# A small world, so that requests meet each other; with what words could misread, and with what is refused.
_ODD_NAMES = ["café", "cafe\u0301", "a b", "-x", "id:1", "id:x", "name:A", "--yes", "[1]", "null", ""]
NAMES = st.sampled_from(["A"] * 8 + ["B"] * 5 + _ODD_NAMES)
TYPES = st.sampled_from([None, None, None, "", "t", "-t"])
TEXTS = st.sampled_from(["x", "y", "-50% budget", "@file", '{"a": 1}', "two words", "line\nbreak", "𝄞", ""])
KINDS = st.sampled_from(["v", "note-2", "-o", ""])
SOURCES = st.sampled_from([None, "", "s", "-s"])
TIMESTAMPS = st.sampled_from(["2026-01-31", "2026-01-31T09:30:00Z", "2026-01-31T09:30:00.5+02:00"])
RELATIONS = st.sampled_from(["r", "q", "-r", "needs it", ""])
IDS = st.integers(0, 4).map(str)
PROPERTIES = st.dictionaries(
    st.sampled_from(["a", "b c", "-p", "ü"]),
    st.sampled_from(["text", "=", "", 1, -0.5, True, None, [1, "x"], {"k": {}}]),
    max_size=2,
)
FLAGS = st.sampled_from([False, False, True])
CATEGORIES = st.sampled_from([None] * 8 + ["work", "work", "old", "Bad"])


def _given(**arguments: Any) -> Arguments:
    """Return the arguments that are there: None and False are what a request leaves out."""
    return {key: value for key, value in arguments.items() if value not in (None, False)}


def _option(name: str, value: str | None) -> list[str]:
    return [] if value is None else [f"--{name}={value}"]


def _property_words(properties: Arguments) -> list[str]:
    return [
        f"--property={key}={value}" if isinstance(value, str) else f"--property={key}:={json.dumps(value)}"
        for key, value in properties.items()
    ]


@st.composite
def references(draw: Any) -> tuple[str, Arguments, str | None]:
    """Draw an entity's reference: its word, its object, and its type, which words say apart."""
    if draw(FLAGS):
        id = draw(IDS)
        return f"id:{id}", {"id": id}, None
    name, kind = draw(NAMES), draw(TYPES)
    word = f"name:{name}" if re.match(r"id:\d+$|name:", name) else name
    return word, _given(name=name, entityType=kind), kind


@st.composite
def observations(draw: Any, plain: int) -> tuple[list[str], list[str], list[Arguments]]:
    """Draw plain texts, the options for all else, and the observations they mean."""
    texts = draw(st.lists(TEXTS, min_size=plain, max_size=2))
    typed = draw(st.lists(st.tuples(KINDS, TEXTS), max_size=2))
    source, timestamp = draw(SOURCES), draw(TIMESTAMPS)
    common = _given(source=source, timestamp=timestamp)
    options = [word for kind, text in typed for word in ("--typed-observation", kind, text)]
    if texts or typed:
        options += [*_option("source", source), *_option("timestamp", timestamp)]
    meant = [{"text": text, **common} for text in texts]
    return texts, options, [*meant, *({"observationType": kind, "text": text, **common} for kind, text in typed)]


@st.composite
def create_entities(draw: Any) -> Request:
    names, kind, override = draw(st.lists(NAMES, min_size=1, max_size=3)), draw(TYPES), draw(FLAGS)
    texts, options, meant = draw(observations(plain=0))
    properties = draw(PROPERTIES)
    words = [*(f"--observation={text}" for text in texts), *options, *_option("type", kind)]
    words += [
        *_property_words(properties),
        *(["--override"] if override else []),
        "--",
        *(f"name:{name}" for name in names),
    ]
    entity = _given(entityType=kind, properties=properties or None, observations=meant or None)
    return Request(
        "create_entities", words, _given(entities=[{"name": name, **entity} for name in names], override=override)
    )


@st.composite
def create_relations(draw: Any) -> Request:
    (source, begin, from_type), (target, end, to_type) = draw(references()), draw(references())
    kind, properties, override = draw(RELATIONS), draw(PROPERTIES), draw(FLAGS)
    words = [*_option("from-type", from_type), *_option("to-type", to_type), *_property_words(properties)]
    words += [*(["--override"] if override else []), "--", source, kind, target]
    relation = {"from": begin, "to": end, "relationType": kind, **_given(properties=properties or None)}
    return Request("create_relations", words, _given(relations=[relation], override=override))


@st.composite
def add_observations(draw: Any) -> Request:
    word, entity, kind = draw(references())
    texts, options, meant = draw(observations(plain=1))
    properties, override = draw(PROPERTIES), draw(FLAGS)
    words = [*options, *_option("type", kind), *_property_words(properties), *(["--override"] if override else [])]
    addition = _given(entityId=entity.get("id"), entityName=entity.get("name"), entityType=entity.get("entityType"))
    addition["contents"] = [{**observation, **_given(properties=properties or None)} for observation in meant]
    return Request("add_observations", [*words, "--", word, *texts], _given(observations=[addition], override=override))


@st.composite
def delete_entities(draw: Any) -> Request:
    word, entity, kind = draw(references())
    return Request("delete_entities", ["--yes", *_option("type", kind), "--", word], {"entities": [entity]})


@st.composite
def delete_observations(draw: Any) -> Request:
    if draw(FLAGS):
        ids = draw(st.lists(IDS, min_size=1, max_size=2))
        words = ["--yes", *(f"--id={id}" for id in ids)]
        return Request("delete_observations", words, {"deletions": [{"id": id} for id in ids]})
    word, entity, kind = draw(references())
    observation, source = draw(st.none() | KINDS), draw(SOURCES)
    words = ["--yes", *_option("type", kind), *_option("observation-type", observation), *_option("source", source)]
    deletion = _given(
        entityId=entity.get("id"),
        entityName=entity.get("name"),
        entityType=kind,
        observationType=observation,
        source=source,
    )
    return Request("delete_observations", [*words, "--", word], {"deletions": [deletion]})


@st.composite
def delete_relations(draw: Any) -> Request:
    if draw(FLAGS):
        id = draw(IDS)
        return Request("delete_relations", ["--yes", f"--id={id}"], {"relations": [{"id": id}]})
    (source, begin, from_type), (target, end, to_type) = draw(references()), draw(references())
    kind = draw(RELATIONS)
    words = ["--yes", *_option("from-type", from_type), *_option("to-type", to_type), "--", source, kind, target]
    return Request("delete_relations", words, {"relations": [{"from": begin, "to": end, "relationType": kind}]})


@st.composite
def read_graph(draw: Any) -> Request:
    limit, offset = draw(st.none() | st.integers(0, 3)), draw(st.none() | st.integers(-1, 3))
    words = [f"--{name}={n}" for name, n in (("limit", limit), ("offset", offset)) if n is not None]
    given = {name: n for name, n in (("limit", limit), ("offset", offset)) if n is not None}
    return Request("read_graph", words, given)


@st.composite
def search_nodes(draw: Any) -> Request:
    query = draw(st.sampled_from(["x", "budget", "caf", "x OR y", '"two words"', "-50%", "NOT", "(", "*", "", " "]))
    which = draw(st.none() | st.sampled_from(["auto", "matched", "all"]))
    return Request(
        "search_nodes", [*_option("observations", which), "--", query], _given(query=query, observations=which)
    )


@st.composite
def open_nodes(draw: Any) -> Request:
    word, entity, kind = draw(references())
    related = draw(FLAGS)
    words = [*_option("type", kind), *(["--related"] if related else []), "--", word]
    return Request("open_nodes", words, _given(entities=[entity], related=related))


REQUESTS = st.one_of(
    create_entities(),
    create_entities(),
    create_relations(),
    add_observations(),
    delete_entities(),
    delete_observations(),
    delete_relations(),
    read_graph(),
    search_nodes(),
    open_nodes(),
    st.just(Request("list_categories", [], {})),
)
DELETIONS = st.sampled_from(["work", "old", "default", "Bad", ""])


@st.composite
def placed(draw: Any) -> Request:
    """Draw a request in a category of its own or in the default one."""
    if draw(st.integers(0, 9)) == 0:
        name = draw(DELETIONS)
        return Request("delete_category", ["--yes", "--", name], {"category": name})
    request, category = draw(REQUESTS), draw(CATEGORIES)
    if category is None:
        return request
    return Request(request.tool, ["-c", category, *request.words], {**request.arguments, "category": category})


FILLED: list[Arguments] = [
    {
        "name": "A",
        "observations": [{"text": text, "timestamp": "2026-01-31"} for text in ("x", "y")],
        "properties": {"a": 1},
    },
    {"name": "B", "entityType": "t"},
]


def _fill(base: Path) -> None:
    with Store(base) as store:
        call(store, "create_entities", {"entities": FILLED})


class Answer(NamedTuple):
    """What a request gave: the result, its notices or the error's code, and the exit status."""

    result: Any
    beside: list[Any]
    status: int


def _cleaned(value: Any, base: Path) -> Any:
    """Return a notice without the base directory, which isn't the same for every face."""
    return json.loads(json.dumps(value).replace(str(base), "BASE"))


def _from_python(base: Path, tool: str, arguments: Arguments) -> Answer:
    with Store(base) as store:
        try:
            outcome = call(store, tool, arguments)
        except MmemError as error:
            return Answer(None, [error.code], int(error.exit))
    result = msgspec.to_builtins(outcome.result)
    missed = tool == "open_nodes" and not result["entities"]
    return Answer(result, [_cleaned(notice.to_dict(), base) for notice in outcome.notices], 3 if missed else 0)


def _from_command_line(mmem: Any, base: Path, tool: str, *words: str) -> Answer:
    ran = mmem("--base-dir", str(base), "--errors", "json", tool.replace("_", "-"), *words)
    beside = [json.loads(line) for line in ran.stderr.splitlines()]
    if not ran.stdout:
        return Answer(None, [error["code"] for error in beside], ran.exit_status)
    return Answer(ran.json, [_cleaned(notice, base) for notice in beside], ran.exit_status)


def _over_mcp(base: Path, tool: str, arguments: Arguments) -> tuple[Any, list[str]]:
    """Return what a model is given: the result, and the notices as lines or the error's code."""
    with Store(base) as store:
        try:
            result = MultiMemory(store, Options()).call(tool, arguments)
        except MmemError as error:
            return None, [error.code]
    text, *notices = [item["text"] for item in result["content"]]
    return text if tool.startswith("delete") else json.loads(text), _cleaned("\n".join(notices), base).splitlines()


def _as_lines(answer: Answer) -> tuple[Any, list[str]]:
    lines = [one if isinstance(one, str) else f"{one['code']}: {one['message']}" for one in answer.beside]
    return answer.result, lines


def _leniently(arguments: Arguments) -> Arguments:
    """Return the arguments as sloppy hosts send them: lists as JSON text, null and "" for what is left out."""
    lenient = {key: json.dumps(value) if isinstance(value, list) else value for key, value in arguments.items()}
    return {"category": "", **lenient}


def _graphs(base: Path) -> dict[str, Any]:
    with Store(base) as store:
        return {
            category: msgspec.to_builtins(call(store, "read_graph", {"category": category}).result)
            for category in call(store, "list_categories", {}).result
        }


@settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(requests=st.lists(placed(), min_size=1, max_size=8))
def test_the_same_requests_give_the_same_outcomes_and_stores(
    tmp_path: Path, mmem: Any, requests: list[Request]
) -> None:
    place = Path(tempfile.mkdtemp(dir=tmp_path))
    words, strict, lenient, python, mcp = (place / face for face in ("words", "json", "lenient", "python", "mcp"))
    for base in (words, strict, lenient, python, mcp):
        _fill(base)
    for tool, said, arguments in requests:
        answer = _from_python(python, tool, arguments)
        assert _from_command_line(mmem, words, tool, *said) == answer
        assert _from_command_line(mmem, strict, tool, "--json", json.dumps(arguments)) == answer
        if arguments.get("category") != "":
            assert _from_command_line(mmem, lenient, tool, "--json", json.dumps(_leniently(arguments))) == answer
        assert _over_mcp(mcp, tool, arguments) == _as_lines(answer)
    assert _graphs(words) == _graphs(strict) == _graphs(lenient) == _graphs(python) == _graphs(mcp)


# Each way to say the same thing as JSON.
SPELLINGS: list[tuple[str, list[Any]]] = [
    ("open_nodes", [{"entities": [ref]} for ref in ("A", 1, {"id": 1}, {"id": "1"}, {"name": "A"})]),
    ("open_nodes", [{"entities": ["A"], "related": off} for off in (None, False)]),
    ("open_nodes", [{"entities": ["A"], "category": given} for given in (None, "", "default")]),
    ("open_nodes", [["A"], {"entities": '["A"]'}, {"entities": '["\\u0041"]'}]),
    ("read_graph", [{}, None, {"limit": None, "offset": None}, {"offset": 0}]),
    (
        "create_relations",
        [
            {"relations": [{"from": source, "to": target, "relationType": "r"}]}
            for source, target in (
                ("A", "B"),
                (1, 2),
                ({"id": "1"}, {"id": 2}),
                ({"name": "A"}, {"name": "B", "type": "t"}),
                ({"name": "A", "type": ""}, {"name": "B", "entityType": "t"}),
                ({"name": "A", "type": None}, {"name": "B", "type": "t", "entityType": "t"}),
            )
        ],
    ),
    (
        "delete_observations",
        [{"deletions": [{"id": 2}]}, [{"id": "2"}], {"deletions": [{"entityId": 1, "observationType": "note-2"}]}],
    ),
    ("list_categories", [{}, None, {"category": "anything"}, {"category": ""}]),
]


@pytest.mark.parametrize(("tool", "spellings"), SPELLINGS, ids=[f"{tool}-{n}" for n, (tool, _) in enumerate(SPELLINGS)])
def test_the_same_thing_spelled_differently(tmp_path: Path, mmem: Any, tool: str, spellings: list[Any]) -> None:
    answers, graphs = [], []
    for n, arguments in enumerate(spellings):
        base = tmp_path / str(n)
        _fill(base)
        answers.append(_from_command_line(mmem, base, tool, "--json", json.dumps(arguments)))
        graphs.append(_graphs(base))
    assert answers[1:] == answers[:-1]
    assert graphs[1:] == graphs[:-1]
    assert answers[0].status == 0

"""The page of `mmem view` in a real browser: it loads alone, finds, clicks, and runs nothing that is stored."""

import json
import random
import runpy
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mmem.records import Entity, Graph, Observation, Relation
from mmem.viewing.page import page

_BROWSER = runpy.run_path(str(Path(__file__).with_name("browser.py")))
_MIDDLE = (660, 435)  # of what the panels leave free, where an entity that is chosen comes to stand

pytestmark = pytest.mark.skipif(_BROWSER["program"]() is None, reason="there is no Chromium here")

Open = Callable[..., Any]
HOSTILE = [
    "<script>window.hit=1</script>",
    '" onerror="window.hit=1" x="',
    "</script><img src=x onerror=window.hit=1>",
    "<!--<script>",
    "<svg/onload=window.hit=1>",
    "javascript:window.hit=1",
]


def entity(id: int, name: str, kind: str = "", *texts: str, **fields: Any) -> Entity:
    observations = [
        Observation(id=f"{id}0{n}", observation_type="note" if n else "", text=text, source="chat" if n else "")
        for n, text in enumerate(texts)
    ]
    return Entity(id=str(id), name=name, entity_type=kind, observations=observations, **fields)


def relation(id: int, source: Entity, kind: str, target: Entity) -> Relation:
    return Relation(
        id=str(id),
        from_name=source.name,
        from_type=source.entity_type,
        to_name=target.name,
        to_type=target.entity_type,
        relation_type=kind,
        from_id=source.id,
        to_id=target.id,
    )


def world() -> Graph:
    users = entity(1, "UserService", "service", "Manages user data", "Café crème cache", properties={"tier": 1})
    database = entity(2, "Database", "library", "A pool of 20 connections")
    alice = entity(3, "Alice", "person", "Looks after logins")
    tokyo = entity(4, "東京オフィス", "place", "データセンター")
    arabic = entity(5, "مكتبة المصادقة", "library")
    long = entity(6, "A name that goes on and on " * 30, "decision")
    everything = [users, database, alice, tokyo, arabic, long]
    relations = [
        relation(1, users, "uses", database),
        relation(2, alice, "maintains", users),
        relation(3, users, "depends_on", database),
        relation(4, users, "calls", users),
        relation(5, tokyo, "hosts", database),
    ]
    return Graph(entities=everything, relations=relations)


def large(count: int) -> Graph:
    chance = random.Random(7)
    nodes = [entity(id, f"Node {id}", f"kind {id % 14}", f"text number {id}") for id in range(1, count + 1)]
    ends = [(later, nodes[chance.randrange(max(1, index))]) for index, later in enumerate(nodes) if index]
    return Graph(entities=nodes, relations=[relation(n, a, "follows", b) for n, (a, b) in enumerate(ends, 1)])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    running = _BROWSER["Browser"]()
    yield running
    running.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Open:
    """Open the page of a graph, and wait until it is laid out."""

    def run(graph: Graph, title: str = "work", **settings: Any) -> Any:
        file = tmp_path / "page.html"
        file.write_bytes(page(graph, title))
        opened = browser.open(file, **settings)
        opened.until("document.documentElement?.dataset.state === 'ready'")
        return opened

    return run


def choose(opened: Any, query: str) -> None:
    """Search, and open what is found first."""
    opened.press("/")
    opened.write(query)
    opened.press("Enter")


def heading(opened: Any) -> list[str]:
    texts: list[str] = opened.texts("#panel h2")
    return texts


@pytest.mark.parametrize(
    "graph", [world(), Graph(entities=[], relations=[]), large(200)], ids=["small", "empty", "200"]
)
def test_it_loads_without_an_error_and_without_the_network(open_page: Open, graph: Graph) -> None:
    opened = open_page(graph)
    if graph.entities:
        choose(opened, graph.entities[0].name)
    assert (opened.troubles(), opened.requests()) == ([], [])
    assert opened.texts("h1") == ["work"]
    assert f"{len(graph.entities)}\u00a0entities" in opened.texts("#counts")[0]


def test_an_empty_graph_says_so(open_page: Open) -> None:
    assert "This graph is empty" in open_page(Graph(entities=[], relations=[])).texts("#message")[0]


@pytest.mark.parametrize(
    ("query", "first", "number"),
    [
        ("database", "Database", 1),
        ("data", "Database", 2),
        ("person", "Alice", 1),
        ("cafe CREME", "UserService", 1),
        ("user cache", "UserService", 1),
        ("東京", "東京オフィス", 1),
        ("المصادقة", "مكتبة المصادقة", 1),
        ("tier", "UserService", 1),
    ],
)
def test_search_finds_names_types_texts_and_properties(open_page: Open, query: str, first: str, number: int) -> None:
    opened = open_page(world())
    opened.press("/")
    opened.write(query)
    found = opened.texts("#results .name > span:first-child")
    assert (found[0], len(found)) == (first, number)
    opened.press("Enter")
    assert heading(opened) == [first]


def test_what_is_not_there_is_not_found(open_page: Open) -> None:
    opened = open_page(world())
    opened.press("/")
    opened.write("nowhere")
    assert (opened.texts("#results li"), opened.texts("#found")) == ([], ["Nothing found"])


def test_the_arrows_choose_among_results_and_escape_closes(open_page: Open) -> None:
    opened = open_page(world())
    opened.press("/")
    opened.write("data")
    opened.press("ArrowDown")
    assert opened.run("document.getElementById('query').getAttribute('aria-activedescendant')") == "result-1"
    opened.press("Enter")
    assert heading(opened) == ["UserService"]
    opened.press("Escape")
    assert heading(opened) == []
    opened.press("Escape")
    assert opened.run("document.getElementById('query').value") == ""


def test_a_click_on_a_node_shows_all_that_is_known(open_page: Open) -> None:
    opened = open_page(world())
    choose(opened, "userservice")
    opened.press("Escape")
    assert heading(opened) == []
    opened.click(_MIDDLE)
    opened.until("!document.getElementById('panel').hidden")
    assert heading(opened) == ["UserService"]
    assert opened.texts("#panel .of-type") == ["service#1"]
    assert opened.texts("#panel > div dt, #panel > div dd") == ["tier", "1"]
    assert opened.texts(".observations .text") == ["Manages user data", "Café crème cache"]
    assert (opened.texts(".observations .kind"), opened.texts(".observations .whence")) == (["note"], ["chat"])
    assert opened.texts(".relations li") == [
        "→ uses Database",
        "→ depends_on Database",
        "→ calls UserService",
        "← maintains Alice",
    ]
    opened.click((360, 880))
    opened.until("document.getElementById('panel').hidden")


def test_a_relation_leads_to_the_other_end_and_back_leads_back(open_page: Open) -> None:
    opened = open_page(world())
    choose(opened, "alice")
    opened.click(".relations button")
    opened.until("location.hash === '#id:1'")
    assert heading(opened) == ["UserService"]
    opened.run("history.back()")
    opened.until("document.querySelector('#panel h2').textContent === 'Alice'")


def test_an_address_with_an_id_opens_its_entity(open_page: Open) -> None:
    opened = open_page(world())
    opened.run("location.hash = '#id:3'")
    opened.until("!document.getElementById('panel').hidden")
    assert heading(opened) == ["Alice"]
    opened.run("location.hash = '#id:99%'")
    opened.until("document.getElementById('panel').hidden")
    assert opened.troubles() == []


def test_the_legend_filters(open_page: Open) -> None:
    opened = open_page(world())
    assert opened.texts("#types .toggle .name")[0] == "library"
    opened.click("#types .toggle")
    opened.press("/")
    opened.write("data")
    assert opened.texts("#results .name > span:first-child") == ["UserService"]
    opened.press("Escape")
    opened.click("#all-types")
    opened.press("/")
    opened.write("data")
    assert opened.texts("#results .name > span:first-child") == ["Database", "UserService"]


@pytest.mark.parametrize("dark", [True, False])
def test_it_is_dark_or_light_as_the_system_is_until_one_says_otherwise(open_page: Open, dark: bool) -> None:
    opened = open_page(world(), dark=dark)
    light = "getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] > 128"
    assert opened.run(light) is not dark
    corner = "[...document.getElementById('picture').getContext('2d').getImageData(700, 5, 1, 1).data][0] > 128"
    assert opened.until(f"{corner} === {json.dumps(not dark)}")
    opened.press("t")
    assert opened.run(light) is dark
    assert opened.until(f"{corner} === {json.dumps(dark)}")


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_stored_stays_text(open_page: Open, text: str) -> None:
    one = Entity(
        id="1",
        name=text,
        entity_type=text,
        properties={text: text},
        observations=[Observation(id="1", observation_type=text, text=text, source=text, timestamp=text)],
    )
    opened = open_page(Graph(entities=[one], relations=[relation(1, one, text, one)]), title=text)
    choose(opened, text)
    assert heading(opened) == [text]
    assert opened.texts("h1, .observations .text, .observations .kind, #panel dt, #panel dd") == [text] * 5
    assert opened.texts("#panel .of-type") == [f"{text}#1"]
    assert opened.texts(".observations .whence") == [f"{text} · {text}"]
    assert opened.texts(".relations li") == [f"→ {text} {text}"]
    assert opened.run("[typeof window.hit, document.images.length, document.scripts.length]") == ["undefined", 0, 4]
    assert (opened.troubles(), opened.requests()) == ([], [])


def test_the_policy_stops_what_would_be_put_in(open_page: Open) -> None:
    opened = open_page(world())
    opened.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hit=1\">')")
    opened.run("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.hit=1'}))")
    opened.until("true")
    assert opened.run("typeof window.hit") == "undefined"
    assert any("Content Security Policy" in trouble for trouble in opened.troubles())


@pytest.mark.parametrize(
    ("timestamp", "text"),
    [
        ("2026-01-31", "2026-01-31"),
        ("2026-01-31T09:30:00.000Z", "2026-01-31 09:30 UTC"),
        ("2026-01-31t09:30z", "2026-01-31 09:30 UTC"),
        ("2026-01-31T09:30:15+02:00", "2026-01-31 09:30 +02:00"),
        ("2026-01-31 09:30", "2026-01-31 09:30"),
        ("in spring 2001 T", "in spring 2001 T"),
    ],
)
def test_times_are_shown_as_on_a_terminal(open_page: Open, timestamp: str, text: str) -> None:
    one = Observation(id="1", text="x", timestamp=timestamp)
    opened = open_page(Graph(entities=[Entity(id="1", name="A", entity_type="", observations=[one])], relations=[]))
    choose(opened, "a")
    assert opened.texts(".observations .whence") == [text]


def test_a_long_list_shows_its_beginning_until_one_asks(open_page: Open) -> None:
    opened = open_page(Graph(entities=[entity(1, "A", "", *map(str, range(150)))], relations=[]))
    choose(opened, "a")
    assert len(opened.texts(".observations li")) == 60
    opened.click("#panel .quiet")
    assert opened.texts(".observations .text") == [str(number) for number in range(150)]


def test_nodes_stand_apart_and_in_sight(open_page: Open) -> None:
    opened = open_page(world())
    ink = """(() => { const {width, height} = picture;
        const {data} = picture.getContext('2d').getImageData(0, 0, width, height);
        const rows = []; for (let y = 0; y < height; y += 8) { let ink = 0;
        for (let x = 350; x < width; x += 4) if (data[4 * (y * width + x)] < 200) ink++; rows.push(ink > 0); }
        return rows; })()"""
    rows = opened.until(ink, any)
    assert sum(rows) > 20
    assert not any(rows[:2])


def test_five_thousand_nodes_become_interactive(open_page: Open) -> None:
    opened = open_page(large(5000))
    choose(opened, "node 1")
    opened.until("!document.getElementById('panel').hidden")
    assert heading(opened) == ["Node 1"]
    opened.press("f")
    opened.press("+")
    opened.press("Escape")
    opened.press("/")
    opened.write("4321")
    assert opened.texts("#results .name > span:first-child") == ["Node 4321"]
    assert (opened.troubles(), opened.requests()) == ([], [])


def test_without_workers_the_page_lays_out_itself(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(page(large(100), "work").replace(b"worker-src blob:", b"worker-src 'none'"))
    opened = browser.open(file)
    opened.until("document.documentElement?.dataset.state === 'ready'")
    choose(opened, "node 7")
    assert heading(opened) == ["Node 7"]


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [(0, n) for n in range(1, 300)],
        list(pairwise(range(300))),
        [(2 * n, 2 * n + 1) for n in range(150)],
        [(a, b) for b in range(40) for a in range(b)],
    ],
    ids=["lonely", "star", "chain", "pairs", "all with all"],
)
def test_every_shape_is_laid_out_in_finite_places(open_page: Open, pairs: list[tuple[int, int]]) -> None:
    nodes = [entity(id, f"N{id}") for id in range(300)]
    graph = Graph(entities=nodes, relations=[relation(n, nodes[a], "r", nodes[b]) for n, (a, b) in enumerate(pairs)])
    opened = open_page(graph)
    links = json.dumps([end for pair in pairs for end in pair])
    sizes = "new Float32Array(300).fill(5), new Uint32Array(300)"
    places = opened.run(f"[...layout.run(300, Int32Array.from({links}), {sizes}, () => 0)]")
    points = list(zip(places[::2], places[1::2], strict=True))
    assert all(isinstance(number, int | float) for number in places)
    assert len({(round(x), round(y)) for x, y in points}) > 290

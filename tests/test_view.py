"""`mmem view`: what goes into the page, where the page goes, and what is said of it."""

import base64
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mmem.newfile import write_file
from mmem.records import Entity, Graph, Observation, Relation
from mmem.viewing.page import embedded, page

Ask = Callable[..., Any]
Run = Callable[..., Any]

VIEWING = Path(__file__).parent.parent / "mmem" / "viewing"
_WORLD: list[dict[str, Any]] = [
    {"name": "Ann", "entityType": "person", "observations": ["Sings", "Sails"], "properties": {"age": 40}},
    {"name": "Acme", "entityType": "company", "observations": []},
    {"name": "Oslo", "entityType": "city"},
    {"name": "Zoe"},
]
_RELATIONS = [("Ann", "works_at", "Acme"), ("Acme", "lies_in", "Oslo"), ("Ann", "likes", "Ann")]
HOSTILE = [
    "<script>window.hit=1</script>",
    '"onerror="window.hit=1',
    "</script><img src=x onerror=window.hit=1>",
    "<!--<script>",
    "]]>\u2028\u2029&amp;&lt;",
    "{{script}} {{graph}}",
    "a\rb\r\nc\x01\x7f",
]


@pytest.fixture
def world(ask: Ask) -> None:
    ask("create_entities", entities=_WORLD)
    ask("create_relations", relations=[{"from": a, "to": b, "relationType": kind} for a, kind, b in _RELATIONS])


class Parts(HTMLParser):
    """What an HTML parser finds in a page: elements with their attributes, and the texts of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._within = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._within = dict(attrs).get("id") or tag

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        self.texts.append((self._within, data))

    def text(self, name: str) -> str:
        return "".join(data for named, data in self.texts if named == name)


def parts(content: bytes | str) -> Parts:
    return Parts(content if isinstance(content, str) else content.decode())


def shown(content: bytes | str) -> Any:
    """Return the graph that stands in a page."""
    return json.loads(parts(content).text("graph"))


def names(content: str) -> list[str]:
    return [entity[1] for entity in shown(content)["entities"]]


def lone(text: str, **fields: Any) -> Graph:
    entity = Entity(id="1", name=text, entity_type=text, observations=[Observation(id="1", text=text)], **fields)
    return Graph(entities=[entity], relations=[])


def test_a_page_holds_all_that_is_known_in_a_compact_form(world: None, mmem: Run) -> None:
    graph = shown(mmem("view").stdout)
    ann = graph["entities"][0]
    assert (graph["title"], graph["types"]) == ("default", ["person", "company", "city", ""])
    assert (ann[:3], ann[4]) == (["1", "Ann", 0], [["age", "40"]])
    assert [(one[0], one[1]) for one in ann[3]] == [("Sings", ""), ("Sails", "note-2")]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT.*Z", one[2]) for one in ann[3])
    assert graph["entities"][3] == ["4", "Zoe", 3]
    assert graph["relations"] == [[0, 1, 0], [1, 2, 1], [0, 0, 2]]
    assert graph["relationTypes"] == ["works_at", "lies_in", "likes"]


def test_equal_graphs_give_equal_pages(world: None, mmem: Run) -> None:
    assert mmem("view").stdout == mmem("view").stdout


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_breaks_out_of_its_place(text: str) -> None:
    plain = parts(page(lone("x", properties={"k": "x"}), "x"))
    content = page(lone(text, properties={text: text}), text)
    found = parts(content)
    assert [tag for tag, _ in found.elements] == [tag for tag, _ in plain.elements]
    graph = shown(content)
    assert graph == {
        "title": text,
        "types": [text],
        "relationTypes": [],
        "entities": [["1", text, 0, [[text]], [[text, text]]]],
        "relations": [],
    }
    assert not re.search(rb"[<>&]", embedded(lone(text), text))


@pytest.mark.parametrize(
    ("value", "text"),
    [(2**63 - 1, "9223372036854775807"), (0.1, "0.1"), ({"a": ["é", None]}, '{"a":["é",null]}'), ("7", "7"), ("", "")],
)
def test_properties_are_shown_to_the_last_digit(value: object, text: str) -> None:
    assert shown(page(lone("x", properties={"k": value}), "x"))["entities"][0][4] == [["k", text]]


def test_relations_with_an_end_elsewhere_are_left_out() -> None:
    away = Relation(
        id="1", from_name="x", from_type="", to_name="y", to_type="", relation_type="r", from_id="1", to_id="2"
    )
    graph = Graph(entities=lone("x").entities, relations=[away])
    assert shown(page(graph, "x"))["relations"] == []


def test_the_policy_allows_the_pages_own_parts_and_nothing_else() -> None:
    found = parts(page(lone("x"), "x"))
    (policy,) = [a["content"] or "" for tag, a in found.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    allowed = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert not re.search(r"unsafe|https?:|\*", policy)
    for name in ("library", "layout", "script"):
        digest = base64.b64encode(hashlib.sha256(found.text(name).encode()).digest()).decode()
        assert f"'sha256-{digest}'" in allowed["script-src"]
    assert base64.b64encode(hashlib.sha256(found.text("style").encode()).digest()).decode() in allowed["style-src"]


def test_nothing_in_a_page_points_elsewhere() -> None:
    found = parts(page(lone("x"), "x"))
    targets = [a[key] or "" for _, a in found.elements for key in ("src", "href", "action") if key in a]
    assert [target.split(",")[0] for target in targets] == ["data:image/svg+xml"]
    assert not [a for _, a in found.elements if "style" in a or any(key.startswith("on") for key in a)]


def test_texts_become_text_and_never_html() -> None:
    own = "".join(
        (VIEWING / f"{name}.js").read_text() for name in ("text", "graph", "labels", "panel", "search", "legend")
    )
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function", own)
    assert "textContent" in own


# The files from npm.


def test_the_library_is_what_its_package_json_names() -> None:
    named = json.loads((VIEWING / "package.json").read_text())["dependencies"]
    listed = re.findall(r"^(d3-\w+) (\d+\.\d+\.\d+)$", (VIEWING / "library.js").read_text(), re.MULTILINE)
    assert dict(listed) == named


def test_the_library_brings_its_licences_into_the_page() -> None:
    licences = (VIEWING / "library-licenses.txt").read_text()
    assert "Permission to use, copy, modify" in licences
    assert licences in page(lone("x"), "x").decode()


# Where the page goes.


def test_in_a_pipe_the_page_goes_to_standard_output(world: None, mmem: Run, tmp_path: Path) -> None:
    ran = mmem("view")
    assert (ran.stdout[:15], ran.stderr, ran.exit_status) == ("<!doctype html>", "", 0)
    assert list(tmp_path.glob("*.html")) == []


def test_on_a_terminal_it_goes_to_a_file_named_for_the_category(ask: Ask, mmem: Run, tmp_path: Path) -> None:
    ask("create_entities", category="work", entities=_WORLD)
    ran = mmem("view", "-c", "work", terminal=True)
    assert (ran.stdout, ran.stderr) == ("Wrote mmem-work.html: 4 entities and 0 relations\n", "")
    assert names((tmp_path / "mmem-work.html").read_text()) == ["Ann", "Acme", "Oslo", "Zoe"]


def test_output_names_the_file_which_is_private_and_replaced(world: None, mmem: Run, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("old")
    file.chmod(0o644)
    ran = mmem("view", "--output", "page.html")
    assert ran.json == {
        "category": "default",
        "file": "page.html",
        "entities": 4,
        "relations": 3,
        "bytes": file.stat().st_size,
    }
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(one.name for one in tmp_path.iterdir()) == [".aim", "page.html"]


@pytest.mark.parametrize("terminal", [True, False])
def test_a_dash_is_standard_output(world: None, mmem: Run, tmp_path: Path, terminal: bool) -> None:
    assert mmem("view", "--output", "-", terminal=terminal).stdout == mmem("view").stdout
    assert list(tmp_path.glob("*.html")) == []


@pytest.mark.parametrize(
    ("output", "status", "said"),
    [
        (".", 2, ". is a folder; name a file in it"),
        ("nowhere/page.html", 2, "there is no folder nowhere to write page.html in"),
        ("", 2, "'' isn't a file's name"),
        ("a\0b", 2, "isn't a file's name"),
        ("x" * 300, 5, "file name too long"),
    ],
)
def test_a_place_that_cannot_be_written_is_said(mmem: Run, world: None, output: str, status: int, said: str) -> None:
    ran = mmem("view", "--output", output)
    assert (ran.stdout, ran.exit_status) == ("", status)
    assert said in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "page.html"
    file.write_text("old")
    monkeypatch.setattr(os, "fsync", lambda descriptor: os.open(tmp_path / "none" / "none", os.O_RDONLY))
    with pytest.raises(Exception, match="no such file"):
        write_file(str(file), b"new")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("page.html", "old")]


def test_a_link_is_followed_and_a_device_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link.html").symlink_to(tmp_path / "real.html")
    write_file(str(tmp_path / "link.html"), b"page")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_bytes() == b"page"
    write_file(os.devnull, b"page")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


# What it shows.


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--around", "Ann"], ["Ann", "Acme"]),
        (["--around", "Ann", "--depth", "2"], ["Ann", "Acme", "Oslo"]),
        (["--around", "id:4", "--around", "name:Oslo", "--depth", "0"], ["Oslo", "Zoe"]),
    ],
)
def test_around_shows_what_is_near(world: None, mmem: Run, words: list[str], expected: list[str]) -> None:
    assert names(mmem("view", *words).stdout) == expected


def test_around_brings_the_relations_in_between_and_is_in_the_title(world: None, mmem: Run) -> None:
    page = mmem("view", "--around", "Ann").stdout
    assert [one[:2] for one in shown(page)["relations"]] == [[0, 1], [0, 0]]
    assert parts(page).text("title") == "default · around Ann"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--around", "An"], 3, "mmem: no entity 'An' in category 'default', did you mean 'Ann'"),
        (["--depth", "2"], 2, "--depth goes with --around"),
        (["--around", "Ann", "--depth", "-1"], 2, "-1"),
        (["--open", "--output", "-"], 2, "--open shows a file"),
    ],
)
def test_what_cannot_be_shown_is_said(world: None, mmem: Run, words: list[str], status: int, said: str) -> None:
    ran = mmem("view", *words)
    assert (ran.stdout, ran.exit_status) == ("", status)
    assert said in ran.stderr.replace("; did", ", did")


def test_a_name_of_several_types_asks_for_the_id(ask: Ask, mmem: Run) -> None:
    ask("create_entities", entities=[{"name": "A", "entityType": "x"}, {"name": "A", "entityType": "y"}])
    ran = mmem("view", "--around", "A")
    assert (ran.exit_status, "id:1" in ran.stderr) == (3, True)
    assert names(mmem("view", "--around", "id:2").stdout) == ["A"]


def test_a_category_that_is_not_there_gives_an_empty_page_and_a_notice(mmem: Run, base: Path) -> None:
    ran = mmem("view", "-c", "wrok", "--errors", "json")
    assert (names(ran.stdout), json.loads(ran.stderr)["code"], ran.exit_status) == ([], "no_such_category", 0)
    assert not base.exists()


@pytest.mark.parametrize(("most", "said"), [(3, True), (4, False)])
def test_a_large_page_is_said_to_be_slow(
    world: None, mmem: Run, monkeypatch: pytest.MonkeyPatch, most: int, said: bool
) -> None:
    monkeypatch.setattr("mmem.commands.view._MANY", most)
    ran = mmem("view")
    assert ("a page of 4 entities is slow; --around NAME" in ran.stderr, ran.exit_status) == (said, 0)


# In a browser.


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """A program that notes what it is to open."""
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > "{tmp_path}/opened"\n')
    program.chmod(0o755)
    return program


def test_open_shows_a_private_file_in_the_browser(world: None, mmem_process: Run, browser: Path, base: Path) -> None:
    ran = mmem_process("view", "--open", environ={"BROWSER": str(browser), "TMPDIR": str(browser.parent)})
    file = Path(ran.json["file"])
    assert (ran.stderr, ran.exit_status, file.name) == ("", 0, "mmem-default.html")
    assert (browser.parent / "opened").read_text() == file.as_uri()
    assert [stat.S_IMODE(one.stat().st_mode) for one in (file, file.parent)] == [0o600, 0o700]
    assert names(file.read_text())[0] == "Ann"


def test_open_with_output_opens_that_file(world: None, mmem_process: Run, browser: Path) -> None:
    ran = mmem_process("view", "--open", "--output", "p.html", environ={"BROWSER": str(browser)})
    assert (ran.json["file"], ran.stderr) == ("p.html", "")
    assert (browser.parent / "opened").read_text() == (browser.parent / "p.html").as_uri()


def test_where_no_browser_starts_the_file_is_named(world: None, mmem_process: Run, tmp_path: Path) -> None:
    nothing = {"BROWSER": "", "PATH": str(tmp_path), "DISPLAY": "", "WAYLAND_DISPLAY": "", "TMPDIR": str(tmp_path)}
    ran = mmem_process("view", "--open", "--errors", "json", environ=nothing)
    note = json.loads(ran.stderr)
    assert (note["code"], ran.exit_status) == ("view", 0)
    assert note["message"] == f"no browser could be started here; open {ran.json['file']} in one"


def test_a_browser_that_stays_is_not_waited_for(
    world: None, mmem: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mmem.viewing.opening._PATIENCE", 0.01)
    monkeypatch.setattr("mmem.viewing.opening._OPEN", "import time; time.sleep(2)")
    ran = mmem("view", "--open", "--output", "p.html", terminal=True)
    assert (ran.stdout, ran.stderr) == ("Opened p.html: 4 entities and 3 relations\n", "")


def test_an_export_to_html_is_the_same_page(world: None, mmem: Run) -> None:
    assert mmem("export", "--to", "html").stdout == mmem("view").stdout

"""`mmem export`: what is selected, where it goes, and what is said of what a format can't hold."""

import csv
import io
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mmem.around import around
from mmem.exporting import selection
from mmem.exporting.formats import FORMATS
from mmem.store import Store

Ask = Callable[..., Any]
Run = Callable[..., Any]

WRITTEN = [name for name in FORMATS if name not in {"csv", "html"}]  # html: see the tests of the page

_ENTITIES = [
    {
        "name": "Ann",
        "entityType": "person",
        "properties": {"age": 41, "tags": ["a", "b"]},
        "observations": [
            {"text": "Sings", "timestamp": "2026-01-31"},
            {"observationType": "office", "text": "no\nwindow", "source": "hr", "properties": {"sure": True}},
        ],
    },
    {"name": "Bo", "entityType": "person"},
    {"name": "Atlas", "entityType": "project", "observations": ["Maps"]},
    {"name": "Database", "entityType": "library"},
    {"name": "Oslo"},
]
_RELATIONS = [
    {"from": "Ann", "to": "Atlas", "relationType": "leads", "properties": {"since": 2024}},
    {"from": "Bo", "to": "Atlas", "relationType": "knows"},
    {"from": "Atlas", "to": "Database", "relationType": "uses"},
    {"from": "Database", "to": "Oslo", "relationType": "runs_in"},
]


@pytest.fixture
def team(ask: Ask) -> None:
    """Five entities in a row of relations: Ann and Bo, Atlas, Database, Oslo."""
    ask("create_entities", entities=_ENTITIES)
    ask("create_relations", relations=_RELATIONS)


ONE_LEFT = "1 relation to entities that aren't exported was"


def lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def names(text: str) -> list[str]:
    return [record["name"] for record in lines(text) if record["type"] == "entity"]


def relations(text: str) -> list[str]:
    return [record["relationType"] for record in lines(text) if record["type"] == "relation"]


@pytest.mark.parametrize(("form", "words"), [("jsonl", []), ("json", ["--to", "json"]), ("toon", ["--to", "toon"])])
def test_an_export_is_what_read_graph_prints(team: None, mmem: Run, form: str, words: list[str]) -> None:
    ran = mmem("export", *words)
    assert (ran.stdout, ran.stderr, ran.exit_status) == (mmem("read-graph", "-f", form).stdout, "", 0)


@pytest.mark.parametrize("form", ["jsonl", "json", "toon"])
def test_an_empty_category_is_exported_as_read_graph_prints_it(mmem: Run, form: str) -> None:
    ran = mmem("export", "--to", form)
    assert (ran.stdout, ran.exit_status) == (mmem("read-graph", "-f", form).stdout, 0)
    assert ran.stderr.startswith("mmem: no_such_category: there is no category 'default'")


@pytest.mark.parametrize("form", WRITTEN)
def test_two_exports_are_equal_on_a_terminal_too(team: None, mmem: Run, form: str) -> None:
    first = mmem("export", "--to", form)
    assert first.stdout
    assert mmem("export", "--to", form) == first
    assert mmem("export", "--to", form, terminal=True) == first
    mmem("export", "--to", form, "-o", "file")
    assert Path("file").read_text("utf-8") == first.stdout


@pytest.mark.parametrize("form", [*WRITTEN, "csv"])
def test_reading_in_small_bites_gives_the_same(
    team: None, mmem: Run, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mmem("export", "--to", form, "-o", "once")
    monkeypatch.setattr(selection, "_BLOCK", 2)
    monkeypatch.setattr(selection, "_RECORDS", 1)
    mmem("export", "--to", form, "-o", "bitten")
    assert contents(Path("bitten")) == contents(Path("once"))


def contents(path: Path) -> dict[str, bytes]:
    """Return what stands in a file, or in the files of a folder."""
    if path.is_file():
        return {"": path.read_bytes()}
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def test_an_export_is_of_one_moment(team: None, store: Store, base: Path) -> None:
    with store.reading(None) as transaction:
        chosen = selection.Selection(transaction, selection.Wanted())
        entities = chosen.entities()
        next(entities)
        with Store(base) as other, other.writing(None) as writing:
            writing.delete("entities", "id", [5])
        assert [one.name for one in entities][-1] == "Oslo"


# --- what is selected


@pytest.mark.parametrize(
    ("words", "chosen", "between", "left"),
    [
        (["-t", "person"], ["Ann", "Bo"], [], 2),
        (["-t", "project", "-t", "person"], ["Ann", "Bo", "Atlas"], ["leads", "knows"], 1),
        (["-t", ""], ["Oslo"], [], 1),
        (["--around", "Ann"], ["Ann", "Atlas"], ["leads"], 2),
        (["--around", "Ann", "--depth", "0"], ["Ann"], [], 1),
        (["--around", "id:3"], ["Ann", "Bo", "Atlas", "Database"], ["leads", "knows", "uses"], 1),
        (["--around", "Ann", "--depth", "2", "-t", "person"], ["Ann", "Bo"], [], 2),
        (
            ["--around", "Ann", "--around", "name:Oslo"],
            ["Ann", "Atlas", "Database", "Oslo"],
            ["leads", "uses", "runs_in"],
            1,
        ),
        (
            ["--around", "Oslo", "--depth", "9"],
            ["Ann", "Bo", "Atlas", "Database", "Oslo"],
            ["leads", "knows", "uses", "runs_in"],
            0,
        ),
    ],
)
def test_a_part_carries_the_relations_within_it_and_counts_the_others(
    team: None, mmem: Run, words: list[str], chosen: list[str], between: list[str], left: int
) -> None:
    ran = mmem("export", *words)
    assert (names(ran.stdout), relations(ran.stdout), ran.exit_status) == (chosen, between, 0)
    were = f"{left} relations to entities that aren't exported were" if left > 1 else ONE_LEFT
    assert ran.stderr == (f"mmem: truncated: {were} left out\n" if left else "")


@pytest.mark.parametrize(
    ("depth", "found"),
    [(0, [3]), (1, [2, 3, 4]), (2, [1, 2, 3, 4, 5]), (3, [1, 2, 3, 4, 5, 6]), (99, [1, 2, 3, 4, 5, 6])],
)
def test_around_goes_both_ways_and_through_circles(ask: Ask, store: Store, depth: int, found: list[int]) -> None:
    ask("create_entities", entities=[{"name": str(number)} for number in range(1, 9)])
    pairs = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 1), (5, 6), (7, 7), (7, 8)]
    ask("create_relations", relations=[{"from": {"id": a}, "to": {"id": b}, "relationType": "r"} for a, b in pairs])
    with store.reading(None) as transaction:
        assert around(transaction, [3], depth) == found
        assert around(transaction, [], depth) == []


def test_a_type_that_no_entity_has_is_said(team: None, mmem: Run) -> None:
    ran = mmem("export", "-t", "persn", "--to", "json")
    assert (ran.json, ran.exit_status) == ({"entities": [], "relations": []}, 0)
    assert ran.stderr == "mmem: not_found: no entity has the type 'persn'; did you mean 'person'?\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--around", "Anna"], "no entity 'Anna' in category 'default'; did you mean 'Ann'? (nothing was written)"),
        (["--around", "id:77"], "no entity has id 77 in category 'default' (nothing was written)"),
        (["--around", "Twin"], "2 entities are named 'Twin', of the types 'a' (id 6), 'b' (id 7); give the id (id:6)"),
    ],
)
def test_a_name_to_look_around_has_to_be_one_entity(
    team: None, ask: Ask, mmem: Run, words: list[str], message: str
) -> None:
    ask("create_entities", entities=[{"name": "Twin", "entityType": kind} for kind in "ab"])
    ran = mmem("export", *words, "-o", "out")
    assert (ran.stdout, ran.stderr, ran.exit_status) == ("", f"mmem: {message}\n", 3)
    assert not Path("out").exists()


def test_what_points_nowhere_is_left_out_and_said(team: None, base: Path, mmem: Run, store: Store) -> None:
    store.close()
    with closing(sqlite3.connect(base / "default.db")) as conn, conn:
        conn.execute("DELETE FROM entities WHERE name = 'Atlas'")
    read, ran = mmem("read-graph", "-f", "jsonl"), mmem("export")
    assert (ran.stdout, ran.stderr) == (read.stdout, read.stderr)
    assert "relations point to no entity" in ran.stderr
    assert mmem("export", "--to", "graphml").stderr.count("point to no entity") == 2


# --- several categories


@pytest.fixture
def two(team: None, ask: Ask) -> None:
    """The team in the category `default`, and a category `work` with one entity."""
    ask("create_entities", category="work", entities=[{"name": "Solo", "entityType": "person"}])


def test_every_record_names_its_category(two: None, mmem: Run) -> None:
    records = lines(mmem("export", "-a").stdout)
    assert [(one["category"], one.get("name")) for one in records][-5:] == [("default", None)] * 4 + [("work", "Solo")]
    alone = [{key: value for key, value in one.items() if key != "category"} for one in records[:-1]]
    assert alone == lines(mmem("export").stdout)


def test_json_of_all_categories_is_a_list(two: None, mmem: Run) -> None:
    ran = mmem("export", "-a", "--to", "json")
    expected = [{"category": name, **mmem("read-graph", "-c", name, "-f", "json").json} for name in ("default", "work")]
    assert ran.json == expected
    assert ran.stdout == json.dumps(expected, ensure_ascii=False, indent=2) + "\n"
    assert mmem("export", "-a", "--to", "json", "--base-dir", "nowhere").stdout == "[]\n"


def test_yaml_of_all_categories_is_a_document_each(two: None, mmem: Run) -> None:
    first, second = mmem("export", "-a", "--to", "yaml").stdout.removeprefix("---\n").split("---\n")
    assert first == "category: default\n" + mmem("export", "--to", "yaml").stdout
    assert second == "category: work\nentities:\n  - name: Solo\n    entityType: person\nrelations: []\n"


@pytest.mark.parametrize("form", WRITTEN)
def test_a_folder_gets_a_file_for_each_category(two: None, mmem: Run, form: str) -> None:
    ran = mmem("export", "-a", "--to", form, "-o", "all" + os.sep)
    ending = FORMATS[form].ending
    assert sorted(contents(Path("all"))) == [f"default{ending}", f"work{ending}"]
    assert [one["path"] for one in ran.json] == [f"all/default{ending}", f"all/work{ending}"]
    if not FORMATS[form].several:
        assert Path("all", f"work{ending}").read_text("utf-8") == mmem("export", "-c", "work", "--to", form).stdout


def test_on_a_terminal_each_category_gets_a_line(two: None, mmem: Run) -> None:
    assert mmem("export", "-a", "-o", "all" + os.sep, terminal=True).stdout.splitlines() == [
        "Exported category 'default' to all/default.jsonl: 5 entities, 3 observations and 4 relations",
        "Exported category 'work' to all/work.jsonl: 1 entity, 0 observations and 0 relations",
    ]


def test_tables_of_all_categories_get_a_folder_each(two: None, mmem: Run) -> None:
    mmem("export", "-a", "--to", "csv", "-o", "all")
    tables = [f"{table}.csv" for table in ("entities", "observations", "relations")]
    assert sorted(contents(Path("all"))) == [f"{name}/{table}" for name in ("default", "work") for table in tables]


def test_a_type_is_missing_where_no_category_has_it(two: None, mmem: Run) -> None:
    assert "not_found" not in mmem("export", "-a", "-t", "project").stderr
    assert mmem("export", "-a", "-t", "prjct").stderr.count("not_found") == 1


def test_one_bad_category_leaves_no_file_of_any(two: None, store: Store, base: Path, mmem: Run) -> None:
    store.close()
    with closing(sqlite3.connect(base / "work.db")) as conn, conn:
        conn.execute("INSERT INTO schema_version VALUES (99)")
    ran = mmem("export", "-a", "-o", "all" + os.sep)
    assert (ran.stdout, ran.exit_status) == ("", 5)
    assert "work.db was made by a newer program" in ran.stderr
    assert not Path("all").exists()


# --- where it goes


def test_a_file_is_private_and_replaces_what_was_there(team: None, mmem: Run) -> None:
    Path("out.jsonl").write_text("old")
    Path("out.jsonl").chmod(0o644)
    ran = mmem("export", "-o", "out.jsonl")
    counted = {"category": "default", "path": "out.jsonl", "entities": 5, "observations": 3, "relations": 4}
    assert (ran.json, ran.stderr) == (counted, "")
    assert Path("out.jsonl").read_text("utf-8") == mmem("read-graph", "-f", "jsonl").stdout
    assert stat.S_IMODE(Path("out.jsonl").stat().st_mode) == 0o600
    assert sorted(os.listdir()) == [".aim", "out.jsonl"]


def test_on_a_terminal_a_sentence_says_where(team: None, mmem: Run) -> None:
    ran = mmem("export", "--to", "csv", "-o", "tables", terminal=True)
    assert ran.stdout == "Exported category 'default' to tables: 5 entities, 3 observations and 4 relations\n"
    assert {stat.S_IMODE(path.stat().st_mode) for path in Path("tables").iterdir()} == {0o600}


def test_a_link_stays_one(team: None, mmem: Run) -> None:
    Path("real").write_text("old")
    Path("link").symlink_to("real")
    mmem("export", "-o", "link")
    assert Path("link").is_symlink()
    assert names(Path("real").read_text("utf-8"))[0] == "Ann"


def test_a_dash_is_standard_output_and_a_pipe_stays_a_pipe(team: None, mmem: Run) -> None:
    shown = mmem("export").stdout
    assert mmem("export", "-o", "-").stdout == shown
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        assert mmem("export", "-o", "pipe").stdout == ""
        assert reader.communicate(timeout=20)[0].decode() == shown
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)


@pytest.mark.parametrize(
    ("words", "exit_status", "message"),
    [
        (["-o", "folder"], 2, "folder is a folder: name a file in it, such as folder/default.jsonl"),
        (["-o", "new/", "--to", "dot"], 2, "new/ is a folder: name a file in it, such as new/default.dot"),
        (["-o", "file", "--to", "csv"], 2, "file is a file, and csv is three tables: name a folder with -o"),
        (["-o", "file", "-a", "--to", "dot"], 2, "file is a file, and dot takes a file for each category: name a"),
        (["--to", "csv"], 2, "csv is three tables: name a folder for them with -o FOLDER"),
        (["-a", "--to", "toon"], 2, "toon takes a file for each category: name a folder for them with -o FOLDER"),
        (["-o", ""], 2, "-o names no file"),
        (["-o", ".aim/default.db"], 2, ".aim/default.db is where mmem keeps a category itself"),
        (["-o", "nowhere/x"], 5, "nowhere/x: there is no folder nowhere; make it first"),
        (["-o", "file/x"], 5, "file/x: there is no folder file; make it first"),
        (["-o", "/dev/full"], 5, "/dev/full: the disk is full; make room and try again"),
        (["-o", "n" * 300], 5, "file name too long; choose another place with -o"),
        (["--depth", "2"], 2, "--depth goes with --around NAME"),
        (["--around", "Ann", "--depth", "-1"], 2, "-1 is not in the range x>=0"),
        (["-a", "-c", "default"], 2, "--all-categories and --category exclude each other"),
        (["-a", "--around", "Ann"], 2, "--around looks in one category"),
        (["-f", "yaml"], 2, "the format of an export is chosen with --to"),
        (["--to", "xml"], 2, "'xml' is not one of 'jsonl', 'memory-jsonl'"),
    ],
)
def test_what_cannot_be_is_one_line_and_writes_nothing(
    team: None, mmem: Run, base: Path, words: list[str], exit_status: int, message: str
) -> None:
    Path("folder").mkdir()
    Path("file").write_text("old")
    ran = mmem("export", *words)
    assert (ran.stdout, ran.exit_status, ran.stderr.count("\n")) == ("", exit_status, 1)
    assert message in ran.stderr
    assert sorted(os.listdir()) == [".aim", "file", "folder"]
    assert Path("file").read_text() == "old"
    assert os.listdir("folder") == []


def test_a_page_is_not_shown_on_a_terminal(team: None, mmem: Run) -> None:
    assert mmem("export", "--to", "html", terminal=True).exit_status == 2


@pytest.mark.parametrize(("number", "exit_status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_interrupted_export_leaves_everything_as_it_was(
    team: None, mmem: Run, monkeypatch: pytest.MonkeyPatch, number: int, exit_status: int, form: str
) -> None:
    def interrupted(self: object) -> Iterator[Any]:
        os.kill(os.getpid(), number)
        yield from ()

    monkeypatch.setattr(selection.Selection, "relations", interrupted)
    Path("old.jsonl").write_text("old")
    target = "old.jsonl" if form == "jsonl" else "tables"
    assert mmem("export", "--to", form, "-o", target).exit_status == exit_status
    assert sorted(os.listdir()) == [".aim", "old.jsonl"]
    assert Path("old.jsonl").read_text() == "old"


@pytest.mark.parametrize("form", ["jsonl", "json", "yaml", "markdown"])
def test_a_closed_pipe_ends_it_quietly(ask: Ask, form: str) -> None:
    ask("create_entities", entities=[{"name": name, "observations": ["x" * 900_000]} for name in "abcd"])
    command = f'"{sys.executable}" -m mmem export --to {form} | head -c 1 > /dev/null; echo ${{PIPESTATUS[0]}}'
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("141\n", "")


# --- what each format holds


def test_memory_jsonl_has_properties_as_fields(team: None, mmem: Run) -> None:
    ran = mmem("export", "--to", "memory-jsonl")
    assert ran.stdout.splitlines()[0] == (
        '{"type":"entity","name":"Ann","entityType":"person","observations":["Sings","no\\nwindow"],'
        '"age":41,"tags":["a","b"]}'
    )
    assert lines(ran.stdout)[5] == {
        "type": "relation",
        "from": "Ann",
        "to": "Atlas",
        "relationType": "leads",
        "since": 2024,
    }
    assert ran.stdout.endswith("}\n")
    assert ran.stderr == (
        "mmem: truncated: memory-jsonl has no place for 3 timestamps, 1 type of an observation, 1 source and "
        "1 observation's properties; jsonl keeps everything\n"
    )


def test_memory_jsonl_never_overwrites_a_field_and_says_what_is_ambiguous(ask: Ask, mmem: Run) -> None:
    twins = [{"name": "Twin", "entityType": kind, "properties": {"name": "x", "type": "y", "z": 1}} for kind in "ab"]
    ask("create_entities", entities=[*twins, {"name": "Solo"}])
    twin = {"name": "Twin", "type": "b"}
    ask(
        "create_relations",
        relations=[{"from": twin, "to": "Solo", "relationType": "r", "properties": {"to": 1, "n": 2}}],
    )
    ran = mmem("export", "--to", "memory-jsonl")
    entity = {"type": "entity", "name": "Twin", "entityType": "a", "observations": [], "z": 1}
    assert lines(ran.stdout)[0] == entity
    assert lines(ran.stdout)[-1] == {"type": "relation", "from": "Twin", "to": "Solo", "relationType": "r", "n": 2}
    lost, unclear = ran.stderr.splitlines()
    assert lost.startswith("mmem: truncated: memory-jsonl has no place for 5 properties that have the names of fields;")
    assert unclear == (
        "mmem: truncated: 1 name belongs to entities of several types; memory-jsonl knows no types of ends, so that "
        "1 relation names them without saying which"
    )


def asked_of(program: Path, folder: Path, tool: str) -> Any:
    """Return what the real reference server answers from the file `memory.jsonl` of a folder."""
    node = program.parents[4] / "node_modules" / ".bin" / "node"
    environ = {**os.environ, "MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
    frames = [
        {"id": 1, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": tool, "arguments": {}}},
    ]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([node, program], env=environ, **pipes) as server:  # type: ignore[call-overload]
        for frame in frames:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")
        server.stdin.flush()
        answers = (json.loads(line) for line in server.stdout)
        answer = next(one for one in answers if one.get("id") == 2)
        server.kill()
    return answer["result"]["structuredContent"]


def test_the_real_reference_server_reads_what_it_should(
    team: None, ask: Ask, mmem: Run, node_tools: Path, tmp_path: Path
) -> None:
    odd = 'quote " back\\slash \u2028 \U0001f389 名前 \x07'
    ask("create_entities", entities=[{"name": odd, "entityType": odd, "observations": [odd]}])
    mmem("export", "--to", "memory-jsonl", "-o", "memory.jsonl")
    program = node_tools / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js"
    graph = ask("read_graph").result
    assert asked_of(program, tmp_path, "read_graph") == {
        "entities": [
            {"name": one.name, "entityType": one.entity_type, "observations": [text.text for text in one.observations]}
            for one in graph.entities
        ],
        "relations": [
            {"from": one.from_name, "to": one.to_name, "relationType": one.relation_type} for one in graph.relations
        ],
    }


def test_yaml_is_pleasant_to_read(ask: Ask, mmem: Run) -> None:
    long = "A decision: " + "we go on with it, " * 8 + "whatever comes"
    texts = [
        {"text": "Speaks Norwegian", "timestamp": "2026-01-31"},
        {"observationType": "office", "text": "no", "source": "hr", "timestamp": "2026-01-31"},
        {"observationType": "why", "text": long, "timestamp": "2026-01-31"},
        {"observationType": "code", "text": "def f():\n    return 1.10\n", "timestamp": "2026-01-31"},
    ]
    ask("create_entities", entities=[{"name": "Ann", "entityType": "person", "properties": {"age": 41}}, {"name": "B"}])
    ask("add_observations", observations=[{"entityName": "Ann", "contents": texts}])
    ask("create_relations", relations=[{"from": "Ann", "to": "B", "relationType": "knows", "properties": {"n": 1e22}}])
    assert (
        mmem("export", "--to", "yaml").stdout
        == f"""entities:
  - name: Ann
    entityType: person
    properties: {{age: 41}}
    observations:
      - text: Speaks Norwegian
        timestamp: 2026-01-31
      - observationType: office
        text: "no"
        timestamp: 2026-01-31
        source: hr
      - observationType: why
        text: |-
          {long}
        timestamp: 2026-01-31
      - observationType: code
        text: |
          def f():
              return 1.10
        timestamp: 2026-01-31
  - name: B
relations:
  - from: {{name: Ann, type: person}}
    to: B
    relationType: knows
    properties: {{"n": 1.0e+22}}
"""
    )


def test_a_timestamp_that_seed_would_refuse_is_left_out_and_said(ask: Ask, base: Path, store: Store, mmem: Run) -> None:
    ask("create_entities", entities=[{"name": "Ann", "observations": ["Sings"]}])
    store.close()
    with closing(sqlite3.connect(base / "default.db")) as conn, conn:
        conn.execute("UPDATE observations SET timestamp = 'last week'")
    ran = mmem("export", "--to", "yaml")
    assert "      - Sings\n" in ran.stdout
    assert ran.stderr.startswith("mmem: truncated: 1 timestamp that is not ISO 8601")


def test_csv_gives_texts_back_as_they_were(ask: Ask, mmem: Run) -> None:
    texts = ["=1+1", 'a "quoted", text', "two\r\nlines", "\r", " spaces ", "名前\u2028\x07"]
    properties = {"why": 'so "it" is', "n": None}
    ask("create_entities", entities=[{"name": "A", "properties": properties, "observations": texts}])
    ask("create_relations", relations=[{"from": "A", "to": "A", "relationType": "=r", "properties": properties}])
    mmem("export", "--to", "csv", "-o", "tables")

    def table(name: str) -> list[dict[str, str]]:
        text = Path("tables", f"{name}.csv").read_bytes().decode()
        return list(csv.DictReader(io.StringIO(text, newline="")))

    assert [row["text"] for row in table("observations")] == texts
    assert {row["entityId"] for row in table("observations")} == {"1"}
    assert json.loads(table("entities")[0]["properties"]) == properties
    (relation,) = table("relations")
    assert json.loads(relation.pop("properties")) == properties
    assert list(relation.values()) == ["1", "1", "A", "", "=r", "1", "A", ""]


@pytest.mark.parametrize(
    ("form", "name", "shown"),
    [
        ("dot", 'a "b" \\n &amp; <i>', 'label="a \\"b\\" \\\\n &amp;amp; <i>"'),
        ("dot", "two\nlines \x1b", 'label="two\\nlines ␛"'),
        ("mermaid", 'a "b" #quot; `c` <i>', '["a #34;b#34; #35;quot#59; #96;c#96; #60;i#62;"]'),
        ("mermaid", "two\nlines_here %%{init}%%", '["two<br>lines_here #37;#37;#123;init#125;#37;#37;"]'),
        ("mermaid", "1. - end", '["#49;#46; - end"]'),
        (
            "markdown",
            "# a *b* [c](d) _e_ f_g <h> `i` &amp;",
            "</a>\\# a \\*b\\* \\[c\\](d) \\_e\\_ f_g \\<h> \\`i\\` \\&amp;",
        ),
        ("markdown", "two\nlines", "</a>two␊lines\n"),
    ],
)
def test_names_are_written_so_that_nothing_in_them_counts(
    ask: Ask, mmem: Run, form: str, name: str, shown: str
) -> None:
    ask("create_entities", entities=[{"name": name}])
    assert shown in mmem("export", "--to", form).stdout


@pytest.mark.parametrize("form", ["dot", "mermaid", "markdown"])
def test_pictures_in_the_place_of_control_characters_are_said(ask: Ask, mmem: Run, form: str) -> None:
    ask("create_entities", entities=[{"name": "bell\x07"}, {"name": "plain"}])
    ran = mmem("export", "--to", form)
    assert "bell␇" in ran.stdout
    assert ran.stderr == "mmem: repaired: control characters in 1 text were written as pictures or escapes\n"


@pytest.mark.parametrize("form", WRITTEN)
def test_a_terminal_gets_no_control_character(ask: Ask, mmem: Run, form: str) -> None:
    odd = "\x1b[31m\x9b\u202e\x7f"
    ask("create_entities", entities=[{"name": odd, "entityType": odd, "observations": [odd], "properties": {odd: odd}}])
    ask("create_relations", relations=[{"from": odd, "to": odd, "relationType": odd}])
    shown = mmem("export", "--to", form, terminal=True).stdout
    assert not set("\x1b\x9b\u202e\x7f") & set(shown)


def test_markdown_links_relations_to_sections(team: None, mmem: Run) -> None:
    shown = mmem("export", "--to", "markdown").stdout
    assert shown.startswith(
        '# default\n\n5 entities, 3 observations, 4 relations\n\n## <a id="entity-1"></a>Ann (person)\n\n'
    )
    assert '- age: `41`\n- tags: `["a","b"]`\n- Sings (2026-01-31)\n- **office:** no\\\n  window (hr, ' in shown
    assert "- → leads [Atlas](#entity-3) (project) (since: `2024`)\n" in shown
    assert "- ← [Bo](#entity-2) (person) knows\n" in shown


@pytest.mark.parametrize("command", ["export", "view"])
def test_a_mistyped_category_leaves_what_is_there(mmem: Any, tmp_path: Path, command: str) -> None:
    mmem("create-entities", "A", "-c", "work")
    (tmp_path / "kept").write_text("as it was")
    ran = mmem(command, "-c", "wrok", "-o", "kept")
    assert (ran.exit_status, ran.stdout, (tmp_path / "kept").read_text()) == (3, "", "as it was")
    assert "there is no category 'wrok'" in ran.stderr

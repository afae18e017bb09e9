"""Files of other memory programs: every class that was met in public, what is made of it, and that the sums close."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).with_name("cases") / "import"

E = '{"type":"entity","name":"Lamp","entityType":"thing","observations":["is green"]}'
F = '{"type":"entity","name":"Desk","entityType":"thing","observations":["has a drawer"]}'
R = '{"type":"relation","from":"Lamp","to":"Desk","relationType":"stands on"}'

Import = Callable[..., Any]


def document(entity: str, more: str) -> str:
    return f'{{"entities":[{entity}]{more}}}'


def sums(result: dict[str, Any]) -> tuple[int, ...]:
    return tuple(result[key] for key in ("created", "merged", "alreadyThere", "keptAside", "repaired"))


def graph(mmem: Any, category: str = "default") -> dict[str, Any]:
    return mmem("read-graph", "-c", category, "-f", "json").json


def shown(mmem: Any) -> tuple[dict[str, list[str]], list[str]]:
    """Return the entities with their texts, and the relations, of the default category."""
    whole = graph(mmem)
    entities = {
        f"{one['name']} ({one['entityType']})": [text["text"] for text in one["observations"]]
        for one in whole["entities"]
    }
    return entities, [f"{one['from']} {one['relationType']} {one['to']}" for one in whole["relations"]]


@pytest.fixture
def imported(mmem: Any, tmp_path: Path) -> Import:
    """Import a text, or bytes, into the default category."""

    def run(content: str | bytes, *words: str, name: str = "memory.jsonl") -> Any:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        before = path.read_bytes()
        ran = mmem("import", str(path), "-f", "json", *words)
        assert path.read_bytes() == before
        return ran

    return run


LAMP, DESK = {"Lamp (thing)": ["is green"]}, {"Desk (thing)": ["has a drawer"]}
BOTH, STANDS = {**LAMP, **DESK}, ["Lamp stands on Desk"]

OUTCOMES: dict[str, tuple[tuple[int, ...], dict[str, list[str]], list[str]]] = {
    "01-canonical": ((3, 0, 0, 0, 0), BOTH, STANDS),
    "02-trailing-newline": ((3, 0, 0, 0, 0), BOTH, STANDS),
    "03-glued": ((3, 0, 0, 0, 1), BOTH, STANDS),
    "04-bom": ((3, 0, 0, 0, 0), BOTH, STANDS),
    "05-crlf": ((3, 0, 0, 0, 0), BOTH, STANDS),
    "06-blank-lines": ((3, 0, 0, 0, 0), BOTH, STANDS),
    "08-truncated-tail": ((2, 0, 0, 1, 0), BOTH, []),
    "09-utf16-append": ((2, 0, 0, 0, 0), BOTH, []),
    "11-bad-utf8": ((0, 0, 0, 1, 0), {}, []),
    "12-doc-compact": ((1, 0, 0, 0, 0), LAMP, []),
    "13-doc-pretty": ((1, 0, 0, 0, 0), LAMP, []),
    "14-array-pretty": ((2, 0, 0, 0, 1), {**LAMP, "Desk ()": []}, STANDS),
    "15-pretty-objects": ((2, 0, 0, 0, 2), {**LAMP, "Desk ()": []}, STANDS),
    "16-aim": ((3, 0, 0, 0, 0), BOTH, STANDS),
    "17-aim-only": ((0, 0, 0, 0, 0), {}, []),
    "18-untyped": ((2, 0, 0, 0, 2), {**LAMP, "Desk ()": []}, STANDS),
    "19-untyped-obs-objects": ((1, 0, 0, 0, 1), LAMP, []),
    "21-unknown-type": ((1, 0, 0, 1, 0), LAMP, []),
    "22-observation-record": ((1, 1, 0, 0, 1), {"Lamp (thing)": ["is green", "was repaired"]}, []),
    "23-source-target": ((3, 0, 0, 0, 1), BOTH, STANDS),
    "24b-relation-key": ((3, 0, 0, 0, 1), BOTH, STANDS),
    "25-typo-key": ((2, 0, 0, 1, 0), BOTH, []),
    "28-entityType-missing": ((1, 0, 0, 0, 1), {"Lamp ()": ["is green"]}, []),
    "29-observations-missing": ((1, 0, 0, 0, 1), {"Lamp (thing)": []}, []),
    "31-extra-fields": ((1, 0, 0, 0, 0), LAMP, []),
    "33-dup-same": ((1, 1, 0, 0, 0), {"Lamp (thing)": ["is green", "has a switch"]}, []),
    "34-dup-diff-type": ((2, 0, 0, 0, 0), {**LAMP, "Lamp (artist)": ["paints"]}, []),
    "37-missing-endpoint": ((2, 0, 0, 0, 1), {**LAMP, "Shelf ()": []}, ["Lamp hangs from Shelf"]),
    "39-duplicate-keys": ((1, 0, 0, 0, 1), {"Lamp (thing)": ["is green", "is red"]}, []),
    "45-empty": ((0, 0, 0, 0, 0), {}, []),
    "45c-braces": ((0, 0, 0, 0, 0), {}, []),
    "46-u2028": ((1, 0, 0, 0, 0), {"Lamp (thing)": ["line\u2028sep"]}, []),
}


def test_every_case_has_an_outcome() -> None:
    assert {path.stem for path in CASES.iterdir()} == set(OUTCOMES)


@pytest.mark.parametrize("case", OUTCOMES)
def test_a_case_is_imported_as_it_was_meant(mmem: Any, imported: Import, case: str) -> None:
    counts, entities, relations = OUTCOMES[case]
    content = (CASES / f"{case}.jsonl").read_bytes()
    aside = counts[3]
    if aside:
        refused = imported(content)
        assert (refused.exit_status, refused.stdout) == (2, "")
        assert "nothing was imported" in refused.stderr
        assert mmem("list-categories", "-f", "json").json == []
    ran = imported(content, "--keep-going")
    assert (sums(ran.json), ran.exit_status) == (counts, int(aside > 0))
    assert ran.json["records"] == sum(counts[:4])
    assert shown(mmem) == (entities, relations)
    again = imported(content, "--keep-going")
    assert again.json["alreadyThere"] == sum(counts[:3])
    assert shown(mmem) == (entities, relations)


MORE = {  # the census's classes that have no case of their own: content, sums, entities, relations
    "two with a space between": (f"{E}\n{F} {R}", (3, 0, 0, 0, 1), BOTH, STANDS),
    "mixed line ends": (f"{E}\r\n{F}\n{R}\r\n", (3, 0, 0, 0, 0), BOTH, STANDS),
    "a comment": (f"// furniture\n{E}\n{F}", (2, 0, 0, 1, 0), BOTH, []),
    "a heading": (f"# furniture\n{E}\n", (1, 0, 0, 1, 0), LAMP, []),
    "pretty-printed": (json.dumps(json.loads(E), indent=2), (1, 0, 0, 0, 0), LAMP, []),
    "several pretty-printed": (
        "\n".join(json.dumps(json.loads(one), indent=2) for one in (E, F, R)),
        (3, 0, 0, 0, 0),
        BOTH,
        STANDS,
    ),
    "commas at line ends": (f"{E},\n{F},\n{R}", (3, 0, 0, 0, 2), BOTH, STANDS),
    "brackets on their own": (f"[\n{E},\n{F}\n{R}\n]", (3, 0, 0, 0, 1), BOTH, STANDS),
    "an array on one line": (f"[{E},{R},{F}]", (3, 0, 0, 0, 0), BOTH, STANDS),
    "an array over lines": (f"[\n{E},\n{F},\n{R}\n]\n", (3, 0, 0, 0, 0), BOTH, STANDS),
    "a stray quote": (f'{E}\n{F[:-1]}"}}\n{R}', (2, 0, 0, 1, 1), {**LAMP, "Desk ()": []}, STANDS),
    "a missing bracket": (f"{E}\n{F[:-2]}\n", (1, 0, 0, 1, 0), LAMP, []),
    "empty lists": ('{"entities":[],"relations":[]}', (0, 0, 0, 0, 0), {}, []),
    "an empty array": ("[]", (0, 0, 0, 0, 0), {}, []),
    "a newline": ("\n", (0, 0, 0, 0, 0), {}, []),
    "escapes": (E.replace("Lamp", "\\u30e9\\u30f3\\u30d7"), (1, 0, 0, 0, 0), {"ランプ (thing)": ["is green"]}, []),
    "a long line": (E.replace("is green", "x" * 200_000), (1, 0, 0, 0, 0), {"Lamp (thing)": ["x" * 200_000]}, []),
    "observations in a document": (
        document(E, ',"observations":[{"entity":"Lamp","text":"was repaired"}]'),
        (1, 1, 0, 0, 0),
        {"Lamp (thing)": ["is green", "was repaired"]},
        [],
    ),
    "more in a document": (document(E, ',"history":[1]'), (1, 0, 0, 1, 0), LAMP, []),
    "a version in a document": (document(E, ',"version":"1.0"'), (1, 0, 0, 0, 0), LAMP, []),
    "the relation's type as the record's": (
        f'{E}\n{F}\n{{"type":"STANDS_ON","from":"Lamp","to":"Desk"}}',
        (3, 0, 0, 0, 1),
        BOTH,
        ["Lamp STANDS_ON Desk"],
    ),
    "an entity stored as a relation": (
        f"{E}\n{F.replace('entity', 'relation', 1)}",
        (2, 0, 0, 0, 1),
        BOTH,
        [],
    ),
    "no known key": ('{"type":"entity","colour":"red"}', (0, 0, 0, 1, 0), {}, []),
    "an observation on its own": (
        f'{{"type":"observation","entity":"Lamp","observation":"was repaired","timestamp":"2025-03-01"}}\n{E}',
        (1, 1, 0, 0, 1),
        {"Lamp (thing)": ["is green", "was repaired"]},
        [],
    ),
    "an observation of nobody": (
        '{"type":"observation","entity":"Lamp","observation":"was repaired"}',
        (0, 0, 0, 1, 0),
        {},
        [],
    ),
    "other names for the fields": (
        '{"type":"entity","id":"lamp","label":"Lamp","category":"thing","notes":"is green","file":"a/b.c"}',
        (1, 0, 0, 0, 1),
        LAMP,
        [],
    ),
    "relations in an entity": (
        E[:-1] + ',"relations":[{"to":"Desk","relationType":"stands on"}]}\n' + F,
        (3, 0, 0, 0, 1),
        BOTH,
        STANDS,
    ),
    "one text for a list": (E.replace('["is green"]', '"is green"'), (1, 0, 0, 0, 1), LAMP, []),
    "odd observations": (
        E.replace('["is green"]', '[null,7,"is green"]'),
        (1, 0, 0, 0, 1),
        {"Lamp (thing)": ["7", "is green"]},
        [],
    ),
    "a list as an observation": (E.replace('["is green"]', '[["is green"]]'), (0, 0, 0, 1, 0), {}, []),
    "texts as they are": (
        E.replace('["is green"]', '["a","a"," b ","c\\nd"]'),
        (1, 0, 0, 0, 0),
        {"Lamp (thing)": ["a", " b ", "c\nd"]},
        [],
    ),
    "names that differ little": (
        "\n".join(E.replace("Lamp", name) for name in ("Night Lamp", "night_lamp", "office/lamp")),
        (3, 0, 0, 0, 0),
        {f"{name} (thing)": ["is green"] for name in ("Night Lamp", "night_lamp", "office/lamp")},
        [],
    ),
    "ends with entity in their names": (
        "\n".join((E, F, R.replace("from", "from_entity").replace('to"', 'to_entity"'))),
        (3, 0, 0, 0, 1),
        BOTH,
        STANDS,
    ),
    "no relation type": (
        f"{E}\n{F}\n" + '{"type":"relation","from":"Lamp","to":"Desk"}',
        (2, 0, 0, 1, 0),
        BOTH,
        [],
    ),
    "a relation twice, before its ends, and to itself": (
        f"{R}\n{R}\n{R.replace('Desk', 'Lamp')}\n{E}\n{F}",
        (4, 0, 1, 0, 0),
        BOTH,
        ["Lamp stands on Desk", "Lamp stands on Lamp"],
    ),
    "an end of two types": (
        f"{E}\n{E.replace('thing', 'artist')}\n{F}\n{R}",
        (4, 0, 0, 0, 1),
        {**LAMP, "Lamp (artist)": ["is green"], **DESK},
        STANDS,
    ),
    "half a surrogate": (E.replace("is green", "bad \\ud83d half"), (0, 0, 0, 1, 0), {}, []),
    "a conflict": (f"<<<<<<< HEAD\n{E}\n=======\n{F}\n>>>>>>> theirs", (2, 0, 0, 3, 0), BOTH, []),
    "not a number": (E[:-1] + ',"weight":NaN}', (0, 0, 0, 1, 0), {}, []),
    "a NUL": (E.replace("green", "gr\\u0000n"), (0, 0, 0, 1, 0), {}, []),
    "names that are no names": (
        "\n".join(E.replace('"Lamp"', name) for name in ("null", '""', '"  "', "7", '["x"]')),
        (1, 0, 0, 4, 1),
        {"7 (thing)": ["is green"]},
        [],
    ),
    "a marker that isn't first": (f'{E}\n{{"type":"_aim","source":"x"}}\n{F}', (2, 0, 0, 0, 0), BOTH, []),
    "a code fence": (f"```json\n{E}\n```", (1, 0, 0, 2, 0), LAMP, []),
    "yaml": ("entities:\n  - {name: Lamp, entityType: thing, observations: [is green]}", (1, 0, 0, 0, 0), LAMP, []),
}


@pytest.mark.parametrize("kind", MORE)
def test_every_other_class_of_the_census_is_imported_as_it_was_meant(mmem: Any, imported: Import, kind: str) -> None:
    content, counts, entities, relations = MORE[kind]
    ran = imported(content, "--keep-going")
    assert sums(ran.json) == counts
    assert ran.json["records"] == sum(counts[:4])
    assert shown(mmem) == (entities, relations)
    again = imported(content, "--keep-going")
    assert again.json["alreadyThere"] == sum(counts[:3])
    assert shown(mmem) == (entities, relations)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "cp932"])
def test_another_encoding_is_seen_or_said(mmem: Any, imported: Import, encoding: str) -> None:
    text = f"{E}\n{F.replace('drawer', 'tiroir étroit') if encoding == 'cp1252' else F}\n{R}\n"
    seen = encoding in {"utf-16", "utf-32"}
    ran = imported(text.encode(encoding), *([] if seen else ["--encoding", encoding]))
    assert sums(ran.json) == (3, 0, 0, 0, 0)
    assert shown(mmem)[1] == STANDS


def test_utf16_whose_mark_was_lost_is_read(mmem: Any, imported: Import) -> None:
    ran = imported(b"\xef\xbf\xbd\xef\xbf\xbd" + f"{E}\r\n{F}\r\n".encode("utf-16-le"))
    assert sums(ran.json) == (2, 0, 0, 0, 0)
    assert "UTF-16" in ran.stderr
    assert shown(mmem)[0] == BOTH


def test_utf8_goes_on_after_utf16(mmem: Any, imported: Import) -> None:
    ran = imported(f"{E}\n".encode() + f"{F}\r\n".encode("utf-16-le") + R.encode())
    assert sums(ran.json) == (3, 0, 0, 0, 0)
    assert shown(mmem) == (BOTH, STANDS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--encoding", "klingon"], "there is no encoding 'klingon'"),
        (["--encoding", "utf-16"], "not utf-16 from about byte"),
        (["--strict", "--keep-going"], "exclude each other"),
    ],
)
def test_words_that_make_no_sense_are_refused(imported: Import, words: list[str], message: str) -> None:
    ran = imported(E + "é", *words)
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert message in ran.stderr


def test_a_fault_says_file_line_and_column(imported: Import, tmp_path: Path) -> None:
    ran = imported(f'{E}\n\n{E[:20]}\n{F}x\n{{"type":"relation","from1_":"a","to":"b","relationType":"c"}}\n')
    path = tmp_path / "memory.jsonl"
    lines = ran.stderr.splitlines()
    assert [line.split(": ", 3)[2] for line in lines[:-1]] == [f"{path}:3:21", f"{path}:4:85", f"{path}:5:1"]
    assert 'a relation without a "from" (its keys: type, from1_, to, relationType)' in lines[2]
    assert lines[-1].startswith("mmem: nothing was imported, for 3 of 5 records")


def test_places_in_a_document_are_those_of_its_elements(imported: Import, tmp_path: Path) -> None:
    text = (
        '{\n  "entities": [\n    {"name": "A", "entityType": "t", "observations": []},\n    {"entityType": "t"}\n  ]\n}'
    )
    assert f'{tmp_path / "memory.jsonl"}:4:5: an entity without a "name"' in imported(text).stderr


@pytest.mark.parametrize(
    "kind", ["a comment", "a conflict", "odd observations", "no relation type", "a missing bracket"]
)
def test_what_is_kept_aside_stands_byte_for_byte_beside_the_file(imported: Import, tmp_path: Path, kind: str) -> None:
    content, counts, _, _ = MORE[kind]
    ran = imported(content, "--keep-going")
    rejects = tmp_path / "memory.jsonl.rejects.jsonl"
    assert rejects.exists() == bool(counts[3])
    assert ran.json.get("rejects", []) == ([str(rejects)] if counts[3] else [])
    kept = rejects.read_text().splitlines() if counts[3] else []
    assert len(kept) == counts[3]
    assert all(line in content.splitlines() for line in kept)
    imported(content, "--keep-going")
    assert len(list(tmp_path.glob("*.rejects*"))) == int(counts[3] > 0)


def test_earlier_rejects_are_not_overwritten(imported: Import, tmp_path: Path) -> None:
    imported(f"{E}\nfirst\n", "--keep-going")
    imported(f"{E}\nsecond\n", "--keep-going")
    assert [path.read_text() for path in sorted(tmp_path.glob("*.rejects*"))] == ["second\n", "first\n"]


@pytest.mark.parametrize("kind", ["other names for the fields", "commas at line ends", "an end of two types"])
def test_strict_refuses_what_would_be_repaired(mmem: Any, imported: Import, kind: str) -> None:
    ran = imported(MORE[kind][0], "--strict")
    assert (ran.exit_status, ran.stdout) == (2, "")
    assert mmem("list-categories", "-f", "json").json == []


@pytest.mark.parametrize("words", [["--strict"], ["--missing-end", "error"]])
def test_a_missing_end_can_be_an_error(imported: Import, words: list[str]) -> None:
    ran = imported(f"{E}\n{F.replace('Desk', 'desk')}\n{R}", *words)
    assert ran.exit_status == 2
    assert "its \"to\" is 'Desk', and there is no such entity; did you mean 'desk'?" in ran.stderr


def test_a_placeholder_is_marked(mmem: Any, imported: Import) -> None:
    imported(f"{E}\n{R}")
    desk = mmem("open-nodes", "Desk", "-f", "json").json["entities"][0]
    assert (desk["entityType"], desk["properties"]) == ("", {"placeholder": True})


def test_other_fields_become_properties(mmem: Any, imported: Import) -> None:
    extra = '"createdAt":"2025-03-01T10:00:00.000Z","version":2,"tags":["x"],"none":null'
    imported(f'{E[:-1]},{extra}}}\n{F}\n{R[:-1]},"weight":0.5}}')
    whole = graph(mmem)
    assert whole["entities"][0]["properties"] == json.loads(f"{{{extra}}}")
    assert whole["relations"][0]["properties"] == {"weight": 0.5}


def test_observation_objects_keep_what_they_say(mmem: Any, imported: Import) -> None:
    texts = '[{"text":"a","timestamp":"2025-03-01T10:00:00.000Z","version":"1.0"},{"content":"b","timestamp":"soon"}]'
    ran = imported(E.replace('["is green"]', texts))
    first, second = graph(mmem)["entities"][0]["observations"]
    assert (first["text"], first["timestamp"], first["properties"]) == (
        "a",
        "2025-03-01T10:00:00.000Z",
        {"version": "1.0"},
    )
    assert (second["text"], second["properties"], "timestamp" in second) == ("b", {"timestamp": "soon"}, False)
    assert "a timestamp that isn't ISO 8601 became a property" in ran.stderr


def test_what_exists_is_completed_and_nothing_of_it_is_lost(mmem: Any, imported: Import) -> None:
    mmem("create-entities", "Lamp", "-t", "thing", "-o", "is old", "-O", "place", "attic", "-p", "colour=red")
    typed = '["is green",{"text":"cellar","observationType":"place"}],"colour":"green","size":3'
    ran = imported(E.replace('["is green"]', typed))
    assert sums(ran.json) == (0, 1, 0, 0, 1)
    lamp = graph(mmem)["entities"][0]
    assert lamp["properties"] == {"colour": "red", "size": 3}
    assert [(one.get("observationType", ""), one["text"]) for one in lamp["observations"]] == [
        ("", "is old"),
        ("place", "attic"),
        ("note-2", "is green"),
        ("place-2", "cellar"),
    ]
    assert "the property 'colour' was there already with another value" in ran.stderr
    assert sums(imported(E.replace('["is green"]', typed)).json)[:4] == (0, 0, 1, 0)


def test_our_own_lines_keep_ids_and_all_else(mmem: Any, tmp_path: Path) -> None:
    mmem("create-entities", "Gone")
    mmem("create-entities", "Lamp", "-t", "thing", "-o", "a", "-O", "k", "b", "--source", "s", "-p", "x:=[1]")
    mmem("create-entities", "Lamp", "-t", "artist", "-o", "c")
    mmem("add-observations", "Lamp", "-t", "thing", "later")
    mmem("create-relations", "Lamp", "knows", "Lamp", "--from-type", "thing", "--to-type", "artist", "-p", "w:=1.5")
    mmem("delete-entities", "Gone", "--yes")
    lines = mmem("read-graph", "-f", "jsonl").stdout
    (tmp_path / "lines.jsonl").write_text(lines)
    ran = mmem("import", "lines.jsonl", "-c", "copy", "-f", "json")
    assert sums(ran.json) == (3, 0, 0, 0, 0)
    assert mmem("read-graph", "-c", "copy", "-f", "jsonl").stdout == lines
    assert sums(mmem("import", "lines.jsonl", "-c", "copy", "-f", "json").json) == (0, 0, 3, 0, 0)
    assert mmem("read-graph", "-c", "copy", "-f", "jsonl").stdout == lines


def test_an_id_in_anothers_file_is_a_property(mmem: Any, imported: Import) -> None:
    imported(E[:-1] + ',"id":"41"}')
    entity = graph(mmem)["entities"][0]
    assert (entity["id"], entity["properties"]) == ("1", {"id": "41"})


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("memory.jsonl", "default"),
        ("Work Notes.json", "work-notes"),
        ("work.jsonl.bak", "work"),
        ("memory-home.jsonl", "memory-home"),
    ],
)
def test_the_files_name_gives_the_category(mmem: Any, imported: Import, name: str, category: str) -> None:
    imported(E, name=name)
    assert mmem("list-categories", "-f", "json").json == [category]


def test_a_forks_file_is_called_as_its_context(mmem: Any, imported: Import) -> None:
    imported((CASES / "16-aim.jsonl").read_bytes(), name="memory-home.jsonl")
    assert mmem("list-categories", "-f", "json").json == ["home"]


def test_a_name_that_gives_no_category_is_said(imported: Import) -> None:
    ran = imported(E, name="記憶.jsonl")
    assert ran.exit_status == 2
    assert "its name gives no category; say --category" in ran.stderr


def test_standard_input_is_the_default_category(mmem_process: Any, mmem: Any) -> None:
    ran = mmem_process("import", "-", stdin=f"{E}\n".encode())
    assert (ran.exit_status, sums(ran.json)) == (0, (1, 0, 0, 0, 0))
    assert shown(mmem)[0] == LAMP


def test_a_folder_is_one_job(mmem: Any, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, content in {
        "home.jsonl": f"{E}\n{F}\n",
        "links.jsonl": R,
        "settings.json": '{"editor": {"tabs": 2}}',
        "notes.txt": "hello",
        "memory.jsonl.bak": E,
        ".hidden.jsonl": E,
    }.items():
        (folder / name).write_text(content)
    ran = mmem("import", "files", "-f", "json")
    assert sums(ran.json) == (3, 0, 0, 0, 1)
    assert "a relation went to the category in which its ends are" in ran.stderr
    assert [line.split(": ")[2] for line in ran.stderr.splitlines() if "passed over" in line] == [
        "files/memory.jsonl.bak",
        "files/notes.txt",
        "files/settings.json",
    ]
    assert graph(mmem, "home")["relations"][0]["relationType"] == "stands on"
    assert mmem("import", "files", "-c", "all", "-f", "json").json["categories"].keys() == {"all"}


def test_a_dry_run_stores_nothing(mmem: Any, imported: Import, base: Path) -> None:
    ran = imported(f"{E}\n{F}\n{R}", "--dry-run")
    assert (sums(ran.json), ran.json["stored"]) == ((3, 0, 0, 0, 0), False)
    assert not base.exists()
    mmem("create-entities", "Lamp", "-t", "thing")
    imported(f"{E}\n{F}\n{R}", "--dry-run")
    assert [one["name"] for one in graph(mmem)["entities"]] == ["Lamp"]


def test_what_stands_in_several_files_is_stored_whole_or_not_at_all(mmem: Any, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(E)
    (tmp_path / "b.jsonl").write_text(f"{F}\nnonsense")
    assert mmem("import", "a.jsonl", "b.jsonl").exit_status == 2
    assert mmem("list-categories", "-f", "json").json == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name the files or folders to import"),
        (["nowhere.jsonl"], "there is no file or folder 'nowhere.jsonl'"),
        (["a.jsonl", "./a.jsonl"], "./a.jsonl is named twice"),
        (["empty"], "there is nothing to import in empty"),
    ],
)
def test_paths_that_name_nothing_are_refused(mmem: Any, tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "a.jsonl").write_text(E)
    (tmp_path / "empty").mkdir()
    ran = mmem("import", *words)
    assert ran.exit_status == 2
    assert message in ran.stderr


def test_on_a_terminal_the_account_is_a_few_lines(mmem: Any, imported: Import) -> None:
    ran = imported(f"{E}\n{R}\n", "-f", "table")
    assert ran.stdout.splitlines() == [
        "Imported into category 'default': 2 entities, 1 observation and 1 relation (1 placeholder among the entities)",
        "2 records: 2 created, 0 merged, 0 already there, 0 kept aside; 1 repaired",
    ]


def test_yaml_for_people_comes_in_as_it_is_seeded(mmem: Any, imported: Import) -> None:
    text = """
entities:
  Night Lamp: {type: thing, observations: [is green, {size: 1.10}, {text: old, source: attic}]}
  Desk: has a drawer
relations:
  - Night Lamp stands_on Desk
  - {from: Desk, to: {name: Night Lamp, type: thing}, type: carries, properties: {since: 2024}}
---
category: other
entities: {Solo: }
"""
    ran = imported(text, name="memory.yaml")
    assert sums(ran.json) == (5, 0, 0, 0, 0)
    whole = graph(mmem)
    assert [[one.get("observationType", ""), one["text"]] for one in whole["entities"][0]["observations"]] == [
        ["", "is green"],
        ["size", "1.10"],
        ["", "old"],
    ]
    assert [(one["from"], one["relationType"], one["to"]) for one in whole["relations"]] == [
        ("Night Lamp", "stands_on", "Desk"),
        ("Desk", "carries", "Night Lamp"),
    ]
    assert mmem("list-categories", "-f", "json").json == ["default", "other"]


@pytest.mark.parametrize("form", ['{{"entities":[{}]}}', "{}", '{{"entities":[{}],"relations":[]}}'])
def test_no_field_is_taken_for_another(mmem: Any, imported: Import, form: str) -> None:
    record = '{"name":"A","entityType":"t","observations":["x"],"note":"kept"}'
    imported(form.format(record))
    assert graph(mmem)["entities"][0]["properties"] == {"note": "kept"}


def test_properties_of_our_own_lines_may_be_called_as_fields_are(mmem: Any, tmp_path: Path) -> None:
    mmem("create-entities", "A", "-o", "x", "-p", "id=7", "-p", "category=c", "-p", "name=n", "-p", "type=t")
    mmem("create-relations", "A", "knows", "A", "-p", "id=7", "-p", "from=f", "-p", "fromId=1")
    lines = mmem("read-graph", "-f", "jsonl").stdout
    (tmp_path / "lines.jsonl").write_text(lines)
    mmem("import", "lines.jsonl")
    assert mmem("read-graph", "-c", "lines", "-f", "jsonl").stdout == lines


def test_a_damaged_memory_in_a_folder_is_no_other_file(mmem: Any, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    (folder / "below").mkdir(parents=True)
    (folder / "good.jsonl").write_text(E)
    (folder / "cut.jsonl").write_text(E[:60])
    (folder / "cut.json").write_text('{"entities": [{"name": "A", "observations": ["cut')
    (folder / "typo.yaml").write_text("entities:\n  A: {tpye: t}\n")
    (folder / "settings.json").write_text('{"tabs": 2, // so many\n}')
    ran = mmem("import", "files")
    assert ran.exit_status == 2
    for name in ("cut.jsonl", "cut.json"):
        assert f"files/{name}:1:" in ran.stderr or "typo.yaml" in ran.stderr
    (folder / "typo.yaml").unlink()
    ran = mmem("import", "files")
    assert [f"files/{name}:1:" in ran.stderr for name in ("cut.jsonl", "cut.json")] == [True, True]
    (folder / "cut.jsonl").unlink()
    (folder / "cut.json").unlink()
    ran = mmem("import", "files")
    assert ran.exit_status == 0
    assert "files/below: passed over" in ran.stderr
    assert "files/settings.json: no memory" in ran.stderr


def test_lists_under_a_key_that_stands_twice_are_both_taken(mmem: Any, imported: Import) -> None:
    imported(f'{{"entities":[{E}],"entities":[{F}],"relations":[{R}]}}')
    assert shown(mmem) == (BOTH, STANDS)


def test_no_value_of_a_repeated_key_is_lost(mmem: Any, imported: Import) -> None:
    imported(E[:-1] + ',"a":1,"a":2,"a":3}')
    assert graph(mmem)["entities"][0]["properties"] == {"a": 3, "a#1": 1, "a#2": 2}


@pytest.mark.parametrize("spaced", [' :["say \\":\\" x"]', ':["say \\":\\" x"]', ' : ["x"]'])
def test_a_repeated_key_is_seen_however_it_is_written(imported: Import, spaced: str) -> None:
    text = f'{{"type":"entity","name":"A","entityType":"t","observations"{spaced},"observations":["y"]}}'
    assert "both lists were taken" in imported(text).stderr


@pytest.mark.parametrize(
    ("record", "properties"),
    [
        ('{"type":"edge","from":"Lamp","to":"Lamp","relationType":"k","fromType":5}', {"type": "edge", "fromType": 5}),
        (
            '{"type":"relation","from":"Lamp","to":"Lamp","relationType":"k","w":1,"properties":{"w":2}}',
            {"w": 2, "w#1": 1},
        ),
    ],
)
def test_no_field_of_a_relation_is_lost(mmem: Any, imported: Import, record: str, properties: dict[str, Any]) -> None:
    imported(f"{E}\n{record}")
    assert graph(mmem)["relations"][0]["properties"] == properties


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ('{"id":"obs-1","text":"x"}', {"id": "obs-1"}),
        ('{"id":12,"text":"x"}', {"id": 12}),
        ('{"text":"x","observationType":0,"source":false}', {"observationType": 0, "source": False}),
    ],
)
def test_no_field_of_an_observation_is_lost(mmem: Any, imported: Import, text: str, properties: dict[str, Any]) -> None:
    imported(E.replace('"is green"', text))
    assert graph(mmem)["entities"][0]["observations"][0]["properties"] == properties


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (
            '{"type":"relation","from":{"name":"Lamp","x":1},"to":"Lamp","relationType":"k"}',
            "only name and type are stored",
        ),
        (
            '{"type":"observations","name":"Lamp","observations":[null,"q"],"author":"me"}',
            "that is null was passed over",
        ),
        (
            '{"type":"observations","name":"Lamp","observations":["q"],"author":"me"}',
            "only the texts are stored, not author",
        ),
        ('{"type":"observation","name":"Lamp","observations":"one text"}', "one text were read as a list"),
    ],
)
def test_what_cannot_be_stored_is_said(imported: Import, record: str, reason: str) -> None:
    assert imported(f"{E}\n{record}", "--strict").exit_status == 2
    assert reason in imported(f"{E}\n{record}").stderr


def test_in_a_document_the_type_goes_before_the_category(mmem: Any, imported: Import) -> None:
    imported('{"entities":[{"name":"Ann","type":"person","category":"work","observations":[]}]}')
    [ann] = graph(mmem)["entities"]
    assert (ann["entityType"], ann["properties"]) == ("person", {"category": "work"})


def test_equal_texts_that_differ_in_what_is_said_of_them_are_both_kept(mmem: Any, imported: Import) -> None:
    runs = '{"text":"ran","timestamp":"2025-01-01","km":5},{"text":"ran","timestamp":"2025-01-02","km":9}'
    for _ in range(2):
        imported(E.replace('"is green"', runs))
        held = graph(mmem)["entities"][0]["observations"]
        assert [(one["timestamp"], one["properties"]["km"]) for one in held] == [("2025-01-01", 5), ("2025-01-02", 9)]


def test_a_cut_off_line_with_many_quotes_is_told_at_once(imported: Import) -> None:
    ran = imported('{"type":"entity","name":"A","entityType":"t","observations":["' + '\\"x' * 200_000)
    assert "it ends inside a string" in ran.stderr


def test_many_observations_of_one_type_are_all_kept(mmem: Any, imported: Import) -> None:
    many = ",".join(f'{{"observationType":"fact","text":"{number}"}}' for number in range(5_000))
    imported(E.replace('"is green"', many))
    assert len(graph(mmem)["entities"][0]["observations"]) == 5_000


@pytest.mark.parametrize(
    "content", [f"\ufeff{E}\n{F}\n", f"Memory dump 2025\n{E}\n{F}\n", document("\ufeff" + E, "").replace("\ufeff", "")]
)
def test_json_is_json_under_any_name(mmem: Any, imported: Import, content: str) -> None:
    imported(content, "--keep-going", "-c", "default", name="notes.txt")
    assert "Lamp (thing)" in shown(mmem)[0]


def test_a_file_that_cannot_be_read_twice_is_read(mmem_process: Any, tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text(E)
    ran = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -m mmem import <(cat m.jsonl) -c work'], capture_output=True, text=True
    )
    assert (ran.returncode, json.loads(ran.stdout)["created"]) == (0, 1)


@pytest.mark.parametrize("encoding", ["hex", "base64", "rot13", "zlib"])
def test_a_codec_that_is_no_encoding_is_refused(imported: Import, encoding: str) -> None:
    ran = imported(E, "--encoding", encoding)
    assert ran.exit_status == 2
    assert f"there is no encoding '{encoding}'" in ran.stderr


def test_columns_count_characters_everywhere(imported: Import) -> None:
    ran = imported(
        '[{"type":"entity","name":"日本語日本語","entityType":"t","observations":[]}, {"type":"entity","nme":"x"}]'
    )
    assert "memory.jsonl:1:72: an entity without" in ran.stderr


def test_a_reject_that_cannot_be_written_undoes_all(mmem: Any, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text(f"{E}\nnonsense\n")
    (tmp_path / "b.jsonl.rejects.jsonl").mkdir()
    ran = mmem("import", "a.jsonl", "b.jsonl", "--keep-going", "-f", "json")
    assert ran.exit_status == 1
    assert sorted(path.name for path in tmp_path.glob("*.rejects*")) == [
        "a.jsonl.rejects.jsonl",
        "b.jsonl.rejects-2.jsonl",
        "b.jsonl.rejects.jsonl",
    ]


def test_rejects_are_no_files_to_import(mmem: Any, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.jsonl").write_text(E)
    (folder / "a.jsonl.rejects-2.jsonl").write_text(F)
    assert mmem("import", "files", "-f", "json").json["records"] == 1


def test_a_rejected_line_of_yaml_is_that_line(imported: Import, tmp_path: Path) -> None:
    text = "entities: {A: , A b: , c d: , d: }\nrelations:\n  - A b c d\n"
    imported(text, "--keep-going", name="memory.yaml")
    assert (tmp_path / "memory.yaml.rejects.jsonl").read_text() == "  - A b c d\n"


def test_a_dry_run_changes_no_byte_of_a_file_without_a_log(mmem: Any, imported: Import, base: Path) -> None:
    mmem("create-entities", "Lamp", "-t", "thing")
    with closing(sqlite3.connect(base / "default.db")) as conn:
        assert conn.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    before = (base / "default.db").read_bytes()
    assert imported(f"{E}\n{F}\n{R}", "--dry-run").json["created"] == 2
    assert (base / "default.db").read_bytes() == before
    assert sorted(path.name for path in base.iterdir()) == ["default.db"]

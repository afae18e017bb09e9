"""`mmem edit`: what a person changed in an editor is stored in one transaction, or kept in a file that is named."""

import re
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from mmem.editing import is_same, read_back, store_edited, text_of
from mmem.reading import Reader
from mmem.registry import call
from mmem.store import Store

Ask = Callable[..., Any]
Run = Callable[..., Any]

_TEXTS = [
    {"text": "Manages user data", "timestamp": "2026-01-31"},
    {"text": "v1", "observationType": "version", "source": "log", "timestamp": "2026-02-01", "properties": {"a": 1}},
    {"text": "second: text", "timestamp": "2026-02-02"},
]


@pytest.fixture
def service(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """An entity with three observations; files that are edited lie in a folder of their own."""
    (tmp_path / "edited").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "edited"))
    entity = {"name": "Users", "entityType": "service", "properties": {"tier": 1}, "observations": _TEXTS}
    ask("create_entities", entities=[entity, {"name": "Other", "entityType": "service"}])
    return ask


def editor(folder: Path, *replacements: tuple[str, str], more: str = "") -> dict[str, str]:
    """Return the variable that names an editor which replaces texts in the file."""
    script = folder / "editor.py"
    lines = [f"text = text.replace({old!r}, {new!r})" for old, new in replacements]
    code = ["import sys, pathlib", "file = pathlib.Path(sys.argv[1])", "text = file.read_text()", *lines, more]
    script.write_text("\n".join([*code, "file.write_text(text)", "print('from the editor')"]))
    return {"EDITOR": f"{sys.executable} {script}"}


def kept(tmp_path: Path) -> list[str]:
    return [file.read_text() for file in sorted((tmp_path / "edited").iterdir())]


def held(ask: Ask) -> list[tuple[str, str, str, str | None]]:
    [entity] = ask("open_nodes", entities=[1]).result.entities
    return [(one.id, one.observation_type, one.text, one.timestamp) for one in entity.observations]


FIRST = ("1", "", "Manages user data", "2026-01-31")
SECOND = ("2", "version", "v1", "2026-02-01")
THIRD = ("3", "note-2", "second: text", "2026-02-02")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Manages user data", "Manages accounts", [("1", "", "Manages accounts", "2026-01-31"), SECOND, THIRD]),
        ("text: v1", "text: 'no'", [FIRST, ("2", "version", "no", "2026-02-01"), THIRD]),
        ("timestamp: 2026-02-01", "timestamp: 2026-03-01", [FIRST, (*SECOND[:3], "2026-03-01"), THIRD]),
        ("      - text: Manages user data\n        timestamp: 2026-01-31\n", "", [SECOND, THIRD]),
        ("note-2", "remark", [FIRST, SECOND, ("4", "remark", *THIRD[2:])]),
        ("source: log", "source: chat", [FIRST, THIRD, ("4", *SECOND[1:])]),
    ],
)  # fmt: skip
def test_the_difference_is_stored(
    service: Ask, mmem: Run, tmp_path: Path, old: str, new: str, expected: list[Any]
) -> None:
    ran = mmem("edit", "Users", environ=editor(tmp_path, (old, new)))
    assert (ran.stderr, ran.exit_status) == ("", 0)
    assert held(service) == expected
    assert [one["text"] for one in ran.json["observations"]] == [text for _, _, text, _ in expected]
    assert kept(tmp_path) == []


def test_a_new_line_is_a_new_observation_with_the_time_of_saving(service: Ask, mmem: Run, tmp_path: Path) -> None:
    mmem("edit", "Users", environ=editor(tmp_path, ("    observations:\n", "    observations:\n      - Fresh text\n")))
    assert [row[1:3] for row in held(service)] == [row[1:3] for row in (FIRST, SECOND, THIRD)] + [
        ("note-3", "Fresh text")
    ]
    assert held(service)[3][3] is not None
    assert [one.name for one in service("search_nodes", query="fresh").result.entities] == ["Users"]


def test_name_type_and_properties_can_be_changed(service: Ask, mmem: Run, tmp_path: Path) -> None:
    changes = [("- name: Users", "- name: Members"), ("entityType: service", "type: module"), ("tier: 1", "tier: true")]
    assert mmem("edit", "Users", environ=editor(tmp_path, *changes)).exit_status == 0
    [entity] = service("open_nodes", entities=[1]).result.entities
    assert (entity.name, entity.entity_type, entity.properties) == ("Members", "module", {"tier": True})
    assert held(service) == [FIRST, SECOND, THIRD]


@pytest.mark.parametrize("change", [("x" * 9, ""), ("# Save", "# save"), ("{tier: 1}", '{"tier": 1}')])
def test_without_a_change_nothing_is_written(
    service: Ask, store: Store, mmem: Run, tmp_path: Path, change: tuple[str, str]
) -> None:
    watch = store.watch("default")
    ran = mmem("edit", "Users", environ=editor(tmp_path, change))
    assert (ran.stdout, ran.stderr, ran.exit_status) == ("", "mmem: nothing was changed in 'Users'\n", 0)
    assert not watch.changed()
    watch.close()
    assert kept(tmp_path) == []


BAD = [
    (("entityType", "entityTyp"), 2, r"\.yaml:\d+:5: .*did you mean 'entityType'"),
    (("timestamp: 2026-01-31", "timestamp: soon"), 2, r"\.yaml:\d+:20: 'soon' isn't an ISO 8601 date"),
    (("- name: Users", "- name: Users\n  - name: Third"), 2, r"\.yaml:\d+:\d+: a second entity; here it is one"),
    (("- name: Users", "- name: Other"), 2, r"'Other' \(service\) already \(id 2\); mmem merge"),
    (("entities:", "category: work\nentities:"), 2, "'category' can't be changed here"),
    (("    observations:", "    relations: [uses Other]\n    observations:"), 2, "relations aren't edited here"),
    (("entities:", "entities: []\nquestions:"), 2, "no entity is left in it"),
]


@pytest.mark.parametrize(("change", "status", "message"), BAD)
def test_what_can_t_be_stored_is_kept_in_a_file_that_is_named(
    service: Ask, mmem: Run, tmp_path: Path, change: tuple[str, str], status: int, message: str
) -> None:
    ran = mmem("edit", "Users", environ=editor(tmp_path, change))
    assert (ran.stdout, ran.exit_status, len(ran.stderr.splitlines())) == ("", status, 1)
    assert re.search(message, ran.stderr)
    assert held(service) == [FIRST, SECOND, THIRD]
    [file] = (tmp_path / "edited").iterdir()
    assert ran.stderr.endswith(f"; what you wrote is kept in {file}\n")
    assert change[1] in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 or sys.platform == "win32"


@pytest.mark.parametrize(
    "meanwhile",
    [
        ("add-observations", "Users", "and more"),
        ("rename", "Users", "Members"),
        ("delete-entities", "Users", "-t", "service", "--yes"),
    ],
)
def test_an_entity_that_was_changed_meanwhile_is_left(
    service: Ask, store: Store, mmem: Run, tmp_path: Path, meanwhile: tuple[str, ...]
) -> None:
    store.close()
    more = f"import subprocess; subprocess.run([sys.executable, '-m', 'mmem', *{meanwhile!r}], stdout=2, check=True)"
    ran = mmem("edit", "Users", environ=editor(tmp_path, ("Manages", "Handles"), more=more))
    assert ran.exit_status == 4
    assert "was changed in category 'default' while you edited it" in ran.stderr
    assert "Handles user data" in kept(tmp_path)[0]
    assert "Handles user data" not in [
        text for _, _, text, _ in (held(service) if "delete" not in meanwhile[0] else [])
    ]


def test_others_may_write_to_the_category_meanwhile(service: Ask, store: Store, mmem: Run, tmp_path: Path) -> None:
    store.close()
    code = "import subprocess; subprocess.run([sys.executable, '-m', 'mmem', 'create-entities', 'New'], stdout=2)"
    ran = mmem("edit", "Users", environ=editor(tmp_path, ("Manages", "Handles"), more=code))
    assert ran.exit_status == 0
    assert [one.name for one in service("read_graph").result.entities] == ["Users", "Other", "New"]
    assert held(service)[0][2] == "Handles user data"


def test_on_a_terminal_a_fault_is_edited_again(service: Ask, mmem: Run, tmp_path: Path) -> None:
    turned = "'Typ:', 'Type:') if 'Typ:' in text else text.replace('Type:', 'Typ:')"
    more = f"text = text.replace({turned}; text = text.replace('Manages', 'Handles')"
    ran = mmem("edit", "Users", environ=editor(tmp_path, more=more), stdin="y\n", terminal=True)
    assert (ran.exit_status, "Edit it again? [y/N]" in ran.stderr) == (0, True)
    assert held(service)[0][2] == "Handles user data"
    assert kept(tmp_path) == []


def test_a_fault_that_isn_t_mended_is_kept(service: Ask, mmem: Run, tmp_path: Path) -> None:
    given = editor(tmp_path, ("entityType", "entityTyp"))
    ran = mmem("edit", "Users", environ=given, stdin="n\n", terminal=True)
    assert (ran.exit_status, "what you wrote is kept in" in ran.stderr) == (1, True)
    assert len(kept(tmp_path)) == 1


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"VISUAL": "", "EDITOR": ""}, "there is no terminal for an editor"),
        ({"EDITOR": "no-such-editor"}, "'no-such-editor' can't be run: no such file"),
        ({"EDITOR": "'"}, "can't be run: no closing quotation"),
        ({"VISUAL": f"{sys.executable} -c 'raise SystemExit(3)'", "EDITOR": "x"}, "ended with status 3"),
    ],
)
def test_an_editor_that_doesn_t_run_stores_nothing(
    service: Ask, mmem: Run, tmp_path: Path, environ: dict[str, str], message: str
) -> None:
    ran = mmem("edit", "Users", environ={"VISUAL": "", **environ})
    assert (ran.exit_status, message in ran.stderr, kept(tmp_path)) == (2, True, [])


def test_an_entity_that_isn_t_there_opens_no_editor(service: Ask, mmem: Run, tmp_path: Path) -> None:
    ran = mmem("edit", "User", environ={"EDITOR": "no-such-editor"})
    assert (ran.exit_status, ran.stderr) == (
        3,
        "mmem: no entity 'User' in category 'default'; did you mean 'Users'?\n",
    )


def test_what_the_editor_prints_is_no_data(service: Ask, mmem_process: Run, tmp_path: Path) -> None:
    ran = mmem_process("edit", "id:1", environ=editor(tmp_path, ("v1", "v2")))
    assert ran.json["observations"][1]["text"] == "v2"
    assert ran.stderr == "from the editor\n"


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12) | st.sampled_from("xy")
OBSERVATIONS = st.lists(
    st.fixed_dictionaries(
        {"text": TEXTS, "timestamp": st.sampled_from(["2026-01-31", "2026-01-31T09:30:00Z"])},
        optional={
            "observationType": st.sampled_from(["t", "note-2", "note-3", "a: b"]),
            "source": st.sampled_from(["s", "#"]),
            "properties": st.dictionaries(st.sampled_from(["k", "no"]), st.sampled_from([1, True, "1", [None]])),
        },
    ),
    max_size=5,
)


@settings(deadline=None, derandomize=True, database=None, max_examples=100)
@given(observations=OBSERVATIONS)
def test_only_what_was_changed_changes(world: Store, observations: list[Any]) -> None:
    if world.has("default"):
        world.delete("default")
    entity = {"name": "A: b", "observations": [*observations, {"text": "gone", "observationType": "gone"}]}
    call(world, "create_entities", {"entities": [entity]})
    [before] = call(world, "open_nodes", {"entities": [1]}).result.entities
    rest = structs.replace(before, observations=before.observations[:-1])
    edited = read_back(text_of(rest, "default").encode(), "x.yaml", "default")
    assert is_same(edited, read_back(text_of(rest, "default").encode(), "y.yaml", "default"))
    assert store_edited(world, "default", before, edited).result == rest
    with world.reading(None) as transaction:
        assert Reader(transaction).entities([1]) == [rest]


@pytest.fixture(scope="module")
def world() -> Iterator[Store]:
    """A store that a law fills anew for each example."""
    with TemporaryDirectory() as base, Store(base) as opened:
        yield opened

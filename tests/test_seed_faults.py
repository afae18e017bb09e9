"""What is wrong in a seed file is said in one line, with the file, line and column, and nothing is written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mmem.values import MAX_NAME

Run = Callable[..., Any]

AB = "entities: {A: , B: }\nrelations:\n  - "
OBSERVED = "entities:\n  A:\n    observations:\n      - "

SYNTAX = [
    ("entities:\n\tA: one\n", "2:1: a tab; YAML is indented with spaces"),
    ("entities:\n  A:\n  \ttype: x\n", "3:3: a tab; YAML is indented with spaces"),
    ("entities:\n  A: one\n  A: two\n", "3:3: the key 'A' stands twice, first in line 2"),
    ("entities: {A: {properties: {x: 1, x: 2}}}\n", "1:35: the key 'x' stands twice, first in line 1"),
    ("entities:\n  A: &x one\n", "2:6: an anchor, &x; leave it out, or put the text in quotes"),
    ("entities: &all\n  A: one\n", "1:11: an anchor, &all; leave it out, or put the text in quotes"),
    ("entities:\n  A: one\n  B: *x\n", "3:6: an alias, *x; write the value out, or put the text in quotes"),
    ("questions: [&q a, *q]\n", "1:13: an anchor, &q; leave it out, or put the text in quotes"),
    ("entities:\n  A: !!str one\n", "2:6: a tag, !!str; leave it out, or put the text in quotes"),
    ("entities:\n  A: {properties: {x: !!python/name:os.system }}\n", "2:23: a tag, !!python/name:os.system; leave it"),
    ("entities: {A: ! b}\n", "1:15: a tag, !; leave it out"),
    ("entities: {? [a] : x}\n", "1:14: a key must be a text"),
    ("entities:\n  A: a: b\n", "2:7: a ': ' too many, or the wrong indentation; a text with ': '"),
    ("entities:\n  A: @b\n", "2:6: a text can't begin with '@'; put it in quotes"),
    ('entities: {A: , B: }\nrelations:\n  - "A" uses B\n', "3:9: the text goes on behind its closing quote; put all"),
    ("entities: {A: b\n", "2:1: not valid YAML: did not find expected ',' or '}' (while parsing a flow mapping that"),
    (
        "entities: {A: a\x01b}\n",
        "1:16: the control character U+0001; in a text in double quotes it can be written \\x01",
    ),
    ("a\0b: c\n", "1:2: a NUL character can't be stored"),
    ('entities: {A: "a\\0b"}\n', "1:15: a NUL character can't be stored"),
    ("# é\nentities: {é: \x7f}\n", "2:15: the control character U+007F"),
    ("[" * 3_000, "1:1001: not valid YAML: exceeded maximum nesting depth"),
]

SHAPE = [
    ("- A\n", "1:1: a graph is a mapping with 'entities' and 'relations'"),
    ("hello\n", "1:1: a graph is a mapping"),
    ("entities: {A: b}\n---\n- x\n", "3:1: a graph is a mapping"),
    ("entitys: {}\n", "1:1: a graph has no key 'entitys'; did you mean 'entities'? (known here: category, entities"),
    ("entities: {A: {tpye: x}}\n", "1:16: the entity 'A' has no key 'tpye'; did you mean 'type'? (known here: type"),
    ("entities:\n  - {nmae: A}\n", "2:6: an entity of a list has no key 'nmae'; did you mean 'name'?"),
    ("entities:\n  - {type: t}\n", "2:5: an entity of a list needs 'name'"),
    ("entities:\n  - A\n", "2:5: an entity of a list is a record: {name: ..., type: ...}"),
    ("entities: text\n", "1:11: entities must be a mapping by name, or a list of records"),
    ("entities:\n  A:\n    type: [x]\n", "3:11: a type must be a text, not a list"),
    ("entities: {A: {type: t, entityType: t}}\n", "1:25: 'entityType' and 'type' mean the same; give one of them"),
    ("entities: {'': x}\n", "1:12: an entity's name can't be empty or blank"),
    (f"entities: {{{'A' * (MAX_NAME + 1)}: x}}\n", "1:12: an entity's name has too many characters; at most 1,000"),
    ("entities:\n  A: ~\n", "2:6: write '~' in quotes for the text, or nothing for no observation"),
    ("entities:\n  A: {observations: {a: b}}\n", "2:21: observations must be a list, not a mapping: - a text"),
    ("entities: {A: {properties: [a]}}\n", "1:28: properties must be a mapping, not a list"),
    ("entities: {A: {properties: {x: .nan}}}\n", "1:32: NaN and Infinity aren't JSON; write null or text"),
    (
        "entities: {A: {properties: {x: 99999999999999999999}}}\n",
        "1:32: the integer is beyond 64 bits; write it as text",
    ),
    (f"entities: {{A: {{properties: {{x: {'[' * 70}{']' * 70}}}}}}}\n", "1:95: nested deeper than 64 levels"),
    ("category: Work\n", "1:11: category 'Work' isn't a valid name: only lowercase letters"),
    ("category: con\n", "1:11: category 'con' isn't a valid name: Windows reserves"),
    ("category: [a]\n", "1:11: a category must be a text, not a list"),
    (
        "entities: {A: {properties: {a: 1}}}\n---\nentities: {A: {properties: {a: true}}}\n",
        "3:12: the property 'a' has another value here than in standard input:1:12",
    ),
]

OBSERVATIONS = [
    ("{text: a, timestamp: yesterday}", "4:30: 'yesterday' isn't an ISO 8601 date, or date and time, such as"),
    ("{text: a, timestamp: 2026-02-30}", "4:30: '2026-02-30' isn't an ISO 8601 date"),
    (
        "version: a\n        sorce: b",
        "5:9: an observation has no key 'sorce'; did you mean 'source'? (known here: text",
    ),
    ("version: a\n        owner: b", "5:9: 'version' and 'owner' can't both be the type of one observation"),
    ("text: a\n        owner: b", "5:9: an observation has no key 'owner'"),
    ("source: b", "4:9: an observation needs 'text'"),
    ("type: b", "4:9: an observation needs 'text'"),
    ("", "4:8: an observation is missing; an empty text is written ''"),
    ("[a]", "4:9: an observation is a text, 'type: text', or a record with a 'text', not a list"),
    ("version: {a: b}", "4:18: the text of an observation must be a text, not a mapping"),
    ("version:", "4:9: an observation needs 'version'"),
    ("{text: a, properties: 3}", "4:31: properties must be a mapping, not a text"),
    ("k: a\n      - k: b", "5:9: 'A' has an observation of type 'k' with other details in standard input:4:9 already"),
    ("a\n      - {text: a, timestamp: 2026-01-01}", "5:9: 'A' has this text with other details in standard input:4:9"),
]

RELATIONS = [
    ("A", "3:5: 'A' isn't a relation; write a line such as 'A uses B', or a record"),
    ("A uses", "3:5: 'A uses' isn't a relation"),
    ("A uses: B", "3:5: the ': ' makes a mapping of this line; put the whole line in quotes"),
    ("[A, B]", "3:5: a relation is a line or a record, not a list"),
    ("{from: A, to: B}", "3:5: a relation needs 'type'"),
    ("{from: A, to: B, type: x, relationType: y}", "3:31: 'relationType' and 'type' mean the same"),
    ("{from: A, to: {nme: B}, type: x}", "3:20: an end of a relation has no key 'nme'; did you mean 'name'?"),
    ("{from: A, to: {id: x}, type: x}", "3:24: an id is a number such as 7, not 'x'"),
    ("{from: A, to: {type: x}, type: x}", "3:19: an end of a relation needs a 'name' or an 'id'"),
    ("x " * 2_000, "3:5: a line of 3,999 characters can't be a relation"),
]

NO_SUCH = "in the file or in category 'default'"
MISSING = [
    ("{from: A, to: Nobody, type: x}", f"3:19: no entity 'Nobody' {NO_SUCH}"),
    ("A uses Nobody", f"3:5: no entity 'Nobody' {NO_SUCH}"),
    ("A uses b", f"3:5: no entity 'b' {NO_SUCH}; did you mean 'B'?"),
    ("A uses B (t)", f"3:5: no entity 'B (t)' {NO_SUCH}"),
    (
        "{from: A, to: {name: B, type: t}, type: x}",
        f"3:19: no entity 'B' (t) {NO_SUCH}; the name exists with the type ''",
    ),
    ("{from: A, to: {id: 7}, type: x}", f"3:19: no entity id 7 {NO_SUCH}"),
    ("Mister X knows Misses Y", f"3:5: however this line is read, no entities of such names are {NO_SUCH}"),
    ("C uses D", f"3:5: no entity 'C' {NO_SUCH}; standard input:3:5: no entity 'D' {NO_SUCH} (nothing was written)"),
]


def refused(mmem: Run, base: Path, text: str | bytes, said: str, status: int = 2) -> None:
    ran = mmem("seed", "-", stdin=text)
    assert ran.stderr.startswith(f"mmem: standard input:{said}"), ran.stderr
    assert (ran.exit_status, ran.stdout, len(ran.stderr.splitlines())) == (status, "", 1)
    assert list(base.glob("*.db")) == []


@pytest.mark.parametrize(("text", "said"), [*SYNTAX, *SHAPE], ids=range(len(SYNTAX) + len(SHAPE)))
def test_what_is_no_graph_is_refused_where_it_stands(mmem: Run, base: Path, text: str, said: str) -> None:
    refused(mmem, base, text, said)


@pytest.mark.parametrize(("text", "said"), OBSERVATIONS)
def test_what_is_no_observation_is_refused(mmem: Run, base: Path, text: str, said: str) -> None:
    refused(mmem, base, f"{OBSERVED}{text}\n", said)


@pytest.mark.parametrize(("text", "said"), RELATIONS)
def test_what_is_no_relation_is_refused(mmem: Run, base: Path, text: str, said: str) -> None:
    refused(mmem, base, f"{AB}{text}\n", said)


@pytest.mark.parametrize(("text", "said"), MISSING)
def test_an_end_that_is_missing_is_named(mmem: Run, base: Path, text: str, said: str) -> None:
    refused(mmem, base, f"{AB}{text}\n", said, 3)


def test_a_line_that_can_be_read_in_two_ways_is_refused(mmem: Run, base: Path) -> None:
    text = "entities: {A: , A b: , c d: , d: }\nrelations:\n  - A b c d\n"
    refused(mmem, base, text, '3:5: this can be read as "A" b "c d" and as "A b" c "d"; put names in double quotes')
    quoted = mmem("seed", "-", stdin=text.replace("A b c d", 'A b "c d"'))
    assert (quoted.exit_status, quoted.json[0]["relations"]) == (0, 1)


def test_a_name_of_several_types_needs_one(mmem: Run, base: Path) -> None:
    text = "entities:\n- {name: A, type: x}\n- {name: A, type: y}\n- {name: B}\nrelations:\n- B uses A\n"
    refused(
        mmem, base, text, "6:3: 2 entities are named 'A', of the types 'x', 'y'; give the type in a line as 'A (x)'", 3
    )
    assert mmem("seed", "-", stdin=text.replace("uses A", "uses A (y)")).exit_status == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"entities: {A: \xff}\n", "1:15: this byte isn't UTF-8; save the file as UTF-8"),
        (b"a: b\n\xe9t\xe9: c\n", "2:1: this byte isn't UTF-8"),
        ("entities: {A: b}".encode("utf-16"), "1:1: this byte isn't UTF-8"),
        (f"entities: {{A: '{'y' * 1_100_000}'}}\n", "1:15: an observation has 1,100,000 bytes; at most 1,048,576 are"),
        (
            f"entities: {{A: {{properties: {{x: '{'y' * 1_100_000}'}}}}}}\n",
            "1:28: properties have 1,100,008 bytes as JSON",
        ),
    ],
    ids=range(5),
)
def test_bytes_and_sizes_that_cannot_be_stored(mmem: Run, base: Path, text: str | bytes, said: str) -> None:
    refused(mmem, base, text, said)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n---\n"])
def test_a_file_without_a_graph_is_refused(mmem: Run, text: str) -> None:
    ran = mmem("seed", "-", stdin=text)
    assert (ran.exit_status, "standard input holds no graph" in ran.stderr) == (2, True)


def test_an_error_as_json_has_its_place(mmem: Run, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("entities:\n  A: @b\n")
    ran = mmem("seed", "a.yaml", "--errors", "json")
    assert '"code":"invalid_arguments"' in ran.stderr
    assert '"place":"a.yaml:2:6"' in ran.stderr

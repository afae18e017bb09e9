"""The JSON Schema of seed files: it is the one that is generated, and says what the reader does."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from mmem.seeding.schema import main, schema

FIXTURES = Path(__file__).parent.parent / "fixtures"
COMMITTED = FIXTURES / "mmem-seed.schema.json"
VALID = Draft202012Validator(schema())


class _Editor(yaml.SafeLoader):
    """Reads YAML 1.2 roughly as an editor does: a date is a text."""


_Editor.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if "timestamp" not in tag]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def test_the_committed_schema_is_the_generated_one(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    assert capsys.readouterr().out == COMMITTED.read_text(), (
        "python -m mmem.seeding.schema > fixtures/mmem-seed.schema.json"
    )


def test_it_is_a_valid_schema_in_which_every_key_is_described() -> None:
    Draft202012Validator.check_schema(schema())
    for name, definition in [("document", schema()), *schema()["$defs"].items()]:
        for key, value in definition.get("properties", {}).items():
            assert value["description"].endswith("."), (name, key)


@pytest.mark.parametrize("file", sorted(FIXTURES.glob("*.yaml")), ids=lambda file: file.stem)
def test_what_ships_with_mmem_is_valid(file: Path) -> None:
    for document in yaml.load_all(file.read_text(), _Editor):
        assert [error.message for error in VALID.iter_errors(document)] == []


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("entities: {A: x}", True),
        ("entities: {A: }", True),
        ("entities: {A: [no, 1.10, ~]}", True),
        ("entities: {A: {type: 1.10, observations: [version: 1.10]}}", True),
        ("entities: {A: {observations: [{version: x, source: s, timestamp: 2026-01-31}]}}", True),
        ("entities: {A: {observations: [{text: x, type: k}]}}", True),
        ("entities: [{name: A, entityType: t}]", True),
        ("category: work", True),
        ("entities: {A: , B: }\nrelations: [A uses B, {from: A, to: {id: 1}, type: x}]", True),
        ("entities: {A: {relations: [uses A, {to: A, relationType: x}]}}", True),
        ("entities: {A: {tpye: x}}", False),
        ("entitys: {}", False),
        ("category: Work", False),
        ("entities: text", False),
        ("entities: [A]", False),
        ("entities: [{type: t}]", False),
        ("entities: {A: {type: [x]}}", False),
        ("entities: {A: {observations: {a: b}}}", False),
        ("entities: {A: {observations: [{source: s}, {type: k}]}}", False),
        ("entities: {A: {observations: [{text: x, timestamp: yesterday}]}}", False),
        ("entities: {A: {properties: [a]}}", False),
        ("relations: [A]", False),
        ("relations: [{from: A, to: B}]", False),
        ("relations: [{from: A, to: {type: t}, type: x}]", False),
        ("relations: {A: b}", False),
    ],
)
def test_it_accepts_what_the_reader_accepts(mmem: Callable[..., Any], text: str, valid: bool) -> None:
    mmem("create-entities", "A", "B")
    document = json.loads(json.dumps(yaml.load(text, _Editor)))
    read = mmem("seed", "-", stdin=text).exit_status == 0
    assert read == valid
    assert VALID.is_valid(document) == valid

"""Random damage to sound files: no traceback, every record accounted for, the source unchanged."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from mmem.errors import MmemError
from mmem.importing.job import Rules
from mmem.importing.run import run
from mmem.importing.sources import Source
from mmem.store import Store

FILES = 5_000
PARTS = 10

Damage = Callable[[random.Random, bytes], bytes]


def no_input() -> BinaryIO:
    raise AssertionError("nothing is read from standard input")


def records(chance: random.Random) -> list[dict[str, object]]:
    """Return a few records of every shape that is known."""
    names = ["Lamp", "Desk", "Nächte", "東京", "a\u2028b", 'quo"te', "back\\slash"]
    made: list[dict[str, object]] = []
    for name in chance.sample(names, 4):
        texts = [chance.choice(["is green", "{not: json}", "},{", '"type":"entity"', "x" * 50]) for _ in range(2)]
        entity: dict[str, object] = {"type": "entity", "name": name, "entityType": "thing", "observations": texts}
        made.append(
            entity | chance.choice([{}, {"tags": ["a"]}, {"observations": [{"text": "t", "timestamp": "2025"}]}])
        )
    for _ in range(3):
        first, second = chance.choices(names, k=2)
        made.append({"type": "relation", "from": first, "to": second, "relationType": "knows"})
    chance.shuffle(made)
    return made


def written(chance: random.Random) -> bytes:
    """Return a sound file in one of the framings."""
    some = records(chance)
    ascii_only = chance.random() < 0.3
    lines = [json.dumps(one, ensure_ascii=ascii_only) for one in some]
    if (kind := chance.randrange(5)) == 0:
        return json.dumps(some, indent=chance.choice([None, 2]), ensure_ascii=ascii_only).encode()
    if kind == 1:
        named = {"entities": "entity", "relations": "relation"}
        document = {key: [one for one in some if one["type"] == name] for key, name in named.items()}
        return json.dumps(document, indent=chance.choice([None, 1]), ensure_ascii=ascii_only).encode()
    if kind == 2:
        return "\n".join(json.dumps(one, indent=2, ensure_ascii=ascii_only) for one in some).encode()
    return chance.choice(["\n", "\r\n"]).join(lines).encode()


def truncated(chance: random.Random, content: bytes) -> bytes:
    return content[: chance.randrange(len(content))]


def beheaded(chance: random.Random, content: bytes) -> bytes:
    return content[chance.randrange(len(content)) :]


def glued(chance: random.Random, content: bytes) -> bytes:
    return content.replace(b"\n", chance.choice([b"", b" ", b","]), chance.randrange(1, 4))


def flipped(chance: random.Random, content: bytes) -> bytes:
    spoiled = bytearray(content)
    for _ in range(chance.randrange(1, 6)):
        spoiled[chance.randrange(len(spoiled))] = chance.randrange(256)
    return bytes(spoiled)


def recoded(chance: random.Random, content: bytes) -> bytes:
    at = chance.randrange(len(content))
    encoding = chance.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "cp932", "utf-8-sig"])
    tail = content[at:].decode("utf-8", "ignore").encode(encoding, "replace")
    return chance.choice([content[:at], b""]) + tail


def key_swapped(chance: random.Random, content: bytes) -> bytes:
    keys = [b'"type"', b'"name"', b'"from"', b'"to"', b'"observations"', b'"entityType"', b'"relationType"', b'"tags"']
    first, second = chance.sample(keys, 2)
    return content.replace(first, second, chance.randrange(1, 3))


def value_swapped(chance: random.Random, content: bytes) -> bytes:
    values = [b"null", b"7", b"true", b"[]", b"{}", b"NaN", b"1e999", b'"\\ud800"', b'"\\u0000"', b"[[[]]]", b'""']
    return content.replace(
        chance.choice([b'"Lamp"', b'"thing"', b'"is green"', b'"knows"', b"["]), chance.choice(values), 2
    )


def shuffled(chance: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    chance.shuffle(lines)
    return b"\n".join(lines)


def repeated(chance: random.Random, content: bytes) -> bytes:
    at, to = sorted(chance.choices(range(len(content)), k=2))
    return content[:to] + content[at:to] + content[to:]


DAMAGES: list[Damage] = [
    *(truncated, beheaded, glued, flipped, recoded, key_swapped, value_swapped, shuffled, repeated),
]


@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_files_leave_no_record_unaccounted(tmp_path: Path, part: int) -> None:
    path = tmp_path / "memory.jsonl"
    source, codes = Source(str(path), str(path)), list[str]()
    for number in range(part * FILES // PARTS, (part + 1) * FILES // PARTS):
        chance = random.Random(number)
        content = written(chance)
        for damage in chance.choices(DAMAGES, k=chance.choice([1, 1, 2, 3])):
            content = damage(chance, content) or b"{"
        path.write_bytes(content)
        with Store(tmp_path / "memory", dry_run=True) as store:
            try:
                result = run(store, [source], no_input, Rules("work"), keep_going=True, dry_run=True).result
            except MmemError as error:
                codes.append(error.code)
                continue
        sums = result.created + result.merged + result.already_there + result.kept_aside
        assert result.records == sums, number
        assert path.read_bytes() == content
    assert set(codes) <= {"usage"}  # not even in the encoding that it begins with
    assert len(codes) < FILES // PARTS // 50

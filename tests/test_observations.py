"""Observations: every text finds a place, none is lost, and what isn't stored is said.

In these tables `x` is a plain text, `v:x` one of type v, `v@s:x` one of type v from source s.
"""

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mmem.errors import InvalidArguments, NotFound

Ask = Callable[..., Any]

MIB = 1 << 20
THEN = "2025-11-19T14:30:00Z"


def contents(items: str) -> list[object]:
    """Return what a request holds for `x v@s:x`: bare strings for plain texts, objects for the others."""
    parts = [(item.rpartition(":")[0].partition("@"), item.rpartition(":")[2]) for item in items.split()]
    return [{"observationType": k, "source": s, "text": text} if k or s else text for (k, _, s), text in parts]


@pytest.fixture
def add(ask: Ask) -> Ask:
    """Add to the entity A: `add("x v@s:y", override=True)`."""
    ask("create_entities", entities=[{"name": "A"}])

    def run(items: str, **options: bool) -> Any:
        return ask("add_observations", observations=[{"entityName": "A", "contents": contents(items)}], **options)

    return run


@pytest.fixture
def held(ask: Ask) -> Callable[[], str]:
    """What the first entity holds, in the order of ids, in the notation of the tables."""

    def run() -> str:
        observations = ask("open_nodes", entities=[1]).result.entities[0].observations
        assert [int(o.id) for o in observations] == sorted(int(o.id) for o in observations)
        return " ".join(map(shown, observations))

    return run


def shown(observation: Any) -> str:
    key = observation.observation_type + ("@" + observation.source if observation.source else "")
    return f"{key}:{observation.text}" if key else str(observation.text)


def said(outcome: Any) -> str:
    """Return `skipped[1]` where the second one was skipped."""
    prefix = len("$.observations[0].contents")
    return " ".join(f"{notice.code}{notice.details['path'][prefix:]}" for notice in outcome.notices)


@pytest.mark.parametrize("entity", [{"entityName": "UserService", "entityType": "service"}, {"entityId": "1"}])
def test_added_observations_come_back_as_documented(ask: Ask, entity: dict[str, str]) -> None:
    ask("create_entities", entities=[{"name": "UserService", "entityType": "service"}])
    version = {
        "observationType": "version",
        "text": "Updated to v2.0",
        "timestamp": THEN,
        "source": "changelog",
        "properties": {"semver": "2.0.0", "breaking": True},
    }
    feature = {"text": "Added caching", "timestamp": "2025-11-19"}
    outcome = ask("add_observations", override=False, observations=[{**entity, "contents": [version, feature]}])
    answer = {"entityId": "1", "entityName": "UserService", "entityType": "service"}
    answer |= {"addedObservations": [{"id": "1", **version}, {"id": "2", **feature}]}
    assert msgspec.json.encode(outcome.result).decode() == json.dumps([answer], separators=(",", ":"))


PLACES = [
    # held before, asked, held after, notices
    ("", "x", "x", ""),
    ("", "x y z", "x note-2:y note-3:z", ""),
    ("x", "y", "x note-2:y", ""),
    ("x", "x", "x", "skipped[0]"),
    ("", "x x", "x", "skipped[1]"),
    ("x y", "y", "x note-2:y", "skipped[0]"),
    ("v@s:x", "x", "v@s:x", "skipped[0]"),
    ("x note-3:c", "y z", "x note-3:c note-2:y note-4:z", ""),
    ("note-2:c", "x y", "note-2:c x note-3:y", ""),
    ("x note-2@s:c", "y", "x note-2@s:c note-2:y", ""),
    ("", "@s:x y", "@s:x y", ""),
    ("v:x", "v:y", "v:x", "skipped[0]"),
    ("@s:x", "@s:y", "@s:x", "skipped[0]"),
    ("", "v@s:x v@s:y v:y", "v@s:x v:y", "skipped[1]"),
    ("x", "v:x", "x v:x", ""),
    ("x y", "note-2:z", "x note-2:y", "skipped[0]"),
]
OVERRIDES = [
    ("v@s:x", "v@s:y", "v@s:y", "replaced[0]"),
    ("", "v:x v:y", "v:y", "replaced[1]"),
    ("x", "y", "y", "replaced[0]"),
    ("x", "y x", "y note-2:x", "replaced[0]"),
    ("x y", "z a", "z note-2:y note-3:a", "replaced[0]"),
    ("x y", "z x y", "z note-2:y note-3:x", "replaced[0] skipped[2]"),
    ("x", "x y", "x note-2:y", "skipped[0]"),
    ("x y", "y z", "x note-2:y note-3:z", "skipped[0]"),
    ("", "x y", "x note-2:y", ""),
    ("x", "v:y", "x v:y", ""),
    ("x y", "note-2:z", "x note-2:z", "replaced[0]"),
]


@pytest.mark.parametrize(
    ("before", "asked", "after", "notices", "override"),
    [*((*row, False) for row in PLACES), *((*row, True) for row in OVERRIDES)],
)
def test_every_text_finds_its_place(
    add: Ask, held: Ask, before: str, asked: str, after: str, notices: str, override: bool
) -> None:
    add(before)
    assert said(add(asked, override=override)) == notices
    assert held() == after


@pytest.mark.parametrize(
    ("before", "asked"), [("v:x", "x v:z"), ("y x", "x note-2:z"), ("", "x y note-2:z"), ("", "v:x x v:z")]
)
def test_a_plain_text_outlives_what_its_own_request_replaces(add: Ask, held: Ask, before: str, asked: str) -> None:
    add(before)
    add(asked, override=True)
    assert {item for item in asked.split() if ":" not in item} <= {item[-1] for item in held().split()}


KEYS = st.sampled_from(["", "", "v:", "note-2:", "note-3:", "@s:", "note-2@s:"])
ITEMS = st.lists(st.tuples(KEYS, st.sampled_from("wxyz")).map("".join), max_size=5).map(" ".join)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=ITEMS, asked=ITEMS)
def test_without_override_no_text_goes_and_every_plain_text_comes(ask: Ask, before: str, asked: str) -> None:
    ask("delete_entities", entities=["A"])
    (old,) = ask("create_entities", entities=[{"name": "A", "observations": contents(before)}]).result
    ask("add_observations", observations=[{"entityName": "A", "contents": contents(asked)}])
    (new,) = ask("open_nodes", entities=["A"]).result.entities
    assert new.observations[: len(old.observations)] == old.observations
    assert {item for item in f"{before} {asked}".split() if ":" not in item} <= {o.text for o in new.observations}


def test_two_additions_to_one_entity_are_one_request(ask: Ask, add: Ask, held: Ask) -> None:
    add("x")
    additions = [{"entityName": "A", "contents": ["y"]}, {"entityId": 1, "contents": ["z", "y"]}]
    outcome = ask("add_observations", observations=additions, override=True)
    assert held() == "y note-2:z"
    assert [[o.text for o in added.added_observations] for added in outcome.result] == [["y"], ["z"]]


def test_no_observation_is_reported_that_isn_t_stored(ask: Ask, add: Ask, held: Ask) -> None:
    additions = [{"entityName": "A", "contents": contents(item)} for item in ("v:x", "v:y")]
    outcome = ask("add_observations", observations=additions, override=True)
    assert [shown(o) for added in outcome.result for o in added.added_observations] == [held()] == ["v:y"]


def test_an_entity_to_which_nothing_was_added_is_still_answered(add: Ask) -> None:
    add("x")
    result = msgspec.json.encode(add("x").result).decode()
    assert result == '[{"entityId":"1","entityName":"A","entityType":"","addedObservations":[]}]'


def test_a_skipped_notice_names_what_holds_the_place_and_the_way_out(add: Ask) -> None:
    add("x v@s:y")
    plain, typed = add("x v@s:z").notices
    assert (plain.details["entityId"], plain.details["id"], typed.details["id"]) == ("1", "1", "2")
    assert "'x'" in plain.message
    assert all(part in typed.message for part in ("'v'", "'s'", "override"))


def test_observations_to_missing_entities_write_nothing_and_name_each(ask: Ask, add: Ask, held: Ask) -> None:
    additions = [{"entityName": name, "contents": ["x"]} for name in ("A", "Q", "R")]
    with pytest.raises(NotFound) as raised:
        ask("add_observations", observations=additions)
    missing = [(one["path"], one["name"]) for one in raised.value.details["missing"]]
    assert missing == [("$.observations[1]", "Q"), ("$.observations[2]", "R")]
    assert held() == ""


def test_observation_types_are_stored_in_nfc_and_sources_and_texts_as_given(add: Ask, held: Ask) -> None:
    nfc, nfd = "caf\u00e9", "cafe\u0301"
    add(f"{nfd}@{nfd}:{nfd}")
    assert said(add(f"{nfc}@{nfd}:x")) == "skipped[0]"
    assert held() == f"{nfc}@{nfd}:{nfd}"


def test_a_replaced_text_is_found_no_more(ask: Ask, add: Ask) -> None:
    add("v:zebra")
    add("v:tiger", override=True)
    assert ask("search_nodes", query="zebra").result.entities == []
    assert len(ask("search_nodes", query="tiger").result.entities) == 1


def test_properties_and_timestamp_are_replaced_with_the_text(ask: Ask, add: Ask) -> None:
    old = {"text": "x", "observationType": "v", "timestamp": THEN, "properties": {"k": 1}}
    ask("add_observations", observations=[{"entityName": "A", "contents": [old]}])
    (added,) = add("v:y", override=True).result[0].added_observations
    assert (added.id, added.text, added.properties) == ("1", "y", None)
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", added.timestamp)  # now, in UTC
    assert added.timestamp > THEN


TAKEN = (
    *("2026-01-31", "2024-02-29", "2026-01-31T09:30Z", "2026-01-31T09:30:00", "2026-01-31 09:30:00"),
    *("2026-01-31t09:30:00z", "2026-01-31T09:30:00.123456789+05:30", "2026-01-31T09:30:00,5-0800"),
)
REFUSED = (
    *("", "yesterday", "2026", "2026-02-30", "2025-02-29", "31-01-2026", "01/31/2026", "1769851800", "2026-01-31T"),
    *("2026-01-31T25:00", "2026-01-31T09:60", "2026-01-31T09:30:61Z", "2026-01-31T24:01", "2026-01-31T24:00:01"),
    *("2026-01-31T09:30:00+24:00", "2026-01-31T09:30:00Z ", "2026-01-31\n", "２０２６-01-31", "2026-1-31", "09:30"),
)


def dated(ask: Ask, timestamp: str) -> str:
    entity = {"name": "A", "observations": [{"text": "x", "timestamp": timestamp}]}
    return str(ask("create_entities", entities=[entity]).result[0].observations[0].timestamp)


@pytest.mark.parametrize("timestamp", TAKEN)
def test_a_timestamp_is_stored_as_given(ask: Ask, timestamp: str) -> None:
    assert dated(ask, timestamp) == timestamp


@pytest.mark.parametrize("timestamp", REFUSED)
def test_anything_but_iso_8601_is_refused_as_a_timestamp(ask: Ask, timestamp: str) -> None:
    with pytest.raises(InvalidArguments, match=r"^\$\.entities\[0\]\.observations\[0\].*ISO 8601"):
        dated(ask, timestamp)


@pytest.mark.parametrize("character", ["x", "\u00e9", "\u6771", "\U0001f600"])
@pytest.mark.parametrize("key", ["", "v:"])
def test_a_text_is_at_most_one_mebibyte_of_utf_8(add: Ask, held: Ask, key: str, character: str) -> None:
    size = len(character.encode())
    longest = character * (MIB // size) + "x" * (MIB % size)
    add(key + longest)
    with pytest.raises(InvalidArguments, match="1,048,577 bytes"):
        add(key + longest + "x")
    assert held() == key + longest

"""What a person sees: nothing lost, nothing obeyed, nothing wider than the terminal."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mmem.matches import Matches
from mmem.query import Query
from mmem.records import AddedObservations, Entity, Graph, Observation, Properties, Relation
from mmem.render import render
from mmem.streams import Streams, visible

WIDTHS = pytest.mark.parametrize("width", [60, 80, 200])
PROSE = "Handles user authentication, and profile management too; " * 6
TEXTS = {
    "prose": PROSE,
    "one long word": "https://example.org/" + "segment/" * 60,
    "lines": "Steps:\n\t1. make build\n\n\t2. make push\r\nThen watch.",
    "Japanese": "ユーザー管理サービスは、OAuthとプロフィールを「管理」します。" * 8,
    "emoji": "🚀 launched 👩‍💻 by the team ❤️ 🇩🇪 " * 12,
    "combining": "e\u0301" * 300,
    "spaces": " " * 300 + "far" + " " * 300 + "away",
}
CONTROLS = "\x1b[31m \x9b1m \r \x07 \x08 \x7f \u202e \u2066 \x85 \u2028"


def observation(text: str, **fields: object) -> Observation:
    return Observation(id="11", text=text, **fields)  # type: ignore[arg-type]  # a test's shorthand


def entity(*observations: Observation, id: str = "1", name: str = "UserService", **fields: object) -> Entity:
    kind = str(fields.pop("entity_type", "service"))
    return Entity(id=id, name=name, entity_type=kind, observations=list(observations), **fields)  # type: ignore[arg-type]


def relation(begin: str, verb: str, end: str, properties: Properties | None = None) -> Relation:
    """Return a relation between entities whose ids are given, and whose names are `n` and the id."""
    return Relation(
        id="1",
        from_name=f"n{begin}",
        from_type="service",
        to_name=f"n{end}",
        to_type="",
        relation_type=verb,
        properties=properties,
        from_id=begin,
        to_id=end,
    )


def shown(result: object, width: int = 80, **options: str) -> str:
    color = options.pop("color", "auto")
    environ = {"COLUMNS": str(width), "NO_COLOR": "1", **options}
    return render(result, Streams(stdout_is_terminal=True, color=color, environ=environ))


def graph(*entities: Entity, relations: tuple[Relation, ...] = ()) -> Graph:
    return Graph(entities=list(entities), relations=list(relations))


def content(output: str) -> str:
    """Return the output without the tree's guides and without spaces."""
    return "".join(re.sub(r"^[│├└]?─?\s*", "", line) for line in output.split("\n")).replace(" ", "")


def squeezed(text: str) -> str:
    return "".join(visible(text.replace("\r\n", "\n"), keep="\n\t").split())


def widest(output: str) -> int:
    return max(cell_len(line) for line in output.split("\n"))


@WIDTHS
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_an_observation_is_folded_and_never_cut(text: str, width: int) -> None:
    output = shown([entity(observation(text, observation_type="note", source="docs"))], width)
    assert squeezed(text) in content(output)
    assert widest(output) <= width


@given(text=st.text(), width=st.sampled_from([20, 21, 60, 80, 200]))
def test_no_text_is_lost_and_no_line_is_too_wide(text: str, width: int) -> None:
    output = shown([entity(observation(text))], width)
    assert squeezed(text) in "".join(content(output).split())
    assert widest(output) <= width


@WIDTHS
def test_names_types_properties_and_relations_are_folded_and_never_cut(width: int) -> None:
    long = {key: key * 300 for key in "abcdefg"}
    thing = entity(name=long["a"], entity_type=long["b"], properties={long["c"]: [long["d"]]})
    edge = Relation(
        id="1",
        from_name=long["a"],
        from_type="",
        to_name=long["e"],
        to_type=long["f"],
        relation_type=long["g"],
        from_id="1",
        to_id="2",
    )
    output = shown(graph(thing, relations=(edge,)), width)
    assert all(word in content(output) for word in long.values())
    assert widest(output) <= width
    assert widest(shown([edge], width)) <= width


def test_a_wide_terminal_does_not_make_long_lines() -> None:
    assert 80 < widest(shown([entity(observation(PROSE))], 200)) <= 100


def test_japanese_fills_its_lines_and_no_line_begins_with_a_full_stop() -> None:
    for width in range(60, 80):
        lines = shown([entity(observation(TEXTS["Japanese"], observation_type="説明"))], width).split("\n")[1:-2]
        assert all(cell_len(line) > width - 18 for line in lines)
        assert not any(line.lstrip(" │").startswith(("。", "、", "」", "ー")) for line in lines)


@pytest.mark.parametrize("color", ["always", "never"])
def test_control_characters_are_shown_and_not_sent(color: str) -> None:
    texts = observation(CONTROLS, observation_type=CONTROLS, source=CONTROLS, timestamp=CONTROLS)
    thing = entity(texts, name=CONTROLS, entity_type=CONTROLS, properties={CONTROLS: CONTROLS})
    edge = relation("1", CONTROLS, CONTROLS, {CONTROLS: [CONTROLS]})
    for result in (graph(thing, relations=(edge,)), [thing], [edge], [CONTROLS], CONTROLS):
        output = re.sub(r"\x1b\[[0-9;]*m", "", shown(result, 80, color=color))
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e\u2066]", output)
    assert "␛[31m" in shown([thing], 80, color="never")


@pytest.mark.parametrize("text", ["[red]stop[/red]", "[/]", ":smile:", "[link=http://x.y]z[/link]", r"\[b]"])
def test_markup_and_emoji_codes_in_stored_text_mean_nothing(text: str) -> None:
    thing = entity(observation(text, observation_type=text), name=text, entity_type=text)
    assert shown([thing]).count(text) == 4


def test_numbers_and_links_are_not_highlighted() -> None:
    assert "see http://x.y and 42, 'quoted'" in shown([entity(observation("see http://x.y and 42, 'quoted'"))])


@pytest.mark.parametrize(("color", "sent"), [("always", True), ("never", False), ("auto", False)])
def test_ansi_codes_are_sent_only_with_colour(color: str, sent: bool) -> None:
    output = shown(graph(entity(observation("x")), relations=(relation("1", "uses", "2"),)), 80, color=color)
    assert ("\x1b[" in output) == sent


def test_colours_are_the_named_ones_that_every_theme_can_show() -> None:
    thing = entity(observation("x", observation_type="t", source="s"), properties={"a": 1})
    output = shown(graph(thing, relations=(relation("1", "uses", "2"),)), color="always")
    codes = set(re.findall(r"\x1b\[([0-9;]*)m", output))
    assert codes == {"0", "1", "2", "32", "35", "36"}


def test_an_entity_is_a_small_tree() -> None:
    texts = (
        observation("Updated to v2.0", observation_type="version", source="changelog", timestamp="2026-01-31"),
        observation("Manages user data\nand sessions", properties={"confidence": 0.9}),
    )
    edges = (relation("1", "uses", "2", {"since": 2024}), relation("3", "calls", "1"))
    assert shown(graph(entity(*texts, properties={"tier": 1}), relations=edges)) == (
        "UserService (service) #1\n"
        "│  tier: 1\n"
        "├─ • version: Updated to v2.0  [changelog · 2026-01-31]\n"
        "├─ • Manages user data\n"
        "│    and sessions  [confidence: 0.9]\n"
        "├─ → uses n2  [since: 2024]\n"
        "└─ ← calls n3 (service)\n"
        "\n"
        "1 entity, 2 observations, 2 relations\n"
    )


def test_a_relation_stands_under_both_of_its_ends() -> None:
    pair = (entity(name="n1"), entity(id="2", name="n2", entity_type=""))
    output = shown(graph(*pair, relations=(relation("1", "uses", "2"),)))
    assert output.startswith("n1 (service) #1\n└─ → uses n2\n\nn2 #2\n└─ ← uses n1 (service)\n")


def test_a_relation_to_itself_is_shown_once() -> None:
    assert shown(graph(entity(name="n1"), relations=(relation("1", "retries", "1"),))).count("retries") == 1


def test_a_relation_whose_ends_are_not_shown_is_listed() -> None:
    output = shown(graph(entity(), relations=(relation("8", "runs on", "9"),)))
    assert "Between entities that aren't shown:\nn8 (service) → runs on → n9\n" in output


def test_relations_alone_are_listed_and_counted() -> None:
    output = shown(graph(relations=(relation("8", "runs on", "9"),)))
    assert "n8 (service) → runs on → n9" in output
    assert output.endswith("\n0 entities, 0 observations, 1 relation\n")


def test_relations_stand_in_columns() -> None:
    rows = [relation("1", "uses", "2"), relation("100", "depends on", "3", {"since": 2024})]
    assert shown(rows) == (
        "n1 (service)   → uses       → n2\n"
        "n100 (service) → depends on → n3  [since: 2024]\n"
    )  # fmt: skip


def test_added_observations_stand_under_their_entity() -> None:
    texts = [observation("Added caching")]
    added = AddedObservations(entity_id="1", entity_name="A", entity_type="t", added_observations=texts)
    assert shown([added]) == "A (t) #1\n└─ • Added caching\n"


def test_categories_are_plain_names_a_line_each() -> None:
    assert shown(["personal", "work"], color="always") == "personal\nwork\n"


def test_a_sentence_stands_alone() -> None:
    assert shown("Entities deleted successfully", color="always") == "Entities deleted successfully\n"


@pytest.mark.parametrize("nothing", [graph(), []])
def test_where_there_is_nothing_one_line_says_so(nothing: object) -> None:
    assert shown(nothing) == "Nothing to show.\n"


def test_entities_without_anything_below_them_stand_close_together() -> None:
    plain, full = entity(entity_type=""), entity(observation("x"), entity_type="")
    output = shown([plain, plain, full, plain]).replace("UserService #1", "U")
    assert output == "U\nU\n\nU\n└─ • x\n\nU\n"


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("2026-01-31", "[2026-01-31]"),
        ("2026-01-31T09:30:00.000Z", "[2026-01-31 09:30 UTC]"),
        ("2026-01-31T09:30:59+02:00", "[2026-01-31 09:30 +02:00]"),
        ("2026-01-31 09:30", "[2026-01-31 09:30]"),
        ("long ago", "[long ago]"),
    ],
)
def test_a_timestamp_is_short_and_keeps_its_zone(stored: str, expected: str) -> None:
    assert f"• x  {expected}\n" in shown([entity(observation("x", timestamp=stored))])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain words", "plain words"),
        ("2026-01-31", "2026-01-31"),
        ("1.5", '"1.5"'),
        (1.5, "1.5"),
        ("true", '"true"'),
        (True, "true"),
        ("", '""'),
        (None, "null"),
        ("[x]", '"[x]"'),
        ({"a": [1, "é"]}, '{"a":[1,"é"]}'),
    ],
)
def test_a_property_is_plain_text_where_that_is_clear_and_else_json(value: object, expected: str) -> None:
    assert f"\n   key: {expected}\n" in shown([entity(properties={"key": value})])


def test_the_width_is_80_where_nobody_knows_it() -> None:
    output = render([entity(observation(PROSE))], Streams(stdout_is_terminal=False, environ={}))
    assert 70 < widest(output) <= 80


@pytest.mark.parametrize("columns", ["0", "1", "nonsense"])
def test_a_silly_width_does_no_harm(columns: str) -> None:
    streams = Streams(stdout_is_terminal=True, environ={"COLUMNS": columns})
    assert "management" in render([entity(observation("management"))], streams)


def found(query: str, thing: Entity, width: int = 80, *, color: str = "never", with_relations: bool = True) -> str:
    """Return what a search shows of an entity."""
    streams = Streams(stdout_is_terminal=True, color=color, environ={"COLUMNS": str(width)})
    return render(graph(thing), streams, Matches(Query(query), with_relations=with_relations))


HAY = {
    "prose": ("before it all " * 200, "needle", " and after it " * 200),
    "Japanese": ("最初の文章です。" * 100, "認証サービス", "が管理します。" * 100),
    "lines": ("one\n" * 300, "needle", "\nother" * 300),
    "one word": ("x" * 3000 + " ", "needle", " " + "y" * 3000),
    "at the start": ("", "needle", " and more" * 400),
    "at the end": ("as before " * 400, "needle", ""),
    "combining": ("e\u0301" * 2000 + " ", "needle", " o\u0302" * 900),
}


@WIDTHS
@pytest.mark.parametrize("hay", HAY.values(), ids=HAY.keys())
def test_of_a_long_text_about_three_lines_are_shown_around_the_match(hay: tuple[str, str, str], width: int) -> None:
    output = found(hay[1], entity(observation("".join(hay))), width)
    text = output.split("\n\n1 entity")[0].split("\n")[1:]
    assert hay[1] in content(output)
    assert 2 <= len(text) <= 5
    assert widest(output) <= width
    assert text[0].startswith("└─ • …") == bool(hay[0])
    assert text[-1].endswith(" …") == bool(hay[2])


@pytest.mark.parametrize("text", ["needle " * 40, "needle\n" * 4, "認証" * 100])
def test_a_text_that_is_hardly_longer_is_shown_whole(text: str) -> None:
    assert squeezed(text) in content(found("needle", entity(observation(text))))


def test_types_and_properties_that_matched_are_highlighted() -> None:
    texts = observation("x", properties={"team": "needle"})
    thing = entity(texts, entity_type="needle", properties={"needle": "a needle"})
    assert len(re.findall(r"\x1b\[1;4(;36)?mneedle\x1b", found("needle", thing, color="always"))) == 4


@pytest.mark.parametrize(("asked", "summary"), [(True, ", 0 relations\n"), (False, "1 observation\n")])
def test_relations_that_were_not_asked_for_are_not_counted(asked: bool, summary: str) -> None:
    assert found("x", entity(observation("x")), with_relations=asked).endswith(summary)


@pytest.mark.parametrize(
    ("query", "text", "wanted"),
    [
        ("auth token", "auth " + "x " * 900 + "a token for auth here " + "y " * 900, "token for auth"),
        ("認証 auth", "OAuthで管理します。" * 60 + "認証のauthです。" + "終わり。" * 90, "認証のauth"),
    ],
)
def test_the_part_that_is_shown_is_where_most_of_the_words_are(query: str, text: str, wanted: str) -> None:
    assert wanted.replace(" ", "") in content(found(query, entity(observation(text))))

"""Any text a person types is safe to search for, and found where it stands."""

import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mmem.errors import InvalidArguments
from mmem.matches import Matches
from mmem.query import Query
from mmem.registry import call
from mmem.store import Store

Ask = Callable[..., Any]

TEXTS = (
    "calls foo(bar) twice",
    'he said "unbalanced quote',
    "written in C++ and C#",
    "node.js on port 8080",
    "glob src/auth/*.ts matched",
    "release v2.0.1 is out",
    "the user-service restarts",
    "mail bob.smith+tag@example.co.uk now",
    "ship it 🚀🔥 today",
    "100% of users",
    "1000 of users",
    "under_score",
    "underXscore",
    "path C:\\Users\\bob\\file.txt",
    "what {braces} and [brackets] do",
    "a AND b gate",
    "NEAR(x y) is a function",
    "flag -foo was removed",
    "regex ^foo anchors",
    "col:val pairs",
    "robert'); DROP TABLE entities;-- oh",
    "1 OR 1=1",
    "NOT working",
    "don't panic, O'Reilly",
    "https://example.com/a?b=c&d=e#f",
    "tab\tand\nnewline",
    "[TODO] paint the fence",
    "私は東京都に住んでいます",
    "東京タワーへ行く",
    "한국어 문장입니다",
    "สวัสดีชาวโลกยินดีต้อนรับ",
    "e\u0301cole nationale",
    "zero\u200bwidth",
    "f(x)=x²",
    "🚀",
    "…",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store whose entities `n0`, `n1`, … hold one of `TEXTS` each."""
    with Store(tmp_path_factory.mktemp("library")) as store:
        entities = [{"name": f"n{i}", "observations": [text]} for i, text in enumerate(TEXTS)]
        call(store, "create_entities", {"entities": entities})
        yield store


def search(store: Store, query: str) -> list[str]:
    """Return the texts of the entities found; of one without a text, its name."""
    found = call(store, "search_nodes", {"query": query, "limit": 100}).result.entities
    return [entity.observations[0].text if entity.observations else entity.name for entity in found]


@pytest.mark.parametrize(
    ("query", "holders"),
    [
        ("C++", ["written in C++ and C#"]),
        ("c#", ["written in C++ and C#"]),
        ("foo(bar)", ["calls foo(bar) twice"]),
        ("foo(", ["calls foo(bar) twice"]),
        ('"unbalanced', ['he said "unbalanced quote']),
        ("node.js", ["node.js on port 8080"]),
        ("src/auth/*.ts", ["glob src/auth/*.ts matched"]),
        ("v2.0.1", ["release v2.0.1 is out"]),
        ("V2.0", ["release v2.0.1 is out"]),
        ("user-service", ["the user-service restarts"]),
        ("bob.smith+tag@example.co.uk", ["mail bob.smith+tag@example.co.uk now"]),
        ("@example", ["mail bob.smith+tag@example.co.uk now"]),
        ("🔥", ["ship it 🚀🔥 today"]),
        ("🚀", ["ship it 🚀🔥 today", "🚀"]),
        ("100%", ["100% of users"]),
        ("%", ["100% of users"]),
        ("_", ["under_score"]),
        ("under_score", ["under_score"]),
        ("\\", ["path C:\\Users\\bob\\file.txt"]),
        ("C:\\Users", ["path C:\\Users\\bob\\file.txt"]),
        ("{braces}", ["what {braces} and [brackets] do"]),
        ("[brackets]", ["what {braces} and [brackets] do"]),
        ("[TODO]", ["[TODO] paint the fence"]),
        ("NEAR(x y", ["NEAR(x y) is a function"]),
        ("-foo", ["flag -foo was removed"]),
        ("^foo", ["regex ^foo anchors"]),
        ("col:val", ["col:val pairs"]),
        ("'); DROP TABLE entities;--", ["robert'); DROP TABLE entities;-- oh"]),
        ("1=1", ["1 OR 1=1"]),
        ("don't", ["don't panic, O'Reilly"]),
        ("a?b=c", ["https://example.com/a?b=c&d=e#f"]),
        ("zero\u200bwidth", ["zero\u200bwidth"]),
        ("x²", ["f(x)=x²"]),
        ("…", ["…"]),
        ("AND", ["a AND b gate", "what {braces} and [brackets] do", "tab\tand\nnewline", "written in C++ and C#"]),
    ],
)
def test_punctuation_is_found_as_typed_and_nothing_else(library: Store, query: str, holders: list[str]) -> None:
    assert sorted(search(library, query)) == sorted(holders)


@pytest.mark.parametrize(
    ("query", "holder"),
    [
        ("a AND", "a AND b gate"),
        ("NOT", "NOT working"),
        ("NOT working", "NOT working"),
        ("NEAR(", "NEAR(x y) is a function"),
        ("NEAR", "NEAR(x y) is a function"),
        ("1 OR 1=1", "1 OR 1=1"),
        ("a AND b", "a AND b gate"),
        ("what {braces}", "what {braces} and [brackets] do"),
        ("ship it 🚀", "ship it 🚀🔥 today"),
        ("C++ and C#", "written in C++ and C#"),
        ("now, restarts?", "the user-service restarts"),
        ("ecole", "e\u0301cole nationale"),
        ("\u0301cole", "e\u0301cole nationale"),
        ("userservice restarts", "the user-service restarts"),
        ("tab\tand", "tab\tand\nnewline"),
    ],
)
def test_half_an_expression_is_text(library: Store, query: str, holder: str) -> None:
    assert search(library, query)[0] == holder


@pytest.mark.parametrize(
    ("query", "holders"),
    [
        ("東京", ["私は東京都に住んでいます", "東京タワーへ行く"]),
        ("タワー", ["東京タワーへ行く"]),
        ("住んで", ["私は東京都に住んでいます"]),
        ("東京 タワー", ["東京タワーへ行く", "私は東京都に住んでいます"]),
        ("문장", ["한국어 문장입니다"]),
        ("국어", ["한국어 문장입니다"]),
        (unicodedata.normalize("NFD", "국어"), ["한국어 문장입니다"]),
        ("ยินดี", ["สวัสดีชาวโลกยินดีต้อนรับ"]),
        ("ชาวโลก", ["สวัสดีชาวโลกยินดีต้อนรับ"]),
        ("什么", []),
    ],
)
def test_a_word_inside_a_run_without_spaces_is_found(library: Store, query: str, holders: list[str]) -> None:
    assert sorted(search(library, query)) == sorted(holders)


@pytest.mark.parametrize("query", ["東京 タワー", "東京タワー", "東京タワーは？", "ﾀﾜｰ", "タワーへの行き方"])
def test_what_has_more_of_a_run_without_spaces_comes_first(library: Store, query: str) -> None:
    assert search(library, query)[0] == "東京タワーへ行く"


@pytest.mark.parametrize(
    ("query", "text", "highlighted"),
    [
        ("京都ではどこに泊まりましたか？", "古い町家に泊まった 京都", ["に泊ま", "京都"]),
        ("VPNの設定", "新しいvpnを設定した", ["vpn", "設定"]),
        ("東京", "東京タワー、東京都", ["東京", "東京"]),
        ("user service", "UserService and user-services", ["UserService", "user", "services"]),
        ("\ue000\ue001", "a \ue000\ue001", ["\ue000\ue001"]),
    ],
)
def test_what_matched_is_highlighted(query: str, text: str, highlighted: list[str]) -> None:
    assert [text[start:end] for start, end in Matches(Query(query)).spans(text)] == highlighted


@pytest.mark.parametrize("query", ['"タワー"', '"🔥"', '"++"'])
def test_a_quoted_phrase_without_words_of_its_own_is_found_as_text(library: Store, query: str) -> None:
    assert search(library, query) != []


def test_the_text_as_typed_comes_before_a_part_of_it(ask: Ask) -> None:
    entities = [{"name": "part", "observations": ["都 の"]}, {"name": "whole", "observations": ["私は東京 都です"]}]
    ask("create_entities", entities=entities)
    outcome = ask("search_nodes", query="東京 都")
    assert [entity.name for entity in outcome.result.entities] in (["whole", "part"], ["whole"])
    assert outcome.notices == []


def test_a_name_of_separators_alone_is_not_every_other_one(ask: Ask) -> None:
    ask("create_entities", entities=[{"name": name} for name in ("-", "_", "--", " _ ")])
    found = ask("search_nodes", query="_").result.entities
    assert {entity.name for entity in found} == {"_", " _ "}


@pytest.mark.parametrize(
    "query",
    [
        *('"', '""', "(", ")", "()", ":", "^", "-", "+", "*", "'", ";", "OR", '" OR "', "AND AND AND", "foo*bar*"),
        *("foo OR", "*foo", "foo**", "bogus:thing", "rank:1", "{a b}:", "entity_name:", "- entity_name : foo"),
        *('"foo" + "bar"', "NEAR(foo, -1)", "NEAR(foo bar, 99999999999999999999)", 'NEAR("" foo)', 'foo AND ""'),
        *("\ud7ff", "\ue000", "\uffff", "\U0010ffff", "\U0001e900", "\u202e", "\ufeff", "\x01", "ﷺ"),
        *("\ue000\ue001", "ing", "s es ed"),
    ],
)
def test_no_operator_or_odd_character_fails(library: Store, query: str) -> None:
    search(library, query)


@pytest.mark.parametrize(
    "query",
    [
        "(" * 300,
        "(" * 300 + "foo" + ")" * 300,
        "a" + "(b" * 300,
        "NOT " * 250,
        '"' * 501,
        "{" * 999,
        "foo " * 2_500,
        "x" * 10_000,
        "(" * 10_000,
        "é(" * 5_000,
        "%_\\" * 3_333,
        " ".join(f"w{i}" for i in range(2_000)),
        " OR ".join(f"w{i}" for i in range(2_000)),
        pytest.param("x" * 60_000, id="60,000 letters"),
        pytest.param("(" * 60_000, id="60,000 brackets"),
        pytest.param("what " * 12_000, id="12,000 words"),
        pytest.param("ΐ" * 10_000, id="10,000 letters that grow threefold"),
    ],
    ids=lambda query: f"{query[:8]}, {len(query)} characters",
)
def test_no_length_or_depth_fails(library: Store, query: str) -> None:
    search(library, query)


def test_a_long_text_is_found_whole(ask: Ask) -> None:
    text = " ".join(f"word{i}, (or so);" for i in range(600))
    ask("create_entities", entities=[{"name": "A", "observations": [text]}])
    outcome = ask("search_nodes", query=text)
    assert [entity.name for entity in outcome.result.entities] == ["A"]
    assert outcome.notices == []


def test_a_text_too_long_for_a_query_is_refused(library: Store) -> None:
    with pytest.raises(InvalidArguments, match=r"^\$\.query: has too many characters"):
        search(library, "x" * 200_000)


@pytest.mark.parametrize("query", ["\0", "foo\0bar", "\ud83d", "foo \udc80"])
def test_what_cannot_be_stored_cannot_be_searched_for(library: Store, query: str) -> None:
    with pytest.raises(InvalidArguments, match=r"^\$\.query: "):
        search(library, query)


@pytest.mark.parametrize(("text", "query"), [("→\n→", "→\n→"), ('✓"✓', '✓"'), ("\\\\", "\\\\"), ("one\ntwo", "two")])
def test_a_property_is_searched_as_its_value_not_as_its_json(ask: Ask, text: str, query: str) -> None:
    entities = [{"name": "A", "properties": {"key": text}}, {"name": "B", "observations": ["two words"]}]
    ask("create_entities", entities=entities)
    assert "A" in [entity.name for entity in ask("search_nodes", query=query).result.entities]

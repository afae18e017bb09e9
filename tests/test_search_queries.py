"""A table of nasty queries, and what comes first: nothing fails, and what stands somewhere as it was typed is found.

The first half of the table is that of the study which the search was built on.
"""

import random
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mmem.registry import call
from mmem.store import Store

Ask = Callable[..., Any]

TEXTS = (
    *("calls foo(bar) twice", 'he said "unbalanced quote', "written in C++ and C#", "the user-service restarts"),
    *("a AND b gate", "NEAR(x y) is a function", "glob src/auth/*.ts matched", "col:val pairs", "ship it 🚀🔥 today"),
    *("私は東京都に住んでいます", "東京タワーへ行く", "สวัสดีชาวโลกยินดีต้อนรับ", "meet at the café"),
    *("the cafe next door", "robert'); DROP TABLE entities;-- oh", "1 OR 1=1"),
    *("mail bob.smith+tag@example.co.uk now", "release v2.0.1 is out", "flag -foo was removed", "regex ^foo anchors"),
    *("100% of users", "under_score and camelCaseName", "path C:\\Users\\bob\\file.txt", "running shoes for runners"),
    *("database migration", "Straße in Köln", "NOT working", "what {braces} do", "a+b=c", "tab\tand\nnewline"),
    *("https://example.com/a?b=c&d=e#f", "ＦＵＬＬＷＩＤＴＨ text", "한국어 문장입니다", "ﷺ ligature", "x" * 300),
    *("e\u0301cole nationale", "İstanbul", "zero\u200bwidth", "k8s, gRPC & OAuth2.0", "1,234.56 EUR"),
    *("#hashtag @mention", "don't panic", "O'Reilly", "-- comment", "/* block */", "NULL", "a'b\"c", "50/50", "…"),
    *("№5", "f(x)=x²", "naïve approach", "ครับผมรักประเทศไทย", "東京東京東京", "🚀", "C", "c", "ＡＢＣ", "αβγ ΔΕΖ"),
    *("привет мир", "مرحبا بالعالم", "שלום עולם", "नमस्ते दुनिया", "tiếng Việt"),
    # Beyond the study's:
    *("call +49 (0)431 220-17 after 17:00", "IBAN DE02 1203 0000 0000 2020 51", "2026-03-14T09:26:53Z", "10.0.0.0/8"),
    *("fe80::1%eth0", "SELECT * FROM rows WHERE a <> 'b'", "if (a && b) || !c", "git rebase -i HEAD~3", "C:\\"),
    *("the ~/.config/mmem folder", "$HOME and ${PATH}", "x := y // z", "std::vector<int> v;", "a->b", "λx.x"),
    *("e = mc²", "Ångström", "crème brûlée", "Ærø", "ĲSSELMEER", "ǅungla", "ΣΊΣΥΦΟΣ", "ё-моё"),
    *("日本語とEnglishの混在", "VPNの設定方法", "你好，世界！", "北京大学的图书馆", "ｶﾀｶﾅ ﾃｽﾄ", "㈱テスト", "③番目"),
    *("한글과 English", "ພາສາລາວ", "မြန်မာ", "ភាសាខ្មែរ", "👩‍👩‍👧‍👦 family", "🇩🇪 flag", "🙂🙂", "☕ before 9"),
    *("→ next", "• point", "“quoted” text", "‹angle›", "soft\u00adhyphen", "line one\nline two\r\nline three"),
    *("col\x0bumn", "bell\x07", "nb\u00a0space", "a\u2003em space", "\ufeffbom first"),
    *('JSON: {"key": [1, 2.50, null]}', "<b>bold</b> &amp; more", "[link](http://x.test/?q=1)"),
    *("`code` and ```fence```", "XMLHttpRequest", "parseHTML5Document", "snake_case_name", "kebab-case-name"),
    *("ver.1.0.0-rc.1+build.5", "ÅÄÖ åäö"),
)
QUERIES = (
    *("foo(", '"unbalanced', "C++", "user-service", "a AND", "NEAR(", "*", "col:val", "🚀", "🔥 today", "東京"),
    *("タワー", "ยินดี", "ประเทศ", "cafe", "café", "CAFÉ", "cafe\u0301", "'); DROP TABLE entities;--", "1 OR 1=1"),
    *("src/auth/*.ts", "bob.smith+tag@example.co.uk", "v2.0.1", "-foo", "^foo", "100%", "%", "_", "under_score"),
    *("caseName", "C:\\Users", "\\", "NOT working", "{braces}", "a+b=c", "https://example.com/a?b=c", "tab\tand"),
    *("FULLWIDTH", "ＦＵＬＬ", "문장", "straße", "STRASSE", "école", "istanbul", "zero\u200bwidth", "zerowidth"),
    *("OAuth2.0", "1,234.56", "#hashtag", "@mention", "don't", "O'Reilly", "--", "/*", "NULL", "a'b\"c", "50/50"),
    *("…", "№5", "x²", "naive", "привет", "ПРИВЕТ", "مرحبا", "שלום", "नमस्ते", "viet", "Việt", '"', '""', "(", ")"),
    *("()", ":", "^", "-", "+", "AND", "OR", "NOT", "NEAR", "AND AND AND", '" OR "', "*foo", "foo OR", "bogus:thing"),
    *("\n|", "x" * 300, "x" * 10_000, "foo " * 3_000, '"' * 501, "(" * 400, "a" + "(b" * 300, "tabase migr"),
    *("unners", "💥", "\ud7ff", "\U0010ffff", "ﷺ", "ΑΒΓ", "50", "f(x", "什么", "Köln", "koln", "ＡＢＣ", "abc"),
    *("NEAR(x y)", "a AND b", "what did the runner run in?", "ﾀﾜｰ"),
    # As many again:
    *("+49 (0)431", "220-17", "17:00", "DE02 1203", "0000 0000", "2026-03-14T09", "09:26:53Z", "10.0.0.0/8", "0.0/8"),
    *("fe80::1%eth0", "::1", "%eth0", "* FROM rows", "<> 'b'", "a && b", "|| !c", "HEAD~3", "-i HEAD", "C:\\"),
    *("~/.config", "${PATH}", "$HOME", "x := y", "// z", "std::vector<int>", "<int> v;", "a->b", "λx", "λX.X", "mc²"),
    *("= mc", "ångström", "angstrom", "brulee", "CRÈME", "ærø", "ĳsselmeer", "ǆungla", "σίσυφος", "ΣΙΣΥΦΟΣ", "моё"),
    *("ЁМОЁ", "混在", "Englishの", "english", "vpn", "VPN 設定", "設定方法", "世界！", "你好世界", "图书馆"),
    *("北京的图书馆在哪里", "カタカナ", "ﾃｽﾄ", "テスト", "㈱", "(株)テスト", "③", "3番目", "한글", "English한글"),
    *("ລາວ", "မာ", "ខ្មែរ", "👩‍👩‍👧‍👦", "👧", "🇩🇪", "🙂", "🙂🙂🙂", "☕", "→", "→ next", "• point", "“quoted”"),
    *('"quoted"', "‹", "soft\u00adhyphen", "hyphen", "one\nline two", "two\r\nline", "three\n", "\x0bumn", "\x07"),
    *("nb\u00a0space", "nb space", "\u2003em", "\ufeffbom", "bom first", '"key": [1', "2.50", "null]}", "<b>"),
    *("</b> &amp;", "&", "[link](http", "?q=1)", "`code`", "```", "httprequest", "HTML5", "html5document"),
    *("case_name", "snake case", "case-name", "kebab case name", "1.0.0-rc.1", "rc.1+build.5", "+build", "åäö"),
    *("aao", "c", "x", "1", "5", "é", "京", "ö", "²", "ａ", "no", "of", "is", "it", "the", "what", "and the of"),
    *("to be or not to be",),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with an entity for each of `TEXTS`, among as many of common words, and some with telling names."""
    with pytest.MonkeyPatch.context() as patch, Store(tmp_path_factory.mktemp("queries")) as store:
        patch.setenv("MMEM_SEMANTIC", "off")
        words = "the quick brown fox jumps over lazy dog while service user auth foo bar val col near example release"
        chance = random.Random(1)
        filler = [" ".join(chance.choices(words.split(), k=9)) for _ in TEXTS]
        nodes = [{"name": f"n{number}", "observations": [text]} for number, text in enumerate((*filler, *TEXTS))]
        nodes += [
            {"name": "C:\\temp & co.", "entityType": "dir/ectory", "properties": {"ke:y": ["v=1; w=2", {"ü": "%20"}]}},
            {
                "name": "東京 office",
                "entityType": "拠点",
                "observations": [{"text": "x", "properties": {"階": "三階"}}],
            },
        ]
        call(store, "create_entities", {"entities": nodes})
        yield store


def search(store: Store, query: str) -> list[Any]:
    found: list[Any] = call(store, "search_nodes", {"query": query, "limit": 1_000}).result.entities
    return found


def plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()


def strings(value: object) -> list[str]:
    """Return the keys and texts in a value of a property."""
    if isinstance(value, dict):
        return [text for key, one in value.items() for text in (key, *strings(one))]
    if isinstance(value, list):
        return [text for one in value for text in strings(one)]
    return [value] if isinstance(value, str) else []


def holds(entity: Any, query: str) -> bool:
    """Tell whether an entity has a text in its name, type, observations or properties that contains the query."""
    texts = [entity.name, entity.entity_type, *strings(entity.properties or {})]
    for one in entity.observations:
        texts += [one.text, *strings(one.properties or {})]
    return any(plain(query.strip()) in plain(text) for text in texts)


@pytest.mark.parametrize("query", dict.fromkeys(QUERIES), ids=lambda query: ascii(query[:20]))
def test_what_stands_somewhere_as_typed_is_found_and_comes_first(library: Store, query: str) -> None:
    found = search(library, query)
    everything = call(library, "read_graph", {}).result.entities
    if any(holds(entity, query) for entity in everything):
        assert found
        assert holds(found[0], query)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("fullwidth", "ＦＵＬＬＷＩＤＴＨ text"),
        ("abc", "ＡＢＣ"),
        ("カタカナ", "ｶﾀｶﾅ ﾃｽﾄ"),
        ("(株)テスト", "㈱テスト"),
        ("3番目", "③番目"),
        ("angstrom", "Ångström"),
        ("brulee", "crème brûlée"),
        ("aao", "ÅÄÖ åäö"),
        ("istanbul", "İstanbul"),
        ("STRASSE", "Straße in Köln"),
        ("koln", "Straße in Köln"),
        ("viet", "tiếng Việt"),
        ("snake case", "snake_case_name"),
        ("kebab case name", "kebab-case-name"),
        ("httprequest", "XMLHttpRequest"),
        ("你好世界", "你好，世界！"),
        ("北京的图书馆在哪里", "北京大学的图书馆"),
        ("VPN 設定", "VPNの設定方法"),
        ("what did the runner run in?", "running shoes for runners"),
        ("databases migrated", "database migration"),
    ],
)
def test_width_accents_case_and_separators_make_no_difference(library: Store, query: str, first: str) -> None:
    assert search(library, query)[0].observations[0].text == first


@pytest.mark.parametrize("query", dict.fromkeys(QUERIES), ids=lambda query: ascii(query[:20]))
def test_the_same_query_gives_the_same_order_twice(library: Store, query: str) -> None:
    assert search(library, query) == search(library, query)

"""What the words of a query stand for, and whose words come first."""

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., Any]


def remember(ask: Ask, **entities: list[str]) -> None:
    """Create entities, each given as its name and its plain texts."""
    ask("create_entities", entities=[{"name": name, "observations": those} for name, those in entities.items()])


def names(outcome: Any) -> list[str]:
    return [entity.name for entity in outcome.result.entities]


def codes(outcome: Any) -> list[str]:
    return [notice.code for notice in outcome.notices]


@pytest.mark.parametrize(
    "forms",
    [
        "note notes noted noting",
        "deploy deploys deployed deploying",
        "carry carries carried carrying",
        "plan plans planned planning",
        "remember remembers remembered remembering",
        "represent represents represented representing",
        "organize organizes organized organizing",
        "motivate motivates motivated motivation",
        "decide decides decided deciding",
        "use uses used using",
        "dog dogs",
        "run runs ran running",
        "buy buys bought buying",
        "write writes wrote written writing",
        "child children",
    ],
)
def test_a_word_is_found_in_all_of_its_forms_from_each(ask: Ask, forms: str) -> None:
    remember(ask, **{form: [f"they {form} it"] for form in forms.split()}, Other=["nothing of the kind"])
    for form in (*forms.split(), forms.split()[0].upper()):
        assert set(names(ask("search_nodes", query=form))) == set(forms.split())


@pytest.mark.parametrize("query", ["ines", "uses", "does it pass"])
def test_a_form_that_says_nothing_is_no_form(ask: Ask, query: str) -> None:
    remember(ask, A=["in this house"], B=["tell us"], C=["do as she does"])
    assert names(ask("search_nodes", query=query)) == []


def test_the_form_that_was_typed_comes_first(ask: Ask) -> None:
    remember(
        ask, A=["a note, a note, a note"], B=["they are noting it down in a long, long text about a great many things"]
    )
    assert names(ask("search_nodes", query="noting")) == ["B", "A"]


@pytest.mark.parametrize(
    ("query", "stored"),
    [
        ("user service", "UserService"),
        ("user service", "userService"),
        ("user service", "user-service"),
        ("user service", "user_service"),
        ("UserService", "the user service"),
        ("userService", "user-service"),
        ("UserService", "USERSERVICE"),
        ("who owns the user service?", "UserService"),
        ("HTTP server", "HTTPServer"),
        ("HTTPServer", "an HTTP server"),
        ("tide sync 3", "TideSync 3"),
    ],
)
def test_the_parts_of_a_name_are_words(ask: Ask, query: str, stored: str) -> None:
    remember(ask, Other=["a thing of its own"], This=[f"it is {stored}"])
    assert names(ask("search_nodes", query=query))[0] == "This"


@pytest.mark.parametrize(
    ("query", "first"),
    [("go", "A"), ("ai", "B"), ("c", "C"), ("R", "D"), ("7", "E"), ("é", "F"), ("林", "G"), ("薇", "G"), ("ش", "H")],
)
def test_one_or_two_letters_are_a_word(ask: Ask, query: str, first: str) -> None:
    texts = ["written in Go", "an AI wrote it", "plain C", "the language R", "port 7", "the letter é", "林薇", "حرف ش"]
    remember(ask, **{name: [text] for name, text in zip("ABCDEFGH", texts, strict=True)})
    assert names(ask("search_nodes", query=query))[0] == first


def test_words_that_say_little_count_only_where_there_are_no_others(ask: Ask) -> None:
    remember(ask, A=["what is the harbour"], B=["the tide"], C=["it is what it is"])
    assert names(ask("search_nodes", query="what is the tide")) == ["B"]
    assert names(ask("search_nodes", query="what it is"))[0] == "C"
    assert set(names(ask("search_nodes", query="what is"))) == {"A", "C"}


def test_the_words_as_they_were_typed_come_first(ask: Ask) -> None:
    remember(ask, A=["data of the user, user of the data"], B=["service for users"], C=["this is the user data"])
    assert names(ask("search_nodes", query="user data"))[0] == "C"
    remember(ask, D=["what the user of the data is"])
    assert names(ask("search_nodes", query="user of the data"))[:2] in (["A", "D"], ["D", "A"])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("harbour tide", []),
        ("harbour pilot", []),  # in two observations of one entity
        ("pilot tide", ["matched_any"]),
        ("harbour nowhere", ["matched_any"]),
        ("what is the harbour?", []),
        ("nowhere nothing", []),
        ("港口 潮汐", []),
        ("港口的潮汐表", ["matched_any"]),
    ],
)
def test_the_notice_stands_where_no_entity_has_all_of_the_words(ask: Ask, query: str, expected: list[str]) -> None:
    remember(ask, A=["the harbour and its tide", "港口和潮汐"], B=["a harbour", "a pilot"])
    assert codes(ask("search_nodes", query=query)) == expected


def test_an_entity_that_has_all_of_the_words_together_comes_before_those_that_have_some(ask: Ask) -> None:
    remember(ask, Some=["rare rare walrus"], All=["a rare bird", "the tide"], Others=["tide and tide"])
    outcome = ask("search_nodes", query="rare tide")
    assert names(outcome)[0] == "All"
    assert set(names(outcome)) == {"All", "Some", "Others"}


def test_what_has_them_in_one_place_comes_before_what_has_them_in_several(ask: Ask) -> None:
    remember(
        ask, Apart=["a rare bird", "the tide"], Together=["a long text in which a rare tide is one of many things"]
    )
    assert names(ask("search_nodes", query="rare tide")) == ["Together", "Apart"]


def test_a_rare_word_counts_for_more_than_a_common_one(ask: Ask) -> None:
    remember(ask, **{f"n{number}": ["the common thing"] for number in range(30)}, Rare=["a walrus"])
    assert names(ask("search_nodes", query="common walrus"))[0] == "Rare"


@pytest.mark.parametrize("query", ["same words", "same", "what are the same words?"])
def test_equal_matches_come_by_id(ask: Ask, query: str) -> None:
    ask(
        "create_entities",
        entities=[{"name": f"n{9 - i}", "observations": ["the same words, 同じ言葉"]} for i in range(10)],
    )
    ids = [int(entity.id) for entity in ask("search_nodes", query=query).result.entities]
    assert ids == sorted(ids)


@pytest.mark.parametrize("query", ["言葉", "同じ言葉", "ords"])
def test_of_equal_texts_that_are_looked_through_the_newest_comes_first(ask: Ask, query: str) -> None:
    ask(
        "create_entities", entities=[{"name": f"n{i}", "observations": ["the same words, 同じ言葉"]} for i in range(10)]
    )
    assert names(ask("search_nodes", query=query)) == [f"n{9 - i}" for i in range(10)]


@pytest.mark.parametrize("query", ["Tide", "tide", "TIDE", "  tide ", "T-I-D-E", "ti_de"])
def test_the_entity_of_that_name_comes_before_all(ask: Ask, query: str) -> None:
    remember(ask, Other=["tide tide tide", "T-I-D-E", "ti_de"], Tides=["tide"], Tide=[])
    assert names(ask("search_nodes", query=query))[0] == "Tide"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("name:tide", {"Tide table"}),
        ("type:port", {"Kiel"}),
        ("text:tide", {"Kiel"}),
        ("entity_name:tide", {"Tide table"}),
        ("entity_type:port", {"Kiel"}),
        ("observation_content:tide", {"Kiel"}),
        ("name:ti*", {"Tide table"}),
        ("name : tide", {"Tide table"}),
        ("{name type} : port", {"Kiel"}),
        ("-name:tide AND tide", {"Kiel"}),
        ("name:kiel AND text:tide", {"Kiel"}),
        ("name:kiel text:ferry", set()),
        ("type:port OR type:document", {"Kiel", "Tide table"}),
        ("(name:kiel OR name:tide) NOT type:port", {"Tide table"}),
        ('text:"high tide"', {"Kiel"}),
        ("name:nowhere", set()),
        ("name:tid", {"Tide table"}),
        ("name:kie OR name:tid", {"Kiel", "Tide table"}),
        ("name:tid NOT type:por", {"Tide table"}),
        ('name:"tid"', set()),
    ],
)
def test_a_word_can_be_looked_for_in_names_types_or_texts(ask: Ask, query: str, found: set[str]) -> None:
    kiel = {"name": "Kiel", "entityType": "port", "observations": ["almost no tide; high tide is no matter"]}
    table = {"name": "Tide table", "entityType": "document", "observations": ["printed each year"]}
    ask("create_entities", entities=[kiel, table])
    outcome = ask("search_nodes", query=query)
    assert (set(names(outcome)), outcome.notices) == (found, [])


@pytest.mark.parametrize(
    "query", ["name: the tide", "type:", "what type: is it", "text:", "filename:tide", "name:(tide"]
)
def test_half_a_filter_is_text(ask: Ask, query: str) -> None:
    remember(ask, A=[f"they wrote {query} here"], B=["what a tide"])
    assert names(ask("search_nodes", query=query))[0] == "A"


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
@pytest.mark.parametrize("query", ["Crème", "ガラス", "한국어", "Việt Nam"])
def test_every_normal_form_finds_every_other(ask: Ask, query: str, form: str) -> None:
    forms = ("NFC", "NFD", "NFKC", "NFKD")
    remember(ask, **{one: [f"of {unicodedata.normalize(one, query)} here"] for one in forms})
    assert set(names(ask("search_nodes", query=unicodedata.normalize(form, query)))) == set(forms)

"""Laws of searching: no text makes a query fail, and every piece of what is stored finds it.

Twenty thousand random queries each hold the laws in one store; hypothesis looks for smaller ones, and shrinks them.
"""

import random
import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import fixture

from mmem.errors import InvalidArguments
from mmem.registry import call
from mmem.store import Store

MANY = 20_000

PIECES = [
    *"ab fo1\"'()*:^-+{}%_\\/.,;@#&|<>=~`!?[]$\n\t東京éÉ🚀กßİ\u0301",
    *(
        "AND",
        "OR",
        "NOT",
        "NEAR(",
        "entity_name:",
        '"foo"',
        "foo*",
        "タワー",
        "한국어",
        "ｶﾅ",
        "userName",
        "the",
        "noting",
    ),
]
hostile = st.one_of(
    st.lists(st.sampled_from([*PIECES, " ", " AND ", "\0", "\ud83d"]), max_size=14).map("".join),
    st.text(st.characters(codec=None), max_size=14),
)
storable = st.one_of(
    st.lists(st.sampled_from([*PIECES, " "]), min_size=1, max_size=20).map("".join),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20),
)
thorough = settings(max_examples=100, deadline=None)


def made_up(chance: random.Random, most: int) -> str:
    """Return a random text that isn't blank: of hostile pieces, or of any characters."""
    while True:
        if chance.random() < 0.7:
            text = "".join(chance.choices([*PIECES, " ", " "], k=chance.randint(1, most)))
        else:
            codes = (chance.randrange(1, chance.choice((0x80, 0x3000, 0x10000, 0x110000))) for _ in range(most))
            text = "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)
        if text.strip():
            return text


class Stored(NamedTuple):
    """An entity of the library: its number among its properties, and the texts that it holds anywhere."""

    number: int
    texts: list[str]


class Library(NamedTuple):
    """A store whose default category holds hostile and everyday texts in all places."""

    store: Store
    entities: list[Stored]

    def search(self, query: str, **more: Any) -> list[Any]:
        """Return the entities found."""
        found: list[Any] = call(
            self.store, "search_nodes", {"query": query, "relations": False, **more}
        ).result.entities
        return found


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """A library of over fifty entities."""
    chance = random.Random(5)
    nodes: list[dict[str, Any]] = []
    entities = []
    for number, fact in zip(range(60), fixture().facts[::5], strict=False):
        name, kind = (unicodedata.normalize("NFC", made_up(chance, 12)) for _ in range(2))
        text, key, value, other = fact.text, made_up(chance, 6), made_up(chance, 20), made_up(chance, 30)
        observations = [text, {"text": other, "observationType": "other", "properties": {key: {value: [other]}}}]
        properties = {"number": number, key: [value]}
        nodes.append({"name": name, "entityType": kind, "properties": properties, "observations": observations})
        entities.append(Stored(number, [name, kind, text, key, value, other]))
    with pytest.MonkeyPatch.context() as patch, Store(tmp_path_factory.mktemp("laws")) as store:
        patch.setenv("MMEM_SEMANTIC", "off")
        call(store, "create_entities", {"entities": nodes})
        yield Library(store, entities)


def test_any_piece_of_what_is_stored_finds_it(library: Library) -> None:
    chance = random.Random(7)
    for _ in range(MANY):
        stored = chance.choice(library.entities)
        text = chance.choice(stored.texts)
        begin = chance.randrange(len(text))
        query = text[begin : begin + chance.randint(1, 20)]
        if query.strip():
            found = library.search(query, properties={"number": stored.number})
            assert [entity.properties["number"] for entity in found] == [stored.number], (query, stored)


def test_no_random_text_fails_or_misses_what_holds_it(library: Library) -> None:
    chance = random.Random(9)
    held = "\0".join(text.lower() for stored in library.entities for text in stored.texts)
    for _ in range(MANY):
        query = made_up(chance, chance.randint(1, 14))
        found = library.search(query, limit=5)
        assert found or query.strip().lower() not in held, query


@thorough
@given(query=hostile)
def test_a_query_never_fails_but_for_what_is_blank_or_cannot_be_stored(library: Library, query: str) -> None:
    unfit = "\0" in query or any("\ud800" <= character <= "\udfff" for character in query)
    if unfit or not query.strip():
        with pytest.raises(InvalidArguments):
            library.search(query)
    else:
        library.search(query)


def has_slice(store: Store, data: st.DataObject, text: str, **entity: Any) -> bool:
    """Tell whether a random slice of a text finds the only entity, which holds it."""
    begin = data.draw(st.integers(0, max(0, len(text) - 1)), "begin")
    query = text[begin : begin + data.draw(st.integers(1, 20), "length")]
    if not query.strip():
        return True
    try:
        call(store, "create_entities", {"category": "slices", "entities": [entity]})
        return bool(call(store, "search_nodes", {"category": "slices", "query": query}).result.entities)
    finally:
        name = {"name": entity["name"], "entityType": entity.get("entityType", "")}
        call(store, "delete_entities", {"category": "slices", "entities": [name]})


@thorough
@given(text=storable, data=st.data())
def test_any_piece_of_a_text_finds_it(library: Library, text: str, data: st.DataObject) -> None:
    assert has_slice(library.store, data, text, name="A", observations=[text])


@thorough
@given(name=storable.filter(str.strip), data=st.data())
def test_any_piece_of_a_name_finds_it(library: Library, name: str, data: st.DataObject) -> None:
    assert has_slice(library.store, data, unicodedata.normalize("NFC", name), name=name)


@thorough
@given(kind=storable.filter(str.strip), data=st.data())
def test_any_piece_of_a_type_finds_it(library: Library, kind: str, data: st.DataObject) -> None:
    assert has_slice(library.store, data, unicodedata.normalize("NFC", kind), name="A", entityType=kind)


@thorough
@given(text=storable, key=storable, data=st.data())
def test_any_piece_of_a_property_finds_it(library: Library, text: str, key: str, data: st.DataObject) -> None:
    assert has_slice(library.store, data, text, name="A", properties={key: [text]})
    assert has_slice(library.store, data, key, name="A", observations=[{"text": "x", "properties": {key: text}}])

"""Laws of searching: no text makes a query fail, and every piece of what is stored finds it."""

import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmem.errors import InvalidArguments
from mmem.registry import call
from mmem.store import Store


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store whose default category holds a few words."""
    with Store(tmp_path_factory.mktemp("laws")) as store:
        entities = [{"name": "foo", "entityType": "AND", "observations": ["a b fo 東京 (é) 🚀", "NEAR(foo) OR 1"]}]
        call(store, "create_entities", {"entities": entities})
        yield store


PIECES = [
    *"ab fo1\"'()*:^-+{}%_\\/.,;@#&|<>=~`!?[]$\n\t東京éÉ🚀กßİ\u0301",
    *("AND", "OR", "NOT", "NEAR(", "entity_name:", '"foo"', "foo*"),
]
hostile = st.one_of(
    st.lists(st.sampled_from([*PIECES, " ", " AND ", "\0", "\ud83d"]), max_size=14).map("".join),
    st.text(st.characters(codec=None), max_size=14),
)
storable = st.one_of(
    st.lists(st.sampled_from([*PIECES, " "]), min_size=1, max_size=20).map("".join),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20),
)
thorough = settings(max_examples=300, deadline=None)


@thorough
@given(query=hostile)
def test_a_query_never_fails_but_for_what_is_blank_or_cannot_be_stored(memory: Store, query: str) -> None:
    unfit = "\0" in query or any("\ud800" <= character <= "\udfff" for character in query)
    if unfit or not query.strip():
        with pytest.raises(InvalidArguments):
            call(memory, "search_nodes", {"query": query})
    else:
        call(memory, "search_nodes", {"query": query})


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
def test_any_piece_of_a_text_finds_it(memory: Store, text: str, data: st.DataObject) -> None:
    assert has_slice(memory, data, text, name="A", observations=[text])


@thorough
@given(name=storable.filter(str.strip), data=st.data())
def test_any_piece_of_a_name_finds_it(memory: Store, name: str, data: st.DataObject) -> None:
    assert has_slice(memory, data, unicodedata.normalize("NFC", name), name=name)


@thorough
@given(kind=storable.filter(str.strip), data=st.data())
def test_any_piece_of_a_type_finds_it(memory: Store, kind: str, data: st.DataObject) -> None:
    assert has_slice(memory, data, unicodedata.normalize("NFC", kind), name="A", entityType=kind)


@thorough
@given(text=storable, key=storable, data=st.data())
def test_any_piece_of_a_property_finds_it(memory: Store, text: str, key: str, data: st.DataObject) -> None:
    assert has_slice(memory, data, text, name="A", properties={key: [text]})
    assert has_slice(memory, data, key, name="A", observations=[{"text": "x", "properties": {key: text}}])

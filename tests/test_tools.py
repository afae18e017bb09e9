"""The tools together: against a model of the rules, with arguments as hosts send them, and with large requests."""

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import count
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from mmem.errors import Ambiguous, NotFound
from mmem.registry import call
from mmem.store import Store

Ask = Callable[..., Any]
Key = tuple[str, str]  # an entity's name and type, or an observation's type and source
Item = tuple[str, str, str]  # type, source, text; a plain text where the first two are empty

NAMES, TYPES = st.sampled_from("Aab"), st.sampled_from(["", "t"])
KINDS, SOURCES = st.sampled_from(["", "", "note-2", "v"]), st.sampled_from(["", "", "s"])
ITEMS = st.lists(st.tuples(KINDS, SOURCES, st.sampled_from("xyz")), max_size=3)
PROPERTIES = st.sampled_from([{}, {"p": 1}, {"p": "q"}])
REFERENCES = st.fixed_dictionaries({"name": NAMES}, optional={"entityType": TYPES})


def place(held: dict[Key, str], items: list[Item], override: bool) -> None:
    """Do what rule 4 says: no plain text relies on a place that the request itself gives to another text."""
    coming = {(kind, source): text for kind, source, text in items if kind + source} if override else {}
    had_plain = False
    for kind, source, text in items:
        key = kind, source
        if key == ("", ""):
            first, had_plain = not had_plain, True
            if any(text == one and coming.get(at, text) == text for at, one in held.items()):
                continue
            if key in held and not (override and first):
                notes = ((f"note-{n}", "") for n in count(2))
                key = next(note for note in notes if note not in held and coming.get(note, text) == text)
        elif key in held and not override:
            continue
        held[key] = text
    assert {text for kind, source, text in items if not kind + source} <= set(held.values())


def observation(item: Item) -> object:
    kind, source, text = item
    return {"observationType": kind, "source": source, "text": text} if kind or source else text


class Memory(RuleBasedStateMachine):
    """Random requests; after each one `read_graph` shows what the model holds, in the order of ids."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = Store(self.folder.name)
        self.nodes: dict[Key, tuple[dict[str, object], dict[Key, str]]] = {("first", ""): ({}, {})}
        self.edges: dict[tuple[Key, Key, str], dict[str, object]] = {}
        call(self.store, "create_entities", {"entities": [{"name": "first"}]})

    def found(self, references: list[dict[str, str]]) -> list[Key]:
        """Return the entities that references mean, or nothing where one means none or several."""
        keys = []
        for reference in references:
            name, kind = reference["name"], reference.get("entityType")
            meant = [(name, kind or "")] if (name, kind or "") in self.nodes or kind is not None else []
            meant = meant or [key for key in self.nodes if key[0] == name]
            if len(meant) != 1 or meant[0] not in self.nodes:
                return []
            keys += meant
        return keys

    def change(self, possible: object, tool: str, **arguments: object) -> None:
        """Send a request, which fails as a whole where a reference means none or several."""
        with nullcontext() if possible else pytest.raises((NotFound, Ambiguous)):
            call(self.store, tool, arguments)

    @rule(entities=st.lists(st.tuples(NAMES, TYPES, ITEMS, PROPERTIES), max_size=3), override=st.booleans())
    def create_entities(self, entities: list[Any], override: bool) -> None:
        planned: dict[Key, tuple[dict[str, object], dict[Key, str]]] = {}
        for name, kind, items, properties in entities:
            if override or (name, kind) not in {**self.nodes, **planned}:
                planned[name, kind] = properties, {}
                place(planned[name, kind][1], items, override)
        keys = "name", "entityType", "observations", "properties"
        given = [dict(zip(keys, (n, t, [*map(observation, i)], p), strict=True)) for n, t, i, p in entities]
        self.change(True, "create_entities", entities=given, override=override)
        self.nodes.update(planned)

    @rule(additions=st.lists(st.tuples(REFERENCES, ITEMS), min_size=1, max_size=3), override=st.booleans())
    def add_observations(self, additions: list[tuple[dict[str, str], list[Item]]], override: bool) -> None:
        found = self.found([reference for reference, _ in additions])
        wanted: dict[Key, list[Item]] = {}
        for key, (_, items) in zip(found, additions, strict=False):
            wanted.setdefault(key, []).extend(items)
        held = {key: dict(self.nodes[key][1]) for key in wanted}
        for key, items in wanted.items():
            place(held[key], items, override)
        ends = [(one["name"], one.get("entityType"), [*map(observation, items)]) for one, items in additions]
        given = [{"entityName": name, "entityType": kind, "contents": contents} for name, kind, contents in ends]
        self.change(found, "add_observations", observations=given, override=override)
        self.nodes.update({key: (self.nodes[key][0], texts) for key, texts in held.items()})

    @rule(
        relations=st.lists(
            st.tuples(REFERENCES, REFERENCES, st.sampled_from("rs"), PROPERTIES), min_size=1, max_size=3
        ),
        override=st.booleans(),
    )
    def create_relations(self, relations: list[Any], override: bool) -> None:
        begins, ends = (self.found([relation[side] for relation in relations]) for side in (0, 1))
        given = [{"from": b, "to": e, "relationType": kind, "properties": p} for b, e, kind, p in relations]
        self.change(begins and ends, "create_relations", relations=given, override=override)
        if begins and ends:
            for begin, end, (_, _, kind, properties) in zip(begins, ends, relations, strict=True):
                if override or (begin, end, kind) not in self.edges:
                    self.edges[begin, end, kind] = properties

    @rule(references=st.lists(REFERENCES, max_size=2))
    def delete_entities(self, references: list[dict[str, str]]) -> None:
        self.change(True, "delete_entities", entities=references)
        gone = {(reference["name"], reference.get("entityType", "")) for reference in references}
        self.nodes = {key: node for key, node in self.nodes.items() if key not in gone}
        self.edges = {key: edge for key, edge in self.edges.items() if not gone & set(key[:2])}

    @rule(reference=REFERENCES, kind=KINDS, source=SOURCES)
    def delete_observations(self, reference: dict[str, str], kind: str, source: str) -> None:
        name, entity_type = reference["name"], reference.get("entityType", "")
        deletion = {"entityName": name, "entityType": entity_type, "observationType": kind, "source": source}
        self.change(True, "delete_observations", deletions=[deletion])
        self.nodes.get((name, entity_type), ({}, {}))[1].pop((kind, source), None)

    @rule(begin=REFERENCES, end=REFERENCES, kind=st.sampled_from("rs"))
    def delete_relations(self, begin: dict[str, str], end: dict[str, str], kind: str) -> None:
        self.change(True, "delete_relations", relations=[{"from": begin, "to": end, "relationType": kind}])
        ends = [(one["name"], one.get("entityType", "")) for one in (begin, end)]
        self.edges.pop((ends[0], ends[1], kind), None)

    @invariant()
    def the_graph_is_the_model(self) -> None:
        graph = call(self.store, "read_graph").result
        assert [(e.name, e.entity_type, e.properties or {}) for e in graph.entities] == [
            (*key, properties) for key, (properties, _) in self.nodes.items()
        ]
        for entity, (_, held) in zip(graph.entities, self.nodes.values(), strict=True):
            assert [((o.observation_type, o.source), o.text) for o in entity.observations] == list(held.items())
        assert [
            ((r.from_name, r.from_type), (r.to_name, r.to_type), r.relation_type, r.properties or {})
            for r in graph.relations
        ] == [(*key, properties) for key, properties in self.edges.items()]

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


TestMemory = Memory.TestCase
TestMemory.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)


ENTITY = {"name": "A", "properties": {"k": 1}, "observations": [{"text": "x", "properties": {"k": 1}}, '{"text": 1}']}
AS_TEXT = [
    json.dumps([ENTITY]),
    [json.dumps(ENTITY)],
    json.dumps([json.dumps({**ENTITY, "properties": '{"k": 1}'})]),
    [{**ENTITY, "observations": json.dumps(ENTITY["observations"])}],
    [{**ENTITY, "observations": [{"text": "x", "properties": ' {"k": 1}\n'}, '{"text": 1}']}],
]


@pytest.mark.parametrize("entities", AS_TEXT)
def test_arrays_and_objects_may_come_as_json_text_and_texts_stay_texts(ask: Ask, entities: object) -> None:
    (entity,) = ask("create_entities", entities=entities, override=None, category=None).result
    assert (entity.name, entity.properties) == ("A", {"k": 1})
    assert [(o.text, o.properties) for o in entity.observations] == [("x", {"k": 1}), ('{"text": 1}', None)]


MANY = 40_000
NAMED = [f"n{i}" for i in range(MANY)]


class Undone(Exception):
    """Ends a transaction whose writes must go."""


STEPS = 40_000_000  # some hundred for each of forty thousand rows


@contextmanager
def hurry(store: Store, steps: int) -> Iterator[None]:
    """Undo what happens within, and fail where SQLite needs more steps: none may grow with a request's square."""
    used = 0

    def count() -> bool:
        nonlocal used
        used += 10_000
        return used > steps

    with suppress(Undone), store.writing(None) as transaction:
        transaction.conn.set_progress_handler(count, 10_000)
        try:
            yield
        finally:
            transaction.conn.set_progress_handler(None, 0)
        raise Undone
    assert used <= steps


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of 40,000 entities, each with a text and related to the next."""
    with Store(tmp_path_factory.mktemp("ring")) as store:
        call(store, "create_entities", {"entities": [{"name": name, "observations": ["x"]} for name in NAMED]})
        relations = [{"from": i, "to": i % MANY + 1, "relationType": "r"} for i in range(1, MANY + 1)]
        call(store, "create_relations", {"relations": relations})
        yield store


LARGE = [
    ("open_nodes", {"entities": NAMED}, 0),
    ("open_nodes", {"entities": NAMED, "related": True}, 0),
    ("open_nodes", {"entities": [f"m{i}" for i in range(MANY)]}, MANY),
    ("create_entities", {"entities": [{"name": name} for name in NAMED]}, MANY),
    ("create_entities", {"entities": [json.dumps({"name": f"m{i}"}) for i in range(MANY)]}, 0),
    ("create_entities", {"entities": [{"name": name} for name in NAMED], "override": True}, MANY),
    ("create_relations", {"relations": [{"from": name, "to": 1, "relationType": "s"} for name in NAMED]}, 0),
    ("add_observations", {"observations": [{"entityName": name, "contents": ["x", "y"]} for name in NAMED]}, MANY),
    ("delete_entities", {"entities": NAMED}, 0),
    ("delete_observations", {"deletions": [{"entityName": name} for name in NAMED]}, 0),
    ("delete_relations", {"relations": [{"fromId": i, "to": f"n{i}", "relationType": "r"} for i in range(1, MANY)]}, 0),
]


@pytest.mark.parametrize(("tool", "arguments", "notices"), LARGE)
def test_a_request_may_name_forty_thousand(ring: Store, tool: str, arguments: dict[str, Any], notices: int) -> None:
    with hurry(ring, steps=STEPS):
        assert len(call(ring, tool, arguments).notices) == notices


@pytest.mark.parametrize(("key", "override"), [("", False), ("", True), ("source", False), ("source", True)])
def test_one_entity_may_get_very_many_texts_again_and_again(ring: Store, key: str, override: bool) -> None:
    contents = [{"text": f"text {i}", **({key: str(i)} if key else {})} for i in range(20_000)]
    request = {"observations": [{"entityId": 1, "contents": contents}], "override": override}
    with hurry(ring, steps=STEPS):
        for added in (20_000, 20_000 if override and key else 0):
            (answer,) = call(ring, "add_observations", request).result
            assert len(answer.added_observations) == added


def test_very_many_keys_may_be_missing_on_one_entity(ring: Store) -> None:
    contents = [{"text": "x", "source": str(i)} for i in range(5_000)]
    deletions = [{"entityId": 1, "observationType": "v", "source": str(i)} for i in range(5_000)]
    with hurry(ring, steps=STEPS):
        call(ring, "add_observations", {"observations": [{"entityId": 1, "contents": contents}]})
        assert len(call(ring, "delete_observations", {"deletions": deletions}).notices) == 5_000

"""Sets of facts and questions for measuring recall: ours, LoCoMo's, and either one among many made-up texts."""

import json
import re
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple

from graph import Words, entities

from mmem import yamltext
from mmem.registry import call
from mmem.store import Store
from mmem.tokens import pieces, says_little, spaced, tokens

FIXTURE = Path(__file__).parents[2] / "fixtures" / "recall.yaml"

_EVIDENCE = re.compile(r"D\d+:\d+")
_ASKED = {1, 2, 3, 4}  # LoCoMo's categories of questions that have an answer
_BATCH = 5_000  # entities written at a time


class Fact(NamedTuple):
    """An observation: its entity's name and type, its text, and the ids of what it answers."""

    name: str
    kind: str
    text: str
    ids: frozenset[str]


class Question(NamedTuple):
    """A question, the ids that answer it, and whether it was left alone while the search was tuned."""

    text: str
    gold: frozenset[str]
    held_out: bool


class World(NamedTuple):
    """The facts of one category, and questions about them."""

    facts: list[Fact]
    questions: list[Question]


def fixture(path: Path = FIXTURE) -> World:
    """Return our own set; an observation's id is its entity's name and its type."""
    given: Any = yamltext.load(path.read_bytes(), path.name)
    facts = [
        Fact(
            entity["name"], entity["entityType"], one["text"], frozenset({_id(entity["name"], one["observationType"])})
        )
        for entity in given["entities"]
        for one in entity["observations"]
    ]
    questions = []
    for number, question in enumerate(given["questions"]):
        gold = frozenset(_id(name, kind) for name, kinds in question["answer"].items() for kind in kinds)
        questions.append(Question(question["ask"], gold, number % 3 == 2))
    return World(facts, questions)


def _id(name: str, kind: str) -> str:
    return f"{name}: {kind}"


def locomo(path: Path, by: str) -> list[World]:
    """Return LoCoMo's conversations, with an entity for each speaker, or for each speaker and session.

    The evidence of a question are ids of dialogues; an observation stands for those that it was drawn from.
    """
    return [_conversation(one, by) for one in json.loads(path.read_text())]


def _conversation(given: dict[str, Any], by: str) -> World:
    facts = []
    for key, speakers in sorted(given["observation"].items(), key=lambda item: _number(item[0])):
        for speaker, observations in speakers.items():
            name = speaker if by == "speaker" else f"{speaker} session {_number(key)}"
            for text, evidence in observations:
                ids = _EVIDENCE.findall(" ".join(evidence if isinstance(evidence, list) else [evidence]))
                facts.append(Fact(name, "person" if by == "speaker" else "conversation", text, frozenset(ids)))
    covered = frozenset(chain.from_iterable(fact.ids for fact in facts))
    questions = []
    for number, item in enumerate(given["qa"]):
        gold = covered.intersection(_EVIDENCE.findall(" ".join(item.get("evidence") or [])))
        if gold and item["category"] in _ASKED:
            questions.append(Question(item["question"], gold, number % 3 == 2))
    return World(facts, questions)


def _number(key: str) -> int:
    return int(re.findall(r"\d+", key)[0])


class Loaded(NamedTuple):
    """A world in a category of a store, and which of its facts each observation is."""

    world: World
    store: Store
    category: str
    by_id: dict[int, Fact]


def load(store: Store, category: str, world: World, padding: int = 0) -> Loaded:
    """Store a world as a category, spread over so many made-up entities of three observations each."""
    nodes: dict[str, dict[str, Any]] = {}
    for number, fact in enumerate(world.facts):
        node = nodes.setdefault(fact.name, {"name": fact.name, "entityType": fact.kind, "observations": []})
        node["observations"].append({"text": fact.text, "observationType": "fact", "source": f"fact {number}"})
    mixed = _mixed(list(nodes.values()), entities(_Borrowed(world), padding) if padding else [])
    by_id: dict[int, Fact] = {}
    for start in range(0, len(mixed), _BATCH):
        batch = {"category": category, "entities": mixed[start : start + _BATCH]}
        for entity in call(store, "create_entities", batch).result:
            for one in entity.observations:
                if one.source.startswith("fact "):
                    by_id[int(one.id)] = world.facts[int(one.source.removeprefix("fact "))]
    return Loaded(world, store, category, by_id)


def _mixed(nodes: list[dict[str, Any]], padding: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the padding with the nodes at even distances in it."""
    step = len(padding) // len(nodes)
    mixed = []
    for number, node in enumerate(nodes):
        mixed += [*padding[number * step : (number + 1) * step], node]
    return [*mixed, *padding[len(nodes) * step :]]


class _Borrowed(Words):
    """Words of which some are those that a world is asked for, a few of them in a great many texts."""

    _SHARE = 0.2

    def __init__(self, world: World) -> None:
        super().__init__()
        asked = {
            word for question in world.questions for word in tokens(spaced(question.text)) if not says_little(word)
        }
        inside = {piece for fact in world.facts for piece in pieces(fact.text)}
        self._own = [*sorted(word for word in asked if not says_little(word)), *sorted(inside)]
        self.random.shuffle(self._own)
        self._own_weights = list(accumulate(1 / rank**0.9 for rank in range(1, len(self._own) + 1)))

    def some(self, count: int) -> list[str]:
        """Return words as they occur in texts."""
        own = self.random.choices(self._own, cum_weights=self._own_weights, k=count)
        others = super().some(count)
        return [one if self.random.random() < self._SHARE else other for one, other in zip(own, others, strict=True)]

"""How much of what is asked for a search finds: recall of observations, beside both predecessors' rules.

    python tests/benchmarks/recall.py                     # the set in fixtures/recall.yaml
    python tests/benchmarks/recall.py locomo10.json       # LoCoMo's conversations, which aren't ours to ship
    python tests/benchmarks/recall.py --padding 100000    # among so many made-up entities, with and without bounds

A question's gold is what answers it. R@k is the share of it that the first k observations cover, MRR the mean of one
over the rank of the first observation that covers any. Every third question was held out while the search was tuned.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from predecessors import multi_memory, substring
from worlds import Fact, Loaded, Question, fixture, load, locomo

from mmem import semantic
from mmem.index import Index
from mmem.pieces import Pieces
from mmem.query import Query
from mmem.ranking import Ranking
from mmem.registry import call
from mmem.search import Searcher
from mmem.store import Store
from mmem.tokens import folded, is_unspaced, says_little, tokens

KS = (5, 10, 20, 50)
DEEPEST = KS[-1]

Method = Callable[[Loaded, str], list[Fact]]
Wording = Callable[[Loaded, str], str]
Choice = Callable[[Question], bool]


def lexical(loaded: Loaded, query: str) -> list[Fact]:
    """Return the observations that mmem ranks best by their words."""
    return _best(loaded, query, "off")


def with_meaning(loaded: Loaded, query: str) -> list[Fact]:
    """Return the observations that mmem ranks best with the extra `semantic`."""
    return _best(loaded, query, "on")


def _best(loaded: Loaded, query: str, switch: str) -> list[Fact]:
    os.environ[semantic.SWITCH] = switch
    with loaded.store.reading(loaded.category) as transaction:
        hits = Searcher(transaction).rows(Query(query), 4 * DEEPEST)
    return _facts(loaded, (hit.observation_id for hit in hits))


def answers(loaded: Loaded, query: str) -> list[Fact]:
    """Return the observations of `search_nodes`' answer, those of the best entity first: all that it has, up to 20."""
    os.environ[semantic.SWITCH] = "off"
    asked = {"category": loaded.category, "query": query, "relations": False}
    found = call(loaded.store, "search_nodes", asked).result.entities
    return _facts(loaded, (int(one.id) for entity in found for one in entity.observations))


def _facts(loaded: Loaded, ids: Iterable[int | None]) -> list[Fact]:
    made_up = Fact("", "", "", frozenset())
    return [loaded.by_id.get(id, made_up) for id in ids if id is not None][:DEEPEST]


# How a question is put: as it was asked, or in the few words that a person would type.


def raw(loaded: Loaded, question: str) -> str:
    """Return the question."""
    return question


def telling(loaded: Loaded, question: str) -> str:
    """Return the question without its stop words."""
    return " ".join(_telling(question)) or question


def rarest(count: int) -> Wording:
    """Return what makes a question its rarest words, of those that its world has at all."""

    def wording(loaded: Loaded, question: str) -> str:
        known = _frequencies(loaded)
        words = sorted(_telling(question), key=lambda word: known.get(folded(word)) or len(loaded.world.facts))
        return " ".join(words[:count]) or question

    return wording


def _telling(question: str) -> list[str]:
    return [word for word in dict.fromkeys(tokens(question)) if not says_little(word)]


def _frequencies(loaded: Loaded, known: dict[int, Counter[str]] = {}) -> Counter[str]:  # noqa: B006
    facts = loaded.world.facts
    if id(facts) not in known:
        known[id(facts)] = Counter(word for fact in facts for word in {folded(one) for one in tokens(fact.text)})
    return known[id(facts)]


WORDINGS: dict[str, Wording] = {
    "as asked": raw,
    "stop words left out": telling,
    "the 3 rarest words": rarest(3),
    "the 2 rarest words": rarest(2),
    "the rarest word": rarest(1),
}
METHODS: dict[str, Method] = {
    "mmem": lexical,
    "mmem, whole entities": answers,
    "server-memory's rule": substring,
    "multi-memory-mcp's rule": multi_memory,
}
KINDS: dict[str, Choice] = {
    "the two thirds that it was tuned on": lambda question: not question.held_out,
    "the third that was held out": lambda question: question.held_out,
    "questions in words with spaces": lambda question: not is_unspaced(question.text),
    "questions in Chinese or Japanese": lambda question: is_unspaced(question.text),
}


class Score(NamedTuple):
    """What a method reached: recall at each of `KS`, MRR, milliseconds a question, the share of empty answers."""

    recall: dict[int, float]
    mrr: float
    ms: float
    empty: float

    def __str__(self) -> str:
        """Return the figures in columns."""
        shares = "".join(f"{100 * self.recall[k]:7.1f}" for k in KS)
        return f"{shares}{self.mrr:7.3f}{self.ms:9.2f}{100 * self.empty:6.0f} %"


HEAD = f"{'':64}" + "".join(f"{f'R@{k}':>7}" for k in KS) + f"{'MRR':>7}{'ms':>9}{'empty':>8}"


class _Answer(NamedTuple):
    recall: dict[int, float]
    reciprocal: float
    ms: float
    empty: bool


def everything(question: Question) -> bool:
    """Choose each question."""
    return True


def measure(worlds: Iterable[Loaded], method: Method, wording: Wording = raw, chosen: Choice = everything) -> Score:
    """Ask the chosen questions of all worlds."""
    answered = [
        _ask(loaded, method, wording, question)
        for loaded in worlds
        for question in loaded.world.questions
        if chosen(question)
    ]
    return Score(
        {k: statistics.mean(one.recall[k] for one in answered) for k in KS},
        statistics.mean(one.reciprocal for one in answered),
        statistics.median(one.ms for one in answered),
        statistics.mean(one.empty for one in answered),
    )


def _ask(loaded: Loaded, method: Method, wording: Wording, question: Question) -> _Answer:
    query = wording(loaded, question.text)
    began = time.perf_counter()
    found = method(loaded, query)[:DEEPEST]
    ms = 1_000 * (time.perf_counter() - began)
    covered = [fact.ids & question.gold for fact in found]
    first = next((rank for rank, ids in enumerate(covered, 1) if ids), None)
    recall = {k: len(frozenset().union(*covered[:k])) / len(question.gold) for k in KS}
    return _Answer(recall, 1 / first if first else 0, ms, not found)


def table(worlds: list[Loaded]) -> Iterator[tuple[str, Score]]:
    """Yield the figures of every method for every wording, and those of mmem for every kind of question."""
    methods = {"mmem[semantic]": with_meaning, **METHODS} if semantic.is_on() else METHODS
    for name, method in methods.items():
        for said, wording in WORDINGS.items():
            yield f"{name}, {said}", measure(worlds, method, wording)
        if method in (lexical, with_meaning):
            yield from ((f"{name}, {kind}", score) for kind, score in _by_kind(worlds, method))


def bounds(worlds: list[Loaded]) -> Iterator[tuple[str, Score]]:
    """Yield the figures with the bounds of the ranking, and without."""
    yield from ((f"bounded, {kind}", score) for kind, score in _by_kind(worlds, lexical))
    Index.most = Ranking.least = Pieces.most = 1 << 40
    yield from ((f"unbounded, {kind}", score) for kind, score in _by_kind(worlds, lexical))


def _by_kind(worlds: list[Loaded], method: Method) -> Iterator[tuple[str, Score]]:
    for kind, chosen in KINDS.items():
        if any(chosen(question) for loaded in worlds for question in loaded.world.questions):
            yield kind, measure(worlds, method, raw, chosen)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=Path, nargs="?", help="LoCoMo's locomo10.json, instead of our own set")
    parser.add_argument("--padding", type=int, default=0, metavar="N", help="made-up entities around each world")
    given = parser.parse_args()
    sets = (
        {f"LoCoMo by {by}": locomo(given.locomo, by) for by in ("session", "speaker")}
        if given.locomo
        else {"our own set": [fixture()]}
    )
    for title, worlds in sets.items():
        os.environ[semantic.SWITCH] = "off" if given.padding else "on"
        with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
            loaded = [load(store, f"world-{number}", world, given.padding) for number, world in enumerate(worlds)]
            asked = sum(len(world.questions) for world in worlds)
            print(f"{title}, {sum(len(world.facts) for world in worlds)} observations, {asked} questions\n{HEAD}")
            for name, score in (bounds if given.padding else table)(loaded):
                print(f"{name:64}{score}", flush=True)


if __name__ == "__main__":
    main()

"""How much of what people ask is found, on the set in `fixtures/recall.yaml`: see `benchmarks/recall.py`."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from recall import HEAD, METHODS, WORDINGS, lexical, measure
from worlds import Loaded, fixture, load

from mmem import semantic
from mmem.store import Store
from mmem.tokens import is_unspaced

WORLD = fixture()


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    """The set in a store."""
    with pytest.MonkeyPatch.context() as patch, Store(tmp_path_factory.mktemp("recall")) as store:
        patch.setenv(semantic.SWITCH, "off")
        yield load(store, "world", WORLD)


def test_the_set_is_large_enough_to_tell_something() -> None:
    asked = [question for question in WORLD.questions if is_unspaced(question.text)]
    assert (len(WORLD.facts) >= 150, len(WORLD.questions) >= 60, len(asked) >= 10) == (True, True, True)
    assert len({fact.text for fact in WORLD.facts}) == len(WORLD.facts)


def test_every_question_has_an_answer_in_the_set() -> None:
    ids = frozenset().union(*(fact.ids for fact in WORLD.facts))
    assert [question.text for question in WORLD.questions if not question.gold or question.gold - ids] == []


def test_the_set_can_be_seeded(mmem: Callable[..., Any]) -> None:
    seeded = mmem("seed", "recall")
    assert (seeded.exit_status, seeded.stderr) == (0, "")
    assert "母亲" in mmem("search-nodes", "文的母亲").stdout


def test_six_of_seven_answers_are_among_the_first_ten(loaded: Loaded) -> None:
    assert measure([loaded], lexical).recall[10] >= 0.85


def test_what_was_tuned_for_is_not_found_much_better_than_what_was_held_out(loaded: Loaded) -> None:
    def figure(*, held_out: bool) -> float:
        return measure([loaded], lexical, chosen=lambda question: question.held_out is held_out).recall[10]

    assert figure(held_out=False) - figure(held_out=True) < 0.1


@pytest.mark.parametrize("wording", WORDINGS)
def test_both_predecessors_find_less(loaded: Loaded, wording: str, capsys: pytest.CaptureFixture[str]) -> None:
    scores = {name: measure([loaded], method, WORDINGS[wording]) for name, method in METHODS.items()}
    with capsys.disabled():
        print("", HEAD, *(f"{f'{name}, {wording}':64}{score}" for name, score in scores.items()), sep="\n")
    ours, *predecessors = (scores[name] for name in ("mmem", "server-memory's rule", "multi-memory-mcp's rule"))
    assert all(ours.recall[10] > other.recall[10] and ours.mrr > other.mrr for other in predecessors)

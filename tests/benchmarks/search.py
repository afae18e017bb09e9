"""How long searches of every kind take in a large graph, and what the index costs when entities are created.

    python tests/benchmarks/search.py [ENTITIES]

What searches find is `recall.py`'s to say.
"""

import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from unittest import mock

from graph import Words, entities

from mmem import category_file, schema
from mmem.layout import OWN
from mmem.query import Query
from mmem.registry import call
from mmem.search import Searcher
from mmem.store import Store

BATCH = 5_000  # entities
ROUNDS = 5
TIMES = 30
DROPPED = (
    "fts_entity_insert fts_entity_update fts_entity_rename fts_entity_delete "
    "fts_observation_insert fts_observation_update fts_observation_delete"
).split()


def ms(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return how long some work took, in milliseconds."""
    began = clock()
    work()
    return 1_000 * (clock() - began)


def kinds(words: Words) -> Iterator[tuple[str, Callable[[int], str], str]]:
    """Yield the kinds of queries, with the goal at 100,000 entities."""
    chance, common, rare = words.random, words.all[:20], words.all[5_000:]
    yield "a question of ten words, stop words among them", lambda n: f"what did the {_some(words, 6)} have", "<= 40 ms"
    yield "ten words as texts have them", lambda n: _some(words, 10), "<= 40 ms"
    yield "a very common word", lambda n: common[n % 20], "<= 40 ms"
    yield "two rare words", lambda n: " ".join(chance.sample(rare, 2)), "<= 10 ms"
    yield "two common words", lambda n: " ".join(chance.sample(common, 2)), ""
    yield "three common words", lambda n: " ".join(chance.sample(common, 3)), ""
    yield "a common word and a rare one", lambda n: f"{common[n % 20]} {chance.choice(rare)}", ""
    yield "the first two letters of a common word", lambda n: common[n % 20][:2], ""
    yield "the end of a word", lambda n: words.all[n % 50][1:], "<= 250 ms"
    yield "what is nowhere", lambda n: f"qqxx{n}", "<= 250 ms"


def _some(words: Words, count: int) -> str:
    return " ".join(words.some(count))


def searches(store: Store, words: Words) -> None:
    """Print what each kind of query takes: the ranking of rows alone, and the whole answer."""
    print(f"{'':<50}{'rows':>10}{'answer':>10}{'slowest':>10}   ms")
    for label, query, goal in kinds(words):
        asked = [query(n) for n in range(TIMES)]
        ranked = statistics.median(ms(lambda q=one: _rows(store, q)) for one in asked)
        whole = [ms(lambda q=one: call(store, "search_nodes", {"query": q})) for one in asked]
        print(f"{label:<50}{ranked:>10.2f}{statistics.median(whole):>10.2f}{max(whole):>10.1f}   {goal}", flush=True)


def _rows(store: Store, query: str) -> None:
    with store.reading(None) as transaction:
        Searcher(transaction).rows(Query(query), 60)


@contextmanager
def unindexed(path: Path) -> Iterator[None]:
    """Drop the index's triggers from a file, and write to it within as if it had them."""
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        for name in DROPPED:
            conn.execute(f"DROP TRIGGER {name}")
    with (
        mock.patch.object(category_file, "inspect", return_value=OWN),
        mock.patch.object(schema, "INDEX_NEW_ROWS", "SELECT ?1, ?2"),
        mock.patch.object(schema, "OPTIMIZE", "SELECT 1"),
    ):
        yield


def created(folder: Path, nodes: list[dict[str, object]], at_once: int, *, index: bool) -> float:
    """Return the CPU time to create entities, answers included."""
    with Store(folder) as store:
        call(store, "create_entities", {"entities": [{"name": "the first"}]})

    def create() -> float:
        with Store(folder) as store:
            call(store, "read_graph")
            parts = [nodes[start : start + at_once] for start in range(0, len(nodes), at_once)]
            return ms(lambda: [call(store, "create_entities", {"entities": part}) for part in parts], time.process_time)

    if index:
        return create()
    with unindexed(folder / "default.db"):
        return create()


def writes(folder: Path, nodes: list[dict[str, object]]) -> None:
    """Print what creating costs with the index and without."""
    print(f"\n{'CPU time of create_entities':<50}{'index':>10}{'none':>10}{'ratio':>10}")
    for label, some, at_once in (
        ("10,000 in one request", nodes[:10_000], 10_000),
        ("10,000 by 1,000", nodes[:10_000], 1_000),
        ("2,000 by 20", nodes[:2_000], 20),
        ("500 one by one", nodes[:500], 1),
    ):
        taken: dict[bool, list[float]] = {True: [], False: []}
        for turn in range(2 * ROUNDS):
            index = turn % 2 == 0
            taken[index].append(created(folder / f"{label}-{turn}", some, at_once, index=index))
        ours, bare = (statistics.median(taken[index]) for index in (True, False))
        print(f"{label:<50}{ours:>10.0f}{bare:>10.0f}{ours / bare:>10.2f}   <= 2.2", flush=True)


def main() -> None:
    """Print both tables."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    words = Words()
    print(f"{count:,} entities, {count * 3:,} observations; SQLite {sqlite3.sqlite_version}")
    with tempfile.TemporaryDirectory() as name, Store(Path(name) / "large") as store:
        first = entities(words, min(count, BATCH))
        for start in range(0, count, BATCH):
            call(store, "create_entities", {"entities": first if start == 0 else _more(words, start, count)})
        words.random.seed(3)
        searches(store, words)
        writes(Path(name), entities(words, 10_000))


def _more(words: Words, start: int, count: int) -> list[dict[str, object]]:
    made = entities(words, min(BATCH, count - start))
    return [{**one, "name": f"{one['name']}-{start}"} for one in made]


if __name__ == "__main__":
    main()

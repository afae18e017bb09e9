"""What the extra `mmem[semantic]` costs: time, bytes and memory, with it and without, on the same made-up graph.

    python tests/benchmarks/semantic.py [ENTITIES]

How much more it finds is `recall.py`'s to say.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from graph import Words, entities

from mmem import neighbours, semantic
from mmem.registry import call
from mmem.store import Store

BATCH = 5_000  # entities
TIMES = 20


def ms(work: Callable[[], object]) -> float:
    """Return how long some work took, in milliseconds."""
    began = time.perf_counter()
    work()
    return 1_000 * (time.perf_counter() - began)


def say(what: str, *figures: float, unit: str = "ms") -> None:
    """Print a line of the table: without the extra, with it."""
    print(f"{what:<52}" + "".join(f"{figure:>14,.2f}" for figure in figures) + f" {unit}", flush=True)


def fill(store: Store, nodes: list[dict[str, object]]) -> None:
    """Store a graph."""
    for start in range(0, len(nodes), BATCH):
        call(store, "create_entities", {"entities": nodes[start : start + BATCH]})


def switched(switch: str) -> None:
    """Use the extra, or do without."""
    os.environ[semantic.SWITCH] = switch


def searches(store: Store, queries: list[str]) -> float:
    """Return the median time of a search."""
    return statistics.median(ms(lambda q=query: call(store, "search_nodes", {"query": q})) for query in queries)


def single_writes(store: Store, words: Words) -> float:
    """Return the median time to add one observation."""

    def add(number: int) -> None:
        given = {"entityId": number + 1, "contents": [" ".join(words.some(12))]}
        call(store, "add_observations", {"observations": [given]})

    return statistics.median(ms(lambda n=number: add(n)) for number in range(TIMES * 5))


def process(base: str, *words: str) -> float:
    """Return the median time of a run of the command line."""
    command = [sys.executable, "-m", "mmem", "--base-dir", base, *words]
    return statistics.median(ms(lambda: subprocess.run(command, capture_output=True, check=True)) for _ in range(7))


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    if not semantic.is_on():
        sys.exit("the extra mmem[semantic] isn't installed")
    say("loading the model, once in a process", ms(semantic.model))
    words = Words()
    nodes = entities(words, count)
    queries = {
        "a question of ten words": [" ".join(words.some(10)) for _ in range(TIMES)],
        "two rare words": [" ".join(words.random.sample(words.all[5_000:], 2)) for _ in range(TIMES)],
        "one common word": words.all[:TIMES],
    }
    with tempfile.TemporaryDirectory() as folder:
        places = {"off": f"{folder}/without", "on": f"{folder}/with"}
        rows: dict[str, list[float]] = {}
        for switch, base in places.items():
            switched(switch)
            with Store(base) as store:
                rows.setdefault("storing, an observation", []).append(ms(lambda s=store: fill(s, nodes)) / count / 3)
                rows.setdefault("storing one observation alone", []).append(single_writes(store, words))
                first = ms(lambda s=store: call(s, "search_nodes", {"query": queries["two rare words"][0]}))
                rows.setdefault("the first search, which reads all vectors", []).append(first)
                for what, asked in queries.items():
                    rows.setdefault(what, []).append(searches(store, asked))
        print(f"{count:,} entities, {3 * count:,} observations{'':>31}without          with")
        for what, figures in rows.items():
            say(what, *figures)
        sizes = [Path(base, "default.db").stat().st_size for base in places.values()]
        say("bytes of the file, an observation", *(size / count / 3 for size in sizes), unit="B")
        say("vectors in memory", 0, sum(one.size for one in neighbours._kept.values()) / 1e6, unit="MB")
        say("the most memory this took", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024, unit="MB")
        runs = []
        for switch, base in places.items():
            switched(switch)
            runs.append(process(base, "search-nodes", queries["two rare words"][0]))
        say("two rare words, in a process of its own", *runs)


if __name__ == "__main__":
    main()

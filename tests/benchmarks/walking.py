"""How long it takes to walk through a large graph: `neighbors` and `path`, in a process that has it open.

    python tests/benchmarks/walking.py [ENTITIES]

Each entity is the start of three relations to random ones, so that any two are about eight relations apart.
"""

import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from graph import Words, entities, relations

from mmem.errors import NotFound
from mmem.registry import call
from mmem.store import Store

BATCH = 1_000
PAIRS = 200


def build(base: Path, count: int) -> None:
    """Store the graph."""
    words = Words()
    nodes = entities(words, count)
    edges = relations(words, nodes)
    with Store(base) as store:
        for name, key, items in (("create_entities", "entities", nodes), ("create_relations", "relations", edges)):
            for start in range(0, len(items), BATCH):
                call(store, name, {key: items[start : start + BATCH]})


def milliseconds(runs: Sequence[Callable[[], object]]) -> list[float]:
    """Return how long each run took; a path that isn't there counts as well."""
    took = []
    for run in runs:
        began = time.perf_counter()
        with suppress(NotFound):
            run()
        took.append((time.perf_counter() - began) * 1000)
    return sorted(took)


def say(what: str, took: Sequence[float]) -> None:
    """Print a line: the median, the 95th of a hundred, the slowest."""
    print(f"{what:36} {statistics.median(took):8.1f} {took[int(len(took) * 0.95)]:8.1f} {took[-1]:8.1f}")


def main() -> None:
    """Print a line for each kind of walk."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    chosen = random.Random(7)
    pairs = [(chosen.randint(1, count), chosen.randint(1, count)) for _ in range(PAIRS)]
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        build(base, count)
        print(f"{count:,} entities, {3 * count:,} relations{'':7} median     95 %  slowest ms")
        with Store(base) as store:

            def ask(tool: str, **arguments: object) -> Callable[[], object]:
                return lambda: call(store, tool, arguments)

            for depth in (1, 2, 3):
                say(
                    f"neighbors, depth {depth}",
                    milliseconds([ask("neighbors", entity=a, depth=depth) for a, _ in pairs]),
                )
            say(
                "neighbors, depth 2, out, one type",
                milliseconds(
                    [ask("neighbors", entity=a, depth=2, direction="out", relationTypes=["uses"]) for a, _ in pairs]
                ),
            )
            say("path", milliseconds([ask("path", **{"from": a, "to": b}) for a, b in pairs]))
            directed = [ask("path", **{"from": a, "to": b}, directed=True, maxLength=20) for a, b in pairs]
            say("path, directed, up to 20", milliseconds(directed))
            one_type = [ask("path", **{"from": a, "to": b}, relationTypes=["uses"]) for a, b in pairs]
            say("path, one type", milliseconds(one_type))
        a, b = pairs[0]
        for words in (["list-categories"], ["neighbors", f"id:{a}", "--depth", "2"], ["path", f"id:{a}", f"id:{b}"]):
            command = [sys.executable, "-m", "mmem", "--base-dir", str(base), *words]
            runs = [lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=False)] * 10  # noqa: B023
            say(f"a process of its own: {words[0]}", milliseconds(runs))


if __name__ == "__main__":
    main()

"""How fast one process stores, opens, searches and reads a large graph, beside plain SQLite in the same run.

    python tests/benchmarks/store.py [ENTITIES]

The ratio's other side is the least work there could be: the same rows through Python's sqlite3 into the bare
tables without an index, or out of them as tuples.
"""

import gc
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from graph import Words, entities, relations

from mmem import schema
from mmem.formats import formatted
from mmem.registry import call, tool
from mmem.requests import parse
from mmem.store import Store

BATCH = 1_000


def seconds(work: Callable[[], object]) -> float:
    """Return how long some work took."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def say(what: str, figure: str, ratio: float | None = None, goal: str = "") -> None:
    """Print a line of the table."""
    print(f"{what:<58}{figure:>20}{'' if ratio is None else f'{ratio:.1f}x':>9}  {goal}", flush=True)


def median_ms(work: Callable[[int], object], times: int) -> float:
    """Return the median of some runs in milliseconds, after one to warm up."""
    work(0)
    return statistics.median(seconds(lambda n=n: work(n)) for n in range(times)) * 1000


def bare_tables(path: Path, nodes: list[dict[str, object]]) -> tuple[float, float]:
    """Return the seconds to insert the same rows into tables without any index of ours, and to read them."""
    conn = sqlite3.connect(path, isolation_level=None)
    conn.execute("PRAGMA journal_mode = WAL")
    conn.execute("PRAGMA synchronous = NORMAL")
    for statement in schema.TABLES.values():
        conn.execute(statement)
    for name, columns in schema.INDEXES.items():
        conn.execute(f"CREATE INDEX {name} ON {columns}")

    def insert() -> None:
        for start in range(0, len(nodes), BATCH):
            part = list(enumerate(nodes[start : start + BATCH], start + 1))
            rows = [(id, node["name"], node["entityType"]) for id, node in part]
            texts = [
                (id, o["observationType"], o["text"], o["source"]) for id, node in part for o in node["observations"]
            ]
            conn.execute("BEGIN IMMEDIATE")
            conn.executemany("INSERT INTO entities(id, name, entity_type) VALUES (?, ?, ?)", rows)
            conn.executemany(
                "INSERT INTO observations(entity_id, observation_type, content, source) VALUES (?, ?, ?, ?)", texts
            )
            conn.execute("COMMIT")

    inserted = seconds(insert)
    read = seconds(
        lambda: [conn.execute(f"SELECT * FROM {table}").fetchall() for table in ("entities", "observations")]
    )
    conn.close()
    return inserted, read


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    words = Words()
    nodes = entities(words, count)
    edges = relations(words, nodes)
    gc.freeze()  # the graph to store must not weigh on what is measured
    print(f"{count:,} entities, {count * 3:,} observations, {len(edges):,} relations; SQLite {sqlite3.sqlite_version}")
    with tempfile.TemporaryDirectory() as name, Store(Path(name) / "base") as store:
        insert, read = bare_tables(Path(name) / "bare.db", nodes)
        measure_writes(store, nodes, edges, insert)
        measure_look_ups(store, words, nodes)
        rows = count * 4 + len(edges)
        measure_reading(store, Path(name) / "graph.json", rows, read * rows / (count * 4))


def measure_writes(store: Store, nodes: list[dict[str, object]], edges: list[dict[str, object]], bare: float) -> None:
    """Store the graph in requests of a thousand."""

    def send(name: str, key: str, items: list[dict[str, object]]) -> None:
        for start in range(0, len(items), BATCH):
            call(store, name, {key: items[start : start + BATCH]})

    rows = len(nodes) * 4
    took = seconds(lambda: send("create_entities", "entities", nodes))
    say("create_entities, by 1,000", f"{rows / took:,.0f} rows/s", took / bare, ">= 30,000 rows/s")
    took = seconds(lambda: send("create_relations", "relations", edges))
    say("create_relations, by 1,000", f"{len(edges) / took:,.0f} /s")
    single = median_ms(lambda n: call(store, "create_entities", {"entities": [{"name": f"one {n}"}]}), 200)
    say("create_entities, one", f"{single:.3f} ms")
    single = median_ms(
        lambda n: call(store, "add_observations", {"observations": [{"entityName": "one 0", "contents": [f"t {n}"]}]}),
        200,
    )
    say("add_observations, one", f"{single:.3f} ms")


def measure_look_ups(store: Store, words: Words, nodes: list[dict[str, object]]) -> None:
    """Open and search."""
    chosen = [nodes[(n * 2 + 1) * len(nodes) // 20] for n in range(10)]
    opened = tool("open_nodes")
    request = parse(
        opened.request, {"entities": [{"name": node["name"], "entityType": node["entityType"]} for node in chosen]}
    )
    say("open_nodes of 10", f"{median_ms(lambda n: opened.run(store, request), 300):.3f} ms", None, "< 1 ms")

    def searching(label: str, queries: list[str], goal: str = "") -> None:
        took = median_ms(lambda n: call(store, "search_nodes", {"query": queries[n]}), len(queries))
        slowest = max(seconds(lambda q=q: call(store, "search_nodes", {"query": q})) for q in queries) * 1000
        say(f"search_nodes, {label}", f"{took:.2f} (max {slowest:.1f}) ms", None, goal)

    rare = words.all[5_000:]
    searching("two rare words", [" ".join(words.random.sample(rare, 2)) for _ in range(40)], "< 10 ms")
    texts = [node["observations"][0]["text"].split() for node in words.random.sample(nodes, 40)]  # type: ignore[index]
    searching("two words of a text", [" ".join(sorted(text, key=words.all.index)[-2:]) for text in texts])
    searching("a very common word", words.all[:20], "< 60 ms")
    searching("three common words", [" ".join(words.all[n : n + 3]) for n in range(20)])
    searching("a name", [str(node["name"]) for node in words.random.sample(nodes, 40)])
    searching("nothing like it", [f"qqx{n}" for n in range(5)])


def measure_reading(store: Store, file: Path, rows: int, bare: float) -> None:
    """Read everything, as records and as JSON in a file."""
    reading = tool("read_graph")
    request = parse(reading.request, {})
    took = min(seconds(lambda: reading.run(store, request)) for _ in range(3))
    say("read_graph as records", f"{rows / took:,.0f} rows/s", took / bare, ">= 250,000 rows/s")
    took = min(
        seconds(lambda: file.write_bytes(formatted(reading.run(store, request).result, "json"))) for _ in range(3)
    )
    say("read_graph -f json into a file", f"{rows / took:,.0f} rows/s", took / bare, ">= 120,000 rows/s")


if __name__ == "__main__":
    main()

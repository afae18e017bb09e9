"""How fast, and in how much memory, a large graph is exported, beside a plain reading of the same rows.

    python tests/benchmarks/export.py [ENTITIES]

Each export is a process of its own that writes a file. A record is an entity or a relation; an entity has three
observations and is the start of three relations.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from graph import Words, entities, relations

from mmem.registry import call
from mmem.store import Store

BATCH = 1_000
FORMATS = ["jsonl", "memory-jsonl", "json", "csv", "yaml", "graphml", "dot", "mermaid", "markdown"]


def build(base: Path, count: int) -> None:
    """Store the graph."""
    words = Words()
    nodes = entities(words, count)
    edges = relations(words, nodes)
    with Store(base) as store:
        for name, key, items in (("create_entities", "entities", nodes), ("create_relations", "relations", edges)):
            for start in range(0, len(items), BATCH):
                call(store, name, {key: items[start : start + BATCH]})


def plain(path: Path) -> float:
    """Return the seconds in which Python's sqlite3 reads every row of the three tables."""
    conn = sqlite3.connect(path)
    began = time.perf_counter()
    for table in ("entities", "observations", "relations"):
        for _ in conn.execute(f"SELECT * FROM {table}"):
            pass
    took = time.perf_counter() - began
    conn.close()
    return took


def run(base: Path, *words: str) -> tuple[float, float]:
    """Run `mmem export`; return its seconds and its most memory in MB."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "mmem", "--base-dir", str(base), "export", *words]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return time.perf_counter() - began, usage.ru_maxrss / 1024


def size(path: Path) -> float:
    """Return the MB of a file, or of a folder's files."""
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files) / 1e6


def main() -> None:
    """Print the table."""
    if sys.argv[1:2] == ["build"]:
        build(Path(sys.argv[2]), int(sys.argv[3]))
        return
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name:
        base = Path(name) / "base"
        # In a process of its own: a child's most memory begins with what its parent has.
        subprocess.run([sys.executable, __file__, "build", str(base), str(count)], check=True)
        with sqlite3.connect(base / "default.db") as conn:
            edges = conn.execute("SELECT count(*) FROM relations").fetchone()[0]
        records, rows = count + edges, count * 4 + edges
        print(f"{count:,} entities, {count * 3:,} observations, {edges:,} relations: {records:,} records")
        took = plain(base / "default.db")
        print(f"{'every row through sqlite3':<28}{took:>7.2f} s{rows / took:>11,.0f} rows/s")
        for form in FORMATS:
            target = Path(name) / form
            took, memory = run(base, "--to", form, "-o", str(target))
            speed = f"{records / took:>11,.0f} records/s{rows / took:>11,.0f} rows/s"
            print(f"{form:<28}{took:>7.2f} s{speed}{memory:>7.0f} MB{size(target):>8.1f} MB written", flush=True)
        around = ["--around", "id:1", "--depth", "3"]
        took, memory = run(base, *around)
        print(f"{'jsonl ' + ' '.join(around):<28}{took:>7.2f} s{memory:>47.0f} MB", flush=True)
        took, memory = run(base, "--type", "person", "--type", "project")
        print(f"{'jsonl, two of eight types':<28}{took:>7.2f} s{memory:>47.0f} MB", flush=True)


if __name__ == "__main__":
    main()

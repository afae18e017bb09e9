"""How long a backup and a restore of a large category take, beside SQLite's own, and with somebody writing meanwhile.

    python tests/benchmarks/backup.py [ENTITIES]

SQLite's own backup copies the pages and checks nothing. `VACUUM INTO` is what mmem could do instead.
"""

import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from graph import Words, entities, relations

from mmem.backups import backup
from mmem.registry import call
from mmem.restores import plan, restore
from mmem.store import Store

BATCH = 1_000

WRITER = """
import sys, time
from mmem.registry import call
from mmem.store import Store
slowest, number = 0.0, 0
with Store(sys.argv[1]) as store:
    print("ready", flush=True)
    end = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < end:
        began = time.perf_counter()
        call(store, "create_entities", {"entities": [{"name": f"written meanwhile {number}"}]})
        slowest, number = max(slowest, time.perf_counter() - began), number + 1
print(number, slowest)
"""


def seconds(work: Callable[[], object]) -> float:
    """Return how long some work took."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def say(what: str, took: float, path: Path, beside: float) -> None:
    """Print a line of the table."""
    print(f"{what:<48}{took:>8.2f} s{path.stat().st_size:>14,} bytes{took / beside:>8.1f}x", flush=True)


def fill(store: Store, count: int) -> None:
    """Store a graph."""
    words = Words()
    nodes = entities(words, count)
    edges = relations(words, nodes)
    for tool, key, items in (("create_entities", "entities", nodes), ("create_relations", "relations", edges)):
        for start in range(0, len(items), BATCH):
            call(store, tool, {key: items[start : start + BATCH]})


def plain(source: Path, target: Path) -> None:
    """Copy with Python's sqlite3."""
    with closing(sqlite3.connect(source)) as here, closing(sqlite3.connect(target)) as there:
        here.backup(there)


def vacuumed(source: Path, target: Path) -> None:
    """Copy with `VACUUM INTO`."""
    with closing(sqlite3.connect(source)) as conn:
        conn.execute("VACUUM INTO ?", (str(target),))


def meanwhile(store: Store, work: Callable[[], object], lasting: float) -> None:
    """Do some work while another process writes; print how that fared."""
    command = [sys.executable, "-c", WRITER, store.base_dir, str(lasting)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        took = seconds(work)
        number, slowest = writer.stdout.readline().split()
        print(
            f"  {took:.2f} s; {int(number):,} writes in {lasting:g} s, the slowest {float(slowest):.2f} s", flush=True
        )


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name, Store(Path(name) / "base") as store:
        folder, source = Path(name), Path(name) / "base" / "default.db"
        fill(store, count)
        store.close()
        print(f"{count:,} entities, {count * 3:,} observations, {count * 3:,} relations; {sqlite3.sqlite_version}")
        beside = seconds(lambda: plain(source, folder / "plain.db"))
        say("Connection.backup", beside, folder / "plain.db", beside)
        if program := shutil.which("sqlite3"):
            command = [program, str(source), f".backup {folder / 'cli.db'}"]
            say("sqlite3 .backup", seconds(lambda: subprocess.run(command, check=True)), folder / "cli.db", beside)
        say("VACUUM INTO", seconds(lambda: vacuumed(source, folder / "into.db")), folder / "into.db", beside)
        kept = folder / "default-2026-11-30T09-30-00Z.db"
        say("mmem backup", seconds(lambda: backup(store, "default", str(kept))), kept, beside)
        say("mmem restore, to a new name", seconds(lambda: restored(store, kept, "new")), kept, beside)
        say("mmem restore, over what is there", seconds(lambda: restored(store, kept, "default")), kept, beside)
        print("mmem backup, while another process writes:")
        meanwhile(store, lambda: backup(store, "default", str(folder / "busy.db")), 10)
        print("mmem restore, while another process writes:")
        meanwhile(store, lambda: restored(store, kept, "default"), 10)


def restored(store: Store, path: Path, category: str) -> None:
    """Restore a category."""
    list(restore(store, plan(store, [str(path)], category)))


if __name__ == "__main__":
    main()

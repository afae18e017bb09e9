"""How long `mmem seed` takes for a large file, step by step, beside the YAML parse alone.

    python tests/benchmarks/seed.py [ENTITIES]

Each entity has a type, a property, two plain observations and a typed one, and a relation line. The parse alone is
PyYAML's, through libyaml: with the types that it guesses, as most programs load YAML, and without.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from graph import Words

from mmem.seeding import run
from mmem.seeding.documents import read
from mmem.seeding.joining import join
from mmem.store import Store
from mmem.undisturbed import undisturbed


def written(count: int) -> str:
    """Return a seed file, the same at every run."""
    words = Words()
    names = [f"{'-'.join(words.some(2))}-{number}" for number in range(count)]
    lines = ["entities:"]
    for number, name in enumerate(names):
        lines += [f"  {name}:", "    type: service", f"    properties: {{tier: {number % 5}}}", "    observations:"]
        lines += [f"      - {' '.join(words.some(12))}" for _ in range(2)]
        lines.append(f"      - status: {' '.join(words.some(12))}")
    lines.append("relations:")
    lines += [f"  - {name} uses {names[(7 * number + 3) % count]}" for number, name in enumerate(names)]
    return "\n".join(lines) + "\n"


def timed(what: str, work: Callable[[], Any]) -> Any:
    """Print how long some work takes; return what it gives."""
    began = time.perf_counter()
    result = work()
    print(f"{what:<52}{time.perf_counter() - began:8.2f} s", flush=True)
    return result


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    text = written(count).encode()
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    print(f"{count:,} entities, {3 * count:,} observations, {count:,} relations: {len(text):,} bytes of YAML\n")
    timed("PyYAML: yaml.load(CSafeLoader)", lambda: yaml.load(text, loader))
    with tempfile.TemporaryDirectory() as base, undisturbed():
        graphs = timed("read and checked", lambda: join(read(text, "big.yaml"), "default"))
        with Store(base) as store:
            timed("compared with an empty category and stored", lambda: run.seed(store, graphs))
            timed("compared with itself: nothing to change", lambda: run.seed(store, graphs))
            timed("compared with itself, with override", lambda: run.seed(store, graphs, override=True))
    with tempfile.TemporaryDirectory() as base:
        file = Path(base, "big.yaml")
        file.write_bytes(text)
        command = [sys.executable, "-m", "mmem", "seed", str(file), "--base-dir", base]
        for what in ("mmem seed, the whole process", "mmem seed once more, the whole process"):
            timed(what, lambda: subprocess.run(command, check=True, capture_output=True))


if __name__ == "__main__":
    main()

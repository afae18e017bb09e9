"""How fast a file of JSON lines is imported, beside sqlite-utils with the same lines and the reference server.

    python tests/benchmarks/importing.py [RECORDS]

sqlite-utils makes one table without an index, and looks at no record. The reference server, where MMEM_NODE names the
folder that it is installed in, reads the whole file for a search that finds nothing, as it does for every call.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from graph import Words

ENTITIES = 0.4  # of the records; the rest are relations


def lines(count: int) -> Iterator[str]:
    """Yield records as the reference server writes them."""
    words, chance = Words(), random.Random(1)
    names = []
    for number in range(int(count * ENTITIES)):
        first, second = words.some(2)
        names.append(f"{first}-{second}-{number}")
        texts = [" ".join(words.some(8)) for _ in range(chance.choice((0, 1, 1, 2)))]
        yield _line({"type": "entity", "name": names[-1], "entityType": "thing", "observations": texts})
    for _ in range(count - len(names)):
        source, target = chance.choices(names, k=2)
        kind = chance.choice(["uses", "knows", "part of"])
        yield _line({"type": "relation", "from": source, "to": target, "relationType": kind})


def _line(record: dict[str, object]) -> str:
    return json.dumps(record, separators=(",", ":")) + "\n"


def timed(words: list[str], stdin: bytes = b"", **environ: str) -> float:
    """Return how long a process took."""
    began = time.perf_counter()
    subprocess.run(words, input=stdin, capture_output=True, check=True, env={**os.environ, **environ})
    return time.perf_counter() - began


def say(what: str, count: int, took: float) -> None:
    """Print a line of the table."""
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"{what:<50}{took:>8.1f} s{count / took:>12,.0f} records/s{peak:>8,} MB at most so far", flush=True)


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "memory.jsonl"
        with file.open("w") as out:
            out.writelines(lines(count))
        print(f"{count:,} records, {file.stat().st_size:,} bytes")
        mmem = [sys.executable, "-m", "mmem", "--base-dir", str(folder / "base"), "import", str(file)]
        say("mmem import, into a new category", count, timed(mmem))
        say("the same again: nothing to do", count, timed(mmem))
        insert = [
            sys.executable,
            "-m",
            "sqlite_utils",
            "insert",
            str(folder / "plain.db"),
            "records",
            str(file),
            "--nl",
        ]
        say("sqlite-utils insert --nl", count, timed([*insert, "--alter"]))
        if node := os.environ.get("MMEM_NODE"):
            server = f"{node}/node_modules/@modelcontextprotocol/server-memory/dist/index.js"
            client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "b", "version": "0"}}
            call = {"name": "search_nodes", "arguments": {"query": "nothing like it"}}
            requests = [
                {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
            ]
            given = "".join(json.dumps(one) + "\n" for one in requests).encode()
            took = timed(["node", "--max-old-space-size=8192", server], given, MEMORY_FILE_PATH=str(file))
            say("the reference server, one search", count, took)


if __name__ == "__main__":
    main()

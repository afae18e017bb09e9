"""How many requests a second `mmem batch` carries out, beside SQLite's own shell and the predecessors' servers.

    python tests/benchmarks/batch.py [REQUESTS]

Everything runs in one go, so that the ratios can be trusted where the figures can't. The predecessors take part
where `MULTI_MEMORY_MCP` names a built checkout of multi-memory-mcp, and `SERVER_MEMORY` an installed
`@modelcontextprotocol/server-memory` (its folder in node_modules). They get the same creations as pipelined calls.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from graph import Words, entities

MMEM = [sys.executable, "-m", "mmem"]
GROUP = 500  # creations that share a transaction in SQLite's shell
ROUNDS = 3


def lines(requests: Sequence[tuple[str, dict[str, object]]]) -> bytes:
    """Return requests as the lines of a batch."""
    return b"".join(json.dumps({"tool": tool, "arguments": arguments}).encode() + b"\n" for tool, arguments in requests)


def say(what: str, figure: str, ratio: str = "", goal: str = "") -> None:
    """Print a line of the table."""
    print(f"{what:<52}{figure:>18}{ratio:>12}  {goal}", flush=True)


def rate(run: Callable[[Path], float], requests: int) -> float:
    """Return the median rate of some runs, each in a fresh folder; `run` returns the seconds."""
    rates = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            rates.append(requests / run(Path(folder)))
    return statistics.median(rates)


def batch(source: Path, folder: Path, *options: str) -> float:
    """Return the seconds that a batch over a file takes."""
    began = time.perf_counter()
    command = [*MMEM, "--base-dir", str(folder / "base"), "batch", str(source), *options]
    with (folder / "answers").open("wb") as answers:
        subprocess.run(command, stdout=answers, check=True)
    return time.perf_counter() - began


def shell(nodes: list[dict[str, object]], folder: Path) -> float:
    """Return the seconds that SQLite's shell takes for the same rows into the same tables, index and all."""
    subprocess.run(
        [*MMEM, "--base-dir", str(folder), "create-entities", "first"], stdout=subprocess.DEVNULL, check=True
    )
    script = folder / "script.sql"
    with script.open("w") as file:
        file.write("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;\n")
        for start in range(0, len(nodes), GROUP):
            file.write("BEGIN IMMEDIATE;\n")
            for node in nodes[start : start + GROUP]:
                file.write(
                    f"INSERT INTO entities(name, entity_type) VALUES ('{node['name']}', '{node['entityType']}');\n"
                )
            file.write("COMMIT;\n")
    began = time.perf_counter()
    with script.open() as file:
        subprocess.run(["sqlite3", folder / "default.db"], stdin=file, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def server(command: list[str], environ: dict[str, str], calls: list[dict[str, object]]) -> float:
    """Return the seconds that an MCP server takes for pipelined calls, from the first one to the last answer."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **environ}
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def message(method: str, params: dict[str, object], id: int | None) -> bytes:
            body = {"jsonrpc": "2.0", "method": method, "params": params, **({} if id is None else {"id": id})}
            return json.dumps(body).encode() + b"\n"

        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}
        process.stdin.write(message("initialize", hello, 0) + message("notifications/initialized", {}, None))
        process.stdin.flush()
        process.stdout.readline()
        sent = b"".join(
            message("tools/call", {"name": "create_entities", "arguments": call}, id)
            for id, call in enumerate(calls, 1)
        )
        began = time.perf_counter()
        writer = threading.Thread(target=lambda: (process.stdin.write(sent), process.stdin.flush()))
        writer.start()
        answered = 0
        while answered < len(calls):
            answered += b'"id"' in process.stdout.readline()
        took = time.perf_counter() - began
        writer.join()
        process.stdin.close()
        process.wait()
    return took


def creations(folder: Path, count: int) -> None:
    """Measure single creations, in every way there is."""
    nodes = [{"name": f"entity {n}", "entityType": "person"} for n in range(count)]
    source = folder / "creations.jsonl"
    source.write_bytes(lines([("create_entities", {"entities": [node]}) for node in nodes]))
    normal = rate(lambda place: batch(source, place, "--durable", "normal"), count)
    say("create_entities, one entity, --durable normal", f"{normal:,.0f} /s", "", ">= 30,000 /s")
    full = rate(lambda place: batch(source, place), count)
    say("create_entities, one entity, --durable full", f"{full:,.0f} /s", "", ">= 20,000 /s")
    noted = folder / "noted.jsonl"
    text = {"observationType": "fact", "text": "likes the colour blue a lot"}
    noted.write_bytes(lines([("create_entities", {"entities": [{**n, "observations": [text]}]}) for n in nodes]))
    with_text = rate(lambda place: batch(noted, place, "--durable", "normal"), count)
    say("create_entities, an entity and an observation", f"{with_text:,.0f} /s")
    if shutil.which("sqlite3"):
        other = rate(lambda place: shell(nodes, place), count)
        say(f"  SQLite's shell, the same rows by {GROUP}", f"{other:,.0f} /s", f"{normal / other:.2f}x")
    few = nodes[: min(count, 2_000)]
    if peer := os.environ.get("MULTI_MEMORY_MCP"):
        calls: list[dict[str, object]] = [{"entities": [{**node, "observations": []}]} for node in few]
        command = ["node", f"{peer}/dist/index.js"]
        other = rate(lambda place: server(command, {"MEMORY_BASE_DIR": str(place)}, calls), len(few))
        say("  multi-memory-mcp, pipelined calls", f"{other:,.0f} /s", f"{normal / other:.1f}x")
    if peer := os.environ.get("SERVER_MEMORY"):
        calls = [{"entities": [{**node, "observations": []}]} for node in few]
        command = ["node", f"{peer}/dist/index.js"]
        other = rate(lambda place: server(command, {"MEMORY_FILE_PATH": str(place / "m.jsonl")}, calls), len(few))
        say("  server-memory, pipelined calls", f"{other:,.0f} /s", f"{normal / other:.1f}x")


def reading(folder: Path) -> None:
    """Measure searches and openings over 10,000 entities, and a coprocess's round trips."""
    nodes = entities(Words(), 10_000)
    for number, node in enumerate(nodes):
        node["observations"][0]["text"] += f" unique{number}x"  # type: ignore[index]
    source = folder / "nodes.jsonl"
    source.write_bytes(lines([("create_entities", {"entities": [node]}) for node in nodes]))
    batch(source, folder, "--durable", "normal")
    for label, goal, requests in (
        (
            "search_nodes, one rare word of 10,000 entities",
            ">= 5,000 /s",
            [("search_nodes", {"query": f"unique{number * 7 % 10_000}x"}) for number in range(20_000)],
        ),
        (
            "open_nodes, one entity",
            ">= 15,000 /s",
            [("open_nodes", {"entities": [{"name": n["name"], "entityType": n["entityType"]}]}) for n in nodes * 3],
        ),
    ):
        source.write_bytes(lines(requests))
        measured = statistics.median(len(requests) / batch(source, folder) for _ in range(ROUNDS))
        say(label, f"{measured:,.0f} /s", "", goal)
    for durable in ("normal", "full"):
        round_trips(folder, durable)


def round_trips(folder: Path, durable: str) -> None:
    """Measure how long a coprocess takes to answer."""
    command = [*MMEM, "--base-dir", str(folder / "base"), "batch", "--durable", durable]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for label, tool, arguments in (
            ("open_nodes", "open_nodes", lambda n: {"entities": [{"id": n + 1}]}),
            ("create_entities", "create_entities", lambda n: {"entities": [{"name": f"{durable} {n}"}]}),
        ):
            took = []
            for number in range(2_000):
                line = lines([(tool, arguments(number))])
                began = time.perf_counter()
                process.stdin.write(line)  # type: ignore[union-attr]
                process.stdin.flush()  # type: ignore[union-attr]
                process.stdout.readline()  # type: ignore[union-attr]
                took.append(time.perf_counter() - began)
            figure = f"{statistics.median(took) * 1000:.3f} ms"
            say(f"coprocess, {label}, --durable {durable}", figure, "", "<= 0.2 ms")
        process.stdin.close()  # type: ignore[union-attr]


def million(folder: Path) -> None:
    """Measure a million creations: the second half's rate against the first's, and the memory used."""
    count = 1_000_000
    command = [*MMEM, "--base-dir", str(folder / "million"), "batch", "--durable", "normal"]
    marks = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:

        def feed() -> None:
            for number in range(count):
                process.stdin.write(lines([("create_entities", {"entities": [{"name": f"entity {number}"}]})]))  # type: ignore[union-attr]
            process.stdin.close()  # type: ignore[union-attr]

        writer = threading.Thread(target=feed)
        began = time.perf_counter()
        writer.start()
        for number, _ in enumerate(process.stdout, 1):  # type: ignore[arg-type]
            if number in {count // 2, count}:
                marks.append(time.perf_counter() - began)
        writer.join()
        process.wait()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    first, second = marks[0], marks[1] - marks[0]
    say("a million creations through a pipe", f"{count / marks[1]:,.0f} /s")
    say("  second half's rate against the first half's", f"{first / second:.0%}", "", ">= 80 %")
    say("  largest child's memory, of all of this", f"{peak:,.0f} MiB", "", "< 100 MB")


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name:
        if "--no-million" not in sys.argv:
            million(Path(name))
        creations(Path(name), count)
        reading(Path(name))


if __name__ == "__main__":
    main()

"""What `mmem serve` takes to start, to answer, to end and in memory, beside the predecessors' servers.

    python tests/benchmarks/serve.py [SEEDED] [CALLS]

All servers are up at once and take turns, so that the ratios can be trusted where the figures can't. The predecessors
take part where `SERVER_MEMORY` names an installed `@modelcontextprotocol/server-memory` (its folder in node_modules)
and `MULTI_MEMORY_MCP` a built checkout of multi-memory-mcp. Run it with a wheel, whose modules are compiled.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

MMEM = shutil.which("mmem", path=str(Path(sys.executable).parent)) or "mmem"
ROUNDS = 5
SPAWNS = 7
TURN = 25  # calls to one server before the next one's turn
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}


class Spec(NamedTuple):
    """How a server is started, and how it takes an observation."""

    command: list[str]
    variable: str  # that says where its memory is
    place: str
    observation: Callable[[str], object] = lambda text: text
    modern: bool = False


class Server:
    """A running server and the pipes to it."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.folder = tempfile.mkdtemp()
        self.id = 0
        environ = {**os.environ, spec.variable: str(Path(self.folder) / spec.place)}
        began = time.perf_counter()
        self.process = subprocess.Popen(
            spec.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ
        )
        self.ask("server/discover" if spec.modern else "initialize", {} if spec.modern else HELLO)
        self.started = time.perf_counter() - began
        if not spec.modern:
            self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def write(self, frames: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(frames)
        self.process.stdin.flush()

    def frame(self, method: str, params: dict[str, Any]) -> bytes:
        self.id += 1
        params = {**params, "_meta": META} if self.spec.modern else params
        return json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}).encode() + b"\n"

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        while True:
            message: dict[str, Any] = json.loads(self.process.stdout.readline())
            if "id" in message:
                if "error" in message or message["result"].get("isError"):
                    raise RuntimeError(f"{self.spec.command}: {message}")
                return message

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.write(self.frame(method, params))
        return self.answer()

    def call(self, tool: str, arguments: dict[str, Any]) -> float:
        frame = self.frame("tools/call", {"name": tool, "arguments": arguments})
        began = time.perf_counter()
        self.write(frame)
        self.answer()
        return (time.perf_counter() - began) * 1000

    def entity(self, name: str, text: str) -> dict[str, Any]:
        return {"name": name, "entityType": "t", "observations": [self.spec.observation(text)]}

    def create(self, *entities: dict[str, Any]) -> float:
        return self.call("create_entities", {"entities": list(entities)})

    def memory(self) -> float:
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)

    def end(self) -> float:
        """Close the pipe and return the milliseconds until the process is gone."""
        assert self.process.stdin is not None
        began = time.perf_counter()
        self.process.stdin.close()
        self.process.wait()
        took = (time.perf_counter() - began) * 1000
        assert self.process.stdout is not None
        self.process.stdout.close()
        shutil.rmtree(self.folder)
        return took


def specs() -> dict[str, Spec]:
    """Return the servers that take part, the one to compare with first."""
    found: dict[str, Spec] = {}
    if folder := os.environ.get("SERVER_MEMORY"):
        found["server-memory"] = Spec(["node", f"{folder}/dist/index.js"], "MEMORY_FILE_PATH", "memory.jsonl")

    def as_object(text: str) -> object:
        return {"text": text}

    if folder := os.environ.get("MULTI_MEMORY_MCP"):
        found["multi-memory-mcp"] = Spec(["node", f"{folder}/dist/index.js"], "MEMORY_BASE_DIR", ".", as_object)
    found["mmem"] = Spec([MMEM, "serve"], "MEMORY_BASE_DIR", ".", as_object)
    found["mmem, 2026-07-28"] = Spec([MMEM, "serve"], "MEMORY_BASE_DIR", ".", as_object, modern=True)
    dialect = [MMEM, "serve", "--dialect", "server-memory"]
    found["mmem, server-memory"] = Spec(dialect, "MEMORY_BASE_DIR", ".")
    return found


def starts(spec: Spec) -> Iterator[tuple[str, float]]:
    """Yield the figures of one start: until the first answer, of the memory then, and of the end."""
    server = Server(spec)
    server.ask("tools/list", {})
    yield "start ms", server.started * 1000
    yield "MiB at start", server.memory()
    yield "end ms", server.end()


def calls(named: dict[str, Spec], seeded: int, count: int) -> Iterator[tuple[str, str, float]]:
    """Yield the figures of one round of calls, `(server, what, figure)`."""
    servers = {name: Server(spec) for name, spec in named.items()}
    for server in servers.values():
        server.create(*(server.entity(f"seed-{number}", f"some words {number}") for number in range(seeded)))
        server.create(server.entity("needle", "the one that is found"))
        for number in range(20):  # warm
            server.create(server.entity(f"warm-{number}", "words"))
            server.call("search_nodes", {"query": "needle"})
    for what in ("read", "write"):
        times: dict[str, list[float]] = {name: [] for name in servers}
        for start in range(0, count, TURN):
            for name, server in servers.items():
                for number in range(start, min(start + TURN, count)):
                    times[name].append(
                        server.call("search_nodes", {"query": "needle"})
                        if what == "read"
                        else server.create(server.entity(f"w-{number}", f"a small note {number}"))
                    )
        for name, taken in times.items():
            yield name, f"{what} ms", statistics.median(taken)
            yield name, f"{what} p99", sorted(taken)[int(len(taken) * 0.99)]
    for name, server in servers.items():
        yield name, "MiB after", server.memory()
        server.end()


def listed(spec: Spec) -> int:
    """Return the bytes of a server's list of tools."""
    server = Server(spec)
    tools = server.ask("tools/list", {})["result"]["tools"]
    server.end()
    return len(json.dumps(tools, separators=(",", ":"), ensure_ascii=False).encode())


def main() -> None:
    """Print the figures, each with its ratio to the first server's."""
    seeded = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    named = specs()
    figures: dict[str, dict[str, list[float]]] = {}

    def note(name: str, what: str, figure: float) -> None:
        figures.setdefault(what, {}).setdefault(name, []).append(figure)

    for _ in range(SPAWNS):
        for name, spec in named.items():
            for what, figure in starts(spec):
                note(name, what, figure)
    for _ in range(ROUNDS):
        for name, what, figure in calls(named, seeded, count):
            note(name, what, figure)
    for name, spec in named.items():
        note(name, "tools/list bytes", listed(spec))
    print(f"{seeded} entities, {count} calls of a kind; medians of {ROUNDS} rounds and {SPAWNS} starts\n")
    print(f"{'':<18}" + "".join(f"{name:>24}" for name in named))
    for what, by_name in figures.items():
        base = statistics.median(by_name[next(iter(named))])
        medians = [statistics.median(by_name[name]) for name in named]
        cells = [f"{median:.2f} ({median / base:.2f})" for median in medians]
        print(f"{what:<18}" + "".join(f"{cell:>24}" for cell in cells))


if __name__ == "__main__":
    main()

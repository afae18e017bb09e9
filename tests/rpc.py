"""A client that starts a real `mmem serve` and speaks to it in raw bytes: any frame can be sent, broken or not.

`conftest.py` hands the class to tests as the fixture `rpc`.
"""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PATIENCE = 30  # seconds after which something hangs
LIFETIME = 120  # seconds after which a server is killed, whoever waits for it


class Client:
    """One server and its pipes; as a context it leaves neither behind."""

    def __init__(
        self,
        *options: str,
        reads: bool = True,
        before: Sequence[str] = (),
        environ: dict[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        """Start a server by a command, which words may stand before; without `reads`, answers stay in the pipe."""
        self._errors = tempfile.TemporaryFile("a+b")  # noqa: SIM115  # closed by `__exit__`
        self.process = subprocess.Popen(
            [*before, sys.executable, "-m", "mmem", "serve", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            env={**os.environ, **(environ or {})},
            cwd=cwd,
        )
        self._end = threading.Timer(LIFETIME, self.process.kill)
        self._end.start()
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._asked = 0
        if reads:
            self.read_on()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.cancel()
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        if self._reading.ident is not None:
            self._reading.join()
        self.process.stdout.close()
        self._errors.close()

    def read_on(self) -> None:
        """Begin to take answers."""
        self._reading.start()

    def _read(self) -> None:
        with open(self.process.stdout.fileno(), "rb", closefd=False) as out:
            for line in out:
                self._lines.put(line)
        self._lines.put(b"")

    def send(self, *frames: bytes) -> None:
        """Send bytes as they are."""
        view = memoryview(b"".join(frames))
        while view:
            view = view[self.process.stdin.write(view) :]

    def answer(self) -> Any:
        """Return the next message. Raises `queue.Empty` where none comes, `EOFError` at the end."""
        line = self._lines.get(timeout=PATIENCE)
        if not line:
            raise EOFError(f"the server has ended; on stderr: {self.stderr}")
        return json.loads(line)

    def rest(self) -> list[Any]:
        """Return all messages up to the end."""
        return [json.loads(line) for line in iter(lambda: self._lines.get(timeout=PATIENCE), b"")]

    def open(self, version: str = "2025-11-25") -> Self:
        """Shake hands."""
        about = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        self.opened = self.ask("initialize", about)
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return self

    def ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Send a request and return its answer, which has to come next."""
        self._asked += 1
        asked = {"jsonrpc": "2.0", "id": f"asked {self._asked}", "method": method, "params": params or {}}
        self.send(json.dumps(asked).encode() + b"\n")
        answer = self.answer()
        assert answer["id"] == asked["id"], answer
        return answer

    def call(self, name: str, **arguments: Any) -> Any:
        """Call a tool and return what its text holds."""
        return json.loads(
            self.ask("tools/call", {"name": name, "arguments": arguments})["result"]["content"][0]["text"]
        )

    def close(self) -> None:
        """Close the server's input."""
        self.process.stdin.close()

    def ended(self) -> int:
        """Return the exit status, once the server has ended. Raises `TimeoutExpired`."""
        return self.process.wait(PATIENCE)

    @property
    def stderr(self) -> str:
        """What the server has said on standard error so far."""
        self._errors.seek(0)
        return self._errors.read().decode()

    @property
    def proc(self) -> Path:
        """The folder in which Linux tells of the process."""
        return Path("/proc", str(self.process.pid))

"""What the tests share: a store in a fresh folder, and one way to run `mmem` in process or for real."""

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mmem.app import App
from mmem.cli import cli
from mmem.registry import call
from mmem.store import Store
from mmem.streams import Streams

_SETTINGS = (
    "MEMORY_BASE_DIR",
    "DEFAULT_CATEGORY",
    "SERIALIZATION_FORMAT",
    "MMEM_ERRORS",
    "NO_COLOR",
    "FORCE_COLOR",
    "COLUMNS",
)


@dataclass(frozen=True)
class Ran:
    """What a run of the command line gave."""

    stdout: str
    stderr: str
    exit_status: int

    @property
    def json(self) -> Any:
        """The output as JSON."""
        return json.loads(self.stdout)


@pytest.fixture(autouse=True)
def fresh_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every test begin in an empty folder, with no setting in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in _SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MMEM_SEMANTIC", "off")  # what is found doesn't depend on what is installed here


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """The base directory that `mmem` uses in a test's folder."""
    return tmp_path / ".aim"


@pytest.fixture
def store(base: Path) -> Iterator[Store]:
    """A store on the same base directory."""
    with Store(base) as opened:
        yield opened


@pytest.fixture
def ask(store: Store) -> Callable[..., Any]:
    """Call a tool from Python: `ask("read_graph", category="work")` returns its outcome."""

    def run(tool: str, **arguments: Any) -> Any:
        return call(store, tool, arguments)

    return run


@pytest.fixture
def mmem() -> Callable[..., Ran]:
    """Run the command line in this process: `mmem("read-graph", "-c", "work")`."""

    def run(
        *words: str,
        stdin: str | bytes = b"",
        environ: dict[str, str] | None = None,
        terminal: bool = False,
    ) -> Ran:
        app = App(streams=Streams(terminal, terminal, terminal, environ={**os.environ, **(environ or {})}))
        result = CliRunner().invoke(cli, list(words), input=stdin, obj=app)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.stdout, result.stderr, result.exit_code)

    return run


@pytest.fixture(scope="session")
def node_tools() -> Path:
    """The folder of the programs that `tests/run` installs from npm: Node 22, the inspector, the reference server."""
    folder = Path(os.environ.get("MMEM_NODE", "")) / "node_modules"
    if "MMEM_NODE" not in os.environ or not folder.is_dir():
        pytest.skip("MMEM_NODE doesn't name a folder where `npm install` was run on tests/node/package.json")
    return folder


@pytest.fixture
def mmem_process() -> Callable[..., Ran]:
    """Run the command line as a process of its own."""

    def run(
        *words: str,
        stdin: bytes = b"",
        environ: dict[str, str] | None = None,
        cwd: Path | None = None,
        program: str | None = None,
    ) -> Ran:
        ran = subprocess.run(
            [sys.executable, *(["-m", "mmem"] if program is None else [program]), *words],
            input=stdin,
            capture_output=True,
            env={**os.environ, **(environ or {})},
            cwd=cwd,
            timeout=60,
            check=False,
        )
        return Ran(ran.stdout.decode(), ran.stderr.decode(), ran.returncode)

    return run


@pytest.fixture(scope="session")
def rpc() -> Any:
    """What starts a server to speak to in raw bytes, the class in `rpc.py`: `with rpc("--read-only") as server:`."""
    return runpy.run_path(str(Path(__file__).with_name("rpc.py")))["Client"]

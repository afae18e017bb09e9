"""How long commands take to start, as ratios to bare Python's own start, in one interleaved run.

    python tests/benchmarks/startup.py [ROUNDS]

It builds a wheel and installs it in a fresh virtual environment with a current pip, because an editable install
and older pips' launchers cost milliseconds of their own at every start.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
GOALS = {"mmem --version": 1.3, "mmem --help": 5.0, "mmem list-categories": 5.0, "mmem create-entities A": 7.0}


def install(folder: Path) -> Path:
    """Install a wheel of this checkout; return the folder of its programs."""
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], **quiet)
    pip = [programs / "python", "-m", "pip"]
    subprocess.run([*pip, "install", "--upgrade", "pip", "build"], **quiet)
    subprocess.run([programs / "python", "-m", "build", "--wheel", "--outdir", folder, ROOT], **quiet)
    subprocess.run([*pip, "install", *folder.glob("*.whl")], **quiet)
    return programs


def seconds(command: list[str], folder: Path) -> float:
    """Run a command off the terminal and return how long it took."""
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main() -> None:
    """Print a line for each command."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = install(folder)
        mmem = str(programs / "mmem")
        seconds([mmem, "create-entities", "Z"], folder)
        number = 0

        def fresh_name() -> str:
            nonlocal number
            number += 1
            return f"A{number}"

        commands = {
            "python -c pass": lambda: [str(programs / "python"), "-c", "pass"],
            "mmem --version": lambda: [mmem, "--version"],
            "mmem --help": lambda: [mmem, "--help"],
            "mmem list-categories": lambda: [mmem, "list-categories"],
            "mmem create-entities A": lambda: [mmem, "create-entities", fresh_name()],
            "mmem add-observations Z T": lambda: [mmem, "add-observations", "Z", fresh_name()],
            "mmem open-nodes Z": lambda: [mmem, "open-nodes", "Z"],
            "mmem search-nodes Z": lambda: [mmem, "search-nodes", "Z"],
            "mmem read-graph": lambda: [mmem, "read-graph"],
        }
        times: dict[str, list[float]] = {label: [] for label in commands}
        for _ in range(rounds):
            for label, command in commands.items():
                times[label].append(seconds(command(), folder))
    bare = statistics.median(times["python -c pass"])
    print(f"{'command':<28}{'median ms':>10}{'x bare':>8}{'goal':>6}")
    for label, all_of_it in times.items():
        median = statistics.median(all_of_it)
        goal = f"{GOALS[label]:g}" if label in GOALS else ""
        print(f"{label:<28}{median * 1000:>10.1f}{median / bare:>8.2f}{goal:>6}")


if __name__ == "__main__":
    main()

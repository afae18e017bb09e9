"""The use cases that people come with, as the shell scripts that they would write."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parent / "usecases").glob("*.sh"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_script_runs_to_its_end(script: Path, tmp_path: Path) -> None:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-x", script], cwd=tmp_path, env={**os.environ, "PATH": programs}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr[-1500:]


def test_there_are_scripts() -> None:
    assert len(SCRIPTS) >= 2

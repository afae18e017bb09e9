"""Stories of people who use mmem from the shell: each script of the folder `scenarios` runs in an empty folder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCENARIOS = Path(__file__).with_name("scenarios")
SCRIPTS = sorted(SCENARIOS.glob("*.sh"))


def needs(script: Path) -> set[str]:
    """Return the programs that a script can't do without."""
    text = script.read_text()
    declared = re.search(r"^# needs: (.*)$", text, re.MULTILINE)
    return {*(declared[1].split() if declared else []), *(["jq"] if "| jq" in text else [])}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_story_ends_well(script: Path, tmp_path: Path) -> None:
    if missing := [name for name in needs(script) if shutil.which(name) is None]:
        pytest.skip(f"{', '.join(missing)} isn't installed")
    shell = "bash" if "bash" in script.read_text().splitlines()[0] else "sh"
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": programs, "SCENARIOS": str(SCENARIOS), "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    ran = subprocess.run(
        [shell, str(script)], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=240, check=False
    )
    assert ran.returncode == 0, f"{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"


def test_each_script_stops_at_the_first_fault_and_asserts() -> None:
    for script in SCRIPTS:
        assert "\nset -eu\n" in script.read_text()
        assert "expect " in script.read_text()
    assert len(SCRIPTS) >= 10

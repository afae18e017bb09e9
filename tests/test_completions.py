"""`mmem completions`: the scripts fit the commands, are printed as they ship, and go where shells look."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mmem.shells.generate import scripts
from mmem.shells.kinds import kinds_of
from mmem.shells.places import FILES, shipped

Run = Callable[..., Any]
SHELLS = list(FILES)


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The environment of somebody whose home is empty."""
    return {"HOME": str(tmp_path), "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "BASH_COMPLETION_USER_DIR": ""}


@pytest.fixture(autouse=True)
def in_home(home: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in home.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_are_what_the_commands_give(shell: str) -> None:
    assert shipped(shell).decode() == scripts()[shell], "run python -m mmem.shells.generate"


def test_every_mark_of_a_template_is_filled_in() -> None:
    assert not [shell for shell, text in scripts().items() if "@TAKES@" in text or "@OPTIONS@" in text]


def test_a_parameter_that_nobody_thought_of_is_told() -> None:
    with pytest.raises(LookupError, match="--colour of paint isn't decided"):
        kinds_of("paint", "--colour")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_printed_byte_for_byte(mmem: Run, shell: str) -> None:
    ran = mmem("completions", shell)
    assert (ran.stdout.encode(), ran.stderr, ran.exit_status) == (shipped(shell), "", 0)


@pytest.mark.parametrize(
    ("shell", "variable", "path"),
    [
        ("bash", "", ".local/share/bash-completion/completions/mmem.bash"),
        ("bash", "XDG_DATA_HOME", "given/bash-completion/completions/mmem.bash"),
        ("bash", "BASH_COMPLETION_USER_DIR", "given/completions/mmem.bash"),
        ("zsh", "", ".local/share/zsh/site-functions/_mmem"),
        ("zsh", "XDG_DATA_HOME", "given/zsh/site-functions/_mmem"),
        ("fish", "", ".config/fish/completions/mmem.fish"),
        ("fish", "XDG_CONFIG_HOME", "given/fish/completions/mmem.fish"),
    ],
)
def test_install_puts_it_where_the_shell_looks(mmem: Run, tmp_path: Path, shell: str, variable: str, path: str) -> None:
    environ = {variable: str(tmp_path / "given")} if variable else {}
    ran = mmem("completions", shell, "--install", environ=environ)
    assert (ran.stdout, ran.exit_status) == (f"Wrote {tmp_path / path}\n", 0)
    assert (tmp_path / path).read_bytes() == shipped(shell)
    assert (tmp_path / path).stat().st_mode & 0o777 == 0o600
    assert "mmem" in ran.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_installing_twice_says_that_it_is_there(mmem: Run, shell: str) -> None:
    mmem("completions", shell, "--install")
    ran = mmem("completions", shell, "--install")
    assert ran.stdout.endswith(f"{FILES[shell]} is there already\n")


def test_an_older_script_is_replaced(mmem: Run, tmp_path: Path) -> None:
    mmem("completions", "fish", "--install")
    file = tmp_path / ".config/fish/completions/mmem.fish"
    file.write_bytes(shipped("fish") + b"# of last year\n")
    assert mmem("completions", "fish", "--install").stdout == f"Replaced {file}\n"
    assert file.read_bytes() == shipped("fish")


def test_a_file_of_somebody_else_is_left_alone(mmem: Run, tmp_path: Path) -> None:
    file = tmp_path / ".config/fish/completions/mmem.fish"
    file.parent.mkdir(parents=True)
    file.write_text("complete -c mmem -f\n")
    ran = mmem("completions", "fish", "--install")
    assert (ran.stdout, ran.exit_status) == ("", 2)
    assert (
        ran.stderr == f"mmem: {file} isn't a script that mmem wrote, and was left alone: move it away and try again\n"
    )
    assert file.read_text() == "complete -c mmem -f\n"


def test_zsh_is_told_about_its_folder(mmem: Run, tmp_path: Path) -> None:
    ran = mmem("completions", "zsh", "--install")
    assert f"  fpath=({tmp_path}/.local/share/zsh/site-functions $fpath)\n" in ran.stderr


def test_a_folder_that_cannot_be_made_is_one_line(mmem: Run, tmp_path: Path) -> None:
    (tmp_path / ".config").write_text("a file")
    ran = mmem("completions", "fish", "--install")
    assert ran.exit_status == 5
    assert ran.stderr.startswith(f"mmem: {tmp_path}/.config/fish/completions/mmem.fish: not a directory")


@pytest.mark.parametrize(
    ("words", "message"),
    [([], "say which shell: bash, zsh, fish"), (["tcsh"], "'tcsh' is not one of 'bash', 'zsh', 'fish'")],
)
def test_a_shell_has_to_be_one_of_three(mmem: Run, words: list[str], message: str) -> None:
    ran = mmem("completions", *words)
    assert (message in ran.stderr, ran.exit_status) == (True, 2)

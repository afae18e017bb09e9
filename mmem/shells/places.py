"""The scripts that ship with mmem, and where each shell looks for one."""

import os
from collections.abc import Mapping
from importlib import resources

from mmem.errors import Storage, Usage
from mmem.files import make_directories
from mmem.newfile import write_file

FILES = {"bash": "mmem.bash", "zsh": "_mmem", "fish": "mmem.fish"}
_OURS = b"Generated from the commands: python -m mmem.shells.generate"


def shipped(shell: str) -> bytes:
    """Return a shell's script."""
    return (resources.files("mmem.completions") / FILES[shell]).read_bytes()


def place(shell: str, environ: Mapping[str, str]) -> str:
    """Return the path where a shell, or what its users add to it, looks for the script.

    bash-completion's folder, fish's own, and for zsh a folder that has to be in its `fpath`.
    """
    home = os.path.expanduser("~")
    data = _folder(environ.get("XDG_DATA_HOME"), home, ".local", "share")
    if shell == "bash":
        user = environ.get("BASH_COMPLETION_USER_DIR", "").split(":")[0] or os.path.join(data, "bash-completion")
        return os.path.join(user, "completions", FILES[shell])
    if shell == "fish":
        return os.path.join(_folder(environ.get("XDG_CONFIG_HOME"), home, ".config"), "fish/completions", FILES[shell])
    return os.path.join(data, "zsh", "site-functions", FILES[shell])


def _folder(variable: str | None, *default: str) -> str:
    # The XDG specification: a relative path in a variable counts as none.
    return variable if variable and os.path.isabs(variable) else os.path.join(*default)


def install(shell: str, path: str) -> str:
    """Put a shell's script at a path, unless it is there already; return what was done.

    Raises `Usage` where another program's file is there, and `Storage` where writing fails.
    """
    script = shipped(shell)
    try:
        with open(path, "rb") as file:
            before = file.read()
    except FileNotFoundError:
        before = b""
    except OSError as error:
        raise Storage(f"{path}: {(error.strerror or 'unreadable').lower()}", {"path": path}) from error
    if before == script:
        return f"{path} is there already"
    if before and _OURS not in before:
        raise Usage(f"{path} isn't a script that mmem wrote, and was left alone: move it away and try again")
    folder = os.path.dirname(path)
    try:
        make_directories(folder)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Storage(f"the folder {folder} can't be made: {reason}", {"path": folder}) from error
    write_file(path, script)
    return f"{'Replaced' if before else 'Wrote'} {path}"

"""The programs that can start `mmem serve`: where each one keeps its configuration, and in which shape."""

import glob
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from typing import Literal, NamedTuple

from mmem.errors import Usage

Entry = dict[str, object]
System = Literal["macOS", "Windows", "Linux"]


class Host(NamedTuple):
    """A program that starts servers from a configuration file."""

    title: str
    section: str  # the key that holds the servers
    typed: bool  # whether an entry says that it is a `stdio` server
    files: dict[System, str]  # the user's file: `~` and variables as each system writes them
    project: str | None  # the file in a project's folder
    restart: str  # what to do for the host to see a change
    package: str | None = None  # what its folder under Windows' Packages begins with
    moved_by: str | None = None  # the variable that names another folder for the file


def _home(name: str) -> dict[System, str]:
    windows = name.replace("/", "\\")
    return {"macOS": f"~/{name}", "Windows": f"%USERPROFILE%\\{windows}", "Linux": f"~/{name}"}


def _application(name: str) -> dict[System, str]:
    windows = name.replace("/", "\\")
    return {
        "macOS": f"~/Library/Application Support/{name}",
        "Windows": f"%APPDATA%\\{windows}",
        "Linux": f"~/.config/{name}",
    }


HOSTS = {
    "claude-desktop": Host(
        "Claude Desktop",
        "mcpServers",
        False,
        _application("Claude/claude_desktop_config.json"),
        None,
        "restart Claude Desktop (quit it; closing its window isn't enough)",
        package="Claude_",
    ),
    "claude-code": Host(
        "Claude Code",
        "mcpServers",
        True,
        _home(".claude.json"),
        ".mcp.json",
        "start a new session of Claude Code",
        moved_by="CLAUDE_CONFIG_DIR",
    ),
    "cursor": Host("Cursor", "mcpServers", False, _home(".cursor/mcp.json"), ".cursor/mcp.json", "restart Cursor"),
    "vscode": Host(
        "VS Code", "servers", True, _application("Code/User/mcp.json"), ".vscode/mcp.json", "restart VS Code"
    ),
}

# What the command line of a memory server holds: the predecessor's package and the protocol's example server.
_MEMORY_SERVERS = ("multi-memory-mcp", "server-memory", "mcp/memory")


def this_system() -> System:
    """Return the system that runs."""
    systems: dict[str, System] = {"darwin": "macOS", "win32": "Windows"}
    return systems.get(sys.platform, "Linux")


def shown_file(host: Host, system: System) -> str:
    """Return where the user's file of a host is on a system, with its variables, for a person to read."""
    shown = host.files[system]
    if system == "Windows" and host.package:
        folder = shown.removeprefix("%APPDATA%").rpartition("\\")[0]
        return f"{shown}, or in %LOCALAPPDATA%\\Packages\\{host.package}*\\LocalCache\\Roaming{folder} if that is there"
    return shown


def user_file(host: Host, environ: Mapping[str, str], system: System) -> str:
    """Return the path of the user's own configuration file of a host."""
    home = environ.get("USERPROFILE" if system == "Windows" else "HOME") or os.path.expanduser("~")
    root, *parts = re.split(r"[/\\]", host.files[system])
    folder = home
    if host.moved_by and (moved := environ.get(host.moved_by)):
        return os.path.abspath(os.path.join(moved, parts[-1]))
    if root == "%APPDATA%":
        folder = environ.get("APPDATA") or os.path.join(home, "AppData", "Roaming")
    elif parts[0] == ".config":
        moved = environ.get("XDG_CONFIG_HOME", "")
        if os.path.isabs(moved):  # the specification has a relative one ignored
            folder, parts = moved, parts[1:]
    path = os.path.join(folder, *parts)
    if system == "Windows" and host.package:
        local = environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return _packaged(path, os.path.join(local, "Packages"), host.package)
    return path


def _packaged(plain: str, packages: str, package: str) -> str:
    """Return the file that a host reads which may have been installed as a Windows package (MSIX).

    Windows puts what such a host creates below APPDATA into a folder of the package, and shows the host the file
    there before the plain one: see Microsoft's "Flexible virtualization". Claude Desktop is installed like that.
    """
    name, folder = os.path.basename(plain), os.path.basename(os.path.dirname(plain))
    folders = glob.glob(os.path.join(glob.escape(packages), f"{package}*", "LocalCache", "Roaming", folder))
    private = [os.path.join(found, name) for found in sorted(folders)]
    existing = [path for path in private if os.path.exists(path)]
    if existing or os.path.exists(plain):
        return (existing or [plain])[0]
    return (private or [plain])[0]


def launcher(program: str) -> list[str]:
    """Return the words that run this mmem in whatever folder and with whatever PATH a host starts it.

    `program` is what it was started as: `sys.argv[0]`.
    """
    if os.path.basename(program) != "__main__.py":  # else it is `python -m mmem`
        found = program if os.path.dirname(program) else shutil.which(program) or program
        for path in (found, f"{found}.exe"):  # Windows' launcher hands its name over without the ending
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return [os.path.abspath(path)]  # a link stays one: pipx's stays while what is behind it moves
    return [sys.executable, "-m", "mmem"]


def entry(host: Host, words: list[str], environment: dict[str, str]) -> Entry:
    """Return the entry that has a host run the words with an environment. Raises `Usage` for what JSON can't carry."""
    try:
        "".join([*words, *environment.values()]).encode()
    except UnicodeEncodeError:
        raise Usage("mmem's own path or the base directory isn't UTF-8, which JSON can't carry; use another") from None
    kind: Entry = {"type": "stdio"} if host.typed else {}
    return {**kind, "command": words[0], "args": words[1:], "env": environment}


def command_line(entry: object) -> str:
    """Return what an entry runs, as a shell would be told, or the address that it names."""
    if not isinstance(entry, dict):
        return "nothing"
    return shlex.join(words_of(entry)) or str(entry.get("url", "nothing"))


def is_memory_server(entry: object) -> bool:
    """Tell whether an entry runs mmem, its predecessor or the protocol's example of a memory."""
    return runs_mmem(entry) or any(known in word for word in words_of(entry) for known in _MEMORY_SERVERS)


def runs_mmem(entry: object) -> bool:
    """Tell whether an entry runs `mmem serve`."""
    words = words_of(entry)
    programs = {re.split(r"[/\\]", word)[-1].removesuffix(".exe") for word in words}
    return "mmem" in programs and "serve" in words


def words_of(entry: object) -> list[str]:
    """Return the command of an entry and its arguments; nothing where it names none."""
    if not isinstance(entry, dict):
        return []
    arguments = entry.get("args")
    words = [entry.get("command"), *(arguments if isinstance(arguments, list) else [])]
    return [word for word in words if isinstance(word, str)]

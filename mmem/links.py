"""Links to files in what is printed (OSC 8), for terminals that are known to follow them."""

import os
import socket
from collections.abc import Mapping
from urllib.parse import quote

from mmem.visible import visible

_MARKS = ("KITTY_WINDOW_ID", "KONSOLE_VERSION", "WEZTERM_PANE", "WT_SESSION", "GHOSTTY_RESOURCES_DIR", "DOMTERM")
_PROGRAMS = {"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper"}
_TERMINALS = ("xterm-kitty", "foot", "alacritty", "wezterm", "xterm-ghostty")
_OLDEST_VTE = 5000  # GNOME Terminal and others; before it, VTE had faults with links
_REMOTE = ("SSH_CONNECTION", "SSH_TTY", "TMUX", "STY")  # a file that isn't the terminal's own, or a screen between


def follows_links(environ: Mapping[str, str]) -> bool:
    """Tell whether a terminal can open a link to a file here: FORCE_HYPERLINK says it, else what it is."""
    if forced := environ.get("FORCE_HYPERLINK"):
        return forced != "0"
    if any(environ.get(variable) for variable in _REMOTE):
        return False
    vte = environ.get("VTE_VERSION", "")
    return (
        any(environ.get(variable) for variable in _MARKS)
        or environ.get("TERM_PROGRAM") in _PROGRAMS
        or environ.get("TERM", "").startswith(_TERMINALS)
        or (vte.isascii() and vte.isdigit() and int(vte) >= _OLDEST_VTE)
    )


def linked(text: str, path: str) -> str:
    """Return a text in which the first mention of a file's path leads to the file."""
    shown = visible(path)
    address = f"file://{quote(socket.gethostname())}{quote(os.fsencode(os.path.abspath(path)))}"
    return text.replace(shown, f"\x1b]8;;{address}\x1b\\{shown}\x1b]8;;\x1b\\", 1)

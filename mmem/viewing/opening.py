"""A file shown in the user's browser, without waiting for it."""

import subprocess
import sys
from pathlib import Path

_OPEN = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"
_PATIENCE = 5  # seconds; a browser that runs longer in the foreground has started


def open_in_browser(path: str) -> bool:
    """Open a file in a browser; tell whether one could be started.

    A process of its own asks for the browser: some run in the foreground, and would hold the terminal.
    """
    words = [sys.executable, "-I", "-c", _OPEN, Path(path).absolute().as_uri()]
    null = subprocess.DEVNULL
    process = subprocess.Popen(words, stdin=null, stdout=null, stderr=null, start_new_session=True)
    try:
        return process.wait(_PATIENCE) == 0
    except subprocess.TimeoutExpired:
        process.returncode = 0  # it goes on without us, and nobody is to warn of that
        return True

"""Headless Chromium, spoken to over its DevTools protocol through a pipe; for tests of pages."""

import base64
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--hide-scrollbars",
)
# The browser reads from descriptor 3 and writes to 4.
_START = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_PATIENCE = 60  # seconds
_KEYS = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Tab": 9}


def program() -> str | None:
    """Return the path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, _PROGRAMS)), None)


class Browser:
    """A browser of its own, with a fresh profile."""

    def __init__(self) -> None:
        """Start it."""
        self._folder = tempfile.mkdtemp(prefix="mmem-browser-")
        read_end, self._out = os.pipe()
        self._in, write_end = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read_end, write_end)]
        words = [program(), *_FLAGS, f"--user-data-dir={self._folder}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, *map(str, ends), *map(str, words)],
            pass_fds=ends,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for end in (read_end, write_end, *ends):
            os.close(end)
        self._buffer = b""
        self._last = 0
        self.pages: dict[str, Page] = {}

    def close(self) -> None:
        """End it."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._folder, ignore_errors=True)

    def send(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        """Call a method of the protocol; return its result."""
        self._last += 1
        own = self._last
        message = {"id": own, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != own:
            if answer.get("sessionId") in self.pages:
                self.pages[answer["sessionId"]].events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def _receive(self) -> Any:
        while b"\0" not in self._buffer:
            chunk = os.read(self._in, 1 << 16)
            assert chunk, "the browser ended"
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def open(self, path: Path, *, dark: bool = False, width: int = 1400, height: int = 900) -> "Page":
        """Open a page from a file, in a tab of its own."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        page.send("Emulation.setEmulatedMedia", features=[scheme, still])
        page.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        page.send("Page.navigate", url=path.absolute().as_uri())
        return page


class Page:
    """A tab."""

    def __init__(self, browser: Browser, session: str) -> None:
        """Speak in a session of the browser."""
        self._browser = browser
        self._session = session
        self.events: list[Any] = []

    def send(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol in this tab."""
        return self._browser.send(method, self._session, **parameters)

    def run(self, script: str) -> Any:
        """Return the value of an expression, awaited."""
        ran = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in ran, ran["exceptionDetails"]
        return ran["result"].get("value")

    def until(self, script: str, true: Callable[[Any], bool] = bool) -> Any:
        """Wait until an expression's value is as it should be; return it."""
        end = time.monotonic() + _PATIENCE
        while not true(value := self.run(script)):
            assert time.monotonic() < end, f"{script}: {value!r}"
            time.sleep(0.02)
        return value

    def texts(self, selector: str) -> list[str]:
        """Return the texts of the elements that a selector finds and that can be seen."""
        found = f"[...document.querySelectorAll({json.dumps(selector)})]"
        texts: list[str] = self.run(f"{found}.filter(one => one.checkVisibility()).map(one => one.textContent)")
        return texts

    def press(self, key: str) -> None:
        """Press a key: a character, or one of the named ones."""
        text = {} if key in _KEYS else {"text": key}
        code = _KEYS.get(key, 0)
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def write(self, text: str) -> None:
        """Type a text where the focus is."""
        self.send("Input.insertText", text=text)

    def click(self, target: str | tuple[float, float]) -> None:
        """Click the first element that a selector finds, in its middle, or a point."""
        if isinstance(target, str):
            self.run(f"document.querySelector({json.dumps(target)}).scrollIntoView({{block: 'center'}})")
            box = f"document.querySelector({json.dumps(target)}).getBoundingClientRect()"
            target = tuple(self.run(f"(box => [box.x + box.width / 2, box.y + box.height / 2])({box})"))
        at = {"x": target[0], "y": target[1], "button": "left", "clickCount": 1}
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=at["x"], y=at["y"])
        self.send("Input.dispatchMouseEvent", type="mousePressed", **at)
        self.send("Input.dispatchMouseEvent", type="mouseReleased", **at)

    def screenshot(self) -> bytes:
        """Return what is seen, as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def troubles(self) -> list[str]:
        """Return the errors and warnings that the page has brought about so far."""
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [json.dumps(event["params"]) for event in self.events if event["method"] in kinds]

    def requests(self) -> list[str]:
        """Return the addresses that the page has asked for, besides its own."""
        asked = [
            event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in asked[1:] if not url.startswith(("data:", "blob:"))]

"""Running calls one after the other, each to its end: short ones at once, long ones beside the event loop.

Calls are carried out in the order in which they came, so that a client may send many without waiting. What takes
long runs in a worker thread, while pings are answered.
"""

import os
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import msgspec

from mmem import __version__
from mmem.errors import Busy, Internal, MmemError, UnknownTool
from mmem.server.answers import Result
from mmem.server.dialects import Dialect

T = TypeVar("T")

_LONG = 1 << 15  # bytes of arguments that are worth a thread, which costs about 0.15 ms
_LARGE = 1 << 21  # bytes of a file that takes a while to read whole, or to convert
_HUGE = 1 << 24  # bytes of a file that takes a while to search, or to open or delete much of
_FRESH = 0.5  # seconds that a file's size is believed
_SLOW_IN_HUGE = {
    *("search_nodes", "open_nodes", "neighbors", "path"),
    *("delete_entities", "delete_observations", "delete_relations"),
}


class Caller:
    """Carries out the calls of one server."""

    def __init__(self, dialect: Dialect) -> None:
        """Call the tools of a dialect."""
        self._dialect = dialect
        self._turn = anyio.Lock(fast_acquire=True)  # first come, first served
        self._touched: set[str] = set()
        self._sizes: dict[str, tuple[float, int]] = {}

    async def call(self, name: str, arguments: dict[str, Any]) -> Result:
        """Return a tool's result, or the result that says why it failed. Raises `UnknownTool`."""
        async with self._turn:
            try:
                return await self._run(self._takes_long(name, arguments), partial(self._dialect.call, name, arguments))
            except UnknownTool:
                raise
            except MmemError as error:
                return self._dialect.failure(error)
            except Exception as error:
                return self._dialect.failure(_bug(error, name))

    async def graph_text(self, category: str) -> tuple[str, str | None]:
        """Return a category's graph as JSON, and what to say where it was cut. Raises an `MmemError`."""
        async with self._turn:
            long = self._dialect.store.may_wait(category) or self._size(category) > _LARGE
            return await self._run(long, partial(self._dialect.graph_text, category))

    async def _run(self, takes_long: bool, run: Callable[[], T]) -> T:
        if not takes_long:
            try:
                with self._dialect.store.hurrying():
                    return run()
            except Busy:  # another process writes; nothing was done yet
                pass
        return await anyio.to_thread.run_sync(run)

    def _takes_long(self, name: str, arguments: dict[str, Any]) -> bool:
        """Tell whether a call could keep the event loop for long."""
        try:
            if len(msgspec.json.encode(arguments)) > _LONG:
                return True
            category = self._dialect.category_of(arguments)
            size, waits = self._size(category), self._dialect.store.may_wait(category)
        except (MmemError, OSError, ValueError, OverflowError, RecursionError, TypeError):
            return False  # it won't run at all
        first = category not in self._touched
        self._touched.add(category)
        if waits or (size > _HUGE and name in _SLOW_IN_HUGE):
            return True
        return size > _LARGE and (first or name == "read_graph")

    def _size(self, category: str) -> int:
        """Return the bytes of a category's file, as of a moment ago: to ask each time would cost more than it saves."""
        now = time.monotonic()
        known = self._sizes.get(category)
        if known is None or now - known[0] > _FRESH:
            known = self._sizes[category] = now, self._dialect.store.size(category)
        return known[1]


def _bug(error: Exception, name: str) -> Internal:
    """Return the error that stands for a bug, and say it on standard error, too."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    bug = Internal(
        f"a bug in mmem {__version__} ({type(error).__name__} in {place}, in {name}); please report it with the call "
        "that showed it"
    )
    print(f"mmem: {bug.message}: {error}", file=sys.stderr, flush=True)
    return bug

"""Running a server on the wire until the client is gone or a signal comes."""

import asyncio
import gc
import os
import selectors
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.abc
from mcp.server.runner import serve_loop

from mmem.server.claim import Wire
from mmem.server.service import Service
from mmem.server.wire import Reader, streams
from mmem.server.writer import Writer

_TURNS = 6


def run(service: Service, wire: Wire | None) -> int | None:
    """Serve until the end; return the number of the signal that ended it, or None."""
    gc.collect(0)
    gc.freeze()  # or the interpreter's end would walk through all of the SDK: 0.2 s
    gc.enable()
    gc.set_threshold(20_000, 20, 50)  # a call leaves little behind
    return anyio.run(_serve, service, wire, backend_options={"loop_factory": _loop})


def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(_Selector()) if os.name == "posix" else asyncio.new_event_loop()


class _Selector(selectors.DefaultSelector):
    """Looks for input once in a few turns of the loop while it has work at hand: a call takes five turns.

    Each look is a system call, and a turn that has work to do asks for one without waiting.
    """

    _passed = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout <= 0 and self._passed < _TURNS:
            self._passed += 1
            return []
        self._passed = 0
        return super().select(timeout)


async def _serve(service: Service, wire: Wire | None) -> int | None:
    if wire is None:  # Windows, where pipes can't be waited for
        from mcp.server.stdio import stdio_server

        async with stdio_server() as (reader, writer), _announcing(service):
            await service.server.run(reader, writer, service.options())
        return None
    reading, writing = streams(wire)
    ended = _Ended(reading)
    async with _announcing(service) as tasks:
        await tasks.start(ended.listen)
        await _converse(service, reading, writing)
        while reading.restarts():
            await _converse(service, reading, writing)
        await writing.settle()  # streams of changes are told that they end
    return ended.signal


async def _converse(service: Service, reader: Reader, writer: Writer) -> None:
    """Serve one connection, in the era that the client opens it with."""
    if await reader.opens_with_handshake():
        # What `Server.run` does for this era, without its relay between the reader and the loop, which costs a
        # tenth of each call; the SDK names it as the way of transports that look after their own lifespan.
        await serve_loop(service.server, reader, writer, lifespan_state={}, init_options=service.options())
    else:
        await service.server.run(reader, writer, service.options())


@asynccontextmanager
async def _announcing(service: Service) -> AsyncIterator[anyio.abc.TaskGroup]:
    """Announce changes beside the server."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(service.announcer.run)
        yield tasks
        tasks.cancel_scope.cancel()


class _Ended:
    """Waits for a signal: the first one lets what runs finish, the second ends the process at once."""

    def __init__(self, reader: Reader) -> None:
        self.signal: int | None = None
        self._reader = reader

    async def listen(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        heard = [number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if not _is_ignored(number)]
        with anyio.open_signal_receiver(*heard) as signals:
            task_status.started()
            async for number in signals:
                if self.signal is not None:
                    os._exit(128 + number)
                self.signal = number
                self._reader.stop()


def _is_ignored(number: signal.Signals) -> bool:
    """Tell whether who started us wants a signal ignored, as nohup does."""
    return signal.getsignal(number) == signal.SIG_IGN

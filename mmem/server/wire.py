"""A stdio transport without threads for the SDK's `Server.run`; POSIX only.

The SDK's own `stdio_server` reads and writes through worker threads, three hops for each call. This one waits for the
descriptors on the event loop. It answers every broken frame, and it ends a run only when what was asked is answered.
"""

import asyncio
import os
import select
import stat
from collections import deque
from contextlib import suppress
from typing import Self

import anyio
import anyio.lowlevel
from mcp.shared.dispatcher import as_request_id
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest

from mmem.server.claim import Wire
from mmem.server.frames import LineCutter, Refused, message_of
from mmem.server.writer import Stream, Writer

_CHUNK = 1 << 16
_AHEAD = 1_000  # lines to have read before they can be dealt with
_LEAD = 8  # notifications kept that come before the first request
_MOST_KEPT = 64 << 20  # bytes of answers that may wait for a client which asks on without reading
_NEVER_ANSWERED = "subscriptions/listen"  # its answer is the end of the stream


class Reader(Stream):
    """Reads messages line by line, and answers those lines itself that hold none."""

    def __init__(self, descriptor: int, writer: Writer) -> None:
        """Read from a descriptor; answer by the writer."""
        self._descriptor = descriptor
        self._writer = writer
        self._cutter = LineCutter()
        self._lines: deque[bytes | Refused] = deque()
        self._ended = False
        self._watched = False
        self._waiting: asyncio.Future[None] | None = None
        self._lead: deque[SessionMessage] = deque()  # read before the era was known
        self._asked = False
        self._discovered = False  # the client has asked for nothing yet but what the server is
        self._restarts = False
        writer.on_break = self.stop

    def stop(self) -> None:
        """Read nothing more: what is being answered is the last."""
        self._lines.clear()
        self._end()

    def _end(self) -> None:
        self._ended = True
        self._writer.end()
        self._watch(False)
        self._wake()

    async def opens_with_handshake(self) -> bool:
        """Read up to the client's first request, and tell whether that is `initialize`."""
        while not any(isinstance(one.message, JSONRPCRequest) for one in self._lead):
            item = await self._next()
            if item is None:
                return False
            if len(self._lead) == _LEAD:
                self._lead.popleft()
            self._lead.append(item)
        opening = self._lead[-1].message
        return isinstance(opening, JSONRPCRequest) and opening.method == "initialize"

    def restarts(self) -> bool:
        """Tell whether the run ended because a client that had only probed with `server/discover` went on to
        `initialize`, which the SDK refuses on the same connection (-32022): run once more.
        """
        restarts, self._restarts = self._restarts, False
        return restarts

    def __aiter__(self) -> Self:
        return self

    async def receive(self) -> SessionMessage:
        """Return the next message. Raises `EndOfStream`."""
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def __anext__(self) -> SessionMessage:
        item = self._lead.popleft() if self._lead else await self._next()
        if item is None:
            await self._writer.settle()
            raise StopAsyncIteration
        message = item.message
        if isinstance(message, JSONRPCRequest):
            if message.method == "initialize" and self._discovered:
                await self._writer.settle()
                self._lead.append(item)
                self._discovered, self._restarts = False, True
                raise StopAsyncIteration
            self._discovered = message.method == "server/discover" and (self._discovered or not self._asked)
            self._asked = True
            if message.method != _NEVER_ANSWERED:
                self._writer.asked(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            id = as_request_id((message.params or {}).get("requestId"))
            if id is not None:
                self._writer.cancelled(id)
        return item

    async def _next(self) -> SessionMessage | None:
        """Return the next message, or None at the end."""
        while True:
            while not self._lines:
                if self._ended:
                    return None
                await self._arrival()
            await self._room()
            if not self._lines:
                continue
            line = self._lines.popleft()
            try:
                if isinstance(line, Refused):
                    raise line
                if line and not line.isspace():
                    return SessionMessage(message_of(line))
            except Refused as refused:
                await self._refuse(refused)

    async def _refuse(self, refused: Refused) -> None:
        error = ErrorData(code=refused.code, message=refused.message)
        with suppress(anyio.BrokenResourceError):
            await self._writer.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=refused.id, error=error)))

    async def _room(self) -> None:
        """Wait while the client lets its answers lie; its end may hide behind what is unread, so it is asked for."""
        while self._writer.kept > _MOST_KEPT:
            self._watch(False)
            with anyio.move_on_after(1):
                await self._writer.moved()
            if not self._ended and _hung_up(self._descriptor):
                self._writer.end()

    async def _arrival(self) -> None:
        """Wait until something has arrived, or the end has come."""
        try:
            self._watch(True)
        except PermissionError:  # a regular file is always ready
            self._read()
            await anyio.lowlevel.checkpoint()  # let what was read so far be carried out
            return
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None

    def _watch(self, watch: bool) -> None:
        """Have what arrives read at once, or not. To stay registered spares two system calls a frame."""
        if watch and not self._watched:
            asyncio.get_running_loop().add_reader(self._descriptor, self._read)
        elif self._watched and not watch:
            asyncio.get_running_loop().remove_reader(self._descriptor)
        self._watched = watch

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _read(self) -> None:
        """Read what has arrived."""
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return
        except OSError:  # a terminal or socket that is gone
            chunk = b""
        self._lines.extend(self._cutter.cut(chunk or b"\n"))  # a last line may lack its newline
        if not chunk:
            self._end()
        elif len(self._lines) > _AHEAD:
            self._watch(False)  # until the next arrival is waited for
        if self._lines:
            self._wake()


def _hung_up(descriptor: int) -> bool:
    """Tell whether a client has closed its end, though not all that it sent was read."""
    poll = select.poll()
    poll.register(descriptor, getattr(select, "POLLRDHUP", 0))
    return bool(poll.poll(0))


def streams(wire: Wire) -> tuple[Reader, Writer]:
    """Return the two streams that `Server.run` takes."""
    mode = os.fstat(wire.out).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):  # a terminal's flags are shared with the shell
        os.set_blocking(wire.out, False)
    writer = Writer(wire.out)
    return Reader(wire.into, writer), writer

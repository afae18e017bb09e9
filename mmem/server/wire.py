"""A stdio transport without threads for the SDK's `Server.run`; POSIX only.

The SDK's own `stdio_server` reads and writes through worker threads, three hops for each call. This one waits for the
descriptors on the event loop. It answers every broken frame, and it ends a run only when what was asked is answered.
"""

import asyncio
import os
import stat
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from mmem.server.claim import Wire
from mmem.server.frames import MAX_FRAME, Refused, message_of, too_large

STALLED = 5.0  # seconds that a client which has stopped reading is given

_CHUNK = 1 << 16
_AHEAD = 1_000  # lines to have read before they can be dealt with
_LEAD = 8  # notifications kept that come before the first request
_KEPT = 1 << 10  # bytes kept of either end of a frame that is too large
_NEVER_ANSWERED = "subscriptions/listen"  # its answer is the end of the stream


class _Stream:
    async def aclose(self) -> None:
        """Do nothing: the descriptors live as long as the process."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Writer(_Stream):
    """Writes frames whole and in order, and knows which requests still wait for their answer."""

    def __init__(self, descriptor: int) -> None:
        """Write to a descriptor."""
        self.broken = False
        self.on_break: Callable[[], None] = lambda: None
        self.unanswered: set[int | str] = set()
        self._descriptor = descriptor
        self._lock = anyio.Lock(fast_acquire=True)  # first come, first served
        self._blocked_since: float | None = None
        self._moved = anyio.Event()

    async def send(self, item: SessionMessage) -> None:
        """Write a message. Raises `BrokenResourceError` where the client is gone."""
        message = item.message
        try:
            text = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            async with self._lock:
                await self._write(text)
        finally:
            if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
                self.answered(message.id)

    def answered(self, id: int | str) -> None:
        """Note that a request has its answer, or will never get one."""
        self.unanswered.discard(id)
        self._stir()

    async def settle(self) -> None:
        """Wait until every request is answered, or the client has read nothing for `STALLED` seconds."""
        began = anyio.current_time()
        while self.unanswered and not self.broken:
            since = self._blocked_since
            deadline = float("inf") if since is None else max(since, began) + STALLED
            with anyio.move_on_at(deadline) as scope:
                await self._moved.wait()
            if scope.cancelled_caught and self._blocked_since == since:
                self._break()

    def _stir(self) -> None:
        self._moved.set()
        self._moved = anyio.Event()

    async def _write(self, data: bytes) -> None:
        if self.broken:
            raise anyio.BrokenResourceError
        try:
            try:
                sent = os.write(self._descriptor, data)
            except BlockingIOError:
                sent = 0
            if sent < len(data):
                await self._write_rest(memoryview(data)[sent:], begun=bool(sent))
        except OSError:
            self._break()
            raise anyio.BrokenResourceError from None

    async def _write_rest(self, data: memoryview, *, begun: bool) -> None:
        """Write what the pipe had no room for: a frame that is begun is finished, even by a cancelled task."""
        try:
            with anyio.move_on_after(STALLED if begun else None, shield=begun) as scope:
                while data:
                    self._blocked_since = anyio.current_time()
                    self._stir()
                    await anyio.wait_writable(self._descriptor)
                    try:
                        data = data[os.write(self._descriptor, data) :]
                    except BlockingIOError:
                        continue
                    scope.shield, scope.deadline = True, anyio.current_time() + STALLED
        finally:
            self._blocked_since = None
        if data:
            self._break()
            raise anyio.BrokenResourceError

    def _break(self) -> None:
        self.broken = True
        self.on_break()
        self._stir()


class Reader(_Stream):
    """Reads messages line by line, and answers those lines itself that hold none."""

    def __init__(self, descriptor: int, writer: Writer) -> None:
        """Read from a descriptor; answer by the writer."""
        self._descriptor = descriptor
        self._writer = writer
        self._lines: deque[bytes | Refused] = deque()
        self._parts: list[bytes] = []  # of the line that is arriving
        self._size = 0
        self._tail = b""
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
        self._ended = True
        self._lines.clear()
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
                self._writer.unanswered.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            id = (message.params or {}).get("requestId")
            if isinstance(id, int | str):
                self._writer.answered(id)
        return item

    async def _next(self) -> SessionMessage | None:
        """Return the next message, or None at the end."""
        while True:
            while not self._lines:
                if self._ended:
                    return None
                await self._arrival()
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

    async def _arrival(self) -> None:
        """Wait until something has arrived, or the end has come."""
        try:
            self._watch(True)
        except PermissionError:  # a regular file is always ready
            self._read()
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
        if not chunk:  # the end; a last line may lack its newline
            self._ended, chunk = True, b"\n"
        self._split(chunk)
        if self._ended or len(self._lines) > _AHEAD:
            self._watch(False)  # until the next arrival is waited for
        if self._lines or self._ended:
            self._wake()

    def _split(self, chunk: bytes) -> None:
        """Add what has arrived to the line that is arriving, and cut it into lines."""
        first, *more = chunk.split(b"\n")
        self._add(first)
        if not more:
            return
        self._lines.append(self._whole())
        self._lines.extend(more[:-1])
        self._parts, self._size, self._tail = [], 0, b""
        self._add(more[-1])

    def _add(self, part: bytes) -> None:
        """Keep a part of a line; of one that grows too large, both ends."""
        self._size += len(part)
        if self._size <= MAX_FRAME:
            self._parts.append(part)
            return
        if len(self._parts) > 1:
            joined = b"".join(self._parts)
            self._parts, self._tail = [joined[:_KEPT]], joined[-_KEPT:]
        self._tail = (self._tail + part)[-_KEPT:]

    def _whole(self) -> bytes | Refused:
        """Return the line that has arrived, or the refusal of one that is too large."""
        if self._size <= MAX_FRAME:
            return b"".join(self._parts)
        return too_large(b"".join(self._parts), self._tail)


def streams(wire: Wire) -> tuple[Reader, Writer]:
    """Return the two streams that `Server.run` takes."""
    mode = os.fstat(wire.out).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):  # a terminal's flags are shared with the shell
        os.set_blocking(wire.out, False)
    writer = Writer(wire.out)
    return Reader(wire.into, writer), writer

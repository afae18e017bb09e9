"""The half of the transport that writes: frames go out whole, in order, and as fast as the client reads."""

import asyncio
import os
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

import anyio
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCResponse

STALLED = 5.0  # seconds that a client which has stopped reading is given at the end


class Stream:
    """What the two halves have in common: the SDK uses them as contexts."""

    async def aclose(self) -> None:
        """Do nothing: the descriptors live as long as the process."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Writer(Stream):
    """Writes frames whole and in order, and knows which requests still wait for their answer.

    Nobody waits for a client that reads slowly: frames are kept until there is room for them, so that no task can be
    cancelled in the middle of one.
    """

    def __init__(self, descriptor: int) -> None:
        """Write to a descriptor."""
        self.broken = False
        self.on_break: Callable[[], None] = lambda: None
        self.kept = 0  # bytes that the client has had no room for
        self._descriptor = descriptor
        self._frames: deque[memoryview] = deque()
        self._unanswered: dict[int | str, int] = {}  # how many requests by id: some clients use one id for all
        self._ending = False
        self._watched = False
        self._stalling: asyncio.TimerHandle | None = None
        self._moved: anyio.Event | None = None

    async def send(self, item: SessionMessage) -> None:
        """Write a message. Raises `BrokenResourceError` where the client is gone."""
        message = item.message
        try:
            self._put(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        finally:
            if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
                self._answered(message.id)

    def asked(self, id: int | str) -> None:
        """Note that a request waits for its answer."""
        self._unanswered[id] = self._unanswered.get(id, 0) + 1

    def cancelled(self, id: int | str) -> None:
        """Note that a request will get no answer; to the SDK, `"7"` and `7` are the same."""
        meant = coerce_request_id(id)
        for one in [one for one in self._unanswered if coerce_request_id(one) == meant]:
            self._answered(one)

    def _answered(self, id: int | str) -> None:
        left = self._unanswered.pop(id, 0) - 1
        if left > 0:
            self._unanswered[id] = left
        self._stir()

    def end(self) -> None:
        """Give the client no more than `STALLED` seconds to go on reading."""
        if not self._ending:
            self._ending = True
            self._mind()

    async def settle(self) -> None:
        """Wait until every request is answered, and at the end until the answers are read, or the client is gone."""
        while (self._unanswered or (self._ending and self._frames)) and not self.broken:
            await self.moved()

    async def moved(self) -> None:
        """Wait until something is answered or read."""
        if self._moved is None:
            self._moved = anyio.Event()
        await self._moved.wait()

    def _stir(self) -> None:
        if self._moved is not None:
            self._moved.set()
            self._moved = None

    def _put(self, frame: bytes) -> None:
        if not self.broken:
            self._frames.append(memoryview(frame))
            self.kept += len(frame)
            if not self._watched:
                self._write()
        if self.broken:
            raise anyio.BrokenResourceError

    def _write(self) -> None:
        """Write the first of the frames that are kept, or as much of it as there is room for."""
        frame = self._frames.popleft()
        self.kept -= len(frame)
        try:
            while frame:
                frame = frame[os.write(self._descriptor, frame) :]
        except BlockingIOError:
            self._frames.appendleft(frame)
            self.kept += len(frame)
        except OSError:
            self._break()
        if self._frames or self._watched:
            self._mind()

    def _mind(self) -> None:
        """Have what is kept written once there is room; at the end, in time."""
        loop = asyncio.get_running_loop()
        if self._frames and not self._watched:
            loop.add_writer(self._descriptor, self._write)
        elif self._watched and not self._frames:
            loop.remove_writer(self._descriptor)
        self._watched = bool(self._frames)
        if self._stalling is not None:
            self._stalling.cancel()
        self._stalling = loop.call_later(STALLED, self._break) if self._ending and self._frames else None
        self._stir()

    def _break(self) -> None:
        self.broken = True
        self._frames.clear()
        self.kept = 0
        self._mind()
        self.on_break()

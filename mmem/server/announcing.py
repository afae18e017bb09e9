"""Telling subscribers that a category has changed, whoever changed it.

The server's own writes are told at once. What other processes do is looked for once a second, and only while somebody
is subscribed.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged, ResourceUpdated
from mcp.types import INVALID_PARAMS, SubscriptionsListenRequestParams, SubscriptionsListenResult

from mmem.errors import MmemError
from mmem.server.dialects import Dialect
from mmem.store import Watch

_EVERY = 1.0  # seconds
_MOST = 100  # categories: to watch one takes a connection, and so up to three of the process's file descriptors

Context = ServerRequestContext[Any, Any]


class Announcer:
    """Knows who is subscribed to what, and tells them."""

    def __init__(self, dialect: Dialect) -> None:
        """Announce for a dialect's store."""
        self._dialect = dialect
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._sessions: dict[str, Any] = {}  # by category; of handshake clients, who subscribe by a request
        self._listening: Counter[str] = Counter()  # of clients of the 2026 era, who keep a stream open
        self._listeners = 0
        self._session: Any = None  # of a handshake client, who hears of new resources without subscribing
        self._watches: dict[str, Watch] = {}
        self._categories: list[str] = []
        self._folder: int | None = None
        self._wanted = anyio.Event()

    def subscribe(self, context: Context, category: str) -> None:
        """Tell a handshake client of a category's changes from now on. Raises `MCPError` for one too many."""
        self._watch(category)
        self._session = self._sessions[category] = context.session

    def unsubscribe(self, category: str) -> None:
        """Tell a handshake client nothing more about a category."""
        self._sessions.pop(category, None)
        self._unwatch(category)

    async def listen(self, context: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """Serve a stream of changes to a client of the 2026 era."""
        wanted = params.notifications.resource_subscriptions or []
        categories = [name for uri in wanted if (name := self._dialect.category_at(str(uri))) is not None]
        with self._counted(categories):
            return await self._listen(context, params)

    @contextmanager
    def _counted(self, categories: list[str]) -> Iterator[None]:
        counted: list[str] = []
        self._listeners += 1
        try:
            for category in categories:
                self._watch(category)
                self._listening[category] += 1
                counted.append(category)
            self._wake()
            yield
        finally:
            self._listeners -= 1
            for category in counted:
                self._listening[category] -= 1
                self._unwatch(category)
            self._rest()

    async def wrote(self, category: str) -> None:
        """Tell that a call of this server has written to a category."""
        if category in self._watches and (self._changed(category) or self._dialect.announces_always):
            await self._tell(category)

    async def run(self) -> None:
        """Look for what other processes change, for as long as somebody is subscribed."""
        while True:
            await self._wanted.wait()
            await anyio.sleep(_EVERY)
            for category in list(self._watches):
                if self._changed(category):
                    await self._tell(category)
            await self._compare_list()

    def _changed(self, category: str) -> bool:
        """Tell whether a category that is watched has changed since it was last asked."""
        watch = self._watches.get(category)
        try:
            return watch is not None and watch.changed()
        except MmemError:  # it can't be read just now; whoever reads it hears why
            return False

    async def _tell(self, category: str) -> None:
        uri = self._dialect.uri_of(category)
        await self._bus.publish(ResourceUpdated(uri=uri))
        if session := self._sessions.get(category):
            await session.send_resource_updated(uri)

    async def _compare_list(self) -> None:
        """Tell where categories have come or gone; that takes opening them all, so the folder's time is asked first."""
        folder, self._folder = self._folder, self._dialect.store.changed_at()
        if folder == self._folder:
            return
        before, self._categories = self._categories, self._names()
        if before == self._categories:
            return
        await self._bus.publish(ResourcesListChanged())
        if self._session is not None and self._sessions:
            await self._session.send_resource_list_changed()

    def _names(self) -> list[str]:
        try:
            return [resource["uri"] for resource in self._dialect.resources()]
        except MmemError:  # the folder can't be read just now
            return []

    def _watch(self, category: str) -> None:
        if category not in self._watches:
            if len(self._watches) >= _MOST:
                raise MCPError(code=INVALID_PARAMS, message=f"at most {_MOST} categories can be subscribed to at once")
            self._watches[category] = self._dialect.store.watch(category)
        self._wake()

    def _unwatch(self, category: str) -> None:
        if category not in self._sessions and not self._listening[category] and category in self._watches:
            self._watches.pop(category).close()
        self._rest()

    def _rest(self) -> None:
        """Look no more, where nobody is subscribed."""
        if not self._watches and not self._listeners:
            self._wanted = anyio.Event()

    def _wake(self) -> None:
        if not self._wanted.is_set():
            self._folder = self._dialect.store.changed_at()
            self._categories = self._names()
            self._wanted.set()

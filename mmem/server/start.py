"""Putting a server together: here the SDK is imported, which takes half a second."""

import os
import shlex
from contextlib import suppress

from mmem.errors import MmemError
from mmem.server.claim import Wire
from mmem.server.multi_memory import MultiMemory, Options
from mmem.server.sdk import quickly_imported
from mmem.server.server_memory import ServerMemory
from mmem.store import Store
from mmem.streams import Streams

FILE_VARIABLE = "MEMORY_FILE_PATH"  # the reference server's


def start(store: Store, dialect: str, options: Options, wire: Wire | None, streams: Streams) -> int | None:
    """Serve a store until the client is gone; return the number of the signal that ended it, or None."""
    with quickly_imported():
        from mmem.server.run import run
        from mmem.server.service import Service

    if dialect == "server-memory":
        offer_import(store, streams)
        return run(Service(ServerMemory(store, options), prompts=False, categories=False), wire)
    return run(Service(MultiMemory(store, options), prompts=True, categories=options.pin is None), wire)


def offer_import(store: Store, streams: Streams) -> None:
    """Say how to bring in the file that the reference server used, where nothing is stored yet."""
    given = streams.environ.get(FILE_VARIABLE)
    if not given:
        return
    category, path = store.default_category, os.path.abspath(os.path.expanduser(given))
    if not os.path.isfile(path):
        streams.note(
            f"mmem: {FILE_VARIABLE} names {path}, which isn't there; mmem keeps its memory in {store.base_dir}"
        )
        return
    with suppress(MmemError):  # what is wrong with the category is what every call answers
        if os.path.getsize(path) and store.is_empty(category):
            streams.note(
                f"mmem: category '{category}' is empty, and {FILE_VARIABLE} names {path}, which was not read; "
                f"to bring it in: {_how(store, path)}"
            )


def _how(store: Store, path: str) -> str:
    return shlex.join(["mmem", "--base-dir", store.base_dir, "-c", store.default_category, "import", path])

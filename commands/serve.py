"""`mmem serve`: the tools over MCP, for Claude Desktop and other hosts."""

import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

import click

from mmem.app import App
from mmem.errors import Usage
from mmem.exits import ExitStatus
from mmem.names import require_category
from mmem.options import shared_options
from mmem.server.claim import claim
from mmem.settings import output_format

_MAX_BYTES = 900_000  # Claude Desktop refuses results of more than 1 MB
_LEAST_BYTES = 10_000


@click.command("serve")
@click.option(
    "--dialect",
    type=click.Choice(["multi-memory", "server-memory"]),
    default="multi-memory",
    show_default=True,
    help="The eleven tools of multi-memory-mcp, or the nine of the reference server, with one category.",
)
@click.option("--read-only", is_flag=True, help="List no tool that changes something, and refuse it.")
@click.option(
    "--tools",
    type=click.Choice(["eleven", "all"]),
    default="eleven",
    show_default=True,
    help="With all, what reads the graph in other ways comes along: neighbors and path.",
)
@click.option("--pin", metavar="CATEGORY", help="Serve this category alone.")
@click.option(
    "--max-bytes",
    type=click.IntRange(_LEAST_BYTES),
    default=_MAX_BYTES,
    show_default=True,
    metavar="N",
    help="Cut a result that is larger, where an entity ends.",
)
@shared_options
def command(dialect: str, read_only: bool, tools: str, pin: str | None, max_bytes: int) -> None:
    """Serve the tools to Claude Desktop and other MCP hosts.

    Speaks the Model Context Protocol on standard input and output, until its input ends. A host starts it; see
    `mmem config` for how to tell it to.

    \b
    mmem config claude-desktop --write
    mmem serve --pin work --read-only
    mmem serve --dialect server-memory -c work
    """
    app = click.get_current_context().find_object(App) or App()
    if tools == "all" and dialect != "multi-memory":
        raise Usage(f"the dialect {dialect} has its own tools; --tools all goes with multi-memory")
    _choose_category(app, pin)
    serialization = _serialization(app)
    app.default_category()
    if sys.stdin is None or sys.stdout is None:
        raise Usage("a server talks on standard input and output, and one of them is closed")
    if app.streams.reads_terminal:
        app.streams.note(
            "mmem: waiting for a host's JSON-RPC on standard input; `mmem config` sets a host up, Ctrl-C ends this"
        )
    wire = claim() if os.name == "posix" else None
    from mmem.server.multi_memory import Options
    from mmem.server.start import start

    options = Options(serialization, max_bytes, read_only, pin, tools == "all")
    with app.store() as store:
        ended_by = start(store, dialect, options, wire, app.streams)
    _leave(ExitStatus.INTERRUPTED if ended_by == signal.SIGINT else ExitStatus.OK)


def _leave(status: ExitStatus) -> NoReturn:
    """End the process at once: everything is stored and answered, and to take the SDK down takes 20 to 40 ms."""
    with suppress(OSError, ValueError, AttributeError):  # a standard error that is closed
        sys.stderr.flush()
    os._exit(int(status))


def _choose_category(app: App, pin: str | None) -> None:
    """Make the pinned category the default one."""
    if pin is None:
        return
    require_category(pin, "--pin")
    if app.category and app.category != pin:
        raise Usage(f"--category is '{app.category}', but --pin is '{pin}'; give one of them")
    app.category = pin


def _serialization(app: App) -> str:
    """Return the format of results: `--format`, else what the variable names, else json."""
    chosen = output_format(app.format, on_terminal=False, environ=app.streams.environ)
    if chosen == "table":
        raise Usage("a server can't show tables: choose json, toon, yaml or jsonl (--format or SERIALIZATION_FORMAT)")
    return chosen

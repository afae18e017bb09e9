"""`mmem batch`: requests as JSON lines in, responses as JSON lines out."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from mmem.app import App
from mmem.batch import Batch
from mmem.errors import Usage
from mmem.exits import ExitStatus
from mmem.lines import Lines
from mmem.options import shared_options
from mmem.progress import progress

Progress = Callable[[int], None]  # takes the bytes read so far


@click.command("batch")
@click.argument("file", metavar="[FILE|-]", default="-")
@click.option("--stop-on-error", is_flag=True, help="After a failure, skip the rest.")
@click.option("--atomic", is_flag=True, help="Store all of it, or nothing where one request fails.")
@click.option("--dry-run", is_flag=True, help="Answer, and store nothing.")
@click.option("--errors-only", is_flag=True, help="Print only the responses to requests that failed.")
@click.option("--summary", is_flag=True, help="Print a summary as the last line.")
@click.option(
    "--durable",
    type=click.Choice(["full", "normal"]),
    default="full",
    show_default=True,
    help="Whether an answered request outlives a power cut (full), or only a crash (normal, faster).",
)
@shared_options
def command(
    file: str, stop_on_error: bool, atomic: bool, dry_run: bool, errors_only: bool, summary: bool, durable: str
) -> None:
    """Carry out requests from JSON lines.

    A line {"id": 1, "tool": "read_graph", "arguments": {}} is answered by a line {"id": 1, "ok": true, "result": ...},
    in order, each after its COMMIT. Exits with 1 where a request failed. mmem help batch.7 tells all of it.

    \b
    mmem batch requests.jsonl --summary
    jq -c '{tool: "open_nodes", arguments: {entities: [.name]}}' people.jsonl | mmem batch
    """
    app = click.get_current_context().find_object(App) or App()
    with _input(file) as descriptor, app.store(synchronous=durable.upper(), dry_run=dry_run) as store:
        if atomic or dry_run:
            from mmem.whole_batch import WholeBatch

            batch: Batch = WholeBatch(
                store,
                app.streams.write,
                stop_on_error=stop_on_error,
                errors_only=errors_only,
                atomic=atomic,
                dry_run=dry_run,
            )
        else:
            batch = Batch(store, app.streams.write, stop_on_error=stop_on_error, errors_only=errors_only)
        with _reading(app, file, descriptor) as show:
            _run(batch, Lines(descriptor), show)
        if summary:
            app.streams.write(batch.tally.line())
    if batch.failed:
        raise click.exceptions.Exit(int(ExitStatus.FAILED))


def _run(batch: Batch, lines: Lines, show: Progress) -> None:
    """Carry out what arrives; before it has to wait for more, everything is answered."""
    thresholds = gc.get_threshold()
    gc.enable()
    gc.set_threshold(100_000, 20, 100)  # a request leaves no cycles, and a thousand of them are soon made
    try:
        with batch, _terminated():
            while arrived := lines.next():
                batch.feed(arrived)
                show(lines.read)
                if not lines.waiting():
                    batch.settle()
            batch.finish()
    finally:
        gc.set_threshold(*thresholds)


@contextmanager
def _terminated() -> Iterator[None]:
    """Let SIGTERM roll back what isn't answered, as Ctrl-C does."""

    def stop(number: int, frame: object) -> None:
        raise click.exceptions.Exit(int(ExitStatus.TERMINATED))

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _input(file: str) -> Iterator[int]:
    """Open a file, or standard input for `-`."""
    if file == "-":
        if sys.stdin is None:
            raise Usage("standard input is closed")
        yield sys.stdin.fileno()
        return
    try:
        descriptor = os.open(file, os.O_RDONLY)
        os.read(descriptor, 0)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file's name"
        raise Usage(f"{file}: {reason.lower()}") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _reading(app: App, file: str, descriptor: int) -> Iterator[Progress]:
    """Show how far the reading of a file is."""
    size = os.fstat(descriptor).st_size
    if file == "-" or not size:
        yield lambda read: None
        return
    with progress(app) as show:
        yield lambda read: show(read, size)

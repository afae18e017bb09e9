"""`mmem batch`: requests as JSON lines in, responses as JSON lines out."""

import gc
import os
import sys

import click

from mmem.app import App
from mmem.batch import Batch
from mmem.exits import ExitStatus
from mmem.lines import Lines
from mmem.options import shared_options


@click.command("batch")
@click.argument("file", metavar="[FILE|-]", default="-")
@click.option("--stop-on-error", is_flag=True, help="After a failure, answer the rest without running it.")
@click.option("--errors-only", is_flag=True, help="Print only the responses to requests that failed.")
@shared_options
def command(file: str, stop_on_error: bool, errors_only: bool) -> None:
    """Carry out requests from JSON lines."""
    app = click.get_current_context().find_object(App) or App()
    descriptor = sys.stdin.fileno() if file == "-" else os.open(file, os.O_RDONLY)
    lines = Lines(descriptor)
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)
    with (
        app.store() as store,
        Batch(store, app.streams.write, stop_on_error=stop_on_error, errors_only=errors_only) as batch,
    ):
        while arrived := lines.next():
            batch.feed(arrived)
            if not lines.waiting():
                batch.settle()
        batch.finish()
    if batch.failed:
        raise click.exceptions.Exit(int(ExitStatus.FAILED))

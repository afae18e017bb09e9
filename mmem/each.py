"""Commands that look after a category, or after every one."""

from collections.abc import Callable
from typing import TypeVar

import click

from mmem.app import App
from mmem.errors import MmemError
from mmem.exits import ExitStatus
from mmem.outcomes import Outcome
from mmem.store import Store

ResultT = TypeVar("ResultT")

every_option = click.option("-a", "--all", "every", is_flag=True, help="Do it to every category.")


def for_each(
    app: App, every: bool, work: Callable[[Store, str], Outcome[ResultT]], sentence: Callable[[ResultT], str]
) -> None:
    """Do some work on the run's category, or on every one; print what it gave, on a terminal as a sentence each.

    One category's trouble doesn't keep the others from it: it is told, and decides the exit status.
    """
    if every and app.category:
        raise click.UsageError("--all and --category exclude each other; give one of them")
    failed: MmemError | None = None
    results: list[ResultT] = []
    in_sentences = app.output_format() == "table"
    with app.store() as store:
        for category in store.categories() if every else [store.default_category]:
            try:
                outcome = work(store, category)
            except MmemError as error:
                if not every:
                    raise
                app.show_error(error)
                failed = failed or error
                continue
            results.append(outcome.result)
            if in_sentences:
                file = getattr(outcome.result, "path", None)  # what a backup or a restore speaks of
                app.show(Outcome(sentence(outcome.result), outcome.notices), words=False, file=file)
            else:
                app.show_notices(outcome.notices, words=False)
    if not in_sentences:
        app.show(Outcome(results if every else results[0]))
    if failed is not None:
        raise click.exceptions.Exit(int(failed.exit or ExitStatus.FAILED))

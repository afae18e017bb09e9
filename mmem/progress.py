"""Progress bars: on standard error, where that is a terminal, once the work takes a while."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from mmem.app import App

Progress = Callable[[int, int], None]  # takes what is done, and all there is to do

_A_WHILE = 0.5  # seconds


@contextmanager
def progress(app: App) -> Iterator[Progress]:
    """Show how far some work is."""
    if app.quiet or not app.streams.notes_terminal:
        yield lambda done, total: None
        return
    with ExitStack() as shown:
        began = time.monotonic()
        bar: list[Progress] = []

        def show(done: int, total: int) -> None:
            if not bar and time.monotonic() - began > _A_WHILE:
                bar.append(shown.enter_context(_bar()))
            if bar:
                bar[0](done, total)

        yield show


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)

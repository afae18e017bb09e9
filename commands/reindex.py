"""`mmem reindex`: a category's search index checked, and made anew from its rows."""

import click

from mmem.app import App
from mmem.each import every_option, for_each
from mmem.options import shared_options
from mmem.outcomes import Outcome
from mmem.progress import progress
from mmem.store import Store
from mmem.upkeep import Reindexed, reindex
from mmem.visible import plural


@click.command("reindex")
@every_option
@shared_options
def command(every: bool) -> None:
    """Rebuild the search index of a category.

    It is checked first. With the extra mmem[semantic], observations that have no vector yet, or one of another
    model, get theirs: do this once after installing the extra, where there is a large memory already.

    \b
    mmem reindex -c work
    mmem reindex --all
    """
    app = click.get_current_context().find_object(App) or App()

    def work(store: Store, category: str) -> Outcome[Reindexed]:
        with progress(app) as show:
            return reindex(store, category, show)

    for_each(app, every, work, _sentence)


def _sentence(result: Reindexed) -> str:
    held = f"{plural(result.entities, 'entity', 'entities')} and {plural(result.observations, 'observation')}"
    state = "the old one was sound" if result.sound else "the old one didn't fit the rows"
    embedded = "" if result.embedded is None else f"; {plural(result.embedded, 'observation')} embedded"
    return f"Rebuilt the index of category '{result.category}': {held}; {state}{embedded}"

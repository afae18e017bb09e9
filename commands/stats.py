"""`mmem stats`: a category in figures."""

import click

from mmem.app import App
from mmem.options import shared_options

_MOST = 5  # rows of each list


@click.command("stats")
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=_MOST, metavar="N", help="Rows of each list; 5.")
@shared_options
def command(limit: int) -> None:
    """Show a category in figures.

    How many entities, observations and relations there are, of which types, which entities have the most relations
    and observations, which are the newest and the oldest, and how large the file and its log are.

    \b
    mmem stats -c work
    mmem stats -n 20
    mmem stats -f json | jq -r '.mostConnected[].name'
    """
    from mmem.statistics import statistics

    app = click.get_current_context().find_object(App) or App()
    with app.store() as store:
        outcome = statistics(store, store.default_category, limit)
    app.show(outcome)

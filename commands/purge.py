"""`mmem purge`: what was deleted from a category made unreadable in its file."""

import click

from mmem.app import App
from mmem.each import every_option, for_each
from mmem.options import shared_options
from mmem.upkeep import Purged, purge
from mmem.visible import plural


@click.command("purge")
@every_option
@shared_options
def command(every: bool) -> None:
    """Make deleted texts unreadable in a category's file.

    SQLite keeps the bytes of what was deleted until it needs their room. This rebuilds the search index, writes the
    file anew and empties its log; what is stored stays as it is. Copies elsewhere, backups among them, aren't reached.

    \b
    mmem purge -c work
    mmem purge --all
    """
    app = click.get_current_context().find_object(App) or App()
    for_each(app, every, purge, _sentence)


def _sentence(result: Purged) -> str:
    before, after = plural(result.bytes_before, "byte"), plural(result.bytes_after, "byte")
    return f"Purged category '{result.category}': {before} before, {after} after"

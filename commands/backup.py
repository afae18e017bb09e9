"""`mmem backup`: a category copied into a file of its own, whole and checked."""

import click

from mmem.app import App
from mmem.backups import BackedUp, backup
from mmem.each import for_each
from mmem.errors import NotFound
from mmem.options import shared_options
from mmem.outcomes import Outcome
from mmem.places import is_taken, target
from mmem.progress import progress
from mmem.store import Store
from mmem.visible import plural


@click.command("backup")
@click.option("-a", "--all-categories", "--all", "every", is_flag=True, help="Back up every category, a file each.")
@click.option("-o", "--output", metavar="FILE|FOLDER", help="Where to; by default a new name in this folder.")
@click.option("-y", "--yes", "assume_yes", is_flag=True, help="Replace FILE without asking.")
@shared_options
def command(every: bool, output: str | None, assume_yes: bool) -> None:
    """Back up a category to a file of its own.

    It is one state of the category, whatever others write meanwhile, and is checked before it gets its name:
    CATEGORY-TIME.db here or in FOLDER (with --all-categories in a new folder by default), or FILE. mmem restore
    brings it back.

    \b
    mmem backup -c work
    mmem backup -c work -o work.db
    mmem backup --all-categories -o ~/backups
    """
    app = click.get_current_context().find_object(App) or App()
    path_for = target(app.base_directory(), output, every=every)
    if every and not app.category:
        _require_some(app)

    def work(store: Store, category: str) -> Outcome[BackedUp]:
        path = path_for(category)
        replace = is_taken(path)
        if replace and not assume_yes:
            app.confirm(lambda: f"Replace {path}?", effect=f"this replaces {path}")
        with progress(app) as show:
            return backup(store, category, path, replace=replace, progress=show)

    for_each(app, every, work, _sentence)


def _require_some(app: App) -> None:
    """Raise `NotFound` where there is no category: whoever backs up everything must hear that it is nothing."""
    with app.store() as store:
        if not store.categories():
            raise NotFound(f"there are no categories in {store.base_dir}: nothing was backed up")


def _sentence(result: BackedUp) -> str:
    held = (
        f"{plural(result.entities, 'entity', 'entities')}, {plural(result.observations, 'observation')} and "
        f"{plural(result.relations, 'relation')}"
    )
    left = f"; {plural(result.left_behind, 'row')} of entities that are gone" if result.left_behind else ""
    return f"Backed up category '{result.category}' to {result.path}: {held} in {plural(result.bytes, 'byte')}{left}"

"""`mmem restore`: categories brought back from backups."""

import click

from mmem.app import App
from mmem.errors import Usage
from mmem.options import shared_options
from mmem.outcomes import Outcome
from mmem.places import newest
from mmem.progress import progress
from mmem.restores import Planned, Restored, plan, restore
from mmem.store import Store
from mmem.visible import plural


@click.command("restore")
@click.argument("sources", metavar="FILE|FOLDER...", nargs=-1)
@click.option("-y", "--yes", "assume_yes", is_flag=True, help="Don't ask before a category is replaced.")
@shared_options
def command(sources: tuple[str, ...], assume_yes: bool) -> None:
    """Bring categories back from backups.

    The category is the one that FILE is named for, or that of --category; of a FOLDER it is the newest backup of
    each. All are checked first. A category that is replaced is kept in the folder replaced of the base directory;
    programs that have it open go on with the restored one.

    \b
    mmem restore work-2026-11-30T09-30-00Z.db
    mmem restore ~/backups --yes
    mmem restore old-memory.db -c work
    """
    app = click.get_current_context().find_object(App) or App()
    if not sources:
        raise click.UsageError("say which backups: files, or folders that hold some")
    files, notices = newest(sources)
    app.show_notices(notices)
    if app.category and len(files) > 1:
        raise Usage(f"--category names one category, but there are {len(files)} files: restore them one by one")
    category = app.default_category() if app.category else None
    with app.store() as store:
        planned = plan(store, files, category)
        if not assume_yes:
            for one in planned:
                _confirm(app, one)
        _restore(app, store, planned, as_list=len(files) > 1 or files != list(sources))


def _confirm(app: App, one: Planned) -> None:
    if one.question is not None:
        app.confirm(lambda: one.question, effect=f"this replaces category '{one.category}'")


def _restore(app: App, store: Store, planned: list[Planned], *, as_list: bool) -> None:
    """Restore, and print what was, even if one more fails."""
    done: list[Outcome[Restored]] = []
    try:
        with progress(app) as show:
            for outcome in restore(store, planned, show):
                done.append(outcome)
    finally:
        if app.output_format() == "table":
            for outcome in done:
                app.show(Outcome(_sentence(outcome.result), outcome.notices), words=False)
        elif done:
            results = [outcome.result for outcome in done]
            notices = [notice for outcome in done for notice in outcome.notices]
            app.show(Outcome(results if as_list else results[0], notices), words=False)


def _sentence(result: Restored) -> str:
    held = (
        f"{plural(result.entities, 'entity', 'entities')}, {plural(result.observations, 'observation')} and "
        f"{plural(result.relations, 'relation')}"
    )
    left = f"; {plural(result.left_behind, 'row')} of entities that are gone" if result.left_behind else ""
    before = f"; the one before is kept in {result.replaced}" if result.replaced else ""
    return f"Restored category '{result.category}' from {result.path}: {held}{left}{before}"

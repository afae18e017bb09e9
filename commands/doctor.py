"""`mmem doctor`: everything that mmem stands on, looked at and mended where that is safe."""

import sys
from collections import Counter
from collections.abc import Iterable

import click

from mmem import hosts
from mmem.app import App
from mmem.checkup.hostentries import Here
from mmem.checkup.remarks import Remark
from mmem.checkup.run import checkup
from mmem.exits import ExitStatus
from mmem.options import shared_options
from mmem.outcomes import Outcome
from mmem.progress import progress
from mmem.visible import plural

_COLORS = {"ok": "green", "info": "cyan", "warning": "magenta", "problem": "red", "fixed": "green"}


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Mend what is safe to mend, and say what was done.")
@click.option("--thorough", is_flag=True, help="Compare every index with its rows; large categories take a while.")
@shared_options
def command(fix: bool, thorough: bool) -> None:
    """Check what mmem stands on, and mend what is safe.

    Looks at Python and SQLite, the base directory, every category (or that of --category) and what lies beside them,
    and the entries of hosts. Nothing is changed without --fix, which closes files to others, makes search indexes
    anew, empties logs that have grown large, and removes what stopped programs left. Exits with 1 where there is a
    problem.

    \b
    mmem doctor
    mmem doctor --fix
    mmem doctor -f json | jq '.[] | select(.level == "problem")'
    """
    app = click.get_current_context().find_object(App) or App()
    here = Here(hosts.launcher(sys.argv[0]), app.base_directory(), app.streams.environ)
    only = app.default_category() if app.category else None
    with app.store() as store:
        if app.output_format() == "table":  # whose lines show how far it is
            counts = _told(app, checkup(store, here, only, thorough=thorough, fix=fix))
        else:
            with progress(app) as show:
                counts = _listed(app, checkup(store, here, only, thorough=thorough, fix=fix, progress=show))
    if counts["problem"]:
        raise click.exceptions.Exit(int(ExitStatus.FAILED))


def _told(app: App, remarks: Iterable[Remark]) -> "Counter[str]":
    """Print a line for each remark as it is made, and a sentence that sums them up."""
    counts: Counter[str] = Counter()
    colored = app.streams.colored(app.streams.shows_terminal)
    for one in remarks:
        counts[one.level] += 1
        level = f"{one.level:<7}"
        shown = click.style(level, fg=_COLORS[one.level], bold=one.level == "problem" or None) if colored else level
        _print(app, f"{shown}  {one.sentence}")
    _print(app, _summary(counts))
    return counts


def _print(app: App, line: str) -> None:
    app.streams.write(f"{line}\n".encode(errors="backslashreplace"))


def _summary(counts: "Counter[str]") -> str:
    found = f"{plural(counts['problem'], 'problem')}, {plural(counts['warning'], 'warning')}"
    return f"{found}, {counts['fixed']} fixed" if counts["fixed"] else found


def _listed(app: App, remarks: Iterable[Remark]) -> "Counter[str]":
    listed = list(remarks)
    app.show(Outcome(listed))
    return Counter(one.level for one in listed)

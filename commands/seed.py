"""`mmem seed`: categories filled from graphs in YAML."""

import click

from mmem.app import App
from mmem.exits import ExitStatus
from mmem.options import shared_options
from mmem.outcomes import Outcome
from mmem.seeding import run
from mmem.seeding.changes import Seeded
from mmem.seeding.documents import read
from mmem.seeding.graphs import Document
from mmem.seeding.joining import Joined, join
from mmem.seeding.sources import fixtures, source
from mmem.store import Store
from mmem.undisturbed import undisturbed
from mmem.visible import plural
from mmem.words import override_option
from mmem.yamltext import place

_COLORS = {"+": "green", "-": "red"}


@click.command("seed")
@click.argument("names", metavar="FILE|NAME|-...", nargs=-1)
@override_option("Make properties and observations of the files' entities what the files say.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and write nothing.")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1, and show how, if a category differs.")
@shared_options
def command(names: tuple[str, ...], override: bool, dry_run: bool, check: bool) -> None:
    """Fill categories from graphs in YAML.

    Entities, observations and relations that a category lacks are added; what it has stays. It is all stored or,
    where anything is wrong, nothing. NAME is a graph that ships with mmem: demo is one.

    \b
    mmem seed demo
    mmem seed team.yaml -c work --dry-run
    mmem seed fixtures/*.yaml --check
    """
    app = click.get_current_context().find_object(App) or App()
    if not names:
        listed = " or ".join(fixtures())
        raise click.UsageError(f"say which graph: a FILE, - for standard input, or one that ships with mmem ({listed})")
    if names.count("-") > 1:
        raise click.UsageError("standard input can be read once; say - once")
    with undisturbed():
        graphs = _graphs(app, names)
        with app.store() as store:
            outcomes = _outcomes(store, graphs, override, only_look=dry_run or check)
    _show(app, outcomes, "check" if check else "dry run" if dry_run else "")
    if check and any(not one.result.is_same or one.result.left for one in outcomes):
        raise click.exceptions.Exit(int(ExitStatus.FAILED))


def _graphs(app: App, names: tuple[str, ...]) -> list[Joined]:
    documents: list[Document] = []
    for name in names:
        text, shown = (app.streams.read(), "standard input") if name == "-" else source(name)
        found = read(text, shown)
        if not found:
            raise click.UsageError(f"{shown} holds no graph; see the one that mmem seed demo --dry-run shows")
        documents += found
    for document in documents:
        if app.category and document.category not in {None, app.category}:
            raise click.UsageError(
                f"--category is '{app.category}', but {place(document.mark)} is for category '{document.category}'; "
                "give one of them"
            )
    return join(documents, app.default_category())


def _outcomes(store: Store, graphs: list[Joined], override: bool, *, only_look: bool) -> run.Outcomes:
    carry_out = run.preview if only_look else run.seed
    return carry_out(store, graphs, override=override)


def _show(app: App, outcomes: run.Outcomes, mode: str) -> None:
    if app.output_format() != "table":
        notices = [notice for outcome in outcomes for notice in outcome.notices]
        app.show(Outcome([outcome.result for outcome in outcomes], notices))
        return
    colored = app.streams.colored(app.streams.shows_terminal)
    for outcome in outcomes:
        lines = [
            *(_painted(line) if colored else line for line in outcome.result.diff or ()),
            _sentence(outcome.result, mode),
        ]
        try:
            app.streams.write("".join(f"{line}\n" for line in lines).encode())
        finally:
            app.show_notices(outcome.notices)


def _painted(line: str) -> str:
    if line.startswith(("---", "+++")):
        return click.style(line, bold=True)
    return click.style(line, fg=_COLORS[line[0]]) if line[0] in _COLORS else line


def _sentence(seeded: Seeded, mode: str) -> str:
    category = f"category '{seeded.category}'"
    counts = [
        (seeded.entities, plural(seeded.entities, "entity", "entities")),
        (seeded.observations, plural(seeded.observations, "observation")),
        (seeded.relations, plural(seeded.relations, "relation")),
    ]
    added = [text for number, text in counts if number]
    done = [" and ".join(filter(None, (", ".join(added[:-1]), added[-1]))) + " added"] if added else []
    done += [f"{seeded.changed:,} changed"] if seeded.changed else []
    done += [f"{seeded.removed:,} removed"] if seeded.removed else []
    if seeded.left:
        what = plural(seeded.left, "thing that differs", "things that differ")
        done.append(f"{what} left as {'it is' if seeded.left == 1 else 'they are'}")
    if not done:
        return f"C{category[1:]} holds all of it already: nothing {'to change' if mode else 'changed'}"
    if mode == "check":
        return f"C{category[1:]} differs; seeding it: {', '.join(done)}"
    if mode:
        return f"C{category[1:]}, if seeded: {', '.join(done)}; nothing was written"
    return f"Seeded {category}: {', '.join(done)}"

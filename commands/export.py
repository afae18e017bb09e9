"""`mmem export`: a category's graph, or a part of it, in another format."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from mmem.app import App
from mmem.errors import MmemError
from mmem.exits import ExitStatus
from mmem.exporting.formats import FORMATS
from mmem.options import shared_options
from mmem.visible import plural
from mmem.words import reference_word

if TYPE_CHECKING:
    from mmem.exporting.run import Exported


@click.command("export")
@click.option("--to", "form", type=click.Choice(list(FORMATS)), default="jsonl", help="The format; jsonl by default.")
@click.option("-o", "--output", metavar="FILE|FOLDER", help="Where to; standard output by default.")
@click.option("-t", "--type", "types", metavar="TYPE", multiple=True, help="Only entities of this type; repeatable.")
@click.option("--around", metavar="NAME", multiple=True, help="Only this entity and those near it; repeatable.")
@click.option("--depth", type=click.IntRange(min=0), metavar="N", help="Near is so many relations away; 1 by default.")
@click.option("-a", "--all-categories", "every", is_flag=True, help="Export every category.")
@shared_options
def command(form: str, output: str | None, every: bool, **part: Any) -> None:
    """Write a graph as JSON lines, YAML, CSV, GraphML and more.

    jsonl keeps everything. memory-jsonl is what @modelcontextprotocol/server-memory reads, yaml what mmem seed reads;
    graphml opens in Gephi and networkx, csv is a folder of three tables. Whatever a format has no place for is said.

    With --all-categories, jsonl, json and yaml give one text that names the category of each part; where -o is a
    folder, each category gets a file. Files come to their places once they are whole, readable by you alone.

    \b
    mmem export -c work -o work.jsonl
    mmem export --to memory-jsonl -o memory.jsonl
    mmem export --to graphml --around UserService --depth 2 -o auth.graphml
    mmem export --to csv --type person --type service -o tables/
    mmem export --all-categories --to markdown -o notes/
    """
    app = click.get_current_context().find_object(App) or App()
    output = None if output == "-" else output
    if every and app.category:
        raise click.UsageError("--all-categories and --category exclude each other; give one of them")
    if every and part["around"]:
        raise click.UsageError("--around looks in one category: choose it with -c instead of --all-categories")
    if part["depth"] is not None and not part["around"]:
        raise click.UsageError("--depth goes with --around NAME")
    if output is None and app.format not in {None, "auto"}:
        raise click.UsageError("-f is how results are shown; the format of an export is chosen with --to")
    try:
        with _terminated():
            _export(app, form, output, every, part)
    except MmemError as error:
        error.in_words = True
        raise


def _export(app: App, form: str, output: str | None, every: bool, part: dict[str, Any]) -> None:
    from mmem.exporting.places import place, standard_output
    from mmem.exporting.run import export
    from mmem.exporting.selection import Wanted
    from mmem.exporting.sink import Unwritten
    from mmem.outcomes import Outcome
    from mmem.progress import progress
    from mmem.requests import parse

    given = {**part, "types": list(part["types"]), "around": [reference_word(word) for word in part["around"]]}
    wanted = parse(Wanted, {key: value for key, value in given.items() if value is not None})
    on_terminal = app.streams.shows_terminal
    if output is None:
        where: Any = standard_output(form, app.streams.write, every=every, on_terminal=on_terminal)
    else:
        where = place(form, output, None if every else app.default_category(), app.base_directory())
    bar = nullcontext(lambda done, total: None) if output is None and on_terminal else progress(app)
    with app.store() as store, bar as show:
        categories = store.categories() if every else [store.default_category]
        if output not in {None, "-"} and not every and not store.has(store.default_category):
            raise store.no_category(store.default_category)  # nothing would take the place of a good export
        try:
            outcome = export(store, categories, wanted, form, where, several=every, show=show)
        except Unwritten as unwritten:
            raise unwritten.error from None
    results = outcome.result
    if not where.shows_result:
        app.show_notices(outcome.notices)
    elif app.output_format() == "table":
        file = results[0].path if len(results) == 1 else None
        app.show(Outcome([_sentence(one) for one in results], outcome.notices), file=file)
    else:
        app.show(Outcome(results if every else results[0], outcome.notices))


def _sentence(result: "Exported") -> str:
    held = (
        f"{plural(result.entities, 'entity', 'entities')}, {plural(result.observations, 'observation')} and "
        f"{plural(result.relations, 'relation')}"
    )
    return f"Exported category '{result.category}' to {result.path}: {held}"


@contextmanager
def _terminated() -> Iterator[None]:
    """Let SIGTERM leave no unfinished file, as Ctrl-C does."""

    def stop(number: int, frame: object) -> None:
        raise click.exceptions.Exit(int(ExitStatus.TERMINATED))

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

"""`mmem view`: a category's graph as one HTML page, to look at in a browser."""

import json
import os
import tempfile
from typing import Annotated

import click
from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from mmem.app import App
from mmem.arguments import AnyReference, Request, as_reference, references
from mmem.around import around
from mmem.errors import MmemError
from mmem.lookup import Resolver
from mmem.missing import Missing
from mmem.newfile import write_file
from mmem.options import shared_options
from mmem.outcomes import Outcome
from mmem.reading import Reader
from mmem.records import Graph
from mmem.requests import parse
from mmem.store import Store
from mmem.transaction import Transaction
from mmem.viewing.opening import open_in_browser
from mmem.viewing.page import page
from mmem.visible import plural
from mmem.words import reference_word

_DEPTH = 1
_MANY = 20_000  # entities that a browser takes its time with


class View(Request, frozen=True):
    """What to show: the whole graph, or what is around some entities."""

    around: list[AnyReference] | None = None
    depth: Annotated[int, Meta(ge=0)] = _DEPTH

    def __post_init__(self) -> None:
        """Check the ids. Raises `ValueError`."""
        force_setattr(self, "around", references(self.around or []))


class Viewed(Struct, frozen=True):
    """What was written, and where: `{category, file, entities, relations, bytes}`."""

    category: str
    file: str
    entities: int
    relations: int
    bytes: int


def run(store: Store, request: View) -> Outcome[Graph]:
    """Return the graph to show. Raises `NotFound` and `Ambiguous` for the entities that it is to be around."""
    with store.reading(request.category) as transaction:
        reader = Reader(transaction)
        if not request.around:
            return Outcome(reader.graph(), transaction.notices)
        ids = around(transaction, _starts(transaction, request), request.depth)
        graph = Graph(entities=reader.entities(ids), relations=reader.relations_between(ids))
    return Outcome(graph, transaction.notices)


def _starts(transaction: Transaction, request: View) -> list[int]:
    named = [as_reference(given) for given in request.around or []]
    resolver = Resolver(transaction, named)
    missing = Missing(transaction, resolver)
    starts = []
    for index, reference in enumerate(named):
        path = f"$.around[{index}]"
        found = resolver.find(reference, path)
        if found is None:
            missing.add(path, reference)
        else:
            starts.append(found.id)
    missing.require_none()
    return starts


@click.command("view")
@click.option("-o", "--output", metavar="FILE", help="Write the page there; - is standard output.")
@click.option("--open", "opens", is_flag=True, help="Open the page in your browser.")
@click.option("--around", "names", metavar="NAME", multiple=True, help="Only what is around an entity; repeatable.")
@click.option("--depth", type=click.IntRange(0), metavar="N", help="With --around: how many relations away; default: 1")
@shared_options
def command(output: str | None, opens: bool, names: tuple[str, ...], depth: int | None) -> None:
    """Show a category's graph as a page in the browser.

    The page is one file that needs no network: search it, click an entity for its observations, follow relations.
    It is written to mmem-CATEGORY.html in this folder, readable for you alone; in a pipe, to standard output.
    With --open and no --output it goes to a temporary file.

    \b
    mmem view --open
    mmem view -c work --output work.html
    mmem view --around UserService --depth 2 --open
    """
    app = click.get_current_context().find_object(App) or App()
    if depth is not None and not names:
        raise click.UsageError("--depth goes with --around")
    if opens and output == "-":
        raise click.UsageError("--open shows a file; give --output a FILE, or leave it out")
    try:
        request = parse(View, {"around": [*map(reference_word, names)], "depth": _DEPTH if depth is None else depth})
        with app.store() as store:
            category = store.default_category
            if output not in {None, "-"} and not store.has(category):
                raise store.no_category(category)  # an empty page would take the place of a good one
            outcome = run(store, request)
    except MmemError as error:
        error.in_words = True
        raise
    content = page(outcome.result, " · ".join([category, *(f"around {name}" for name in names)]))
    if output == "-" or (output is None and not opens and not app.streams.shows_terminal):
        try:
            app.streams.write(content)
        finally:
            _say(app, outcome)
        return
    _deliver(app, outcome, category, content, output, opens)


def _deliver(app: App, outcome: Outcome[Graph], category: str, content: bytes, output: str | None, opens: bool) -> None:
    """Write the page to its file, open it if that is wished, and say so."""
    name = f"mmem-{category}.html"
    file = output
    if file is None:
        file = os.path.join(tempfile.mkdtemp(prefix="mmem-view-"), name) if opens else name
    write_file(file, content)
    opened = opens and open_in_browser(file)
    graph, shown = outcome.result, os.fsencode(file).decode(errors="backslashreplace")
    result = Viewed(category, shown, len(graph.entities), len(graph.relations), len(content))
    if app.output_format() == "table":
        held = f"{plural(result.entities, 'entity', 'entities')} and {plural(result.relations, 'relation')}"
        app.show(Outcome(f"{'Opened' if opened else 'Wrote'} {shown}: {held}"), words=False, file=file)
    else:
        app.show(Outcome(result), words=False)
    _say(app, outcome)
    if opens and not opened:
        _note(app, f"no browser could be started here; open {shown} in one")


def _say(app: App, outcome: Outcome[Graph]) -> None:
    app.show_notices(outcome.notices)
    if (count := len(outcome.result.entities)) > _MANY:
        _note(app, f"a page of {count:,} entities is slow; --around NAME shows a part of the graph")


def _note(app: App, message: str) -> None:
    app.streams.note(json.dumps({"code": "view", "message": message}) if app.errors == "json" else f"mmem: {message}")

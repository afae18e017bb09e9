"""`mmem seed`: a category filled from a graph in YAML."""

from importlib import resources
from pathlib import Path

import click
from msgspec import Struct

from mmem import yamltext
from mmem.app import App
from mmem.arguments import EntityInput, RelationInput, Request
from mmem.errors import Ambiguous, InvalidArguments, NotFound, Usage
from mmem.options import shared_options
from mmem.outcomes import Notice, Outcome
from mmem.registry import call
from mmem.requests import parse
from mmem.store import Store
from mmem.visible import plural


class Seed(Request, frozen=True, kw_only=True):
    """A graph: the entities and relations of `create_entities` and `create_relations`.

    What a search is asked about it may stand beside them, and isn't stored.
    """

    entities: list[EntityInput] | None = None
    relations: list[RelationInput] | None = None
    questions: list[object] | None = None


class Seeded(Struct, frozen=True):
    """What came to be, and what stood there already: `{category, entities, relations, skipped}`."""

    category: str
    entities: int
    relations: int
    skipped: int


def run(store: Store, graph: dict[str, object]) -> Outcome[Seeded]:
    """Create a graph's entities and relations in one transaction; what exists is left as it is."""
    category = store.category(parse(Seed, graph).category)
    with store.writing(category, create=bool(graph.get("entities"))) as transaction:
        entities = call(store, "create_entities", {"category": category, "entities": graph.get("entities") or []})
        relations = call(store, "create_relations", {"category": category, "relations": graph.get("relations") or []})
    notices: list[Notice] = [
        *transaction.notices,
        *(one for one in (*entities.notices, *relations.notices) if one.code != "no_such_category"),
    ]
    skipped = [notice for notice in notices if notice.code == "skipped"]
    result = Seeded(category, len(entities.result), len(relations.result), len(skipped))
    return Outcome(result, notices)


def read(name: str) -> bytes:
    """Return the text of a fixture that ships with mmem, of a file, or of standard input for `-`."""
    shipped = fixtures()
    if name in shipped:
        return (resources.files("mmem.fixtures") / f"{name}.yaml").read_bytes()
    try:
        return Path(name).read_bytes()
    except FileNotFoundError:
        listed = ", ".join(shipped)
        raise Usage(f"there is no file '{name}', and no graph of that name ships with mmem ({listed})") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file's name"
        raise Usage(f"{name}: {reason.lower()}") from None


def fixtures() -> list[str]:
    """Return the names of the graphs that ship with mmem."""
    files = resources.files("mmem.fixtures").iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml"))


@click.command("seed")
@click.argument("name", metavar="FILE|NAME|-", required=False)
@shared_options
def command(name: str | None) -> None:
    """Fill a category from a graph in YAML.

    It is one transaction, and what exists already is left as it is. NAME is a graph that ships with mmem:
    demo is one.

    \b
    mmem seed demo
    mmem seed team.yaml -c work
    """
    app = click.get_current_context().find_object(App) or App()
    if name is None:
        listed = " or ".join(fixtures())
        raise click.UsageError(f"say which graph: a FILE, - for standard input, or one that ships with mmem ({listed})")
    place = "standard input" if name == "-" else name
    graph = yamltext.load(app.streams.read() if name == "-" else read(name), place)
    if not isinstance(graph, dict):
        raise InvalidArguments(f"{place}: a graph is a mapping with entities and relations")
    app.require_same_category(graph.get("category"))
    try:
        with app.store() as store:
            outcome = run(store, graph)
    except (InvalidArguments, NotFound, Ambiguous) as error:
        error.message = f"{place}: {error.message}"
        raise
    if app.output_format() == "table":
        seeded = outcome.result
        text = (
            f"Seeded category '{seeded.category}': {plural(seeded.entities, 'entity', 'entities')} and "
            f"{plural(seeded.relations, 'relation')}" + (f"; {seeded.skipped} skipped" if seeded.skipped else "")
        )
        app.show(Outcome(text, outcome.notices), words=False)
    else:
        app.show(outcome, words=False)

"""What `mmem` says when it is given nothing to do: where the memory is, what it holds, and what to try."""

from collections.abc import Iterator

from mmem.app import App
from mmem.errors import MmemError
from mmem.settings import BASE_DIR_VARIABLE
from mmem.statistics import held
from mmem.store import Store
from mmem.visible import plural

_SHOWN = 10  # categories

_Try = tuple[tuple[str, str], ...]
_FIRST: _Try = (
    ("mmem seed demo", "fill the default category with a small graph"),
    ("mmem search-nodes auth", "ask it something"),
    ("mmem create-entities NAME -o TEXT", "note something of your own"),
)


def welcome(app: App) -> Iterator[str]:
    """Yield the lines; nothing is created, and a memory that can't be read is only said."""
    try:
        base = app.base_directory()
        with app.store() as store:
            names, default = store.categories(), store.default_category
            if names:
                yield f"Your memory is in {base}:"
            else:
                yield f"There is no memory in {base} yet; the first thing that you store makes it."
                yield f"Where it is to be, --base-dir or {BASE_DIR_VARIABLE} can say."
            yield from _listed(store, names)
    except MmemError as error:
        yield f"Your memory can't be looked at: {error.message}"
        names, default = [], ""
    yield ""
    yield "Try one of these:"
    chosen = _again(names, default) if names else _FIRST
    width = max(len(command) for command, _ in chosen)
    for command, effect in chosen:
        yield f"  {command:<{width}}  {effect}"
    yield ""


def _again(names: list[str], default: str) -> _Try:
    category = "" if default in names else f" -c {names[0]}"
    return (
        (f"mmem search-nodes{category} WORD...", "find what you know"),
        (f"mmem stats{category}", "see what is in there"),
        (f"mmem create-entities{category} NAME -o TEXT", "note something new"),
    )


def _listed(store: Store, names: list[str]) -> Iterator[str]:
    """Yield a line for each of the first categories."""
    shown = names[:_SHOWN]
    width = max(map(len, shown), default=0)
    for name in shown:
        try:
            found = held(store, name).result
        except MmemError as error:
            yield f"  {name:<{width}}  {error.message}"
            continue
        counts = (
            plural(found.entities, "entity", "entities"),
            plural(found.observations, "observation"),
            plural(found.relations, "relation"),
        )
        yield f"  {name:<{width}}  {', '.join(counts)}"
    if len(names) > _SHOWN:
        yield f"  and {len(names) - _SHOWN} more: mmem list-categories"

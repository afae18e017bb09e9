"""An export from beginning to end: each category read in one transaction, written, and counted."""

from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from mmem.exporting.formats import FORMATS
from mmem.exporting.places import Place
from mmem.exporting.selection import Selection, Show, Wanted
from mmem.exporting.writer import Writer
from mmem.names import did_you_mean, nearest
from mmem.outcomes import Notice, Outcome
from mmem.store import Store
from mmem.values import nfc


class Exported(Struct, frozen=True, omit_defaults=True):
    """What was written: `{category, path?, entities, observations, relations}`."""

    category: str
    path: str | None
    entities: int
    observations: int
    relations: int


def export(
    store: Store,
    categories: Sequence[str],
    wanted: Wanted,
    name: str,
    place: Place,
    *,
    several: bool = False,
    show: Show = lambda done, total: None,
) -> Outcome[list[Exported]]:
    """Write categories in a format to a place; with `several`, each one is named in what is written of it.

    It is all or nothing: an error about one category leaves no file of any. Raises `Unwritten` where standard
    output can't be written to.
    """
    form = FORMATS[name]
    results: list[Exported] = []
    notices: list[Notice] = []
    types: set[str] = set()
    with place.opened():
        writer: Writer | None = None
        for category in categories:
            with store.reading(category) as transaction:
                selection = Selection(transaction, wanted, show)
                if writer is None or not place.is_stream:
                    writer = form.writer()(partial(place.sink, category), several=several)
                writer.write(selection)
                if not place.is_stream:
                    writer.end()
                    place.close()
                types.update(selection.types() if wanted.types else ())
                counted = (len(selection), selection.observations, selection.relations_read)
            results.append(Exported(category, place.path(category), *counted))
            notices += _once([_about(one, category) if several else one for one in transaction.notices])
        if place.is_stream:
            if writer is None:
                writer = form.writer()(partial(place.sink, ""), several=several)
            writer.end()
            place.close()
    if not any(one.code == "no_such_category" for one in notices):
        notices += [_no_such_type(kind, types) for kind in wanted.types if nfc(kind) not in types]
    return Outcome(results, notices)


def _no_such_type(missing: str, types: set[str]) -> Notice:
    near = nearest(missing, sorted(types))
    message = f"no entity has the type '{missing}'{did_you_mean(near)}"
    return Notice("not_found", message, type=missing, nearest=near)


def _about(notice: Notice, category: str) -> Notice:
    return Notice(notice.code, f"category '{category}': {notice.message}", **{**notice.details, "category": category})


def _once(notices: list[Notice]) -> list[Notice]:
    """Return notices without those that a second reading repeats."""
    return list({(one.code, one.message): one for one in notices}.values())

"""Seeding from beginning to end: several graphs, each a category's one transaction, all of them or none."""

from collections.abc import Sequence
from contextlib import ExitStack

from mmem import semantic
from mmem.errors import IndexDamaged
from mmem.outcomes import Notice, Outcome
from mmem.seeding.changes import Seeded
from mmem.seeding.comparing import compare
from mmem.seeding.difference import difference
from mmem.seeding.joining import Joined
from mmem.seeding.storing import write
from mmem.store import Store

Outcomes = list[Outcome[Seeded]]


def seed(store: Store, graphs: Sequence[Joined], *, override: bool = False) -> Outcomes:
    """Put each graph into its category; return what came to each.

    All categories are compared before anything is written to one, and are committed one after another at the end.
    """
    semantic.model()  # so that no lock is held while it is loaded
    try:
        return _seed(store, graphs, override)
    except IndexDamaged:
        for graph in graphs:
            if store.has(graph.category):
                store.heal_index(graph.category)
        outcomes = _seed(store, graphs, override)
        message = "the search index didn't fit the rows and was rebuilt from them; nothing is lost"
        return [Outcome(one.result, [Notice("index_healed", message), *one.notices]) for one in outcomes]


def preview(store: Store, graphs: Sequence[Joined], *, override: bool = False) -> Outcomes:
    """Return what `seed` would do, each with its `diff`; nothing is written."""
    outcomes = []
    for graph in graphs:
        with store.reading(graph.category) as transaction:
            changes = compare(transaction, graph, override=override)
        notices = [*_said(transaction.notices), *changes.notices]
        outcomes.append(Outcome(changes.counts(difference(changes, graph.files)), notices))
    return outcomes


def _seed(store: Store, graphs: Sequence[Joined], override: bool) -> Outcomes:
    outcomes = {}
    with ExitStack() as held:
        compared = []
        for graph in sorted(
            graphs, key=lambda graph: graph.category
        ):  # in one order, so that no two wait for each other
            transaction = held.enter_context(store.writing(graph.category, create=bool(graph.entities)))
            compared.append((transaction, compare(transaction, graph, override=override)))
        for transaction, changes in compared:
            notices = write(store, transaction, changes)
            outcomes[changes.category] = changes.counts(), changes.notices + notices, transaction
    return [
        Outcome(result, [*_said(transaction.notices), *notices])
        for result, notices, transaction in (outcomes[graph.category] for graph in graphs)
    ]


def _said(notices: Sequence[Notice]) -> list[Notice]:
    return [notice for notice in notices if notice.code != "no_such_category"]

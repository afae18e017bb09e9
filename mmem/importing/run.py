"""`mmem import` without its words: files in, an account out."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from msgspec import Struct

from mmem.errors import InvalidArguments, MmemError, Usage
from mmem.files import path_of
from mmem.importing.accounts import Counts, Fault, Ledger
from mmem.importing.databases import NoMemory
from mmem.importing.job import Job, Progress, Rules
from mmem.importing.records import records_of
from mmem.importing.rejects import Rejects
from mmem.importing.sources import Source, category_of, head_of, opened
from mmem.outcomes import Notice, Outcome
from mmem.store import Store
from mmem.undisturbed import undisturbed
from mmem.visible import plural

_TELLING = (b"entityType", b"relationType", b"observations", b"entities")  # words of graphs


class Imported(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What became of an import: the records' sums, what came to be in each category, and what was kept aside where."""

    stored: bool
    records: int
    created: int
    merged: int
    already_there: int
    kept_aside: int
    repaired: int
    categories: dict[str, dict[str, int]]
    files: dict[str, Counts]
    rejects: list[str] = []


class Refused(InvalidArguments):
    """Nothing was imported; `faults` says why, record by record."""

    def __init__(self, message: str, faults: list[Fault], details: dict[str, object]) -> None:
        super().__init__(message, details)
        self.faults = faults


def run(
    store: Store,
    sources: Sequence[Source],
    stdin: Callable[[], BinaryIO],
    rules: Rules,
    *,
    keep_going: bool = False,
    dry_run: bool = False,
    progress: Progress = lambda done, total: None,
) -> Outcome[Imported]:
    """Import files in one go: all of it or nothing, or with `keep_going` all that is sound.

    Raises `Refused` with every fault, or what reading and storing raises; then nothing is stored.
    """
    rejects = Rejects()
    passed: list[str] = []
    with undisturbed(), _closing(rejects), Job(store, rules, rejects.add if keep_going else None, progress) as job:
        for source in sources:
            with opened(source, stdin) as file:
                if source.listed and not _has_record(source, file, rules.encoding):
                    passed.append(source.name)
                    continue
                _require_another(store, source, rules)
                job.read(source, file)
        job.finish()
        ledger = job.ledger
        tallies = {name: vars(intake.tally).copy() for name, intake in job.intakes.items()}
        paths: list[str] = []
        if ledger.faults and not keep_going:
            job.undo()
            raise _refused(ledger, strict=rules.strict)
        if dry_run:
            job.undo()
        elif keep_going:
            paths = rejects.write()
    return Outcome(_imported(ledger, tallies, paths, stored=not dry_run), _notices(ledger, passed))


def _require_another(store: Store, source: Source, rules: Rules) -> None:
    """Raise `Usage` for a category's file that would be imported into itself."""
    category = rules.category or category_of(source, store.default_category)
    if source.path and os.path.realpath(source.path) == os.path.realpath(path_of(store.base_dir, category)):
        raise Usage(f"{source.name} is the category '{category}' itself; say with --category where it is to go")


@contextmanager
def _closing(rejects: Rejects) -> Iterator[None]:
    try:
        yield
    finally:
        rejects.close()


def _has_record(source: Source, file: BinaryIO, encoding: str | None) -> bool:
    """Tell whether a file that lay in a folder is to be read: it has a record, or is a memory that is damaged."""
    speaks_of_graphs = any(word in head_of(file).replace(b"\0", b"") for word in _TELLING)
    try:
        for found in records_of(source, file, encoding):
            if found.record is not None or found.marks:
                return True
            if found.piece.fault is not None and speaks_of_graphs:
                return True
        return False
    except NoMemory:
        return False
    except MmemError:
        return speaks_of_graphs or not source.path.endswith((".json", ".yaml", ".yml"))
    finally:
        file.seek(0)


def _refused(ledger: Ledger, *, strict: bool) -> Refused:
    total = ledger.total()
    bad = max(total.kept_aside, len(ledger.faults))
    more = f" ({ledger.unsaid} more like these)" if ledger.unsaid else ""
    otherwise = "leave out --strict" if strict else "import what is sound with --keep-going"
    of_all = f"{bad} of {plural(total.records, 'record')}"
    message = f"nothing was imported, for {of_all} can't be taken{more}: mend the file, or {otherwise}"
    details: dict[str, object] = {"faults": [{"place": one.place, "reason": one.reason} for one in ledger.faults]}
    return Refused(message, ledger.faults, details)


def _imported(ledger: Ledger, tallies: dict[str, dict[str, int]], paths: list[str], *, stored: bool) -> Imported:
    total = ledger.total()
    return Imported(
        stored=stored,
        records=total.records,
        created=total.created,
        merged=total.merged,
        already_there=total.already_there,
        kept_aside=total.kept_aside,
        repaired=total.repaired,
        categories=tallies,
        files=ledger.files,
        rejects=paths,
    )


def _notices(ledger: Ledger, passed: Sequence[str]) -> list[Notice]:
    notices = [Notice("skipped", f"{name}: no memory; it was passed over", path=name) for name in passed]
    empty = [name for name, counts in ledger.files.items() if not counts.records]
    notices += [Notice("skipped", f"{name}: no records", path=name) for name in empty]
    notices += [Notice("skipped", f"{fault}; kept aside", place=fault.place) for fault in ledger.faults]
    if ledger.unsaid:
        notices.append(Notice("skipped", f"{ledger.unsaid} more records were kept aside", count=ledger.unsaid))
    for reason, times, place in ledger.repairs.said():
        often = f" ({plural(times, 'record')}, the first there)" if times > 1 else ""
        notices.append(Notice("repaired", f"{place}: {reason}{often}", place=place, count=times))
    return notices

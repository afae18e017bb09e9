"""One import: files read in order, entities stored as they come, relations after them, every record accounted for."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import BinaryIO, NamedTuple

from mmem.importing.accounts import Counts, Ledger
from mmem.importing.ends import Ends
from mmem.importing.intake import Became, Intake, Stored
from mmem.importing.pieces import Piece
from mmem.importing.records import Found, records_of
from mmem.importing.seen import Names
from mmem.importing.shapes import EntityRecord, LooseTexts, RelationRecord
from mmem.importing.sources import Source, category_of
from mmem.importing.waiting import Shelf, Waiting
from mmem.lookup import Found as Entity
from mmem.names import category_fault
from mmem.store import Store

Progress = Callable[[int, int], None]  # takes the bytes that were read, of how many

_AT_ONCE = 2_000  # entities stored together
_OFTEN = 5_000  # records between two looks at how far a file is read
_PLACEHOLDER = "an end that no entity has became an entity with the property 'placeholder'"


class Rules(NamedTuple):
    """How an import is to be done."""

    category: str | None = None  # all records go there; None lets the files' names say
    encoding: str | None = None
    strict: bool = False  # a repair is a fault
    refuse_missing_ends: bool = False


class _Held(NamedTuple):
    """An entity that waits for its batch."""

    record: EntityRecord
    piece: Piece
    repairs: list[str]


class _Undone(Exception):
    """Everything is to be rolled back."""


class Job:
    """Imports files into a store; every category's transaction stays open until the end."""

    def __init__(self, store: Store, rules: Rules, aside: Callable[[str, Piece], None], progress: Progress) -> None:
        """Begin; `aside` is given each record that is kept aside, with its file's name."""
        self.ledger = Ledger()
        self.intakes: dict[str, Intake] = {}
        self._store = store
        self._rules = rules
        self._aside = aside
        self._stack = ExitStack()
        self._names = Names()
        self._shelf = Shelf()
        self._stack.callback(self._names.close)
        self._stack.callback(self._shelf.close)
        self._ends: dict[str, Ends] = {}
        self._files: list[str] = []
        self._categories: dict[tuple[str, bool], str] = {}  # by a file's name and whether it is marked
        self._progress = progress

    def __enter__(self) -> "Job":
        """Return the job itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit everything, or roll everything back."""
        self._stack.__exit__(kind, error, trace)

    def undo(self) -> None:
        """Roll everything back."""
        with suppress(_Undone):
            self._stack.__exit__(_Undone, _Undone(), None)
        self._stack = ExitStack()

    def read(self, source: Source, file: BinaryIO) -> None:
        """Read a file: store its entities, and let its relations wait."""
        self._files.append(source.name)
        counts = self.ledger.of(source.name)
        batches: dict[str, list[_Held]] = {}
        marked = False
        size = file.seek(0, 2)
        file.seek(0)
        for found in records_of(source, file, self._rules.encoding):
            if found.marks:
                marked = True
                continue
            record, fault = found.record, found.fault
            if record is None and fault is None:
                self._mended(_place(source.name, found.piece), found.repairs)
                continue
            counts.records += 1
            if counts.records % _OFTEN == 0:
                self._progress(file.tell(), size)
            fault = fault or (self._refused(found.repairs) if found.repairs else None)
            category = None if fault else self._rules.category or self._category(source, found, marked)
            if category is None:
                self._keep_aside(source.name, counts, found.piece, fault or "its category isn't a valid name")
            elif isinstance(record, EntityRecord):
                batch = batches.setdefault(category, [])
                batch.append(_Held(record, found.piece, found.repairs))
                if len(batch) >= _AT_ONCE:
                    self._store_entities(source.name, counts, category, batches.pop(category))
            else:
                self._shelf.put(_waiting(len(self._files) - 1, category, found))
        for category, batch in batches.items():
            self._store_entities(source.name, counts, category, batch)

    def _category(self, source: Source, found: Found, marked: bool) -> str | None:
        """Return the category of a record: its own, or the one that the file's name gives; None for a bad name."""
        own = found.category or getattr(found.record, "category", None)
        if own is not None:
            return None if category_fault(own) else own
        key = source.name, marked
        if key not in self._categories:
            self._categories[key] = category_of(source, self._store.default_category, is_marked=marked)
        return self._categories[key]

    def _refused(self, repairs: list[str] | tuple[str, ...]) -> str | None:
        return "; ".join(repairs) if repairs and self._rules.strict else None

    def _mended(self, place: str, repairs: list[str]) -> None:
        """Count what was passed over beside the records."""
        self.ledger.repairs.add(repairs, place)
        if reason := self._refused(repairs):
            self.ledger.fault(place, reason)

    def _keep_aside(self, name: str, counts: Counts, piece: Piece, reason: str) -> None:
        counts.kept_aside += 1
        self.ledger.fault(_place(name, piece), reason)
        self._aside(name, piece)

    def _store_entities(self, name: str, counts: Counts, category: str, batch: list[_Held]) -> None:
        stored = self._intake(category).entities([held.record for held in batch])
        for held, one in zip(batch, stored, strict=True):
            self._count(name, counts, held.piece, held.repairs, one)

    def _count(self, name: str, counts: Counts, piece: Piece, repairs: list[str], stored: Stored) -> None:
        """Count a record that was stored."""
        if stored.became is Became.CREATED:
            counts.created += 1
        elif stored.became is Became.MERGED:
            counts.merged += 1
        else:
            counts.already_there += 1
        if repairs or stored.repairs:
            place = _place(name, piece)
            counts.repaired += 1
            self.ledger.repairs.add([*repairs, *stored.repairs], place)
            if reason := self._refused(stored.repairs):
                self.ledger.fault(place, reason)

    def _intake(self, category: str) -> Intake:
        """Return what stores in a category, whose write lock is held from now on."""
        if category not in self.intakes:
            transaction = self._stack.enter_context(self._store.holding(category, create=True))
            intake = self.intakes[category] = Intake(transaction, self._names)
            self._ends[category] = Ends(transaction, self._names, intake)
        return self.intakes[category]

    def finish(self) -> None:
        """Store what waited for the entities of all files."""
        for block in self._shelf.blocks():
            for category, waiting in _by_category(block):
                self._store_waiting(category, waiting)

    def _store_waiting(self, category: str, waiting: list[Waiting], *, moved: bool = False) -> None:
        intake, ends = self._intake(category), self._ends[category]
        ends.look_up(_named(waiting))
        elsewhere: dict[str, list[Waiting]] = {}
        left: set[int] = set()  # by identity
        missing: list[Waiting] = []
        for one in waiting:
            if one.relation is None or moved or None not in self._ids(ends, one.relation, []):
                continue
            if other := self._sibling(category, one.relation):
                repairs = (*one.repairs, "a relation went to the category in which its ends are")
                elsewhere.setdefault(other, []).append(one._replace(category=other, repairs=repairs))
                left.add(id(one))
            else:
                missing.append(one)
        left |= {id(one) for one in missing} if self._rules.refuse_missing_ends or self._rules.strict else set()
        for one in missing:
            if one.relation is not None and id(one) in left:
                reasons = ends.missing(one.relation, self._ids(ends, one.relation, []))
                self._fault(one, "; ".join(map(str, reasons)))
        placeholders = {id(one) for one in missing} - left
        if placeholders:
            wanted = [end for one in missing if one.relation for end in _ends_of(one.relation)]
            ends.create([end for end in wanted if ends.find(*end, []) is None])
            ends.look_up(_named(waiting))
        here = [one for one in waiting if id(one) not in left]
        self._store_texts(intake, ends, [one for one in here if one.texts is not None])
        self._store_relations(intake, ends, [one for one in here if one.relation is not None], placeholders)
        for other, some in elsewhere.items():
            self._store_waiting(other, some, moved=True)

    def _sibling(self, category: str, record: RelationRecord) -> str | None:
        """Return the category of another file in which both ends of a relation are."""
        if self._rules.category is not None or len(self._files) < 2:
            return None
        others = self._names.categories_of(record.from_name, record.to_name)
        return next((other for other in others if other != category), None)

    def _ids(self, ends: Ends, record: RelationRecord, repairs: list[str]) -> tuple[int | None, int | None]:
        (source, target) = _ends_of(record)
        return ends.find(*source, repairs), ends.find(*target, repairs)

    def _store_relations(self, intake: Intake, ends: Ends, waiting: list[Waiting], placeholders: set[int]) -> None:
        placed, own_repairs = [], []
        for one in waiting:
            if one.relation is None:
                continue
            repairs = [*one.repairs, *([_PLACEHOLDER] if id(one) in placeholders else [])]
            source, target = self._ids(ends, one.relation, repairs)
            if source is not None and target is not None:
                placed.append((source, target, one.relation))
                own_repairs.append((one, repairs))
        for (one, repairs), stored in zip(own_repairs, intake.relations(placed), strict=True):
            self._count_waiting(one, repairs, stored)

    def _store_texts(self, intake: Intake, ends: Ends, waiting: list[Waiting]) -> None:
        known: list[tuple[Waiting, list[str]]] = []
        given = []
        for one in waiting:
            if one.texts is None:
                continue
            repairs = list(one.repairs)
            found = ends.find(one.texts.name, one.texts.entity_type, repairs)
            if found is None:
                self._fault(one, f"an observation of '{one.texts.name}', and there is no such entity")
                continue
            known.append((one, repairs))
            given.append((Entity(found, one.texts.name, ends.type_of(one.texts.name, found)), one.texts.observations))
        for (one, repairs), stored in zip(known, intake.add_texts(given) if given else [], strict=True):
            self._count_waiting(one, repairs, stored)

    def _count_waiting(self, one: Waiting, repairs: list[str], stored: Stored) -> None:
        name = self._files[one.file]
        piece = Piece(one.raw, one.line, one.column)
        new = repairs[len(one.repairs) :]
        if reason := self._refused(new):
            self.ledger.fault(_place(name, piece), reason)
        self._count(name, self.ledger.of(name), piece, repairs, stored)

    def _fault(self, one: Waiting, reason: str) -> None:
        name = self._files[one.file]
        self._keep_aside(name, self.ledger.of(name), Piece(one.raw, one.line, one.column), reason)


def _waiting(file: int, category: str, found: Found) -> Waiting:
    record, piece = found.record, found.piece
    relation = record if isinstance(record, RelationRecord) else None
    texts = record if isinstance(record, LooseTexts) else None
    return Waiting(file, category, piece.line, piece.column, piece.raw, tuple(found.repairs), relation, texts)


def _by_category(block: list[Waiting]) -> Iterator[tuple[str, list[Waiting]]]:
    grouped: dict[str, list[Waiting]] = {}
    for one in block:
        grouped.setdefault(one.category, []).append(one)
    yield from grouped.items()


def _ends_of(record: RelationRecord) -> tuple[tuple[str, str | None], tuple[str, str | None]]:
    return (record.from_name, record.from_type), (record.to_name, record.to_type)


def _named(waiting: list[Waiting]) -> Iterator[tuple[str, str | None]]:
    for one in waiting:
        if one.relation is not None:
            yield from _ends_of(one.relation)
        elif one.texts is not None:
            yield one.texts.name, one.texts.entity_type


def _place(name: str, piece: Piece) -> str:
    return f"{name}:{piece.line}:{piece.column}" if piece.column else f"{name}, id {piece.line}"

"""One import: files read in order, entities stored as they come, relations after them, every record accounted for."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from operator import itemgetter
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple

from mmem import jsontext
from mmem.errors import Internal
from mmem.importing.accounts import Counts, Ledger
from mmem.importing.ends import Ends
from mmem.importing.given import EntityRecord, LooseTexts, RelationRecord
from mmem.importing.intake import Became, Intake, Stored
from mmem.importing.pieces import Piece
from mmem.importing.records import Found, records_of
from mmem.importing.sources import Source, category_of
from mmem.importing.waiting import Shelf, Waiting
from mmem.lookup import Found as Entity
from mmem.names import category_fault
from mmem.store import Store

Progress = Callable[[int, int], None]  # takes the bytes that were read, of how many

_AT_ONCE = 5_000  # entities stored together
_LARGE = 4 << 20  # bytes of files from which on an index is rather made at the end
_FIRST_CACHE, _CACHE = 64 << 10, 24 << 10  # KiB of a category's pages in memory
_OFTEN = 5_000  # records between two looks at how far a file is read
_MOVED = "a relation went to the category in which its ends are"
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

    def __init__(
        self, store: Store, rules: Rules, aside: Callable[[str, Piece], None] | None, progress: Progress
    ) -> None:
        """Begin; `aside` is given each record that is kept aside, with its file's name, unless nobody wants them."""
        self.ledger = Ledger()
        self.intakes: dict[str, Intake] = {}
        self._store = store
        self._rules = rules
        self._aside = aside
        self._stack = ExitStack()
        self._shelf = Shelf()
        self._stack.callback(self._shelf.close)
        self._ends: dict[str, Ends] = {}
        self._files: list[str] = []
        self._size = 0  # bytes of the files
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
        self._size += size
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
                self._shelf.put(_waiting(len(self._files) - 1, category, found, with_bytes=self._aside is not None))
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
        if self._aside is not None:
            self._aside(name, piece)

    def _store_entities(self, name: str, counts: Counts, category: str, batch: list[_Held]) -> None:
        became, repairs = self._intake(category).entities([held.record for held in batch])
        _add(counts, became)
        for place, held in enumerate(batch):
            if held.repairs or place in repairs:
                self._count_repaired(name, counts, held.piece, held.repairs, repairs.get(place, []))

    def _count_repaired(self, name: str, counts: Counts, piece: Piece, repairs: list[str], later: list[str]) -> None:
        """Count a record that was mended, before it was stored and as it was."""
        place = _place(name, piece)
        counts.repaired += 1
        self.ledger.repairs.add([*repairs, *later], place)
        if reason := self._refused(later):
            self.ledger.fault(place, reason)

    def _intake(self, category: str) -> Intake:
        """Return what stores in a category, whose write lock is held from now on."""
        if category not in self.intakes:
            transaction = self._stack.enter_context(self._store.holding(category, create=True))
            cache = _CACHE if self.intakes else _FIRST_CACHE
            intake = self.intakes[category] = Intake(transaction, cache, large=self._size > _LARGE)
            self._ends[category] = Ends(transaction, intake)
        return self.intakes[category]

    def finish(self) -> None:
        """Store what waited for the entities of all files."""
        for some in self._shelf.blocks():
            for category, waiting in _by_category(some):
                self._store_waiting(category, waiting)
        for intake in self.intakes.values():
            intake.finish()
        if not self.ledger.total().close():
            raise Internal("the records that were read and those that are accounted for differ: nothing is stored")

    def _store_waiting(self, category: str, waiting: list[Waiting], *, moved: bool = False) -> None:
        intake, ends = self._intake(category), self._ends[category]
        ends.look_up(_named(waiting))
        placed: list[_Placed] = []
        texts, missing = [], []
        for place, one in enumerate(waiting):
            if one.relation is None:
                texts.append(one)
            elif (found := _placed(place, one, one.relation, ends)) is None:
                missing.append((place, one, one.relation))
            else:
                placed.append(found)
        if texts:
            self._store_texts(intake, ends, texts)
        if missing:
            placed += self._placed_otherwise(category, missing, moved=moved)
            placed.sort(key=itemgetter(0))
        if placed:
            self._store_relations(intake, placed)

    def _placed_otherwise(
        self, category: str, missing: list[tuple[int, Waiting, RelationRecord]], *, moved: bool
    ) -> list["_Placed"]:
        """Return relations whose ends aren't both there, with entities made for them; others go elsewhere or aside."""
        ends = self._ends[category]
        elsewhere: dict[str, list[Waiting]] = {}
        left = []
        for place, one, record in missing:
            other = None if moved else self._sibling(category, record)
            if other is not None:
                elsewhere.setdefault(other, []).append(one._replace(repairs=(*one.repairs, _MOVED)))
            elif self._rules.refuse_missing_ends or self._rules.strict:
                self._fault(one, "; ".join(map(str, ends.missing(record))))
            else:
                left.append((place, one, record))
        for other, some in elsewhere.items():
            self._store_waiting(other, some, moved=True)
        if not left:
            return []
        ends.look_up(_named([one for _, one, _ in left]))
        wanted = [end for _, _, record in left for end in _ends_of(record)]
        ends.create([end for end in wanted if ends.find(*end, []) is None])
        ends.look_up(_named([one for _, one, _ in left]))
        found = (_placed(place, one, record, ends) for place, one, record in left)
        return [one._replace(repairs=[*one.repairs, _PLACEHOLDER]) for one in found if one is not None]

    def _sibling(self, category: str, record: RelationRecord) -> str | None:
        """Return the category of another file in which both ends of a relation are."""
        if self._rules.category is not None or len(self._files) < 2:
            return None
        named = record.from_name, record.to_name
        return next((other for other, ends in self._ends.items() if other != category and ends.has(*named)), None)

    def _store_relations(self, intake: Intake, placed: list["_Placed"]) -> None:
        stored = intake.relations([(one.source, one.target, one.record) for one in placed])
        self._count_waiting([(one.waiting, one.repairs) for one in placed], stored)

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
            entity = Entity(found, one.texts.name, ends.type_of(one.texts.name, found))
            given.append((entity, one.texts.observations))
        if given:
            self._count_waiting(known, intake.add_texts(given))

    def _count_waiting(self, waiting: list[tuple[Waiting, list[str]]], stored: Stored) -> None:
        became, later = stored
        files = {one.file for one, _ in waiting}
        for file in files:
            those = [kind for (one, _), kind in zip(waiting, became, strict=True) if one.file == file]
            _add(self.ledger.of(self._files[file]), became if len(files) == 1 else those)
        for place, (one, repairs) in enumerate(waiting):
            if repairs or place in later:
                name, piece = self._files[one.file], Piece(one.raw, one.line, one.column)
                new = [*repairs[len(one.repairs) :], *later.get(place, [])]
                self._count_repaired(name, self.ledger.of(name), piece, repairs[: len(one.repairs)], new)

    def _fault(self, one: Waiting, reason: str) -> None:
        name = self._files[one.file]
        raw = one.raw or jsontext.encode({"type": "relation", **_told(one)}).encode()
        self._keep_aside(name, self.ledger.of(name), Piece(raw, one.line, one.column), reason)


def _waiting(file: int, category: str, found: Found, *, with_bytes: bool) -> Waiting:
    record, piece = found.record, found.piece
    relation = record if isinstance(record, RelationRecord) else None
    texts = record if isinstance(record, LooseTexts) else None
    raw = piece.raw if with_bytes else b""
    return Waiting(file, category, piece.line, piece.column, raw, tuple(found.repairs), relation, texts)


def _told(one: Waiting) -> dict[str, Any]:
    """Return a relation of a database as a record; it has no bytes of its own."""
    record = one.relation
    if record is None:
        return {}
    ends = {"from": record.from_name, "fromType": record.from_type, "to": record.to_name, "toType": record.to_type}
    return {**ends, "relationType": record.relation_type, **record.properties}


class _Placed(NamedTuple):
    """A relation with the ids of its ends, and its place among those that wait."""

    place: int
    source: int
    target: int
    record: RelationRecord
    waiting: Waiting
    repairs: list[str]


def _placed(place: int, one: Waiting, record: RelationRecord, ends: Ends) -> _Placed | None:
    repairs = [*one.repairs]
    if record.from_type is None and record.to_type is None:
        source, target = ends.alone.get(record.from_name), ends.alone.get(record.to_name)
        if source is not None and target is not None:
            return _Placed(place, source, target, record, one, repairs)
    source = ends.find(record.from_name, record.from_type, repairs)
    target = ends.find(record.to_name, record.to_type, repairs)
    if source is None or target is None:
        return None
    return _Placed(place, source, target, record, one, repairs)


def _add(counts: Counts, became: list[Became]) -> None:
    counts.created += became.count(Became.CREATED)
    counts.merged += became.count(Became.MERGED)
    counts.already_there += became.count(Became.ALREADY_THERE)


def _by_category(block: list[Waiting]) -> Iterator[tuple[str, list[Waiting]]]:
    grouped: dict[str, list[Waiting]] = {}
    for one in block:
        grouped.setdefault(one.category, []).append(one)
    yield from grouped.items()


def _ends_of(record: RelationRecord) -> tuple[tuple[str, str | None], tuple[str, str | None]]:
    return (record.from_name, record.from_type), (record.to_name, record.to_type)


def _named(waiting: list[Waiting]) -> Iterator[str]:
    for one in waiting:
        if one.relation is not None:
            yield one.relation.from_name
            yield one.relation.to_name
        elif one.texts is not None:
            yield one.texts.name


def _place(name: str, piece: Piece) -> str:
    return f"{name}:{piece.line}:{piece.column}" if piece.column else f"{name}, id {piece.line}"

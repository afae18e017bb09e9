"""What became of every record: counted, so that the sums close, with the reason of each repair and fault."""

from collections import Counter
from typing import NamedTuple

from msgspec import Struct

MOST_SAID = 10_000  # faults that are kept word for word; more are counted


class Fault(NamedTuple):
    """Why a record is kept aside, and where it stands."""

    place: str  # FILE:LINE:COLUMN
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


class Counts(Struct, rename="camel"):
    """The records of a file, or of all: `records = created + merged + alreadyThere + keptAside`."""

    records: int = 0
    created: int = 0
    merged: int = 0
    already_there: int = 0
    kept_aside: int = 0
    repaired: int = 0  # of those that weren't kept aside

    def close(self) -> bool:
        """Tell whether every record is accounted for."""
        return self.records == self.created + self.merged + self.already_there + self.kept_aside

    def add(self, other: "Counts") -> None:
        """Add another's."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Repairs:
    """What was read in another way than it was written: each reason with how often, and where first."""

    def __init__(self) -> None:
        """Begin with none."""
        self._times: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._times)

    def add(self, reasons: "list[str] | tuple[str, ...]", place: str) -> None:
        """Count reasons at a place."""
        for reason in dict.fromkeys(reasons):
            self._times[reason] += 1
            self._first.setdefault(reason, place)

    def said(self) -> "list[tuple[str, int, str]]":
        """Return each reason, how often it was met, and its first place, in the order in which they came."""
        return [(reason, self._times[reason], self._first[reason]) for reason in self._first]


class Ledger:
    """The account of one import."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.files: dict[str, Counts] = {}
        self.repairs = Repairs()
        self.faults: list[Fault] = []
        self.unsaid = 0  # faults beyond `MOST_SAID`

    def of(self, name: str) -> Counts:
        """Return the counts of a file."""
        return self.files.setdefault(name, Counts())

    def total(self) -> Counts:
        """Return the sums over all files."""
        sums = Counts()
        for counts in self.files.values():
            sums.add(counts)
        return sums

    def fault(self, place: str, reason: str) -> None:
        """Keep a reason why a record is kept aside."""
        if len(self.faults) < MOST_SAID:
            self.faults.append(Fault(place, reason))
        else:
            self.unsaid += 1

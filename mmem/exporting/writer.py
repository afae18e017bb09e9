"""What every format's writer is, and what several of them count to say it afterwards."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable

from mmem.exporting.selection import Selection
from mmem.exporting.sink import Sink
from mmem.outcomes import Notice
from mmem.records import Observation
from mmem.visible import plural, visible

Open = Callable[[str], Sink]  # takes the name of a table, `""` where the format is one text


class Writer(ABC):
    """Writes selections, of which several only where the format can hold several."""

    def __init__(self, opened: Open, *, several: bool = False) -> None:
        """Prepare to write; with `several`, every category is named."""
        self._open = opened
        self._several = several
        self.begin()

    def begin(self) -> None:
        """Open what is written to, and write what comes before everything."""
        self.sink = self._open("")

    @abstractmethod
    def write(self, selection: Selection) -> None:
        """Write a selection; what the format can't hold becomes a notice of its transaction."""

    def end(self) -> None:  # noqa: B027  # most formats have nothing there
        """Write what comes after everything."""


class Losses:
    """Counts what a format has no place for."""

    def __init__(self, form: str) -> None:
        """Count for the named format."""
        self._form = form
        self._counts: Counter[str] = Counter()

    def add(self, what: str, count: int = 1) -> None:
        """Count some more, named in the singular."""
        self._counts[what] += count

    def observations(self, given: Iterable[Observation], *, kinds: bool = True) -> None:
        """Count what observations have beside their texts; `kinds` are lost where the format has no place for them."""
        for one in given:
            if one.observation_type and kinds:
                self._counts["type of an observation"] += 1
            if one.timestamp is not None:
                self._counts["timestamp"] += 1
            if one.source:
                self._counts["source"] += 1
            if one.properties is not None:
                self._counts["observation's properties"] += 1

    def say(self, selection: Selection) -> None:
        """Add a notice to the selection's transaction, if anything was counted."""
        counted = {what: count for what, count in self._counts.items() if count}
        if not counted:
            return
        parts = [plural(count, what, _PLURALS.get(what, "")) for what, count in counted.items()]
        listed = ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]
        message = f"{self._form} has no place for {listed}; jsonl keeps everything"
        selection.transaction.notice(Notice("truncated", message, format=self._form, counts=counted))


_PLURALS = {
    "property that has the name of a field": "properties that have the names of fields",
    "property that is null": "properties that are null",
    "type of an observation": "types of observations",
    "observation's properties": "observations' properties",
    "entity's properties": "entities' properties",
    "relation's properties": "relations' properties",
}


class Shown:
    """Makes control characters visible, and counts the texts that had some."""

    def __init__(self) -> None:
        """Begin with none."""
        self._count = 0

    def __call__(self, text: str, keep: str = "") -> str:
        """Return the text with pictures or escapes in the place of control characters."""
        if text.isprintable():
            return text
        shown = visible(text, keep)
        self._count += shown != text
        return shown

    def say(self, selection: Selection) -> None:
        """Add a notice to the selection's transaction, if any text was changed."""
        if self._count:
            message = f"control characters in {plural(self._count, 'text')} were written as pictures or escapes"
            selection.transaction.notice(Notice("repaired", message, count=self._count))

"""What a checkup says: one remark for each thing that was looked at, and how to mend what is wrong."""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from msgspec import Struct

from mmem.errors import MmemError
from mmem.visible import visible

Level = Literal["ok", "info", "warning", "problem", "fixed"]
Mend = Callable[[], str]  # mends something and returns what it did


class Remark(Struct, frozen=True, omit_defaults=True):
    """One thing that was looked at: `check` is its fixed name, `remedy` what a person can do."""

    level: Level
    check: str
    subject: str
    message: str
    path: str | None = None
    remedy: str | None = None

    @property
    def sentence(self) -> str:
        """The remark as one line for a person, without its level."""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return visible(f"{self.subject}: {self.message}{remedy}")


class Found(NamedTuple):
    """A remark, and what would mend it safely, if anything does."""

    remark: Remark
    mend: Mend | None = None

    def mended(self) -> Remark:
        """Mend it if that is safe, and return the remark that is true afterwards."""
        if self.mend is None:
            return self.remark
        one = self.remark
        try:
            return Remark("fixed", one.check, one.subject, self.mend(), one.path)
        except MmemError as error:
            message = f"{one.message}, and mending it failed: {error.message}"
        except OSError as error:
            message = f"{one.message}, and mending it failed: {(error.strerror or str(error)).lower()}"
        return Remark(one.level, one.check, one.subject, message, one.path, one.remedy)


class About(NamedTuple):
    """Makes remarks about one subject."""

    subject: str
    path: str | None = None

    def ok(self, check: str, message: str) -> Found:
        """Say that all is well."""
        return Found(Remark("ok", check, self.subject, message, self.path))

    def info(self, check: str, message: str, remedy: str | None = None) -> Found:
        """Say what is good to know."""
        return Found(Remark("info", check, self.subject, message, self.path, remedy))

    def warn(self, check: str, message: str, remedy: str | None, mend: Mend | None = None) -> Found:
        """Say what may do harm one day."""
        return Found(Remark("warning", check, self.subject, message, self.path, remedy), mend)

    def problem(self, check: str, message: str, remedy: str | None = None, mend: Mend | None = None) -> Found:
        """Say what doesn't work."""
        return Found(Remark("problem", check, self.subject, message, self.path, remedy), mend)


Findings = Iterator[Found]

"""The closed family of errors: each has a code, an exit status, a sentence and details."""

from collections.abc import Mapping
from typing import ClassVar

from mmem.exits import ExitStatus
from mmem.visible import visible

Details = Mapping[str, object]


class MmemError(Exception):
    """An error a person can act on: the message says what, where and how to mend it."""

    code: ClassVar[str] = "internal"
    exit: ClassVar[ExitStatus] = ExitStatus.FAILED

    def __init__(self, message: str, details: Details | None = None) -> None:
        self.message = visible(message)  # one line, whatever names it quotes
        super().__init__(self.message)
        self.details: dict[str, object] = dict(details or {})
        self.in_words = False  # True where the request was words, whose writer knows nothing of JSON paths

    def to_dict(self) -> dict[str, object]:
        """Return `{code, message, details}`, the shape every face shows."""
        return {"code": self.code, "message": self.message, "details": self.details}


class Usage(MmemError):
    """The command line's words are off."""

    code = "usage"
    exit = ExitStatus.USAGE


class InvalidJson(MmemError):
    """A request isn't JSON, or holds what JSON can't carry safely."""

    code = "invalid_json"
    exit = ExitStatus.USAGE


class InvalidRequest(MmemError):
    """The envelope around a request is wrong."""

    code = "invalid_request"
    exit = ExitStatus.USAGE


class UnknownTool(MmemError):
    """No tool has this name."""

    code = "unknown_tool"
    exit = ExitStatus.USAGE


class InvalidArguments(MmemError):
    """A request's arguments don't validate; the message begins with the path of the fault."""

    code = "invalid_arguments"
    exit = ExitStatus.USAGE


class NotFound(MmemError):
    """A named entity or category doesn't exist."""

    code = "not_found"
    exit = ExitStatus.NOT_FOUND


class Ambiguous(MmemError):
    """Several types share the name; `details` lists the candidates."""

    code = "ambiguous"
    exit = ExitStatus.NOT_FOUND


class Conflict(MmemError):
    """A race was lost: nothing was stored, and trying again is right."""

    code = "conflict"
    exit = ExitStatus.RETRY


class Busy(MmemError):
    """Another process held the file for longer than the timeout."""

    code = "busy"
    exit = ExitStatus.RETRY


class Storage(MmemError):
    """The file can't be used: not a database, a newer schema, unreadable, disk full."""

    code = "storage"
    exit = ExitStatus.STORAGE


class IndexDamaged(Storage):
    """The search index doesn't fit the rows; it can be rebuilt from them."""


class Skipped(MmemError):
    """A batch didn't run the request, because an earlier one failed."""

    code = "skipped"


class RolledBack(MmemError):
    """A batch undid the request, because a later one failed."""

    code = "rolled_back"


class Internal(MmemError):
    """A bug in mmem."""

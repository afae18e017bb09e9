"""What a tool gives back: a result in its documented shape, and notices beside it.

A search also tells what matched, for whoever shows its result to a person; that is no part of the result.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from mmem.visible import visible

if TYPE_CHECKING:
    from mmem.matches import Matches

NoticeCode = Literal[
    "skipped",
    "replaced",
    "not_found",
    "truncated",
    "matched_any",
    "no_such_category",
    "near_twin",
    "repaired",
    "no_full_text",
    "index_healed",
]


class Notice:
    """One thing that was not as asked: `{"code", "message", ...details}`."""

    __slots__ = ("code", "details", "message")

    def __init__(self, code: NoticeCode, message: str, **details: object) -> None:
        self.code: NoticeCode = code
        self.message = visible(message)  # one line, whatever names it quotes
        self.details = details

    def __repr__(self) -> str:
        return f"Notice({self.code}: {self.message})"

    def to_dict(self) -> dict[str, object]:
        """Return the notice as one flat object, code and message first."""
        return {"code": self.code, "message": self.message, **self.details}


ResultT_co = TypeVar("ResultT_co", covariant=True)


class Outcome(Generic[ResultT_co]):
    """A tool's result and its notices, in the order in which they arose."""

    __slots__ = ("matches", "notices", "result")

    def __init__(self, result: ResultT_co, notices: Sequence[Notice] = (), matches: "Matches | None" = None) -> None:
        self.result = result
        self.notices = notices
        self.matches = matches

    def __repr__(self) -> str:
        return f"Outcome({self.result!r}, {list(self.notices)!r})"

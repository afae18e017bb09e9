"""Many requests in one go: each answered after its COMMIT, many of them sharing one.

Requests that are waiting share a transaction, in which each is a savepoint of its own. Neighbours that create
entities are carried out by one set of statements. A group holds one category's write lock at a time, so that two
batches that take turns over two categories can't block each other, and not for long, so that others get theirs.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from mmem import envelope
from mmem.category_file import Missing
from mmem.envelope import Asked, Refused
from mmem.errors import InvalidRequest, MmemError, RolledBack, Skipped
from mmem.lines import Line
from mmem.outcomes import Notice, Outcome
from mmem.registry import carry_out
from mmem.store import Store

HOLD = 0.05  # seconds for which a group holds its lock before it commits, beyond the request at hand
HELD_BYTES = 4 << 20  # of answers that wait for a COMMIT
JOINED = 500  # requests that one set of statements carries out


class Held(NamedTuple):
    """An answer that waits for a COMMIT."""

    line: int
    id: envelope.Id
    name: str | None
    answer: bytes
    code: str | None  # of its error, None where it is ok


class Tally:
    """What a summary says."""

    def __init__(self) -> None:
        self.tools: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.requests = 0
        self._began = time.perf_counter()

    def to_dict(self) -> dict[str, object]:
        """Return counts by tool and by error code, seconds and requests a second."""
        seconds = time.perf_counter() - self._began
        return {
            "requests": self.requests,
            "ok": self.requests - self.errors.total(),
            "failed": self.errors.total(),
            "tools": dict(sorted(self.tools.items())),
            "errors": dict(sorted(self.errors.items())),
            "seconds": round(seconds, 3),
            "requestsPerSecond": round(self.requests / seconds) if seconds else 0,
        }


class Batch:
    """Carries requests out as their lines come, and writes the answers once they are true."""

    def __init__(
        self,
        store: Store,
        write: Callable[[bytes], None],
        *,
        stop_on_error: bool = False,
        errors_only: bool = False,
    ) -> None:
        """Prepare to answer through `write`."""
        self.tally = Tally()
        self._store = store
        self._write = write
        self._stop_on_error = stop_on_error
        self._errors_only = errors_only
        self._stopped = False
        self._joined: list[Asked] = []
        self._held: list[Held] = []
        self._held_bytes = 0
        self._group = ExitStack()
        self._category: str | None = None
        self._first_in_group = 0
        self._since = 0.0

    def __enter__(self) -> "Batch":
        """Return the batch itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Roll an open group back where the batch was broken off; after `finish` nothing is open."""
        self._group.__exit__(*(error if error[0] is not None else _broken_off()))  # type: ignore[arg-type]

    @property
    def failed(self) -> bool:
        """Whether any request failed."""
        return self.tally.errors.total() > 0

    def feed(self, lines: Sequence[Line]) -> None:
        """Carry out the requests on these lines; some answers may be left for `settle`."""
        for number, line in lines:
            if line is not None and not line.strip():
                continue
            self._take(envelope.read(number, line))

    def settle(self) -> None:
        """Commit, and write every answer that is owed: before waiting for input."""
        self._carry_out_joined()
        self._commit()
        self._flush()

    def finish(self) -> None:
        """Settle at the end of the input."""
        self.settle()

    def _take(self, asked: Asked | Refused) -> None:
        if self._stopped:
            self._fail(asked, Skipped("an earlier request failed, and --stop-on-error was asked for"))
        elif isinstance(asked, Refused):
            self._carry_out_joined()
            self._fail(asked, asked.error)
        elif asked.tool.joins(asked.request):
            if self._joined and self._category_of(self._joined[0]) != self._category_of(asked):
                self._carry_out_joined()
            self._joined.append(asked)
            if len(self._joined) >= JOINED:
                self._carry_out_joined()
        else:
            self._carry_out_joined()
            self._carry_out(asked)
        if self._is_full():
            self.settle()

    def _is_full(self) -> bool:
        if self._held_bytes > HELD_BYTES:
            return True
        return self._category is not None and time.monotonic() - self._since > HOLD

    def _category_of(self, asked: Asked) -> str:
        return self._store.category(asked.request.category)

    def _carry_out_joined(self) -> None:
        """Carry out the requests that wait to be carried out together."""
        joined, self._joined = self._joined, []
        if not joined:
            return
        run_many = joined[0].tool.run_many
        if len(joined) == 1 or run_many is None:
            for asked in joined:
                self._carry_out(asked)
            return
        try:
            notices = self._hold(joined[0], any(asked.tool.creates(asked.request) for asked in joined))
            outcomes = run_many(self._store, [asked.request for asked in joined])
        except MmemError:
            for asked in joined:  # one at a time, each fails or not on its own
                self._carry_out(asked)
            return
        for asked, outcome in zip(joined, outcomes, strict=True):
            self._succeed(asked, outcome, notices)
            notices = []

    def _carry_out(self, asked: Asked) -> None:
        try:
            if asked.tool.alone:
                self._commit()
                outcome = self._alone(asked)
                notices: list[Notice] = []
            else:
                notices = self._hold(asked, asked.tool.creates(asked.request)) if asked.tool.writes else []
                outcome = carry_out(self._store, asked.tool, asked.request)
        except MmemError as error:
            self._fail(asked, error)
            return
        self._succeed(asked, outcome, notices)

    def _alone(self, asked: Asked) -> Outcome[object]:
        return carry_out(self._store, asked.tool, asked.request)

    def _hold(self, asked: Asked, create: bool) -> list[Notice]:
        """Take the lock of a request's category, unless it is held; return what taking it gave to say.

        Another category's group is committed and answered first. A missing category that the request doesn't
        create has no lock.
        """
        category = self._category_of(asked)
        if category == self._category:
            return []
        self._commit()
        self._flush()
        self._first_in_group = len(self._held)
        try:
            transaction = self._group.enter_context(self._store.holding(category, create=create))
        except Missing:
            return []
        transaction.defer_index()
        self._category, self._since = category, time.monotonic()
        return list(transaction.notices)

    def _commit(self) -> None:
        """Commit the open group; where that fails, so do the requests in it."""
        if self._category is None:
            return
        self._category = None
        try:
            self._group.close()
        except MmemError as error:
            first = self._first_in_group
            failed = [held for held in self._held[first:] if held.code is None]
            self._held[first:] = [
                held if held.code is not None else self._refused(held.line, held.id, held.name, error)
                for held in self._held[first:]
            ]
            self.tally.errors[error.code] += len(failed)
            self._stopped = self._stopped or self._stop_on_error

    def _succeed(self, asked: Asked, outcome: Outcome[object], more: list[Notice]) -> None:
        if more:
            outcome = Outcome(outcome.result, [*more, *outcome.notices])
        self._hold_answer(Held(asked.line, asked.id, asked.name, envelope.answer(asked, outcome), None))

    def _fail(self, asked: Asked | Refused, error: MmemError) -> None:
        self.tally.errors[error.code] += 1
        self._stopped = self._stopped or self._stop_on_error
        self._hold_answer(self._refused(asked.line, asked.id, asked.name, error))

    def _refused(self, line: int, id: envelope.Id, name: str | None, error: MmemError) -> Held:
        return Held(line, id, name, envelope.refusal(line, id, error), error.code)

    def _hold_answer(self, held: Held) -> None:
        self.tally.requests += 1
        if held.name is not None:
            self.tally.tools[held.name.replace("-", "_")] += 1
        self._held.append(held)
        self._held_bytes += len(held.answer)

    def _flush(self) -> None:
        """Write the answers that no COMMIT is missing for."""
        held, self._held = self._held, []
        self._held_bytes = 0
        answers = [one.answer for one in held if not self._errors_only or one.code is not None]
        if answers:
            self._write(b"".join(answers))


def _broken_off() -> tuple[type[BaseException], BaseException, None]:
    error = InvalidRequest("the batch was broken off")
    return type(error), error, None


__all__ = ["Batch", "RolledBack"]

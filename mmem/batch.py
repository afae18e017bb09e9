"""Many requests in one go: each answered after its COMMIT, many of them sharing one.

Requests that are waiting share a transaction, in which each is a savepoint of its own. Neighbours that create
entities are carried out by one set of statements. A group holds one category's write lock at a time, so that two
batches that take turns over two categories can't block each other, and not for long, so that others get theirs.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import NamedTuple

from mmem import envelope, jsontext
from mmem.category_file import Missing
from mmem.envelope import Asked, Refused
from mmem.errors import IndexDamaged, Internal, InvalidArguments, MmemError, Skipped
from mmem.lines import Line
from mmem.outcomes import Notice, Outcome
from mmem.registry import carry_out
from mmem.store import Store
from mmem.transaction import Transaction

HOLD = 0.05  # seconds for which a group holds its lock before it commits, beyond the request at hand
HELD_BYTES = 4 << 20  # of answers that wait for a COMMIT
JOINED = 500  # requests that one set of statements carries out


class Held(NamedTuple):
    """An answer that waits for a COMMIT."""

    line: int
    id: envelope.Id
    category: str | None  # the category that was written to, None for what needs no COMMIT
    answer: bytes
    failed: bool


class Tally:
    """What a summary says."""

    def __init__(self) -> None:
        """Begin to count, and to take the time."""
        self.tools: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.requests = 0
        self._began = time.perf_counter()

    def line(self) -> bytes:
        """Return counts by tool and by error code, seconds and requests a second, as a line of JSON."""
        return (jsontext.encode({"summary": self._counts()}) + "\n").encode()

    def _counts(self) -> dict[str, object]:
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
    """Carries requests out as their lines come, and writes the answers once they are true.

    Use it as a context: what is open when it is left by an error is rolled back.
    """

    def __init__(
        self, store: Store, write: Callable[[bytes], None], *, stop_on_error: bool = False, errors_only: bool = False
    ) -> None:
        """Prepare to answer through `write`."""
        self.tally = Tally()
        self._store = store
        self._write = write
        self._stop_on_error = stop_on_error
        self._errors_only = errors_only
        self._skipping: MmemError | None = None
        self._joined: list[Asked] = []
        self._joined_bytes = 0
        self._held: list[Held] = []
        self._held_bytes = 0
        self._group = ExitStack()
        self._transaction: Transaction | None = None
        self._unsaid: dict[str, list[Notice]] = {}  # what taking a lock gave to say, until a write is answered
        self._keeps = False  # whether anything in the group succeeded
        self._since = 0.0
        self._still = ExitStack()
        self._still_category: str | None = None

    def __enter__(self) -> "Batch":
        """Return the batch itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Roll back what is open, where the batch was broken off."""
        self._release()
        self._roll_back()

    @property
    def failed(self) -> bool:
        """Whether any request failed."""
        return self.tally.errors.total() > 0

    def feed(self, lines: Sequence[Line]) -> None:
        """Carry out the requests on these lines; some answers may be left for `settle`."""
        for number, line in lines:
            if line is None or line.strip():
                self._joined_bytes += len(line or b"")
                self._take(envelope.read(number, line))

    def settle(self) -> None:
        """Commit, and write every answer that is owed: before waiting for input."""
        self._carry_out_joined()
        self._release()
        self._commit()
        self._flush()

    def finish(self) -> None:
        """Settle at the end of the input."""
        self.settle()

    def _take(self, asked: Asked | Refused) -> None:
        if isinstance(asked, Asked) and asked.tool.joins(asked.request) and self._skipping is None:
            self._join(asked)
        else:
            self._carry_out_joined()
            if self._skipping is not None:
                self._fail(asked, self._skipping)
            elif isinstance(asked, Refused):
                self._fail(asked, asked.error)
            else:
                self._carry_out(asked)
        if self._is_full():
            self.settle()

    def _join(self, asked: Asked) -> None:
        """Keep a request that can be carried out together with its neighbours."""
        if self._joined and self._joined[0].request.category != asked.request.category:
            self._carry_out_joined()
        self._joined.append(asked)
        if len(self._joined) >= JOINED or self._joined_bytes > HELD_BYTES:
            self._carry_out_joined()

    def _is_full(self) -> bool:
        if self._held_bytes > HELD_BYTES:
            return True
        is_open = self._transaction is not None or self._still_category is not None
        return is_open and time.monotonic() - self._since > HOLD

    def _category_of(self, asked: Asked) -> str | None:
        """Return the category of a request, None for a bad name, of which the tool itself has to speak."""
        try:
            return self._store.category(asked.request.category)
        except InvalidArguments:
            return None

    def _carry_out_joined(self) -> None:
        """Carry out the requests that wait to be carried out together."""
        joined, self._joined = self._joined, []
        self._joined_bytes = 0
        run_many = joined[0].tool.run_many if joined else None
        if len(joined) < 2 or run_many is None:
            for asked in joined:
                self._carry_out(asked)
            return
        try:
            self._hold(joined[0], create=True)
        except MmemError as error:
            for asked in joined:
                self._fail(asked, self._skipping or error)
            return
        try:
            outcomes = run_many(self._store, [asked.request for asked in joined])
        except MmemError:
            for asked in joined:  # one at a time, each fails or not on its own
                self._carry_out(asked)
            return
        for asked, outcome in zip(joined, outcomes, strict=True):
            self._succeed(asked, outcome)

    def _carry_out(self, asked: Asked) -> None:
        if self._skipping is not None:
            self._fail(asked, self._skipping)
            return
        try:
            if asked.tool.alone:
                outcome = self._carry_out_alone(asked)
            elif asked.tool.writes:
                self._hold(asked, create=asked.tool.creates(asked.request))
                outcome = carry_out(self._store, asked.tool, asked.request)
            else:
                outcome = self._carry_out_reading(asked)
        except MmemError as error:
            self._fail(asked, error)
            return
        self._succeed(asked, outcome)

    def _carry_out_reading(self, asked: Asked) -> Outcome[object]:
        """Carry out a request that only reads; a damaged index can't be mended while a state is held."""
        self._hold_still(asked)
        try:
            return asked.tool.run(self._store, asked.request)
        except IndexDamaged:
            self._release()
            return carry_out(self._store, asked.tool, asked.request)

    def _carry_out_alone(self, asked: Asked) -> Outcome[object]:
        """Carry out a request that shares no transaction, after everything before it is answered."""
        self._release()
        self._commit()
        self._flush()
        return carry_out(self._store, asked.tool, asked.request)

    def _hold(self, asked: Asked, *, create: bool) -> None:
        """Take the lock of a request's category, unless it is held.

        Another category's group is committed and answered first. A missing category that the request doesn't
        create has no lock.
        """
        category = self._category_of(asked)
        if category is None:
            return
        if self._transaction is not None and self._transaction.category == category:
            self._transaction.defer_index()  # from the second request on it pays
            return
        self._release()
        self._commit()
        self._flush()
        self._store.give_way(category)
        with suppress(Missing):
            self._transaction = self._group.enter_context(self._store.holding(category, create=create))
            self._since = time.monotonic()
            self._keep_unsaid(self._transaction)

    def _keep_unsaid(self, transaction: Transaction) -> None:
        """Keep what was said on taking a lock, such as `repaired`, for the first write that is stored."""
        if transaction.notices:
            self._unsaid[transaction.category] = list(transaction.notices)

    def _hold_still(self, asked: Asked) -> None:
        """Let the reads of a group see one state, which is also read faster."""
        category = self._category_of(asked)
        written = None if self._transaction is None else self._transaction.category
        if category is None or category in {written, self._still_category}:
            return
        self._release()
        with suppress(Missing):
            self._still.enter_context(self._store.holding_still(category))
            self._still_category = category
            if self._transaction is None:
                self._since = time.monotonic()

    def _release(self) -> None:
        """Let go of the state that reads were held on."""
        self._still_category = None
        self._still.close()

    def _commit(self) -> None:
        """Commit the open group; where that fails, so do the requests in it."""
        if self._transaction is None:
            return
        if not self._keeps:  # nothing in it succeeded: as if it had not been, a conversion included
            self._roll_back()
            return
        category, self._transaction, self._keeps = self._transaction.category, None, False
        try:
            self._group.close()
        except MmemError as error:
            self._held = [self._after_failed_commit(held, category, error) for held in self._held]
            self._stop()

    def _after_failed_commit(self, held: Held, category: str, error: MmemError) -> Held:
        """Return an answer as it is after the COMMIT of a category failed."""
        if held.failed or held.category != category:
            return held
        self.tally.errors[error.code] += 1
        return Held(held.line, held.id, None, envelope.refusal(held.line, held.id, error), True)

    def _roll_back(self) -> None:
        """Undo what isn't committed."""
        self._transaction, self._keeps = None, False
        self._unsaid.clear()
        undone = Internal("rolled back")
        with suppress(Internal):
            if not self._group.__exit__(Internal, undone, None):
                raise undone

    def _succeed(self, asked: Asked, outcome: Outcome[object]) -> None:
        category = self._category_of(asked) if asked.tool.writes and not asked.tool.alone else None
        if category is not None:
            self._keeps = self._keeps or (self._transaction is not None and self._transaction.category == category)
            if unsaid := self._unsaid.pop(category, None):
                outcome = Outcome(outcome.result, [*unsaid, *outcome.notices])
        self._answer(Held(asked.line, asked.id, category, envelope.answer(asked, outcome), False), asked.name)

    def _fail(self, asked: Asked | Refused, error: MmemError) -> None:
        self.tally.errors[error.code] += 1
        refusal = envelope.refusal(asked.line, asked.id, error)
        self._answer(Held(asked.line, asked.id, None, refusal, True), asked.name)
        self._stop()

    def _stop(self) -> None:
        """Skip the rest after a failure, if that was asked for."""
        if self._stop_on_error and self._skipping is None:
            self._skipping = Skipped("an earlier request failed, and --stop-on-error skips the rest")

    def _answer(self, held: Held, name: str | None) -> None:
        self.tally.requests += 1
        if name is not None:
            self.tally.tools[name] += 1
        self._held.append(held)
        self._held_bytes += len(held.answer)

    def _flush(self) -> None:
        """Write the answers; no COMMIT is missing for any of them."""
        held, self._held = self._held, []
        self._held_bytes = 0
        self._print(held)

    def _print(self, held: Sequence[Held]) -> None:
        answers = [one.answer for one in held if one.failed or not self._errors_only]
        if answers:
            self._write(b"".join(answers))

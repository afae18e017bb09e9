"""A batch that is kept whole: `--atomic` stores all of it or nothing, `--dry-run` nothing at all.

Every category's lock is held to the end, and the answers wait in a temporary file.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from tempfile import TemporaryFile
from typing import Any

import msgspec

from mmem import envelope
from mmem.batch import Batch, Held
from mmem.category_file import Missing
from mmem.envelope import Asked, Refused
from mmem.errors import Internal, InvalidRequest, MmemError, RolledBack, Skipped
from mmem.names import require_category
from mmem.outcomes import Outcome
from mmem.registry import carry_out
from mmem.store import Store


class _Spool:
    """Answers in a temporary file, however many there are."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - it lives as long as the batch
        self._encode = msgspec.msgpack.encode
        self._decoder = msgspec.msgpack.Decoder(tuple[int, envelope.Id, str | None, bytes, bool])

    def add(self, held: list[Held]) -> None:
        for one in held:
            packed = self._encode(tuple(one))
            self._file.write(len(packed).to_bytes(4, "big") + packed)

    def drain(self) -> Iterator[Held]:
        """Yield what was added, in its order."""
        self._file.seek(0)
        while size := self._file.read(4):
            yield Held(*self._decoder.decode(self._file.read(int.from_bytes(size, "big"))))
        self.close()

    def close(self) -> None:
        self._file.close()


class WholeBatch(Batch):
    """Holds every category it writes to until the end; then commits them one after another, or none of them."""

    def __init__(
        self,
        store: Store,
        write: Callable[[bytes], None],
        *,
        stop_on_error: bool = False,
        errors_only: bool = False,
        atomic: bool = False,
        dry_run: bool = False,
    ) -> None:
        """Prepare: `atomic` undoes everything at the first failure, `dry_run` at the end."""
        super().__init__(store, write, stop_on_error=stop_on_error, errors_only=errors_only)
        self._atomic = atomic
        self._dry_run = dry_run
        self._groups: dict[str, ExitStack] = {}
        self._spool: _Spool | None = _Spool()

    def __exit__(self, *error: Any) -> None:
        """Roll everything back, where the batch was broken off."""
        super().__exit__(*error)
        if self._spool is not None:
            self._spool.close()

    def settle(self) -> None:
        """Carry out what waits; the answers have to wait for the end."""
        self._carry_out_joined()
        self._flush()

    def finish(self) -> None:
        """Commit every category, or roll back a dry run; then write the answers."""
        self.settle()
        if self._spool is None:
            return
        if self._dry_run:
            self._roll_back()
        failed = self._commit_all()
        spool, self._spool = self._spool, None
        for held in spool.drain():
            error = failed.get(held.category) if held.category is not None else None
            self._print([held if error is None else self._after_failed_commit(held, held.category or "", error)])

    def _commit_all(self) -> dict[str, MmemError]:
        """Commit the categories one after another; after one that fails, the others are rolled back."""
        failed: dict[str, MmemError] = {}
        for category, group in self._groups.items():
            try:
                if failed:
                    _undo(group)
                    failed[category] = RolledBack("the COMMIT of another category failed")
                else:
                    group.close()
            except MmemError as error:
                failed[category] = error
        self._groups.clear()
        return failed

    def _carry_out_alone(self, asked: Asked) -> Outcome[object]:
        if not self._dry_run or self._atomic:
            raise InvalidRequest(f"{asked.name} can't be undone, so it has no place in --atomic")
        target = asked.tool.target(asked.request)
        if target is not None:
            self._hold(asked, create=False)
            self._hold_category(target, create=True)
            return carry_out(self._store, asked.tool, asked.request)
        category = require_category(asked.request.category or "")
        if category not in self._store.categories():
            raise self._store.no_category(category)
        return Outcome(f"Category '{category}' deleted successfully")

    def _hold(self, asked: Asked, *, create: bool) -> None:
        category = self._category_of(asked)
        if category is not None:
            self._hold_category(category, create=create)

    def _hold_category(self, category: str, *, create: bool) -> None:
        if category in self._groups:
            return
        group = ExitStack()
        with suppress(Missing):
            transaction = group.enter_context(self._store.holding(category, create=create))
            transaction.defer_index()
            self._groups[category] = group
            self._keep_unsaid(transaction)

    def _hold_still(self, asked: Asked) -> None:
        """Read what is there: a state that was held until the end would hold its log back."""

    def _is_full(self) -> bool:
        return self._held_bytes > 0

    def _fail(self, asked: Asked | Refused, error: MmemError) -> None:
        if self._atomic and self._skipping is None:
            self._give_up(asked.line)
        super()._fail(asked, error)

    def _give_up(self, line: int) -> None:
        """Undo everything, say so of every request before, and skip the rest."""
        self._flush()
        self._roll_back()
        spool, self._spool = self._spool, None
        error = RolledBack(f"the request on line {line} failed, and --atomic undoes all of them")
        for held in spool.drain() if spool else ():
            self.tally.errors[error.code] += 1
            self._print([Held(held.line, held.id, None, envelope.refusal(held.line, held.id, error), True)])
        self._skipping = Skipped(f"the request on line {line} failed, and --atomic skips the rest")

    def _roll_back(self) -> None:
        for group in self._groups.values():
            _undo(group)
        self._groups.clear()
        super()._roll_back()

    def _flush(self) -> None:
        held, self._held = self._held, []
        self._held_bytes = 0
        if self._spool is None:
            self._print(held)
        else:
            self._spool.add(held)


def _undo(group: ExitStack) -> None:
    undone = Internal("rolled back")
    with suppress(Internal):
        if not group.__exit__(Internal, undone, None):
            raise undone

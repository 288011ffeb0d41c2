"""Usage accounting: charges embedding, transcription and speech to a person and records each call.

No call is made once a limit is reached. An embedder that runs in this process costs nothing and
never gets here.
"""

from dataclasses import dataclass, field
from typing import Final, Literal

from oldfriend.app.call_log import flush_call_with_retry
from oldfriend.app.call_spool import CallSpool, FinishedCall
from oldfriend.app.concurrency import raise_if_lease_lost
from oldfriend.app.spend_limits import find_used_up_allowance
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock
from oldfriend.domain.errors import AllowanceUsedUp
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import new_id
from oldfriend.llm.model import ModelCall
from oldfriend.usage.model_calls import CallContext

LIMIT_LABELS: Final[dict[Literal["background", "everything"], str]] = {
    "background": "work in the background",
    "everything": "everything",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageAccount:
    """An account that records calls in the ledger and enforces the daily limits."""

    db: Database
    settings: Settings
    clock: Clock
    asker: CallContext | None = None  # None: nobody in particular, so the owner
    request_hash: str = ""  # a hash of what is sent, by which an answer is found again
    spool: CallSpool = field(default_factory=CallSpool)

    async def check(self) -> None:
        """Raise AllowanceUsedUp if today's limit is reached, LeaseLost if the lease is lost."""
        raise_if_lease_lost()
        is_background = self.asker is not None and self.asker.is_background
        async with self.db.begin_read() as tx:
            used_up = await find_used_up_allowance(
                tx, self.settings, now=self.clock(), is_background=is_background
            )
        if used_up is not None:
            is_all = used_up.purpose == "everything"
            raise AllowanceUsedUp(
                localizable(
                    "allowance_used_up" if is_all else "allowance_behind_used_up",
                    f"Today's limit for {LIMIT_LABELS[used_up.purpose]} is reached; it ends at "
                    "midnight.",
                )
            )

    async def record(self, call: ModelCall) -> None:
        """Record a finished call, unless nobody has talked here yet.

        While the database cannot be written, the call waits in the spool and its result is used
        anyway.
        """
        now = self.clock()
        spooled = FinishedCall(
            id=new_id(now),
            asker=self.asker,
            step=0,
            request_hash=self.request_hash,
            since=None,
            made_at=now,
            call=call,
        )
        self.spool.put(spooled)
        await flush_call_with_retry(self.db, self.spool, spooled)


@dataclass(frozen=True, slots=True)
class PendingCharges:
    """Calls collected until it is known who pays; whoever asks has agreed to them."""

    calls: list[ModelCall] = field(default_factory=list)

    async def check(self) -> None:
        """Allow the call."""

    async def record(self, call: ModelCall) -> None:
        """Collect a call."""
        self.calls.append(call)

"""Spend limits: today's allowances, what is left of them, and what is charged to whom.

No call is made once a limit is reached. An embedder that runs in this process costs nothing and
never gets here.
"""

from dataclasses import dataclass, field
from typing import Final, Literal

from oldfriend.app.call_spool import CallSpool, FinishedCall, flush_call_with_retry
from oldfriend.app.concurrency import raise_if_lease_lost
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Clock, Micros, get_start_of_day
from oldfriend.domain.errors import AllowanceUsedUp
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import new_id
from oldfriend.domain.setting_parsers import Microdollars
from oldfriend.llm.model import ModelCall
from oldfriend.usage.costs import SpendCap, UsageTotals, sum_usage
from oldfriend.usage.model_calls import CallContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The daily limit for a purpose, and what is spent of it."""

    purpose: Literal["background", "everything"]
    cap: SpendCap
    spent: UsageTotals

    @property
    def is_used_up(self) -> bool:
        """Whether nothing more may be spent today."""
        return self.cap.is_reached_by(self.spent)

    @property
    def money_left(self) -> int | None:
        """In millionths of a dollar; None: there is no cap."""
        return None if self.cap.cost is None else max(self.cap.cost - self.spent.cost, 0)

    @property
    def unpriced_tokens_left(self) -> int | None:
        """Of models without a known price; None: there is no cap."""
        cap = self.cap.unpriced_tokens
        return None if cap is None else max(cap - self.spent.unpriced_tokens, 0)

    @property
    def tokens_left(self) -> int | None:
        """None: there is no cap."""
        return None if self.cap.tokens is None else max(self.cap.tokens - self.spent.tokens, 0)


async def find_used_up_allowance(
    tx: Transaction, settings: Settings, *, now: Micros, is_background: bool
) -> Allowance | None:
    """Return the allowance that forbids spending more today, or None."""
    background, everything = await load_allowances(tx, settings, now=now)
    applicable = (background, everything) if is_background else (everything,)
    return next((each for each in applicable if each.is_used_up), None)


async def load_allowances(
    tx: Transaction, settings: Settings, *, now: Micros
) -> tuple[Allowance, Allowance]:
    """Return today's allowance for background work, and the one for everything together."""
    budget = settings.budget
    midnight = get_start_of_day(now, settings.zone)
    tomorrow = get_start_of_day(now, settings.zone, days_back=-1)
    return (
        Allowance(
            purpose="background",
            cap=build_cap(
                budget.background_per_day,
                budget.background_tokens_per_day,
                unpriced=budget.background_unpriced_tokens_per_day,
            ),
            spent=await sum_usage(tx, midnight, until=tomorrow, background_only=True),
        ),
        Allowance(
            purpose="everything",
            cap=build_cap(
                budget.all_per_day,
                budget.all_tokens_per_day,
                unpriced=budget.all_unpriced_tokens_per_day,
            ),
            spent=await sum_usage(tx, midnight, until=tomorrow),
        ),
    )


def build_cap(cost: Microdollars | None, tokens: int | None, *, unpriced: int | None) -> SpendCap:
    """Build the cap; unpriced tokens are capped only if money is, which they would bypass."""
    return SpendCap(cost=cost, tokens=tokens, unpriced_tokens=None if cost is None else unpriced)


LIMIT_LABELS: Final[dict[Literal["background", "everything"], str]] = {
    "background": "background work",
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

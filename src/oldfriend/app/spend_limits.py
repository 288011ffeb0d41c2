"""Spend limits: today's allowances and what is left of them, in this machine's time zone."""

from dataclasses import dataclass
from typing import Literal

from oldfriend.config.settings import Settings
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, get_start_of_day
from oldfriend.domain.setting_parsers import Microdollars
from oldfriend.usage.costs import SpendCap, UsageTotals, sum_usage


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

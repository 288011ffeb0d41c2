"""How much may be spent today, and how much of it is left? Days are those of this machine's zone.

It does not know who wants to spend.
"""

from dataclasses import dataclass
from typing import Literal

from oldfriend.app.choices.settings import Settings
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, start_of_day
from oldfriend.ledger.spending import Cap, Spent, spent_since


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What may be spent in a day for something, and what is spent of it."""

    purpose: Literal["background", "everything"]
    cap: Cap
    spent: Spent

    @property
    def is_used_up(self) -> bool:
        """Whether nothing more may be spent today."""
        return self.cap.is_reached_by(self.spent)

    @property
    def money_left(self) -> int | None:
        """In millionths of a dollar; None: there is no cap."""
        return None if self.cap.cost is None else max(self.cap.cost - self.spent.cost, 0)

    @property
    def tokens_left(self) -> int | None:
        """None: there is no cap."""
        return None if self.cap.tokens is None else max(self.cap.tokens - self.spent.tokens, 0)


async def find_used_up(
    tx: Transaction, settings: Settings, *, now: Micros, is_background: bool
) -> Allowance | None:
    """The allowance that lets nothing more be spent today, if one does."""
    background, everything = await allowances(tx, settings, now=now)
    concerned = (background, everything) if is_background else (everything,)
    return next((each for each in concerned if each.is_used_up), None)


async def allowances(
    tx: Transaction, settings: Settings, *, now: Micros
) -> tuple[Allowance, Allowance]:
    """Today's allowance of the background, and that of everything together."""
    budget = settings.budget
    midnight = start_of_day(now, settings.zone)
    return (
        Allowance(
            purpose="background",
            cap=Cap(cost=budget.background_per_day, tokens=budget.background_tokens_per_day),
            spent=await spent_since(tx, midnight, background_only=True),
        ),
        Allowance(
            purpose="everything",
            cap=Cap(cost=budget.all_per_day, tokens=budget.all_tokens_per_day),
            spent=await spent_since(tx, midnight),
        ),
    )

"""Which of the three numbers is the day? Settled over all heads of a file, not one by one.

An order that makes some date impossible is out; else time runs forward in a chat, so the order
that goes back least is right; else the way of writing tells; else the number that changes most
often is the day.
"""

from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Final

from oldfriend.transfer.formats.whatsapp_heads import Head

CENTURY: Final = 2000  # WhatsApp began in 2009


@dataclass(frozen=True, slots=True, kw_only=True)
class DateOrder:
    """Which place holds what."""

    name: str
    example: str
    year: int
    month: int
    day: int


DAY_FIRST: Final = DateOrder(name="day first", example="31/12/2023", year=2, month=1, day=0)
MONTH_FIRST: Final = DateOrder(name="month first", example="12/31/2023", year=2, month=0, day=1)
YEAR_FIRST: Final = DateOrder(name="year first", example="2023/12/31", year=0, month=1, day=2)
ORDERS: Final = (DAY_FIRST, MONTH_FIRST, YEAR_FIRST)


@dataclass(slots=True)
class Trial:
    """How well one order fits the heads so far."""

    order: DateOrder
    impossible: int = 0
    backward: int = 0
    day_changes: int = 0
    year_changes: int = 0
    last: date | None = None

    def see(self, head: Head) -> None:
        """Take one more head into account."""
        day = date_of(head, self.order)
        if day is None:
            self.impossible += 1
            return
        if self.last is not None:
            self.backward += day < self.last
            self.day_changes += day.day != self.last.day
            self.year_changes += day.year != self.last.year
        self.last = day


@dataclass(slots=True)
class DateTrials:
    """All orders tried on a file, head by head."""

    trials: tuple[Trial, ...] = field(
        default_factory=lambda: tuple(Trial(order) for order in ORDERS)
    )
    dotted: bool = False
    american: bool = False
    last: tuple[int, int, int] | None = None

    def see(self, head: Head) -> None:
        """Take one more head into account; only a new date tells more."""
        if head.numbers == self.last:
            return
        self.last = head.numbers
        self.dotted |= head.is_dotted()
        self.american |= head.is_american()
        for trial in self.trials:
            trial.see(head)

    def settle(self) -> tuple[DateOrder, bool]:
        """The order that fits best, and whether the dates themselves tell."""
        by_dates = {trial.order.name: (trial.impossible, trial.backward) for trial in self.trials}
        best = min(by_dates.values())
        left = [trial for trial in self.trials if by_dates[trial.order.name] == best]
        if len(left) > 1:  # nobody writes 31/12/23 for a day in 2031
            left = [trial for trial in left if trial.order != YEAR_FIRST]
        if len(left) == 1:
            return left[0].order, True
        if self.dotted != self.american:
            wanted = MONTH_FIRST if self.american else DAY_FIRST
            by_style = [trial for trial in left if trial.order == wanted]
            if by_style:
                return wanted, True
        likely = min(left, key=lambda trial: (trial.year_changes, -trial.day_changes))
        return likely.order, False


def date_of(head: Head, order: DateOrder) -> date | None:
    """The date of a head read in an order, if there is such a day."""
    if head.four_digits not in {None, order.year}:
        return None
    year = head.numbers[order.year]
    try:
        return date(
            year + CENTURY if year < 100 else year,
            head.numbers[order.month],
            head.numbers[order.day],
        )
    except ValueError:
        return None


def moment_of(head: Head, order: DateOrder) -> datetime | None:
    """The local time of a head read in an order, if there is such a day."""
    day = date_of(head, order)
    return None if day is None else datetime.combine(day, time(head.hour, head.minute, head.second))

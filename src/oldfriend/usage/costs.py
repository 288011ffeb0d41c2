"""Costs: sums of tokens and money spent on model calls, and the daily spend cap."""

from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import MAX_TIME, Micros, get_start_of_day
from oldfriend.domain.ids import PersonId

MICRODOLLARS: Final = 1_000_000
"""Costs are stored in millionths of a dollar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageTotals:
    """Totals of model calls; unknown costs are counted separately, not as zero."""

    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    cost: int = 0  # of the calls whose cost is known
    unpriced_calls: int = 0  # calls with a result but without a known cost
    unpriced_tokens: int = 0  # input and output tokens of those calls

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendCap:
    """The most that may be spent in a day; None means no limit."""

    cost: int | None = None  # millionths of a dollar
    tokens: int | None = None
    unpriced_tokens: int | None = None  # of models without a known price

    def is_reached_by(self, spent: UsageTotals) -> bool:
        """Return whether nothing more may be spent."""
        pairs = (
            (self.cost, spent.cost),
            (self.tokens, spent.tokens),
            (self.unpriced_tokens, spent.unpriced_tokens),
        )
        return any(limit is not None and amount >= limit for limit, amount in pairs)


TOTALS_SQL = """count(*), count(CASE WHEN outcome NOT IN ('done', 'late') THEN 1 END),
           sum(tokens_in),
    sum(tokens_cached), sum(tokens_out), sum(cost),
    count(CASE WHEN cost IS NULL AND (tokens_in + tokens_out > 0 OR
      (outcome = 'done' AND purpose IN ('transcription', 'speech'))) THEN 1 END),
    sum(CASE WHEN cost IS NULL THEN tokens_in + tokens_out ELSE 0 END)"""


async def sum_usage(
    tx: Transaction, since: Micros, *, until: Micros = MAX_TIME, background_only: bool = False
) -> UsageTotals:
    """Return what everybody on this installation has spent since a time; one budget covers all."""
    row = await tx.row(
        f"""SELECT {TOTALS_SQL} FROM model_call
           WHERE made_at >= :since AND made_at < :until AND is_background >= :least""",
        since=since,
        until=until,
        least=int(background_only),
    )
    assert row is not None
    return parse_totals(row)


async def sum_background_usage(tx: Transaction, person: PersonId, *, since: Micros) -> UsageTotals:
    """Return what background work for one person has spent since a time."""
    row = await tx.row(
        f"""SELECT {TOTALS_SQL} FROM model_call
           WHERE made_at >= :since AND person = :person AND is_background = 1""",
        since=since,
        person=person,
    )
    assert row is not None
    return parse_totals(row)


async def sum_person_usage(tx: Transaction, person: PersonId, *, since: Micros) -> UsageTotals:
    """Return what was spent for one person since a time."""
    row = await tx.row(
        f"SELECT {TOTALS_SQL} FROM model_call WHERE made_at >= :since AND person = :person",
        since=since,
        person=person,
    )
    assert row is not None
    return parse_totals(row)


async def sum_usage_by(
    tx: Transaction, column: Literal["purpose", "model", "outcome"], *, since: Micros
) -> list[tuple[str, UsageTotals]]:
    """Return the totals per value of a column, the most expensive first."""
    rows = await tx.rows(
        f"""SELECT {column}, {TOTALS_SQL} FROM model_call
           WHERE made_at >= :since GROUP BY {column}
           ORDER BY coalesce(sum(cost), 0) DESC, sum(tokens_in + tokens_out) DESC, {column}""",
        since=since,
    )
    return [(str(row[0]), parse_totals(row[1:])) for row in rows]


async def sum_usage_by_day(
    tx: Transaction, days: int, *, now: Micros, zone: str
) -> list[tuple[Micros, UsageTotals]]:
    """Return the totals of those of the last ``days`` days that have any calls, newest first.

    A day begins at midnight by the clocks of the zone, even when they are put forward or back.
    """
    found: list[tuple[Micros, UsageTotals]] = []
    until = MAX_TIME
    for back in range(days):
        since = get_start_of_day(now, zone, days_back=back)
        totals = await sum_usage(tx, since, until=until)
        if totals.calls:
            found.append((since, totals))
        until = since
    return found


def parse_totals(row: Row) -> UsageTotals:
    """Build totals from the columns of TOTALS_SQL."""
    calls, failed, tokens_in, cached, tokens_out, cost, unknown, unpriced = (
        int(each or 0) for each in row
    )
    return UsageTotals(
        calls=calls,
        failed=failed,
        tokens_in=tokens_in,
        tokens_cached=cached,
        tokens_out=tokens_out,
        cost=cost,
        unpriced_calls=unknown,
        unpriced_tokens=unpriced,
    )

"""How much was spent, on what, and is there room for more today?"""

from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import LATEST, Micros, start_of_day
from oldfriend.domain.ids import PersonId

DOLLAR: Final = 1_000_000
"""Costs are kept in millionths of a dollar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """A sum of calls. What is not known is not taken for nothing."""

    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    cost: int = 0  # of those whose cost is known
    unknown: int = 0  # calls that gave something, and nobody knows what it cost

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """The most that may be spent in a day; None: no limit."""

    cost: int | None = None  # millionths of a dollar
    tokens: int | None = None

    def is_reached_by(self, spent: Spent) -> bool:
        """Whether nothing more may be spent."""
        return (self.cost is not None and spent.cost >= self.cost) or (
            self.tokens is not None and spent.tokens >= self.tokens
        )


SUMS = """count(*), count(CASE WHEN outcome <> 'done' THEN 1 END), sum(tokens_in),
    sum(tokens_cached), sum(tokens_out), sum(cost),
    count(CASE WHEN cost IS NULL AND (tokens_in + tokens_out > 0 OR
      (outcome = 'done' AND purpose IN ('transcription', 'speech'))) THEN 1 END)"""


async def spent_since(
    tx: Transaction, since: Micros, *, until: Micros = LATEST, background_only: bool = False
) -> Spent:
    """What everybody on this install has spent since a moment: whoever pays, pays for all."""
    row = await tx.row(
        f"""SELECT {SUMS} FROM model_call
           WHERE made_at >= :since AND made_at < :until AND is_background >= :least""",
        since=since,
        until=until,
        least=int(background_only),
    )
    assert row is not None
    return spent_from(row)


async def spent_behind(tx: Transaction, person: PersonId, *, since: Micros) -> Spent:
    """What was spent behind one person's talk since a moment."""
    row = await tx.row(
        f"""SELECT {SUMS} FROM model_call
           WHERE made_at >= :since AND person = :person AND is_background = 1""",
        since=since,
        person=person,
    )
    assert row is not None
    return spent_from(row)


async def spent_by(
    tx: Transaction, heading: Literal["purpose", "model", "outcome"], *, since: Micros
) -> list[tuple[str, Spent]]:
    """Sums under headings, the dearest first."""
    rows = await tx.rows(
        f"""SELECT {heading}, {SUMS} FROM model_call
           WHERE made_at >= :since GROUP BY {heading}
           ORDER BY coalesce(sum(cost), 0) DESC, sum(tokens_in + tokens_out) DESC, {heading}""",
        since=since,
    )
    return [(str(row[0]), spent_from(row[1:])) for row in rows]


async def spent_by_day(
    tx: Transaction, days: int, *, now: Micros, zone: str
) -> list[tuple[Micros, Spent]]:
    """Sums of the last so many days on which something was spent, the last day first.

    A day begins at midnight by the clocks of the zone, also where they were put forward or back.
    """
    found: list[tuple[Micros, Spent]] = []
    until = LATEST
    for back in range(days):
        since = start_of_day(now, zone, days_back=back)
        spent = await spent_since(tx, since, until=until)
        if spent.calls:
            found.append((since, spent))
        until = since
    return found


def spent_from(row: Row) -> Spent:
    """A sum from its columns."""
    calls, failed, tokens_in, cached, tokens_out, cost, unknown = (int(each or 0) for each in row)
    return Spent(
        calls=calls, failed=failed, tokens_in=tokens_in, tokens_cached=cached,
        tokens_out=tokens_out, cost=cost, unknown=unknown,
    )  # fmt: skip

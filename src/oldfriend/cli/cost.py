"""oldfriend cost: model spending by purpose, model or day, and today's allowance."""

import argparse

from oldfriend.app.spend_limits import load_allowances
from oldfriend.cli.open_context import open_from_options
from oldfriend.cli.output import dumps, format_table
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros, get_start_of_day
from oldfriend.domain.json import JsonValue
from oldfriend.presenters.usage_schemas import (
    allowance_as_json,
    format_allowance,
    format_cost,
    usage_as_json,
)
from oldfriend.usage.costs import (
    UsageTotals,
    sum_usage,
    sum_usage_by,
    sum_usage_by_day,
)

COLUMN_HEADINGS = ("calls", "failed", "tokens in", "cached", "tokens out", "cost")


async def run(options: argparse.Namespace) -> int:
    """Print the sums, their total, and what is left of the daily caps."""
    async with open_from_options(options, create=False) as app:
        now, zone = app.clock(), app.settings.zone
        since = get_start_of_day(now, zone, days_back=options.days - 1)
        async with app.db.begin_read() as tx:
            sums = await load_sums(tx, options, since=since, now=now, zone=zone)
            total = await sum_usage(tx, since)
            left = await load_allowances(tx, app.settings, now=now)
    if options.json:
        report: dict[str, JsonValue] = {
            "since": from_micros(since, zone).isoformat(),
            "by": options.by,
            "sums": [{options.by: name, **usage_as_json(spent)} for name, spent in sums],
            "total": usage_as_json(total),
            "today": {each.purpose: allowance_as_json(each) for each in left},
        }
        print(dumps(report))
    else:
        print(format_cost_table(options.by, sums, total, days=options.days))
        print("\n".join(["", *map(format_allowance, left)]))
    return 0


async def load_sums(
    tx: Transaction, options: argparse.Namespace, *, since: Micros, now: Micros, zone: str
) -> list[tuple[str, UsageTotals]]:
    """Load the sums by purpose, model or day."""
    if options.by != "day":
        return await sum_usage_by(tx, options.by, since=since)
    days = await sum_usage_by_day(tx, options.days, now=now, zone=zone)
    return [(from_micros(day, zone).strftime("%Y-%m-%d"), spent) for day, spent in days]


def format_cost_table(
    by: str, sums: list[tuple[str, UsageTotals]], total: UsageTotals, *, days: int
) -> str:
    """Format the sums as a table."""
    when = "today" if days == 1 else f"in the last {days} days"
    if not sums:
        return f"No model was called {when}."
    rows = [(name, *format_cost_row(spent)) for name, spent in [*sums, ("together", total)]]
    return f"What models have cost {when}:\n\n{format_table([(by, *COLUMN_HEADINGS), *rows])}"


def format_cost_row(spent: UsageTotals) -> tuple[str, ...]:
    """Format one row of the table."""
    numbers = (spent.calls, spent.failed, spent.tokens_in, spent.tokens_cached, spent.tokens_out)
    return (*(f"{number:,}" for number in numbers), format_cost(spent))

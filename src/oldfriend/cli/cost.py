"""oldfriend cost: model spending by purpose, model or day, and today's allowance."""

import argparse

from oldfriend.app.spend_limits import Allowance, load_allowances
from oldfriend.cli.open_context import open_from_options
from oldfriend.cli.output import dumps
from oldfriend.cli.tables import format_count, format_money, format_table
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros, get_start_of_day
from oldfriend.domain.json import JsonValue
from oldfriend.usage.costs import (
    MICRODOLLARS,
    UsageTotals,
    sum_usage,
    sum_usage_by,
    sum_usage_by_day,
)

COLUMN_HEADINGS = ("calls", "failed", "tokens in", "cached", "tokens out", "cost")
PURPOSE_LABELS = {"background": "background work", "everything": "everything"}


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
            "sums": [{options.by: name, **to_spent_json(spent)} for name, spent in sums],
            "total": to_spent_json(total),
            "today": {each.purpose: to_allowance_json(each) for each in left},
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


def format_cost(spent: UsageTotals) -> str:
    """Format a cost; an unknown cost is not shown as zero."""
    if not spent.unpriced_calls:
        return format_money(spent.cost)
    unknown = f"unknown: {spent.unpriced_tokens:,} tokens" if spent.unpriced_tokens else "unknown"
    return f"{format_money(spent.cost)}; {unknown}" if spent.cost else unknown


def format_allowance(allowance: Allowance) -> str:
    """Format what is left of a cap."""
    left: list[str] = []
    if allowance.money_left is not None and allowance.cap.cost is not None:
        left.append(f"{format_money(allowance.money_left)} of {format_money(allowance.cap.cost)}")
    if allowance.tokens_left is not None:
        left.append(f"{allowance.tokens_left:,} of {allowance.cap.tokens:,} tokens")
    left += format_unpriced(allowance)
    what = PURPOSE_LABELS[allowance.purpose]
    if not left:
        return f"Daily limit for {what}: none."
    return f"Left today for {what}: {', '.join(left)}."


def format_unpriced(allowance: Allowance) -> list[str]:
    """Format what is left for calls of unknown price, if there were any."""
    spent, max_tokens = allowance.spent, allowance.cap.unpriced_tokens
    if not spent.unpriced_calls or allowance.cap.cost is None:
        return []
    used = (
        f"price unknown: {spent.unpriced_tokens:,} tokens in "
        f"{format_count(spent.unpriced_calls, 'call')}"
    )
    return [used if max_tokens is None else f"{used}, of at most {max_tokens:,}"]


def to_spent_json(spent: UsageTotals) -> dict[str, JsonValue]:
    """Convert usage totals to JSON values; the cost is null if none of it is known."""
    is_unknown = spent.unpriced_calls > 0 and not spent.cost
    return {
        "calls": spent.calls,
        "failed": spent.failed,
        "tokens_in": spent.tokens_in,
        "tokens_cached": spent.tokens_cached,
        "tokens_out": spent.tokens_out,
        "dollars": None if is_unknown else spent.cost / MICRODOLLARS,
        "unknown_calls": spent.unpriced_calls,
        "unpriced_tokens": spent.unpriced_tokens,
    }


def to_allowance_json(allowance: Allowance) -> dict[str, JsonValue]:
    """Convert what is left of a cap to JSON values; null where there is no cap."""
    left = allowance.money_left
    return {
        "dollars_left": None if left is None else left / MICRODOLLARS,
        "tokens_left": allowance.tokens_left,
        "unpriced_tokens_left": allowance.unpriced_tokens_left,
        "is_used_up": allowance.is_used_up,
        "spent": to_spent_json(allowance.spent),
    }

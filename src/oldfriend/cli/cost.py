"""oldfriend cost: what models have cost, for what, and what is left for today."""

import argparse
import json

from oldfriend.app.allowance import Allowance, allowances
from oldfriend.cli.columns import counted, in_columns, money
from oldfriend.cli.opening import opened
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros, start_of_day
from oldfriend.domain.json import JsonValue
from oldfriend.ledger.spending import DOLLAR, Spent, spent_by, spent_by_day, spent_since

HEAD = ("calls", "failed", "tokens in", "cached", "tokens out", "cost")
FOR_WHAT = {"background": "for work in the background", "everything": "for everything"}


async def run(options: argparse.Namespace) -> int:
    """Print the sums, their total, and what is left of the daily caps."""
    async with opened(options, create=False) as house:
        now, zone = house.clock(), house.settings.zone
        since = start_of_day(now, zone, days_back=options.days - 1)
        async with house.db.reading() as tx:
            sums = await sums_by(tx, options, since=since, now=now, zone=zone)
            total = await spent_since(tx, since)
            left = await allowances(tx, house.settings, now=now)
    if options.json:
        report: dict[str, JsonValue] = {
            "since": from_micros(since, zone).isoformat(),
            "by": options.by,
            "sums": [{options.by: name, **as_json(spent)} for name, spent in sums],
            "total": as_json(total),
            "today": {each.purpose: allowance_as_json(each) for each in left},
        }
        print(json.dumps(report, ensure_ascii=False))
    else:
        print(as_table(options.by, sums, total, days=options.days))
        print("\n".join(["", *map(allowance_as_text, left)]))
    return 0


async def sums_by(
    tx: Transaction, options: argparse.Namespace, *, since: Micros, now: Micros, zone: str
) -> list[tuple[str, Spent]]:
    """Sums under headings: purposes or models, or days."""
    if options.by != "day":
        return await spent_by(tx, options.by, since=since)
    days = await spent_by_day(tx, options.days, now=now, zone=zone)
    return [(from_micros(day, zone).strftime("%Y-%m-%d"), spent) for day, spent in days]


def as_table(by: str, sums: list[tuple[str, Spent]], total: Spent, *, days: int) -> str:
    """The sums to read."""
    when = "today" if days == 1 else f"in the last {days} days"
    if not sums:
        return f"No model was called {when}."
    rows = [(name, *as_row(spent)) for name, spent in [*sums, ("together", total)]]
    return f"What models have cost {when}:\n\n{in_columns([(by, *HEAD), *rows])}"


def as_row(spent: Spent) -> tuple[str, ...]:
    """A sum under the headings."""
    numbers = (spent.calls, spent.failed, spent.tokens_in, spent.tokens_cached, spent.tokens_out)
    return (*(f"{number:,}" for number in numbers), price(spent))


def price(spent: Spent) -> str:
    """What something cost; what is not known is not taken for nothing."""
    if not spent.unknown:
        return money(spent.cost)
    if not spent.cost:
        return "unknown"
    return f"{money(spent.cost)} and {counted(spent.unknown, 'call')} unknown"


def allowance_as_text(allowance: Allowance) -> str:
    """What is left of a cap, to read."""
    left: list[str] = []
    if allowance.money_left is not None and allowance.cap.cost is not None:
        left.append(f"{money(allowance.money_left)} of {money(allowance.cap.cost)}")
    if allowance.tokens_left is not None:
        left.append(f"{allowance.tokens_left:,} of {allowance.cap.tokens:,} tokens")
    unknown = allowance.spent.unknown
    doubt = f" ({counted(unknown, 'call')} at an unknown price not counted)" if unknown else ""
    what = FOR_WHAT[allowance.purpose]
    if not left:
        return f"Today {what}: no limit."
    return f"Left for today {what}: {', '.join(left)}{doubt}."


def as_json(spent: Spent) -> dict[str, JsonValue]:
    """A sum for a program; the cost is null where nothing of it is known."""
    is_unknown = spent.unknown > 0 and not spent.cost
    return {
        "calls": spent.calls, "failed": spent.failed, "tokens_in": spent.tokens_in,
        "tokens_cached": spent.tokens_cached, "tokens_out": spent.tokens_out,
        "dollars": None if is_unknown else spent.cost / DOLLAR, "unknown_calls": spent.unknown,
    }  # fmt: skip


def allowance_as_json(allowance: Allowance) -> dict[str, JsonValue]:
    """What is left of a cap for a program; null where there is none."""
    left = allowance.money_left
    return {
        "dollars_left": None if left is None else left / DOLLAR,
        "tokens_left": allowance.tokens_left,
        "is_used_up": allowance.is_used_up,
        "spent": as_json(allowance.spent),
    }

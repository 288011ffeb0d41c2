"""oldfriend stats, cost: counts of what is stored, believed and used, and what models have cost."""

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.spend_limits import load_allowances
from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.cli.output import dumps, format_table
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros, get_start_of_day
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Person
from oldfriend.learning.reflection_scheduler import (
    ReflectionStatus,
    format_reflection_status,
    load_reflection_status,
)
from oldfriend.learning.similarity import get_canonical_stems
from oldfriend.memory.belief_views import (
    list_entities,
    list_memories,
    list_summaries,
    list_unconfirmed_memories,
)
from oldfriend.memory.learning_stats import compute_learning_stats
from oldfriend.memory.message_log import count_messages, get_message
from oldfriend.memory.receipts import Receipt, list_receipts
from oldfriend.memory.segments import count_segments, list_segments, list_uncut_spans
from oldfriend.memory.sessions import count_sessions
from oldfriend.presenters.base_schema import format_count
from oldfriend.presenters.resolved_receipts import find_receipt_object
from oldfriend.presenters.usage_schemas import (
    allowance_as_json,
    format_allowance,
    format_cost,
    usage_as_json,
)
from oldfriend.runtime.learn_now import count_planned_segments
from oldfriend.usage.costs import UsageTotals, sum_usage, sum_usage_by, sum_usage_by_day

RECALL_SAMPLE_SIZE: Final = 100
"""Number of latest replies from which the usefulness of recall is measured."""
MIN_USED_SHARE: Final = 1 / 3
"""Share of an item's words, beyond those of the question, that a reply must contain to use it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStats:
    """The statistics of one person's memory."""

    conversations: int
    messages: int
    unread: int  # messages that are in no segment yet
    planned: int  # readings
    segments: Mapping[str, int]  # by status
    believed: Mapping[str, int]  # what is believed now, by kind
    learned: int  # by all readings together
    joined: int  # known already, with new evidence added
    refused: Mapping[str, int]  # candidates not believed, by reason
    unconfirmed: int  # of those, waiting for the person's word
    missed_peaks: int  # segments where a model says it missed a strong emotion
    shown: int  # items in the prompts of the last replies
    used: int  # of those, used in the reply
    thinking: ReflectionStatus  # reflection between conversations
    bytes: int  # of the whole database, for all people


async def compute_stats(app: AppContext, person: Person) -> MemoryStats:
    """Compute the stats of a person."""
    size = await app.db.size_bytes()
    async with app.db.begin_read() as tx:
        learning = compute_learning_stats(await list_segments(tx, person.id))
        counts = await count_segments(tx, person.id)
        shown, used = await measure_recall_usefulness(tx, person.id)
        return MemoryStats(
            conversations=await count_sessions(tx, person.id),
            messages=await count_messages(tx, person.id),
            unread=sum(each.messages for each in await list_uncut_spans(tx, person.id)),
            planned=await count_planned_segments(tx, person.id),
            segments={str(status): n for status, n in counts.items()},
            believed=await count_beliefs_by_kind(tx, person.id),
            learned=learning.learned,
            joined=learning.joined,
            refused=learning.refused,
            unconfirmed=len(await list_unconfirmed_memories(tx, person.id)),
            missed_peaks=learning.missed_peaks,
            shown=shown,
            used=used,
            bytes=size,
            thinking=await load_reflection_status(tx, app, person.id),
        )


async def count_beliefs_by_kind(tx: Transaction, person: PersonId) -> dict[str, int]:
    """Count current beliefs by kind."""
    kinds = Counter[str](each.memory.kind for each in await list_memories(tx, person))
    kinds["entity"] = len(await list_entities(tx, person))
    kinds["summary"] = len(await list_summaries(tx, person))
    return {kind: count for kind, count in kinds.most_common() if count}


async def measure_recall_usefulness(tx: Transaction, person: PersonId) -> tuple[int, int]:
    """Return how many items the last replies were given, and how many of them they used."""
    shown = used = 0
    for receipt in await list_receipts(tx, person, limit=RECALL_SAMPLE_SIZE):
        count, taken_up = await measure_reply_usefulness(tx, receipt)
        shown, used = shown + count, used + taken_up
    return shown, used


async def measure_reply_usefulness(tx: Transaction, receipt: Receipt) -> tuple[int, int]:
    """Return how many items one reply was given, and how many of them it used."""
    try:
        question = await get_message(tx, receipt.person, receipt.asked)
        reply = await get_message(tx, receipt.person, receipt.replied)
    except NotFound:
        return 0, 0  # forgotten since
    question_stems = get_canonical_stems(question.text, question.language)
    reply_stems = get_canonical_stems(reply.text, reply.language)
    shown = used = 0
    for item in receipt.items:
        belief = await find_receipt_object(tx, receipt, item) if item.used else None
        text = getattr(belief, "text", None)
        if text is None:
            continue
        adds = get_canonical_stems(text, reply.language) - question_stems
        shown += 1
        used += len(adds & reply_stems) >= max(1, MIN_USED_SHARE * len(adds))
    return shown, used


MEGABYTE = 1024 * 1024


async def run(options: argparse.Namespace) -> int:
    """Compute the statistics and print them."""
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
        stats = await compute_stats(app, person)
    if options.json:
        print(json.dumps({**asdict(stats), "usefulness": compute_usefulness(stats)}))
    else:
        print("\n".join(format_stats(stats)))
    return 0


def format_stats(stats: MemoryStats) -> list[str]:
    """Format the statistics as lines."""
    useful = compute_usefulness(stats)
    lines = [
        f"Stored: {format_count(stats.messages, 'message')} "
        f"in {format_count(stats.conversations, 'conversation')}, "
        f"{stats.bytes / MEGABYTE:,.1f} MB for everybody.",
        f"Conversation segments: {format_counts(stats.segments) or 'none yet'}; "
        f"{format_count(stats.unread, 'message')} not in a segment yet.",
        f"Beliefs: {format_kinds(stats.believed) or 'none yet'}.",
        f"Of {format_count(stats.learned + stats.joined, 'claim')}, {stats.joined:,} repeated "
        "what was already known.",
        f"Claims refused: {format_counts(stats.refused) or 'none'}.",
    ]
    if stats.unconfirmed:
        wait, it = ("is waiting", "it") if stats.unconfirmed == 1 else ("are waiting", "them")
        lines.append(
            f"{format_count(stats.unconfirmed, 'claim')} {wait} for you to confirm {it}: "
            "oldfriend memory unconfirmed."
        )
    if stats.missed_peaks:
        missed = format_count(stats.missed_peaks, "segment")
        lines.append(f"In {missed} the model says that it missed something important.")
    lines.append(format_reflection_status(stats.thinking))
    if stats.thinking.refused:
        lines.append(f"Thoughts refused: {format_counts(stats.thinking.refused)}.")
    if stats.planned:
        lines.append(
            f"Waiting to be read: {format_count(stats.planned, 'segment')} (read them now: "
            "oldfriend consolidate --now)."
        )
    if useful is not None:
        lines.append(
            f"The last replies were given {format_count(stats.shown, 'memory', 'memories')} and "
            f"used {useful:.0%} of them."
        )
    return lines


def compute_usefulness(stats: MemoryStats) -> float | None:
    """Compute the share of prompted items that recent replies used; None if there were none."""
    return round(stats.used / stats.shown, 4) if stats.shown else None


def format_counts(counts: Mapping[str, int]) -> str:
    """Format counts with their names."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def format_kinds(counts: Mapping[str, int]) -> str:
    """Format counts of beliefs with the names of their kinds, in the plural where it is due."""
    return ", ".join(
        format_count(count, kind, f"{kind[:-1]}ies" if kind.endswith("y") else "")
        for kind, count in counts.items()
    )


COLUMN_HEADINGS = ("calls", "failed", "tokens in", "cached", "tokens out", "cost")


async def run_cost(options: argparse.Namespace) -> int:
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
    rows = [(name, *format_cost_row(spent)) for name, spent in [*sums, ("total", total)]]
    return f"What models have cost {when}:\n\n{format_table([(by, *COLUMN_HEADINGS), *rows])}"


def format_cost_row(spent: UsageTotals) -> tuple[str, ...]:
    """Format one row of the table."""
    numbers = (spent.calls, spent.failed, spent.tokens_in, spent.tokens_cached, spent.tokens_out)
    return (*(f"{number:,}" for number in numbers), format_cost(spent))

"""How does memory do, in numbers? Readings, decisions, replies of today, of everybody together."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from prometheus_client.core import Metric

from oldfriend.app.running.families import TODAY, Values, counter, gauge
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.memory.segments import Segment
from oldfriend.memory.tallying import (
    Replied,
    count_decisions,
    list_closeness,
    list_ended,
    list_replied,
    tally,
)

QUANTILES: Final = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembering:
    """What was counted of memory at one moment, since midnight."""

    read: tuple[Segment, ...]
    decisions: tuple[tuple[str, int], ...]
    replied: tuple[Replied, ...]  # the newest
    closeness: tuple[float, ...]  # of the newest that replies stand on


async def count_remembering(tx: Transaction, *, since: Micros) -> Remembering:
    """Count it."""
    return Remembering(
        read=tuple(await list_ended(tx, since=since)),
        decisions=tuple((await count_decisions(tx, since=since)).items()),
        replied=tuple(await list_replied(tx, since=since)),
        closeness=tuple(await list_closeness(tx, since=since)),
    )


def of_remembering(numbers: Remembering) -> Iterable[Metric]:
    """It, as Prometheus has it."""
    states = Counter[str](each.status for each in numbers.read)
    yield counter("stretches_read", f"Stretches of talk by how their reading ended, {TODAY}",
                  {(state,): states[state] for state in ("done", "trivial", "failed")},
                  "state")  # fmt: skip
    told = tally(numbers.read)
    yield counter("things_told", f"What readings were told, by what became of it, {TODAY}",
                  {("learned",): told.learned, ("joined",): told.joined,
                   ("refused",): sum(told.refused.values())}, "outcome")  # fmt: skip
    yield counter("things_refused", f"What readings refused, by reason, {TODAY}",
                  {(reason,): count for reason, count in sorted(told.refused.items())},
                  "reason")  # fmt: skip
    yield counter("decisions", f"Decisions about memories, {TODAY}",
                  {(op,): count for op, count in sorted(numbers.decisions)}, "op")  # fmt: skip
    yield from of_times(numbers)


def of_times(numbers: Remembering) -> Iterable[Metric]:
    """How long it took to read, and to reply; on what replies stand."""
    replies, read = numbers.replied, (each for each in numbers.read if each.generation == 1)
    took = [each.seconds for each in replies]
    yield gauge("reply_seconds", f"From accepting a message to its reply, {TODAY}",
                quantiles(took), "quantile")  # fmt: skip
    waited = [(each.ended_at - each.cut_at) / SECOND for each in read if each.ended_at is not None]
    yield gauge("reading_seconds", f"From the end of a stretch of talk to its being read, {TODAY}",
                quantiles(waited), "quantile")  # fmt: skip
    yield gauge("found_by_words_alone", f"The share of replies found without an embedder, {TODAY}",
                mean([each.by_words_alone for each in replies]))  # fmt: skip
    yield gauge("found_closeness", f"Mean cosine of what replies stand on, {TODAY}",
                mean(numbers.closeness))  # fmt: skip


def quantiles(values: Sequence[float]) -> Values:
    """For each share the least of some numbers that so many do not exceed."""
    ordered = sorted(values)
    return {
        (str(share),): ordered[math.ceil(share * len(ordered)) - 1]
        for share in QUANTILES
        if ordered
    }


def mean(values: Sequence[float]) -> Values:
    """The mean of some numbers; of none, none."""
    return {(): math.fsum(values) / len(values)} if values else {}

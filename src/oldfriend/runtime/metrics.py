"""Metrics: numbers about all processes, read from the database on request.

They contain no names, ids or message texts. Daily counts start from zero at midnight, which
Prometheus treats as a counter reset, so that a count reads one day of rows instead of all.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, Micros, get_start_of_day
from oldfriend.memory.identities import count_identities
from oldfriend.memory.learning_stats import (
    ReplyTiming,
    compute_learning_stats,
    count_entries_by_op,
    list_reply_timings,
    list_segments_ended_since,
    list_similarities,
)
from oldfriend.memory.receipts import count_receipts
from oldfriend.memory.segments import Segment
from oldfriend.queues.jobs_table import QueueStats, load_queue_stats
from oldfriend.queues.outbox import count_blocked_chats, count_sent_pieces, count_strangers
from oldfriend.usage.costs import MICRODOLLARS, UsageTotals, sum_usage_by

SINCE_MIDNIGHT: Final = "since midnight"

MetricValues: TypeAlias = dict[tuple[str, ...], float]


def build_gauge(
    name: str, description: str, values: MetricValues, *labels: str
) -> GaugeMetricFamily:
    """Build a gauge: a value that goes up and down."""
    family = GaugeMetricFamily(f"oldfriend_{name}", description, labels=labels)
    for labelled, value in values.items():
        family.add_metric(labelled, value)
    return family


def build_counter(
    name: str, description: str, values: MetricValues, *labels: str
) -> CounterMetricFamily:
    """Build a counter: a value that only grows, until it is reset."""
    family = CounterMetricFamily(f"oldfriend_{name}", description, labels=labels)
    for labelled, value in values.items():
        family.add_metric(labelled, value)
    return family


QUANTILES: Final = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMetrics:
    """Memory counts since midnight, taken at one moment."""

    segments: tuple[Segment, ...]
    decisions: tuple[tuple[str, int], ...]
    replies: tuple[ReplyTiming, ...]  # the newest
    similarities: tuple[float, ...]  # of the newest items that replies are based on


async def collect_memory_metrics(tx: Transaction, *, since: Micros) -> MemoryMetrics:
    """Collect the memory counts since a moment."""
    return MemoryMetrics(
        segments=tuple(await list_segments_ended_since(tx, since=since)),
        decisions=tuple((await count_entries_by_op(tx, since=since)).items()),
        replies=tuple(await list_reply_timings(tx, since=since)),
        similarities=tuple(await list_similarities(tx, since=since)),
    )


def build_memory_metrics(metrics: MemoryMetrics) -> Iterable[Metric]:
    """Yield the memory metrics for Prometheus."""
    states = Counter[str](each.status for each in metrics.segments)
    yield build_counter(
        "segments_read",
        f"Conversation segments by how reading them ended, {SINCE_MIDNIGHT}",
        {(state,): states[state] for state in ("done", "trivial", "failed")},
        "state",
    )
    stats = compute_learning_stats(metrics.segments)
    yield build_counter(
        "claims",
        f"Claims of readings by outcome, {SINCE_MIDNIGHT}",
        {
            ("learned",): stats.learned,
            ("joined",): stats.joined,
            ("refused",): sum(stats.refused.values()),
        },
        "outcome",
    )
    yield build_counter(
        "claims_rejected",
        f"Rejected claims of readings by reason, {SINCE_MIDNIGHT}",
        {(reason,): count for reason, count in sorted(stats.refused.items())},
        "reason",
    )
    yield build_counter(
        "belief_decisions",
        f"Decisions about beliefs, {SINCE_MIDNIGHT}",
        {(op,): count for op, count in sorted(metrics.decisions)},
        "op",
    )
    yield from build_latency_metrics(metrics)


def build_latency_metrics(metrics: MemoryMetrics) -> Iterable[Metric]:
    """Yield how long readings and replies took, and what replies are based on."""
    replies, read = metrics.replies, (each for each in metrics.segments if each.generation == 1)
    latencies = [each.latency_s for each in replies]
    yield build_gauge(
        "reply_seconds",
        f"Seconds from accepting a message to its reply, {SINCE_MIDNIGHT}",
        compute_quantiles(latencies),
        "quantile",
    )
    reading_latencies = [
        (each.ended_at - each.cut_at) / SECOND for each in read if each.ended_at is not None
    ]
    yield build_gauge(
        "reading_seconds",
        f"Seconds from the end of a segment to its reading, {SINCE_MIDNIGHT}",
        compute_quantiles(reading_latencies),
        "quantile",
    )
    yield build_gauge(
        "replies_without_embedder_ratio",
        f"Share of replies that were found without an embedder, {SINCE_MIDNIGHT}",
        compute_mean([each.is_without_embedder for each in replies]),
    )
    yield build_gauge(
        "evidence_similarity",
        f"Mean cosine similarity of the evidence of replies, {SINCE_MIDNIGHT}",
        compute_mean(metrics.similarities),
    )


def compute_quantiles(values: Sequence[float]) -> MetricValues:
    """Return for each quantile the smallest value that at least this share does not exceed."""
    ordered = sorted(values)
    return {
        (str(share),): ordered[math.ceil(share * len(ordered)) - 1]
        for share in QUANTILES
        if ordered
    }


def compute_mean(values: Sequence[float]) -> MetricValues:
    """Return the mean of some values; empty for none."""
    return {(): math.fsum(values) / len(values)} if values else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSnapshot:
    """All counts at one moment."""

    at: Micros
    queues: tuple[QueueStats, ...]
    turns: int  # today's, that produced a reply
    calls: tuple[tuple[str, UsageTotals], ...]  # today's, by outcome
    sent: int  # parts of replies, today's
    platforms: tuple["PlatformMetrics", ...]
    memory: MemoryMetrics


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformMetrics:
    """Counts of one messaging platform."""

    name: str
    identities: int  # addresses linked to a person
    blocked_chats: int  # chats that block the bot
    rejected_messages: int  # messages from strangers within a day


async def collect_metrics(app: AppContext) -> MetricsSnapshot:
    """Collect all metrics as of now. Raises StoreError."""
    now = app.clock()
    midnight = get_start_of_day(now, app.settings.zone)
    async with app.db.begin_read() as tx:
        return MetricsSnapshot(
            at=now,
            queues=tuple(await load_queue_stats(tx, now=now)),
            turns=await count_receipts(tx, since=midnight),
            calls=tuple(await sum_usage_by(tx, "outcome", since=midnight)),
            sent=await count_sent_pieces(tx, since=midnight),
            platforms=tuple(
                [await collect_platform_metrics(tx, name) for name in sorted(app.platforms)]
            ),
            memory=await collect_memory_metrics(tx, since=midnight),
        )


async def collect_platform_metrics(tx: Transaction, name: str) -> PlatformMetrics:
    """Return the current counts of a platform."""
    _, rejected = await count_strangers(tx, name)
    return PlatformMetrics(
        name=name,
        identities=await count_identities(tx, name),
        blocked_chats=await count_blocked_chats(tx, name),
        rejected_messages=rejected,
    )


def render_prometheus(snapshot: MetricsSnapshot, *, up_s: float) -> bytes:
    """Return the metrics in Prometheus text format, including those of this process."""
    registry = CollectorRegistry()
    registry.register(
        StaticCollector(
            [
                *build_queue_metrics(snapshot),
                *build_call_metrics(snapshot),
                *build_platform_metrics(snapshot),
                *build_memory_metrics(snapshot.memory),
                build_counter(
                    "turns",
                    f"Turns that ended with a reply, {SINCE_MIDNIGHT}",
                    {(): snapshot.turns},
                ),
                build_gauge("uptime_seconds", "Seconds since this process started", {(): up_s}),
            ]
        )
    )
    ProcessCollector(registry=registry)
    return generate_latest(registry)


def build_queue_metrics(snapshot: MetricsSnapshot) -> Iterable[Metric]:
    """Yield the metrics of the queues."""
    yield build_gauge(
        "jobs",
        "Jobs in each queue by state",
        {
            (each.queue, state): count
            for each in snapshot.queues
            for state, count in (
                ("waiting", each.due),
                ("delayed", each.delayed),
                ("dead_letter", each.dead_letters),
            )
        },
        "queue",
        "state",
    )
    yield build_gauge(
        "leased_partitions",
        "Partitions that are leased by a worker",
        {(each.queue,): each.leased for each in snapshot.queues},
        "queue",
    )
    yield build_gauge(
        "oldest_waiting_seconds",
        "Age of the oldest waiting job in seconds; 0 if none is waiting",
        {(each.queue,): compute_age_s(each, snapshot.at) for each in snapshot.queues},
        "queue",
    )


def build_call_metrics(snapshot: MetricsSnapshot) -> Iterable[Metric]:
    """Yield the metrics of model calls and their cost."""
    totals = [each for _, each in snapshot.calls]
    yield build_counter(
        "model_calls",
        f"Model calls by outcome, {SINCE_MIDNIGHT}",
        {(outcome,): each.calls for outcome, each in snapshot.calls},
        "outcome",
    )
    yield build_counter(
        "model_tokens",
        f"Tokens as counted by providers, {SINCE_MIDNIGHT}; cached tokens are also in",
        {
            ("in",): sum(each.tokens_in for each in totals),
            ("cached",): sum(each.tokens_cached for each in totals),
            ("out",): sum(each.tokens_out for each in totals),
        },
        "kind",
    )
    dollars = sum(each.cost for each in totals) / MICRODOLLARS
    yield build_counter(
        "model_cost_dollars",
        f"Cost of the model calls with a known price, {SINCE_MIDNIGHT}",
        {(): dollars},
    )
    unpriced = sum(each.unpriced_calls for each in totals)
    yield build_counter(
        "model_calls_unpriced",
        f"Model calls without a known price, {SINCE_MIDNIGHT}",
        {(): unpriced},
    )


def build_platform_metrics(snapshot: MetricsSnapshot) -> Iterable[Metric]:
    """Yield the metrics of each platform, and of sent messages."""
    each = snapshot.platforms
    yield build_gauge(
        "linked_accounts",
        "Linked accounts",
        {(platform.name,): platform.identities for platform in each},
        "channel",
    )
    yield build_gauge(
        "blocked_chats",
        "Chats that no longer accept messages",
        {(platform.name,): platform.blocked_chats for platform in each},
        "channel",
    )
    yield build_gauge(
        "rejected_messages",
        "Messages from unknown people in the last 24 hours",
        {(platform.name,): platform.rejected_messages for platform in each},
        "channel",
    )
    yield build_counter(
        "reply_parts_sent",
        f"Parts of replies that were sent, {SINCE_MIDNIGHT}",
        {(): snapshot.sent},
    )


def compute_age_s(waiting: QueueStats, now: Micros) -> float:
    """Return the age of the oldest due job in seconds; 0 if there is none."""
    since = waiting.oldest_due_at
    return 0.0 if since is None else (now - since) / SECOND


class StaticCollector:
    """A Prometheus collector of metrics that were already counted."""

    def __init__(self, families: list[Metric]) -> None:
        """Store the metric families."""
        self._families = families

    def collect(self) -> list[Metric]:
        """Return the metric families."""
        return self._families

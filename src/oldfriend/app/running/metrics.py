"""How does the house do, in numbers? Read from the database when asked, so of all its processes.

No names, no ids, nothing that anybody said. What is counted by the day begins at zero at midnight,
which whoever reads counters takes for a new start: so a count reads one day of rows, not all.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from oldfriend.app.house import House
from oldfriend.domain.clock import SECOND, Micros, start_of_day
from oldfriend.ledger.spending import DOLLAR, Spent, spent_by
from oldfriend.memory.receipts import count_receipts
from oldfriend.queues.counting import Waiting, count_waiting

TODAY = "since midnight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What was counted at one moment."""

    at: Micros
    waiting: tuple[Waiting, ...]
    turns: int  # of today, that came to their reply
    calls: tuple[tuple[str, Spent], ...]  # of today, by how they ended


async def count_all(house: House) -> Numbers:
    """Count everything now. Raises StoreError."""
    now = house.clock()
    midnight = start_of_day(now, house.settings.zone)
    async with house.db.reading() as tx:
        return Numbers(
            at=now,
            waiting=tuple(await count_waiting(tx, now=now)),
            turns=await count_receipts(tx, since=midnight),
            calls=tuple(await spent_by(tx, "outcome", since=midnight)),
        )


def as_prometheus(numbers: Numbers, *, up_s: float) -> bytes:
    """The numbers as Prometheus reads them, with those of this process."""
    registry = CollectorRegistry()
    registry.register(Counted([
        *of_letters(numbers),
        *of_calls(numbers),
        counter("turns", f"Turns that came to their reply {TODAY}", {(): numbers.turns}),
        gauge("uptime_seconds", "How long this process has been running", {(): up_s}),
    ]))  # fmt: skip
    ProcessCollector(registry=registry)
    return generate_latest(registry)


def of_letters(numbers: Numbers) -> Iterable[Metric]:
    """What waits."""
    yield gauge(
        "letters", "Letters by what they wait for",
        {
            (each.queue, state): count
            for each in numbers.waiting
            for state, count in (
                ("waiting", each.due), ("later", each.later), ("parked", each.parked)
            )
        },
        "queue", "state",
    )  # fmt: skip
    yield gauge(
        "lanes_held", "Lanes on which somebody works",
        {(each.queue,): each.held for each in numbers.waiting}, "queue",
    )  # fmt: skip
    yield gauge(
        "oldest_waiting_seconds", "Age of the letter that has waited longest; 0 when none waits",
        {(each.queue,): age(each, numbers.at) for each in numbers.waiting}, "queue",
    )  # fmt: skip


def of_calls(numbers: Numbers) -> Iterable[Metric]:
    """What models were asked, and what it cost."""
    spent = [each for _, each in numbers.calls]
    yield counter(
        "model_calls", f"Calls of models by how they ended, {TODAY}",
        {(outcome,): each.calls for outcome, each in numbers.calls}, "outcome",
    )  # fmt: skip
    yield counter(
        "model_tokens", f"Tokens as providers counted them, {TODAY}; cached ones are also in",
        {
            ("in",): sum(each.tokens_in for each in spent),
            ("cached",): sum(each.tokens_cached for each in spent),
            ("out",): sum(each.tokens_out for each in spent),
        },
        "kind",
    )  # fmt: skip
    dollars = sum(each.cost for each in spent) / DOLLAR
    yield counter("model_cost_dollars", f"Cost of calls whose price is known, {TODAY}",
                  {(): dollars})  # fmt: skip
    unknown = sum(each.unknown for each in spent)
    yield counter("model_calls_unpriced", f"Calls that cost nobody knows what, {TODAY}",
                  {(): unknown})  # fmt: skip


def age(waiting: Waiting, now: Micros) -> float:
    """For how many seconds the oldest letter has waited."""
    since = waiting.oldest_due_at
    return 0.0 if since is None else (now - since) / SECOND


Values = dict[tuple[str, ...], float]


def gauge(name: str, text: str, values: Values, *labels: str) -> GaugeMetricFamily:
    """Something that goes up and down."""
    family = GaugeMetricFamily(f"oldfriend_{name}", text, labels=labels)
    for labelled, value in values.items():
        family.add_metric(labelled, value)
    return family


def counter(name: str, text: str, values: Values, *labels: str) -> CounterMetricFamily:
    """Something that only goes up, until it begins anew."""
    family = CounterMetricFamily(f"oldfriend_{name}", text, labels=labels)
    for labelled, value in values.items():
        family.add_metric(labelled, value)
    return family


class Counted:
    """Numbers that were counted already, in the form that a registry asks for."""

    def __init__(self, families: list[Metric]) -> None:
        """Keep them."""
        self._families = families

    def collect(self) -> list[Metric]:
        """Give them."""
        return self._families

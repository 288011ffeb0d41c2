"""How does the house do, in numbers? Read from the database when asked, so of all its processes.

No names, no ids, nothing that anybody said. What is counted by the day begins at zero at midnight,
which whoever reads counters takes for a new start: so a count reads one day of rows, not all.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import Metric

from oldfriend.app.house import House
from oldfriend.app.running.families import TODAY, counter, gauge
from oldfriend.app.running.remembering import Remembering, count_remembering, of_remembering
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, Micros, start_of_day
from oldfriend.ledger.spending import DOLLAR, Spent, spent_by
from oldfriend.memory.identities import count_identities
from oldfriend.memory.receipts import count_receipts
from oldfriend.queues.counting import Waiting, count_waiting
from oldfriend.queues.places import count_closed, count_sent, count_turned_away


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What was counted at one moment."""

    at: Micros
    waiting: tuple[Waiting, ...]
    turns: int  # of today, that came to their reply
    calls: tuple[tuple[str, Spent], ...]  # of today, by how they ended
    sent: int  # pieces of replies, of today
    platforms: tuple["OnPlatform", ...]
    remembering: Remembering


@dataclass(frozen=True, slots=True, kw_only=True)
class OnPlatform:
    """Who is on a platform on which people talk."""

    name: str
    known: int  # addresses that are somebody's
    closed: int  # places that take nothing from us any more
    turned_away: int  # messages of people whom nobody knows, within a day


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
            sent=await count_sent(tx, since=midnight),
            platforms=tuple([await count_platform(tx, name) for name in sorted(house.platforms)]),
            remembering=await count_remembering(tx, since=midnight),
        )


async def count_platform(tx: Transaction, name: str) -> OnPlatform:
    """Who is on a platform now."""
    _, turned_away = await count_turned_away(tx, name)
    return OnPlatform(
        name=name, known=await count_identities(tx, name), closed=await count_closed(tx, name),
        turned_away=turned_away,
    )  # fmt: skip


def as_prometheus(numbers: Numbers, *, up_s: float) -> bytes:
    """The numbers as Prometheus reads them, with those of this process."""
    registry = CollectorRegistry()
    registry.register(Counted([
        *of_letters(numbers),
        *of_calls(numbers),
        *of_platforms(numbers),
        *of_remembering(numbers.remembering),
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


def of_platforms(numbers: Numbers) -> Iterable[Metric]:
    """Who is on each platform, and what was sent."""
    each = numbers.platforms
    yield gauge("people_known", "Addresses that are somebody's",
                {(one.name,): one.known for one in each}, "channel")  # fmt: skip
    yield gauge("places_closed", "Chats that take nothing from us any more",
                {(one.name,): one.closed for one in each}, "channel")  # fmt: skip
    yield gauge("turned_away", "Messages of people whom nobody knows, within a day",
                {(one.name,): one.turned_away for one in each}, "channel")  # fmt: skip
    yield counter("sent", f"Pieces of replies that were sent {TODAY}", {(): numbers.sent})


def age(waiting: Waiting, now: Micros) -> float:
    """For how many seconds the oldest letter has waited."""
    since = waiting.oldest_due_at
    return 0.0 if since is None else (now - since) / SECOND


class Counted:
    """Numbers that were counted already, in the form that a registry asks for."""

    def __init__(self, families: list[Metric]) -> None:
        """Keep them."""
        self._families = families

    def collect(self) -> list[Metric]:
        """Give them."""
        return self._families

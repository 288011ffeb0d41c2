"""Measurement records: keeps numbers that are told, and says which limits they pass."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import from_micros
from oldfriend.domain.ids import PersonId
from oldfriend.measurements.measurement_store import (
    Measurement,
    list_told_since,
    save_measurements,
)
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.proactive.watch_impulses import cover_passings
from oldfriend.turn.store_change import ChangeScope
from oldfriend.watches.watch import Watch
from oldfriend.watches.watch_phrases import load_watch_phrases
from oldfriend.watches.watch_store import list_watches


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordMeasurements:
    """The change that keeps numbers."""

    measured: tuple[Measurement, ...]
    told_limits: tuple[str, ...] = ()  # watches of which the reply says that they are passed

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Keep them, and plan a look, as one may pass a limit of which no reply told."""
        await save_measurements(tx, scope.person.id, self.measured, now=scope.now)
        if self.told_limits:
            await cover_passings(tx, scope.person, self.told_limits, now=scope.now)
        await plan_next_look(tx, scope.person.id, now=scope.now)


async def record_with_limits(
    tx: Transaction, person: PersonId, measured: Sequence[Measurement], language: str
) -> tuple[RecordMeasurements, list[str]]:
    """Return the change that keeps numbers, and a line for each limit that they pass."""
    passed = [
        watch
        for each in await list_watches(tx, person)
        if (watch := await find_passed(tx, person, each, measured)) is not None
    ]
    change = RecordMeasurements(
        measured=tuple(measured), told_limits=tuple(each.id for each in passed)
    )
    phrases = load_watch_phrases(language)
    return change, [phrases.tell(each) for each in passed]


async def find_passed(
    tx: Transaction, person: PersonId, watch: Watch, measured: Sequence[Measurement]
) -> Watch | None:
    """Return a watch as it stands once some numbers are kept; None if they newly pass no limit."""
    number, since = watch.number, watch.created_at
    fresh = [
        each
        for each in measured
        if number is not None
        and each.name == number.name
        and each.day >= from_micros(since, each.zone).date()
    ]
    if number is None or watch.threshold is None or not fresh:
        return None
    told = await list_told_since(tx, person, number.name, since=since)
    listed = sorted([*told, *fresh], key=lambda each: (each.day, each.measured_at))
    passing = number.find_passing(listed, watch.threshold, is_above=watch.condition == "above")
    if passing is None or passing.key == watch.seen:
        return None
    return replace(watch, seen=passing.key, amount=passing.value)

"""Number impulses: a kept number that changed clearly, or is the extreme of its year."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import pstdev
from typing import Final, Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros, from_micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.measurements.measurement_store import (
    Measurement,
    list_kept_measures,
    list_measurements,
)
from oldfriend.measurements.measures import Measure, get_measure
from oldfriend.measurements.statistics import DayValue, compute_mean, list_days
from oldfriend.proactive.policy import Impulse
from oldfriend.proactive.quiet_hours import get_local_time

AlertKind = Literal["up", "down", "most", "least"]

EVENING: Final = 18
OPEN_FOR: Final = 3 * DAY
FRESH_DAYS: Final = 3
"""A number that is older than so many days is no news."""
WEEK: Final = timedelta(days=7)
WEEKS_BEFORE: Final = timedelta(days=28)
MIN_RECENT: Final = 3
"""Days with a value in the last week, and below as many as in the four weeks before."""
MIN_BEFORE: Final = 5
CLEAR: Final = 2.0
"""By so many standard deviations of the weeks before their mean has to change."""
MIN_SHARE: Final = 0.02
"""And by this share of it: a number that never changes has no deviation."""
YEAR: Final = timedelta(days=365)
MIN_DAYS_OF_YEAR: Final = 20
MIN_SPAN: Final = timedelta(days=300)
"""Over so long numbers must be kept before one is the extreme of a year."""
MAX_MEASURES: Final = 20
NUMBER_KEY: Final = "number:"
"""How the keys of alerts begin; behind it stands the name of the measure."""
SILENT_FOR: Final = 28 * DAY
"""So long nothing is said of a measure again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberAlert:
    """What is to be told of a measure: its means of the last week and before, or its extreme."""

    kind: AlertKind
    measure: Measure
    newest: Measurement
    value: float  # in the measure's unit
    before: float  # the mean of the weeks before, or the extreme until now

    @property
    def key(self) -> str:
        """What names it for the week of its newest value."""
        monday = self.newest.day - timedelta(days=self.newest.day.weekday())
        return f"{build_key_prefix(self.measure.name)}{self.kind}:{monday}"


def build_key_prefix(name: str) -> str:
    """Return how the keys of all alerts of a measure begin."""
    return f"{NUMBER_KEY}{name}:"


async def list_number_alerts(
    tx: Transaction, person: Person, *, now: Micros
) -> tuple[NumberAlert, ...]:
    """Return what is to be told of a person's numbers, but for what was lately told of."""
    today = from_micros(now, person.zone).date()
    kept = [
        name
        for name, _, day in await list_kept_measures(tx, person.id)
        if today - timedelta(days=FRESH_DAYS) <= day <= today
    ]
    if not kept:
        return ()
    told = await list_told_keys(tx, person.id, since=now - SILENT_FOR)
    found: list[NumberAlert] = []
    for name in kept[:MAX_MEASURES]:
        if any(each.startswith(build_key_prefix(name)) for each in told):
            continue
        alert = await find_number_alert(tx, person.id, name, today)
        found.extend([] if alert is None else [alert])
    return tuple(found)


async def list_told_keys(tx: Transaction, person: PersonId, *, since: Micros) -> list[str]:
    """Return the keys of the alerts that were told since a moment."""
    rows = await tx.rows(
        """SELECT key FROM impulse WHERE person = :person AND status = 'said'
           AND kind = 'number' AND decided_at > :since""",
        person=person,
        since=since,
    )
    return [str(row[0]) for row in rows]


async def find_number_alert(
    tx: Transaction, person: PersonId, name: str, today: date
) -> NumberAlert | None:
    """Return what is to be told of one measure today; a clear change before an extreme."""
    measured = await list_measurements(tx, person, name, first=today - YEAR, last=today)
    if not measured:
        return None
    measure = get_measure(name, measured[-1].unit)
    days = list_days(measure, measured)
    if measure.is_growing:
        days = [each for each in days if each.day < today]  # today's may still grow
    if not days or today - days[-1].day > timedelta(days=FRESH_DAYS):
        return None
    newest = next(each for each in reversed(measured) if each.day == days[-1].day)
    found = find_change(days) or find_extreme(days)
    if found is None:
        return None
    kind, value, before = found
    return NumberAlert(kind=kind, measure=measure, newest=newest, value=value, before=before)


def find_change(days: Sequence[DayValue]) -> tuple[AlertKind, float, float] | None:
    """Return a clear change: its direction, the mean of the last week and of the weeks before."""
    begins = days[-1].day - WEEK
    recent = [each.value for each in days if each.day > begins]
    before = [each.value for each in days if begins - WEEKS_BEFORE < each.day <= begins]
    if len(recent) < MIN_RECENT or len(before) < MIN_BEFORE:
        return None
    mean, mean_before = compute_mean(recent), compute_mean(before)
    difference = mean - mean_before
    if abs(difference) < max(CLEAR * pstdev(before), MIN_SHARE * abs(mean_before)):
        return None
    if not difference:
        return None
    return ("up" if difference > 0 else "down", mean, mean_before)


def find_extreme(days: Sequence[DayValue]) -> tuple[AlertKind, float, float] | None:
    """Return the newest value if it is beyond all others, and the one that was so until then."""
    earlier = [each.value for each in days[:-1]]
    if len(earlier) < MIN_DAYS_OF_YEAR or days[-1].day - days[0].day < MIN_SPAN:
        return None
    value = days[-1].value
    if value > max(earlier):
        return ("most", value, max(earlier))
    return ("least", value, min(earlier)) if value < min(earlier) else None


def collect_numbers(person: Person, alerts: Sequence[NumberAlert]) -> Iterator[Impulse]:
    """Yield what is to be told of each number, in the evening of its day."""
    for alert in alerts:
        at = get_local_time(alert.newest.measured_at, person.zone, hour=EVENING)
        yield Impulse(
            person=person.id,
            kind="number",
            key=alert.key,
            sources=(alert.newest.id,),
            not_before=at,
            expires_at=at + OPEN_FOR,
            urgency=0.5,
        )

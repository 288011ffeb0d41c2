"""Diary impulses: a question on evenings without an entry, and entries of this day in past years.

It is asked only of somebody who keeps a diary by now, on an evening of which nothing is written.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros, from_micros, get_start_of_day
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.proactive.policy import Impulse
from oldfriend.proactive.quiet_hours import get_local_time

EVENING: Final = (20, 30)
EVENING_ENDS: Final = (21, 55)
MIN_ENTRIES: Final = 3
"""So many entries of the last weeks, and somebody keeps a diary."""
LATELY: Final = 21 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDiary:
    """That somebody keeps a diary, as another package has it."""

    message: str  # of the newest entry
    written_at: Micros


async def find_kept_diary(tx: Transaction, person: Person, *, now: Micros) -> KeptDiary | None:
    """Return the newest entry that a message has written; None if nobody keeps a diary here."""
    rows = await tx.rows(
        """SELECT message, written_at FROM diary_entry
           WHERE person = :person AND written_at >= :since AND message IS NOT NULL
           ORDER BY written_at DESC, id DESC LIMIT :limit""",
        person=person.id,
        since=now - LATELY,
        limit=MIN_ENTRIES,
    )
    if len(rows) < MIN_ENTRIES:
        return None
    return KeptDiary(message=str(rows[0][0]), written_at=int(rows[0][1]))


async def find_entry_of_day(tx: Transaction, person: PersonId, today: date) -> str | None:
    """Return the newest entry of this day in an earlier year; none that tells of something sad."""
    row = await tx.row(
        """SELECT d.id FROM diary_entry d
           WHERE d.person = :person AND d.day LIKE :ending AND d.day < :first AND NOT EXISTS
             (SELECT 1 FROM evidence e JOIN memory m ON m.person = e.person AND m.id = e.object
              WHERE e.person = d.person AND e.message = d.message AND m.impact < 0)
           ORDER BY d.day DESC, d.id DESC LIMIT 1""",
        person=person,
        ending=f"%-{today.month:02d}-{today.day:02d}",
        first=date(today.year, 1, 1).isoformat(),
    )
    return None if row is None else str(row[0])


def collect_diary(person: Person, diary: KeptDiary | None, *, now: Micros) -> Iterator[Impulse]:
    """Yield the evening of today, or of tomorrow if something of today is written."""
    if diary is None:
        return
    is_written = diary.written_at >= get_start_of_day(now, person.zone)
    days = int(is_written)
    day = from_micros(now, person.zone).date() + timedelta(days=days)
    hour, minute = EVENING
    last_hour, last_minute = EVENING_ENDS
    yield Impulse(
        person=person.id,
        kind="diary",
        key=f"diary:{day}",
        sources=(diary.message,),
        not_before=get_local_time(now, person.zone, days=days, hour=hour, minute=minute),
        expires_at=get_local_time(now, person.zone, days=days, hour=last_hour, minute=last_minute),
        urgency=0.4,
    )

"""Mood: how the companion feels after the newest consolidated segment, for half a day.

A mood is not a belief: it is stored with its segment and is replaced when that is read again.
"""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import HOUR, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Mood
from oldfriend.memory.segments import Segment

MOOD_TTL: Final = 12 * HOUR


async def set_mood(tx: Transaction, segment: Segment, mood: Mood | None) -> None:
    """Store the mood after a segment: an empty phrase means neutral, None means not reported."""
    await tx.run(
        """UPDATE segment SET mood_phrase = :phrase, mood_energy = :energy, mood_signal = :signal
           WHERE id = :id AND person = :person""",
        phrase="" if mood is None else mood.phrase,
        energy=None if mood is None else mood.energy,
        signal=None if mood is None else mood.signal,
        id=segment.id,
        person=segment.person,
    )


async def find_mood(tx: Transaction, person: PersonId, *, at: Micros) -> Mood | None:
    """Return the mood towards a person at a moment, or None if it is neutral or not recent."""
    row = await tx.row(
        """SELECT mood_phrase, mood_energy, mood_signal FROM segment
           WHERE person = :person AND status IN ('done', 'trivial') AND mood_energy IS NOT NULL
           AND until_at <= :at AND until_at > :since ORDER BY until_at DESC, id DESC LIMIT 1""",
        person=person,
        at=at,
        since=at - MOOD_TTL,
    )
    return None if row is None or not row[0] else Mood(phrase=row[0], energy=row[1], signal=row[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedMood:
    """A mood, and when its segment ended."""

    at: Micros
    mood: Mood


async def list_moods(
    tx: Transaction, person: PersonId, *, until: Micros, limit: int
) -> list[TimedMood]:
    """List the last moods up to a moment, oldest first."""
    rows = await tx.rows(
        """SELECT until_at, mood_phrase, mood_energy, mood_signal FROM segment
           WHERE person = :person AND status IN ('done', 'trivial') AND mood_energy IS NOT NULL
           AND until_at <= :until ORDER BY until_at DESC, id DESC LIMIT :limit""",
        person=person,
        until=until,
        limit=limit,
    )
    return [
        TimedMood(at=row[0], mood=Mood(phrase=row[1], energy=row[2], signal=row[3]))
        for row in reversed(rows)
    ]

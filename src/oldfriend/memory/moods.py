"""How does the companion feel just now? As the newest reading of a talk has it, for half a day.

A mood is no belief: it is a part of what was read in a segment, and goes with that reading.
"""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import HOUR, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Mood
from oldfriend.memory.segments import Segment

LASTS: Final = 12 * HOUR
"""ACCEPTANCE I5."""


async def set_mood(tx: Transaction, segment: Segment, mood: Mood | None) -> None:
    """Keep the mood that a segment has left behind; neutral has no phrase, None was not told."""
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
    """The mood at a moment, towards one person; None: neutral, or nothing recent tells of one."""
    row = await tx.row(
        """SELECT mood_phrase, mood_energy, mood_signal FROM segment
           WHERE person = :person AND status IN ('done', 'trivial') AND mood_energy IS NOT NULL
           AND until_at <= :at AND until_at > :since ORDER BY until_at DESC, id DESC LIMIT 1""",
        person=person,
        at=at,
        since=at - LASTS,
    )
    return None if row is None or not row[0] else Mood(phrase=row[0], energy=row[1], signal=row[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class Felt:
    """A mood, and when the talk ended that has left it behind."""

    at: Micros
    mood: Mood


async def list_moods(tx: Transaction, person: PersonId, *, until: Micros, limit: int) -> list[Felt]:
    """The last moods up to a moment, oldest first."""
    rows = await tx.rows(
        """SELECT until_at, mood_phrase, mood_energy, mood_signal FROM segment
           WHERE person = :person AND status IN ('done', 'trivial') AND mood_energy IS NOT NULL
           AND until_at <= :until ORDER BY until_at DESC, id DESC LIMIT :limit""",
        person=person, until=until, limit=limit,
    )  # fmt: skip
    return [
        Felt(at=row[0], mood=Mood(phrase=row[1], energy=row[2], signal=row[3]))
        for row in reversed(rows)
    ]

"""Hint progress: how far somebody new has been told what there is."""

from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId


@dataclass(frozen=True, slots=True, kw_only=True)
class HintProgress:
    """The last hint that was given, and whether more are wanted."""

    stage: int = 0
    is_off: bool = False
    changed_at: Micros = 0


async def find_hint_progress(tx: Transaction, person: PersonId) -> HintProgress | None:
    """Return how far a person is; None for one who was here before there were hints."""
    row = await tx.row(
        "SELECT stage, is_off, changed_at FROM hint_progress WHERE person = :person",
        person=person,
    )
    return (
        None if row is None else HintProgress(stage=row[0], is_off=bool(row[1]), changed_at=row[2])
    )


async def save_hint_progress(tx: Transaction, person: PersonId, progress: HintProgress) -> None:
    """Store how far a person is."""
    await tx.run(
        """INSERT INTO hint_progress (person, stage, is_off, changed_at)
           VALUES (:person, :stage, :is_off, :changed_at)
           ON CONFLICT (person) DO UPDATE SET stage = excluded.stage,
             is_off = excluded.is_off, changed_at = excluded.changed_at""",
        person=person,
        stage=progress.stage,
        is_off=int(progress.is_off),
        changed_at=progress.changed_at,
    )


async def begin_hints(tx: Transaction, person: PersonId, *, now: Micros) -> None:
    """Begin to give hints to somebody new; nothing happens for one who is told already."""
    await tx.run(
        """INSERT INTO hint_progress (person, stage, is_off, changed_at)
           VALUES (:person, 0, 0, :now) ON CONFLICT (person) DO NOTHING""",
        person=person,
        now=now,
    )

"""On which days did much change, and how do two days differ? Of the journal, without its texts.

A decision counts on the day on which it was made, by the clocks of a zone.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MINUTE, Micros, from_micros
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import ChangeOp, ObjectKind

Turn = Literal["added", "ended", "changed"]
TURN_OF: Final[dict[ChangeOp, Turn]] = {
    "learned": "added", "reopened": "added", "unrejected": "added", "superseded": "ended",
    "merged": "ended",
    "deprecated": "ended", "fulfilled": "ended", "expired": "ended", "ended": "ended",
    "rejected": "ended",
}  # fmt: skip
"""What a decision does; any other changes something."""
QUARTER: Final = 15 * MINUTE
"""Every zone's midnight is one of these."""
HELD: Final = """CASE WHEN {0}.after LIKE '%"ended_at": null%'
    AND {0}.after NOT LIKE '%"is_active": false%' OR {0}.v = 1 AND {0}.op <> 'ended'
    THEN 1 ELSE 0 END"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turned:
    """How much was decided on a day."""

    day: date
    added: int = 0
    changed: int = 0
    ended: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """Something that is not believed on two days alike, by its newest decision on the later."""

    object: ObjectId
    seq: int
    turn: Turn


async def list_turned(tx: Transaction, person: PersonId, *, zone: str) -> list[Turned]:
    """Every day on which something was decided, oldest first. Names are not counted."""
    rows = await tx.rows(
        """SELECT learned_at / :quarter, op, count(*) FROM change
           WHERE person = :person AND kind <> 'entity' GROUP BY 1, 2""",
        person=person,
        quarter=QUARTER,
    )
    by_day: dict[date, dict[Turn, int]] = {}
    for quarter, op, count in rows:
        counts = by_day.setdefault(from_micros(quarter * QUARTER, zone).date(), {})
        turn = TURN_OF.get(op, "changed")
        counts[turn] = counts.get(turn, 0) + count
    return [Turned(day=day, **counts) for day, counts in sorted(by_day.items())]


async def list_differing(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros,
    kinds: Collection[ObjectKind],
) -> list[Differing]:  # fmt: skip
    """What was believed at one moment only, or is said otherwise at the second; newest first.

    What came and went between the two is not among it.
    """
    names = {f"kind{place}": kind for place, kind in enumerate(sorted(kinds))}
    rows = await tx.rows(
        f"""SELECT c.object, c.seq, {HELD.format("c")},
             (SELECT {HELD.format("p")} FROM change p WHERE p.person = c.person
              AND p.object = c.object AND p.seq < c.seq AND p.learned_at <= :since
              ORDER BY p.seq DESC LIMIT 1)
           FROM change c WHERE c.person = :person
           AND c.learned_at > :since AND c.learned_at <= :until
           AND c.kind IN ({", ".join(f":{name}" for name in names)}) ORDER BY c.seq DESC""",
        person=person, since=since, until=until, **names,
    )  # fmt: skip
    return list(differing_in(rows))


def differing_in(rows: Collection[tuple[str, int, int, int | None]]) -> Iterator[Differing]:
    """What of decisions, the newest first, makes a difference; of each thing the newest."""
    seen: set[str] = set()
    for object_id, seq, is_held, was_held in rows:
        if object_id in seen:
            continue
        seen.add(object_id)
        if is_held or was_held:
            turn: Turn = "changed" if is_held and was_held else "added" if is_held else "ended"
            yield Differing(object=ObjectId(object_id), seq=seq, turn=turn)

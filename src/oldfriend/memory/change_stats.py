"""Change statistics: decisions per day, and the difference between two moments.

A decision counts on the day on which it was made, in a given time zone. Texts are not read.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MINUTE, Micros, from_micros
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import JournalOp, ObjectKind

ChangeEffect = Literal["added", "ended", "changed"]
EFFECT_BY_OP: Final[dict[JournalOp, ChangeEffect]] = {
    "learned": "added",
    "reopened": "added",
    "unrejected": "added",
    "superseded": "ended",
    "merged": "ended",
    "deprecated": "ended",
    "fulfilled": "ended",
    "expired": "ended",
    "ended": "ended",
    "rejected": "ended",
}
"""The effect of each decision; any other operation counts as a change."""
QUARTER_HOUR: Final = 15 * MINUTE
"""Midnight falls on a multiple of this in every time zone."""
IS_HELD_SQL: Final = """CASE WHEN {0}.after LIKE '%"ended_at": null%'
    AND {0}.after NOT LIKE '%"is_active": false%' OR {0}.v = 1 AND {0}.op <> 'ended'
    THEN 1 ELSE 0 END"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayChanges:
    """The number of decisions on a day, by effect."""

    day: date
    added: int = 0
    changed: int = 0
    ended: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedBelief:
    """A belief that differs between two moments, with its newest decision by the later one."""

    object: ObjectId
    seq: int
    effect: ChangeEffect


async def count_changes_by_day(tx: Transaction, person: PersonId, *, zone: str) -> list[DayChanges]:
    """Count the decisions of every day that has any, oldest first; entities are not counted."""
    rows = await tx.rows(
        """SELECT learned_at / :quarter, op, count(*) FROM change
           WHERE person = :person AND kind <> 'entity' GROUP BY 1, 2""",
        person=person,
        quarter=QUARTER_HOUR,
    )
    by_day: dict[date, dict[ChangeEffect, int]] = {}
    for quarter, op, count in rows:
        counts = by_day.setdefault(from_micros(quarter * QUARTER_HOUR, zone).date(), {})
        effect = EFFECT_BY_OP.get(op, "changed")
        counts[effect] = counts.get(effect, 0) + count
    return [DayChanges(day=day, **counts) for day, counts in sorted(by_day.items())]


async def list_changed_beliefs(
    tx: Transaction,
    person: PersonId,
    *,
    since: Micros,
    until: Micros,
    kinds: Collection[ObjectKind],
) -> list[ChangedBelief]:
    """List the beliefs held at only one of two moments, or changed between them, newest first.

    What came and went between the two is left out.
    """
    parameters = {f"kind{index}": kind for index, kind in enumerate(sorted(kinds))}
    rows = await tx.rows(
        f"""SELECT c.object, c.seq, {IS_HELD_SQL.format("c")},
             (SELECT {IS_HELD_SQL.format("p")} FROM change p WHERE p.person = c.person
              AND p.object = c.object AND p.seq < c.seq AND p.learned_at <= :since
              ORDER BY p.seq DESC LIMIT 1)
           FROM change c WHERE c.person = :person
           AND c.learned_at > :since AND c.learned_at <= :until
           AND c.kind IN ({", ".join(f":{name}" for name in parameters)}) ORDER BY c.seq DESC""",
        person=person,
        since=since,
        until=until,
        **parameters,
    )
    return list(collect_changed_beliefs(rows))


def collect_changed_beliefs(
    rows: Collection[tuple[str, int, int, int | None]],
) -> Iterator[ChangedBelief]:
    """Yield each object's net difference, given its decisions newest first."""
    seen: set[str] = set()
    for object_id, seq, is_held, was_held in rows:
        if object_id in seen:
            continue
        seen.add(object_id)
        if is_held or was_held:
            effect: ChangeEffect = (
                "changed" if is_held and was_held else "added" if is_held else "ended"
            )
            yield ChangedBelief(object=ObjectId(object_id), seq=seq, effect=effect)

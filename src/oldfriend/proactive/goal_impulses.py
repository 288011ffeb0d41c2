"""Goal impulses: when to ask how a goal is going, and whether it was reached by its day.

It is asked when nothing was told of a goal for as long as its rhythm lets expect, and again after
longer and longer times; never more than a few times without a word of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.proactive.policy import Impulse
from oldfriend.proactive.quiet_hours import get_local_time

EVENING: Final = 18
MORNING: Final = 9
OPEN_FOR: Final = 3 * DAY
"""So long after its time a goal may still be asked about."""
PATIENCE: Final[Mapping[str, int]] = MappingProxyType(
    {"day": 3, "week": 8, "month": 32, "year": 32}
)
"""After how many days without a word of a goal with this rhythm it is asked about."""
USUAL_PATIENCE: Final = 14
ASKED_AFTER: Final = (1, 3, 7)
"""After so many times that patience; then it is left alone until it is spoken of again."""
MOST_PRIORITY: Final = 10
MAX_GOALS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedGoal:
    """An open goal, as another package keeps it."""

    id: str
    period: str | None
    priority: int
    deadline: Micros | None
    told_at: Micros  # when it was spoken of last


async def list_watched_goals(tx: Transaction, person: PersonId) -> tuple[WatchedGoal, ...]:
    """Return the open goals."""
    rows = await tx.rows(
        """SELECT g.id, g.period, g.priority, g.deadline, g.changed_at,
             (SELECT max(p.at) FROM goal_progress p WHERE p.person = g.person AND p.goal = g.id)
           FROM goal g WHERE g.person = :person AND g.status = 'active'
           ORDER BY g.priority DESC, g.created_at, g.id LIMIT :limit""",
        person=person,
        limit=MAX_GOALS,
    )
    return tuple(
        WatchedGoal(
            id=row[0],
            period=row[1],
            priority=int(row[2]),
            deadline=row[3],
            told_at=max(int(row[4]), int(row[5] or 0)),
        )
        for row in rows
    )


def collect_goals(person: Person, goals: Sequence[WatchedGoal]) -> Iterator[Impulse]:
    """Yield when each goal is asked about, and the day by which it was to be reached."""
    for goal in goals:
        if goal.deadline is not None:
            yield Impulse(
                person=person.id,
                kind="goal",
                key=f"goal:{goal.id}:due:{goal.deadline}",
                sources=(goal.id,),
                not_before=get_local_time(goal.deadline, person.zone, hour=MORNING),
                expires_at=goal.deadline + OPEN_FOR,
                urgency=0.8,
                relevance=0.5 + goal.priority / (2 * MOST_PRIORITY),
            )
        patience = PATIENCE.get(goal.period or "", USUAL_PATIENCE)
        for steps in ASKED_AFTER:
            at = get_local_time(goal.told_at, person.zone, days=steps * patience, hour=EVENING)
            if goal.deadline is not None and at + OPEN_FOR >= goal.deadline:
                break
            yield Impulse(
                person=person.id,
                kind="goal",
                key=f"goal:{goal.id}:ask:{goal.told_at}:{steps}",
                sources=(goal.id,),
                not_before=at,
                expires_at=at + OPEN_FOR,
                urgency=0.5,
                relevance=0.5 + goal.priority / (2 * MOST_PRIORITY),
            )

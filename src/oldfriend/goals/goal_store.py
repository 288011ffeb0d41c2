"""Goal store: the goals of each person, and what was done for them."""

from collections.abc import Sequence
from typing import Final

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.ids import ChatId, MessageId, PersonId, get_by_partial_id
from oldfriend.domain.messages import sanitize_text
from oldfriend.goals.goal import (
    KINDS,
    PERIODS,
    STATUSES,
    Goal,
    GoalState,
    GoalStatus,
    Progress,
    Rhythm,
)

GOAL_COLUMNS: Final = """id, person, chat, message, message_seq, text, language, kind, status,
    priority, times, period, deadline, next_action, zone, created_at, changed_at"""
MAX_GOALS: Final = 100
MAX_PROGRESS: Final = 2_000
"""What was done for goals, of which the newest is read."""


async def save_goal(tx: Transaction, goal: Goal) -> None:
    """Store a goal, new or changed."""
    await tx.run(
        f"""INSERT INTO goal ({GOAL_COLUMNS})
           VALUES (:id, :person, :chat, :message, :message_seq, :text, :language, :kind, :status,
             :priority, :times, :period, :deadline, :next_action, :zone, :created_at, :changed_at)
           ON CONFLICT (id) DO UPDATE SET text = excluded.text, kind = excluded.kind,
             status = excluded.status, priority = excluded.priority, times = excluded.times,
             period = excluded.period, deadline = excluded.deadline,
             next_action = excluded.next_action, changed_at = excluded.changed_at
           WHERE goal.person = :person""",
        id=goal.id,
        person=goal.person,
        chat=goal.chat,
        message=goal.message,
        message_seq=goal.message_seq,
        text=sanitize_text(goal.text),
        language=goal.language,
        kind=goal.kind,
        status=goal.status,
        priority=goal.priority,
        times=None if goal.rhythm is None else goal.rhythm.times,
        period=None if goal.rhythm is None else goal.rhythm.period,
        deadline=goal.deadline,
        next_action=sanitize_text(goal.next_action),
        zone=goal.zone,
        created_at=goal.created_at,
        changed_at=goal.changed_at,
    )


async def find_goal(tx: Transaction, person: PersonId, goal: str) -> Goal | None:
    """Return the goal of a person with an id."""
    row = await tx.row(
        f"SELECT {GOAL_COLUMNS} FROM goal WHERE person = :person AND id = :goal",
        person=person,
        goal=goal,
    )
    return None if row is None else parse_goal_row(row)


async def get_goal(tx: Transaction, person: PersonId, partial_id: str) -> Goal:
    """Return the person's goal that the beginning of an id means.

    Raises NotFound, InvalidInput.
    """
    goals = await list_goals(tx, person, statuses=STATUSES)
    return get_by_partial_id(partial_id, ((each.goal.id, each.goal) for each in goals), noun="goal")


async def list_goals(
    tx: Transaction, person: PersonId, *, statuses: Sequence[GoalStatus] = ("active",)
) -> list[GoalState]:
    """List the goals of a person in the order of the list, with what was done for them."""
    names = {f"status{index}": status for index, status in enumerate(statuses)}
    rows = await tx.rows(
        f"""SELECT {GOAL_COLUMNS} FROM goal WHERE person = :person
           AND status IN ({", ".join(f":{name}" for name in names)})
           ORDER BY status, priority DESC, created_at, id LIMIT :limit""",
        person=person,
        limit=10 * MAX_GOALS,
        **names,
    )
    if not rows:
        return []
    done = await list_progress(tx, person)
    goals = map(parse_goal_row, rows)
    return [
        GoalState(goal=each, progress=tuple(step for step in done if step.goal == each.id))
        for each in goals
    ]


async def list_progress(tx: Transaction, person: PersonId) -> list[Progress]:
    """List what was done for a person's goals, oldest first."""
    rows = await tx.rows(
        """SELECT id, goal, message, message_seq, at, amount FROM goal_progress
           WHERE person = :person ORDER BY at DESC, id DESC LIMIT :limit""",
        person=person,
        limit=MAX_PROGRESS,
    )
    return [
        Progress(
            id=row[0],
            person=person,
            goal=row[1],
            message=None if row[2] is None else MessageId(row[2]),
            message_seq=row[3],
            at=int(row[4]),
            amount=int(row[5]),
        )
        for row in reversed(rows)
    ]


async def add_progress(tx: Transaction, step: Progress) -> None:
    """Store that something was done for a goal, once for each message."""
    await tx.run(
        """INSERT INTO goal_progress (id, person, goal, message, message_seq, at, amount)
           VALUES (:id, :person, :goal, :message, :message_seq, :at, :amount)
           ON CONFLICT (person, goal, message) DO NOTHING""",
        id=step.id,
        person=step.person,
        goal=step.goal,
        message=step.message,
        message_seq=step.message_seq,
        at=step.at,
        amount=step.amount,
    )


async def remove_progress(tx: Transaction, step: Progress) -> None:
    """Remove what was counted for a goal."""
    await tx.run(
        "DELETE FROM goal_progress WHERE person = :person AND id = :id",
        person=step.person,
        id=step.id,
    )


def parse_goal_row(row: Row) -> Goal:
    """Parse a row of GOAL_COLUMNS."""
    goal_id, person, chat, message, message_seq, text, language, kind, status, priority = row[:10]
    times, period, deadline, next_action, zone, created_at, changed_at = row[10:]
    rhythm = None
    if times is not None and period is not None:
        rhythm = Rhythm(times=times, period=next(each for each in PERIODS if each == period))
    return Goal(
        id=goal_id,
        person=PersonId(person),
        chat=None if chat is None else ChatId(chat),
        message=None if message is None else MessageId(message),
        message_seq=message_seq,
        text=text,
        language=language,
        kind=next(each for each in KINDS if each == kind),
        status=next(each for each in STATUSES if each == status),
        priority=priority,
        rhythm=rhythm,
        deadline=deadline,
        next_action=next_action,
        zone=zone,
        created_at=created_at,
        changed_at=changed_at,
    )

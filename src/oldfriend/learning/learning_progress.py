"""Learning progress: how far learning from a person has come, and whether a reflection runs.

Any process can tell, because it is derived from pending and finished work. Read-only.
"""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.learning.reading_jobs import (
    CONSOLIDATE_JOB,
    list_planned_readings,
    list_reading_partitions,
)
from oldfriend.learning.reflection_scheduler import REFLECTION_JOBS, build_reflection_partition
from oldfriend.memory.segments import count_segments_ended_since, list_waiting_segments
from oldfriend.queues.claim import is_any_leased
from oldfriend.queues.scheduled_jobs import find_pending_jobs
from oldfriend.usage.costs import sum_background_usage

DUE_SOON: Final = 5 * SECOND
"""A job that is due within this time counts as started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningProgress:
    """Learning progress of one person."""

    read: int  # segments read, of those to be read
    total: int
    first_at: Micros | None  # when the first unread message was sent …
    last_at: Micros | None  # … and the last
    cost: int  # cost so far in millionths of a dollar, as far as known
    resumes_at: Micros | None  # when work resumes, such as tomorrow; None: it is running
    is_reflecting: bool  # a reflection job is running


async def find_learning_progress(
    tx: Transaction, person: PersonId, *, now: Micros
) -> LearningProgress | None:
    """Return the learning progress; None if nothing is to be read and no reflection is running."""
    is_reflecting = await is_any_leased(
        tx, "agenda", [build_reflection_partition(name, person) for name in REFLECTION_JOBS]
    )
    planned = {segment for segment, *_ in await list_planned_readings(tx, person)}
    waiting = [each for each in await list_waiting_segments(tx, person) if each.id in planned]
    jobs = await find_pending_jobs(
        tx,
        CONSOLIDATE_JOB,
        partitions=list_reading_partitions(person),
    )
    if not waiting or jobs is None:
        return (
            None
            if not is_reflecting
            else LearningProgress(
                read=0,
                total=0,
                first_at=None,
                last_at=None,
                cost=0,
                resumes_at=None,
                is_reflecting=True,
            )
        )
    read = await count_segments_ended_since(tx, person, jobs.enqueued_at)
    return LearningProgress(
        read=read,
        total=read + len(waiting),
        first_at=min(each.from_at for each in waiting),
        last_at=max(each.until_at for each in waiting),
        cost=(await sum_background_usage(tx, person, since=jobs.enqueued_at)).cost,
        resumes_at=jobs.due_at if jobs.due_at > now + DUE_SOON else None,
        is_reflecting=is_reflecting,
    )

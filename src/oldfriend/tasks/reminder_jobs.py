"""Reminder jobs: one job in the agenda for the next time of each reminder."""

from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Job, PartitionFilter
from oldfriend.domain.json import JsonValue
from oldfriend.queues.jobs_table import build_payload_error
from oldfriend.queues.scheduled_jobs import JobSpec, parse_job_spec, schedule_job
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_store import list_unscheduled_tasks

REMIND_JOB: Final = "remind"
PARTITION_PREFIX: Final = "reminders/"
REMINDER_PARTITIONS: Final = PartitionFilter(prefixes=(PARTITION_PREFIX,))
MAX_PLANNED: Final = 1_000


def get_partition(person: PersonId) -> str:
    """Return the partition of a person's reminders."""
    return f"{PARTITION_PREFIX}{person}"


def get_action_partition(person: PersonId) -> str:
    """Return the partition of a person's actions, which take longer than reminders may wait."""
    return f"actions/{person}"


async def schedule_reminder(
    tx: Transaction,
    task: Task,
    *,
    now: Micros,
    retry_at: Micros | None = None,
    attempt: int = 0,
) -> None:
    """Schedule the next time of a reminder or an action, unless a job waits for it already."""
    if task.status not in {"open", "asking"} or task.due_at is None:
        return
    key = f"{task.id}/{task.due_at}"
    arguments: dict[str, JsonValue] = {"task": task.id, "due": task.due_at}
    if attempt:
        arguments["attempt"] = attempt
    is_action = task.kind == "action"
    await schedule_job(
        tx,
        get_action_partition(task.person) if is_action else get_partition(task.person),
        JobSpec(name=REMIND_JOB, arguments=arguments),
        person=task.person,
        now=now,
        due_at=task.due_at if retry_at is None else retry_at,
        dedup_key=key if retry_at is None else f"{key}/{retry_at}",
    )


async def plan_reminders(tx: Transaction, *, now: Micros) -> None:
    """Schedule the reminders that no job waits for, such as those of a restored export."""
    for task in await list_unscheduled_tasks(tx, limit=MAX_PLANNED):
        await schedule_reminder(tx, task, now=now)


def parse_reminder_job(job: Job) -> tuple[str, Micros]:
    """Return the task of a job and the time that it is for. Raises InvalidInput."""
    arguments = parse_job_spec(job).arguments
    task, due = arguments.get("task"), arguments.get("due")
    if not isinstance(task, str) or not isinstance(due, int):
        raise build_payload_error(job, "task")
    return task, due


def parse_attempt(job: Job) -> int:
    """Return how often the action of a job was tried before."""
    attempt = parse_job_spec(job).arguments.get("attempt", 0)
    return attempt if isinstance(attempt, int) else 0

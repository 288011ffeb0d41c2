"""Scheduled jobs: background work in the agenda, each job due at its own time.

Jobs of one partition run one after the other; jobs of different partitions run concurrently.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Job
from oldfriend.domain.json import JsonValue
from oldfriend.queues.jobs_table import build_payload_error, get_text_field
from oldfriend.queues.queue import enqueue, lock_partition, update_ready_at


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """The name of a job and its arguments."""

    name: str
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingJobs:
    """When the oldest pending job was enqueued, and when the next one is due."""

    enqueued_at: Micros
    due_at: Micros


async def schedule_job(
    tx: Transaction,
    partition: str,
    job_spec: JobSpec,
    *,
    person: PersonId | None,
    now: Micros,
    due_at: Micros | None = None,
    dedup_key: str | None = None,
) -> Job | None:
    """Schedule a job for now or later; None if its dedup key is known in the partition."""
    payload: dict[str, JsonValue] = {"name": job_spec.name, "arguments": dict(job_spec.arguments)}
    return await enqueue(
        tx, "agenda", partition, payload, person=person, now=now, due_at=due_at, dedup_key=dedup_key
    )


async def delete_partition_jobs(tx: Transaction, partition: str) -> None:
    """Delete all jobs of a partition, even those being worked on: they count as done."""
    await lock_partition(tx, "agenda", partition)
    await tx.run(
        "DELETE FROM job WHERE queue = 'agenda' AND partition = :partition", partition=partition
    )
    await update_ready_at(tx, "agenda", partition)


async def list_due_times(tx: Transaction, name: str, *, partition: str) -> list[Micros]:
    """Return the due times of a partition's jobs with this name, earliest first."""
    rows = await tx.rows(
        """SELECT due_at FROM job WHERE queue = 'agenda' AND partition = :partition
           AND dead_lettered_at IS NULL AND payload LIKE :begins ORDER BY due_at""",
        partition=partition,
        begins=build_name_prefix(name),
    )
    return [int(row[0]) for row in rows]


async def find_pending_jobs(
    tx: Transaction, name: str, *, partitions: Sequence[str]
) -> PendingJobs | None:
    """Return the earliest enqueue and due times of jobs with this name; None if none is pending."""
    names = {f"partition{index}": partition for index, partition in enumerate(partitions)}
    row = await tx.row(
        f"""SELECT min(enqueued_at), min(due_at) FROM job
           WHERE queue = 'agenda' AND partition IN ({", ".join(f":{each}" for each in names)})
           AND dead_lettered_at IS NULL AND payload LIKE :begins""",
        begins=build_name_prefix(name),
        **names,
    )
    return None if row is None or row[0] is None else PendingJobs(enqueued_at=row[0], due_at=row[1])


async def count_scheduled_jobs(tx: Transaction, name: str, *, partitions: Sequence[str]) -> int:
    """Return how many jobs with this name are pending in some partitions, now or later."""
    names = {f"partition{index}": partition for index, partition in enumerate(partitions)}
    row = await tx.row(
        f"""SELECT count(*) FROM job
           WHERE queue = 'agenda' AND partition IN ({", ".join(f":{each}" for each in names)})
           AND dead_lettered_at IS NULL AND payload LIKE :begins""",
        begins=build_name_prefix(name),
        **names,
    )
    assert row is not None
    return int(row[0])


async def list_scheduled_jobs(
    tx: Transaction, name: str, *, partitions: Sequence[str]
) -> list[JobSpec]:
    """Return the jobs with this name that are pending in some partitions, now or later."""
    names = {f"partition{index}": partition for index, partition in enumerate(partitions)}
    rows = await tx.rows(
        f"""SELECT payload FROM job
           WHERE queue = 'agenda' AND partition IN ({", ".join(f":{each}" for each in names)})
           AND dead_lettered_at IS NULL AND payload LIKE :begins ORDER BY partition, seq""",
        begins=build_name_prefix(name),
        **names,
    )
    return [JobSpec(name=name, arguments=json.loads(payload)["arguments"]) for (payload,) in rows]


def build_name_prefix(name: str) -> str:
    """Return the LIKE pattern for the stored payload of jobs with this name."""
    return f'{{"name": "{name}",%'


def parse_job_spec(job: Job) -> JobSpec:
    """Parse the payload of an agenda job. Raises InvalidInput."""
    arguments = job.payload.get("arguments")
    if not isinstance(arguments, dict):
        raise build_payload_error(job, "arguments")
    return JobSpec(name=get_text_field(job, "name"), arguments=arguments)

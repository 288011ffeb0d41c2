"""Replay checkpoint: the remaining steps of a replay, kept as jobs in the target database.

An interrupted replay can therefore resume in any process. The jobs are never due, so no worker
takes them. The checkpoint also records which source database was replayed and its state.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MAX_TIME, Micros
from oldfriend.domain.errors import InvalidInput, StaleDecision
from oldfriend.domain.ids import PersonId, SegmentId
from oldfriend.domain.job_types import Job
from oldfriend.domain.json import JsonValue
from oldfriend.memory.journal import get_memory_version
from oldfriend.memory.people import find_companion
from oldfriend.queues.jobs_table import delete_jobs, find_first_job
from oldfriend.queues.scheduled_jobs import (
    JobSpec,
    count_scheduled_jobs,
    parse_job_spec,
    schedule_job,
)
from oldfriend.replay.steps import ReplayStep

REPLAY_JOB: Final = "replay"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayCheckpoint:
    """A replay in progress: its options and the source database."""

    model: str  # reads all segments; empty: the original extractors
    since: Micros | None
    people: tuple[PersonId, ...]
    source: Mapping[str, JsonValue]  # fingerprint of the source database

    def as_json(self) -> dict[str, JsonValue]:
        """Return the checkpoint as stored."""
        return {
            "model": self.model,
            "since": self.since,
            "people": [*self.people],
            "source": dict(self.source),
        }


async def fingerprint_database(tx: Transaction, people: Sequence[PersonId]) -> dict[str, JsonValue]:
    """Return what identifies a database and changes whenever data is deleted from it."""
    companion = await find_companion(tx)
    rewritten: dict[str, JsonValue] = {
        each: (await get_memory_version(tx, each)).rewritten for each in people
    }
    return {"companion": "" if companion is None else companion.id, "rewritten": rewritten}


async def find_checkpoint(tx: Transaction) -> ReplayCheckpoint | None:
    """Return the unfinished replay of this database, or None."""
    job = await find_first_job(tx, "agenda", REPLAY_JOB)
    if job is None:
        return None
    match parse_job_spec(job).arguments:
        case {
            "model": str(model),
            "since": int() | None as since,
            "people": list(people),
            "source": dict(source),
        }:
            return ReplayCheckpoint(
                model=model,
                since=since,
                people=tuple(PersonId(str(each)) for each in people),
                source=source,
            )
    return None


async def save_checkpoint(tx: Transaction, checkpoint: ReplayCheckpoint, *, now: Micros) -> None:
    """Record that a replay begins."""
    job = JobSpec(name=REPLAY_JOB, arguments=checkpoint.as_json())
    await schedule_job(tx, REPLAY_JOB, job, person=None, now=now, due_at=MAX_TIME)


async def enqueue_steps(
    tx: Transaction, person: PersonId, steps: Sequence[ReplayStep], *, now: Micros
) -> None:
    """Enqueue a person's steps in order."""
    for index, step in enumerate(steps):
        job = JobSpec(name=REPLAY_JOB, arguments=step.as_json())
        # Distinct and ordered, so that the next step is found at once.
        due_at = MAX_TIME - len(steps) + index
        await schedule_job(
            tx, build_replay_partition(person), job, person=person, now=now, due_at=due_at
        )


def build_replay_partition(person: PersonId) -> str:
    """Return the partition of a person's steps."""
    return f"{REPLAY_JOB}:{person}"


async def find_next_step(tx: Transaction, person: PersonId) -> tuple[Job, ReplayStep] | None:
    """Return a person's next step; None if all are done."""
    queued = await find_first_job(tx, "agenda", build_replay_partition(person))
    return None if queued is None else (queued, parse_step(parse_job_spec(queued)))


def parse_step(job: JobSpec) -> ReplayStep:
    """Parse the step of a job. Raises InvalidInput."""
    match job.arguments:
        case {
            "kind": "read" | "carry" | "uphold" | "tidy" | "fold" | "think" as kind,
            "at": int(at),
            "change": int(change),
            "segment": str() | None as segment,
            "by": "rules" | "model" | "either" as by,
            "thinking": "reflection" | "slow tick" | "description" | None as thinking,
        }:
            segment_id = None if segment is None else SegmentId(segment)
            return ReplayStep(
                kind=kind,
                at=at,
                change=change,
                segment=segment_id,
                extractor=by,
                reflection=thinking,
            )
    raise InvalidInput(f"This is no step of a replay: {dict(job.arguments)}")


async def count_remaining_steps(tx: Transaction, people: Sequence[PersonId]) -> int:
    """Return how many steps are left for these people."""
    return await count_scheduled_jobs(
        tx, REPLAY_JOB, partitions=[build_replay_partition(each) for each in people]
    )


async def ack_step(tx: Transaction, person: PersonId, letter: Job) -> None:
    """Delete a finished step in the transaction that does its work. Raises StaleDecision.

    The caller holds the person's lock, so that no other process runs the same step.
    """
    next_job = await find_first_job(tx, letter.queue, letter.partition)
    if next_job is None or next_job.seq != letter.seq:
        raise StaleDecision(f"Another process goes on with the replay of {person}.")
    await delete_jobs(tx, [letter])


async def delete_checkpoint(tx: Transaction) -> None:
    """Delete the checkpoint of a finished replay."""
    job = await find_first_job(tx, "agenda", REPLAY_JOB)
    if job is not None:
        await delete_jobs(tx, [job])

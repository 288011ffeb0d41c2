"""Reading jobs: plan which segments are read together, and by whom.

Imported messages, and what a model reads again, have a partition of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId, SegmentId
from oldfriend.domain.job_types import Job
from oldfriend.domain.json import JsonValue
from oldfriend.learning.batch_reading import group_into_batches
from oldfriend.learning.extractor_factory import IMPORT_CUT, ExtractorChoice
from oldfriend.memory.segments import Segment
from oldfriend.queues.queue import list_jobs, retry_dead_letter
from oldfriend.queues.scheduled_jobs import JobSpec, list_scheduled_jobs, schedule_job

CONSOLIDATE_JOB: Final = "read"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedReading:
    """The segments of a consolidation job, with their generations, and who is to read them."""

    generations: Mapping[SegmentId, int]
    extractor: ExtractorChoice


def build_learning_partition(person: PersonId) -> str:
    """Return the partition of a person's learning jobs."""
    return f"memory:{person}"


def build_backlog_partition(person: PersonId) -> str:
    """Return the partition of backlog jobs: imported messages, and re-extraction."""
    return f"old-talk:{person}"


async def enqueue_consolidations(
    tx: Transaction,
    segments: Sequence[Segment],
    *,
    now: Micros,
    extractor: ExtractorChoice = "either",
    together: bool = False,
) -> None:
    """Schedule the consolidation of segments, once per generation.

    Those that are read ``together`` share a job.
    """
    if not segments:
        return
    planned = await list_planned_readings(tx, segments[0].person)
    unplanned = [e for e in segments if (e.id, e.generation, extractor) not in planned]
    for batch in group_into_batches(unplanned) if together else [[each] for each in unplanned]:
        await schedule_reading(tx, batch, extractor, now=now)


async def schedule_reading(
    tx: Transaction, segments: Sequence[Segment], extractor: ExtractorChoice, *, now: Micros
) -> None:
    """Schedule one job that consolidates these segments."""
    person = segments[0].person
    is_backlog = extractor == "model" or segments[0].cut_by == IMPORT_CUT
    partition = build_backlog_partition(person) if is_backlog else build_learning_partition(person)
    generations: dict[str, JsonValue] = {each.id: each.generation for each in segments}
    job = JobSpec(name=CONSOLIDATE_JOB, arguments={"segments": generations, "by": extractor})
    await schedule_job(tx, partition, job, person=person, now=now)


async def list_planned_readings(
    tx: Transaction, person: PersonId
) -> set[tuple[SegmentId, int, ExtractorChoice]]:
    """Return the segments, generations and extractors of the consolidations that are planned."""
    jobs = await list_scheduled_jobs(
        tx, CONSOLIDATE_JOB, partitions=list_reading_partitions(person)
    )
    return {
        (segment, generation, reading.extractor)
        for reading in map(parse_consolidate_job, jobs)
        for segment, generation in reading.generations.items()
    }


def list_reading_partitions(person: PersonId) -> list[str]:
    """Return the partitions in which a person's consolidations are planned."""
    return [build_learning_partition(person), build_backlog_partition(person)]


async def list_failed_readings(tx: Transaction, person: PersonId) -> list[Job]:
    """Return a person's readings that have failed for good."""
    return [
        job
        for partition in list_reading_partitions(person)
        for job in await list_jobs(tx, is_dead_letter=True, after=("agenda", partition, 0))
        if job.queue == "agenda" and job.partition == partition
    ]


async def retry_failed_readings(tx: Transaction, person: PersonId, *, now: Micros) -> None:
    """Reopen a person's failed readings. Raises InvalidInput while others are being read."""
    reopened: set[int] = set()
    for job in await list_failed_readings(tx, person):
        if job.seq not in reopened:
            group = await retry_dead_letter(tx, job.queue, job.partition, job.seq, now=now)
            reopened |= {each.seq for each in group}


def parse_consolidate_job(job: JobSpec) -> PlannedReading:
    """Return the segments and the extractor of a consolidation job. Raises InvalidInput."""
    match job.arguments:
        case {"segments": dict(generations), "by": "rules" | "model" | "either" as by}:
            parsed = {SegmentId(id_): int(str(each)) for id_, each in generations.items()}
            return PlannedReading(generations=parsed, extractor=by)
        case {"segment": str(segment), "by": "rules" | "model" | "either" as by}:  # of a release
            return PlannedReading(generations={SegmentId(segment): 0}, extractor=by)
    raise InvalidInput(f"A job to read something that is not a segment: {dict(job.arguments)}")

"""Claim: finds a partition that is free to be leased.

A claim looks at the few expired leases first, then at the free partition that has been ready
longest, however many jobs are queued. If both find nothing, it looks for a partition whose next job
was enqueued or rescheduled at a time that is now in the future because the clock was set back:
nobody waits for a time that a wrong clock has shown.
"""

from collections.abc import Sequence
from typing import NamedTuple

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MAX_CLOCK_SKEW, MAX_TIME, SECOND, Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.job_types import MAX_LEASE_S, PartitionFilter, QueueName
from oldfriend.queues.jobs_table import ORDER_BY


class FreePartition(NamedTuple):
    """A partition that may be claimed."""

    key: str
    owner: str | None  # whose lease has expired; None: it was released


async def find_free_partition(
    tx: Transaction,
    queue: QueueName,
    wanted: str | PartitionFilter | None,
    *,
    now: Micros,
    clock: Micros,
) -> FreePartition | None:
    """Find and lock a partition that may be claimed: the named one, one of some, or any."""
    if isinstance(wanted, str):
        return await find_named_partition(tx, queue, wanted, now=now, clock=clock)
    return (
        await find_expired_partition(tx, queue, wanted, clock=clock)
        or await find_ready_partition(tx, queue, wanted, now=now)
        or await find_misdated_partition(tx, queue, wanted, now=now)
    )


async def find_named_partition(
    tx: Transaction, queue: QueueName, partition: str, *, now: Micros, clock: Micros
) -> FreePartition | None:
    """Find and lock a partition by its key, if it is ready, expired or misdated."""
    row = await tx.row(
        f"""SELECT partition, owner FROM job_partition
           WHERE queue = :queue AND partition = :partition
           AND (ready_at <= :now OR lease_until <= :clock OR lease_until > :latest
             OR ({build_misdated_condition(queue)}))
           FOR UPDATE""",
        queue=queue,
        partition=partition,
        now=now,
        ahead=now + MAX_CLOCK_SKEW,
        clock=clock,
        latest=compute_lease_end(clock, MAX_LEASE_S),
    )
    return None if row is None else FreePartition(*row)


async def find_expired_partition(
    tx: Transaction, queue: QueueName, partitions: PartitionFilter | None, *, clock: Micros
) -> FreePartition | None:
    """Find and lock the partition whose lease expired first."""
    row = await tx.row(
        f"""SELECT partition, owner FROM job_partition
           WHERE queue = :queue AND lease_until IS NOT NULL
           AND (lease_until <= :clock OR lease_until > :latest) {build_filter_condition(partitions)}
           ORDER BY lease_until LIMIT 1 FOR UPDATE SKIP LOCKED""",
        queue=queue,
        clock=clock,
        latest=compute_lease_end(clock, MAX_LEASE_S),
        **build_filter_params(partitions),
    )
    return None if row is None else FreePartition(*row)


async def find_ready_partition(
    tx: Transaction, queue: QueueName, partitions: PartitionFilter | None, *, now: Micros
) -> FreePartition | None:
    """Find and lock the free partition that has been ready longest."""
    row = await tx.row(
        f"""SELECT partition, owner FROM job_partition
           WHERE queue = :queue AND ready_at <= :now {build_filter_condition(partitions)}
           ORDER BY ready_at LIMIT 1 FOR UPDATE SKIP LOCKED""",
        queue=queue,
        now=now,
        **build_filter_params(partitions),
    )
    return None if row is None else FreePartition(*row)


async def find_misdated_partition(
    tx: Transaction, queue: QueueName, partitions: PartitionFilter | None, *, now: Micros
) -> FreePartition | None:
    """Find and lock a free partition whose next job was enqueued in what is now the future."""
    row = await tx.row(
        f"""SELECT partition, owner FROM job_partition
           WHERE queue = :queue AND {build_misdated_condition(queue)}
           {build_filter_condition(partitions)}
           ORDER BY ready_at LIMIT 1 FOR UPDATE SKIP LOCKED""",
        queue=queue,
        ahead=now + MAX_CLOCK_SKEW,
        **build_filter_params(partitions),
    )
    return None if row is None else FreePartition(*row)


async def filter_ready_partitions(
    tx: Transaction, queue: QueueName, partitions: Sequence[str], *, now: Micros
) -> list[str]:
    """Return those of the given partitions that have a due job and no valid lease."""
    names = {f"partition{index}": key for index, key in enumerate(partitions)}
    rows = await tx.rows(
        f"""SELECT partition FROM job_partition WHERE queue = :queue
           AND partition IN ({", ".join(f":{name}" for name in names)})
           AND (ready_at <= :now OR lease_until <= :clock) ORDER BY ready_at, partition""",
        queue=queue,
        now=now,
        clock=await tx.read_clock(),
        **names,
    )
    return [str(row[0]) for row in rows]


async def is_queue_leased(tx: Transaction, queue: QueueName) -> bool:
    """Return whether any partition of a queue has a valid lease."""
    clock = await tx.read_clock()
    row = await tx.row(
        """SELECT 1 FROM job_partition WHERE queue = :queue AND lease_until > :clock
           AND lease_until <= :latest LIMIT 1""",
        queue=queue,
        clock=clock,
        latest=compute_lease_end(clock, MAX_LEASE_S),
    )
    return row is not None


async def is_any_leased(tx: Transaction, queue: QueueName, partitions: Sequence[str]) -> bool:
    """Return whether any of the given partitions is leased."""
    names = {f"partition{index}": key for index, key in enumerate(partitions)}
    row = await tx.row(
        f"""SELECT 1 FROM job_partition WHERE queue = :queue AND lease_until > :clock
           AND partition IN ({", ".join(f":{name}" for name in names)}) LIMIT 1""",
        queue=queue,
        clock=await tx.read_clock(),
        **names,
    )
    return row is not None


def build_misdated_condition(queue: QueueName) -> str:
    """Build the SQL condition for a misdated partition; few are ready so far ahead."""
    return f"""ready_at > :ahead AND ready_at <> {MAX_TIME} AND :ahead < (
        SELECT coalesce(scheduled_at, enqueued_at) FROM job
        WHERE job.queue = job_partition.queue AND job.partition = job_partition.partition
        AND dead_lettered_at IS NULL ORDER BY {ORDER_BY[queue]} LIMIT 1)"""


def build_filter_condition(partitions: PartitionFilter | None) -> str:
    """Build the SQL condition for some partitions; its values are in ``build_filter_params``."""
    if partitions is None:
        return ""
    begins = " OR ".join(f"partition LIKE :{name}" for name in build_filter_params(partitions))
    return f"AND {'NOT ' if partitions.is_excluded else ''}({begins})"


def build_filter_params(partitions: PartitionFilter | None) -> dict[str, str]:
    """Return the SQL parameters of the condition for some partitions."""
    prefixes = () if partitions is None else partitions.prefixes
    return {f"prefix{index}": f"{prefix}%" for index, prefix in enumerate(prefixes)}


def compute_lease_end(clock: Micros, lease_s: float) -> Micros:
    """Return when a lease that begins now ends. Raises InvalidInput if it is too long."""
    if not 0 < lease_s <= MAX_LEASE_S:
        raise InvalidInput(f"A lease lasts up to {MAX_LEASE_S:g} s, not {lease_s:g} s.")
    return clock + round(lease_s * SECOND)

"""Partitions in a database, each step in a transaction of its own, as several workers take them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from oldfriend.db.database import Database
from oldfriend.domain.clock import SECOND
from oldfriend.domain.job_types import Job, Lease, QueueName
from oldfriend.domain.json import JsonValue
from oldfriend.queues import queue as job_queue
from oldfriend.queues.jobs_table import mark_isolated
from tests.clock import FrozenClock
from tests.engines import every_engine

engine = every_engine


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDriver:
    """The partitions of one house."""

    db: Database
    clock: FrozenClock
    queue: QueueName = "inbox"
    owners: list[str] = field(default_factory=list)

    async def put(
        self,
        text: JsonValue,
        *,
        partition: str = "a",
        queue: QueueName | None = None,
        after_s: float = 0,
        key: str | None = None,
        group: str | None = None,
    ) -> Job | None:
        """A job that is due after so many seconds."""
        now = self.clock()
        async with self.db.begin_write() as tx:
            return await job_queue.enqueue(
                tx,
                queue or self.queue,
                partition,
                {"text": text},
                person=None,
                now=now,
                due_at=now + round(after_s * SECOND),
                dedup_key=key,
                group=group,
            )

    async def claim(
        self,
        *,
        partition: str | None = None,
        queue: QueueName | None = None,
        owner: str = "worker",
        lease_s: float = 30,
        max_crashes: int = 100,
        is_isolated: bool = False,
    ) -> Lease | None:
        """Whatever a worker gets; ``is_isolated``: it does nothing else meanwhile."""
        async with self.db.begin_write() as tx:
            claim = await job_queue.claim_jobs(
                tx,
                queue or self.queue,
                owner=owner,
                now=self.clock(),
                lease_s=lease_s,
                partition=partition,
                max_crashes=max_crashes,
            )
            if claim is not None and claim.jobs and is_isolated:
                await mark_isolated(tx, claim.jobs[0], is_isolated=True)
            return claim

    async def claimed(self, **how: str | int | None) -> Lease:
        """What a worker gets when there is something."""
        claim = await self.claim(**how)
        assert claim is not None
        return claim

    async def finish(self, claim: Lease, *jobs: Job) -> None:
        """These, or else all jobs of a claim are done."""
        async with self.db.begin_write() as tx:
            await job_queue.ack(tx, claim, jobs or claim.jobs, now=self.clock())

    async def fail(
        self,
        claim: Lease,
        *,
        job: Job | None = None,
        error: str = "no luck",
        retry_s: float | None = None,
        counts: bool = True,
    ) -> None:
        """A job, else the first of a claim, did not work out."""
        now = self.clock()
        async with self.db.begin_write() as tx:
            await job_queue.fail_job(
                tx,
                claim,
                job or claim.jobs[0],
                error=error,
                now=now,
                counts_attempt=counts,
                retry_at=None if retry_s is None else now + round(retry_s * SECOND),
            )

    async def release(self, claim: Lease) -> None:
        """A worker goes on to other things."""
        async with self.db.begin_write() as tx:
            await job_queue.release_lease(tx, claim, now=self.clock())

    async def retry(self, queue: QueueName, partition: str, seq: int) -> None:
        """Somebody has another look at what has failed."""
        async with self.db.begin_write() as tx:
            await job_queue.retry_dead_letter(tx, queue, partition, seq, now=self.clock())

    async def extend(self, claim: Lease, *, lease_s: float = 30) -> bool:
        """A heartbeat."""
        async with self.db.begin_write() as tx:
            return await job_queue.renew_lease(tx, claim, lease_s=lease_s)

    async def work(self, **how: str | int | None) -> list[JsonValue]:
        """Do whatever is due until nothing is; what was done, in order."""
        done: list[JsonValue] = []
        while (claim := await self.claim(**how)) is not None:
            done += texts(claim)
            await self.finish(claim)
            await self.release(claim)
        return done

    async def jobs(self, *, failed: bool = False) -> list[Job]:
        """What is there."""
        async with self.db.begin_read() as tx:
            return await job_queue.list_jobs(tx, is_dead_letter=failed)

    async def next_due(self) -> int | None:
        """When it is worth looking again."""
        async with self.db.begin_read() as tx:
            return await job_queue.find_next_due(tx, self.queue)

    async def let_real_time_pass(self, seconds: float) -> None:
        """For the leases, as if the machine's clock had gone on (or back) by so much."""
        async with self.db.begin_write() as tx:
            await tx.run(
                "UPDATE job_partition SET lease_until = lease_until - :by",
                by=round(seconds * SECOND),
            )

    async def keys(self) -> list[Mapping[str, str]]:
        """The keys that are remembered."""
        async with self.db.begin_read() as tx:
            return [row[0] for row in await tx.rows("SELECT key FROM job_key ORDER BY key")]


def texts(claim: Lease | None) -> list[JsonValue]:
    """What the jobs of a claim say."""
    assert claim is not None
    return [job.payload["text"] for job in claim.jobs]


@pytest.fixture
def driver(db: Database, clock: FrozenClock) -> QueueDriver:
    """An empty queue."""
    return QueueDriver(db=db, clock=clock)

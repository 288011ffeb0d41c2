"""Whatever workers do, in whatever order, and whatever the clocks do: beside a model of lists.

After every step the database holds exactly the jobs of the model: none lost, none twice, and
every claim gives what the model expects. Who lost a partition can do nothing any more.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oldfriend.domain.clock import MINUTE, SECOND
from oldfriend.domain.errors import InvalidInput, LeaseLost
from oldfriend.domain.job_types import Job, Lease, QueueName
from tests.queues.conftest import QueueDriver, texts

QUEUES: tuple[QueueName, ...] = ("inbox", "outbox", "agenda")
LANES = ("a", "b")
GROUPS = ("r", "s", None)
LEASE_S = 30


@dataclass(slots=True)
class Waiting:
    """A job, as the model knows it."""

    number: int
    seq: int
    enqueued_at: int
    due_at: int
    group: str | None
    attempts: int = 0
    is_dead_letter: bool = False
    scheduled_at: int = 0

    def is_due(self, now: int) -> bool:
        """Whether its time has come, or was said before the clock was set back."""
        return self.due_at <= now or (self.scheduled_at or self.enqueued_at) > now + MINUTE


@dataclass(slots=True)
class PartitionModel:
    """A partition, as the model knows it."""

    queue: QueueName
    next_seq: int = 1
    jobs: list[Waiting] = field(default_factory=list)
    held_by: Lease | None = None
    is_over: bool = False  # the lease of who holds it

    def due(self, now: int) -> list[Waiting]:
        """What can be worked on."""
        waiting = [job for job in self.jobs if not job.is_dead_letter]
        is_by_time = self.queue == "agenda"
        waiting.sort(key=lambda job: (job.due_at if is_by_time else 0, job.seq))
        return list(takewhile(lambda job: job.is_due(now), waiting))

    def can_be_taken(self, now: int) -> bool:
        """Whether a claim may give it."""
        return bool(self.due(now)) and (self.held_by is None or self.is_over)

    def find(self, seq: int) -> Waiting:
        """One job."""
        return next(job for job in self.jobs if job.seq == seq)

    def with_its_group(self, job: Waiting) -> list[Waiting]:
        """A job, or all of its group."""
        if job.group is None:
            return [job]
        return [part for part in self.jobs if part.group == job.group]


class Town:
    """The real thing and the model, side by side."""

    def __init__(self, driver: QueueDriver, draw: Callable) -> None:
        """Nothing has been put yet."""
        self.driver = driver
        self.draw = draw
        self.partitions = {
            (queue, partition): PartitionModel(queue) for queue in QUEUES for partition in LANES
        }
        self.claims: list[Lease] = []
        self.put_so_far = 0
        self.done: dict[tuple[QueueName, str], list[int]] = defaultdict(list)

    async def put(self) -> None:
        """A job comes in, perhaps for later."""
        (queue, partition), model = self.draw(st.sampled_from(list(self.partitions.items())))
        delay, group = self.draw(st.integers(0, 20)), self.draw(st.sampled_from(GROUPS))
        number = self.put_so_far
        self.put_so_far += 1
        put = await self.driver.put(
            number, queue=queue, partition=partition, after_s=delay, group=group, key=str(number)
        )
        assert put is not None
        assert put.seq == model.next_seq
        model.jobs.append(Waiting(number, put.seq, put.enqueued_at, put.due_at, group))
        model.next_seq += 1

    async def deliver_again(self) -> None:
        """What was put once comes once more, while it waits or after it is done."""
        for (queue, partition), model in self.partitions.items():
            numbers = [job.number for job in model.jobs] + self.done[queue, partition]
            if numbers:
                number = self.draw(st.sampled_from(numbers))
                assert (
                    await self.driver.put(number, queue=queue, partition=partition, key=str(number))
                    is None
                )
                model.next_seq += 1

    async def claim(self) -> None:
        """Somebody looks for work."""
        queue = self.draw(st.sampled_from(QUEUES))
        partition = self.draw(st.sampled_from([None, *LANES]))
        now = self.driver.clock()
        possible = {
            name
            for (of, name), model in self.partitions.items()
            if of == queue and model.can_be_taken(now) and partition in {None, name}
        }
        claim = await self.driver.claim(
            queue=queue, partition=partition, owner=f"worker {len(self.claims)}"
        )
        await self.notice_abandoned_lanes()
        assert (claim.partition if claim else None) in (possible or {None})
        if claim is None:
            return
        model = self.partitions[queue, claim.partition]
        due = model.due(now)
        begun = [1, *(0 for _ in due[1:])]
        assert [(one.seq, one.payload["text"], one.attempts) for one in claim.jobs] == [
            (one.seq, one.number, one.attempts + more) for one, more in zip(due, begun, strict=True)
        ]
        model.held_by, model.is_over = claim, False
        self.claims.append(claim)

    async def notice_abandoned_lanes(self) -> None:
        """An expired lease of a partition where nothing is due may be ended by whoever looks."""
        async with self.driver.db.begin_read() as tx:
            held = await tx.rows(
                "SELECT queue, partition FROM job_partition WHERE lease_until IS NOT NULL"
            )
        for place, model in self.partitions.items():
            if model.is_over and not model.due(self.driver.clock()) and place not in held:
                model.held_by, model.is_over = None, False

    async def finish(self) -> None:
        """Somebody is done with some of what they claimed, perhaps too late."""
        if (claim := self.some_claim()) is None:
            return
        model = self.partitions[claim.queue, claim.partition]
        some = claim.jobs[: self.draw(st.integers(1, len(claim.jobs)))]
        if model.held_by != claim:
            await self.is_refused(self.driver.finish(claim, *some))
            return
        await self.driver.finish(claim, *some)
        for job in some:
            known = [one for one in model.jobs if one.seq == job.seq]
            if known:
                self.done[claim.queue, claim.partition].append(known[0].number)
                model.jobs.remove(known[0])

    async def fail(self) -> None:
        """Somebody could not do what they claimed."""
        if (claim := self.some_claim()) is None:
            return
        model = self.partitions[claim.queue, claim.partition]
        retry_s = self.draw(st.sampled_from([None, 0, 5]))
        job = claim.jobs[0]
        if model.held_by != claim:
            await self.is_refused(self.driver.fail(claim, retry_s=retry_s))
            return
        await self.driver.fail(claim, retry_s=retry_s)
        for failed in (one for one in model.jobs if one.seq == job.seq):
            failed.attempts = job.attempts
            failed.enqueued_at = min(failed.enqueued_at, self.driver.clock())
            failed.scheduled_at = self.driver.clock()
            if retry_s is not None:
                failed.due_at = self.driver.clock() + retry_s * SECOND
                continue
            for part in model.with_its_group(failed):
                part.is_dead_letter = True

    async def release(self) -> None:
        """Somebody gives back a partition, which may be theirs no longer."""
        if (claim := self.some_claim()) is None:
            return
        await self.driver.release(claim)
        model = self.partitions[claim.queue, claim.partition]
        if model.held_by == claim:
            model.held_by, model.is_over = None, False

    async def extend(self) -> None:
        """A heartbeat, perhaps of somebody presumed dead."""
        if (claim := self.some_claim()) is None:
            return
        model = self.partitions[claim.queue, claim.partition]
        assert await self.driver.extend(claim, lease_s=LEASE_S) == (model.held_by == claim)
        if model.held_by == claim:
            model.is_over = False

    async def machine_time_jumps(self) -> None:
        """Nobody's heartbeat comes in time, or the machine's clock is set back."""
        jump = self.draw(st.sampled_from([LEASE_S, 100_000, -100_000]))
        await self.driver.let_real_time_pass(jump)
        for model in self.partitions.values():
            model.is_over = model.held_by is not None

    async def house_time_passes(self) -> None:
        """The house's clock goes on, or is set back."""
        self.driver.clock.tick(seconds=self.draw(st.sampled_from([1, 5, 20, -10, 90, -90])))

    async def retry(self) -> None:
        """Somebody has another look at what has failed."""
        failed = [
            (place, job)
            for place, model in self.partitions.items()
            for job in model.jobs
            if job.is_dead_letter
        ]
        if not failed:
            return
        (queue, partition), job = self.draw(st.sampled_from(failed))
        model = self.partitions[queue, partition]
        retrying = self.driver.retry(queue, partition, job.seq)
        if model.held_by is not None and not model.is_over:
            await self.is_refused(retrying, InvalidInput)
            return
        await retrying
        model.held_by, model.is_over = None, False
        for part in model.with_its_group(job):
            if part.is_dead_letter:
                part.is_dead_letter, part.attempts, part.due_at = False, 0, self.driver.clock()
                part.scheduled_at = part.due_at

    def some_claim(self) -> Lease | None:
        """A claim that was given at some time; often the newest."""
        if not self.claims:
            return None
        return self.claims[-1 - self.draw(st.integers(0, min(3, len(self.claims) - 1)))]

    async def is_refused(self, attempt, error=LeaseLost) -> None:
        """Whoever lost a partition, or never had it, is told so."""
        try:
            await attempt
        except error:
            return
        raise AssertionError("wrote without holding the lane")

    async def check(self) -> None:
        """The database holds exactly what the model holds."""
        assert [seen(job) for job in await self.driver.jobs()] == sorted(
            (queue, partition, one.seq, one.number, one.due_at, one.attempts, one.is_dead_letter)
            for (queue, partition), model in self.partitions.items()
            for one in model.jobs
        )

    async def work_off(self) -> None:
        """Everybody comes back, and all that is open gets done."""
        self.driver.clock.tick(minutes=60)
        await self.driver.let_real_time_pass(100)
        for (queue, partition), model in self.partitions.items():
            due = [job.number for job in model.due(self.driver.clock())]
            claim = await self.driver.claim(queue=queue, partition=partition)
            assert (texts(claim) if claim else []) == due
            if claim:
                await self.driver.finish(claim)
                await self.driver.release(claim)
        assert all(job.is_dead_letter for job in await self.driver.jobs())


def seen(job: Job) -> tuple[object, ...]:
    """A job of the database, as it is compared."""
    return (
        job.queue,
        job.partition,
        job.seq,
        job.payload["text"],
        job.due_at,
        job.attempts,
        job.is_dead_letter,
    )


STEPS = (
    Town.put,
    Town.put,
    Town.put,
    Town.claim,
    Town.claim,
    Town.finish,
    Town.fail,
    Town.release,
    Town.extend,
    Town.machine_time_jumps,
    Town.house_time_passes,
    Town.retry,
    Town.deliver_again,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data(), steps=st.lists(st.sampled_from(STEPS), min_size=5, max_size=50))
async def test_jobs_are_never_lost_duplicated_or_reordered_against_the_model(driver, data, steps):
    """By several workers, with lost leases, jumping clocks, failures and redeliveries."""
    async with driver.db.begin_write() as tx:
        for table in ("job_partition", "job", "job_key"):
            await tx.run(f"DELETE FROM {table}")
    town = Town(driver, data.draw)
    for step in steps:
        await step(town)
        await town.check()
    await town.work_off()

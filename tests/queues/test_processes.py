"""Several real processes work on the same partitions, and some of them die."""

from collections import defaultdict
from pathlib import Path

from oldfriend.db.database import Database
from oldfriend.queues import queue as job_queue
from tests.engines import SEVERAL_PROCESSES
from tests.processes import kill, line_of, python

LANES, LETTERS = 6, 15

WORKER = """
import asyncio, sys
from pathlib import Path
from oldfriend.runtime.wiring import open_database
from oldfriend.queues import queue as partitions

async def work(url, name, begun):
    db = await open_database(url)
    print("ready", flush=True)
    while not Path(begun).exists():
        await asyncio.sleep(0.001)
    while True:
        async with db.begin_write() as tx:
            claim = await partitions.claim_jobs(tx, "inbox", owner=name, now=1, lease_s=0.5)
        if claim is None:
            async with db.begin_read() as tx:
                jobs = await partitions.list_jobs(tx, is_dead_letter=False)
            if all(job.queue == "outbox" for job in jobs):
                break
            await asyncio.sleep(0.02)
            continue
        print(claim.partition, flush=True)
        await asyncio.sleep(0.002)
        async with db.begin_write() as tx:
            (job, *_) = claim.jobs
            await partitions.ack(tx, claim, [job], now=1)
            await partitions.enqueue(tx, "outbox", claim.partition, job.payload, person=None, now=1)
            await partitions.release_lease(tx, claim, now=1)
    await db.close()

asyncio.run(work(*sys.argv[1:]))
"""


@SEVERAL_PROCESSES
async def test_jobs_are_handled_once_in_order_after_a_worker_kill(
    db: Database, database_url: str, tmp_path: Path
) -> None:
    """Two race for the same partitions; one dies with one in its hands; the other does the rest."""
    async with db.begin_write() as tx:
        for number in range(LETTERS):
            for partition in range(LANES):
                body = {"number": number}
                await job_queue.enqueue(tx, "inbox", f"lane {partition}", body, person=None, now=0)
    with (
        python(WORKER, database_url, "short-lived", tmp_path / "begun") as doomed,
        python(WORKER, database_url, "long-lived", tmp_path / "begun") as other,
    ):
        assert (line_of(doomed.stdout), line_of(other.stdout)) == ("ready", "ready")
        (tmp_path / "begun").touch()
        for _ in range(10):
            assert line_of(doomed.stdout)
        kill(doomed)
        worked_on = len(other.stdout.readlines())
        assert other.wait() == 0, other.stderr.read()

    async with db.begin_read() as tx:
        jobs = await job_queue.list_jobs(tx, is_dead_letter=False)
    handled = defaultdict(list)
    for job in jobs:
        assert job.queue == "outbox"
        handled[job.partition].append(job.payload["number"])
    assert handled == {f"lane {partition}": list(range(LETTERS)) for partition in range(LANES)}
    assert worked_on < LANES * LETTERS  # both had their share

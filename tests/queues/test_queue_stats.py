"""What waits is counted for whoever looks after the house."""

from oldfriend.db.database import Database
from oldfriend.domain.clock import MINUTE
from oldfriend.queues.queue import claim, enqueue, fail_job
from oldfriend.queues.queue_stats import QueueStats, load_queue_stats
from tests.clock import FrozenClock


async def test_nothing_waits_in_a_new_house(db: Database, clock: FrozenClock) -> None:
    """Every queue is there all the same."""
    async with db.begin_read() as tx:
        counted = await load_queue_stats(tx, now=clock())

    assert [each.queue for each in counted] == ["inbox", "outbox", "agenda"]
    assert {
        (each.due, each.delayed, each.dead_letters, each.leased, each.oldest_due_at)
        for each in counted
    } == {(0, 0, 0, 0, None)}


async def test_letters_are_counted_by_what_they_wait_for(db: Database, clock: FrozenClock) -> None:
    """Due, for later, set aside; and the lanes on which somebody works."""
    began = clock()
    async with db.begin_write() as tx:
        for lane in ("a", "b", "b"):
            await enqueue(tx, "inbox", lane, {}, person=None, now=clock())
            clock.tick(seconds=1)
        await enqueue(tx, "agenda", "job", {}, person=None, now=clock(), due_at=clock() + MINUTE)
        held = await claim(tx, "inbox", owner="w", now=clock(), lease_s=30, partition="a")
        assert held is not None
        await fail_job(tx, held, held.jobs[0], error="x", now=clock(), retry_at=None)
        inbox, outbox, agenda = await load_queue_stats(tx, now=clock())
        *_, later = await load_queue_stats(tx, now=clock() + MINUTE)

    assert inbox == QueueStats(
        queue="inbox", due=2, delayed=0, dead_letters=1, leased=1, oldest_due_at=began + 1_000_000
    )
    assert outbox == QueueStats(
        queue="outbox", due=0, delayed=0, dead_letters=0, leased=0, oldest_due_at=None
    )
    assert (agenda.due, agenda.delayed, agenda.oldest_due_at) == (0, 1, None)
    assert (later.due, later.delayed) == (1, 0)

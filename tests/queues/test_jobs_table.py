"""Who failed waits, longer each time, and not in step with the others."""

from hypothesis import given
from hypothesis import strategies as st

from oldfriend.db.database import Database
from oldfriend.domain.clock import MINUTE, SECOND
from oldfriend.queues.jobs_table import MAX_DELAY_S, QueueStats, compute_retry_at, load_queue_stats
from oldfriend.queues.queue import claim_jobs, enqueue, fail_job
from tests.clock import FrozenClock


def test_retry_delay_doubles_up_to_five_minutes():
    waits = [compute_retry_at(0, attempts, jitter=1) // SECOND for attempts in range(12)]

    assert waits == [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


def test_retry_delay_respects_the_requested_minimum():
    assert compute_retry_at(5 * SECOND, 1, jitter=0, min_delay_s=20) == 25 * SECOND


@given(st.integers(0, 10**9), st.floats(0, 1), st.floats(0, 1))
def test_retry_delay_has_full_jitter_within_the_maximum(attempts, one, other):
    """Full jitter: more chance, more delay, never too much."""
    early, late = sorted((one, other))

    assert (
        0
        <= compute_retry_at(0, attempts, jitter=early)
        <= compute_retry_at(0, attempts, jitter=late)
    )
    assert compute_retry_at(0, attempts, jitter=late) <= MAX_DELAY_S * SECOND


async def test_queue_stats_of_a_new_store_are_zero(db: Database, clock: FrozenClock) -> None:
    """Every queue is there all the same."""
    async with db.begin_read() as tx:
        counted = await load_queue_stats(tx, now=clock())

    assert [each.queue for each in counted] == ["inbox", "outbox", "agenda"]
    assert {
        (each.due, each.delayed, each.dead_letters, each.leased, each.oldest_due_at)
        for each in counted
    } == {(0, 0, 0, 0, None)}


async def test_queue_stats_count_due_delayed_dead_and_leased(
    db: Database, clock: FrozenClock
) -> None:
    """Due, for later, set aside; and the partitions on which somebody works."""
    began = clock()
    async with db.begin_write() as tx:
        for partition in ("a", "b", "b"):
            await enqueue(tx, "inbox", partition, {}, person=None, now=clock())
            clock.tick(seconds=1)
        await enqueue(tx, "agenda", "job", {}, person=None, now=clock(), due_at=clock() + MINUTE)
        held = await claim_jobs(tx, "inbox", owner="w", now=clock(), lease_s=30, partition="a")
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

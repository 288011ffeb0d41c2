"""A person is answered a minute's messages at once, then one by one, and is never muted."""

import pytest

from oldfriend.domain.clock import MINUTE
from oldfriend.memory.people import ensure_person
from oldfriend.queues import queue as job_queue
from oldfriend.queues.rate_limit import reserve_slot

PER_MINUTE = 4
SHARE = MINUTE // PER_MINUTE


@pytest.fixture
async def nora(db, clock):
    async with db.begin_write() as tx:
        return (await ensure_person(tx, "Nora", now=clock(), zone="UTC")).id


@pytest.fixture
def say(db, clock, nora):
    """Say something; how long it waits."""

    async def say():
        now = clock()
        async with db.begin_write() as tx:
            at = await reserve_slot(tx, nora, per_minute=PER_MINUTE, now=now)
            await job_queue.enqueue(tx, "inbox", "a", {}, person=nora, now=now, due_at=at)
        return at - now

    return say


async def test_rate_limited_messages_are_spaced_evenly(say, clock):
    waits = [await say() for _ in range(8)]
    clock.tick(minutes=1)

    assert waits == [0, 0, 0, 0, SHARE, 2 * SHARE, 3 * SHARE, 4 * SHARE]
    assert await say() == SHARE


async def test_rate_limit_keeps_its_pace_for_a_long_backlog(say):
    waits = [await say() for _ in range(4 + 4 * 120)]

    assert waits[4:] == [number * SHARE for number in range(1, 4 * 120 + 1)]


@pytest.mark.parametrize("days", [1, 400])
async def test_clock_set_back_does_not_block_rate_limited_messages(db, nora, say, clock, days):
    clock.tick(minutes=60 * 24 * days)
    async with db.begin_write() as tx:
        for _ in range(4):
            await reserve_slot(tx, nora, per_minute=PER_MINUTE, now=clock())
    clock.tick(minutes=-60 * 24 * days)

    assert await say() == SHARE
    clock.tick(minutes=2)
    assert await say() == 0


async def test_dropped_job_frees_its_rate_limit_slot(db, say, clock):
    for _ in range(12):
        await say()
    async with db.begin_write() as tx:
        for seq in range(1, 13):
            await job_queue.drop_job(tx, "inbox", "a", seq, now=clock())

    assert await say() == SHARE


async def test_rate_limit_of_zero_means_no_wait(db, nora, clock):
    async with db.begin_write() as tx:
        places = {await reserve_slot(tx, nora, per_minute=0, now=clock()) for _ in range(9)}

    assert places == {clock()}

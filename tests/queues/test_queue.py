"""Each letter is done once, in its order, by whoever holds its lane."""

import asyncio

import pytest

from oldfriend.domain.clock import DAY, MAX_TIME
from oldfriend.domain.errors import InvalidInput, LeaseLost
from oldfriend.queues import queue as lanes
from oldfriend.queues.dedup_keys import delete_expired_keys
from oldfriend.queues.jobs_table import MAX_CLAIMED_JOBS
from oldfriend.runtime.wiring import open_database
from tests.engines import SEVERAL_PROCESSES
from tests.queues.conftest import texts


async def test_jobs_of_a_partition_are_claimed_in_order(post):
    for number in range(5):
        await post.put(number)
    claim = await post.claimed()

    assert texts(claim) == [0, 1, 2, 3, 4]
    assert (claim.queue, claim.partition, claim.owner, claim.epoch) == ("inbox", "a", "worker", 1)


async def test_claim_is_limited_in_number_of_jobs(post):
    for number in range(MAX_CLAIMED_JOBS + 3):
        await post.put(number)
    claim = await post.claimed()
    await post.finish(claim)
    await post.release(claim)

    assert texts(claim) == list(range(MAX_CLAIMED_JOBS))
    assert texts(await post.claim()) == list(range(MAX_CLAIMED_JOBS, MAX_CLAIMED_JOBS + 3))


async def test_leased_partition_is_skipped_and_other_partitions_are_claimed(post):
    await post.put("one", lane="a")
    post.clock.tick(seconds=1)
    await post.put("two", lane="b")
    first, second = await post.claim(owner="x"), await post.claim(owner="y")

    assert (texts(first), texts(second)) == (["one"], ["two"])
    assert await post.claim() is None


async def test_longest_ready_partition_is_claimed_first(post):
    for lane in "cab":
        post.clock.tick(seconds=1)
        await post.put(lane, lane=lane)

    assert await post.work() == ["c", "a", "b"]


async def test_claim_takes_jobs_of_its_own_queue_only(post):
    await post.put("said", queue="inbox")
    await post.put("job", queue="agenda")

    assert texts(await post.claim(queue="agenda")) == ["job"]
    assert await post.claim(queue="outbox") is None


async def test_partition_can_be_claimed_by_name(post):
    await post.put("one", lane="a")
    await post.put("two", lane="b")

    assert texts(await post.claim(lane="b")) == ["two"]
    assert await post.claim(lane="b") is None
    assert await post.claim(lane="nobody's") is None


async def test_new_job_in_a_leased_partition_is_visible_only_to_the_lease_holder(post):
    await post.put("one")
    claim = await post.claimed()
    await post.put("two")
    await post.put("later", after_s=60)
    assert await post.claim() is None
    async with post.db.begin_write() as tx:
        come = await lanes.claim_new_jobs(tx, claim, now=post.clock())
    await post.finish(claim)
    await post.release(claim)

    assert [letter.payload["text"] for letter in come] == ["two"]
    assert texts(await post.claim()) == ["two"]


async def test_unfinished_job_is_available_again_after_release(post):
    await post.put("one")
    await post.put("two")
    claim = await post.claimed()
    await post.finish(claim, claim.jobs[0])
    await post.release(claim)

    assert texts(await post.claim()) == ["two"]


async def test_delayed_job_holds_back_later_jobs_of_its_partition(post):
    """Order is kept at any price, except on the agenda."""
    await post.put("later", after_s=10)
    await post.put("now")
    assert await post.claim() is None
    assert await post.next_due() == post.clock() + 10_000_000
    post.clock.tick(seconds=10)

    assert await post.work() == ["later", "now"]


async def test_agenda_jobs_become_due_independently(post):
    await post.put("later", queue="agenda", after_s=10)
    await post.put("sooner", queue="agenda", after_s=5)
    await post.put("now", queue="agenda")
    assert await post.work(queue="agenda") == ["now"]
    assert await post.work(queue="agenda") == []
    post.clock.tick(seconds=5)
    assert await post.work(queue="agenda") == ["sooner"]
    post.clock.tick(seconds=5)

    assert await post.work(queue="agenda") == ["later"]


async def test_next_due_is_none_for_an_empty_or_leased_partition(post):
    assert await post.next_due() is None
    await post.put("one")
    claim = await post.claimed()
    assert await post.next_due() is None  # somebody is at it
    await post.finish(claim)
    await post.release(claim)

    assert await post.next_due() is None


async def test_job_payload_round_trips(post, db):
    """Whatever a language or a platform comes up with."""
    body = {"text": "ça \x00 \ud800 記憶", "list": [1, 2.5, None, True], "in": {"a": {}}}
    async with db.begin_write() as tx:
        put = await lanes.enqueue(
            tx, "outbox", "a", body, person=None, now=5, due_at=7, dedup_key="k", group="g"
        )
    (found,) = await post.letters()

    assert found == put
    assert found.payload == body


# Leases


async def test_expired_lease_is_taken_over_with_unfinished_jobs(post):
    await post.put("one")
    lost = await post.claimed(owner="frozen", lease_s=30)
    await post.let_real_time_pass(29)
    assert await post.claim() is None
    await post.let_real_time_pass(1)
    taken = await post.claimed(owner="awake")

    assert texts(taken) == ["one"]
    assert taken.epoch == lost.epoch + 1
    assert (taken.jobs[0].attempts, taken.jobs[0].crashes) == (1, 1)


async def test_worker_that_lost_its_lease_cannot_write(post):
    """A worker that was presumed dead wakes up after another has taken its lane."""
    await post.put("one")
    late = await post.claimed()
    await post.let_real_time_pass(30)
    await post.claimed()

    with pytest.raises(LeaseLost):
        await post.finish(late)
    with pytest.raises(LeaseLost):
        await post.fail(late, retry_s=1)
    assert not await post.extend(late)
    await post.release(late)  # has nothing to give back
    assert await post.claim() is None  # the other holds it still
    assert [letter.payload["text"] for letter in await post.letters()] == ["one"]


async def test_worker_that_released_its_lease_cannot_write(post):
    await post.put("one")
    claim = await post.claimed()
    await post.release(claim)
    assert not await post.extend(claim)
    with pytest.raises(LeaseLost, match="inbox a"):
        await post.finish(claim)


async def test_expired_lease_stays_valid_until_taken_over(post):
    """Work that is done is not thrown away for being slow."""
    await post.put("one")
    claim = await post.claimed()
    await post.let_real_time_pass(300)
    assert await post.extend(claim)
    assert await post.claim() is None
    await post.finish(claim)

    assert await post.letters() == []


async def test_heartbeat_extends_a_lease(post):
    await post.put("one")
    claim = await post.claimed(lease_s=30)
    for _ in range(5):
        await post.let_real_time_pass(20)
        assert await post.extend(claim, lease_s=30)

    assert await post.claim() is None


async def test_clock_set_back_does_not_keep_a_partition_leased(post):
    """A lease that seems to end later than any lease can was given by another time."""
    await post.put("one")
    await post.claimed()
    await post.let_real_time_pass(-3600)

    assert texts(await post.claim()) == ["one"]


@pytest.mark.parametrize("queue", ["inbox", "outbox", "agenda"])
@pytest.mark.parametrize("lane", [None, "a"])
async def test_job_enqueued_by_a_fast_clock_is_due_now(post, queue, lane):
    """What was put tomorrow is due now, and so is what stands behind it."""
    post.clock.tick(minutes=60 * 24)
    await post.put("one", queue=queue)
    post.clock.tick(minutes=-60 * 24)
    await post.put("two", queue=queue)
    await post.put("later", lane="b", queue=queue, after_s=100)

    assert sorted(await post.work(queue=queue, lane=lane)) == ["one", "two"]


async def test_job_enqueued_by_a_fast_clock_keeps_its_retry_delay(post):
    post.clock.tick(minutes=60 * 24)
    await post.put("one")
    post.clock.tick(minutes=-60 * 24)
    claim = await post.claimed()
    await post.fail(claim, retry_s=5)
    await post.release(claim)
    assert await post.claim() is None
    post.clock.tick(seconds=5)

    assert texts(await post.claim()) == ["one"]


async def test_small_clock_difference_delays_a_job_normally(post):
    post.clock.tick(seconds=59)
    await post.put("one")
    post.clock.tick(seconds=-59)

    assert await post.claim() is None


async def test_clock_set_forward_expires_the_lease_but_loses_no_job(post):
    await post.put("one")
    early = await post.claimed()
    await post.let_real_time_pass(3600)
    claim = await post.claimed()
    with pytest.raises(LeaseLost):
        await post.finish(early)
    await post.finish(claim)

    assert await post.letters() == []


async def test_simulated_clock_jump_does_not_affect_leases(post):
    """Simulated time is for what is due, not for who is at work."""
    await post.put("one")
    claim = await post.claimed()
    post.clock.tick(minutes=60 * 24 * 365)
    assert await post.claim() is None
    post.clock.tick(minutes=-60 * 24 * 365 * 2)
    assert await post.claim() is None
    await post.finish(claim)

    assert await post.letters() == []


async def test_partition_is_free_again_after_crash_between_ack_and_release(post):
    await post.put("one")
    dead = await post.claimed()
    await post.finish(dead)
    await post.let_real_time_pass(30)
    assert await post.claim() is None
    await post.put("two")

    assert texts(await post.claim()) == ["two"]
    with pytest.raises(LeaseLost):
        await post.finish(dead)


async def test_lease_longer_than_the_maximum_is_refused(post):
    with pytest.raises(InvalidInput, match="120 s"):
        await post.claim(lease_s=121)


# Keys


async def test_duplicate_job_key_is_enqueued_once(post):
    assert await post.put("one", key="m1") is not None
    assert await post.put("one", key="m1") is None
    assert await post.work() == ["one"]
    post.clock.tick(minutes=60 * 24 * 29)
    assert await post.put("one", key="m1") is None

    assert await post.claim() is None


async def test_same_key_in_another_partition_is_another_job(post):
    assert await post.put("one", lane="a", key="1") is not None
    assert await post.put("two", lane="b", key="1") is not None
    assert await post.put("three", lane="a", queue="outbox", key="1") is not None


async def test_expired_dedup_keys_are_deleted_in_small_batches(post):
    for number in range(30):
        await post.put(number, key=f"{number:02}")
    await post.work()
    await post.put("stays", lane="b", key="open")
    post.clock.tick(minutes=60 * 24 * 31)
    assert len(await post.keys()) == 31
    await post.put("new", lane="c", key="young")
    claim = await post.claimed(lane="c")
    await post.finish(claim)
    assert len(await post.keys()) == 32 - 20
    async with post.db.begin_write() as tx:
        assert await delete_expired_keys(tx, post.clock()) == 10

    assert await post.keys() == ["open", "young"]


# Waking


@SEVERAL_PROCESSES
async def test_waiting_process_is_woken_when_a_partition_becomes_ready(post, database_url):
    """Also for a letter that is due later, to know until when to sleep."""
    other = await open_database(database_url)
    for after_s in (0, 60):
        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(other.wait_for_change())
            while not waiting.done():
                await post.put("one", lane=f"lane {post.clock.tick(seconds=1)}", after_s=after_s)
                await asyncio.sleep(0.05)
    await other.close()


@pytest.mark.parametrize("queue", ["inbox", "outbox", "agenda"])
async def test_retry_delayed_by_a_fast_clock_is_due_once_the_clock_is_corrected(post, queue):
    """Though it was put before: who put it off said when it is due."""
    await post.put("one", queue=queue)
    post.clock.tick(minutes=60 * 24 * 30)
    claim = await post.claimed(queue=queue)
    await post.fail(claim, retry_s=5)
    await post.release(claim)
    assert await post.claim(queue=queue) is None
    post.clock.tick(minutes=-60 * 24 * 30)

    assert texts(await post.claim(queue=queue)) == ["one"]


@pytest.mark.parametrize(("due_in", "is_done"), [(DAY, True), (None, False)])
async def test_rescheduled_job_is_due_after_clock_correction_but_paused_one_is_not(
    post, due_in, is_done
):
    """Who pauses old talk has not said when it is to go on."""
    await post.put("one", queue="agenda", after_s=60)
    post.clock.tick(minutes=60 * 24 * 30)
    now = post.clock()
    async with post.db.begin_write() as tx:
        due_at = MAX_TIME if due_in is None else now + due_in
        await lanes.reschedule_jobs(tx, "agenda", "a", from_seq=0, due_at=due_at, now=now)
    post.clock.tick(minutes=-60 * 24 * 30)

    assert (await post.claim(queue="agenda") is not None) == is_done

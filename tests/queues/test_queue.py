"""Each job is done once, in its order, by whoever holds its partition."""

import asyncio

import pytest

from oldfriend.domain.clock import DAY, MAX_TIME
from oldfriend.domain.errors import InvalidInput, LeaseLost
from oldfriend.queues import queue as job_queue
from oldfriend.queues.dedup_keys import delete_expired_keys
from oldfriend.queues.jobs_table import MAX_CLAIMED_JOBS
from oldfriend.runtime.wiring import open_database
from tests.engines import SEVERAL_PROCESSES
from tests.queues.conftest import texts


async def test_jobs_of_a_partition_are_claimed_in_order(driver):
    for number in range(5):
        await driver.put(number)
    claim = await driver.claimed()

    assert texts(claim) == [0, 1, 2, 3, 4]
    assert (claim.queue, claim.partition, claim.owner, claim.epoch) == ("inbox", "a", "worker", 1)


async def test_claim_is_limited_in_number_of_jobs(driver):
    for number in range(MAX_CLAIMED_JOBS + 3):
        await driver.put(number)
    claim = await driver.claimed()
    await driver.finish(claim)
    await driver.release(claim)

    assert texts(claim) == list(range(MAX_CLAIMED_JOBS))
    assert texts(await driver.claim()) == list(range(MAX_CLAIMED_JOBS, MAX_CLAIMED_JOBS + 3))


async def test_leased_partition_is_skipped_and_other_partitions_are_claimed(driver):
    await driver.put("one", partition="a")
    driver.clock.tick(seconds=1)
    await driver.put("two", partition="b")
    first, second = await driver.claim(owner="x"), await driver.claim(owner="y")

    assert (texts(first), texts(second)) == (["one"], ["two"])
    assert await driver.claim() is None


async def test_longest_ready_partition_is_claimed_first(driver):
    for partition in "cab":
        driver.clock.tick(seconds=1)
        await driver.put(partition, partition=partition)

    assert await driver.work() == ["c", "a", "b"]


async def test_claim_takes_jobs_of_its_own_queue_only(driver):
    await driver.put("said", queue="inbox")
    await driver.put("job", queue="agenda")

    assert texts(await driver.claim(queue="agenda")) == ["job"]
    assert await driver.claim(queue="outbox") is None


async def test_partition_can_be_claimed_by_name(driver):
    await driver.put("one", partition="a")
    await driver.put("two", partition="b")

    assert texts(await driver.claim(partition="b")) == ["two"]
    assert await driver.claim(partition="b") is None
    assert await driver.claim(partition="nobody's") is None


async def test_new_job_in_a_leased_partition_is_visible_only_to_the_lease_holder(driver):
    await driver.put("one")
    claim = await driver.claimed()
    await driver.put("two")
    await driver.put("later", after_s=60)
    assert await driver.claim() is None
    async with driver.db.begin_write() as tx:
        come = await job_queue.claim_new_jobs(tx, claim, now=driver.clock())
    await driver.finish(claim)
    await driver.release(claim)

    assert [job.payload["text"] for job in come] == ["two"]
    assert texts(await driver.claim()) == ["two"]


async def test_unfinished_job_is_available_again_after_release(driver):
    await driver.put("one")
    await driver.put("two")
    claim = await driver.claimed()
    await driver.finish(claim, claim.jobs[0])
    await driver.release(claim)

    assert texts(await driver.claim()) == ["two"]


async def test_delayed_job_holds_back_later_jobs_of_its_partition(driver):
    """Order is kept at any price, except on the agenda."""
    await driver.put("later", after_s=10)
    await driver.put("now")
    assert await driver.claim() is None
    assert await driver.next_due() == driver.clock() + 10_000_000
    driver.clock.tick(seconds=10)

    assert await driver.work() == ["later", "now"]


async def test_agenda_jobs_become_due_independently(driver):
    await driver.put("later", queue="agenda", after_s=10)
    await driver.put("sooner", queue="agenda", after_s=5)
    await driver.put("now", queue="agenda")
    assert await driver.work(queue="agenda") == ["now"]
    assert await driver.work(queue="agenda") == []
    driver.clock.tick(seconds=5)
    assert await driver.work(queue="agenda") == ["sooner"]
    driver.clock.tick(seconds=5)

    assert await driver.work(queue="agenda") == ["later"]


async def test_next_due_is_none_for_an_empty_or_leased_partition(driver):
    assert await driver.next_due() is None
    await driver.put("one")
    claim = await driver.claimed()
    assert await driver.next_due() is None  # somebody is at it
    await driver.finish(claim)
    await driver.release(claim)

    assert await driver.next_due() is None


async def test_job_payload_round_trips(driver, db):
    """Whatever a language or a platform comes up with."""
    body = {"text": "ça \x00 \ud800 記憶", "list": [1, 2.5, None, True], "in": {"a": {}}}
    async with db.begin_write() as tx:
        put = await job_queue.enqueue(
            tx, "outbox", "a", body, person=None, now=5, due_at=7, dedup_key="k", group="g"
        )
    (found,) = await driver.jobs()

    assert found == put
    assert found.payload == body


# Leases


async def test_expired_lease_is_taken_over_with_unfinished_jobs(driver):
    await driver.put("one")
    lost = await driver.claimed(owner="frozen", lease_s=30)
    await driver.let_real_time_pass(29)
    assert await driver.claim() is None
    await driver.let_real_time_pass(1)
    taken = await driver.claimed(owner="awake")

    assert texts(taken) == ["one"]
    assert taken.epoch == lost.epoch + 1
    assert (taken.jobs[0].attempts, taken.jobs[0].crashes) == (1, 1)


async def test_worker_that_lost_its_lease_cannot_write(driver):
    """A worker that was presumed dead wakes up after another has taken its partition."""
    await driver.put("one")
    late = await driver.claimed()
    await driver.let_real_time_pass(30)
    await driver.claimed()

    with pytest.raises(LeaseLost):
        await driver.finish(late)
    with pytest.raises(LeaseLost):
        await driver.fail(late, retry_s=1)
    assert not await driver.extend(late)
    await driver.release(late)  # has nothing to give back
    assert await driver.claim() is None  # the other holds it still
    assert [job.payload["text"] for job in await driver.jobs()] == ["one"]


async def test_worker_that_released_its_lease_cannot_write(driver):
    await driver.put("one")
    claim = await driver.claimed()
    await driver.release(claim)
    assert not await driver.extend(claim)
    with pytest.raises(LeaseLost, match="inbox a"):
        await driver.finish(claim)


async def test_expired_lease_stays_valid_until_taken_over(driver):
    """Work that is done is not thrown away for being slow."""
    await driver.put("one")
    claim = await driver.claimed()
    await driver.let_real_time_pass(300)
    assert await driver.extend(claim)
    assert await driver.claim() is None
    await driver.finish(claim)

    assert await driver.jobs() == []


async def test_heartbeat_extends_a_lease(driver):
    await driver.put("one")
    claim = await driver.claimed(lease_s=30)
    for _ in range(5):
        await driver.let_real_time_pass(20)
        assert await driver.extend(claim, lease_s=30)

    assert await driver.claim() is None


async def test_clock_set_back_does_not_keep_a_partition_leased(driver):
    """A lease that seems to end later than any lease can was given by another time."""
    await driver.put("one")
    await driver.claimed()
    await driver.let_real_time_pass(-3600)

    assert texts(await driver.claim()) == ["one"]


@pytest.mark.parametrize("queue", ["inbox", "outbox", "agenda"])
@pytest.mark.parametrize("partition", [None, "a"])
async def test_job_enqueued_by_a_fast_clock_is_due_now(driver, queue, partition):
    """What was put tomorrow is due now, and so is what stands behind it."""
    driver.clock.tick(minutes=60 * 24)
    await driver.put("one", queue=queue)
    driver.clock.tick(minutes=-60 * 24)
    await driver.put("two", queue=queue)
    await driver.put("later", partition="b", queue=queue, after_s=100)

    assert sorted(await driver.work(queue=queue, partition=partition)) == ["one", "two"]


async def test_job_enqueued_by_a_fast_clock_keeps_its_retry_delay(driver):
    driver.clock.tick(minutes=60 * 24)
    await driver.put("one")
    driver.clock.tick(minutes=-60 * 24)
    claim = await driver.claimed()
    await driver.fail(claim, retry_s=5)
    await driver.release(claim)
    assert await driver.claim() is None
    driver.clock.tick(seconds=5)

    assert texts(await driver.claim()) == ["one"]


async def test_small_clock_difference_delays_a_job_normally(driver):
    driver.clock.tick(seconds=59)
    await driver.put("one")
    driver.clock.tick(seconds=-59)

    assert await driver.claim() is None


async def test_clock_set_forward_expires_the_lease_but_loses_no_job(driver):
    await driver.put("one")
    early = await driver.claimed()
    await driver.let_real_time_pass(3600)
    claim = await driver.claimed()
    with pytest.raises(LeaseLost):
        await driver.finish(early)
    await driver.finish(claim)

    assert await driver.jobs() == []


async def test_simulated_clock_jump_does_not_affect_leases(driver):
    """Simulated time is for what is due, not for who is at work."""
    await driver.put("one")
    claim = await driver.claimed()
    driver.clock.tick(minutes=60 * 24 * 365)
    assert await driver.claim() is None
    driver.clock.tick(minutes=-60 * 24 * 365 * 2)
    assert await driver.claim() is None
    await driver.finish(claim)

    assert await driver.jobs() == []


async def test_partition_is_free_again_after_crash_between_ack_and_release(driver):
    await driver.put("one")
    dead = await driver.claimed()
    await driver.finish(dead)
    await driver.let_real_time_pass(30)
    assert await driver.claim() is None
    await driver.put("two")

    assert texts(await driver.claim()) == ["two"]
    with pytest.raises(LeaseLost):
        await driver.finish(dead)


async def test_lease_longer_than_the_maximum_is_refused(driver):
    with pytest.raises(InvalidInput, match="120 s"):
        await driver.claim(lease_s=121)


# Keys


async def test_duplicate_job_key_is_enqueued_once(driver):
    assert await driver.put("one", key="m1") is not None
    assert await driver.put("one", key="m1") is None
    assert await driver.work() == ["one"]
    driver.clock.tick(minutes=60 * 24 * 29)
    assert await driver.put("one", key="m1") is None

    assert await driver.claim() is None


async def test_same_key_in_another_partition_is_another_job(driver):
    assert await driver.put("one", partition="a", key="1") is not None
    assert await driver.put("two", partition="b", key="1") is not None
    assert await driver.put("three", partition="a", queue="outbox", key="1") is not None


async def test_expired_dedup_keys_are_deleted_in_small_batches(driver):
    for number in range(30):
        await driver.put(number, key=f"{number:02}")
    await driver.work()
    await driver.put("stays", partition="b", key="open")
    driver.clock.tick(minutes=60 * 24 * 31)
    assert len(await driver.keys()) == 31
    await driver.put("new", partition="c", key="young")
    claim = await driver.claimed(partition="c")
    await driver.finish(claim)
    assert len(await driver.keys()) == 32 - 20
    async with driver.db.begin_write() as tx:
        assert await delete_expired_keys(tx, driver.clock()) == 10

    assert await driver.keys() == ["open", "young"]


# Waking


@SEVERAL_PROCESSES
async def test_waiting_process_is_woken_when_a_partition_becomes_ready(driver, database_url):
    """Also for a job that is due later, to know until when to sleep."""
    other = await open_database(database_url)
    for after_s in (0, 60):
        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(other.wait_for_change())
            while not waiting.done():
                await driver.put(
                    "one", partition=f"lane {driver.clock.tick(seconds=1)}", after_s=after_s
                )
                await asyncio.sleep(0.05)
    await other.close()


@pytest.mark.parametrize("queue", ["inbox", "outbox", "agenda"])
async def test_retry_delayed_by_a_fast_clock_is_due_once_the_clock_is_corrected(driver, queue):
    """Though it was put before: who put it off said when it is due."""
    await driver.put("one", queue=queue)
    driver.clock.tick(minutes=60 * 24 * 30)
    claim = await driver.claimed(queue=queue)
    await driver.fail(claim, retry_s=5)
    await driver.release(claim)
    assert await driver.claim(queue=queue) is None
    driver.clock.tick(minutes=-60 * 24 * 30)

    assert texts(await driver.claim(queue=queue)) == ["one"]


@pytest.mark.parametrize(("due_in", "is_done"), [(DAY, True), (None, False)])
async def test_rescheduled_job_is_due_after_clock_correction_but_paused_one_is_not(
    driver, due_in, is_done
):
    """Who pauses old talk has not said when it is to go on."""
    await driver.put("one", queue="agenda", after_s=60)
    driver.clock.tick(minutes=60 * 24 * 30)
    now = driver.clock()
    async with driver.db.begin_write() as tx:
        due_at = MAX_TIME if due_in is None else now + due_in
        await job_queue.reschedule_jobs(tx, "agenda", "a", from_seq=0, due_at=due_at, now=now)
    driver.clock.tick(minutes=-60 * 24 * 30)

    assert (await driver.claim(queue="agenda") is not None) == is_done

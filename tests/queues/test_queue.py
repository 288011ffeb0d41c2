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


async def test_letters_of_a_lane_come_in_the_order_in_which_they_were_put(post):
    for number in range(5):
        await post.put(number)
    claim = await post.claimed()

    assert texts(claim) == [0, 1, 2, 3, 4]
    assert (claim.queue, claim.partition, claim.owner, claim.epoch) == ("inbox", "a", "worker", 1)


async def test_no_more_than_can_be_dealt_with_is_handed_out_at_once(post):
    for number in range(MAX_CLAIMED_JOBS + 3):
        await post.put(number)
    claim = await post.claimed()
    await post.finish(claim)
    await post.release(claim)

    assert texts(claim) == list(range(MAX_CLAIMED_JOBS))
    assert texts(await post.claim()) == list(range(MAX_CLAIMED_JOBS, MAX_CLAIMED_JOBS + 3))


async def test_a_lane_is_held_by_one_and_other_lanes_by_others(post):
    await post.put("one", lane="a")
    post.clock.tick(seconds=1)
    await post.put("two", lane="b")
    first, second = await post.claim(owner="x"), await post.claim(owner="y")

    assert (texts(first), texts(second)) == (["one"], ["two"])
    assert await post.claim() is None


async def test_the_lane_that_has_been_ready_longest_comes_first(post):
    for lane in "cab":
        post.clock.tick(seconds=1)
        await post.put(lane, lane=lane)

    assert await post.work() == ["c", "a", "b"]


async def test_the_queues_do_not_mix(post):
    await post.put("said", queue="inbox")
    await post.put("job", queue="agenda")

    assert texts(await post.claim(queue="agenda")) == ["job"]
    assert await post.claim(queue="outbox") is None


async def test_a_lane_can_be_asked_for_by_name(post):
    await post.put("one", lane="a")
    await post.put("two", lane="b")

    assert texts(await post.claim(lane="b")) == ["two"]
    assert await post.claim(lane="b") is None
    assert await post.claim(lane="nobody's") is None


async def test_what_comes_into_a_held_lane_waits_and_can_be_seen(post):
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


async def test_what_was_not_finished_is_there_again_after_a_release(post):
    await post.put("one")
    await post.put("two")
    claim = await post.claimed()
    await post.finish(claim, claim.jobs[0])
    await post.release(claim)

    assert texts(await post.claim()) == ["two"]


async def test_a_letter_that_is_due_later_holds_up_those_behind_it(post):
    """Order is kept at any price, except on the agenda."""
    await post.put("later", after_s=10)
    await post.put("now")
    assert await post.claim() is None
    assert await post.next_due() == post.clock() + 10_000_000
    post.clock.tick(seconds=10)

    assert await post.work() == ["later", "now"]


async def test_on_the_agenda_each_letter_becomes_due_by_itself(post):
    await post.put("later", queue="agenda", after_s=10)
    await post.put("sooner", queue="agenda", after_s=5)
    await post.put("now", queue="agenda")
    assert await post.work(queue="agenda") == ["now"]
    assert await post.work(queue="agenda") == []
    post.clock.tick(seconds=5)
    assert await post.work(queue="agenda") == ["sooner"]
    post.clock.tick(seconds=5)

    assert await post.work(queue="agenda") == ["later"]


async def test_nothing_is_due_where_nothing_waits(post):
    assert await post.next_due() is None
    await post.put("one")
    claim = await post.claimed()
    assert await post.next_due() is None  # somebody is at it
    await post.finish(claim)
    await post.release(claim)

    assert await post.next_due() is None


async def test_everything_in_a_letter_comes_back_as_it_was_put(post, db):
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


async def test_a_lease_that_is_over_is_taken_over_with_what_was_not_done(post):
    await post.put("one")
    lost = await post.claimed(owner="frozen", lease_s=30)
    await post.let_real_time_pass(29)
    assert await post.claim() is None
    await post.let_real_time_pass(1)
    taken = await post.claimed(owner="awake")

    assert texts(taken) == ["one"]
    assert taken.epoch == lost.epoch + 1
    assert (taken.jobs[0].attempts, taken.jobs[0].crashes) == (1, 1)


async def test_who_comes_late_cannot_write(post):
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


async def test_who_gave_a_lane_back_cannot_write_either(post):
    await post.put("one")
    claim = await post.claimed()
    await post.release(claim)
    assert not await post.extend(claim)
    with pytest.raises(LeaseLost, match="inbox a"):
        await post.finish(claim)


async def test_a_lease_that_is_over_holds_as_long_as_nobody_else_comes(post):
    """Work that is done is not thrown away for being slow."""
    await post.put("one")
    claim = await post.claimed()
    await post.let_real_time_pass(300)
    assert await post.extend(claim)
    assert await post.claim() is None
    await post.finish(claim)

    assert await post.letters() == []


async def test_a_heartbeat_keeps_a_lane(post):
    await post.put("one")
    claim = await post.claimed(lease_s=30)
    for _ in range(5):
        await post.let_real_time_pass(20)
        assert await post.extend(claim, lease_s=30)

    assert await post.claim() is None


async def test_a_clock_that_is_set_back_does_not_lock_a_lane_for_hours(post):
    """A lease that seems to end later than any lease can was given by another time."""
    await post.put("one")
    await post.claimed()
    await post.let_real_time_pass(-3600)

    assert texts(await post.claim()) == ["one"]


@pytest.mark.parametrize("queue", ["inbox", "outbox", "agenda"])
@pytest.mark.parametrize("lane", [None, "a"])
async def test_nobody_waits_for_the_time_that_a_wrong_clock_has_shown(post, queue, lane):
    """What was put tomorrow is due now, and so is what stands behind it."""
    post.clock.tick(minutes=60 * 24)
    await post.put("one", queue=queue)
    post.clock.tick(minutes=-60 * 24)
    await post.put("two", queue=queue)
    await post.put("later", lane="b", queue=queue, after_s=100)

    assert sorted(await post.work(queue=queue, lane=lane)) == ["one", "two"]


async def test_what_was_put_by_a_wrong_clock_is_put_off_by_the_right_one(post):
    post.clock.tick(minutes=60 * 24)
    await post.put("one")
    post.clock.tick(minutes=-60 * 24)
    claim = await post.claimed()
    await post.fail(claim, retry_s=5)
    await post.release(claim)
    assert await post.claim() is None
    post.clock.tick(seconds=5)

    assert texts(await post.claim()) == ["one"]


async def test_clocks_of_two_machines_may_differ_a_little(post):
    post.clock.tick(seconds=59)
    await post.put("one")
    post.clock.tick(seconds=-59)

    assert await post.claim() is None


async def test_a_clock_that_is_set_forward_costs_no_more_than_the_attempt(post):
    await post.put("one")
    early = await post.claimed()
    await post.let_real_time_pass(3600)
    claim = await post.claimed()
    with pytest.raises(LeaseLost):
        await post.finish(early)
    await post.finish(claim)

    assert await post.letters() == []


async def test_a_house_whose_time_jumps_keeps_its_leases(post):
    """Simulated time is for what is due, not for who is at work."""
    await post.put("one")
    claim = await post.claimed()
    post.clock.tick(minutes=60 * 24 * 365)
    assert await post.claim() is None
    post.clock.tick(minutes=-60 * 24 * 365 * 2)
    assert await post.claim() is None
    await post.finish(claim)

    assert await post.letters() == []


async def test_a_lane_whose_holder_died_between_finishing_and_letting_go_is_free_again(post):
    await post.put("one")
    dead = await post.claimed()
    await post.finish(dead)
    await post.let_real_time_pass(30)
    assert await post.claim() is None
    await post.put("two")

    assert texts(await post.claim()) == ["two"]
    with pytest.raises(LeaseLost):
        await post.finish(dead)


async def test_a_lease_longer_than_any_may_be_is_refused(post):
    with pytest.raises(InvalidInput, match="120 s"):
        await post.claim(lease_s=121)


# Keys


async def test_a_letter_is_put_once_however_often_it_is_delivered(post):
    assert await post.put("one", key="m1") is not None
    assert await post.put("one", key="m1") is None
    assert await post.work() == ["one"]
    post.clock.tick(minutes=60 * 24 * 29)
    assert await post.put("one", key="m1") is None

    assert await post.claim() is None


async def test_the_same_key_in_another_lane_is_another_letter(post):
    assert await post.put("one", lane="a", key="1") is not None
    assert await post.put("two", lane="b", key="1") is not None
    assert await post.put("three", lane="a", queue="outbox", key="1") is not None


async def test_keys_are_forgotten_in_small_steps_a_month_after_their_letters(post):
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
async def test_whoever_sleeps_is_woken_when_an_idle_lane_becomes_ready(post, database_url):
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
async def test_what_was_put_off_by_a_clock_that_was_ahead_is_due_when_it_is_right_again(
    post, queue
):
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
async def test_what_was_postponed_by_a_clock_that_was_ahead_is_done_what_was_paused_is_not(
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

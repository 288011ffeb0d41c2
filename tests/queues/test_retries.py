"""What fails is tried again or set aside, with what belongs to it; the rest goes on."""

import pytest

from oldfriend.domain.errors import InvalidInput, LeaseLost, NotFound
from oldfriend.queues import queue as job_queue
from oldfriend.queues.jobs_table import MAX_CLAIMED_JOBS
from tests.queues.conftest import texts


async def test_failed_job_is_retried_when_due_before_later_jobs(driver):
    await driver.put("one")
    claim = await driver.claimed()
    await driver.put("two")
    await driver.fail(claim, error="timeout", retry_s=5)
    await driver.release(claim)
    assert await driver.claim() is None
    driver.clock.tick(seconds=5)
    again = await driver.claimed()

    assert texts(again) == ["one", "two"]
    assert [(job.attempts, job.error) for job in again.jobs] == [
        (2, "timeout"),
        (0, None),
    ]


async def test_failure_by_an_outage_does_not_count_as_an_attempt(driver):
    await driver.put("one")
    for _ in range(20):
        claim = await driver.claimed()
        await driver.fail(claim, counts=False, retry_s=0)
        await driver.release(claim)

    assert [job.attempts for job in await driver.jobs()] == [0]


async def test_only_the_failed_job_of_a_claim_counts_an_attempt(driver):
    await driver.put("one")
    await driver.put("two")
    claim = await driver.claimed()
    assert [job.attempts for job in claim.jobs] == [1, 0]
    await driver.fail(claim, job=claim.jobs[1], retry_s=0)

    assert [job.attempts for job in await driver.jobs()] == [0, 1]


async def test_dead_letter_does_not_block_later_jobs(driver):
    await driver.put("bad")
    await driver.put("good")
    claim = await driver.claimed()
    await driver.fail(claim, error="cannot be read")
    await driver.release(claim)

    assert await driver.work() == ["good"]
    (failed,) = await driver.jobs(failed=True)
    assert (failed.payload["text"], failed.error, failed.attempts) == ("bad", "cannot be read", 1)
    assert failed.is_dead_letter


async def test_job_that_crashes_its_workers_alone_becomes_a_dead_letter(driver):
    """After so many deaths of those who did nothing else; each time it is left alone for longer."""
    await driver.put("deadly")
    await driver.put("harmless")
    await park_deadly(driver)

    assert texts(await driver.claim(owner="next", max_crashes=3)) == ["harmless"]
    (failed,) = await driver.jobs(failed=True)
    assert (failed.payload["text"], failed.crashes, failed.isolated_crashes) == ("deadly", 3, 3)
    assert "3 attempts" in failed.error


async def test_worker_crash_with_other_jobs_is_not_counted_against_a_job(driver):
    """Whoever worked on it was doing something else, too, of which they may have died."""
    await driver.put("harmless")
    for crash in range(50):
        claim = await driver.claimed(owner=f"{crash}", max_crashes=3)
        assert texts(claim) == ["harmless"]
        assert claim.dead_letters == ()
        await driver.let_real_time_pass(30)
    (job,) = await driver.jobs()

    assert (job.crashes, job.isolated_crashes, job.attempts) == (49, 0, 0)


async def test_counted_failure_resets_the_isolated_crash_count(driver):
    """What fails by an error has taken nobody down; what was interrupted may still do so."""
    await driver.put("odd")
    await driver.claimed(owner="doomed", is_isolated=True)
    await driver.let_real_time_pass(30)
    assert await driver.claim(owner="too early") is None
    driver.clock.tick(seconds=2)
    blamed = []
    for counts in (False, True):
        claim = await driver.claimed(owner="next")
        await driver.fail(claim, retry_s=0, counts=counts)
        await driver.release(claim)
        blamed += [job.isolated_crashes for job in await driver.jobs()]

    assert blamed == [1, 0]


async def test_reclaiming_own_expired_lease_counts_no_crash(driver):
    """A store that is away for longer than a lease is nobody's death."""
    await driver.put("harmless")
    for _ in range(9):
        claim = await driver.claimed(owner="alive", is_isolated=True, max_crashes=3)
        assert claim.dead_letters == ()
        await driver.let_real_time_pass(30)
    (job,) = await driver.jobs()

    assert (job.crashes, job.isolated_crashes) == (0, 0)


async def park_deadly(driver) -> None:
    """One worker after another dies of what waits, alone."""
    for crash in range(3):
        claim = await driver.claimed(owner=f"{crash}", max_crashes=3, is_isolated=True)
        assert claim.dead_letters == ()
        await driver.let_real_time_pass(30)
        if crash < 2:
            assert await driver.claim(owner="too early", max_crashes=3) is None
            driver.clock.tick(seconds=2 ** (crash + 1))


async def test_claim_reports_new_dead_letters_with_their_group(driver):
    """With all that belongs to it, so that they can own up to it."""
    await driver.put("deadly", group="turn")
    await driver.put("and more of it", group="turn")
    await driver.put("harmless")
    await park_deadly(driver)
    claim = await driver.claimed(owner="next", max_crashes=3)

    assert texts(claim) == ["harmless"]
    assert claim.dead_letters == tuple(await driver.jobs(failed=True))
    assert [job.payload["text"] for job in claim.dead_letters] == ["deadly", "and more of it"]


async def test_claim_reports_dead_letters_even_if_no_job_is_due(driver):
    """The partition is held until that is done."""
    await driver.put("deadly")
    await driver.claimed(owner="doomed", is_isolated=True)
    await driver.let_real_time_pass(30)
    claim = await driver.claimed(max_crashes=1)
    assert (claim.jobs, len(claim.dead_letters)) == ((), 1)
    await driver.put("harmless")
    assert await driver.claim() is None
    async with driver.db.begin_write() as tx:
        come = await job_queue.claim_new_jobs(tx, claim, now=driver.clock())
    await driver.release(claim)

    assert [job.payload["text"] for job in come] == ["harmless"]
    assert texts(await driver.claim()) == ["harmless"]


async def test_undeliverable_part_holds_back_only_its_own_reply(driver):
    for text, group in (("1a", "r1"), ("1b", "r1"), ("1c", "r1"), ("2a", "r2")):
        await driver.put(text, queue="outbox", group=group)
    claim = await driver.claimed(queue="outbox")
    await driver.finish(claim, claim.jobs[0])
    await driver.fail(claim, job=claim.jobs[1], error="blocked")
    await driver.release(claim)

    assert await driver.work(queue="outbox") == ["2a"]
    assert [(job.payload["text"], job.error) for job in await driver.jobs(failed=True)] == [
        ("1b", "blocked"),
        ("1c", "with job 2: blocked"),
    ]


async def test_retried_dead_letter_reply_is_sent_in_order(driver):
    for text in ("a", "b", "c"):
        await driver.put(text, queue="outbox", group="r")
    claim = await driver.claimed(queue="outbox")
    await driver.fail(claim)
    await driver.release(claim)
    await driver.put("next", queue="outbox", group="s")
    async with driver.db.begin_write() as tx:
        opened = await job_queue.retry_dead_letter(tx, "outbox", "a", 2, now=driver.clock())

    assert [job.payload["text"] for job in opened] == ["a", "b", "c"]
    assert await driver.work(queue="outbox") == ["a", "b", "c", "next"]


async def test_retried_dead_letter_starts_with_no_attempts_or_error(driver):
    await driver.put("one", key="k")
    claim = await driver.claimed()
    await driver.fail(claim)
    await driver.release(claim)
    assert await driver.next_due() is None
    async with driver.db.begin_write() as tx:
        await job_queue.retry_dead_letter(tx, "inbox", "a", 1, now=driver.clock())
    claim = await driver.claimed()

    assert [(job.attempts, job.error) for job in claim.jobs] == [(1, None)]


async def test_retry_and_drop_are_refused_while_the_partition_is_leased(driver):
    """Who is at it could not know."""
    await driver.put("bad")
    await driver.put("good")
    claim = await driver.claimed()
    await driver.fail(claim)
    async with driver.db.begin_write() as tx:
        with pytest.raises(InvalidInput, match="inbox a is being worked on"):
            await job_queue.retry_dead_letter(tx, "inbox", "a", 1, now=driver.clock())
        with pytest.raises(InvalidInput, match="try again in a moment"):
            await job_queue.drop_job(tx, "inbox", "a", 2, now=driver.clock())
    await driver.release(claim)
    async with driver.db.begin_write() as tx:
        await job_queue.retry_dead_letter(tx, "inbox", "a", 1, now=driver.clock())

    assert await driver.work() == ["bad", "good"]


async def test_job_with_an_expired_lease_can_be_dropped(driver):
    """Also where nothing runs that would take the partition over; who was only slow has lost it."""
    await driver.put("deadly")
    await driver.put("harmless")
    claim = await driver.claimed()
    await driver.let_real_time_pass(30)
    async with driver.db.begin_write() as tx:
        await job_queue.drop_job(tx, "inbox", "a", 1, now=driver.clock())

    with pytest.raises(LeaseLost):
        await driver.finish(claim)
    assert await driver.work() == ["harmless"]


@pytest.mark.parametrize("queue", ["inbox", "outbox"])
async def test_job_group_is_dead_lettered_retried_and_dropped_together(driver, queue):
    """The messages of a turn, the parts of a reply; their neighbours are left alone."""
    for text, group in (("0", None), ("1a", "1"), ("1b", "1"), ("2", "2")):
        await driver.put(text, queue=queue, group=group)
    claim = await driver.claimed(queue=queue)
    await driver.finish(claim, claim.jobs[0])
    await driver.fail(claim, job=claim.jobs[1], error="bug")
    await driver.release(claim)
    assert await driver.work(queue=queue) == ["2"]
    assert [job.payload["text"] for job in await driver.jobs(failed=True)] == ["1a", "1b"]
    async with driver.db.begin_write() as tx:
        await job_queue.retry_dead_letter(tx, queue, "a", 3, now=driver.clock())
    claim = await driver.claimed(queue=queue)
    assert texts(claim) == ["1a", "1b"]
    await driver.release(claim)
    async with driver.db.begin_write() as tx:
        await job_queue.drop_job(tx, queue, "a", 2, now=driver.clock())

    assert await driver.jobs() == []


async def test_job_group_is_claimed_together_at_the_claim_limit(driver):
    """However much is due before it."""
    for number in range(MAX_CLAIMED_JOBS - 1):
        await driver.put(number)
    for number in range(3):
        await driver.put(number, group="turn")
    claim = await driver.claimed()
    async with driver.db.begin_write() as tx:
        come = await job_queue.claim_new_jobs(tx, claim, now=driver.clock())

    assert texts(claim) == list(range(MAX_CLAIMED_JOBS - 1))
    assert [job.payload["text"] for job in come] == [0, 1, 2]


async def test_dropped_job_is_removed_with_its_whole_group(driver):
    for text, group in (("1a", "r1"), ("1b", "r1"), ("2a", "r2")):
        await driver.put(text, queue="outbox", group=group, key=text)
    async with driver.db.begin_write() as tx:
        dropped = await job_queue.drop_job(tx, "outbox", "a", 1, now=driver.clock())

    assert [job.payload["text"] for job in dropped] == ["1a", "1b"]
    assert await driver.put("1a again", queue="outbox", group="r1", key="1a") is None
    assert await driver.work(queue="outbox") == ["2a"]


async def test_retry_or_drop_of_an_unknown_job_raises_not_found(driver):
    async with driver.db.begin_write() as tx:
        with pytest.raises(NotFound, match="There is no job 7 in inbox a"):
            await job_queue.retry_dead_letter(tx, "inbox", "a", 7, now=0)
        with pytest.raises(NotFound):
            await job_queue.drop_job(tx, "inbox", "a", 7, now=0)

"""What fails is tried again or set aside, with what belongs to it; the rest goes on."""

import pytest

from oldfriend.domain.errors import InvalidInput, LeaseLost, NotFound
from oldfriend.queues import queue as lanes
from oldfriend.queues.jobs_table import MAX_CLAIMED_JOBS
from tests.queues.conftest import texts


async def test_failed_job_is_retried_when_due_before_later_jobs(post):
    await post.put("one")
    claim = await post.claimed()
    await post.put("two")
    await post.fail(claim, error="timeout", retry_s=5)
    await post.release(claim)
    assert await post.claim() is None
    post.clock.tick(seconds=5)
    again = await post.claimed()

    assert texts(again) == ["one", "two"]
    assert [(letter.attempts, letter.error) for letter in again.jobs] == [
        (2, "timeout"),
        (0, None),
    ]


async def test_failure_by_an_outage_does_not_count_as_an_attempt(post):
    await post.put("one")
    for _ in range(20):
        claim = await post.claimed()
        await post.fail(claim, counts=False, retry_s=0)
        await post.release(claim)

    assert [letter.attempts for letter in await post.letters()] == [0]


async def test_only_the_failed_job_of_a_claim_counts_an_attempt(post):
    await post.put("one")
    await post.put("two")
    claim = await post.claimed()
    assert [letter.attempts for letter in claim.jobs] == [1, 0]
    await post.fail(claim, letter=claim.jobs[1], retry_s=0)

    assert [letter.attempts for letter in await post.letters()] == [0, 1]


async def test_dead_letter_does_not_block_later_jobs(post):
    await post.put("bad")
    await post.put("good")
    claim = await post.claimed()
    await post.fail(claim, error="cannot be read")
    await post.release(claim)

    assert await post.work() == ["good"]
    (parked,) = await post.letters(parked=True)
    assert (parked.payload["text"], parked.error, parked.attempts) == ("bad", "cannot be read", 1)
    assert parked.is_dead_letter


async def test_job_that_crashes_its_workers_alone_becomes_a_dead_letter(post):
    """After so many deaths of those who did nothing else; each time it is left alone for longer."""
    await post.put("deadly")
    await post.put("harmless")
    await park_deadly(post)

    assert texts(await post.claim(owner="next", most_deaths=3)) == ["harmless"]
    (parked,) = await post.letters(parked=True)
    assert (parked.payload["text"], parked.crashes, parked.isolated_crashes) == ("deadly", 3, 3)
    assert "3 attempts" in parked.error


async def test_worker_crash_with_other_jobs_is_not_counted_against_a_job(post):
    """Whoever worked on it was doing something else, too, of which they may have died."""
    await post.put("harmless")
    for death in range(50):
        claim = await post.claimed(owner=f"{death}", most_deaths=3)
        assert texts(claim) == ["harmless"]
        assert claim.dead_letters == ()
        await post.let_real_time_pass(30)
    (letter,) = await post.letters()

    assert (letter.crashes, letter.isolated_crashes, letter.attempts) == (49, 0, 0)


async def test_counted_failure_resets_the_isolated_crash_count(post):
    """What fails by an error has taken nobody down; what was interrupted may still do so."""
    await post.put("odd")
    await post.claimed(owner="doomed", is_alone=True)
    await post.let_real_time_pass(30)
    assert await post.claim(owner="too early") is None
    post.clock.tick(seconds=2)
    blamed = []
    for counts in (False, True):
        claim = await post.claimed(owner="next")
        await post.fail(claim, retry_s=0, counts=counts)
        await post.release(claim)
        blamed += [letter.isolated_crashes for letter in await post.letters()]

    assert blamed == [1, 0]


async def test_reclaiming_own_expired_lease_counts_no_crash(post):
    """A store that is away for longer than a lease is nobody's death."""
    await post.put("harmless")
    for _ in range(9):
        claim = await post.claimed(owner="alive", is_alone=True, most_deaths=3)
        assert claim.dead_letters == ()
        await post.let_real_time_pass(30)
    (letter,) = await post.letters()

    assert (letter.crashes, letter.isolated_crashes) == (0, 0)


async def park_deadly(post) -> None:
    """One worker after another dies of what waits, alone."""
    for death in range(3):
        claim = await post.claimed(owner=f"{death}", most_deaths=3, is_alone=True)
        assert claim.dead_letters == ()
        await post.let_real_time_pass(30)
        if death < 2:
            assert await post.claim(owner="too early", most_deaths=3) is None
            post.clock.tick(seconds=2 ** (death + 1))


async def test_claim_reports_new_dead_letters_with_their_group(post):
    """With all that belongs to it, so that they can own up to it."""
    await post.put("deadly", group="turn")
    await post.put("and more of it", group="turn")
    await post.put("harmless")
    await park_deadly(post)
    claim = await post.claimed(owner="next", most_deaths=3)

    assert texts(claim) == ["harmless"]
    assert claim.dead_letters == tuple(await post.letters(parked=True))
    assert [letter.payload["text"] for letter in claim.dead_letters] == ["deadly", "and more of it"]


async def test_claim_reports_dead_letters_even_if_no_job_is_due(post):
    """The lane is held until that is done."""
    await post.put("deadly")
    await post.claimed(owner="doomed", is_alone=True)
    await post.let_real_time_pass(30)
    claim = await post.claimed(most_deaths=1)
    assert (claim.jobs, len(claim.dead_letters)) == ((), 1)
    await post.put("harmless")
    assert await post.claim() is None
    async with post.db.begin_write() as tx:
        come = await lanes.claim_new_jobs(tx, claim, now=post.clock())
    await post.release(claim)

    assert [letter.payload["text"] for letter in come] == ["harmless"]
    assert texts(await post.claim()) == ["harmless"]


async def test_undeliverable_part_holds_back_only_its_own_reply(post):
    for text, group in (("1a", "r1"), ("1b", "r1"), ("1c", "r1"), ("2a", "r2")):
        await post.put(text, queue="outbox", group=group)
    claim = await post.claimed(queue="outbox")
    await post.finish(claim, claim.jobs[0])
    await post.fail(claim, letter=claim.jobs[1], error="blocked")
    await post.release(claim)

    assert await post.work(queue="outbox") == ["2a"]
    assert [
        (letter.payload["text"], letter.error) for letter in await post.letters(parked=True)
    ] == [
        ("1b", "blocked"),
        ("1c", "with job 2: blocked"),
    ]


async def test_retried_dead_letter_reply_is_sent_in_order(post):
    for text in ("a", "b", "c"):
        await post.put(text, queue="outbox", group="r")
    claim = await post.claimed(queue="outbox")
    await post.fail(claim)
    await post.release(claim)
    await post.put("next", queue="outbox", group="s")
    async with post.db.begin_write() as tx:
        opened = await lanes.retry_dead_letter(tx, "outbox", "a", 2, now=post.clock())

    assert [letter.payload["text"] for letter in opened] == ["a", "b", "c"]
    assert await post.work(queue="outbox") == ["a", "b", "c", "next"]


async def test_retried_dead_letter_starts_with_no_attempts_or_error(post):
    await post.put("one", key="k")
    claim = await post.claimed()
    await post.fail(claim)
    await post.release(claim)
    assert await post.next_due() is None
    async with post.db.begin_write() as tx:
        await lanes.retry_dead_letter(tx, "inbox", "a", 1, now=post.clock())
    claim = await post.claimed()

    assert [(letter.attempts, letter.error) for letter in claim.jobs] == [(1, None)]


async def test_retry_and_drop_are_refused_while_the_partition_is_leased(post):
    """Who is at it could not know."""
    await post.put("bad")
    await post.put("good")
    claim = await post.claimed()
    await post.fail(claim)
    async with post.db.begin_write() as tx:
        with pytest.raises(InvalidInput, match="inbox a is being worked on"):
            await lanes.retry_dead_letter(tx, "inbox", "a", 1, now=post.clock())
        with pytest.raises(InvalidInput, match="try again in a moment"):
            await lanes.drop_job(tx, "inbox", "a", 2, now=post.clock())
    await post.release(claim)
    async with post.db.begin_write() as tx:
        await lanes.retry_dead_letter(tx, "inbox", "a", 1, now=post.clock())

    assert await post.work() == ["bad", "good"]


async def test_job_with_an_expired_lease_can_be_dropped(post):
    """Also where nothing runs that would take the lane over; who was only slow has lost it."""
    await post.put("deadly")
    await post.put("harmless")
    claim = await post.claimed()
    await post.let_real_time_pass(30)
    async with post.db.begin_write() as tx:
        await lanes.drop_job(tx, "inbox", "a", 1, now=post.clock())

    with pytest.raises(LeaseLost):
        await post.finish(claim)
    assert await post.work() == ["harmless"]


@pytest.mark.parametrize("queue", ["inbox", "outbox"])
async def test_job_group_is_dead_lettered_retried_and_dropped_together(post, queue):
    """The messages of a turn, the parts of a reply; their neighbours are left alone."""
    for text, group in (("0", None), ("1a", "1"), ("1b", "1"), ("2", "2")):
        await post.put(text, queue=queue, group=group)
    claim = await post.claimed(queue=queue)
    await post.finish(claim, claim.jobs[0])
    await post.fail(claim, letter=claim.jobs[1], error="bug")
    await post.release(claim)
    assert await post.work(queue=queue) == ["2"]
    assert [letter.payload["text"] for letter in await post.letters(parked=True)] == ["1a", "1b"]
    async with post.db.begin_write() as tx:
        await lanes.retry_dead_letter(tx, queue, "a", 3, now=post.clock())
    claim = await post.claimed(queue=queue)
    assert texts(claim) == ["1a", "1b"]
    await post.release(claim)
    async with post.db.begin_write() as tx:
        await lanes.drop_job(tx, queue, "a", 2, now=post.clock())

    assert await post.letters() == []


async def test_job_group_is_claimed_together_at_the_claim_limit(post):
    """However much is due before it."""
    for number in range(MAX_CLAIMED_JOBS - 1):
        await post.put(number)
    for number in range(3):
        await post.put(number, group="turn")
    claim = await post.claimed()
    async with post.db.begin_write() as tx:
        come = await lanes.claim_new_jobs(tx, claim, now=post.clock())

    assert texts(claim) == list(range(MAX_CLAIMED_JOBS - 1))
    assert [letter.payload["text"] for letter in come] == [0, 1, 2]


async def test_dropped_job_is_removed_with_its_whole_group(post):
    for text, group in (("1a", "r1"), ("1b", "r1"), ("2a", "r2")):
        await post.put(text, queue="outbox", group=group, key=text)
    async with post.db.begin_write() as tx:
        dropped = await lanes.drop_job(tx, "outbox", "a", 1, now=post.clock())

    assert [letter.payload["text"] for letter in dropped] == ["1a", "1b"]
    assert await post.put("1a again", queue="outbox", group="r1", key="1a") is None
    assert await post.work(queue="outbox") == ["2a"]


async def test_retry_or_drop_of_an_unknown_job_raises_not_found(post):
    async with post.db.begin_write() as tx:
        with pytest.raises(NotFound, match="There is no job 7 in inbox a"):
            await lanes.retry_dead_letter(tx, "inbox", "a", 7, now=0)
        with pytest.raises(NotFound):
            await lanes.drop_job(tx, "inbox", "a", 7, now=0)

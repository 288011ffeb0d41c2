"""What a person says, changes or stops waits in the partition of its chat."""

import pytest

from oldfriend.domain.clock import SECOND
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import ChatId, MessageId, TurnId
from oldfriend.memory.people import ensure_person
from oldfriend.queues import inbox, queue
from oldfriend.queues.inbox import (
    BurstItem,
    InboxPayload,
    enqueue_inbox,
    find_joinable_turn,
    is_turn_waiting,
    list_turn_notices,
    parse_inbox_payload,
    take_first_turn,
)

CHAT = ChatId("chat")


@pytest.fixture
async def nora(db, clock):
    async with db.begin_write() as tx:
        return (await ensure_person(tx, "Nora", now=clock(), zone="UTC")).id


@pytest.fixture
def say(db, clock, nora):
    """Say something, as a channel accepts it; the turn that it is for."""

    async def say(name, *, kind="said", quiet_s=2, key=None, chars=10, number=None):
        now = clock()
        async with db.begin_write() as tx:
            piece = BurstItem(sender=nora, number=number, chars=chars, at=now)
            turn = None
            if kind == "said":
                turn = await find_joinable_turn(tx, CHAT, piece, debounce_s=quiet_s)
            word = InboxPayload(
                kind=kind,
                message=MessageId(name),
                version=1,
                chars=chars,
                number=number,
                dedup_key=key,
                turn=turn or TurnId(f"turn of {name}"),
            )
            job = await enqueue_inbox(tx, CHAT, nora, word, debounce_s=quiet_s, now=now)
        return None if job is None else word.turn

    return say


async def turn_in(db, clock):
    """The messages of the next turn that is due, done at once; None if none is."""
    async with db.begin_write() as tx:
        claim = await queue.claim_jobs(tx, "inbox", owner="w", now=clock(), lease_s=30)
        if claim is None:
            return None
        jobs = take_first_turn(claim.jobs)
        await queue.ack(tx, claim, jobs, now=clock())
        await queue.release_lease(tx, claim, now=clock())
    return [parse_inbox_payload(job).message for job in jobs]


async def test_debounced_burst_becomes_one_turn_with_one_id(db, clock, say):
    turns = {await say("one")}
    clock.tick(seconds=1.5)
    turns.add(await say("two"))
    clock.tick(seconds=1.5)
    turns.add(await say("three"))
    clock.tick(seconds=1.9)
    assert await turn_in(db, clock) is None
    clock.tick(seconds=0.1)

    assert await turn_in(db, clock) == ["one", "two", "three"]
    assert turns == {"turn of one"}


async def test_without_debounce_each_message_is_answered_separately(db, clock, say):
    await say("one", quiet_s=0)
    await say("two", quiet_s=0)

    assert await turn_in(db, clock) == ["one"]
    assert await turn_in(db, clock) == ["two"]


async def test_text_fragment_waits_for_its_continuation(db, clock, say):
    await say("one", quiet_s=0, chars=4_000, number=1)
    assert await turn_in(db, clock) is None
    clock.tick(seconds=1)
    await say("two", quiet_s=0, chars=10, number=2)

    assert await turn_in(db, clock) == ["one", "two"]


async def test_message_during_a_running_turn_goes_into_the_next_turn(db, clock, say):
    await say("one")
    clock.tick(seconds=2)
    async with db.begin_write() as tx:
        claim = await queue.claim_jobs(tx, "inbox", owner="w", now=clock(), lease_s=30)
    assert await say("two") == "turn of two"
    clock.tick(seconds=1)
    assert await say("three") == "turn of two"
    async with db.begin_write() as tx:
        await queue.ack(tx, claim, claim.jobs, now=clock())
        await queue.release_lease(tx, claim, now=clock())
    assert await turn_in(db, clock) is None
    clock.tick(seconds=2)

    assert await turn_in(db, clock) == ["two", "three"]


async def test_failed_turn_is_retried_without_new_messages(db, clock, say):
    """It is run again as it was, so that what was paid for can be used again."""
    await say("one")
    clock.tick(seconds=2)
    async with db.begin_write() as tx:
        claim = await queue.claim_jobs(tx, "inbox", owner="w", now=clock(), lease_s=30)
        await queue.fail_job(
            tx,
            claim,
            claim.jobs[0],
            error="503",
            now=clock(),
            counts_attempt=False,
            retry_at=clock() + 60 * SECOND,
        )
        await queue.release_lease(tx, claim, now=clock())
    assert await say("two") == "turn of two"
    clock.tick(seconds=60)

    assert await turn_in(db, clock) == ["one"]
    assert await turn_in(db, clock) == ["two"]


async def test_redelivered_message_does_not_extend_the_burst(db, clock, say):
    await say("one", key="m1")
    clock.tick(seconds=1.9)
    assert await say("one", key="m1") is None
    clock.tick(seconds=0.1)

    assert await turn_in(db, clock) == ["one"]


async def test_an_edit_stands_by_itself_and_ends_the_burst(db, clock, say):
    await say("one")
    assert await say("one, edited", kind="edited") == "turn of one, edited"
    assert await say("two") == "turn of two"
    clock.tick(seconds=2)

    assert [await turn_in(db, clock) for _ in range(4)] == [
        ["one"],
        ["one, edited"],
        ["two"],
        None,
    ]


async def test_edit_is_separate_even_with_the_turn_id_of_its_message(db, clock, nora, say):
    turn = await say("one", quiet_s=0)
    word = InboxPayload(kind="edited", message=MessageId("one"), version=2, turn=turn, chars=5)
    async with db.begin_write() as tx:
        await enqueue_inbox(tx, CHAT, nora, word, debounce_s=0, now=clock())
        claim = await queue.claim_jobs(tx, "inbox", owner="w", now=clock(), lease_s=30)

    assert take_first_turn(claim.jobs) == claim.jobs[:1]
    assert take_first_turn(claim.jobs[1:]) == claim.jobs[1:]


async def test_stop_is_claimed_immediately_by_the_lease_holder(db, clock, say):
    await say("one", quiet_s=0)
    async with db.begin_write() as tx:
        claim = await queue.claim_jobs(tx, "inbox", owner="w", now=clock(), lease_s=30)
    await say("two", quiet_s=2)
    await say("stop", kind="stop")
    async with db.begin_write() as tx:
        come = await queue.claim_new_jobs(tx, claim, now=clock())

    assert [parse_inbox_payload(job).kind for job in come] == ["stop"]


async def test_turn_claimed_by_a_fast_clock_takes_no_new_messages(db, clock, say):
    """Whoever holds the partition may have begun what seems not to be due yet."""
    await say("one")
    async with db.begin_write() as tx:
        ahead = clock() + 2 * SECOND
        await queue.claim_jobs(tx, "inbox", owner="w", now=ahead, lease_s=30)

    assert await say("two") == "turn of two"


async def test_turn_continued_by_its_lease_holder_takes_no_new_messages(db, clock, say):
    await say("one", quiet_s=0)
    async with db.begin_write() as tx:
        claim = await queue.claim_jobs(tx, "inbox", owner="w", now=clock(), lease_s=30)
    await say("two")
    assert await say("three") == "turn of two"
    async with db.begin_write() as tx:
        assert len(await queue.claim_new_jobs(tx, claim, now=clock() + 2 * SECOND)) == 2

    assert await say("four") == "turn of four"


async def test_turn_messages_fail_together_and_notices_separately(db, clock, say):
    """Parked and retried, it is the turn that it was; what became of it meanwhile is known."""
    turn = await say("one")
    await say("two")
    notice = InboxPayload(kind="edited", message=MessageId("one"), version=2, turn=turn, chars=5)
    clock.tick(seconds=2)
    async with db.begin_write() as tx:
        claim = await queue.claim_jobs(tx, "inbox", owner="w", now=clock(), lease_s=30)
        await enqueue_inbox(tx, CHAT, claim.jobs[0].person, notice, debounce_s=2, now=clock())
        assert await is_turn_waiting(tx, "inbox", CHAT, turn)
        await queue.fail_job(tx, claim, claim.jobs[0], error="x", now=clock(), retry_at=None)
        await queue.release_lease(tx, claim, now=clock())
        assert not await is_turn_waiting(tx, "inbox", CHAT, turn)
        (edited,) = await list_turn_notices(tx, CHAT, turn)
        assert not edited.is_dead_letter
        await queue.retry_dead_letter(tx, "inbox", CHAT, 2, now=clock())
        assert await is_turn_waiting(tx, "inbox", CHAT, turn)

    assert await turn_in(db, clock) == ["one", "two"]
    async with db.begin_read() as tx:
        assert await list_turn_notices(tx, CHAT, turn) == (edited,)
        assert not await is_turn_waiting(tx, "inbox", CHAT, turn)


async def test_inbox_payload_round_trips(db, nora):
    word = InboxPayload(
        kind="edited",
        message=MessageId("m"),
        version=3,
        turn=TurnId("t"),
        chars=5,
        number=9,
        dedup_key="m7",
    )
    async with db.begin_write() as tx:
        job = await enqueue_inbox(tx, CHAT, nora, word, debounce_s=0, now=0)

    assert parse_inbox_payload(job) == word
    assert job.person == nora


@pytest.mark.parametrize("body", [{}, {"kind": "sung"}, {"kind": "said", "message": 7}])
async def test_malformed_inbox_payload_error_names_the_job(db, body):
    async with db.begin_write() as tx:
        job = await queue.enqueue(tx, "inbox", "a", body, person=None, now=0)

    with pytest.raises(InvalidInput, match="Job 1 in inbox a"):
        inbox.parse_inbox_payload(job)

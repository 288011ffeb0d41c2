"""What a platform does not take now is tried again, less and less often."""

import asyncio
import random
from dataclasses import replace
from typing import Literal

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel import SENDING_UNKNOWN, ChannelCapabilities, SentLookup
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.channels.telegram.spec import TELEGRAM
from oldfriend.domain.clock import DAY, MINUTE, SECOND, Micros
from oldfriend.domain.errors import DeliveryFailed, OutcomeUnknown, WindowClosed
from oldfriend.domain.job_types import Job
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.message_log import get_message, list_messages
from oldfriend.queues.outbox import parse_reply_part, resume_held_parts
from oldfriend.queues.queue import claim_jobs, retry_dead_letter
from oldfriend.replies.outbox_worker import MIN_TRIES, deliver
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.job_handlers import run_jobs
from oldfriend.tasks.task_wording import TaskWording
from tests.app.test_turn_queue import Platform, jobs_in, with_model
from tests.clock import FrozenClock
from tests.engines import both_engines

engine = both_engines


AWAY = DeliveryFailed("away")


async def test_delivery_backoff_depends_on_attempts_and_not_on_age(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How old it is says nothing of the platform; how often it was tried does."""
    monkeypatch.setattr(random, "random", lambda: 1.0)
    platform = Platform()
    app = with_model(
        replace(app, channels={chat_context.chat.channel: platform}), ScriptedModel(["one"])
    )
    await answer_message(replace(app, channels={}), chat_context, MessageSubmission(text="first"))
    waits = []
    for _ in range(11):
        clock.tick(minutes=300)
        platform.trouble.append(AWAY)
        waits.append(await waits_after_failing(app, clock) // SECOND)

    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


async def test_old_reply_needs_minimum_attempts_to_become_a_dead_letter(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A machine that was off, and has no network yet; only what was tried for long is parked."""
    platform = Platform()
    app = with_model(
        replace(app, channels={chat_context.chat.channel: platform}), ScriptedModel(["one"])
    )
    await answer_message(replace(app, channels={}), chat_context, MessageSubmission(text="first"))
    clock.tick(minutes=3 * 24 * 60)
    for _ in range(MIN_TRIES):
        assert not (await waiting(app)).is_dead_letter
        platform.trouble.append(AWAY)
        await waits_after_failing(app, clock)
        clock.tick(minutes=6)
    failed = await waiting(app)
    async with app.db.begin_write() as tx:
        await retry_dead_letter(tx, "outbox", failed.partition, failed.seq, now=clock())
    platform.trouble.append(AWAY)
    wait = await waits_after_failing(app, clock)

    assert failed.is_dead_letter
    assert wait <= SECOND


async def test_only_words_of_a_model_are_markdown(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Where they are read and where they are sent; what quotes the person is plain."""
    app = replace(app, channels={}, platforms=frozenset({chat_context.chat.channel}))
    plain = await answer_message(app, chat_context, MessageSubmission(text="My password is a*b*c."))
    with_words = with_model(
        replace(app, channels={chat_context.chat.channel: Platform()}),
        ScriptedModel(["It is **warm**."]),
    )
    drawn = await answer_message(with_words, chat_context, MessageSubmission(text="Is it warm?"))

    async with app.db.begin_read() as tx:
        stored = [
            await get_message(tx, chat_context.person.id, each.reply.id) for each in (plain, drawn)
        ]
    assert [each.reply.is_markdown for each in (plain, drawn)] == [False, True]
    assert [each.is_markdown for each in stored] == [False, True]
    parts = [parse_reply_part(each) for each in await jobs_in(app) if each.queue == "outbox"]
    assert {each.reply: each.is_markdown for each in parts} == {
        plain.reply.id: False,
        drawn.reply.id: True,
    }


async def test_part_waits_while_the_window_is_closed_until_the_person_writes(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long; they are asked to write once, and what waits comes before any answer."""
    platform = Platform()
    monkeypatch.setitem(
        CHANNELS,
        chat_context.chat.channel,
        replace(TELEGRAM, capabilities=ChannelCapabilities(longest_text=9, reply_window=DAY)),
    )
    app = with_model(
        replace(app, channels={chat_context.chat.channel: platform}), ScriptedModel(["one"])
    )
    await answer_message(replace(app, channels={}), chat_context, MessageSubmission(text="first"))
    platform.trouble.append(WindowClosed("They have not written for a day."))
    await waits_after_failing(app, clock)
    clock.tick(minutes=40 * 24 * 60)
    async with app.db.begin_write() as tx:
        assert await claim_jobs(tx, "outbox", owner="one", now=clock(), lease_s=30) is None
        assert not (await waiting(app)).is_dead_letter
        await resume_held_parts(
            tx, chat_context.chat.channel, chat_context.chat.address, now=clock()
        )
    platform.trouble.append(WindowClosed("Still not.", until=clock() + MINUTE))
    assert await waits_after_failing(app, clock) == MINUTE
    clock.tick(minutes=1)
    await send_waiting(app, clock)

    assert len(platform.templates) == 1
    assert platform.sent == ["one"]


async def test_reminder_that_was_held_back_says_when_it_was_due(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the platform's reason; the log keeps what was written when it was due."""
    platform = Platform()
    limits = ChannelCapabilities(longest_text=200, reply_window=DAY)
    monkeypatch.setitem(CHANNELS, chat_context.chat.channel, replace(TELEGRAM, capabilities=limits))
    app = replace(
        app,
        channels={chat_context.chat.channel: platform},
        platforms=frozenset({chat_context.chat.channel}),
    )
    said = MessageSubmission(text="Remind me in 20 minutes to stretch")
    await answer_message(replace(app, channels={}), chat_context, said)
    await send_waiting(app, clock)
    clock.tick(minutes=20)
    due = clock()
    async with app.db.begin_write() as tx:
        lease = await claim_jobs(tx, "agenda", owner="one", now=due, lease_s=60)
    assert lease is not None
    await run_jobs(app, lease, asyncio.Event())
    platform.trouble.append(WindowClosed("They have not written for a day."))
    await waits_after_failing(app, clock)
    clock.tick(minutes=180)
    async with app.db.begin_write() as tx:
        await resume_held_parts(
            tx, chat_context.chat.channel, chat_context.chat.address, now=clock()
        )
    await send_waiting(app, clock)

    at = TaskWording("en", zone="Europe/Lisbon", now=clock()).format_when(due)
    assert platform.sent[-2:] == [
        "Reminder: stretch",
        f"(This was due on {at}; sorry that I'm late.)",
    ]
    async with app.db.begin_read() as tx:
        *_, logged = await list_messages(tx, chat_context.person.id)
    assert logged.text == "Reminder: stretch"


async def test_part_that_is_refused_while_they_write_is_not_held(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it, and all behind it, would wait until they write once more."""

    class Refusing(Platform):
        """A platform that refuses a part at the moment at which the person writes."""

        async def send(self, address: str, text: str, **_: object) -> str:
            await answer_message(
                replace(app, channels={}), chat_context, MessageSubmission(text="I am back")
            )
            raise WindowClosed("They had not written for a day.")

    monkeypatch.setitem(
        CHANNELS,
        chat_context.chat.channel,
        replace(TELEGRAM, capabilities=ChannelCapabilities(longest_text=9, reply_window=DAY)),
    )
    app = with_model(
        replace(app, channels={chat_context.chat.channel: Refusing()}),
        ScriptedModel(["one", "two"]),
    )
    await answer_message(replace(app, channels={}), chat_context, MessageSubmission(text="first"))

    async with app.db.begin_write() as tx:
        held = await claim_jobs(tx, "outbox", owner="one", now=clock(), lease_s=30)
    assert held is not None
    await deliver(app, held, asyncio.Event())

    due = [each.due_at for each in await jobs_in(app) if each.queue == "outbox"]
    assert len(due) == 2
    assert max(due) <= clock()


@pytest.mark.parametrize(("outcome", "sent"), [("yes", []), ("no", ["one"]), ("unknown", ["one"])])
async def test_platform_is_asked_before_a_part_is_sent_again(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    outcome: Literal["yes", "no", "unknown"],
    sent: list[str],
) -> None:
    """After an unknown outcome and after a crash; not after a refusal."""
    platform = Platform(lookup=SentLookup(outcome, "m-1"))
    app = with_model(
        replace(app, channels={chat_context.chat.channel: platform}), ScriptedModel(["one"])
    )
    reply = await answer_message(
        replace(app, channels={}), chat_context, MessageSubmission(text="first")
    )
    platform.trouble.append(AWAY)
    await waits_after_failing(app, clock)
    clock.tick(minutes=6)
    platform.trouble.append(OutcomeUnknown("No answer."))
    await waits_after_failing(app, clock)
    assert platform.asked == []
    clock.tick(minutes=6)
    enqueued_at = (await waiting(app)).enqueued_at
    await send_waiting(app, clock)

    assert platform.asked_since == [enqueued_at]
    assert platform.asked == [f"{reply.reply.id}/0"]
    assert platform.sent == sent
    async with app.db.begin_read() as tx:
        rows = await tx.rows("SELECT external_id FROM delivered")
    assert rows == [("m-1" if outcome == "yes" else platform.asked[0],)]


@pytest.mark.parametrize("error", [OutcomeUnknown("No answer."), TimeoutError()])
async def test_part_without_an_answer_is_sent_twice_at_most(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, error: Exception
) -> None:
    """Where the platform cannot be asked; then a person decides."""
    platform = Platform()
    app = with_model(
        replace(app, channels={chat_context.chat.channel: platform}), ScriptedModel(["one"])
    )
    await answer_message(replace(app, channels={}), chat_context, MessageSubmission(text="first"))
    for _ in range(3):
        platform.trouble = [error]
        await waits_after_failing(app, clock)
        clock.tick(minutes=6)
    failed = await waiting(app)
    assert failed.is_dead_letter
    assert "may have arrived" in (failed.error or "")
    assert len(platform.trouble) == 1  # it was not tried a third time
    async with app.db.begin_write() as tx:
        await retry_dead_letter(tx, "outbox", failed.partition, failed.seq, now=clock())
    platform.trouble = []
    await send_waiting(app, clock)
    assert platform.sent == ["one"]


async def test_part_is_asked_for_after_its_worker_died(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It may have been sent just before."""
    platform = Platform(lookup=SentLookup("yes", "m-1"))
    app = with_model(
        replace(app, channels={chat_context.chat.channel: platform}), ScriptedModel(["one"])
    )
    await answer_message(replace(app, channels={}), chat_context, MessageSubmission(text="first"))
    async with app.db.begin_write() as tx:
        assert await claim_jobs(tx, "outbox", owner="dead", now=clock(), lease_s=0.01)
    await asyncio.sleep(0.1)
    await send_waiting(app, clock)

    assert len(platform.asked) == 1
    assert platform.sent == []


@pytest.mark.parametrize("error", [AWAY, OutcomeUnknown("No answer."), TimeoutError()])
@pytest.mark.parametrize("has_died", [True, False])
async def test_failing_look_up_does_not_tell_that_a_part_was_not_sent(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, error: Exception, has_died: bool
) -> None:
    """The platform is asked again, however often that fails, also by whoever reopens the part."""
    platform = Platform(lookup=SentLookup("yes", "m-1"), lookup_trouble=[error] * 3)
    app = with_model(
        replace(app, channels={chat_context.chat.channel: platform}), ScriptedModel(["one"])
    )
    await answer_message(replace(app, channels={}), chat_context, MessageSubmission(text="first"))
    if has_died:
        platform.trouble.append(AWAY)
        await waits_after_failing(app, clock)
        clock.tick(minutes=6)
        async with app.db.begin_write() as tx:
            assert await claim_jobs(tx, "outbox", owner="dead", now=clock(), lease_s=0.01)
        await asyncio.sleep(0.1)
    else:
        platform.trouble.append(OutcomeUnknown("No answer."))
        await waits_after_failing(app, clock)
        clock.tick(minutes=6)
    for _ in range(3):
        await waits_after_failing(app, clock)
        clock.tick(minutes=6)
    await send_waiting(app, clock)

    assert len(platform.asked) == 4
    assert platform.sent == []


async def test_asking_without_an_answer_is_no_sending_without_one(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It was sent once, so it may be sent once more."""
    platform = Platform(lookup_trouble=[OutcomeUnknown("No answer.")] * 2)
    app = with_model(
        replace(app, channels={chat_context.chat.channel: platform}), ScriptedModel(["one"])
    )
    await answer_message(replace(app, channels={}), chat_context, MessageSubmission(text="first"))
    platform.trouble.append(OutcomeUnknown("No answer."))
    for _ in range(3):
        await waits_after_failing(app, clock)
        clock.tick(minutes=6)
    await send_waiting(app, clock)

    assert platform.sent == ["one"]


@pytest.mark.parametrize("is_window", [True, False])
async def test_refusal_does_not_take_back_that_an_earlier_attempt_may_have_been_sent(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, is_window: bool
) -> None:
    """Unless the platform has said meanwhile that it was not."""
    platform = Platform()
    app = with_model(
        replace(app, channels={chat_context.chat.channel: platform}), ScriptedModel(["one"])
    )
    await answer_message(replace(app, channels={}), chat_context, MessageSubmission(text="first"))
    refusal = WindowClosed("Not now.", until=clock() + MINUTE) if is_window else AWAY
    for trouble in (OutcomeUnknown("No answer."), refusal):
        platform.trouble.append(trouble)
        await waits_after_failing(app, clock)
        clock.tick(minutes=6)
    platform.lookup = SentLookup("no")
    platform.trouble.append(AWAY)
    await waits_after_failing(app, clock)
    clock.tick(minutes=6)
    assert len(platform.asked) == 2
    platform.lookup = SENDING_UNKNOWN
    await send_waiting(app, clock)

    assert len(platform.asked) == 2
    assert platform.sent == ["one"]


async def test_reopened_part_that_may_have_been_sent_is_asked_for(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Though its attempts start again."""
    platform = Platform(lookup=SentLookup("yes", "m-1"), lookup_trouble=[AWAY] * MIN_TRIES)
    app = with_model(
        replace(app, channels={chat_context.chat.channel: platform}), ScriptedModel(["one"])
    )
    await answer_message(replace(app, channels={}), chat_context, MessageSubmission(text="first"))
    async with app.db.begin_write() as tx:
        assert await claim_jobs(tx, "outbox", owner="dead", now=clock(), lease_s=0.01)
    await asyncio.sleep(0.1)
    clock.tick(minutes=3 * 24 * 60)
    for _ in range(MIN_TRIES):
        await waits_after_failing(app, clock)
        clock.tick(minutes=6)
    failed = await waiting(app)
    async with app.db.begin_write() as tx:
        await retry_dead_letter(tx, "outbox", failed.partition, failed.seq, now=clock())
    await send_waiting(app, clock)

    assert failed.is_dead_letter
    assert platform.sent == []


async def send_waiting(app: AppContext, clock: FrozenClock) -> None:
    """Send what is due; nothing is left."""
    async with app.db.begin_write() as tx:
        held = await claim_jobs(tx, "outbox", owner="one", now=clock(), lease_s=30)
    assert held is not None
    await deliver(app, held, asyncio.Event())
    assert not [each for each in await jobs_in(app) if each.queue == "outbox"]


async def waits_after_failing(app: AppContext, clock: FrozenClock) -> Micros:
    """How long a part waits that its platform has just not taken."""
    async with app.db.begin_write() as tx:
        held = await claim_jobs(tx, "outbox", owner="one", now=clock(), lease_s=30)
    assert held is not None
    await deliver(app, held, asyncio.Event())
    return (await waiting(app)).due_at - clock()


async def waiting(app: AppContext) -> Job:
    """The part that waits."""
    (job,) = [each for each in await jobs_in(app) if each.queue == "outbox"]
    return job

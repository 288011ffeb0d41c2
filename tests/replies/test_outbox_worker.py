"""What a platform does not take now is tried again, less and less often."""

import asyncio
import random
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.errors import DeliveryFailed
from oldfriend.domain.job_types import Job
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.queues.queue import claim, retry_dead_letter
from oldfriend.replies.outbox_worker import MIN_TRIES, deliver
from oldfriend.replies.reply_worker import answer_message
from tests.app.test_lanes_of_turns import Platform, letters_in, with_model
from tests.clock import FrozenClock
from tests.engines import both_engines

engine = both_engines


AWAY = DeliveryFailed("away")


async def test_delivery_backoff_depends_on_attempts_and_not_on_age(
    app: AppContext, line: ChatContext, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How old it is says nothing of the platform; how often it was tried does."""
    monkeypatch.setattr(random, "random", lambda: 1.0)
    platform = Platform()
    app = with_model(replace(app, channels={line.chat.channel: platform}), ScriptedModel(["one"]))
    await answer_message(replace(app, channels={}), line, MessageSubmission(text="first"))
    waits = []
    for _ in range(11):
        clock.tick(minutes=300)
        platform.trouble.append(AWAY)
        waits.append(await waits_after_failing(app, clock) // SECOND)

    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


async def test_old_reply_needs_minimum_attempts_to_become_a_dead_letter(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """A machine that was off, and has no network yet; only what was tried for long is parked."""
    platform = Platform()
    app = with_model(replace(app, channels={line.chat.channel: platform}), ScriptedModel(["one"]))
    await answer_message(replace(app, channels={}), line, MessageSubmission(text="first"))
    clock.tick(minutes=3 * 24 * 60)
    for _ in range(MIN_TRIES):
        assert not (await waiting(app)).is_dead_letter
        platform.trouble.append(AWAY)
        await waits_after_failing(app, clock)
        clock.tick(minutes=6)
    parked = await waiting(app)
    async with app.db.begin_write() as tx:
        await retry_dead_letter(tx, "outbox", parked.partition, parked.seq, now=clock())
    platform.trouble.append(AWAY)
    wait = await waits_after_failing(app, clock)

    assert parked.is_dead_letter
    assert wait <= SECOND


async def waits_after_failing(app: AppContext, clock: FrozenClock) -> Micros:
    """How long a part waits that its platform has just not taken."""
    async with app.db.begin_write() as tx:
        held = await claim(tx, "outbox", owner="one", now=clock(), lease_s=30)
    assert held is not None
    await deliver(app, held, asyncio.Event())
    return (await waiting(app)).due_at - clock()


async def waiting(app: AppContext) -> Job:
    """The part that waits."""
    (letter,) = [each for each in await letters_in(app) if each.queue == "outbox"]
    return letter

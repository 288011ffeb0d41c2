"""What a platform does not take now is tried again, less and less often."""

import asyncio
import random
from dataclasses import replace

import pytest

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.delivering import LEAST_TRIES, deliver
from oldfriend.app.house import House
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.errors import NotDelivered
from oldfriend.domain.letters import Letter
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.queues.lanes import claim, retry_letter
from tests.app.test_lanes_of_turns import Platform, letters_in, with_model
from tests.clock import FrozenClock

AWAY = NotDelivered("away")


async def test_what_only_waited_is_tried_again_soon(
    house: House, line: Line, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How old it is says nothing of the platform; how often it was tried does."""
    monkeypatch.setattr(random, "random", lambda: 1.0)
    platform = Platform()
    house = with_model(
        replace(house, channels={line.chat.channel: platform}), ScriptedModel(["one"])
    )
    await answer(replace(house, channels={}), line, Said(text="first"))
    waits = []
    for _ in range(11):
        clock.tick(minutes=300)
        platform.trouble.append(AWAY)
        waits.append(await waits_after_failing(house, clock) // SECOND)

    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


async def test_who_was_away_for_days_is_not_given_up_at_the_first_failure(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """A machine that was off, and has no network yet; only what was tried for long is parked."""
    platform = Platform()
    house = with_model(
        replace(house, channels={line.chat.channel: platform}), ScriptedModel(["one"])
    )
    await answer(replace(house, channels={}), line, Said(text="first"))
    clock.tick(minutes=3 * 24 * 60)
    for _ in range(LEAST_TRIES):
        assert not (await waiting(house)).is_parked
        platform.trouble.append(AWAY)
        await waits_after_failing(house, clock)
        clock.tick(minutes=6)
    parked = await waiting(house)
    async with house.db.writing() as tx:
        await retry_letter(tx, "outbox", parked.lane, parked.seq, now=clock())
    platform.trouble.append(AWAY)
    wait = await waits_after_failing(house, clock)

    assert parked.is_parked
    assert wait <= SECOND


async def waits_after_failing(house: House, clock: FrozenClock) -> Micros:
    """How long a part waits that its platform has just not taken."""
    async with house.db.writing() as tx:
        held = await claim(tx, "outbox", owner="one", now=clock(), lease_s=30)
    assert held is not None
    await deliver(house, held, asyncio.Event())
    return (await waiting(house)).due_at - clock()


async def waiting(house: House) -> Letter:
    """The part that waits."""
    (letter,) = [each for each in await letters_in(house) if each.queue == "outbox"]
    return letter

"""What a platform does not take now is tried again, less and less often."""

import asyncio
from dataclasses import replace

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.delivering import deliver
from oldfriend.app.house import House
from oldfriend.domain.clock import MINUTE, SECOND, Micros
from oldfriend.domain.errors import NotDelivered
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.queues.lanes import claim
from tests.app.test_lanes_of_turns import Platform, letters_in, with_model
from tests.clock import FrozenClock

AWAY = NotDelivered("away")


async def test_what_only_waited_is_tried_again_soon(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """How long it was not its turn, or nobody was there, says nothing of the platform."""
    platform = Platform(trouble=[AWAY, AWAY])
    house = with_model(
        replace(house, channels={line.chat.channel: platform}), ScriptedModel(["one"])
    )
    await answer(replace(house, channels={}), line, Said(text="first"))
    clock.tick(minutes=300)
    first = await waits_after_failing(house, clock)
    clock.tick(minutes=60)
    later = [await waits_after_failing(house, clock)]
    for _ in range(4):
        clock.tick(minutes=6)
        platform.trouble.append(AWAY)
        later.append(await waits_after_failing(house, clock))

    assert first <= SECOND
    assert max(later) > 2 * SECOND
    assert max(later) <= 5 * MINUTE


async def waits_after_failing(house: House, clock: FrozenClock) -> Micros:
    """How long a part waits that its platform has just not taken."""
    async with house.db.writing() as tx:
        held = await claim(tx, "outbox", owner="one", now=clock(), lease_s=30)
    assert held is not None
    await deliver(house, held, asyncio.Event())
    letters = await letters_in(house)
    (letter,) = [each for each in letters if each.queue == "outbox"]
    return letter.due_at - clock()

"""How is a lane kept for as long as somebody works on it, and who is told when it is lost?"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from oldfriend.app.house import House
from oldfriend.domain.errors import LeaseLost, TurnStopped
from oldfriend.domain.ids import TurnId
from oldfriend.domain.letters import Claim
from oldfriend.queues.inbox import list_notices, word_of
from oldfriend.queues.lanes import extend

LOOK_EVERY_S = 0.5
"""How long a person who says stop may have to wait for it."""

T = TypeVar("T")


async def while_held(
    house: House, claim: Claim, work: Coroutine[Any, Any, T], *, turn: TurnId | None = None
) -> T:
    """Do something for as long as the lane is held and nobody stops the turn.

    Raises LeaseLost, TurnStopped; then the work was cancelled.
    """
    try:
        async with asyncio.TaskGroup() as both:
            watching = both.create_task(watch(house, claim, turn))
            done = await work
            watching.cancel()
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from group
    return done


async def watch(house: House, claim: Claim, turn: TurnId | None) -> None:
    """Keep the lease alive, and look out for a stop. Raises LeaseLost, TurnStopped."""
    limits = house.settings.limits
    pause_s = min(LOOK_EVERY_S, limits.heartbeat_s)
    since_beat_s = 0.0
    while True:
        await asyncio.sleep(pause_s)
        since_beat_s += pause_s
        if turn is not None:
            await refuse_stopped(house, claim, turn)
        if since_beat_s >= limits.heartbeat_s:
            since_beat_s = 0.0
            async with house.db.writing() as tx:
                if not await extend(tx, claim, lease_s=limits.lease_s):
                    raise LeaseLost(f"{claim.queue} {claim.lane} was taken over.")


async def refuse_stopped(house: House, claim: Claim, turn: TurnId) -> None:
    """Raise TurnStopped when the person has said stop."""
    async with house.db.reading() as tx:
        notices = await list_notices(tx, claim.lane, turn)
    if any(word_of(notice).kind == "stop" for notice in notices):
        raise TurnStopped("The person said stop.")

"""What do several workers on one database do together? As processes of their own."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from oldfriend.app.house import House
from oldfriend.evals.processes import ProcessFailed
from oldfriend.evals.serving import STARTS_S, running
from oldfriend.queues.counting import count_waiting

LOOK_AGAIN_S: Final = 0.2


@asynccontextmanager
async def at_work(
    house: House, count: int, *, delay_s: float, sync_s: float = 0.0
) -> AsyncIterator[None]:
    """So many workers with a model that takes so long, once ready; gone afterwards.

    ``sync_s``: on a disk whose syncs take so much longer. Raises ProcessFailed.
    """
    command = [
        sys.executable, "-m", "oldfriend.evals.scripted_worker", str(house.settings.data),
        str(delay_s), str(sync_s),
    ]  # fmt: skip
    async with AsyncExitStack() as workers:
        begun = [await workers.enter_async_context(running(command)) for _ in range(count)]
        for each in begun:
            assert each.stdout is not None
            if not await asyncio.wait_for(each.stdout.readline(), STARTS_S):
                raise ProcessFailed("A worker has ended.")
        yield


async def until_answered(house: House) -> None:
    """Return once nothing is said that has no reply."""
    with house.waking.bell() as bell:
        while await any_waits(house):
            await bell.wait(LOOK_AGAIN_S)


async def any_waits(house: House) -> bool:
    """Whether something is said that has no reply yet."""
    async with house.db.reading() as tx:
        waiting = await count_waiting(tx, now=house.clock())
    return any(each.due or each.later for each in waiting if each.queue == "inbox")

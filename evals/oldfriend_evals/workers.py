"""Several workers on one database, as processes of their own."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.queues.jobs_table import load_queue_stats
from oldfriend_evals.bench_server import STARTS_S, start_process
from oldfriend_evals.processes import ProcessFailed

LOOK_AGAIN_S: Final = 0.2


@asynccontextmanager
async def run_workers(
    app: AppContext, count: int, *, delay_s: float, sync_s: float = 0.0
) -> AsyncIterator[None]:
    """So many workers with a model that takes so long, once ready; gone afterwards.

    ``sync_s``: on a disk whose syncs take so much longer. Raises ProcessFailed.
    """
    command = [
        sys.executable,
        "-m",
        "oldfriend_evals.scripted_worker",
        str(app.settings.data),
        str(delay_s),
        str(sync_s),
    ]
    async with AsyncExitStack() as workers:
        begun = [await workers.enter_async_context(start_process(command)) for _ in range(count)]
        for each in begun:
            assert each.stdout is not None
            if not await asyncio.wait_for(each.stdout.readline(), STARTS_S):
                raise ProcessFailed("A worker has ended.")
        yield


async def wait_until_answered(app: AppContext) -> None:
    """Return once nothing is said that has no reply."""
    with app.notifier.subscribe() as bell:
        while await has_unanswered(app):
            await bell.wait(LOOK_AGAIN_S)


async def has_unanswered(app: AppContext) -> bool:
    """Whether something is said that has no reply yet."""
    async with app.db.begin_read() as tx:
        waiting = await load_queue_stats(tx, now=app.clock())
    return any(each.due or each.delayed for each in waiting if each.queue == "inbox")

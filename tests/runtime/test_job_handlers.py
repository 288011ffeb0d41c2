"""Work in the background ends as it should, also where it is cut off."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.errors import StoreError
from oldfriend.inbound.accept import ChatContext
from oldfriend.learning.reflection_scheduler import enqueue_reflection
from oldfriend.queues.queue import claim_jobs
from oldfriend.runtime.job_handlers import run_job
from tests.engines import both_engines
from tests.learning.reflection_fixtures import Mind, thinking_house

engine = both_engines


class Stuck:
    """A store that answers no question, and takes nothing more once it was asked one."""

    def __init__(self, store: Database) -> None:
        """Nobody has asked it yet."""
        self.store, self.asked = store, asyncio.Event()

    @asynccontextmanager
    async def begin_read(self) -> AsyncIterator[Transaction]:
        """Not within any time."""
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError
        yield

    @asynccontextmanager
    async def begin_write(self) -> AsyncIterator[Transaction]:
        """As long as nobody has asked."""
        if self.asked.is_set():
            raise StoreError("It takes nothing.")
        async with self.store.begin_write() as tx:
            yield tx


async def test_cancelled_reflection_job_writes_nothing(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Nothing is written then: whoever does the job anew does that, and the store may be gone."""
    async with app.db.begin_write() as tx:
        await enqueue_reflection(
            tx, thinking_house(app, Mind()), chat_context.person.id, now=app.clock()
        )
        held = await claim_jobs(tx, "agenda", owner="worker", now=app.clock(), lease_s=30)
    assert held is not None
    stuck: Any = Stuck(app.db)
    async with asyncio.TaskGroup() as both:
        there = replace(thinking_house(app, Mind()), db=stuck)
        thinking = both.create_task(run_job(there, held.jobs[0]))
        await stuck.asked.wait()
        thinking.cancel()

    assert thinking.cancelled()

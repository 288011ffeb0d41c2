"""Work in the background ends as it should, also where it is cut off."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from oldfriend.app.accepting import Line
from oldfriend.app.forming.thinking_ahead import plan_thinking
from oldfriend.app.house import House
from oldfriend.app.jobs import do
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import StoreError
from oldfriend.queues.lanes import claim
from tests.app.forming.thinking import Mind, thinking_house


class Stuck:
    """A store that answers no more, and takes nothing."""

    def __init__(self) -> None:
        """Nobody has asked it yet."""
        self.asked = asyncio.Event()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Transaction]:
        """Not within any time."""
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError
        yield

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Transaction]:
        """Never."""
        raise StoreError("It takes nothing.")
        yield


async def test_who_is_cut_off_while_thinking_is_only_cut_off(house: House, line: Line) -> None:
    """Nothing is written then: whoever does the job anew does that, and the store may be gone."""
    async with house.db.writing() as tx:
        await plan_thinking(
            tx, thinking_house(house, Mind()), line.person.id, now=house.clock()
        )  # fmt: skip
        held = await claim(tx, "agenda", owner="worker", now=house.clock(), lease_s=30)
    assert held is not None
    stuck: Any = Stuck()
    async with asyncio.TaskGroup() as both:
        there = replace(thinking_house(house, Mind()), db=stuck)
        thinking = both.create_task(do(there, held.letters[0]))
        await stuck.asked.wait()
        thinking.cancel()

    assert thinking.cancelled()

"""A few people at a time, one thing each, in turn."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from oldfriend.domain.ids import PersonId
from oldfriend.domain.people import Person
from oldfriend.transfer.fair_queue import FairQueue


def somebody(name: str) -> Person:
    """A person; the owner, if they are called so."""
    return Person(
        id=PersonId(name),
        name=name,
        is_owner=name == "owner",
        language=None,
        zone="UTC",
        has_chosen_zone=False,
    )


class Shop:
    """Where people have things done that take until somebody lets them end."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self.queue = FairQueue(3)
        self._group = group
        self.begun: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.ends: dict[str, asyncio.Event] = {}

    async def bring(self, name: str, thing: str) -> None:
        """Have somebody queue."""
        self.ends[thing] = asyncio.Event()
        self.tasks[thing] = self._group.create_task(self._do(name, thing))
        await settle()

    async def end(self, thing: str) -> None:
        """Let a thing be done."""
        self.ends[thing].set()
        await settle()

    async def _do(self, name: str, thing: str) -> None:
        async with self.queue.turn(somebody(name)):
            self.begun.append(thing)
            await self.ends[thing].wait()


async def settle() -> None:
    """Let everybody come as far as they can."""
    for _ in range(10):
        await asyncio.sleep(0)


@asynccontextmanager
async def opened() -> AsyncIterator[Shop]:
    """Three at a time, two of them guests."""
    async with asyncio.TaskGroup() as group:
        shop = Shop(group)
        yield shop
        for each in shop.tasks.values():
            each.cancel()


async def test_the_owner_waits_for_no_guest() -> None:
    """However much guests have brought before."""
    async with opened() as shop:
        for name in ("ana", "bo", "cy"):
            for number in range(3):
                await shop.bring(name, f"{name} {number}")
        before = list(shop.begun)
        await shop.bring("owner", "mine")

    assert before == ["ana 0", "bo 0"]
    assert shop.begun[-1] == "mine"


async def test_guests_take_turns() -> None:
    """Who has had one waits behind all who have had none."""
    async with opened() as shop:
        for thing in ("ana 0", "ana 1", "ana 2", "bo 0", "cy 0"):
            await shop.bring(thing.split()[0], thing)
        for thing in ("bo 0", "ana 0", "cy 0", "ana 1"):
            await shop.end(thing)

    assert shop.begun == ["ana 0", "bo 0", "cy 0", "ana 1", "ana 2"]


async def test_who_leaves_takes_no_turn_with_them() -> None:
    """Whether they wait, or were given a turn in that very moment, or are at it."""
    async with opened() as shop:
        for thing in ("ana 0", "bo 0", "cy 0", "dee 0", "eve 0"):
            await shop.bring(thing.split()[0], thing)
        shop.tasks["cy 0"].cancel()  # waits
        await settle()
        shop.tasks["ana 0"].cancel()  # is at it: dee's turn comes
        await settle()
        shop.ends["bo 0"].set()
        await asyncio.sleep(0)
        shop.tasks["eve 0"].cancel()
        await settle()
        await shop.bring("fay", "fay 0")

    assert shop.begun[:3] == ["ana 0", "bo 0", "dee 0"]
    assert shop.begun[-1] == "fay 0"

"""Lines to talk on."""

from collections.abc import Awaitable, Callable

import pytest

from oldfriend.app.accepting import Line, Said, open_line
from oldfriend.app.answering import Answer, answer
from oldfriend.app.house import House
from oldfriend.memory.log import list_messages
from tests.clock import FrozenClock

Say = Callable[..., Awaitable[Answer]]


@pytest.fixture
async def line(house: House) -> Line:
    """The owner's line on the terminal."""
    return await open_line(house, person=None, channel="terminal")


@pytest.fixture
def say(house: House, clock: FrozenClock) -> Say:
    """Say something, a minute after what came before."""

    async def say(text: str, *, person: str | None = None, channel: str = "terminal") -> Answer:
        clock.tick(minutes=1)
        return await answer(
            house, await open_line(house, person=person, channel=channel), Said(text=text)
        )

    return say


async def log_of(house: House, line: Line) -> list[tuple[str, str]]:
    """Who said what on all of a person's lines."""
    async with house.db.reading() as tx:
        return [(m.role, m.text) for m in await list_messages(tx, line.person.id)]

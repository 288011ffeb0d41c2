"""How is a platform listened to, for as long as the process runs? This is the channel's bulkhead.

What cannot be made durable is not confirmed, and heard again; what goes wrong about one thing is
told, and passed over. Where the platform is away, it is waited for.
"""

import asyncio
import secrets
from contextlib import suppress
from typing import Final

from oldfriend.app.beside import beside
from oldfriend.app.courtesy import Courtesy
from oldfriend.app.house import House
from oldfriend.app.receiving import receive
from oldfriend.app.running.telling import tell, tell_trouble
from oldfriend.channels.arriving import Arriving
from oldfriend.channels.channel import Channel
from oldfriend.domain.errors import (
    NotDelivered,
    PlaceMoved,
    PlatformUnavailable,
    StoreError,
    Undeliverable,
)

LONGEST_PAUSE_S: Final = 30.0
LONGEST_COURTESY_S: Final = 10.0
MOST_COURTESIES: Final = 16
"""That wait; more of them are left unsaid."""


class ToldToStop(Exception):
    """The process is to end."""


async def listen_on(name: str, house: House, stopping: asyncio.Event) -> None:
    """Hear what people do on a platform until told to stop; where it is not connected, wait.

    Raises PlatformRefused.
    """
    channel = house.channels.get(name)
    if channel is None:
        await stopping.wait()
        return
    tell("listening", channel=name)
    ear = Ear(house, channel)
    with suppress(ToldToStop):
        await beside(until_told(stopping), beside(ear.say_courtesies(), ear.listen(name)))


async def until_told(stopping: asyncio.Event) -> None:
    """Raise ToldToStop when it is time."""
    await stopping.wait()
    raise ToldToStop


class Ear:
    """Hears one platform."""

    def __init__(self, house: House, channel: Channel) -> None:
        """Nothing was heard yet."""
        self._house = house
        self._channel = channel
        self._courtesies: asyncio.Queue[Courtesy] = asyncio.Queue(MOST_COURTESIES)
        self._failures = 0

    async def listen(self, name: str) -> None:
        """Listen without end; wait where the platform, or the database, is away."""
        while True:
            try:
                await self._channel.listen(self._hear)
            except (PlatformUnavailable, StoreError) as error:
                self._failures += 1
                tell_trouble("not-heard", error, channel=name, times=self._failures)
                await asyncio.sleep(pause_s(error, self._failures))

    async def _hear(self, what: Arriving) -> None:
        """Take one thing in; what goes wrong about it goes no further. Raises StoreError."""
        try:
            courtesy = await receive(self._house, what)
        except StoreError:
            raise
        except Exception as error:
            tell_trouble("passed-over", error, what=type(what).__name__)
            return
        self._failures = 0
        if courtesy is not None and not self._courtesies.full():
            self._courtesies.put_nowait(courtesy)

    async def say_courtesies(self) -> None:
        """Say what is no part of any talk; what cannot be said at once is left unsaid."""
        while True:
            courtesy = await self._courtesies.get()
            with suppress(NotDelivered, Undeliverable, PlaceMoved, TimeoutError):
                async with asyncio.timeout(LONGEST_COURTESY_S):
                    await self._channel.send(courtesy.address, courtesy.text, key=new_key())


def new_key() -> str:
    """A key for what is said once, and never known again."""
    return f"courtesy/{secrets.token_hex(8)}"


def pause_s(error: PlatformUnavailable | StoreError, failures: int) -> float:
    """How long to wait before it is tried again."""
    asked_s = error.retry_after_s if isinstance(error, PlatformUnavailable) else None
    return max(asked_s or 0.0, min(LONGEST_PAUSE_S, 2.0 ** (failures - 2)))

"""The harness of a channel: its fake platform with our bot on it, as the contract suite drives it.

Each stands in ``harnesses/NAME.py`` with a function ``opened()`` that yields one. What a platform
does not have, its ``ChannelSpec.capabilities`` leave out, and the suite asks nothing of it.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from random import Random
from typing import Literal

from oldfriend.channels.channel import BotChannel, ChannelSpec
from tests.fakes.weather import Weather

Trouble = Literal[
    "unreachable",  # not sent: no connection, or a server error before anything was done
    "unanswered",  # done all the same; only the answer is lost
    "flood",  # too many messages: wait a second
    "refused",  # this message will never be taken
    "blocked",  # no message will be taken in that chat
    "window",  # none before the person writes
]


class ChannelHarness(ABC):
    """A fake platform, people on it, and our bot."""

    spec: ChannelSpec
    secrets: tuple[str, ...]  # which no error and no log may show
    can_tell: bool = False  # was_sent knows after an unanswered send
    proves_unsent: bool = True  # False: after an error of its server nobody knows
    tells_edits: bool = True
    tells_deletions: bool = False
    has_flood_limit: bool = True
    has_blocking: bool = True

    @abstractmethod
    def open(self, folder: Path) -> BotChannel:
        """Open our bot, as a new process does."""

    @abstractmethod
    def address(self, who: str) -> str:
        """Return the address of somebody's own chat with us ("ana", "ben", "eve")."""

    @abstractmethod
    def says(self, who: str, text: str) -> str:
        """Somebody says something to us; return its external id."""

    @abstractmethod
    def redeliver(self) -> None:
        """Deliver the last event once more, as after a lost acknowledgement."""

    @property
    @abstractmethod
    def deliveries(self) -> int:
        """How many events were delivered or wait to be, each as often as it is."""

    @abstractmethod
    def shown(self, who: str) -> list[str]:
        """Return what stands from us in somebody's chat now, oldest first."""

    @abstractmethod
    def fail(self, trouble: Trouble) -> None:
        """Let the next message that we send meet this trouble."""

    def fail_reading(self) -> None:
        """Let the next call that reads what was sent or missed fail, if it asks the platform."""
        return

    @abstractmethod
    def garble(self, chance: Random) -> None:
        """Deliver something that no platform would."""

    def connect(self, people: Sequence[str], folder: Path) -> dict[str, str]:
        """Let more people be there, all allowed; the settings of a process that is our bot.

        Its channel keeps what it has in the folder.
        """
        raise NotImplementedError

    def connect_further(self) -> dict[str, str]:
        """The settings of such a process that its owner puts right only while people write."""
        return {}

    def storm(self, weather: Weather) -> None:
        """Let calls of our bot fail by chance."""
        raise NotImplementedError

    async def connected(self) -> None:
        """Wait until whoever listens is told what happens, where the platform keeps nothing."""
        await asyncio.sleep(0)

    def says_in_group(self, who: str, text: str, *, to_us: bool) -> None:
        """Somebody says something in a group that we are in, naming us or not."""
        raise NotImplementedError

    def edits(self, who: str, external_id: str, text: str) -> None:
        """Somebody changes what they have said."""
        raise NotImplementedError

    def deletes(self, who: str, external_id: str) -> None:
        """Somebody deletes what they have said."""
        raise NotImplementedError

    def presses(self, who: str, external_id: str, command: str) -> None:
        """Somebody presses a button of ours below a message of ours."""
        raise NotImplementedError


HARNESSES: dict[str, Callable[[], AbstractAsyncContextManager[ChannelHarness]]] = {
    found.name: import_module(f"tests.channels.harnesses.{found.name}").opened
    for found in iter_modules([str(Path(__file__).parent / "harnesses")])
}
"""By the name of the channel."""


async def until(is_so: Callable[[], bool], *, seconds: float = 20.0) -> None:
    """Wait until something is so. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not is_so():  # noqa: ASYNC110 - a fake notifies nobody
            await asyncio.sleep(0.02)

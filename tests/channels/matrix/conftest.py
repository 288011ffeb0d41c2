"""A homeserver, a bot on it, and what the bot hears."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from oldfriend.channels.channel import ChannelEvent, IncomingMessage, PressAnswer
from oldfriend.channels.matrix.matrix_channel import MatrixChannel
from oldfriend.domain.clock import Micros
from tests.fakes.matrix import Homeserver

T = TypeVar("T")
PASSWORD = "correct horse"
BOT_NAME = "friend"


class KeptCursors:
    """How far was heard."""

    def __init__(self) -> None:
        """Nothing was heard."""
        self.kept: dict[str, str] = {}
        self.strangers: set[str] = set()
        self.forgotten: dict[str, Micros] = {}
        self.asked_forgotten: list[list[str]] = []

    async def find(self, scope: str) -> str | None:
        """How far that is."""
        return self.kept.get(scope)

    async def save(self, scope: str, position: str) -> None:
        """Heard up to there."""
        self.kept[scope] = position

    async def is_known(self, address: str) -> bool:
        """Everybody is, but for strangers."""
        return address not in self.strangers

    async def find_forgotten_times(self, addresses: Collection[str]) -> Mapping[str, Micros]:
        """When everything of somebody was forgotten."""
        self.asked_forgotten.append(list(addresses))
        return self.forgotten


class Bot:
    """A bot, and what it hears."""

    def __init__(self, server: Homeserver, folder: Path) -> None:
        """A bot that keeps what it must in a folder."""
        self.user = f"@{BOT_NAME}:example.org"
        self.folder = folder
        self.server = server
        self.cursors = KeptCursors()
        self.heard: asyncio.Queue[ChannelEvent] = asyncio.Queue()
        self.all: list[ChannelEvent] = []
        self.failing: Callable[[ChannelEvent], None] = lambda event: None
        self.task: asyncio.Task[None]
        self.channel = self.open()

    def open(self) -> MatrixChannel:
        """The channel, as another process would open it."""
        self.channel = MatrixChannel(
            self.server.address,
            self.user,
            PASSWORD,
            folder=self.folder,
            debounce_s=0,
        )
        return self.channel

    async def handle(self, event: ChannelEvent) -> PressAnswer | None:
        """Hear something."""
        self.failing(event)
        self.all.append(event)
        self.heard.put_nowait(event)
        return None

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Hear until the end."""
        try:
            async with asyncio.TaskGroup() as tasks:
                self.task = tasks.create_task(self.channel.listen(self.handle, self.cursors))
                ready = tasks.create_task(self.channel._ready.wait())
                await asyncio.wait([self.task, ready], return_when=asyncio.FIRST_COMPLETED)
                ready.cancel()
                yield
                self.task.cancel()
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from group

    async def hear(self, kind: type[T]) -> T:
        """The next event of a kind."""
        async with asyncio.timeout(20):
            while True:
                getting = asyncio.ensure_future(self.heard.get())
                await asyncio.wait([getting, self.task], return_when=asyncio.FIRST_COMPLETED)
                if not getting.done():
                    self.task.result()  # it has ended early
                event = await getting
                if isinstance(event, kind):
                    return event

    async def hear_text(self) -> str:
        """The words of the next message."""
        return (await self.hear(IncomingMessage)).text

    async def settle(self) -> None:
        """Wait until a sync that began after now has been handled."""
        before = len(self.server.syncs)
        async with asyncio.timeout(10):
            while len(self.server.syncs) < before + 2:
                self.server.stir()
                await asyncio.sleep(0.01)


@pytest.fixture
async def server() -> AsyncIterator[Homeserver]:
    """A homeserver with the bot's account and two people's."""
    logging.getLogger("nio").setLevel(logging.CRITICAL)
    server = Homeserver()
    server.add_user(BOT_NAME, PASSWORD)
    server.add_user("ana")
    server.add_user("ben")
    async with server.serve():
        yield server


@pytest.fixture
async def bot(server: Homeserver, tmp_path: Path) -> Bot:
    """The bot."""
    return Bot(server, tmp_path / "matrix")


@pytest.fixture
def ana() -> str:
    """One of them."""
    return "@ana:example.org"


@pytest.fixture
def ben() -> str:
    """Another one."""
    return "@ben:example.org"

"""A WhatsApp of each test, and a companion that has a number there."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from oldfriend.channels.channel import ChannelEvent, IncomingMessage, PressAnswer
from oldfriend.channels.whatsapp.whatsapp_channel import WhatsAppChannel
from oldfriend.channels.whatsapp.whatsapp_settings import WEBHOOK_PATH, WhatsAppSettings
from oldfriend.domain.errors import StoreFull
from tests.fakes.whatsapp import CREDENTIALS, WhatsApp, free_port, running_whatsapp

ANA = "351912345678"


@pytest.fixture
def world() -> Iterator[WhatsApp]:
    """A WhatsApp of this test."""
    with running_whatsapp() as world:
        yield world


class Ear:
    """Hears what is told; may be unable to keep it for a while."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self.heard: list[ChannelEvent] = []
        self.answer: PressAnswer | None = None
        self.fails = 0

    async def __call__(self, event: ChannelEvent) -> PressAnswer | None:
        """Keep it, or fail."""
        if self.fails:
            self.fails -= 1
            raise StoreFull("The disk is full.")
        self.heard.append(event)
        return self.answer

    @property
    def texts(self) -> list[str]:
        """What was said."""
        return [each.text for each in self.heard if isinstance(each, IncomingMessage)]


class NoCursors:
    """Meta keeps what was not confirmed; nobody else has to."""

    async def find(self, scope: str) -> str | None:
        """Nothing was kept."""
        raise AssertionError(scope)

    async def save(self, scope: str, position: str) -> None:
        """Nothing is to be kept."""
        raise AssertionError(scope, position)


@dataclass(slots=True)
class Companion:
    """A companion with a number, and what it hears."""

    channel: WhatsAppChannel
    ear: Ear = field(default_factory=Ear)


def make_channel(
    world: WhatsApp, folder: Path | None = None, *, heard: bool = False, **chosen: Any
) -> WhatsAppChannel:
    """A companion that has not connected yet; it may have heard Ana."""
    settings = WhatsAppSettings(
        base_url=world.url, **{"webhook_port": free_port(), "quiet_s": 0.0, **chosen}
    )
    channel = WhatsAppChannel(CREDENTIALS, settings, folder=folder, clock=lambda: world.now())
    if heard:
        channel._ledger.record_heard(ANA, world.now())
    return channel


@asynccontextmanager
async def listening(
    world: WhatsApp, folder: Path | None = None, *, ear: Ear | None = None, **chosen: Any
) -> AsyncIterator[Companion]:
    """A companion that Meta calls."""
    port = free_port()
    companion = Companion(make_channel(world, folder, webhook_port=port, **chosen), ear or Ear())
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(companion.channel.listen(companion.ear, NoCursors()))
        world.webhook_url = f"http://127.0.0.1:{port}{WEBHOOK_PATH}"
        try:
            await until(lambda: world.requests)
            yield companion
        finally:
            world.webhook_url = ""
            await until(lambda: not world.is_calling)
            task.cancel()
    await companion.channel.close()


async def until(is_so: Callable[[], Any], *, seconds: float = 45) -> None:
    """Wait until something is so, while this loop goes on."""
    async with asyncio.timeout(seconds):
        while not is_so():  # noqa: ASYNC110 - the fake has another thread
            await asyncio.sleep(0.01)

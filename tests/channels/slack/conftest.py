"""A Slack of the test, a bot in it, and what the bot hears."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from oldfriend.channels.channel import ChannelEvent, PressAnswer
from oldfriend.channels.slack.slack_channel import SlackChannel
from tests.fakes.platform import MemoryCursors
from tests.fakes.slack import APP_TOKEN, BOT_TOKEN, Slack, running_slack


@dataclass(slots=True)
class Ear:
    """What was heard, and the errors with which the next events are refused."""

    events: list[ChannelEvent] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    answer: PressAnswer | None = None
    delay_s: float = 0.0

    async def __call__(self, event: ChannelEvent) -> PressAnswer | None:
        """Hear an event."""
        await asyncio.sleep(self.delay_s)
        if self.failures:
            raise self.failures.pop(0)
        self.events.append(event)
        return self.answer

    @property
    def texts(self) -> list[str]:
        """The words that were heard, in order."""
        return [getattr(each, "text", "") for each in self.events]

    async def hears(self, number: int) -> list[ChannelEvent]:
        """Wait for so many events."""
        async with asyncio.timeout(10):
            while len(self.events) < number:  # noqa: ASYNC110 - the listener knows no notifier
                await asyncio.sleep(0.01)
        return self.events


@pytest.fixture
def slack() -> Iterator[Slack]:
    """A Slack of this test, in which nobody has to wait long."""
    with running_slack() as slack:
        slack.interval_s, slack.retry_s = 0.0, 0.3
        yield slack


@pytest.fixture
async def channel(slack: Slack) -> AsyncIterator[SlackChannel]:
    """A bot in it."""
    async with opened(slack) as channel:
        yield channel


@asynccontextmanager
async def opened(slack: Slack, *, quiet_s: float = 600.0) -> AsyncIterator[SlackChannel]:
    """A bot in a Slack."""
    channel = SlackChannel(
        BOT_TOKEN,
        APP_TOKEN,
        base_url=f"{slack.url}/api",
        quiet_s=quiet_s,
        send_interval_s=slack.interval_s,
    )
    try:
        yield channel
    finally:
        await channel.close()


@asynccontextmanager
async def listening(
    channel: SlackChannel, slack: Slack, ear: Ear, shelf: MemoryCursors | None = None
) -> AsyncIterator[asyncio.Task[None]]:
    """Listen until the end of the block."""
    before = slack.connections
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(channel.listen(ear, shelf or MemoryCursors()))
        async with asyncio.timeout(10):
            while slack.connections == before and not task.done():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        yield task
        task.cancel()

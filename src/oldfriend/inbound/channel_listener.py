"""Channel listener: receives from a platform for as long as the process runs.

This is the bulkhead of the channel. What cannot be stored is not confirmed, so the platform
delivers it again; an error about a single update is logged and skipped. While the platform is
unreachable, the listener waits and retries.
"""

import asyncio
import secrets
from contextlib import suppress
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.concurrency import run_with_watcher
from oldfriend.app.event_log import log_event, log_warning
from oldfriend.channels.channel import Channel, ChannelEvent
from oldfriend.domain.errors import (
    ChatAddressChanged,
    DeliveryFailed,
    PlatformUnavailable,
    StoreError,
    Undeliverable,
)
from oldfriend.inbound.receive import handle_event
from oldfriend.inbound.system_replies import SystemReply

MAX_BACKOFF_S: Final = 30.0
SYSTEM_REPLY_TIMEOUT_S: Final = 10.0
MAX_SYSTEM_REPLIES: Final = 16
"""Capacity of the queue of system replies; more of them are dropped."""


class StopRequested(Exception):
    """The process is about to end."""


async def listen_on_channel(name: str, app: AppContext, stopping: asyncio.Event) -> None:
    """Receive from a platform until told to stop; if it is not connected, only wait for the stop.

    Raises PlatformRejected.
    """
    channel = app.channels.get(name)
    if channel is None:
        await stopping.wait()
        return
    log_event("listening", channel=name)
    listener = ChannelListener(app, channel)
    with suppress(StopRequested):
        await run_with_watcher(
            raise_on_stop(stopping),
            run_with_watcher(listener.send_system_replies(), listener.listen(name)),
        )


async def raise_on_stop(stopping: asyncio.Event) -> None:
    """Raise StopRequested when it is time to stop."""
    await stopping.wait()
    raise StopRequested


class ChannelListener:
    """Receives the events of one platform."""

    def __init__(self, app: AppContext, channel: Channel) -> None:
        """Start without any failures."""
        self._app = app
        self._channel = channel
        self._system_replies: asyncio.Queue[SystemReply] = asyncio.Queue(MAX_SYSTEM_REPLIES)
        self._failures = 0

    async def listen(self, name: str) -> None:
        """Listen forever, backing off while the platform or the database is unavailable."""
        while True:
            try:
                await self._channel.listen(self._handle)
            except (PlatformUnavailable, StoreError) as error:
                self._failures += 1
                log_warning("not-heard", error, channel=name, times=self._failures)
                await asyncio.sleep(compute_backoff_s(error, self._failures))

    async def _handle(self, event: ChannelEvent) -> None:
        """Handle one event, and log any error about it. Raises StoreError."""
        try:
            reply = await handle_event(self._app, event)
        except StoreError:
            raise
        except Exception as error:
            log_warning("passed-over", error, what=type(event).__name__)
            return
        self._failures = 0
        if reply is not None and not self._system_replies.full():
            self._system_replies.put_nowait(reply)

    async def send_system_replies(self) -> None:
        """Send queued system replies; one that cannot be sent at once is dropped."""
        while True:
            reply = await self._system_replies.get()
            with suppress(DeliveryFailed, Undeliverable, ChatAddressChanged, TimeoutError):
                async with asyncio.timeout(SYSTEM_REPLY_TIMEOUT_S):
                    await self._channel.send(reply.address, reply.text, key=new_reply_key())


def new_reply_key() -> str:
    """Return a unique key for a system reply, which is never looked up again."""
    return f"courtesy/{secrets.token_hex(8)}"


def compute_backoff_s(error: PlatformUnavailable | StoreError, failures: int) -> float:
    """Return how many seconds to wait before listening again."""
    asked_s = error.retry_after_s if isinstance(error, PlatformUnavailable) else None
    return max(asked_s or 0.0, min(MAX_BACKOFF_S, 2.0 ** (failures - 2)))

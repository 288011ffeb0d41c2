"""Notifications: wake waiting tasks when this or another process has written something."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, Literal, TypeAlias, get_args

from oldfriend.db.database import Database
from oldfriend.domain.errors import StoreError
from oldfriend.domain.job_types import QueueName

Topic: TypeAlias = QueueName | Literal["stop"]
"""What a task waits for: that a job is put into a queue, or that somebody says stop."""
QUEUES: Final[tuple[QueueName, ...]] = get_args(QueueName)


class WakeEvent:
    """An event for one waiting task; a notification that came while nobody waited is not lost."""

    def __init__(self) -> None:
        """Start unset."""
        self._event = asyncio.Event()

    def set(self) -> None:
        """Wake the waiting task."""
        self._event.set()

    async def wait(self, timeout_s: float) -> None:
        """Return when set (at once if set since the last wait), or after ``timeout_s``."""
        if not self._event.is_set():  # otherwise no timer is needed
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._event.wait()
        self._event.clear()


async def set_on_stop(stopping: asyncio.Event, event: WakeEvent) -> None:
    """Wake the task that waits for an event when it is time to stop."""
    await stopping.wait()
    event.set()


class Notifier:
    """Wakes waiting tasks when this process, or another one, has written something.

    A stop is only notified in the process where it was said; others poll for it. Listening to other
    processes begins with the first subscription and ends with ``close``.
    """

    def __init__(self, db: Database) -> None:
        """Start without subscribers."""
        self._db = db
        self._subscribers: dict[WakeEvent, Topic | None] = {}
        self._listening: asyncio.Task[None] | None = None

    def notify(self, *topics: Topic) -> None:
        """Wake the subscribers of some topics in this process (no topic given: all queues).

        A subscriber without a topic is woken each time.
        """
        for event, topic in self._subscribers.items():
            if topic is None or topic in (topics or QUEUES):
                event.set()

    @contextmanager
    def subscribe(
        self, event: WakeEvent | None = None, *, topic: Topic | None = None
    ) -> Iterator[WakeEvent]:
        """Subscribe an event, new or given, for the duration of the block.

        It is set for one topic, or for any if none is given.
        """
        if self._listening is None or self._listening.done():
            # The task lives as long as the application context, not as long as the first
            # subscriber.
            self._listening = asyncio.create_task(self._listen())  # noqa: TID251
        event = event or WakeEvent()
        self._subscribers[event] = topic
        try:
            yield event
        finally:
            del self._subscribers[event]

    async def close(self) -> None:
        """Stop listening."""
        if self._listening is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening

    async def _listen(self) -> None:
        with suppress(StoreError):  # subscribers poll now and then as well, and report the error
            while True:
                await self._db.wait_for_change()
                self.notify()

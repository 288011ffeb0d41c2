"""How does whoever waits in this process learn that something has happened, here or elsewhere?"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, Literal, TypeAlias, get_args

from oldfriend.db.database import Database
from oldfriend.domain.errors import StoreError
from oldfriend.domain.letters import Queue

Topic: TypeAlias = Queue | Literal["stop"]
"""For what one waits: that something is put into a queue, or that somebody says stop."""
QUEUES: Final[tuple[Queue, ...]] = get_args(Queue)


class Bell:
    """Rings for one who waits; a ring that came while nobody listened is not lost."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Something has happened."""
        self._rung.set()

    async def wait(self, timeout_s: float) -> None:
        """Return at the next ring (at once if it rang since the last wait), or after so long."""
        if not self._rung.is_set():  # else no clock need be set
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._rung.wait()
        self._rung.clear()


async def ring_when(stopping: asyncio.Event, bell: Bell) -> None:
    """Wake whoever waits at a bell when it is time to stop."""
    await stopping.wait()
    bell.ring()


class Waking:
    """Rings the bells of those who wait when this process, or another, has written something.

    That somebody says stop is heard only where they have said it; others look for themselves.
    Listening to other processes begins with the first bell, and ends with ``close``.
    """

    def __init__(self, db: Database) -> None:
        """Nobody waits yet."""
        self._db = db
        self._bells: dict[Bell, Topic | None] = {}
        self._listening: asyncio.Task[None] | None = None

    def ring(self, *topics: Topic) -> None:
        """Ring the bells of this process for some topics (none named: for all queues).

        Who waits for anything at all hears each ring.
        """
        for bell, topic in self._bells.items():
            if topic is None or topic in (topics or QUEUES):
                bell.ring()

    @contextmanager
    def bell(self, bell: Bell | None = None, *, topic: Topic | None = None) -> Iterator[Bell]:
        """A bell of one's own, for as long as one waits; or the one brought along.

        It rings for one topic, or for anything.
        """
        if self._listening is None or self._listening.done():
            # It lives as long as the house, not as long as whoever waits first.
            self._listening = asyncio.create_task(self._listen())  # noqa: TID251
        bell = bell or Bell()
        self._bells[bell] = topic
        try:
            yield bell
        finally:
            del self._bells[bell]

    async def close(self) -> None:
        """Stop listening."""
        if self._listening is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening

    async def _listen(self) -> None:
        with suppress(StoreError):  # whoever waits looks for themselves now and then, and tells
            while True:
                await self._db.wait_for_others()
                self.ring()

"""How is a lane kept for as long as somebody works on it, and who is told when it is lost?"""

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from oldfriend.app.beside import beside
from oldfriend.app.house import House
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND
from oldfriend.domain.errors import LeaseLost, StoreError, TurnStopped
from oldfriend.domain.ids import TurnId
from oldfriend.domain.letters import Claim, Letter
from oldfriend.queues.inbox import list_notices, word_of
from oldfriend.queues.lanes import extend, fail, release

INTERRUPTED = "interrupted"
"""What is noted of a letter that was given back unfinished."""
LOOK_EVERY_S = 0.5
"""How long a person who says stop to another process may have to wait for it."""
LONGEST_GOODBYE_S = 2.0
"""So long somebody who is interrupted may take to give a lane back."""

T = TypeVar("T")


class Hold:
    """A lane that is held; its lease is extended whenever a heartbeat has passed."""

    def __init__(self, house: House, claim: Claim) -> None:
        """The lease is as old as the claim, whenever one comes to it."""
        self.claim = claim
        self._house = house
        self._extended_at = claim.taken_at

    async def during(self, work: Coroutine[Any, Any, T], *, turn: TurnId | None = None) -> T:
        """Do something for as long as the lane is held and nobody stops the turn.

        Raises LeaseLost, TurnStopped; then the work was cancelled.
        """
        outer = _HELD.set(self)
        try:
            return await beside(self._watch(turn), work)
        finally:
            _HELD.reset(outer)

    def refuse_lost(self) -> None:
        """Raise LeaseLost where the lease has run out by this process's own clock."""
        if self._age_s() > self._house.settings.limits.lease_s:
            raise LeaseLost(f"{self.claim.lane} could not be held.")

    async def keep(self, tx: Transaction) -> None:
        """Extend the lease, where a heartbeat has passed since that was done. Raises LeaseLost."""
        if not self._is_stale():
            return
        began = time.monotonic()
        if not await extend(tx, self.claim, lease_s=self._house.settings.limits.lease_s):
            raise LeaseLost(f"{self.claim.queue} {self.claim.lane} was taken over.")
        self._extended_at = began

    async def give_back(self, unfinished: Letter | None = None, *, for_s: float = 0.0) -> None:
        """Let go of the lane; that a letter was begun and interrupted does not count.

        ``for_s``: nobody is to begin that letter for so long.
        """
        now = self._house.clock()
        again = now + int(for_s * SECOND)
        with suppress(LeaseLost, StoreError, TimeoutError):  # then the lease runs out by itself
            async with asyncio.timeout(LONGEST_GOODBYE_S), self._house.db.writing() as tx:
                if unfinished is not None:
                    await fail(
                        tx, self.claim, unfinished, error=INTERRUPTED, now=now, retry_at=again,
                        counts=False,
                    )  # fmt: skip
                await release(tx, self.claim, now=now)

    async def _watch(self, turn: TurnId | None) -> None:
        """Keep the lease alive, and look out for a stop.

        A database that fails now and then is no reason to give up: the commit will tell.
        """
        limits = self._house.settings.limits
        pause_s = min(LOOK_EVERY_S, limits.heartbeat_s)
        with self._house.waking.bell(topic="stop") as bell:
            while True:
                await bell.wait(pause_s)
                try:
                    await self._beat()
                    if turn is not None:
                        await refuse_stopped(self._house, self.claim, turn)
                except StoreError:
                    self.refuse_lost()

    async def _beat(self) -> None:
        if self._is_stale():
            async with self._house.db.writing() as tx:
                await self.keep(tx)

    def _is_stale(self) -> bool:
        return self._age_s() >= self._house.settings.limits.heartbeat_s

    def _age_s(self) -> float:
        return time.monotonic() - self._extended_at


_HELD: Final[ContextVar[Hold | None]] = ContextVar("held", default=None)
"""The lane for which is done what is done now."""


def refuse_too_late() -> None:
    """Raise LeaseLost where what is done now is done for a lane that may be another's by now.

    Whoever was frozen, or got no processor, asks this before they spend anything.
    """
    if (hold := _HELD.get()) is not None:
        hold.refuse_lost()


async def refuse_stopped(house: House, claim: Claim, turn: TurnId) -> None:
    """Raise TurnStopped where the person does not want a turn any more."""
    async with house.db.reading() as tx:
        notices = await list_notices(tx, claim.lane, turn)
    if any(word_of(notice).kind == "stop" for notice in notices):
        raise TurnStopped("The person said stop.")

"""How is a lane kept for as long as somebody works on it, and who is told when it is lost?"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from oldfriend.app.beside import beside
from oldfriend.app.house import House
from oldfriend.app.in_time import done_for_a_lane
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, uptime_s
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
        with done_for_a_lane(self.refuse_lost):
            return await beside(self._watch(turn), work)

    def refuse_lost(self) -> None:
        """Raise LeaseLost where the lease has run out by this process's own clock."""
        if self._age_s() > self._house.settings.limits.lease_s:
            raise LeaseLost(f"{self.claim.lane} could not be held.")

    async def keep(self, tx: Transaction) -> None:
        """Extend the lease, where a heartbeat has passed since that was done. Raises LeaseLost."""
        if not self._is_stale():
            return
        began = uptime_s()
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
        if not self._is_stale():
            return
        before = self._extended_at
        try:
            async with self._house.db.writing() as tx:
                await self.keep(tx)
        except StoreError:
            self._extended_at = before  # it may not have been committed
            raise

    def _is_stale(self) -> bool:
        return self._age_s() >= self._house.settings.limits.heartbeat_s

    def _age_s(self) -> float:
        return uptime_s() - self._extended_at


async def refuse_stopped(house: House, claim: Claim, turn: TurnId) -> None:
    """Raise TurnStopped where the person does not want a turn any more."""
    async with house.db.reading() as tx:
        notices = await list_notices(tx, claim.lane, turn)
    if any(word_of(notice).kind == "stop" for notice in notices):
        raise TurnStopped("The person said stop.")

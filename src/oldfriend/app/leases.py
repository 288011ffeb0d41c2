"""Held leases: keep a partition's lease alive during work, and cancel the work if it is lost."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, TypeVar

from oldfriend.app.app_context import AppContext
from oldfriend.app.concurrency import (
    MAX_EXCLUSIVE_S,
    ExclusiveAccess,
    guard_lease,
    run_with_watcher,
)
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import SECOND, uptime_s
from oldfriend.domain.errors import LeaseLost, StoreError, TurnStopped
from oldfriend.domain.ids import TurnId
from oldfriend.domain.job_types import Job, Lease
from oldfriend.queues.inbox import list_turn_notices, parse_inbox_payload
from oldfriend.queues.jobs_table import mark_isolated
from oldfriend.queues.queue import (
    fail_job,
    is_poison_suspect,
    lock_lease,
    release_lease,
    renew_lease,
)

INTERRUPTED = "interrupted"
"""The error recorded for a job that was given back unfinished."""
POLL_INTERVAL_S = 0.5
"""How long a stop that was given to another process may take to be noticed."""
RELEASE_TIMEOUT_S = 2.0
"""How long an interrupted worker may take to release a lease."""

T = TypeVar("T")


class HeldLease:
    """A lease that is held; it is renewed whenever a heartbeat is due."""

    def __init__(self, app: AppContext, lease: Lease) -> None:
        """Count the age of the lease from its claim, however late this is called."""
        self.lease = lease
        self._app = app
        self._renewed_at = lease.claimed_uptime_s

    async def run(self, work: Coroutine[Any, Any, T], *, turn: TurnId | None = None) -> T:
        """Run the work while the lease is held and nobody stops the turn, and return its result.

        Raises LeaseLost, TurnStopped; then the work was cancelled.
        """
        with guard_lease(self.raise_if_lost):
            return await run_with_watcher(self._watch(turn), work)

    @asynccontextmanager
    async def isolated(self, job: Job) -> AsyncIterator[None]:
        """Process the job in this block: next to others, or alone if it is suspect.

        A suspect job may have crashed earlier workers. The lease is kept alive while waiting to
        enter. Raises LeaseLost.
        """
        isolation = self._app.isolation
        async with AsyncExitStack() as stack:
            if is_poison_suspect(job):
                access = await self.run(stack.enter_async_context(isolation.exclusive()))
                await stack.enter_async_context(self._mark_isolated(job, access))
            elif isolation.try_enter():
                stack.callback(isolation.leave)
            else:
                await self.run(stack.enter_async_context(isolation.shared()))
            yield

    @asynccontextmanager
    async def _mark_isolated(self, job: Job, access: ExclusiveAccess) -> AsyncIterator[None]:
        """Mark the job as isolated while it runs alone, so that a crash is counted against it."""
        if not access.is_active:
            yield
            return
        async with self._app.db.begin_write() as tx:
            await lock_lease(tx, self.lease)
            await mark_isolated(tx, job, is_isolated=True)
        try:
            async with asyncio.TaskGroup() as group:
                reopening = group.create_task(self._reopen_when_slow(job, access))
                try:
                    yield
                finally:
                    reopening.cancel()
        except BaseExceptionGroup as failed:
            raise failed.exceptions[-1] from failed
        finally:
            with suppress(StoreError):
                async with self._app.db.begin_write() as tx:
                    await mark_isolated(tx, job, is_isolated=False)

    async def _reopen_when_slow(self, job: Job, access: ExclusiveAccess) -> None:
        """Let others in if the job takes long, once it is no longer marked as isolated."""
        await asyncio.sleep(MAX_EXCLUSIVE_S)
        while access.is_active:
            with suppress(StoreError):
                async with self._app.db.begin_write() as tx:
                    await mark_isolated(tx, job, is_isolated=False)
                access.end()
                return
            await asyncio.sleep(POLL_INTERVAL_S)

    def raise_if_lost(self) -> None:
        """Raise LeaseLost if the lease has expired by this process's own clock."""
        if self._age_s() > self._app.settings.limits.lease_s:
            raise LeaseLost(f"{self.lease.partition} could not be held.")

    async def renew_if_due(self, tx: Transaction) -> None:
        """Renew the lease if a heartbeat has passed since the last time. Raises LeaseLost."""
        if not self._is_stale():
            return
        began = uptime_s()
        if not await renew_lease(tx, self.lease, lease_s=self._app.settings.limits.lease_s):
            raise LeaseLost(f"{self.lease.queue} {self.lease.partition} was taken over.")
        self._renewed_at = began

    async def release(self, unfinished: Job | None = None, *, delay_s: float = 0.0) -> None:
        """Release the lease; an unfinished job is returned without counting the attempt.

        With ``delay_s`` that job is not started again before so many seconds have passed.
        """
        now = self._app.clock()
        retry_at = now + int(delay_s * SECOND)
        # If this fails, the lease expires by itself.
        with suppress(LeaseLost, StoreError, TimeoutError):
            async with asyncio.timeout(RELEASE_TIMEOUT_S), self._app.db.begin_write() as tx:
                if unfinished is not None:
                    await fail_job(
                        tx,
                        self.lease,
                        unfinished,
                        error=INTERRUPTED,
                        now=now,
                        retry_at=retry_at,
                        counts_attempt=False,
                    )
                await release_lease(tx, self.lease, now=now)

    async def _watch(self, turn_id: TurnId | None) -> None:
        """Keep the lease alive and watch for a stop.

        A database that fails now and then is no reason to give up: the commit decides.
        """
        limits = self._app.settings.limits
        pause_s = min(POLL_INTERVAL_S, limits.heartbeat_s)
        with self._app.notifier.subscribe(topic="stop") as wake_event:
            while True:
                await wake_event.wait(pause_s)
                try:
                    await self._heartbeat()
                    if turn_id is not None:
                        await raise_if_stopped(self._app.db, self.lease, turn_id)
                except StoreError:
                    self.raise_if_lost()

    async def _heartbeat(self) -> None:
        if not self._is_stale():
            return
        before = self._renewed_at
        try:
            async with self._app.db.begin_write() as tx:
                await self.renew_if_due(tx)
        except StoreError:
            self._renewed_at = before  # it may not have been committed
            raise

    def _is_stale(self) -> bool:
        return self._age_s() >= self._app.settings.limits.heartbeat_s

    def _age_s(self) -> float:
        return uptime_s() - self._renewed_at


async def raise_if_stopped(db: Database, lease: Lease, turn_id: TurnId) -> None:
    """Raise TurnStopped if the person has stopped the turn."""
    async with db.begin_read() as tx:
        notices = await list_turn_notices(tx, lease.partition, turn_id)
    if any(parse_inbox_payload(notice).kind == "stop" for notice in notices):
        raise TurnStopped("The person said stop.")

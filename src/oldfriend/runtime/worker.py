"""Worker: claims due jobs from the inbox, outbox and agenda queues, and runs them.

Any number of workers in any number of processes share the partitions. Each partition is processed
by one worker at a time, different partitions concurrently. Reminders never wait for other jobs of
the agenda, which may take minutes, nor for notifications, whose services may be slow.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from oldfriend.app.app_context import AppContext
from oldfriend.app.concurrency import MAX_EXCLUSIVE_S, ConcurrencyLimiter
from oldfriend.app.dead_processes import reap_dead_processes
from oldfriend.app.event_log import log_warning
from oldfriend.app.leases import HeldLease
from oldfriend.app.notifications import WakeEvent
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import SECOND, Clock
from oldfriend.domain.errors import SchemaTooNew, StoreError
from oldfriend.domain.job_types import Lease, PartitionFilter, QueueName
from oldfriend.learning.learning_scheduler import segment_at_shutdown
from oldfriend.queues.queue import claim_jobs, find_next_due, is_poison_suspect
from oldfriend.replies.outbox_worker import deliver
from oldfriend.replies.push_notifications import PUSH_PARTITIONS
from oldfriend.replies.reply_worker import process_chat
from oldfriend.runtime.job_handlers import LeaseHandler, plan_jobs, run_handler, run_jobs
from oldfriend.runtime.supervisor import sleep_or_stop
from oldfriend.tasks.reminder_jobs import REMINDER_PARTITIONS

SWEEP_INTERVAL_S = 5.0
"""Seconds between checks without a wake-up, for expired leases and missed notifications."""
MAX_RETRY_PAUSE_S = 30.0
"""Longest pause between retries while the database is unavailable; retries never end."""
SHUTDOWN_GRACE_S = 5.0
CLAIM_BATCH_SIZE = 16
"""Partitions claimed in one commit; the rest is left to other workers."""
MAX_CONCURRENT_JOBS = 1
"""Background work must never delay a reply."""
MAX_CONCURRENT_REMINDERS = 4
MAX_CONCURRENT_PUSHES = 4
LAG_PROBE_S = 0.02
LAG_FACTOR = 1.5
"""A probe that takes this many times as long as planned means that the event loop is busy."""
MAX_YIELD_S = 2.0
"""For at most this long background work lets replies go first before it starts the next job."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueWork:
    """The jobs of a queue, or of some of its partitions, and how they are worked on."""

    queue: QueueName
    handler: LeaseHandler
    at_once: int
    only: PartitionFilter | None = None
    is_background: bool = False  # lets replies go first


REMINDERS: Final = QueueWork(
    queue="agenda",
    handler=run_jobs,
    at_once=MAX_CONCURRENT_REMINDERS,
    only=REMINDER_PARTITIONS,
)
PUSHES: Final = QueueWork(
    queue="agenda", handler=run_jobs, at_once=MAX_CONCURRENT_PUSHES, only=PUSH_PARTITIONS
)
BACKGROUND: Final = QueueWork(
    queue="agenda",
    handler=run_jobs,
    at_once=MAX_CONCURRENT_JOBS,
    only=PartitionFilter(
        prefixes=(*REMINDER_PARTITIONS.prefixes, *PUSH_PARTITIONS.prefixes), is_excluded=True
    ),
    is_background=True,
)


async def run_worker(app: AppContext, *, stopping: asyncio.Event) -> None:
    """Process due jobs until told to stop, then finish what has begun.

    Raises SchemaTooNew. Errors of a single turn or job are logged, and an unavailable database is
    waited for.
    """
    await retry_until_stopped(partial(plan_jobs, app.db, app.clock, app.settings), stopping)
    at_once = app.settings.serve.turns_at_once
    replies = QueueWork(queue="inbox", handler=answer_chat, at_once=at_once)
    deliveries = QueueWork(queue="outbox", handler=deliver, at_once=at_once)
    async with asyncio.TaskGroup() as queues:
        queues.create_task(process_queue(app, replies, stopping))
        if app.channels:  # otherwise processes with channels deliver
            queues.create_task(process_queue(app, deliveries, stopping))
        queues.create_task(process_queue(app, REMINDERS, stopping))
        queues.create_task(process_queue(app, PUSHES, stopping))
        queues.create_task(process_queue(app, BACKGROUND, stopping))
        await stopping.wait()
        app.notifier.notify()
    await cut_segments_at_shutdown(app.db, app.clock, app.settings, by_model="small" in app.models)


async def cut_segments_at_shutdown(
    db: Database, clock: Clock, settings: Settings, *, by_model: bool
) -> None:
    """Cut the segments of finished conversations for the next start, within a time limit."""
    try:
        async with asyncio.timeout(SHUTDOWN_GRACE_S):
            await segment_at_shutdown(db, clock, settings, by_model=by_model)
    except (TimeoutError, StoreError) as error:
        log_warning("segmentation-failed", error)  # they are cut after a pause anyway


async def process_queue(app: AppContext, work: QueueWork, stopping: asyncio.Event) -> None:
    """Claim and process partitions of one queue concurrently, waiting while nothing is due."""
    limiter = ConcurrencyLimiter(work.at_once)
    with app.notifier.subscribe(topic=work.queue) as wake_event:
        async with asyncio.TaskGroup() as running:
            while True:
                slots = await limiter.acquire(limit=CLAIM_BATCH_SIZE)
                leases = await wait_for_leases(app, work, slots, wake_event, stopping)
                if leases is None:
                    return
                limiter.release(slots - len(leases))
                for lease in leases:
                    unsettled_s = app.isolation.settles_in_s
                    if has_suspect(lease) and unsettled_s:
                        await HeldLease(app, lease).release(lease.jobs[0], delay_s=unsettled_s)
                        limiter.release()
                        continue
                    task = running.create_task(
                        run_handler(app, work.handler, lease, limiter, stopping)
                    )
                    if has_suspect(lease):  # always the last of a batch
                        await asyncio.wait([task], timeout=MAX_EXCLUSIVE_S)


def has_suspect(lease: Lease) -> bool:
    """Return whether the next job of a partition may have crashed the process that worked on it.

    False while the lease holds dead letters, because its holder still has to report those.
    """
    return bool(lease.jobs) and not lease.dead_letters and is_poison_suspect(lease.jobs[0])


async def wait_for_leases(
    app: AppContext, work: QueueWork, limit: int, event: WakeEvent, stopping: asyncio.Event
) -> list[Lease] | None:
    """Claim up to ``limit`` partitions once something is due; return None when told to stop."""
    while not stopping.is_set():
        if work.is_background:
            await wait_for_idle_loop(stopping)
        await retry_until_stopped(partial(reap_dead_processes, app), stopping)
        leases = await retry_until_stopped(
            partial(claim_batch, app, work.queue, limit, work.only), stopping
        )
        if leases:
            return leases
        await retry_until_stopped(
            partial(wait_until_due, app.db, app.clock, app.settings, work, event, stopping),
            stopping,
        )
    return None


async def wait_for_idle_loop(stopping: asyncio.Event) -> None:
    """Wait until the event loop is not busy with replies, for at most MAX_YIELD_S seconds."""
    now = asyncio.get_running_loop().time
    deadline = now() + MAX_YIELD_S
    while (started_at := now()) < deadline and not stopping.is_set():
        await asyncio.sleep(LAG_PROBE_S)
        if now() - started_at < LAG_PROBE_S * LAG_FACTOR:
            return


async def retry_until_stopped(act: Callable[[], Awaitable[T]], stopping: asyncio.Event) -> T | None:
    """Retry an action while the database is unavailable; return None when told to stop.

    Raises SchemaTooNew, which no retry can fix.
    """
    failures = 0
    while not stopping.is_set():
        try:
            return await act()
        except SchemaTooNew:
            raise
        except StoreError as error:
            failures += 1
            log_warning("database-failed", error, times=failures)
            await sleep_or_stop(min(failures, MAX_RETRY_PAUSE_S), stopping)
    return None


async def claim_batch(
    app: AppContext, queue: QueueName, limit: int, partitions: PartitionFilter | None = None
) -> list[Lease]:
    """Claim up to ``limit`` due partitions in one transaction; a suspect one ends the batch."""
    leases: list[Lease] = []
    async with app.db.begin_write() as tx:
        while (
            len(leases) < limit
            and (lease := await claim_partition_tx(tx, app, queue, partitions)) is not None
        ):
            leases.append(lease)
            if has_suspect(lease):
                break
    return leases


async def claim_next_partition(
    app: AppContext, queue: QueueName, partition: str | None = None
) -> Lease | None:
    """Claim any due partition, or the given one if it is due."""
    async with app.db.begin_write() as tx:
        return await claim_partition_tx(tx, app, queue, partition)


async def claim_partition_tx(
    tx: Transaction,
    app: AppContext,
    queue: QueueName,
    partition: str | PartitionFilter | None = None,
) -> Lease | None:
    """Claim a due partition, the named one or one of some, in a transaction; skip locked rows."""
    return await claim_jobs(
        tx,
        queue,
        owner=app.register_process(),
        now=app.clock(),
        lease_s=app.settings.limits.lease_s,
        partition=partition,
    )


async def answer_chat(app: AppContext, lease: Lease, stopping: asyncio.Event) -> None:
    """Answer the waiting messages of a chat until told to stop."""
    await process_chat(app, lease, stopping=stopping)


async def wait_until_due(
    db: Database,
    clock: Clock,
    settings: Settings,
    work: QueueWork,
    event: WakeEvent,
    stopping: asyncio.Event,
) -> None:
    """Wait until something is due, or until it is time for the next sweep.

    A notification may be meant for another queue, so the next due time is read before claiming,
    which is cheap.
    """
    now, sweep_s = (
        asyncio.get_running_loop().time,
        min(SWEEP_INTERVAL_S, settings.limits.lease_s),
    )
    sweeps_at = now() + sweep_s
    while not stopping.is_set() and (left_s := sweeps_at - now()) > 0:
        due_s = await compute_due_in_s(db, clock, work, within_s=sweep_s)
        if due_s <= 0:
            return
        await event.wait(min(due_s, left_s))


async def compute_due_in_s(
    db: Database, clock: Clock, work: QueueWork, *, within_s: float
) -> float:
    """Return in how many seconds the next unclaimed job is due; infinity if not within some."""
    until = clock() + round(within_s * SECOND)
    async with db.begin_read() as tx:
        due_at = await find_next_due(tx, work.queue, partitions=work.only, until=until)
    return math.inf if due_at is None else (due_at - clock()) / SECOND

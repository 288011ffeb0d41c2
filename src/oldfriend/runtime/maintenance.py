"""Maintenance: runs a person's due background jobs in this process when no worker does."""

import asyncio
import logging
import math
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import CATCH_UP_LIMIT, EMBED_JOB, try_embed_missing
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database
from oldfriend.domain.clock import SECOND, Clock
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.ids import PersonId
from oldfriend.forgetting.delete import RETENTION_JOB
from oldfriend.learning.learning_scheduler import (
    build_maintenance_partition,
    build_rollup_partition,
)
from oldfriend.learning.reading_jobs import build_backlog_partition, build_learning_partition
from oldfriend.learning.reflection_scheduler import REFLECTION_JOBS, build_reflection_partition
from oldfriend.proactive.look_planner import build_look_partition
from oldfriend.queues.claim import filter_ready_partitions, is_queue_leased
from oldfriend.queues.queue import OVERDUE_S
from oldfriend.runtime.job_handlers import plan_retention
from oldfriend.runtime.learn_now import (
    claim_partition,
    has_due_job,
    learn_now,
    process_due_segments,
    run_leased_jobs,
)
from oldfriend.turn.belief_changes import build_purge_partition

SLICE_S: Final = 2.0
"""Seconds after a command or a call in which jobs may start; a job that has started finishes."""
POLL_INTERVAL_S: Final = 30.0
"""Seconds between checks for due jobs while somebody talks, for jobs without a notification."""
CHECK_INTERVAL_S: Final = 5.0
"""Shortest time between two checks for overdue jobs in a program that calls often."""
logger = logging.getLogger("oldfriend")


async def maintain(
    app: AppContext,
    person: PersonId,
    *,
    within_s: float = math.inf,
    asks_models: bool = True,
    overdue_s: float = 0.0,
) -> int:
    """Run a person's due jobs and embed what lacks a vector; return how many jobs were done.

    No job starts after ``within_s`` seconds. Without ``asks_models``, jobs that need a connected
    model are skipped, because they take longer than somebody waits. With ``overdue_s``, nothing is
    done unless a job has been due for that long and no worker is running. Jobs are leased, so no
    other process runs the same one; a failed one is retried later.
    """
    now, done = asyncio.get_running_loop().time, 0
    deadline = now() + within_s
    await plan_recurring_jobs(app.db, app.clock, app.settings)
    overdue = await list_due_partitions(
        app, person, app.clock() - int(overdue_s * SECOND), asks_models=asks_models
    )
    if overdue_s and (not overdue or await has_active_worker(app.db)):
        return 0
    skipped: set[str] = set()
    while now() < deadline:
        partitions = await list_due_partitions(app, person, app.clock(), asks_models=asks_models)
        partition = next((each for each in partitions if each not in skipped), None)
        if partition is None:
            break
        count = await run_partition(app, partition, left_s=deadline - now())
        done += count
        if not count:  # another process has it, or it was postponed
            skipped.add(partition)
    if now() < deadline:
        limit = None if math.isinf(within_s) else CATCH_UP_LIMIT
        problem = await try_embed_missing(app, person, limit=limit)
        if problem is not None:
            logger.info("%s", problem)
    return done


async def maintain_briefly(
    app: AppContext, person: PersonId, *, asks_models: bool = False, overdue_s: float = OVERDUE_S
) -> None:
    """Run overdue jobs in a short slice after an answer was given; errors are only logged."""
    try:
        await maintain(app, person, within_s=SLICE_S, asks_models=asks_models, overdue_s=overdue_s)
    except OldfriendError as error:
        logger.info("Maintenance is put off: %s", error)


async def maintain_continuously(app: AppContext, person: PersonId) -> None:
    """Read finished segments and run overdue jobs whenever there are any, until cancelled."""
    await learn_now(app, person)
    with app.notifier.subscribe() as wake_event:
        while True:
            await maintain(app, person, overdue_s=OVERDUE_S)
            await wake_event.wait(POLL_INTERVAL_S)
            if await has_due_job(app.db, app.clock, build_learning_partition(person)):
                await process_due_segments(app, person)


class MaintenanceTask:
    """Maintenance in the background of a program's calls, one slice at a time."""

    def __init__(self, app: AppContext, person: PersonId, *, budget_s: float) -> None:
        """Set the person and the seconds of a slice; 0 turns maintenance off."""
        self._app = app
        self._person = person
        self._budget_s = budget_s
        self._task: asyncio.Task[None] | None = None
        self._checked_at = -math.inf

    def start(self) -> None:
        """Start a slice, unless one is running or was started a moment ago."""
        loop = asyncio.get_running_loop()
        is_running = self._task is not None and not self._task.done()
        is_too_soon = loop.time() - self._checked_at < CHECK_INTERVAL_S
        if not self._budget_s or is_running or is_too_soon:
            return
        self._checked_at = loop.time()
        self._task = loop.create_task(self._run())

    async def close(self) -> None:
        """Give a running slice its time to end, then cancel it."""
        if self._task is None:
            return
        await asyncio.wait([self._task], timeout=self._budget_s)
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _run(self) -> None:
        try:
            await maintain(self._app, self._person, within_s=self._budget_s, overdue_s=OVERDUE_S)
        except OldfriendError as error:
            logger.warning("Maintenance is put off: %s", error)


async def has_active_worker(db: Database) -> bool:
    """Return whether any process is running background jobs of this store now."""
    async with db.begin_read() as tx:
        return await is_queue_leased(tx, "agenda")


async def plan_recurring_jobs(db: Database, clock: Clock, settings: Settings) -> None:
    """Schedule the daily jobs that the person has turned on."""
    if settings.retention.messages_days is not None:
        async with db.begin_write() as tx:
            await plan_retention(tx, clock, settings, due_at=clock())


async def list_due_partitions(
    app: AppContext, person: PersonId, due_at: int, *, asks_models: bool
) -> list[str]:
    """Return the partitions with a job of this person, or of everybody, that was due by then."""
    learning_partitions = [
        build_learning_partition(person),
        build_backlog_partition(person),
        build_rollup_partition(person),
        build_maintenance_partition(person),
    ]
    reflection_partitions = [build_reflection_partition(name, person) for name in REFLECTION_JOBS]
    partitions = [build_purge_partition(person), EMBED_JOB, RETENTION_JOB]
    if asks_models or "small" not in app.models:
        partitions += learning_partitions
    if asks_models or "reflect" not in app.models:
        partitions += reflection_partitions
    if asks_models or "main" not in app.models:
        partitions.append(build_look_partition(person))
    async with app.db.begin_read() as tx:
        return await filter_ready_partitions(tx, "agenda", partitions, now=due_at)


async def run_partition(app: AppContext, partition: str, *, left_s: float) -> int:
    """Run the due jobs of a partition; return how many were done.

    Embedding resumes where it stopped, so it is interrupted in time; other jobs finish.
    """
    lease = await claim_partition(app, partition)
    if lease is None:
        return 0
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    timer = None if math.isinf(left_s) else loop.call_later(left_s, stopping.set)
    try:
        async with asyncio.timeout(
            left_s if partition == EMBED_JOB and timer is not None else None
        ):
            return len(await run_leased_jobs(app, lease, stopping=stopping))
    except TimeoutError:
        return 0
    finally:
        if timer is not None:
            timer.cancel()

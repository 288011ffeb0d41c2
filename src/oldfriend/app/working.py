"""What does a worker do all day? It takes what waits in inbox, outbox and agenda, and does it.

Any number of workers, in any number of processes, share the lanes; each lane is worked on by one
at a time, different lanes beside each other.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from oldfriend.app.answering import work_on
from oldfriend.app.delivering import deliver
from oldfriend.app.house import House
from oldfriend.app.jobs import do_jobs, plan_jobs
from oldfriend.app.running.telling import tell_trouble
from oldfriend.app.waking import Bell
from oldfriend.domain.clock import SECOND
from oldfriend.domain.errors import StoreError
from oldfriend.domain.letters import Claim, Queue
from oldfriend.queues.lanes import claim, next_due

SWEEP_S = 5.0
"""So often it looks without being woken: for leases that ran out, and bells that did not ring."""
MOST_FAILURES = 5
"""So often in a row the database may fail before somebody else has to decide what to do."""
JOBS_AT_ONCE = 1
"""Background work must never be in the way of a reply."""

Do: TypeAlias = Callable[[House, Claim], Awaitable[None]]


async def work(house: House, *, stopping: asyncio.Event) -> None:
    """Do what waits until told to stop; then finish what was begun.

    Raises StoreError when the database fails; what a single turn or job raises is logged.
    """
    await plan_jobs(house)
    at_once = house.settings.serve.turns_at_once
    async with asyncio.TaskGroup() as queues:
        queues.create_task(work_through(house, "inbox", work_on, at_once, stopping))
        queues.create_task(work_through(house, "outbox", deliver, at_once, stopping))
        queues.create_task(work_through(house, "agenda", do_jobs, JOBS_AT_ONCE, stopping))
        await stopping.wait()
        house.waking.ring()


async def work_through(
    house: House, queue: Queue, do: Do, at_once: int, stopping: asyncio.Event
) -> None:
    """Take lane after lane of one queue, so many at once, and wait when nothing is due."""
    room = asyncio.Semaphore(at_once)
    with house.waking.bell() as bell:
        async with asyncio.TaskGroup() as running:
            while True:
                await room.acquire()
                held = await wait_for_work(house, queue, bell, stopping)
                if held is None:
                    return
                running.create_task(do_safely(house, do, held, room))


async def wait_for_work(
    house: House, queue: Queue, bell: Bell, stopping: asyncio.Event
) -> Claim | None:
    """Hold a lane as soon as something is due in one; None when told to stop.

    A database that fails is asked again a few times: what runs meanwhile need not end for it.
    Raises StoreError.
    """
    failures = 0
    while not stopping.is_set():
        try:
            if (held := await claim_next(house, queue)) is not None:
                return held
            await pause(house, queue, bell, stopping)
            failures = 0
        except StoreError as error:
            failures += 1
            if failures > MOST_FAILURES:
                raise
            tell_trouble("claim-failed", error, queue=queue)
            await bell.wait(failures)
    return None


async def claim_next(house: House, queue: Queue) -> Claim | None:
    """Hold a lane in which something is due."""
    async with house.db.writing() as tx:
        return await claim(
            tx, queue, owner=house.name, now=house.clock(),
            lease_s=house.settings.limits.lease_s,
        )  # fmt: skip


async def do_safely(house: House, do: Do, held: Claim, room: asyncio.Semaphore) -> None:
    """Do what waits in a lane; what goes wrong there goes no further."""
    try:
        await do(house, held)
    except Exception as error:
        tell_trouble("work-failed", error, queue=held.queue, lane=held.lane)
    finally:
        room.release()


async def pause(house: House, queue: Queue, bell: Bell, stopping: asyncio.Event) -> None:
    """Wait until something may be due."""
    async with house.db.reading() as tx:
        due_at = await next_due(tx, queue)
    sweep_s = min(SWEEP_S, house.settings.limits.lease_s)
    left_s = sweep_s if due_at is None else (due_at - house.clock()) / SECOND
    if not stopping.is_set():
        await bell.wait(min(max(left_s, 0.0), sweep_s))

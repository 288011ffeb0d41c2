"""What does a worker do all day? It takes what waits in inbox, outbox and agenda, and does it.

Any number of workers, in any number of processes, share the lanes; each lane is worked on by one
at a time, different lanes beside each other.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeAlias, TypeVar

from oldfriend.app.answering import work_on
from oldfriend.app.delivering import deliver
from oldfriend.app.forming.tending import cut_at_shutdown
from oldfriend.app.holding import INTERRUPTED, Hold
from oldfriend.app.house import House
from oldfriend.app.jobs import do_jobs, plan_jobs
from oldfriend.app.running.keeping import at_most
from oldfriend.app.running.telling import tell_trouble
from oldfriend.app.waking import Bell
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND
from oldfriend.domain.errors import SchemaTooNew, StoreError
from oldfriend.domain.letters import Claim, Queue
from oldfriend.queues.lanes import claim, next_due

SWEEP_S = 5.0
"""So often it looks without being woken: for leases that ran out, and bells that did not ring."""
LONGEST_WAIT_S = 30.0
"""For a database that is away; it is waited for without end."""
GRACE_S = 5.0
CLAIMED_AT_ONCE = 16
"""Lanes, with one commit; what is left is for other workers."""
JOBS_AT_ONCE = 1
"""Background work must never be in the way of a reply."""
BREATH_S = 0.02
LATE = 1.5
"""Whoever wakes so many times as late has others to wait for."""
PATIENCE_S = 2.0
"""For so long background work lets replies go first, before it takes the next thing up."""
DIED_IN_COMPANY = 2
"""So many deaths may be due to what was done beside it; then it is done alone."""
EMPTIED_S = 5.0
"""So long those are waited for who are at it; who takes longer is all the company there is."""
ALONE_S = 10.0
"""So long nobody is let in beside it: a chat that hangs must delay no others for longer."""
SETTLED_S = 3.0
"""Who has only just begun is slow, and ended for any reason: what is suspect waits for so long."""

Do: TypeAlias = Callable[[House, Claim, asyncio.Event], Awaitable[None]]
T = TypeVar("T")


async def work(house: House, *, stopping: asyncio.Event) -> None:
    """Do what waits until told to stop; then finish what was begun.

    Raises SchemaTooNew; what a single turn or job raises is logged, and a database that is away is
    waited for.
    """
    await until_it_works(partial(plan_jobs, house), stopping)
    at_once = house.settings.serve.turns_at_once
    async with asyncio.TaskGroup() as queues:
        queues.create_task(work_through(house, "inbox", answer_all, at_once, stopping))
        if house.channels:  # else it is left to those who can reach somebody
            queues.create_task(work_through(house, "outbox", deliver, at_once, stopping))
        queues.create_task(work_through(house, "agenda", do_jobs, JOBS_AT_ONCE, stopping))
        await stopping.wait()
        house.waking.ring()
    await leave_to_be_read(house)


async def leave_to_be_read(house: House) -> None:
    """Let the next start read what was said, as far as the talk is over; that must be quick."""
    try:
        async with asyncio.timeout(GRACE_S):
            await cut_at_shutdown(house)
    except (TimeoutError, StoreError) as error:
        tell_trouble("not-cut-at-shutdown", error)  # a pause will have it read all the same


async def work_through(
    house: House, queue: Queue, do: Do, at_once: int, stopping: asyncio.Event
) -> None:
    """Take lane after lane of one queue, so many at once, and wait when nothing is due."""
    room, settled_at = Room(at_once), asyncio.get_running_loop().time() + SETTLED_S
    with house.waking.bell(topic=queue) as bell:
        async with asyncio.TaskGroup() as running:
            while True:
                places = await room.enter(most=CLAIMED_AT_ONCE)
                claims = await wait_for_work(house, queue, places, bell, stopping)
                if claims is None:
                    return
                room.leave(places - len(claims))
                for held in claims:
                    if not is_suspect(held):
                        running.create_task(do_safely(house, do, held, room, stopping))
                    elif asyncio.get_running_loop().time() < settled_at:
                        await Hold(house, held).give_back(held.letters[0], for_s=SETTLED_S)
                        room.leave()
                    else:  # the last one
                        alone = running.create_task(do_alone(house, do, held, room, stopping))
                        await asyncio.wait([alone], timeout=ALONE_S)


class Room:
    """Where so many can work at once, or one alone."""

    def __init__(self, at_once: int) -> None:
        """Nobody is in it."""
        self._free = asyncio.Semaphore(at_once)
        self._at_once = at_once
        self._inside = 0

    @property
    def is_shared(self) -> bool:
        """Whether more than one is in it."""
        return self._inside > 1

    async def enter(self, *, most: int = 1) -> int:
        """Wait for a place, and take others that are free as well; how many."""
        await self._free.acquire()
        places = 1
        while places < most and not self._free.locked():
            await self._free.acquire()
            places += 1
        self._inside += places
        return places

    def leave(self, places: int = 1) -> None:
        """Make place for others."""
        self._inside -= places
        for _ in range(places):
            self._free.release()

    async def empty(self, *, within_s: float) -> None:
        """Wait until whoever is in it is alone, not for longer; only they let others in."""
        taken = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while taken < self._at_once - 1:
                    await self._free.acquire()
                    taken += 1
        for _ in range(taken):
            self._free.release()


def is_suspect(held: Claim) -> bool:
    """Whether what is next in a lane has taken down whoever began it, or was beside what did.

    What has failed by itself has taken nobody down.
    """
    if held.given_up or not held.letters:  # somebody is to be told, by whoever holds this claim
        return False
    first = held.letters[0]
    return first.attempts > DIED_IN_COMPANY and first.error in {None, INTERRUPTED}


async def do_alone(house: House, do: Do, held: Claim, room: Room, stopping: asyncio.Event) -> None:
    """Do what waits in a lane while nothing else of its queue is done here, or next to nothing.

    Else what takes its worker down would have all blamed for it that is done beside it.
    """
    alone: Claim | None = held
    if room.is_shared:
        await Hold(house, held).give_back(held.letters[0])  # as if it had not been begun
        await room.empty(within_s=EMPTIED_S)
        alone = await until_it_works(
            partial(claim_next, house, held.queue, held.lane), stopping
        )  # fmt: skip
    if alone is None:  # somebody else is at it
        room.leave()
        return
    await do_safely(house, do, alone, room, stopping)


async def wait_for_work(
    house: House, queue: Queue, most: int, bell: Bell, stopping: asyncio.Event
) -> list[Claim] | None:
    """Hold lanes, at most so many, as soon as something is due in one; None when told to stop."""
    while not stopping.is_set():
        if queue == "agenda":
            await until_calm(stopping)
        claims = await until_it_works(partial(claim_some, house, queue, most), stopping)
        if claims:
            return claims
        await until_it_works(partial(pause, house, queue, bell, stopping), stopping)
    return None


async def until_calm(stopping: asyncio.Event) -> None:
    """Wait until this process has time for what nobody waits for; not longer than it is patient."""
    now = asyncio.get_running_loop().time
    patient_until = now() + PATIENCE_S
    while (began := now()) < patient_until and not stopping.is_set():
        await asyncio.sleep(BREATH_S)
        if now() - began < BREATH_S * LATE:
            return


async def until_it_works(act: Callable[[], Awaitable[T]], stopping: asyncio.Event) -> T | None:
    """Do something that needs the database, however long that is away; None when told to stop.

    Raises SchemaTooNew, which does not pass.
    """
    failures = 0
    while not stopping.is_set():
        try:
            return await act()
        except SchemaTooNew:
            raise
        except StoreError as error:
            failures += 1
            tell_trouble("database-failed", error, times=failures)
            await at_most(min(failures, LONGEST_WAIT_S), stopping)
    return None


async def claim_some(house: House, queue: Queue, most: int) -> list[Claim]:
    """Hold lanes in which something is due, at most so many; one that is suspect comes last."""
    claims: list[Claim] = []
    async with house.db.writing() as tx:
        while len(claims) < most and (held := await claim_in(tx, house, queue)) is not None:
            claims.append(held)
            if is_suspect(held):
                break
    return claims


async def claim_next(house: House, queue: Queue, lane: str | None = None) -> Claim | None:
    """Hold a lane in which something is due, or this one if something is."""
    async with house.db.writing() as tx:
        return await claim_in(tx, house, queue, lane)


async def claim_in(
    tx: Transaction, house: House, queue: Queue, lane: str | None = None
) -> Claim | None:
    """The same, in a transaction; locked lanes of others are passed over, not waited for."""
    return await claim(
        tx, queue, owner=house.name, now=house.clock(),
        lease_s=house.settings.limits.lease_s, lane=lane,
    )  # fmt: skip


async def do_safely(house: House, do: Do, held: Claim, room: Room, stopping: asyncio.Event) -> None:
    """Do what waits in a lane; what goes wrong there goes no further."""
    try:
        await do(house, held, stopping)
    except Exception as error:
        tell_trouble("work-failed", error, queue=held.queue, lane=held.lane)
    finally:
        room.leave()


async def answer_all(house: House, held: Claim, stopping: asyncio.Event) -> None:
    """Answer what waits in a chat, until told to stop."""
    await work_on(house, held, stopping=stopping)


async def pause(house: House, queue: Queue, bell: Bell, stopping: asyncio.Event) -> None:
    """Wait until something is due, or it is time to look for what nobody rings for.

    Whatever rings may be for others: whether it is for us is read, which is cheap, and not tried.
    """
    now, sweep_s = asyncio.get_running_loop().time, min(SWEEP_S, house.settings.limits.lease_s)
    sweeps_at = now() + sweep_s
    while not stopping.is_set() and (left_s := sweeps_at - now()) > 0:
        due_s = await due_in(house, queue)
        if due_s <= 0:
            return
        await bell.wait(min(due_s, left_s))


async def due_in(house: House, queue: Queue) -> float:
    """In how many seconds something is due that nobody holds; for ever, where nothing is."""
    async with house.db.reading() as tx:
        due_at = await next_due(tx, queue)
    return math.inf if due_at is None else (due_at - house.clock()) / SECOND

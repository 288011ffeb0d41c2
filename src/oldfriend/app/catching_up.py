"""How is what waits to be read read here and now, while somebody looks on or after they have left?

Through the agenda, like everything in the background: whoever holds the lane reads, others wait
or leave it to them; what is interrupted goes on where it was. What fails stays planned.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from oldfriend.app.beside import beside
from oldfriend.app.forming.tending import READ, lane_of, old_lane_of, tend
from oldfriend.app.house import House
from oldfriend.app.jobs import do_jobs
from oldfriend.app.working import Room, do_safely
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import LATEST
from oldfriend.domain.errors import InvalidInput, OldfriendError
from oldfriend.domain.ids import PersonId
from oldfriend.domain.letters import Claim
from oldfriend.domain.sayings import saying
from oldfriend.memory.segments import Cut, count_segments
from oldfriend.queues.agenda import count_jobs, job_of
from oldfriend.queues.lanes import claim, list_letters, postpone, retry_letter
from oldfriend.queues.letters import find_letter, first_due

LOOK_S: Final = 0.3
LOOK_AGAIN_S: Final = 30.0
IS_OFF: Final = saying(
    "forms_off",
    "Nothing is learned from what is said: [memory] forms is off in oldfriend.toml. "
    "To have it learn again, set forms = true there.",
)  # fmt: skip
GRACE_S: Final = 5.0
"""So long somebody who leaves waits for the rest to be read; what is not is read later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the reading has come."""

    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CaughtUp:
    """What became of what was to be read."""

    read: int = 0  # stretches of talk, also what was trivial
    waiting: int = 0  # put off, paused, or read by another process
    failed: int = 0  # tried so often that it was set aside


Show = Callable[[Progress], None]


async def catch_up(
    house: House, person: PersonId, *, because: Cut | None = None, imported: bool = False,
    show: Show | None = None, patience_s: float = 0.0,
) -> CaughtUp:  # fmt: skip
    """Cut what is ripe and read it, where memory is to form.

    ``because`` has everything cut. For ``patience_s`` somebody else is waited for who is at it.
    Raises InvalidInput when it was asked for, and memory is not to form.
    """
    if not house.settings.memory.forms:
        if because == "asked":
            raise InvalidInput(IS_OFF)
        return CaughtUp()
    await tend(house, person, because=because, imported=imported)
    return await read_planned(house, person, show=show, patience_s=patience_s)


async def read_planned(
    house: House, person: PersonId, *, show: Show | None = None, patience_s: float = 0.0
) -> CaughtUp:
    """Read everything that is planned and due, in its order."""
    working = work_off(house, person, patience_s=patience_s)
    read = await beside(tell_progress(house, person, show), working)
    async with house.db.reading() as tx:
        left, counts = await count_planned(tx, person), await count_segments(tx, person)
    return CaughtUp(read=read, waiting=left, failed=counts.get("failed", 0))


async def read_ripe(house: House, person: PersonId) -> str | None:
    """Read what has become ripe, whatever comes of it; None, or what to tell if it did not work."""
    try:
        await read_planned(house, person)
    except OldfriendError as error:
        return f"What was said will be read later: {error}"
    return None


async def read_meanwhile(house: House, person: PersonId) -> None:
    """Read what is ripe, now and whenever something becomes so; until it is cancelled."""
    await catch_up(house, person)
    with house.waking.bell() as bell:
        while True:
            await bell.wait(LOOK_AGAIN_S)
            if await is_due(house, lane_of(person)):
                await read_planned(house, person)


async def leave(house: House, person: PersonId) -> None:
    """Read the rest of a talk that is over, as far as that is quick; a model reads it later."""
    if "small" in house.models:
        return
    try:
        async with asyncio.timeout(GRACE_S):
            await catch_up(house, person, because="shutdown")
    except (TimeoutError, OldfriendError):
        return  # nobody is there to be told; it is read at the next start


async def work_off(house: House, person: PersonId, *, patience_s: float) -> int:
    """Do what is due in a person's lanes until nothing is; how many readings came to their end."""
    now, read = asyncio.get_running_loop().time, 0
    patient_until = now() + patience_s
    with house.waking.bell() as bell:
        for lane in (lane_of(person), old_lane_of(person)):
            while True:
                if (held := await take(house, lane)) is not None:
                    read += await do_held(house, held)
                elif now() < patient_until and await is_due(house, lane):
                    await bell.wait(LOOK_S)  # somebody else is at it
                else:
                    break
    return read


async def take(house: House, lane: str) -> Claim | None:
    """Hold a lane, where something is due and nobody else holds it."""
    async with house.db.writing() as tx:
        return await claim(
            tx, "agenda", owner=house.name, now=house.clock(),
            lease_s=house.settings.limits.lease_s, lane=lane,
        )  # fmt: skip


async def do_held(house: House, held: Claim) -> int:
    """Do the jobs of a lane; how many readings are done. What goes wrong is put off, no more."""
    room = Room(1)
    await room.enter()
    await do_safely(house, do_jobs, held, room, asyncio.Event())
    readings = [each for each in held.letters if job_of(each).name == READ]
    async with house.db.reading() as tx:
        left = [await find_letter(tx, each.queue, each.lane, each.seq) for each in readings]
    return left.count(None)


async def is_due(house: House, lane: str) -> bool:
    """Whether something is to be done in a lane now."""
    async with house.db.reading() as tx:
        due_at = await first_due(tx, "agenda", lane)
    return due_at is not None and due_at <= house.clock()


async def tell_progress(house: House, person: PersonId, show: Show | None) -> None:
    """Show how far it is, now and then; for ever, so that it is cancelled at the end."""
    total = 0
    while show is not None:
        left = await count_left(house, person)
        total = max(total, left)
        show(Progress(done=total - left, total=total))
        await asyncio.sleep(LOOK_S)


async def count_left(house: House, person: PersonId) -> int:
    """How many readings are planned."""
    async with house.db.reading() as tx:
        return await count_planned(tx, person)


async def count_planned(tx: Transaction, person: PersonId) -> int:
    """How many readings are planned, paused ones among them."""
    return await count_jobs(tx, READ, lanes=[lane_of(person), old_lane_of(person)])


async def pause(house: House, person: PersonId) -> int:
    """Read no more of old talk until it is resumed; how many readings wait then."""
    lane = old_lane_of(person)
    async with house.db.writing() as tx:
        await postpone(tx, "agenda", lane, since=0, due_at=LATEST)
        return await count_planned(tx, person)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What is still to be read, and whether old talk is read now."""

    waiting: int
    failed: int
    is_paused: bool


async def waiting_of(house: House, person: PersonId) -> Waiting:
    """What of a person is still to be read."""
    async with house.db.reading() as tx:
        waiting, counts = await count_planned(tx, person), await count_segments(tx, person)
        due_at = await first_due(tx, "agenda", old_lane_of(person))
    return Waiting(waiting=waiting, failed=counts.get("failed", 0), is_paused=due_at == LATEST)


async def resume(house: House, person: PersonId) -> None:
    """Go on with old talk, and try once more what was set aside."""
    now, lanes = house.clock(), {lane_of(person), old_lane_of(person)}
    async with house.db.writing() as tx:
        for letter in await list_letters(tx, parked=True):
            if letter.lane in lanes:
                await retry_letter(tx, letter.queue, letter.lane, letter.seq, now=now)
        for lane in sorted(lanes):
            await postpone(tx, "agenda", lane, since=0, due_at=now)
        await tx.wake()

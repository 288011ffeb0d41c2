"""Which work goes on in the background, and how is it done? Never in the way of a reply."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from oldfriend.app.attaching import SWEEP, may_hold, sweep
from oldfriend.app.embedding import EMBED, embed_missing, plan_embedding
from oldfriend.app.forgetting import RETAIN, retain_for_everybody
from oldfriend.app.forming.tending import (
    FOLD,
    READ,
    TEND,
    TIDY,
    because_in,
    fold,
    give_up_reading,
    plan_next_tidying,
    read,
    segment_in,
    since_in,
    tend,
    tidy,
)
from oldfriend.app.forming.thinking_ahead import DESCRIBE, REFLECT, THINKING, TICK, think
from oldfriend.app.holding import Hold
from oldfriend.app.house import House
from oldfriend.app.recordings import LISTEN, overhear
from oldfriend.app.running.telling import tell
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, MINUTE, Micros, from_micros, start_of_day
from oldfriend.domain.errors import (
    AllowanceUsedUp,
    BrokenOutput,
    InvalidInput,
    LeaseLost,
    UnknownJob,
)
from oldfriend.domain.ids import PersonId
from oldfriend.domain.letters import Claim, Letter
from oldfriend.memory.people import list_people
from oldfriend.queues.agenda import Job, job_of, put_job
from oldfriend.queues.backoff import retry_at
from oldfriend.queues.inbox import open_turns
from oldfriend.queues.lanes import MOST_ATTEMPTS, fail, finish, release
from oldfriend.queues.letters import first_due

PATIENCE = 9
"""A job that is not known here is looked at as rarely as what was tried so often."""

Work: TypeAlias = Callable[[House, Letter], Awaitable[None]]


async def embed_everybody(house: House, _: Letter) -> None:
    """Give vectors to all messages that have none from the embedder of now.

    Those of turns that still wait are left to the turns.
    """
    async with house.db.reading() as tx:
        people, waiting = await list_people(tx), await open_turns(tx)
    for person in people:
        await embed_missing(house, person.id, besides=waiting)


async def tend_memory(house: House, letter: Letter) -> None:
    """Have read what somebody has said."""
    await tend(house, whose(letter), because=because_in(job_of(letter)))


async def read_segment(house: House, letter: Letter) -> None:
    """Read a stretch of talk."""
    segment, by = segment_in(job_of(letter))
    await read(house, whose(letter), segment, by=by)


async def retain_messages(house: House, _: Letter) -> None:
    """Let messages go that are older than was chosen, and do so again tomorrow."""
    await retain_for_everybody(house)
    if house.settings.retention.messages_days is not None:
        async with house.db.writing() as tx:
            again = Job(name=RETAIN)
            now = house.clock()
            await put_job(tx, RETAIN, again, person=None, now=now, due_at=now + DAY)


async def sweep_sounds(house: House, _: Letter) -> None:
    """Delete the files of sounds that no row names, and do so again tomorrow."""
    await sweep(house)
    now = house.clock()
    if may_hold(house.settings):
        async with house.db.writing() as tx:
            await put_job(tx, SWEEP, Job(name=SWEEP), person=None, now=now, due_at=now + DAY)


async def tidy_memory(house: House, letter: Letter) -> None:
    """Join what says the same, end what is overdue."""
    await tidy(house, whose(letter), since=since_in(job_of(letter)))


async def fold_summaries(house: House, letter: Letter) -> None:
    """Fold the oldest summaries."""
    await fold(house, whose(letter))


async def think_ahead(house: House, letter: Letter) -> None:
    """Think about what was read; what was thought ends in its time, also if nobody talks again."""
    person = whose(letter)
    try:
        await think(house, person, job_of(letter).name)
    except Exception:
        await plan_to_end(house, person)
        raise
    await plan_to_end(house, person)


async def plan_to_end(house: House, person: PersonId) -> None:
    """Have what was thought end in its time."""
    async with house.db.writing() as tx:
        await plan_next_tidying(tx, person, now=house.clock())


async def listen(house: House, letter: Letter) -> None:
    """Listen to what was said to others."""
    await overhear(house, whose(letter), job_of(letter))


JOBS: Mapping[str, Work] = MappingProxyType({
    EMBED: embed_everybody, TEND: tend_memory, READ: read_segment, TIDY: tidy_memory,
    FOLD: fold_summaries, RETAIN: retain_messages,
    REFLECT: think_ahead, TICK: think_ahead, DESCRIBE: think_ahead, SWEEP: sweep_sounds,
    LISTEN: listen,
})  # fmt: skip
HELD_UP = 60 * MINUTE
"""So often it is looked whether memory is to form again."""
MOST_READINGS = 3
"""What a model reads or thinks so often in vain is set aside (ACCEPTANCE G11, F11)."""


async def plan_jobs(house: House) -> None:
    """Put on the agenda what a start may find undone."""
    async with house.db.writing() as tx:
        await plan_embedding(tx, now=house.clock())
        await plan_retaining(tx, house, due_at=house.clock())
        await plan_sweeping(tx, house, due_at=house.clock())


async def plan_retaining(tx: Transaction, house: House, *, due_at: Micros) -> None:
    """Have messages let go that are older than was chosen, where anything was; once a day."""
    is_chosen = house.settings.retention.messages_days is not None
    if is_chosen and await first_due(tx, "agenda", RETAIN) is None:
        await put_job(
            tx, RETAIN, Job(name=RETAIN), person=None, now=house.clock(), due_at=due_at
        )  # fmt: skip


async def plan_sweeping(tx: Transaction, house: House, *, due_at: Micros) -> None:
    """Have files of sounds swept where there may be any; once a day."""
    if may_hold(house.settings) and await first_due(tx, "agenda", SWEEP) is None:
        await put_job(tx, SWEEP, Job(name=SWEEP), person=None, now=house.clock(), due_at=due_at)


async def do_jobs(house: House, claim: Claim, stopping: asyncio.Event) -> None:
    """Do the jobs that are due in a lane; what fails is tried again, or parked."""
    hold = Hold(house, claim)
    for letter in claim.letters:
        if stopping.is_set():
            break
        if job_of(letter).name == READ and not house.settings.memory.forms:
            await wait_for_forming(house, claim, letter)
            return
        try:
            await hold.during(do(house, letter))
        except LeaseLost:
            return  # somebody else is at it
        except asyncio.CancelledError:
            await hold.give_back(letter)
            raise
        except AllowanceUsedUp as error:
            await wait_for_tomorrow(house, claim, letter, error)
            return
        except Exception as error:
            await put_off(house, claim, letter, error)
            raise
        async with house.db.writing() as tx:
            await finish(tx, claim, [letter], now=house.clock())
    await hold.give_back()


async def do(house: House, letter: Letter) -> None:
    """Do one job. Raises UnknownJob for one that only a newer version knows."""
    name = job_of(letter).name
    if name not in JOBS:
        raise UnknownJob(f"This version does not know the job {name!r}.")
    await JOBS[name](house, letter)


def whose(letter: Letter) -> PersonId:
    """The person a job is for. Raises InvalidInput."""
    if letter.person is None:
        raise InvalidInput(f"Letter {letter.seq} in {letter.lane} names no person.")
    return letter.person


async def wait_for_tomorrow(
    house: House, claim: Claim, letter: Letter, error: AllowanceUsedUp
) -> None:
    """Have a job done when it may cost something again; that it was begun does not count."""
    now, zone = house.clock(), house.settings.zone
    tomorrow = start_of_day(now, zone, days_back=-1)
    async with house.db.writing() as tx:
        await fail(
            tx, claim, letter, error=reason(error), now=now, retry_at=tomorrow, counts=False
        )  # fmt: skip
        await release(tx, claim, now=now)
    tell("waits-for-tomorrow", job=letter.lane, until=from_micros(tomorrow, zone).isoformat())


async def wait_for_forming(house: House, claim: Claim, letter: Letter) -> None:
    """Have talk read when memory is to form again; that it was begun does not count."""
    now = house.clock()
    async with house.db.writing() as tx:
        await fail(
            tx, claim, letter, error="[memory] forms is off", now=now, retry_at=now + HELD_UP,
            counts=False,
        )  # fmt: skip
        await release(tx, claim, now=now)


async def put_off(house: House, claim: Claim, letter: Letter, error: Exception) -> None:
    """Have a job that failed done again later; parked, when it was tried often enough.

    One that is not known here waits for a process that knows it, folding for the next reading.
    """
    now, is_known = house.clock(), not isinstance(error, UnknownJob)
    is_patient = not is_known or job_of(letter).name == FOLD
    tries = PATIENCE if is_patient else letter.attempts
    again = retry_at(now, tries, chance=random.random())
    is_reading = is_known and job_of(letter).name == READ
    is_in_vain = job_of(letter).name in THINKING and isinstance(error, BrokenOutput)
    most = MOST_READINGS if is_reading or is_in_vain else MOST_ATTEMPTS
    is_hopeless = not is_patient and letter.attempts >= most
    async with house.db.writing() as tx:
        if is_hopeless and is_reading:
            segment, _ = segment_in(job_of(letter))
            await give_up_reading(tx, whose(letter), segment, reason(error), now=now)
        await fail(
            tx, claim, letter, error=reason(error), now=now,
            retry_at=None if is_hopeless else again, counts=not is_patient,
        )  # fmt: skip
        await release(tx, claim, now=now)


def reason(error: Exception) -> str:
    """What went wrong, to be kept with a letter."""
    return f"{type(error).__name__}: {error}"

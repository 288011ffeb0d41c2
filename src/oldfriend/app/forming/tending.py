"""When is talk read, and by which jobs? Each segment is a job of its own, in the person's order.

So one that fails is tried again by itself while the others go on. Nothing is planned where
nothing was said.
"""

from typing import Final

from oldfriend.app.forming.means import By, means_for, small_model_for
from oldfriend.app.house import House
from oldfriend.background.compacting import compact
from oldfriend.background.consolidating import Consolidated, consolidate
from oldfriend.background.cutting import Ripeness, cut_ripe, ripe_at
from oldfriend.background.merging import merge
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId, SegmentId, SessionId
from oldfriend.domain.people import SESSION_IDLE
from oldfriend.ledger.calls import Asker
from oldfriend.memory.expiring import expire_overdue
from oldfriend.memory.people import lock_person
from oldfriend.memory.segments import Cut, Segment, find_segment, list_uncut, set_status
from oldfriend.queues.agenda import Job, put_job
from oldfriend.queues.letters import first_due

TEND: Final = "tend"
READ: Final = "read"
TIDY: Final = "tidy"


def lane_of(person: PersonId) -> str:
    """The lane in which a person's memory forms."""
    return f"memory:{person}"


async def note_talk(
    tx: Transaction, house: House, person: PersonId, session: SessionId, *, now: Micros
) -> None:
    """See to it that what was just said is read once it is ripe."""
    if not house.settings.memory.forms:
        return
    if await first_due(tx, "agenda", lane_of(person)) is None:
        await plan_tending(tx, person, now=now, due_at=now + SESSION_IDLE)
    most = house.settings.memory.read_every_turns
    if any(uncut.turns >= most for uncut in await list_uncut(tx, person, session=session)):
        await plan_tending(tx, person, now=now, due_at=now)


async def plan_tending(
    tx: Transaction, person: PersonId, *, now: Micros, due_at: Micros
) -> None:  # fmt: skip
    """Have a person's talk looked at, whether something is ripe."""
    await put_job(
        tx, lane_of(person), Job(name=TEND), person=person, now=now, due_at=due_at
    )  # fmt: skip
    if due_at <= now:
        await tx.wake()


async def tend(house: House, person: PersonId, *, because: Cut | None = None) -> list[Segment]:
    """Cut what is ripe, and plan to read it; look again when the rest may be ripe."""
    now = house.clock()
    ripeness = Ripeness(now=now, turns=house.settings.memory.read_every_turns, because=because)
    async with house.db.writing() as tx:
        segments = await cut_ripe(tx, person, ripeness)
        for segment in segments:
            await plan_reading(tx, segment, now=now)
        growing = [ripe_at(uncut) for uncut in await list_uncut(tx, person)]
        if growing:
            await plan_tending(tx, person, now=now, due_at=max(min(growing), now + 1))
    return segments


async def plan_reading(
    tx: Transaction, segment: Segment, *, now: Micros, by: By = "either"
) -> None:
    """Have a segment read."""
    job = Job(name=READ, arguments={"segment": segment.id, "by": by})
    await put_job(tx, lane_of(segment.person), job, person=segment.person, now=now)


async def read(
    house: House, person: PersonId, segment_id: SegmentId, *, by: By = "either"
) -> Consolidated | None:
    """Read a segment that waits for it; None when it was read or taken away meanwhile.

    Raises what reading raises; nothing of it is written then.
    """
    async with house.db.reading() as tx:
        segment = await find_segment(tx, person, segment_id)
    if segment is None or segment.status in {"done", "trivial"}:
        return None
    done = await consolidate(await means_for(house, segment, by=by), segment)
    async with house.db.writing() as tx:
        await plan_tidying(tx, person, now=house.clock())
    return done


async def give_up_reading(
    tx: Transaction, person: PersonId, segment: SegmentId, error: str, *, now: Micros
) -> None:
    """Note that a segment could not be read, as often as it was tried."""
    failed = await find_segment(tx, person, segment)
    if failed is not None:
        await set_status(tx, failed, "failed", error=error, now=now)


async def plan_tidying(tx: Transaction, person: PersonId, *, now: Micros) -> None:
    """Have a person's memory tidied within a day, unless that is planned."""
    lane = f"{TIDY}:{person}"
    if await first_due(tx, "agenda", lane) is None:
        await put_job(tx, lane, Job(name=TIDY), person=person, now=now, due_at=now + DAY)


async def tidy(house: House, person: PersonId) -> None:
    """Join what says the same, fold old summaries, and end what is overdue."""
    now = house.clock()
    async with house.db.writing() as tx:
        await lock_person(tx, person)
        await expire_overdue(tx, person, now=now)
    asker = Asker(person=person, is_background=True)
    model = small_model_for(house, asker)
    await merge(house.db, person, model=model, embedder=house.embedder.model, now=now)
    await compact(house.db, person, model=model, now=now)


def segment_in(job: Job) -> tuple[SegmentId, By]:
    """Which segment a job is to read, and who is to. Raises InvalidInput."""
    segment, by = job.arguments.get("segment"), job.arguments.get("by")
    if not isinstance(segment, str) or by not in {"rules", "model", "either"}:
        raise InvalidInput(f"A job to read something that is not a segment: {dict(job.arguments)}")
    return SegmentId(segment), by  # type: ignore[return-value]

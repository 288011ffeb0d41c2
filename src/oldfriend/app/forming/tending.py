"""When is talk read, and by which jobs? Each segment is a job of its own, in the person's order.

So one that fails is tried again by itself while the others go on. Nothing is planned where
nothing was said.
"""

from collections.abc import Sequence
from typing import Final

from oldfriend.app.forming.means import OF_IMPORTS, By, means_for, small_model_for
from oldfriend.app.house import House
from oldfriend.background.compacting import compact
from oldfriend.background.consolidating import Consolidated, consolidate
from oldfriend.background.cutting import Ripeness, cut_ripe, ripe_at
from oldfriend.background.merging import merge
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, MINUTE, Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import MessageId, PersonId, SegmentId, SessionId
from oldfriend.domain.people import SESSION_IDLE
from oldfriend.ledger.calls import Asker
from oldfriend.memory.expiring import expire_overdue
from oldfriend.memory.people import lock_person
from oldfriend.memory.segments import (
    Cut,
    Segment,
    count_uncut_turns,
    find_segment,
    list_segments,
    list_uncut,
    reopen_segment,
    reopen_segments,
    set_status,
)
from oldfriend.queues.agenda import Job, list_due, put_job
from oldfriend.queues.letters import first_due, list_people_in

TEND: Final = "tend"
READ: Final = "read"
TIDY: Final = "tidy"
STILL_TALKING: Final = 2 * MINUTE
"""Who has said something so shortly before may go on."""


def lane_of(person: PersonId) -> str:
    """The lane in which a person's memory forms of what they talk about."""
    return f"memory:{person}"


def old_lane_of(person: PersonId) -> str:
    """The lane in which old talk is read: what was imported, and what is read once more."""
    return f"old-talk:{person}"


async def note_talk(
    tx: Transaction, house: House, person: PersonId, session: SessionId, *, now: Micros
) -> None:
    """See to it that what was just said is read once it is ripe."""
    if not house.settings.memory.forms:
        return
    planned = await list_due(tx, TEND, lane=lane_of(person))
    if not planned:
        await plan_tending(tx, person, now=now, due_at=now + SESSION_IDLE)
    elif planned[0] <= now:
        return  # it is being looked at, or will be at once
    most = house.settings.memory.read_every_turns
    if await count_uncut_turns(tx, person, session) >= most:
        await plan_tending(tx, person, now=now, due_at=now)


async def note_brought(
    tx: Transaction, house: House, person: PersonId, *, now: Micros
) -> None:  # fmt: skip
    """See to it that what a program has brought is read once it is ripe."""
    is_planned = bool(await list_due(tx, TEND, lane=lane_of(person)))
    if house.settings.memory.forms and not is_planned:
        await plan_tending(tx, person, now=now, due_at=now + SESSION_IDLE)


async def plan_tending(
    tx: Transaction, person: PersonId, *, now: Micros, due_at: Micros
) -> None:  # fmt: skip
    """Have a person's talk looked at, whether something is ripe."""
    await put_job(
        tx, lane_of(person), Job(name=TEND), person=person, now=now, due_at=due_at
    )  # fmt: skip
    if due_at <= now:
        await tx.wake()


async def tend(
    house: House, person: PersonId, *, because: Cut | None = None, imported: bool = False
) -> list[Segment]:
    """Cut what is ripe, and plan to read it; look again when the rest may be ripe.

    ``because`` cuts everything; ``imported``: what was imported is all there.
    """
    now = house.clock()
    ripeness = Ripeness(
        now=now, turns=house.settings.memory.read_every_turns, because=because, imported=imported
    )
    async with house.db.writing() as tx:
        segments = await cut_ripe(tx, person, ripeness)
        for segment in await list_segments(tx, person, status=["waiting"]):
            await plan_reading(tx, segment, now=now)
        growing = [ripe_at(uncut) for uncut in await list_uncut(tx, person)]
        planned = await list_due(tx, TEND, lane=lane_of(person))
        if growing and not any(due_at > now for due_at in planned):
            await plan_tending(tx, person, now=now, due_at=max(min(growing), now + 1))
    return segments


async def plan_reading(
    tx: Transaction, segment: Segment, *, now: Micros, by: By = "either"
) -> None:
    """Have a segment read, once in each generation; what was imported beside the talk of now."""
    is_old = by == "model" or segment.cut_by == OF_IMPORTS
    lane = old_lane_of(segment.person) if is_old else lane_of(segment.person)
    job = Job(name=READ, arguments={"segment": segment.id, "by": by})
    key = f"{segment.id}/{segment.generation}/{by}"
    await put_job(tx, lane, job, person=segment.person, now=now, key=key)


async def read(
    house: House, person: PersonId, segment_id: SegmentId, *, by: By = "either"
) -> Consolidated | None:
    """Read a segment that waits for it; None when it was read or taken away meanwhile.

    One that rules have read is read once more where a model is asked for. Raises what reading
    raises; nothing of it is written then.
    """
    async with house.db.reading() as tx:
        segment = await find_segment(tx, person, segment_id)
    if segment is None or (is_read(segment) and not (by == "model" and is_by_rules(segment))):
        return None
    means = await means_for(house, segment, by=by)
    if is_read(segment):
        async with house.db.writing() as tx:
            await lock_person(tx, person)
            segment = await reopen_segment(tx, segment)
    done = await consolidate(means, segment)
    async with house.db.writing() as tx:
        await plan_tidying(tx, person, now=house.clock())
    return done


def is_read(segment: Segment) -> bool:
    """Whether a segment was read in this generation."""
    return segment.status in {"done", "trivial"}


def is_by_rules(segment: Segment) -> bool:
    """Whether a segment was read by rules."""
    return (segment.author or "").startswith("rules/")


async def reopened(
    tx: Transaction, person: PersonId, messages: Sequence[MessageId], *, now: Micros
) -> None:
    """Have read again what changed messages are part of, if it was read already."""
    if await reopen_segments(tx, person, messages):
        await plan_tending(tx, person, now=now, due_at=now)


async def cut_at_shutdown(house: House) -> None:
    """Cut the talk of everybody who has stopped talking, so that it is read at the next start."""
    if not house.settings.memory.forms:
        return
    now = house.clock()
    async with house.db.reading() as tx:
        people = await list_people_in(tx, "agenda", lane_of(PersonId("%")))
        silent = [
            person
            for person in people
            if all(each.written_at + STILL_TALKING < now for each in await list_uncut(tx, person))
        ]
    for person in silent:
        await tend(house, person, because="shutdown")


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

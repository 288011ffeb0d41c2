"""When is talk read, and by which jobs? Each segment is a job of its own, in the person's order.

So one that fails is tried again by itself while the others go on. Nothing is planned where
nothing was said.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from oldfriend.app.forming.means import OF_IMPORTS, By, means_for
from oldfriend.app.forming.thinking_ahead import plan_thinking
from oldfriend.app.house import House
from oldfriend.app.thinking import background_model
from oldfriend.background.compacting import compact, due_for_folding
from oldfriend.background.consolidating import Consolidated, consolidate
from oldfriend.background.cutting import (
    EARLY_TURNS,
    Ripeness,
    cut_ripe,
    ripe_at,
    turns_until_read,
)
from oldfriend.background.merging import merge
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, MINUTE, SECOND, Micros
from oldfriend.domain.errors import BrokenOutput, InvalidInput, ModelError, NotFound
from oldfriend.domain.ids import MessageId, PersonId, SegmentId, SessionId, TurnId
from oldfriend.domain.people import SESSION_IDLE
from oldfriend.ledger.calls import Asker, set_aside
from oldfriend.memory.beliefs import list_summaries
from oldfriend.memory.expiring import expire_overdue, next_expiry
from oldfriend.memory.log import get_message
from oldfriend.memory.people import lock_person
from oldfriend.memory.segments import (
    Cut,
    Segment,
    count_first_segments,
    find_segment,
    list_uncut,
    list_waiting,
    reopen_segment,
    reopen_segments,
    set_status,
)
from oldfriend.memory.thoughts import let_questions_go
from oldfriend.memory.thresholds import find_threshold, measure_uncut_turns
from oldfriend.memory.ticks import let_transcripts_go, next_fading
from oldfriend.queues.agenda import Job, list_due, put_job
from oldfriend.queues.lanes import postpone
from oldfriend.queues.letters import find_first, first_due, list_people_in

TEND: Final = "tend"
READ: Final = "read"
TIDY: Final = "tidy"
FOLD: Final = "fold"
STILL_TALKING: Final = 2 * MINUTE
"""Who has said something so shortly before may go on."""
A_BREATH: Final = 15 * SECOND
"""So long whoever is hardly known is left alone before they are read: what they say is answered."""
LONGEST_READING: Final = 60 * MINUTE
"""What others read at the same time was begun no longer ago."""


def lane_of(person: PersonId) -> str:
    """The lane in which a person's memory forms of what they talk about."""
    return f"memory:{person}"


def old_lane_of(person: PersonId) -> str:
    """The lane in which old talk is read: what was imported, and what is read once more."""
    return f"old-talk:{person}"


def fold_lane_of(person: PersonId) -> str:
    """The lane in which a person's summaries are folded."""
    return f"{FOLD}:{person}"


async def note_talk(
    tx: Transaction, house: House, person: PersonId, session: SessionId, *, now: Micros,
    dropped: Sequence[MessageId] = (),
) -> None:  # fmt: skip
    """See to it that what was just said is read once it is ripe.

    At once, where a model was not shown all of it (``dropped``, oldest first).
    """
    if not house.settings.memory.forms:
        return
    planned = await list_due(tx, TEND, lane=lane_of(person))
    if dropped and await is_uncut(tx, person, dropped[-1]):
        await plan_tending(tx, person, now=now, due_at=now, because="pressure")
    if not planned:
        await plan_tending(tx, person, now=now, due_at=now + SESSION_IDLE)
    elif planned[0] <= now:
        return  # it is being looked at, or will be at once
    said = await measure_uncut_turns(tx, person, session)
    most = said.threshold or house.settings.memory.read_every_turns
    if said.turns >= most:
        await plan_tending(tx, person, now=now, due_at=now)
    elif planned and planned[0] <= now + A_BREATH:
        return
    elif said.turns >= EARLY_TURNS[0] and said.turns >= await turns_for(tx, person, most=most):
        await plan_tending(tx, person, now=now, due_at=now + A_BREATH)


async def turns_for(tx: Transaction, person: PersonId, *, most: int) -> int:
    """After how many turns somebody is read at the latest: sooner while they are hardly known."""
    segments = await count_first_segments(tx, person, most=len(EARLY_TURNS))
    return turns_until_read(segments, most)


async def is_uncut(tx: Transaction, person: PersonId, message: MessageId) -> bool:
    """Whether a message is in no segment yet."""
    try:
        said = await get_message(tx, person, message)
    except NotFound:
        return False  # forgotten meanwhile
    uncut = await list_uncut(tx, person, session=said.session)
    return any(each.first_seq <= said.seq for each in uncut)


async def note_brought(
    tx: Transaction, house: House, person: PersonId, *, now: Micros
) -> None:  # fmt: skip
    """See to it that what a program has brought is read once it is ripe."""
    is_planned = bool(await list_due(tx, TEND, lane=lane_of(person)))
    if house.settings.memory.forms and not is_planned:
        await plan_tending(tx, person, now=now, due_at=now + SESSION_IDLE)


async def plan_tending(
    tx: Transaction, person: PersonId, *, now: Micros, due_at: Micros, because: Cut | None = None
) -> None:
    """Have a person's talk looked at, whether something is ripe; ``because`` makes it so."""
    job = Job(name=TEND, arguments={} if because is None else {"because": because})
    await put_job(tx, lane_of(person), job, person=person, now=now, due_at=due_at)
    if due_at <= now:
        await tx.wake()


async def tend(
    house: House, person: PersonId, *, because: Cut | None = None, imported: bool = False
) -> list[Segment]:
    """Cut what is ripe, and plan to read it; look again when the rest may be ripe.

    ``because`` cuts everything; ``imported``: what was imported is all there. Nothing is cut
    where memory is not to form.
    """
    if not house.settings.memory.forms:
        return []
    now = house.clock()
    async with house.db.writing() as tx:
        most = await find_threshold(tx, person) or house.settings.memory.read_every_turns
        turns = await turns_for(tx, person, most=most)
        ripeness = Ripeness(now=now, turns=turns, because=because, imported=imported)
        segments = await cut_ripe(tx, person, ripeness)
        for segment in await list_waiting(tx, person):
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
    began = house.clock()
    again = replace(segment, generation=segment.generation + 1) if is_read(segment) else segment
    means = await means_for(house, again, by=by)
    if is_read(segment):
        async with house.db.writing() as tx:
            await lock_person(tx, person)
            segment = await reopen_segment(tx, segment)
    try:
        done = await consolidate(means, segment)
    except BrokenOutput:
        async with house.db.writing() as tx:
            await set_aside(tx, person, TurnId(segment.id))  # else it would be read from it again
        raise
    async with house.db.writing() as tx:
        now = house.clock()
        await plan_tidying(tx, person, now=now, due_at=now + DAY, since=began - LONGEST_READING)
        await plan_folding(tx, person, now=now)
        if segment.cut_by != OF_IMPORTS or house.settings.memory.imports_by_model:
            await plan_thinking(tx, house, person, now=now)
    return done


def is_read(segment: Segment) -> bool:
    """Whether a segment was read in this generation."""
    return segment.status in {"done", "trivial"}


def is_by_rules(segment: Segment) -> bool:
    """Whether a segment was read by rules."""
    return (segment.author or "").startswith("rules/")


async def reopened(
    tx: Transaction, house: House, person: PersonId, messages: Sequence[MessageId], *, now: Micros
) -> None:
    """Have read again what changed messages are part of, if it was read already.

    Where memory is not to form, once it is to form again.
    """
    if await reopen_segments(tx, person, messages) and house.settings.memory.forms:
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


async def plan_tidying(
    tx: Transaction, person: PersonId, *, now: Micros, due_at: Micros, since: Micros
) -> None:
    """Have a person's memory tidied by a time; what was known at ``since`` was tidied then."""
    lane = f"{TIDY}:{person}"
    planned = [at for at in await list_due(tx, TIDY, lane=lane) if at > now]
    if not planned:
        job = Job(name=TIDY, arguments={"since": since})
        await put_job(tx, lane, job, person=person, now=now, due_at=due_at)
    elif planned[0] > due_at:
        await postpone(tx, "agenda", lane, since=0, due_at=due_at)


async def tidy(house: House, person: PersonId, *, since: Micros = 0) -> None:
    """Join what says the same, and end what is overdue; again when the next is to be let go."""
    now = house.clock()
    async with house.db.writing() as tx:
        await lock_person(tx, person)
        await expire_overdue(tx, person, now=now)
        await let_questions_go(tx, person, now=now)
        await let_transcripts_go(tx, person, now=now)
        await plan_folding(tx, person, now=now)
    model = await background_model(house, Asker(person=person, is_background=True), "small")
    embedder = house.embedder.model
    await merge(house.db, person, model=model, embedder=embedder, now=now, since=since)
    async with house.db.writing() as tx:
        await plan_next_tidying(tx, person, now=now)


async def plan_next_tidying(tx: Transaction, person: PersonId, *, now: Micros) -> None:
    """Have a person's memory tidied when the next thing in it is over, or to be let go."""
    ends = [await next_expiry(tx, person), await next_fading(tx, person)]
    due = [at for at in ends if at is not None]
    if due:
        await plan_tidying(tx, person, now=now, due_at=min(due), since=now)


async def plan_folding(tx: Transaction, person: PersonId, *, now: Micros) -> None:
    """Have summaries folded where there are too many; at once also where that failed before."""
    if not due_for_folding(await list_summaries(tx, person)):
        return
    lane = fold_lane_of(person)
    if await first_due(tx, "agenda", lane) is None:
        await put_job(tx, lane, Job(name=FOLD), person=person, now=now)
    else:
        await postpone(tx, "agenda", lane, since=0, due_at=now)


async def fold(house: House, person: PersonId) -> None:
    """Fold old summaries. Raises ModelError where the model did not manage to."""
    model = await background_model(house, Asker(person=person, is_background=True), "small")
    done = await compact(house.db, person, model=model, now=house.clock())
    if done.failed is not None:
        raise ModelError(done.failed)


async def why_not_folded(tx: Transaction, person: PersonId) -> str | None:
    """Why summaries could not be folded the last time; None: nothing is amiss."""
    letter = await find_first(tx, "agenda", fold_lane_of(person))
    return None if letter is None else letter.error


def segment_in(job: Job) -> tuple[SegmentId, By]:
    """Which segment a job is to read, and who is to. Raises InvalidInput."""
    match job.arguments:
        case {"segment": str(segment), "by": "rules" | "model" | "either" as by}:
            return SegmentId(segment), by
    raise InvalidInput(f"A job to read something that is not a segment: {dict(job.arguments)}")


def because_in(job: Job) -> Cut | None:
    """Why a job to tend is to cut everything; None: only what is ripe."""
    return "pressure" if job.arguments.get("because") == "pressure" else None


def since_in(job: Job) -> Micros:
    """Since when a job to tidy has to look."""
    since = job.arguments.get("since")
    return since if isinstance(since, int) else 0

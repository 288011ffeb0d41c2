"""How is all of it derived anew? The log comes over, then everything happens again, in its order.

The first database is only read. The second knows what is left to do, so that whoever is killed,
or has spent all there is for today, goes on where it was. Each thing happens at the time at which
it happened; only what a model is paid for now is entered under the time of now.
"""

from typing import Final

from oldfriend.app.embedding import embed_beliefs, make_up
from oldfriend.app.forming.tending import plan_tending, plan_tidying
from oldfriend.app.house import House
from oldfriend.app.replaying.asking import open_ledgers
from oldfriend.app.replaying.carrying import carry, people_among, refuse_unfit
from oldfriend.app.replaying.doing import do
from oldfriend.app.replaying.pausing import (
    Begun,
    count_left,
    find_begun,
    find_next,
    finish,
    put_begun,
    put_steps,
    standing_of,
)
from oldfriend.app.replaying.standing_there import Standing
from oldfriend.app.replaying.steps import Step, past_of, steps_of
from oldfriend.app.replaying.wanting import Replaying, Show, Told, Wanted
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.domain.letters import Letter
from oldfriend.domain.people import SESSION_IDLE
from oldfriend.memory.deriving import believe_nothing_yet, go_back, read_anew
from oldfriend.memory.expiring import next_expiry
from oldfriend.memory.people import list_people
from oldfriend.memory.segments import Segment, list_uncut

TAKEN_BACK: Final = (
    "In the first database something was forgotten or taken back since this replay began, and "
    "would stand in the second one. Begin anew with an empty one."
)


async def replay(source: Database, house: House, wanted: Wanted, *, show: Show) -> Told:
    """Derive in an empty house what would be believed there; or go on with that.

    Raises InvalidInput where the second database holds anything else, AllowanceUsedUp and what a
    model raises that may pass; then it can be gone on with.
    """
    replaying = Replaying(source=source, house=house, wanted=wanted, told=Told(), show=show)
    begun = await begin(replaying)
    for person in begun.people:
        await go_through(replaying, person, begun)
    for person in begun.people:
        await make_up(house, person)
    async with house.db.writing() as tx:
        for person in begun.people:
            await plan_the_rest(tx, person, now=house.clock())
        await finish(tx)
    return replaying.told


async def plan_the_rest(tx: Transaction, person: PersonId, *, now: Micros) -> None:
    """Let a person's memory go on forming, for whoever lives with the second database."""
    if await list_uncut(tx, person):
        await plan_tending(tx, person, now=now, due_at=now + SESSION_IDLE)
    due_at = await next_expiry(tx, person)
    if due_at is not None:
        await plan_tidying(tx, person, now=now, due_at=max(due_at, now + DAY), since=now)


async def begin(replaying: Replaying) -> Begun:
    """Bring over what stays as it is, and note what is to be done; or find that noted already."""
    async with replaying.source.reading() as source, replaying.house.db.writing() as target:
        begun = await find_begun(target)
        if begun is not None:
            await refuse_another(source, begun, replaying.wanted)
            return begun
        await refuse_unfit(source, target)
        wanted, now = replaying.wanted, replaying.house.clock()
        known = [each.id for each in await list_people(source)]
        people = people_among(known, wanted.person)
        begun = Begun(
            model=wanted.model, since=wanted.since, people=tuple(people),
            source=await standing_of(source, people),
        )  # fmt: skip
        await carry(source, target, wanted.person, journal=wanted.since is not None)
        for person in people:
            await lay_out(source, target, person, wanted, now=now)
        await put_begun(target, begun, now=now)
    return begun


async def refuse_another(source: Transaction, begun: Begun, wanted: Wanted) -> None:
    """Raise InvalidInput where another replay was begun there, or the source lost something."""
    people = {wanted.person} if wanted.person is not None else {*begun.people}
    if (begun.model, begun.since) != (wanted.model, wanted.since) or people != {*begun.people}:
        asked = f"--model {begun.model}" if begun.model else "no --model"
        raise InvalidInput(
            f"The replay there was begun with {asked}, and the same people and date each time. "
            "Go on with the same, or name an empty database."
        )
    standing = await standing_of(source, begun.people)
    if standing["companion"] != begun.source.get("companion"):
        raise InvalidInput("What is there is a replay of another database.")
    if standing != begun.source:
        raise InvalidInput(TAKEN_BACK)


async def lay_out(
    source: Transaction, target: Transaction, person: PersonId, wanted: Wanted, *, now: Micros
) -> None:
    """Let a person's copied log be as it was before anything was read, or was so since a day."""
    past = await past_of(source, person)
    steps = steps_of(past, reader=wanted.reader, since=wanted.since)
    if wanted.since is None:
        await believe_nothing_yet(target, person)
    else:
        await go_back(target, person, past.journal, since=wanted.since)
    segments = {each.id: each for each in past.segments}
    for step in steps:
        if step.segment is not None:
            is_again = was_read(segments[step.segment], wanted)
            await read_anew(target, person, step.segment, is_again=is_again)
    await put_steps(target, person, steps, now=now)


def was_read(segment: Segment, wanted: Wanted) -> bool:
    """Whether something that was found in a segment before stands until it is read again."""
    is_again = wanted.since is not None and segment.cut_at < wanted.since
    return is_again and segment.generation > 1


async def go_through(replaying: Replaying, person: PersonId, begun: Begun) -> None:
    """Do all that is left for one person."""
    async with replaying.source.reading() as tx:
        past = await past_of(tx, person)
    here = Standing(person=person)
    if begun.since is not None:
        await embed_beliefs(replaying.house, person)
    ledgers = await open_ledgers(replaying.source, replaying.house.db, person)
    async with replaying.house.db.reading() as tx:
        total = await count_left(tx, begun.people)
    done = 0
    while (following := await next_of(replaying.house, person)) is not None:
        replaying.show(done, total)
        await do(replaying, person, following, ledgers=ledgers, past=past, here=here)
        done += 1
    replaying.show(done, total)
    replaying.told.reused += ledgers.reused
    replaying.told.asked += ledgers.asked


async def next_of(house: House, person: PersonId) -> tuple[Letter, Step] | None:
    """What is to be done next; None: all is done."""
    async with house.db.reading() as tx:
        return await find_next(tx, person)

"""What follows a reading: promises run out, summaries are folded, what presses is read."""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.believing.looking import list_beliefs
from oldfriend.app.believing.showing import listed
from oldfriend.app.choices.sections import ContextChoice, MemoryChoice, Role
from oldfriend.app.doctor import examine
from oldfriend.app.forming.tending import FOLD, TIDY, read, tend, tidy, why_not_folded
from oldfriend.app.house import House, RoleModel
from oldfriend.app.jobs import do_jobs
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import InvalidInput, ModelError, ModelUnavailable
from oldfriend.domain.ids import MemoryId, ObjectId, new_id
from oldfriend.domain.memories import Memory
from oldfriend.llm.chain import Chain
from oldfriend.llm.resting import Rests
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.beliefs import list_memories, list_summaries
from oldfriend.memory.changes import Ground, decide
from oldfriend.memory.segments import list_segments
from oldfriend.memory.thresholds import find_threshold, set_threshold
from oldfriend.queues.agenda import job_of
from oldfriend.queues.lanes import claim, list_letters
from tests.clock import FrozenClock

MINUTES_OF_A_DAY = 24 * 60


async def work(house: House) -> list[str]:
    """Do what a worker would do now; what that was."""
    ran: list[str] = []
    while True:
        async with house.db.writing() as tx:
            held = await claim(tx, "agenda", owner="worker", now=house.clock(), lease_s=30)
        if held is None:
            return ran
        ran += [job_of(letter).name for letter in held.letters]
        with suppress(ModelError):  # it is put off, and told
            await do_jobs(house, held, asyncio.Event())


async def planned(house: House, name: str) -> list[int]:
    """When the jobs of a name are to be done."""
    async with house.db.reading() as tx:
        letters = await list_letters(tx, parked=False)
    return [e.due_at for e in letters if e.queue == "agenda" and job_of(e).name == name]


async def promised(house: House, line: Line, *, days: int) -> None:
    """Have a promise believed that is due in so many days."""
    now = house.clock()
    promise = Memory(
        id=MemoryId(ObjectId(new_id(now))), person=line.person.id, kind="commitment",
        text="Promised Tom to send the photos.", language="en", due_at=now + days * DAY,
        learned_at=now,
    )  # fmt: skip
    async with house.db.writing() as tx:
        await decide(tx, promise, op="learned", base=0, ground=Ground(author="rules/1"), now=now)


async def lines(house: House, line: Line) -> list[str]:
    """What is open, as it is listed."""
    async with house.db.reading() as tx:
        told = await list_beliefs(tx, line.person.id, kinds=["commitment"])
    return listed(told, zone=line.person.zone, now=house.clock())


async def test_a_promise_runs_out_though_nobody_says_anything(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Overdue from its time on, over two days later; then nothing more is planned."""
    await promised(house, line, days=10)
    await tidy(house, line.person.id)
    assert len(await planned(house, TIDY)) == 1

    clock.tick(minutes=11 * MINUTES_OF_A_DAY)
    assert await work(house) == []
    assert all("overdue since" in each for each in await lines(house, line))
    clock.tick(minutes=MINUTES_OF_A_DAY + 1)
    assert await work(house) == [TIDY]
    async with house.db.reading() as tx:
        (known,) = await list_memories(tx, line.person.id, kinds=["commitment"], live=False)
    assert (known.memory.status, await planned(house, TIDY)) == ("expired", [])


async def test_a_reading_brings_tidying_forward(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """There is one tidying ahead, the sooner one."""
    await promised(house, line, days=100)
    await tidy(house, line.person.id)
    await talk(house, line, 1)

    (due_at,) = await planned(house, TIDY)
    assert due_at == clock() + DAY


async def talk(house: House, line: Line, number: int) -> None:
    """Tell of something, and have it read."""
    await answer(house, line, Said(text=f"Today I met Carl at pier {number} and we had soup."))
    await answer(house, line, Said(text=f"My friend Maria number {number} came along, too."))
    for segment in await tend(house, line.person.id, because="asked"):
        await read(house, line.person.id, segment.id)


async def levels(house: House, line: Line) -> list[int]:
    """The levels of the summaries at hand."""
    async with house.db.reading() as tx:
        return sorted(each.level for each in await list_summaries(tx, line.person.id))


async def test_the_sixth_summary_folds_the_five_before_it_the_same_day(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """By a job of its own, which is planned for nothing else."""
    for number in range(6):
        assert await planned(house, FOLD) == []
        await talk(house, line, number)
        clock.tick(minutes=60)
    assert FOLD in await work(house)

    assert await levels(house, line) == [1, 2]


async def test_who_cannot_fold_is_named_and_tries_again_with_the_next_reading(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Also when it failed often; nothing is lost meanwhile."""
    for number in range(6):
        await talk(house, line, number)
    failing = with_model(house, "small", ScriptedModel([ModelUnavailable("no power")] * 20))
    for _ in range(6):
        await work(failing)
        clock.tick(minutes=MINUTES_OF_A_DAY)
    assert await levels(house, line) == [1] * 6
    assert any("no power" in each.text for each in await examine(house) if not each.is_well)

    await talk(house, line, 7)
    assert await planned(house, FOLD) == [clock()]
    await work(house)
    assert 2 in await levels(house, line)
    async with house.db.reading() as tx:
        assert await why_not_folded(tx, line.person.id) is None


async def test_talk_that_no_longer_fits_is_read_at_once(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """What a model was not shown for want of room; once, until there is as much again."""
    talking = with_model(house, "main", ScriptedModel(["Tell me more."]))
    settings = replace(house.settings, context=ContextChoice(preset="small"))
    talking = replace(talking, settings=settings)
    for number in range(4):
        await talk(house, line, number)  # from here on ten turns are waited for
    before = len(await cuts(house, line))
    for number in range(9):
        clock.tick(minutes=1)
        await answer(talking, line, Said(text=f"Well, number {number}: {'it rained. ' * 90}"))
    await work(house)

    pressed = (await cuts(house, line))[before:]
    assert set(pressed) == {"pressure"}
    assert len(pressed) < 3


async def cuts(house: House, line: Line) -> list[str]:
    """Why each stretch of talk so far has ended."""
    async with house.db.reading() as tx:
        return [each.cut_by for each in await list_segments(tx, line.person.id)]


async def test_who_is_hardly_known_is_read_sooner(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """After three turns, then five, seven and nine, a breath later; from then on after ten."""
    read_after: list[tuple[int, str]] = []
    turns = 0
    while len(read_after) < 6:
        await answer(house, line, Said(text=f"Today I met Carl at pier {turns}."))
        turns += 1
        await work(house)
        is_read = len(await cuts(house, line)) > len(read_after)
        clock.tick(minutes=1)
        await work(house)
        if len(await cuts(house, line)) > len(read_after):
            read_after.append((turns, "at once" if is_read else "later"))
            turns = 0

    early = [(3, "later"), (5, "later"), (7, "later"), (9, "later")]
    assert read_after == [*early, (10, "at once"), (10, "at once")]
    assert set(await cuts(house, line)) == {"turns"}


async def assert_read_after(
    house: House, line: Line, clock: FrozenClock, read_after: list[int]
) -> None:
    """Talk goes on for so many turns each time, and is cut with the last of them alone."""
    for turns in read_after:
        for turn in range(turns):
            before = len(await cuts(house, line))
            await answer(house, line, Said(text=f"Today I met Carl at pier {turn}."))
            clock.tick(minutes=1)
            await work(house)
            assert len(await cuts(house, line)) == before + (turn + 1 == turns)


@pytest.mark.parametrize(("chosen", "read_after"), [(1, [1, 1]), (4, [3, 4, 4]), (500, [3, 5])])
async def test_nobody_is_read_later_than_was_chosen(
    house: House, line: Line, clock: FrozenClock, chosen: int, read_after: list[int]
) -> None:
    """Also while they are hardly known; one turn and five hundred may be chosen (W14)."""
    settings = replace(house.settings, memory=MemoryChoice(read_every_turns=chosen))
    choosy = replace(house, settings=settings)
    await assert_read_after(choosy, line, clock, read_after)


@pytest.mark.parametrize(("own", "read_after"), [(2, [2, 2]), (None, [3, 4, 4]), (500, [3, 5])])
async def test_somebody_is_read_as_often_as_they_have_chosen_themselves(
    house: House, line: Line, clock: FrozenClock, own: int | None, read_after: list[int]
) -> None:
    """Whatever the house's setting is; who has chosen nothing is read by that."""
    settings = replace(house.settings, memory=MemoryChoice(read_every_turns=4))
    choosy = replace(house, settings=settings)
    async with choosy.db.writing() as tx:
        await set_threshold(tx, line.person.id, own)
    await assert_read_after(choosy, line, clock, read_after)


@pytest.mark.parametrize("turns", [0, 501, -1])
async def test_a_threshold_out_of_range_is_refused(house: House, line: Line, turns: int) -> None:
    """One to five hundred (W14); what was chosen before stays."""
    async with house.db.writing() as tx:
        await set_threshold(tx, line.person.id, 25)
        with pytest.raises(InvalidInput, match="from 1 to 500"):
            await set_threshold(tx, line.person.id, turns)

    async with house.db.reading() as tx:
        assert await find_threshold(tx, line.person.id) == 25


def with_model(house: House, role: Role, model: ScriptedModel) -> House:
    """A house with a model."""

    def chain(record: Callable[..., object]) -> Chain:
        return Chain(
            models=[model], record=record, rests=Rests(), clock=house.clock, random=random.random
        )  # fmt: skip

    return replace(house, models={role: RoleModel(name=model.name, chain=chain)})

"""What was said is read after a pause, after some turns, or when asked for; nothing else is."""

import asyncio
import math
from dataclasses import replace

import pytest

from oldfriend.app.accepting import Line, Said, edit
from oldfriend.app.answering import answer
from oldfriend.app.believing.looking import list_beliefs
from oldfriend.app.catching_up import (
    catch_up,
    leave,
    pause,
    read_planned,
    read_ripe,
    resume,
    take,
)
from oldfriend.app.choices.sections import MemoryChoice
from oldfriend.app.doctor import examine
from oldfriend.app.forming.rereading import plan_rereading, what_rules_read
from oldfriend.app.forming.tending import cut_at_shutdown, lane_of, plan_reading, tend
from oldfriend.app.house import House
from oldfriend.app.jobs import do_jobs
from oldfriend.background.cutting import Ripeness, cut_ripe
from oldfriend.domain.errors import InvalidInput
from oldfriend.ledger.spending import spent_since
from oldfriend.memory.segments import list_segments, list_uncut, set_status
from oldfriend.queues.agenda import job_of
from oldfriend.queues.lanes import claim, list_letters
from tests.clock import FrozenClock

HOME = "I live in Porto."


async def texts(house: House, line: Line) -> set[str]:
    """What is believed."""
    async with house.db.reading() as tx:
        return {each.what.text for each in await list_beliefs(tx, line.person.id)}


async def jobs(house: House) -> list[str]:
    """The names of what is planned, the first one first."""
    async with house.db.reading() as tx:
        letters = await list_letters(tx, parked=False)
    planned = [each for each in letters if each.queue == "agenda"]
    return [job_of(each).name for each in sorted(planned, key=lambda each: each.due_at)]


async def test_talk_is_read_after_a_pause(house: House, line: Line, clock: FrozenClock) -> None:
    """Not before; and whoever says more is waited for."""
    await answer(house, line, Said(text=HOME))
    await read_ripe(house, line.person.id)
    assert await texts(house, line) == set()

    clock.tick(minutes=20)
    await answer(house, line, Said(text="My sister Ana is a nurse."))
    clock.tick(minutes=20)
    await read_ripe(house, line.person.id)
    assert await texts(house, line) == set()

    clock.tick(minutes=31)
    await read_ripe(house, line.person.id)
    assert "Lives in Porto." in await texts(house, line)


async def test_talk_is_read_after_so_many_turns(house: House, line: Line) -> None:
    """Though nobody pauses; and it is planned once."""
    house = replace(house, settings=replace(
        house.settings, memory=MemoryChoice(read_every_turns=3),
    ))  # fmt: skip
    for text in (HOME, "It rains.", "The trams are late.", "It rains again."):
        await answer(house, line, Said(text=text))
    assert [each for each in await jobs(house) if each == "tend"] == ["tend", "tend"]
    await read_ripe(house, line.person.id)

    assert "Lives in Porto." in await texts(house, line)


async def test_nothing_is_planned_where_memory_is_not_to_form(house: House, line: Line) -> None:
    """Whoever asks for it is told that it is off, and so does doctor."""
    house = deaf(house)
    await answer(house, line, Said(text=HOME))
    await catch_up(house, line.person.id)
    await leave(house, line.person.id)
    assert await texts(house, line) == set()
    assert "tend" not in await jobs(house)
    assert any("[memory] forms is off" in each.text for each in await examine(house))

    with pytest.raises(InvalidInput, match="set forms = true"):
        await catch_up(house, line.person.id, because="asked")
    assert await texts(house, line) == set()


async def test_nothing_is_read_while_memory_is_not_to_form(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Nor what was planned or edited; it is read once memory forms again."""
    given = await answer(house, line, Said(text=HOME))
    await catch_up(house, line.person.id, because="asked")
    await answer(house, line, Said(text="My sister Ana is a nurse."))
    await tend(house, line.person.id, because="asked")
    await edit(deaf(house), line, given.said.id, "I live in Faro.")
    for _ in range(48):
        clock.tick(minutes=60)
        await run_what_is_due(deaf(house))
    assert await texts(house, line) == {"Lives in Porto."}

    clock.tick(minutes=60)
    await catch_up(house, line.person.id, because="asked")
    assert {each for each in await texts(house, line) if "Porto" in each or "Faro" in each} == {
        "Lives in Faro."
    }
    assert any("nurse" in each for each in await texts(house, line))


def deaf(house: House) -> House:
    """A house in which nothing is learned from what is said."""
    return replace(house, settings=replace(house.settings, memory=MemoryChoice(forms=False)))


async def test_who_leaves_is_known_when_they_come_back(house: House, line: Line) -> None:
    """Everything is read at once where rules read."""
    await answer(house, line, Said(text=HOME))
    await leave(house, line.person.id)

    assert await texts(house, line) == {"Lives in Porto."}


async def test_an_edited_message_is_read_again(house: House, line: Line) -> None:
    """What was edited away is not believed any more."""
    given = await answer(house, line, Said(text=HOME))
    await catch_up(house, line.person.id, because="asked")
    await edit(house, line, given.said.id, "I live in Faro.")
    await read_ripe(house, line.person.id)

    assert await texts(house, line) == {"Lives in Faro."}


async def test_a_shutdown_cuts_what_is_over_and_leaves_who_talks(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """The next start reads it."""
    await answer(house, line, Said(text=HOME))
    await cut_at_shutdown(house)
    async with house.db.reading() as tx:
        assert len(await list_uncut(tx, line.person.id)) == 1

    clock.tick(minutes=3)
    await cut_at_shutdown(house)
    async with house.db.reading() as tx:
        assert await list_uncut(tx, line.person.id) == []
    await read_ripe(house, line.person.id)
    assert await texts(house, line) == {"Lives in Porto."}


async def test_who_asks_waits_for_another_that_reads(house: House, line: Line) -> None:
    """And does not read it a second time."""
    await answer(house, line, Said(text=HOME))
    async with house.db.writing() as tx:
        ripeness = Ripeness(now=house.clock(), because="asked")
        (segment,) = await cut_ripe(tx, line.person.id, ripeness)
        await plan_reading(tx, segment, now=house.clock())
    held = await take(house, lane_of(line.person.id))
    assert held is not None
    async with asyncio.TaskGroup() as both:
        waiting = both.create_task(read_planned(house, line.person.id, patience_s=math.inf))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await do_jobs(house, held, asyncio.Event())
    assert await texts(house, line) == {"Lives in Porto."}
    async with house.db.reading() as tx:
        (segment,) = await list_segments(tx, line.person.id)
    assert segment.generation == 1


async def test_old_talk_can_be_held_up(house: House, line: Line, clock: FrozenClock) -> None:
    """Paused, it waits as long as it takes; new talk is read meanwhile."""
    await answer(house, line, Said(text=HOME))
    await catch_up(house, line.person.id, because="asked")
    await plan_rereading(house, await what_rules_read(house, line.person.id))
    assert await pause(house, line.person.id) == 1
    clock.tick(minutes=60 * 24 * 400)
    await answer(house, line, Said(text="I love jazz."))
    done = await catch_up(house, line.person.id, because="asked")
    assert (done.read, done.waiting) == (1, 1)
    assert "Loves jazz." in await texts(house, line)

    await resume(house, line.person.id)
    done = await read_planned(house, line.person.id)
    assert (done.read, done.waiting) == (1, 0)


async def test_what_could_not_be_read_is_shown_and_tried_again(house: House, line: Line) -> None:
    """By doctor, until somebody has it tried again."""
    await answer(house, line, Said(text=HOME))
    async with house.db.writing() as tx:
        ripeness = Ripeness(now=house.clock(), because="asked")
        (segment,) = await cut_ripe(tx, line.person.id, ripeness)
        await set_status(tx, segment, "failed", error="BrokenOutput: no", now=house.clock())
    assert any("BrokenOutput" in each.text for each in await examine(house) if not each.is_well)


async def test_a_silent_month_costs_nothing(house: House, line: Line, clock: FrozenClock) -> None:
    """Thirty days without a message: no model is called, and nothing runs but what was planned."""
    await answer(house, line, Said(text=HOME))
    await catch_up(house, line.person.id, because="asked")
    began, ran = clock(), list[str]()
    for _ in range(30 * 24):
        clock.tick(minutes=60)
        ran += await run_what_is_due(house)

    assert sorted(ran) == sorted(set(ran)), "each planned thing ran once"
    assert set(ran) <= {"embed", "tend", "tidy"}
    async with house.db.reading() as tx:
        assert (await spent_since(tx, began)).calls == 0
    assert await jobs(house) == []


async def run_what_is_due(house: House) -> list[str]:
    """Do what a worker would do now; what that was."""
    ran: list[str] = []
    while True:
        async with house.db.writing() as tx:
            held = await claim(tx, "agenda", owner="worker", now=house.clock(), lease_s=30)
        if held is None:
            return ran
        ran += [job_of(letter).name for letter in held.letters]
        await do_jobs(house, held, asyncio.Event())

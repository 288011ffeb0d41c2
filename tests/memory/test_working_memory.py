"""What is in mind survives a restart, and nothing that is an hour old."""

import json
from dataclasses import asdict, replace

import pytest

from oldfriend.domain.clock import HOUR, MINUTE
from oldfriend.domain.ids import MessageId, SessionId
from oldfriend.memory.working_memory import (
    EMPTY_WORKING_MEMORY,
    MAX_SOURCES,
    Plan,
    Slot,
    TurnBrief,
    WorkingMemory,
    clear_working_memory,
    load_working_memory,
    save_working_memory,
    truncate_line,
)
from tests.two_people import Friend

GOA = Plan(goal="a week in Goa", progress="flights found", next_step="hotels")


async def session_of(friend: Friend) -> SessionId:
    """The session in which they have just said something."""
    said = await friend.says("hello")
    assert said is not None
    return said.session


async def in_mind(friend: Friend, session: SessionId, *, later: int = 0) -> WorkingMemory:
    """What is in mind, so much later."""
    async with friend.db.begin_read() as tx:
        return await load_working_memory(tx, friend.person.id, session, now=friend.clock() + later)


def three_turns(at: int) -> WorkingMemory:
    """After more turns than are kept in mind."""
    working = EMPTY_WORKING_MEMORY
    for nth in range(7):
        working = working.with_turn(
            TurnBrief(said=f"said {nth}", replied="…", at=at),
            emotion="curious",
            style="genuine",
            plan=GOA,
            slots=(Slot(name="dates", asked_at=at),),
            result="3 flights",
        )
    return working


async def test_working_memory_is_restored_for_one_hour(nora: Friend) -> None:
    """Nothing in a process is asked: another one finds the same."""
    session, working = await session_of(nora), three_turns(nora.clock())
    async with nora.db.begin_write() as tx:
        await save_working_memory(tx, nora.person.id, session, working, now=nora.clock())

    assert await in_mind(nora, session) == working
    assert [brief.said for brief in working.briefs] == ["said 4", "said 5", "said 6"]
    assert (len(working.trajectory), working.turns) == (5, 7)
    assert await in_mind(nora, session, later=HOUR) == EMPTY_WORKING_MEMORY


async def test_slot_expires_after_five_minutes(nora: Friend) -> None:
    """Then it is no longer taken for an answer to that question."""
    session = await session_of(nora)
    async with nora.db.begin_write() as tx:
        await save_working_memory(
            tx, nora.person.id, session, three_turns(nora.clock()), now=nora.clock()
        )

    assert (await in_mind(nora, session, later=4 * MINUTE)).slots
    assert not (await in_mind(nora, session, later=5 * MINUTE)).slots


async def test_working_memory_is_per_person_and_can_be_cleared(nora: Friend, omar: Friend) -> None:
    """Nobody has in mind what another has said."""
    session = await session_of(nora)
    async with nora.db.begin_write() as tx:
        await save_working_memory(
            tx, nora.person.id, session, three_turns(nora.clock()), now=nora.clock()
        )

    assert await in_mind(omar, session) == EMPTY_WORKING_MEMORY
    async with nora.db.begin_write() as tx:
        await clear_working_memory(tx, omar.person.id)
    assert (await in_mind(nora, session)).turns == 7
    async with nora.db.begin_write() as tx:
        await clear_working_memory(tx, nora.person.id)
    assert await in_mind(nora, session) == EMPTY_WORKING_MEMORY


@pytest.mark.parametrize("content", [{}, [], {"briefs": "none"}])
async def test_unreadable_working_memory_is_treated_as_empty(nora: Friend, content: object) -> None:
    """Another version of the program may have had other things in mind."""
    session = await session_of(nora)
    async with nora.db.begin_write() as tx:
        await save_working_memory(
            tx, nora.person.id, session, EMPTY_WORKING_MEMORY, now=nora.clock()
        )
        await tx.run("UPDATE working_memory SET content = :content", content=json.dumps(content))

    assert await in_mind(nora, session) == EMPTY_WORKING_MEMORY


async def test_working_memory_of_an_earlier_version_is_read(nora: Friend) -> None:
    """It named nothing that it was made of, and is gone within the hour."""
    session, working = await session_of(nora), three_turns(nora.clock())
    kept = asdict(working)
    del kept["result_seen"]
    for each in (*kept["briefs"], kept["plan"], *kept["slots"]):
        each.pop("seen", None)
        each.pop("messages", None)
    async with nora.db.begin_write() as tx:
        await save_working_memory(
            tx, nora.person.id, session, EMPTY_WORKING_MEMORY, now=nora.clock()
        )
        await tx.run("UPDATE working_memory SET content = :content", content=json.dumps(kept))

    assert await in_mind(nora, session) == working


async def test_working_memory_keeps_its_source_ids(nora: Friend) -> None:
    """So that it can be forgotten with it."""
    session = await session_of(nora)
    working = EMPTY_WORKING_MEMORY.with_turn(
        TurnBrief(said="a", replied="b", at=1, messages=(MessageId("m1"),)),
        emotion="curious",
        style=None,
        plan=replace(GOA, seen=("m0", "m1")),
        result="late",
        result_seen=("fact",),
        slots=(Slot(name="dates", asked_at=nora.clock(), seen=("m2",)),),
    ).with_reply(MessageId("r1"))
    async with nora.db.begin_write() as tx:
        await save_working_memory(tx, nora.person.id, session, working, now=nora.clock())

    assert await in_mind(nora, session) == working
    assert working.source_ids == ("m1", "r1", "m0", "m2", "fact")


def test_working_memory_items_with_too_many_sources_are_dropped() -> None:
    """Each later call would have to name all of it."""
    endless = tuple(map(str, range(MAX_SOURCES + 1)))
    working = EMPTY_WORKING_MEMORY.with_turn(
        TurnBrief(said="a", replied="b", at=1),
        emotion="curious",
        style=None,
        plan=replace(GOA, seen=endless),
        slots=(Slot(name="dates", asked_at=1, seen=endless),),
    )

    assert (working.plan, working.slots) == (None, ())


def test_truncate_line_returns_one_short_line() -> None:
    """One line, however much was said."""
    assert truncate_line("one\n two ") == "one two"
    assert len(truncate_line("long " * 200)) <= 200

"""The log of tools is a person's own, and what waits for a yes is one call for each chat."""

from dataclasses import replace

from oldfriend.db.database import Database
from oldfriend.domain.ids import ChatId, PersonId, TurnId
from oldfriend.llm.model import ToolCall
from oldfriend.memory.people import ensure_person
from oldfriend.usage.tool_log import (
    LoggedToolUse,
    PendingCall,
    ToolSource,
    delete_pending_call,
    find_pending_call,
    list_tool_uses,
    log_tool_use,
    redact_tool_uses,
    save_pending_call,
    sum_tool_uses,
)
from tests.clock import FrozenClock
from tests.usage.conftest import TURN


def used(clock: FrozenClock, name: str = "weather", **details: object) -> LoggedToolUse:
    """A use of a tool just now."""
    use = LoggedToolUse(
        turn=TURN,
        name=name,
        status="done",
        arguments={"place": "Lisboa"},
        result="Sunny",
        sources=(ToolSource(provider="Sky", url="https://sky.example/", at=clock()),),
        was_useful=True,
        made_at=clock.tick(seconds=1),
    )
    return replace(use, **details)


async def test_uses_are_listed_newest_first_and_counted_for_one_person(
    db: Database, clock: FrozenClock, person: PersonId
) -> None:
    """Another's are not seen."""
    async with db.begin_write() as tx:
        other = (await ensure_person(tx, "Omar", now=clock(), zone="UTC")).id
        await log_tool_use(tx, other, used(clock))
        uses = [used(clock), used(clock, status="failed", was_useful=None), used(clock, "places")]
        for use in uses:
            await log_tool_use(tx, person, use)
        listed = await list_tool_uses(tx, person, limit=2)
        only = await list_tool_uses(tx, person, limit=9, name="weather", since=uses[1].made_at)
        totals = await sum_tool_uses(tx, person)

    assert [replace(each, id="") for each in listed] == uses[:0:-1]
    assert [replace(each, id="") for each in only] == [uses[1]]
    assert (totals["weather"].uses, totals["weather"].done, totals["weather"].useful) == (2, 1, 1)
    assert totals["places"].last_at == uses[2].made_at


async def test_words_of_a_turn_are_erased_and_its_use_stays(
    db: Database, clock: FrozenClock, person: PersonId
) -> None:
    """Like the arguments of recorded calls."""
    async with db.begin_write() as tx:
        await log_tool_use(tx, person, used(clock))
        await redact_tool_uses(tx, person, [TURN])
        (left,) = await list_tool_uses(tx, person, limit=9)

    assert (left.name, left.arguments, left.result, left.sources) == ("weather", {}, "", ())


async def test_newest_question_of_a_chat_replaces_the_one_before(
    db: Database, clock: FrozenClock, person: PersonId
) -> None:
    """And only that one can be settled."""
    async with db.begin_write() as tx:
        for chat in ("one", "two"):
            await tx.run(
                """INSERT INTO companion (id, name, created_at) VALUES (:id, :id, 1)""", id=chat
            )
            await tx.run(
                """INSERT INTO chat (id, person, companion, channel, address, title, created_at)
                   VALUES (:id, :person, :id, 'terminal', :id, '', 1)""",
                id=chat,
                person=person,
            )
        for turn, chat in (("a", "one"), ("b", "two"), ("c", "one")):
            call = ToolCall(id="x", name="post", arguments={"to": turn})
            pending = PendingCall(chat=ChatId(chat), turn=TurnId(turn), call=call, asked_at=clock())
            await save_pending_call(tx, person, pending)

        found = await find_pending_call(tx, person, ChatId("one"))
        assert found is not None
        assert (found.turn, found.call.arguments) == ("c", {"to": "c"})
        assert await find_pending_call(tx, PersonId("omar"), ChatId("one")) is None
        assert not await delete_pending_call(tx, person, ChatId("one"), TurnId("a"))
        assert await delete_pending_call(tx, person, ChatId("one"), TurnId("c"))
        assert await find_pending_call(tx, person, ChatId("one")) is None
        assert await find_pending_call(tx, person, ChatId("two")) is not None

"""What a tool has done is known, and never done again by mistake."""

from oldfriend.db.database import Database
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.llm.model import ToolCall
from oldfriend.usage.tool_calls import (
    RecordedToolCall,
    has_side_effects,
    list_tool_calls,
    record_tool_result,
    record_tool_start,
)
from tests.clock import FrozenClock
from tests.usage.conftest import TURN

NOTE = ToolCall(id="t1", name="note", arguments={"text": "猫", "also": [1, None]})


def kept(*, result: str | None) -> RecordedToolCall:
    """That call as it is kept, as the first of its turn."""
    return RecordedToolCall(number=0, name="note", arguments=NOTE.arguments, result=result)


async def test_started_tool_call_is_recorded_without_a_result(
    db: Database, clock: FrozenClock, person: PersonId
) -> None:
    """That is what a crash in the middle leaves behind."""
    async with db.begin_write() as tx:
        assert await list_tool_calls(tx, person, TURN) == []
        await record_tool_start(tx, person, TURN, 0, NOTE, "once", now=clock())

        assert await list_tool_calls(tx, person, TURN) == [kept(result=None)]
        assert await list_tool_calls(tx, person, TurnId("another")) == []


async def test_tool_result_is_not_overwritten_by_a_late_worker(
    db: Database, clock: FrozenClock, person: PersonId
) -> None:
    """A worker that was thought dead may come late."""
    async with db.begin_write() as tx:
        await record_tool_start(tx, person, TURN, 0, NOTE, "once", now=clock())
        await record_tool_result(tx, person, TURN, 0, "noted", now=clock())
        await record_tool_start(tx, person, TURN, 0, NOTE, "once", now=clock.tick(seconds=1))
        await record_tool_result(tx, person, TURN, 0, "noted twice", now=clock())

        assert await list_tool_calls(tx, person, TURN) == [kept(result="noted")]


async def test_only_non_read_tool_calls_count_as_side_effects(
    db: Database, clock: FrozenClock, person: PersonId
) -> None:
    """A turn that has only read may be run again from the start."""
    async with db.begin_write() as tx:
        assert not await has_side_effects(tx, person, TURN)
        await record_tool_start(tx, person, TURN, 0, NOTE, "read", now=clock())
        assert not await has_side_effects(tx, person, TURN)
        await record_tool_start(tx, person, TURN, 1, NOTE, "idempotent", now=clock())

        assert await has_side_effects(tx, person, TURN)
        assert not await has_side_effects(tx, person, TurnId("another"))

"""Tool calls: recorded as they happen, so that a turn that runs again does nothing twice."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolCall

ToolEffect = Literal["read", "idempotent", "once"]
"""read: changes nothing. idempotent: a repetition changes nothing more. once: never repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedToolCall:
    """A tool call of an earlier run; without a result, its outcome is unknown."""

    number: int  # its position among the turn's tool calls, from 0
    name: str
    arguments: Mapping[str, JsonValue]
    result: str | None

    def matches(self, call: ToolCall) -> bool:
        """Return whether this is exactly the requested call."""
        return self.name == call.name and self.arguments == call.arguments


async def list_tool_calls(
    tx: Transaction, person: PersonId, turn_id: TurnId
) -> list[RecordedToolCall]:
    """Return the tool calls of a turn that were started, in order."""
    rows = await tx.rows(
        """SELECT number, name, arguments, result FROM tool_call
           WHERE person = :person AND turn = :turn ORDER BY number""",
        person=person,
        turn=turn_id,
    )
    return [
        RecordedToolCall(number=number, name=name, arguments=json.loads(arguments), result=result)
        for number, name, arguments, result in rows
    ]


async def record_tool_start(
    tx: Transaction,
    person: PersonId,
    turn_id: TurnId,
    number: int,
    call: ToolCall,
    effect: ToolEffect,
    *,
    now: Micros,
) -> None:
    """Record that a tool is about to run."""
    await tx.run(
        """INSERT INTO tool_call (person, turn, number, name, kind, arguments, begun_at)
           VALUES (:person, :turn, :number, :name, :kind, :arguments, :now)
           ON CONFLICT (person, turn, number) DO NOTHING""",
        person=person,
        turn=turn_id,
        number=number,
        name=call.name,
        kind=effect,
        arguments=json.dumps(dict(call.arguments), ensure_ascii=False, sort_keys=True),
        now=now,
    )


async def record_tool_result(
    tx: Transaction, person: PersonId, turn_id: TurnId, number: int, result: str, *, now: Micros
) -> None:
    """Record the result of a tool that was started."""
    await tx.run(
        """UPDATE tool_call SET result = :result, finished_at = :now
           WHERE person = :person AND turn = :turn AND number = :number AND result IS NULL""",
        person=person,
        turn=turn_id,
        number=number,
        result=result,
        now=now,
    )


async def has_side_effects(tx: Transaction, person: PersonId, turn_id: TurnId) -> bool:
    """Return whether a turn has started anything that must not count as not done."""
    row = await tx.row(
        """SELECT 1 FROM tool_call
           WHERE person = :person AND turn = :turn AND kind <> 'read' LIMIT 1""",
        person=person,
        turn=turn_id,
    )
    return row is not None


async def delete_read_calls(tx: Transaction, person: PersonId, turn_id: TurnId) -> None:
    """Delete the read-only tool calls of a turn that is decided anew, so that it reads anew."""
    await tx.run(
        "DELETE FROM tool_call WHERE person = :person AND turn = :turn AND kind = 'read'",
        person=person,
        turn=turn_id,
    )

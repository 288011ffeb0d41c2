"""What did a turn do by tools? Kept as it happens, so that a turn run again does nothing twice."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolCall

ToolClass = Literal["read", "idempotent", "once"]
"""read: changes nothing. idempotent: doing it again changes nothing more. once: must not be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A tool call of an earlier run; without a result it was begun, and its end is not known."""

    number: int  # which of the turn's tool calls it was, from 0
    name: str
    arguments: Mapping[str, JsonValue]
    result: str | None

    def answers(self, asked: ToolCall) -> bool:
        """Whether exactly this was asked for."""
        return self.name == asked.name and self.arguments == asked.arguments


async def list_tool_calls(tx: Transaction, person: PersonId, turn: TurnId) -> list[Kept]:
    """The tool calls of a turn that were begun, in order."""
    rows = await tx.rows(
        """SELECT number, name, arguments, result FROM tool_call
           WHERE person = :person AND turn = :turn ORDER BY number""",
        person=person,
        turn=turn,
    )
    return [
        Kept(number=number, name=name, arguments=json.loads(arguments), result=result)
        for number, name, arguments, result in rows
    ]


async def begin_tool_call(
    tx: Transaction, person: PersonId, turn: TurnId, number: int, asked: ToolCall,
    kind: ToolClass, *, now: Micros,
) -> None:  # fmt: skip
    """Write down that a tool is about to run."""
    await tx.run(
        """INSERT INTO tool_call (person, turn, number, name, kind, arguments, begun_at)
           VALUES (:person, :turn, :number, :name, :kind, :arguments, :now)
           ON CONFLICT (person, turn, number) DO NOTHING""",
        person=person, turn=turn, number=number, name=asked.name, kind=kind,
        arguments=json.dumps(dict(asked.arguments), ensure_ascii=False, sort_keys=True), now=now,
    )  # fmt: skip


async def finish_tool_call(
    tx: Transaction, person: PersonId, turn: TurnId, number: int, result: str, *, now: Micros
) -> None:
    """Write down what a tool that was begun has given."""
    await tx.run(
        """UPDATE tool_call SET result = :result, finished_at = :now
           WHERE person = :person AND turn = :turn AND number = :number AND result IS NULL""",
        person=person, turn=turn, number=number, result=result, now=now,
    )  # fmt: skip


async def has_done_anything(tx: Transaction, person: PersonId, turn: TurnId) -> bool:
    """Whether a turn has begun anything that cannot be taken for not done."""
    row = await tx.row(
        """SELECT 1 FROM tool_call
           WHERE person = :person AND turn = :turn AND kind <> 'read' LIMIT 1""",
        person=person,
        turn=turn,
    )
    return row is not None


async def forget_reads(tx: Transaction, person: PersonId, turn: TurnId) -> None:
    """Let a turn that is decided anew read anew."""
    await tx.run(
        "DELETE FROM tool_call WHERE person = :person AND turn = :turn AND kind = 'read'",
        person=person,
        turn=turn,
    )

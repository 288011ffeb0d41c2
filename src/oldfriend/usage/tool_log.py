"""Tool log: which tools were used for whom, with what result, and whether the reply used it.

Unlike the recorded tool calls, which keep a turn from doing anything twice, it is written with the
reply and kept: also of calls that were refused, and of those that the person was asked about.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ChatId, PersonId, TurnId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolCall

ToolUseStatus = Literal[
    "done",
    "reused",  # the result of an earlier attempt at the same reply
    "failed",
    "too slow",
    "end not known",
    "unknown",
    "bad arguments",
    "repeated",
    "too many",
    "asked",  # the person is asked first
    "not allowed",  # the person cannot be asked here
    "declined",
    "expired",
    "dropped",  # asked about, and the person went on to something else
]
DENIED: Final[frozenset[ToolUseStatus]] = frozenset(
    {"not allowed", "declined", "expired", "dropped"}
)
MAX_SUMMARY_CHARS: Final = 300
"""Characters of a result that are kept."""
COLUMNS: Final = """id, turn, name, status, intent, arguments, result, sources, was_useful, latency,
    made_at"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSource:
    """Where a result comes from."""

    provider: str
    url: str = ""
    title: str = ""
    at: Micros  # when it was read


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedToolUse:
    """A use of a tool, or its refusal."""

    turn: TurnId
    name: str
    status: ToolUseStatus
    made_at: Micros
    intent: str = ""
    arguments: Mapping[str, JsonValue]
    result: str = ""
    sources: tuple[ToolSource, ...] = ()
    was_useful: bool | None = None
    latency_us: int = 0
    id: str = ""

    @property
    def is_denied(self) -> bool:
        """Tell whether it was not done because nobody allowed it."""
        return self.status in DENIED


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTotals:
    """How often a tool was used, and how that went."""

    uses: int
    done: int
    useful: int
    last_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """A call that the person was asked about and has not answered yet."""

    chat: ChatId
    turn: TurnId
    call: ToolCall
    asked_at: Micros


async def log_tool_use(tx: Transaction, person: PersonId, use: LoggedToolUse) -> None:
    """Write a use of a tool into the log."""
    await tx.run(
        f"""INSERT INTO tool_use (person, {COLUMNS})
           VALUES (:person, :id, :turn, :name, :status, :intent, :arguments, :result, :sources,
             :was_useful, :latency, :made_at)""",
        person=person,
        id=use.id or new_id(use.made_at),
        turn=use.turn,
        name=use.name,
        status=use.status,
        intent=use.intent,
        arguments=dump_arguments(use.arguments),
        result=use.result[:MAX_SUMMARY_CHARS],
        sources=json.dumps([asdict(each) for each in use.sources], ensure_ascii=False),
        was_useful=None if use.was_useful is None else int(use.was_useful),
        latency=use.latency_us,
        made_at=use.made_at,
    )


async def list_tool_uses(
    tx: Transaction,
    person: PersonId,
    *,
    limit: int,
    name: str | None = None,
    since: Micros = 0,
    until: Micros | None = None,
) -> list[LoggedToolUse]:
    """List the last uses of tools for a person, of one tool if named, newest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM tool_use WHERE person = :person AND made_at >= :since
           AND (:until IS NULL OR made_at <= :until)
           AND (:name IS NULL OR name = :name) ORDER BY made_at DESC, id DESC LIMIT :limit""",
        person=person,
        since=since,
        until=until,
        name=name,
        limit=limit,
    )
    return [parse_tool_use(row) for row in rows]


async def sum_tool_uses(tx: Transaction, person: PersonId) -> dict[str, ToolTotals]:
    """Count the uses of each tool for a person."""
    rows = await tx.rows(
        """SELECT name, count(*), count(CASE WHEN status IN ('done', 'reused') THEN 1 END),
             count(CASE WHEN was_useful = 1 THEN 1 END), max(made_at)
           FROM tool_use WHERE person = :person GROUP BY name ORDER BY name""",
        person=person,
    )
    return {
        name: ToolTotals(uses=uses, done=done, useful=useful, last_at=last_at)
        for name, uses, done, useful, last_at in rows
    }


def parse_tool_use(row: Row) -> LoggedToolUse:
    """Build a use from its row."""
    use_id, turn, name, status, intent, arguments, result, sources, useful, latency, at = row
    return LoggedToolUse(
        id=use_id,
        turn=TurnId(turn),
        name=name,
        status=status,
        intent=intent,
        arguments=json.loads(arguments),
        result=result,
        sources=tuple(ToolSource(**each) for each in json.loads(sources)),
        was_useful=None if useful is None else bool(useful),
        latency_us=latency,
        made_at=at,
    )


async def save_pending_call(tx: Transaction, person: PersonId, pending: PendingCall) -> None:
    """Store what the person is asked about in a chat, in place of what they were asked before."""
    await tx.run(
        """INSERT INTO pending_call (chat, person, turn, name, arguments, asked_at)
           VALUES (:chat, :person, :turn, :name, :arguments, :asked_at)
           ON CONFLICT (chat) DO UPDATE SET person = excluded.person, turn = excluded.turn,
             name = excluded.name, arguments = excluded.arguments, asked_at = excluded.asked_at""",
        person=person,
        chat=pending.chat,
        turn=pending.turn,
        name=pending.call.name,
        arguments=dump_arguments(pending.call.arguments),
        asked_at=pending.asked_at,
    )


async def find_pending_call(
    tx: Transaction, person: PersonId, chat_id: ChatId
) -> PendingCall | None:
    """Return the call that the person was asked about in a chat, or None."""
    row = await tx.row(
        """SELECT turn, name, arguments, asked_at FROM pending_call
           WHERE person = :person AND chat = :chat""",
        person=person,
        chat=chat_id,
    )
    if row is None:
        return None
    turn, name, arguments, asked_at = row
    call = ToolCall(id=f"confirmed-{turn}", name=name, arguments=json.loads(arguments))
    return PendingCall(chat=chat_id, turn=TurnId(turn), call=call, asked_at=asked_at)


async def delete_pending_call(
    tx: Transaction, person: PersonId, chat_id: ChatId, turn_id: TurnId
) -> bool:
    """Delete what the person was asked in a turn, and return whether it was still there."""
    deleted = await tx.run(
        "DELETE FROM pending_call WHERE person = :person AND chat = :chat AND turn = :turn",
        person=person,
        chat=chat_id,
        turn=turn_id,
    )
    return deleted > 0


async def redact_tool_uses(tx: Transaction, person: PersonId, turns: Sequence[str]) -> None:
    """Delete the words of the tools that were used in these turns; that they were used stays."""
    values = [{"person": person, "turn": turn} for turn in turns]
    await tx.run_many(
        """UPDATE tool_use SET arguments = '{}', result = '', sources = '[]'
           WHERE person = :person AND turn = :turn""",
        values,
    )
    await tx.run_many("DELETE FROM pending_call WHERE person = :person AND turn = :turn", values)


def dump_arguments(arguments: Mapping[str, JsonValue]) -> str:
    """Return arguments as they are stored."""
    return json.dumps(dict(arguments), ensure_ascii=False, sort_keys=True)

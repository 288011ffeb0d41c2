"""Working memory storage: one row for each session, kept for an hour after its last turn.

It is written with the turn, so that a restart loses nothing. It is neither exported nor believed.
"""

import json
from typing import Final, get_args

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import HOUR, MINUTE, Micros
from oldfriend.domain.ids import MessageId, PersonId, SessionId
from oldfriend.domain.json import JsonValue, to_json_object
from oldfriend.domain.working_memory import (
    EMPTY_WORKING_MEMORY,
    Plan,
    Slot,
    StyleMode,
    TurnBrief,
    UserEmotion,
    WorkingMemory,
)

WORKING_MEMORY_TTL: Final = HOUR
"""Counted from the last turn."""
SLOT_TTL: Final = 5 * MINUTE
"""Counted from when the slot was asked for."""

EMOTIONS: Final[tuple[UserEmotion, ...]] = get_args(UserEmotion)
STYLES: Final[tuple[StyleMode, ...]] = get_args(StyleMode)


async def load_working_memory(
    tx: Transaction, person: PersonId, session: SessionId, *, now: Micros
) -> WorkingMemory:
    """Load a session's working memory, empty after WORKING_MEMORY_TTL without a turn."""
    row = await tx.row(
        """SELECT content FROM working_memory
           WHERE session = :session AND person = :person AND updated_at > :since""",
        session=session,
        person=person,
        since=now - WORKING_MEMORY_TTL,
    )
    return (
        EMPTY_WORKING_MEMORY if row is None else parse_working_memory(json.loads(row[0]), now=now)
    )


async def save_working_memory(
    tx: Transaction, person: PersonId, session: SessionId, memory: WorkingMemory, *, now: Micros
) -> None:
    """Replace the working memory of a session and delete the person's expired ones."""
    await tx.run(
        "DELETE FROM working_memory WHERE person = :person AND updated_at <= :since",
        person=person,
        since=now - WORKING_MEMORY_TTL,
    )
    await tx.run(
        """INSERT INTO working_memory (session, person, content, updated_at)
           VALUES (:session, :person, :content, :now)
           ON CONFLICT (session) DO UPDATE SET content = excluded.content,
             updated_at = excluded.updated_at
           WHERE working_memory.person = excluded.person""",
        session=session,
        person=person,
        content=json.dumps(memory, default=to_json_object, ensure_ascii=False),
        now=now,
    )


async def clear_working_memory(tx: Transaction, person: PersonId) -> None:
    """Delete the working memory of all sessions of a person."""
    await tx.run("DELETE FROM working_memory WHERE person = :person", person=person)


def parse_working_memory(content: JsonValue, *, now: Micros) -> WorkingMemory:
    """Parse stored working memory, skipping what cannot be read; expired slots are left out."""
    match content:
        case {
            "briefs": [*briefs],
            "plan": plan,
            "trajectory": [*trajectory],
            "slots": [*slots],
            "last_result": str(result),
            "style": style,
            "turns": int(turns),
            **others,
        }:
            parsed_slots = [slot for each in slots if (slot := parse_slot_json(each))]
            return WorkingMemory(
                briefs=tuple(brief for each in briefs if (brief := parse_brief_json(each))),
                plan=parse_plan_json(plan),
                trajectory=tuple(each for seen in trajectory for each in EMOTIONS if each == seen),
                slots=tuple(each for each in parsed_slots if each.asked_at > now - SLOT_TTL),
                last_result=result,
                result_seen=parse_ids_json(others.get("result_seen")),
                style=next((each for each in STYLES if each == style), None),
                turns=turns,
            )
        case _:
            return EMPTY_WORKING_MEMORY


def parse_brief_json(value: JsonValue) -> TurnBrief | None:
    """Parse the brief of one turn."""
    match value:
        case {"said": str(said), "replied": str(replied), "at": int(at), **others}:
            messages = tuple(map(MessageId, parse_ids_json(others.get("messages"))))
            return TurnBrief(said=said, replied=replied, at=at, messages=messages)
        case _:
            return None


def parse_plan_json(value: JsonValue) -> Plan | None:
    """Parse the plan of the two."""
    match value:
        case {"goal": str(goal), "progress": str(progress), "next_step": str(next_step), **others}:
            seen = parse_ids_json(others.get("seen"))
            return Plan(goal=goal, progress=progress, next_step=next_step, seen=seen)
        case _:
            return None


def parse_slot_json(value: JsonValue) -> Slot | None:
    """Parse an open slot."""
    match value:
        case {"name": str(name), "asked_at": int(asked_at), **others}:
            return Slot(name=name, asked_at=asked_at, seen=parse_ids_json(others.get("seen")))
        case _:
            return None


def parse_ids_json(value: object) -> tuple[str, ...]:
    """Parse stored ids; an earlier version of the program stored none."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()

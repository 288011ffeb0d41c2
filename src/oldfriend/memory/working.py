"""What is kept of what a companion has in mind? One row a session, for an hour after its last turn.

Written with the turn, so that a restart loses nothing of it; not exported, and not believed.
"""

import json
from typing import Final, get_args

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import HOUR, MINUTE, Micros
from oldfriend.domain.ids import MessageId, PersonId, SessionId
from oldfriend.domain.json import JsonValue, fields_of
from oldfriend.domain.working import (
    NOTHING_IN_MIND,
    Brief,
    Emotion,
    Plan,
    Slot,
    StyleMode,
    WorkingMemory,
)

LASTS: Final = HOUR
"""After the last turn (ACCEPTANCE B16)."""
SLOT_LASTS: Final = 5 * MINUTE
"""After it was asked for (ACCEPTANCE B8)."""

EMOTIONS: Final[tuple[Emotion, ...]] = get_args(Emotion)
STYLES: Final[tuple[StyleMode, ...]] = get_args(StyleMode)


async def load_working(
    tx: Transaction, person: PersonId, session: SessionId, *, now: Micros
) -> WorkingMemory:
    """What is in mind in a session; nothing where its last turn is an hour ago."""
    row = await tx.row(
        """SELECT content FROM working_memory
           WHERE session = :session AND person = :person AND updated_at > :since""",
        session=session,
        person=person,
        since=now - LASTS,
    )
    return NOTHING_IN_MIND if row is None else working_from(json.loads(row[0]), now=now)


async def save_working(
    tx: Transaction, person: PersonId, session: SessionId, working: WorkingMemory, *, now: Micros
) -> None:
    """Keep what is in mind in a session, in place of what was; what is an hour old goes."""
    await tx.run(
        "DELETE FROM working_memory WHERE person = :person AND updated_at <= :since",
        person=person,
        since=now - LASTS,
    )
    await tx.run(
        """INSERT INTO working_memory (session, person, content, updated_at)
           VALUES (:session, :person, :content, :now)
           ON CONFLICT (session) DO UPDATE SET content = excluded.content,
             updated_at = excluded.updated_at
           WHERE working_memory.person = excluded.person""",
        session=session,
        person=person,
        content=json.dumps(working, default=fields_of, ensure_ascii=False),
        now=now,
    )


async def clear_working(tx: Transaction, person: PersonId) -> None:
    """Have nothing of a person in mind any more, in any session."""
    await tx.run("DELETE FROM working_memory WHERE person = :person", person=person)


def working_from(content: JsonValue, *, now: Micros) -> WorkingMemory:
    """What was kept, as far as it can be read; what was asked for too long ago is left out."""
    match content:
        case {
            "briefs": [*briefs], "plan": plan, "trajectory": [*trajectory], "slots": [*slots],
            "last_result": str(result), "style": style, "turns": int(turns), **others
        }:  # fmt: skip
            asked = [slot for each in slots if (slot := slot_from(each))]
            return WorkingMemory(
                briefs=tuple(brief for each in briefs if (brief := brief_from(each))),
                plan=plan_from(plan),
                trajectory=tuple(each for seen in trajectory for each in EMOTIONS if each == seen),
                slots=tuple(each for each in asked if each.asked_at > now - SLOT_LASTS),
                last_result=result,
                result_seen=ids_from(others.get("result_seen")),
                style=next((each for each in STYLES if each == style), None),
                turns=turns,
            )
        case _:
            return NOTHING_IN_MIND


def brief_from(value: JsonValue) -> Brief | None:
    """One turn in short."""
    match value:
        case {"said": str(said), "replied": str(replied), "at": int(at), **others}:
            messages = tuple(map(MessageId, ids_from(others.get("messages"))))
            return Brief(said=said, replied=replied, at=at, messages=messages)
        case _:
            return None


def plan_from(value: JsonValue) -> Plan | None:
    """What the two are about to do."""
    match value:
        case {
            "goal": str(goal), "progress": str(progress), "next_step": str(next_step), **others
        }:  # fmt: skip
            seen = ids_from(others.get("seen"))
            return Plan(goal=goal, progress=progress, next_step=next_step, seen=seen)
        case _:
            return None


def slot_from(value: JsonValue) -> Slot | None:
    """Something that is still to be known."""
    match value:
        case {"name": str(name), "asked_at": int(asked_at), **others}:
            return Slot(name=name, asked_at=asked_at, seen=ids_from(others.get("seen")))
        case _:
            return None


def ids_from(value: object) -> tuple[str, ...]:
    """Ids, as they were kept; an earlier version of the program kept none."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()

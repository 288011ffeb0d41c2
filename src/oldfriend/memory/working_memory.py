"""Working memory: what the companion keeps in mind during a session and for an hour after it.

It is written with the turn, so that a restart loses nothing. It is neither exported nor believed.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import HOUR, MINUTE, Micros
from oldfriend.domain.ids import MessageId, PersonId, SessionId
from oldfriend.domain.json import JsonValue, to_json_object

UserEmotion = Literal[
    "neutral",
    "excited",
    "grateful",
    "curious",
    "nostalgic",
    "frustrated",
    "anxious",
    "overwhelmed",
]
ReplyGoal = Literal["inform", "recommend", "clarify", "empathize", "redirect", "plan", "reassure"]
"""The purpose of a reply."""
TurnComplexity = Literal["trivial", "simple", "moderate", "complex"]
StyleMode = Literal["genuine", "mirroring", "sarcastic", "contrary"]
"""How the companion talks: sincerely, like the person, dryly, or taking the other side."""

MAX_BRIEFS = 3
MAX_TRAJECTORY = 5
MAX_BRIEF_CHARS = 200
"""Characters of a message, or of a tool's result, that are kept in mind."""
MAX_SOURCES = 500
"""A plan or slot with more source ids than this is dropped: each call lists all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBrief:
    """A short form of one turn."""

    said: str
    replied: str
    at: Micros
    messages: tuple[MessageId, ...] = ()  # the messages and the reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the person and the companion are about to do, and its progress."""

    goal: str
    progress: str = ""
    next_step: str = ""
    seen: tuple[str, ...] = ()  # ids of its source messages and memories

    @property
    def texts(self) -> tuple[str, str, str]:
        """Its texts."""
        return self.goal, self.progress, self.next_step


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Information that is missing before a plan can go on."""

    name: str
    asked_at: Micros
    seen: tuple[str, ...] = ()  # ids of the messages and memories that need it


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    """What is kept in mind between two turns of a session."""

    briefs: tuple[TurnBrief, ...] = ()  # of the last turns, oldest first
    plan: Plan | None = None
    trajectory: tuple[UserEmotion, ...] = ()  # the person's recent emotions, oldest first
    slots: tuple[Slot, ...] = ()
    last_result: str = ""  # of a tool, shortened
    result_seen: tuple[str, ...] = ()  # ids of the messages and memories it was called for
    style: StyleMode | None = None  # of the last reply
    turns: int = 0

    @property
    def source_ids(self) -> tuple[str, ...]:
        """The ids of all messages and memories it was made of, each once."""
        ids: list[str] = [each for brief in self.briefs for each in brief.messages]
        ids += [] if self.plan is None else self.plan.seen
        ids += [each for slot in self.slots for each in slot.seen]
        return tuple(dict.fromkeys([*ids, *self.result_seen]))

    def with_turn(
        self,
        brief: TurnBrief,
        *,
        emotion: UserEmotion,
        style: StyleMode | None,
        plan: Plan | None,
        slots: tuple[Slot, ...],
        result: str = "",
        result_seen: Sequence[str] = (),
    ) -> "WorkingMemory":
        """Return the working memory after one more turn."""
        return replace(
            self,
            briefs=(*self.briefs, brief)[-MAX_BRIEFS:],
            plan=None if plan is None or len(plan.seen) > MAX_SOURCES else plan,
            trajectory=(*self.trajectory, emotion)[-MAX_TRAJECTORY:],
            slots=tuple(each for each in slots if len(each.seen) <= MAX_SOURCES),
            last_result=result or self.last_result,
            result_seen=tuple(result_seen) if result else self.result_seen,
            style=style,
            turns=self.turns + 1,
        )

    def with_reply(self, reply_id: MessageId) -> "WorkingMemory":
        """Return the working memory with the message id of the last reply added."""
        if not self.briefs:
            return self
        *earlier, last = self.briefs
        return replace(self, briefs=(*earlier, replace(last, messages=(*last.messages, reply_id))))


EMPTY_WORKING_MEMORY = WorkingMemory()


def truncate_line(text: str) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_BRIEF_CHARS else line[: MAX_BRIEF_CHARS - 1].rstrip() + "…"


WORKING_MEMORY_TTL: Final = HOUR
"""Counted from the last turn."""
SLOT_TTL: Final = 5 * MINUTE
"""Counted from when the slot was asked for."""

EMOTIONS: Final[tuple[UserEmotion, ...]] = get_args(UserEmotion)
STYLES: Final[tuple[StyleMode, ...]] = get_args(StyleMode)


async def load_working_memory(
    tx: Transaction, person: PersonId, session_id: SessionId, *, now: Micros
) -> WorkingMemory:
    """Load a session's working memory, empty after WORKING_MEMORY_TTL without a turn."""
    row = await tx.row(
        """SELECT content FROM working_memory
           WHERE session = :session AND person = :person AND updated_at > :since""",
        session=session_id,
        person=person,
        since=now - WORKING_MEMORY_TTL,
    )
    return (
        EMPTY_WORKING_MEMORY if row is None else parse_working_memory(json.loads(row[0]), now=now)
    )


async def save_working_memory(
    tx: Transaction,
    person: PersonId,
    session_id: SessionId,
    working_memory: WorkingMemory,
    *,
    now: Micros,
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
        session=session_id,
        person=person,
        content=json.dumps(working_memory, default=to_json_object, ensure_ascii=False),
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

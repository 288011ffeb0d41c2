"""Working memory: what the companion keeps in mind during a session.

It is not believed, and it expires an hour after the last turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId

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

    def with_reply(self, reply: MessageId) -> "WorkingMemory":
        """Return the working memory with the message id of the last reply added."""
        if not self.briefs:
            return self
        *earlier, last = self.briefs
        return replace(self, briefs=(*earlier, replace(last, messages=(*last.messages, reply))))


EMPTY_WORKING_MEMORY = WorkingMemory()


def truncate_line(text: str) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_BRIEF_CHARS else line[: MAX_BRIEF_CHARS - 1].rstrip() + "…"

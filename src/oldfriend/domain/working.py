"""What does the companion have in mind while a session lasts? Values only.

It is not believed, and it is gone an hour after the last turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId

Emotion = Literal[
    "neutral", "excited", "grateful", "curious", "nostalgic", "frustrated", "anxious",
    "overwhelmed",
]  # fmt: skip
Goal = Literal["inform", "recommend", "clarify", "empathize", "redirect", "plan", "reassure"]
"""What a reply is for."""
Complexity = Literal["trivial", "simple", "moderate", "complex"]
StyleMode = Literal["genuine", "mirroring", "sarcastic", "contrary"]
"""How the companion talks: from the heart, like its friend, dryly, or taking the other side."""

TURNS_IN_MIND = 3
TRAJECTORY = 5
BRIEF = 200
"""Characters of what was said, and of a tool's result, that are kept in mind."""
MOST_SEEN = 500
"""What was made of more than so many messages and beliefs is let go: all are named by each call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """One turn in short."""

    said: str
    replied: str
    at: Micros
    messages: tuple[MessageId, ...] = ()  # what was said, and what was replied


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the two are about to do, and how far they have come."""

    goal: str
    progress: str = ""
    next_step: str = ""
    seen: tuple[str, ...] = ()  # ids of messages and memories that it was made of

    @property
    def words(self) -> tuple[str, str, str]:
        """What it says."""
        return self.goal, self.progress, self.next_step


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Something that is still to be known before a plan can go on."""

    name: str
    asked_at: Micros
    seen: tuple[str, ...] = ()  # ids of messages and memories for which it is needed


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    """What is in mind between two turns of a session."""

    briefs: tuple[Brief, ...] = ()  # of the last turns, oldest first
    plan: Plan | None = None
    trajectory: tuple[Emotion, ...] = ()  # how the person seemed lately, oldest first
    slots: tuple[Slot, ...] = ()
    last_result: str = ""  # of a tool, in brief
    result_seen: tuple[str, ...] = ()  # ids of messages and memories that it was asked over
    style: StyleMode | None = None  # in which the last reply was given
    turns: int = 0

    @property
    def seen(self) -> tuple[str, ...]:
        """The ids of all messages and memories that it was made of, each once."""
        ids: list[str] = [each for brief in self.briefs for each in brief.messages]
        ids += [] if self.plan is None else self.plan.seen
        ids += [each for slot in self.slots for each in slot.seen]
        return tuple(dict.fromkeys([*ids, *self.result_seen]))

    def after(
        self, brief: Brief, *, emotion: Emotion, style: StyleMode | None, plan: Plan | None,
        slots: tuple[Slot, ...], result: str = "", result_seen: Sequence[str] = (),
    ) -> "WorkingMemory":  # fmt: skip
        """What is in mind once one more turn is over."""
        return replace(
            self,
            briefs=(*self.briefs, brief)[-TURNS_IN_MIND:],
            plan=None if plan is None or len(plan.seen) > MOST_SEEN else plan,
            trajectory=(*self.trajectory, emotion)[-TRAJECTORY:],
            slots=tuple(each for each in slots if len(each.seen) <= MOST_SEEN),
            last_result=result or self.last_result,
            result_seen=tuple(result_seen) if result else self.result_seen,
            style=style,
            turns=self.turns + 1,
        )

    def answered_by(self, reply: MessageId) -> "WorkingMemory":
        """The same, once it is known which message the last reply has become."""
        if not self.briefs:
            return self
        *earlier, last = self.briefs
        return replace(self, briefs=(*earlier, replace(last, messages=(*last.messages, reply))))


NOTHING_IN_MIND = WorkingMemory()


def in_brief(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= BRIEF else line[: BRIEF - 1].rstrip() + "…"

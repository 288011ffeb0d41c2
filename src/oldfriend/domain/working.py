"""What does the companion have in mind while a session lasts? Values only.

It is not believed, and it is gone an hour after the last turn.
"""

from dataclasses import dataclass, replace
from typing import Literal

from oldfriend.domain.clock import Micros

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """One turn in short."""

    said: str
    replied: str
    at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the two are about to do, and how far they have come."""

    goal: str
    progress: str = ""
    next_step: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Something that is still to be known before a plan can go on."""

    name: str
    asked_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    """What is in mind between two turns of a session."""

    briefs: tuple[Brief, ...] = ()  # of the last turns, oldest first
    plan: Plan | None = None
    trajectory: tuple[Emotion, ...] = ()  # how the person seemed lately, oldest first
    slots: tuple[Slot, ...] = ()
    last_result: str = ""  # of a tool, in brief
    style: StyleMode | None = None  # in which the last reply was given
    turns: int = 0

    def after(
        self, brief: Brief, *, emotion: Emotion, style: StyleMode | None, plan: Plan | None,
        slots: tuple[Slot, ...], result: str = "",
    ) -> "WorkingMemory":  # fmt: skip
        """What is in mind once one more turn is over."""
        return replace(
            self,
            briefs=(*self.briefs, brief)[-TURNS_IN_MIND:],
            plan=plan,
            trajectory=(*self.trajectory, emotion)[-TRAJECTORY:],
            slots=slots,
            last_result=result or self.last_result,
            style=style,
            turns=self.turns + 1,
        )


NOTHING_IN_MIND = WorkingMemory()


def in_brief(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= BRIEF else line[: BRIEF - 1].rstrip() + "…"

"""What is believed, and since when? The forms for it."""

from typing import Annotated, Literal

from pydantic import Field

from oldfriend.domain.memories import ChangeOp, ObjectKind
from oldfriend.web.shapes.chat import MessageShape
from oldfriend.web.shapes.common import Shape, WordsShape

Verdict = Literal["pin", "unpin", "confirm", "reject"]
ListedKind = Literal[
    "note", "event", "fact", "preference", "pattern", "commitment", "expectation", "triple",
    "thought", "opinion", "entity", "summary",
]  # fmt: skip


class BeliefShape(Shape):
    """Something believed, with its words."""

    id: str
    kind: ObjectKind
    text: str
    status: str | None = Field(description="Such as active, tentative or disputed.")
    key: str | None = Field(default=None, description="Of a fact or preference: what it is about.")
    value: str | None = None
    is_pinned: bool
    is_by_person: bool = Field(description="Said, corrected or confirmed by the person here.")
    impact: int = Field(default=0, description="Of an event, −10 to +10.")
    happened_at: str | None = None
    due_at: str | None = None
    learned_at: str
    ended_at: str | None = Field(description="Since when it is no longer believed.")
    confidence: float | None
    times_seen: int | None
    words: list[WordsShape]


class Decided(Shape):
    """A decision about something believed, and how it stands."""

    seq: int
    op: ChangeOp
    by: str = Field(description="Who has decided.", examples=["rules", "a model", "you"])
    at: str
    belief: BeliefShape


class Learned(Shape):
    """What was learned, the latest first."""

    items: list[Decided]
    earlier: str | None = Field(description="The cursor of what was learned before.")


class Beliefs(Shape):
    """A page of what is believed."""

    items: list[BeliefShape]
    total: int
    next: str | None = Field(description="The cursor of the next page; None: this is the last.")


class StepShape(Shape):
    """One decision in the history of a belief."""

    op: ChangeOp
    by: str
    at: str
    until: str | None
    text: str
    because: list[MessageShape]


class HistoryShape(Shape):
    """Everything that was decided about a belief, oldest first."""

    id: str
    steps: list[StepShape]


class Judged(Shape):
    """What the person thinks of a belief."""

    verdict: Verdict


class Corrected(Shape):
    """A belief put right."""

    text: Annotated[str, Field(min_length=1, max_length=4000)]
    value: str | None = Field(default=None, max_length=1000)


class ForgetPreview(Shape):
    """What would be forgotten with something; nothing is done yet."""

    counts: dict[str, int]
    goes: list[str] = Field(description="The messages and beliefs that would go, as they read.")
    replies: int = Field(description="Replies that stood on it.")
    command: str = Field(description="What does it.")

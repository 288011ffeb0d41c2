"""Schemas for beliefs, their history and corrections."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from oldfriend.api.schemas.chat import MessageShape
from oldfriend.api.schemas.common import ApiModel, WordsShape
from oldfriend.domain.memories import JournalOp, MoodSignal, ObjectKind, Subject
from oldfriend.memory.change_stats import ChangeEffect

Verdict = Literal["pin", "unpin", "confirm", "reject", "unreject"]


class PointShape(ApiModel):
    """How a belief stood once some words were said."""

    at: str
    strength: float = Field(description="1 to 20: grows with words that are spread over time.")
    confidence: float


class BeliefShape(ApiModel):
    """Something believed, with its words."""

    id: str
    kind: ObjectKind
    text: str
    status: str | None = Field(description="Such as active, tentative or disputed.")
    key: str | None = Field(default=None, description="Of a fact or preference: what it is about.")
    value: str | None = None
    subject: Subject | None = Field(default=None, description="Whom it is about.")
    tags: list[str] = Field(default=[])
    is_pinned: bool
    is_by_person: bool = Field(description="Said, corrected or confirmed by the person here.")
    impact: int = Field(default=0, description="Of an event, −10 to +10.")
    level: int | None = Field(default=None, description="Of a summary: 1 of a talk, more of more.")
    happened_at: str | None = Field(default=None, description="Of a summary, an event: its begin.")
    until_at: str | None = Field(default=None, description="… and ended, where that is known.")
    due_at: str | None = None
    learned_at: str
    ended_at: str | None = Field(description="Since when it is no longer believed.")
    first_seen_at: str | None = Field(default=None, description="When it was first said.")
    last_seen_at: str | None = None
    confidence: float | None
    strength: float | None = None
    times_seen: int | None
    course: list[PointShape] = Field(
        default=[], description="How strong it was over time, where it was said more than once."
    )
    merged_into: str | None = Field(default=None, description="What it has been joined to.")
    etag: str | None = Field(default=None, description="For If-Match, where it is to be edited.")
    words: list[WordsShape]


class Decided(ApiModel):
    """A decision about something believed, and how it stands."""

    seq: int
    op: JournalOp
    by: str = Field(description="Who has decided.", examples=["rules", "a model", "you"])
    source: Literal["reflection", "slow tick"] | None = Field(
        description="Of a thought: what it came from."
    )
    at: str
    belief: BeliefShape


class Learned(ApiModel):
    """What was learned, the latest first."""

    items: list[Decided]
    earlier: str | None = Field(description="The cursor of what was learned before.")


class Beliefs(ApiModel):
    """A page of what is believed."""

    items: list[BeliefShape]
    total: int
    kinds: dict[ObjectKind, int] = Field(
        description="How much there is of each kind, whichever kinds are asked for."
    )
    next: str | None = Field(description="The cursor of the next page; None: this is the last.")


class TagsShape(ApiModel):
    """The tags of what is believed now, the most frequent first."""

    items: dict[str, int]


class DayShape(ApiModel):
    """How much was decided on a day, by the clocks of the person."""

    day: str = Field(examples=["2026-03-14"])
    added: int
    changed: int
    ended: int


class DaysShape(ApiModel):
    """The days on which something was decided, oldest first."""

    items: list[DayShape]
    today: str


class TurnedShape(ApiModel):
    """Something that is not believed on two days alike."""

    turn: ChangeEffect
    op: JournalOp = Field(description="What was decided about it last.")
    by: str
    at: str
    belief: BeliefShape
    before: str | None = Field(description="How it read on the earlier day, if it was believed.")


class BetweenShape(ApiModel):
    """A page of what has changed between two days, the newest first."""

    items: list[TurnedShape]
    counts: dict[ChangeEffect, int]
    next: str | None = Field(description="The cursor of the next page; None: this is the last.")


class FeltShape(ApiModel):
    """How the companion felt at the end of a talk."""

    at: str
    phrase: str
    energy: int = Field(description="0 to 10.")
    signal: MoodSignal | None = Field(description="How the person seemed.")


class Moods(ApiModel):
    """Moods, oldest first."""

    items: list[FeltShape]


class StepShape(ApiModel):
    """One decision in the history of a belief."""

    id: str = Field(description="What was decided about: it, or what it overtook or gave way to.")
    op: JournalOp
    by: str
    at: str
    until: str | None
    text: str
    because: list[MessageShape]


class HistoryShape(ApiModel):
    """Everything that was decided about a belief, oldest first."""

    id: str
    steps: list[StepShape]


class Judged(ApiModel):
    """What the person thinks of a belief."""

    verdict: Verdict = Field(examples=["confirm"])


class Corrected(ApiModel):
    """A belief put right."""

    text: Annotated[
        str | None, Field(min_length=1, max_length=4000, examples=["Ana was born in Braga"])
    ] = None
    value: str | None = Field(default=None, max_length=1000)
    since: str | None = Field(
        default=None,
        max_length=40,
        examples=["2026-03-14"],
        description="It was right, and has changed on this day; without: it was a mistake.",
    )
    due: str | None = Field(
        default=None,
        max_length=40,
        examples=["2026-03-14", "none"],
        description="When a promise or an expectation is due: a day, a time, or “none”.",
    )

    @model_validator(mode="after")
    def check_not_empty(self) -> "Corrected":
        """Reject a correction that changes nothing."""
        if self.text is None and (self.due is None or self.value or self.since):
            raise ValueError("say the text that is right, or when it is due")
        return self


class Other(ApiModel):
    """The second of two."""

    other: Annotated[
        str, Field(min_length=4, max_length=64, examples=["018e4e4f-0bb8-7000-a1db-edf045bb7786"])
    ]


class ReadNow(ApiModel):
    """What came of reading what was said."""

    read: int = Field(description="So many stretches of talk were read.")
    waiting: int = Field(description="So many wait, as a model takes its time or is paused.")

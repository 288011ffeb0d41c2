"""What do a page and the house say to each other? The forms of the API, at its border only.

Times are ISO 8601 with the offset of the place where it was so.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from oldfriend.domain.memories import ChangeOp, MoodSignal, ObjectKind
from oldfriend.domain.messages import MAX_TEXT
from oldfriend.domain.trust import Role, TrustClass

LONGEST_KEY = 200
Verdict = Literal["pin", "unpin", "confirm", "reject"]
ListedKind = Literal[
    "note", "event", "fact", "preference", "pattern", "commitment", "expectation", "triple",
    "thought", "opinion", "entity", "summary",
]  # fmt: skip


class Shape(BaseModel):
    """Values that do not change, and nothing beside what is named."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SignIn(Shape):
    """How a browser comes to a session."""

    link: str = Field(max_length=200, description="What stands behind # in the one-time link.")


class Signed(Shape):
    """Who this browser is signed in as."""

    name: str = Field(description="The person's name.", examples=["owner"])
    is_owner: bool = Field(description="Whether this install is theirs.")
    language: str | None = Field(description="The language they last spoke, such as en.")
    token: str = Field(description="To be sent as X-CSRF-Token with whatever changes something.")
    expires_at: str = Field(description="Until when this browser is signed in.")


class MoodShape(Shape):
    """How the companion feels just now."""

    phrase: str = Field(examples=["calm and glad to hear from you"])
    energy: int = Field(ge=0, le=10)
    signal: MoodSignal | None = Field(description="How the person seemed.")


class State(Shape):
    """How things are now."""

    companion: str = Field(examples=["Oldfriend"])
    mood: MoodShape | None = Field(description="None: neutral.")
    model: str | None = Field(description="Which model answers; None: it is offline.")
    troubles: list[str] = Field(description="Why not all of its work is done; empty: all is well.")
    version: str


class Said(Shape):
    """Something to say."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
    zone: str | None = Field(
        default=None, max_length=100, description="Where it is said: an IANA time zone.",
        examples=["Europe/Lisbon"],
    )  # fmt: skip


class Edited(Shape):
    """Other words for something that was said."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]


class MessageShape(Shape):
    """A message as it reads now."""

    id: str
    version: int = Field(description="From 1; more: it was edited.")
    role: Role
    speaker: str
    trust: TrustClass
    channel: str = Field(description="Where it was said.", examples=["web", "telegram"])
    session: str = Field(description="The stretch of talk that it belongs to.")
    turn: str | None = Field(description="What was said and what was replied share it.")
    text: str
    at: str


class Messages(Shape):
    """A page of what was said, oldest first."""

    items: list[MessageShape]
    earlier: str | None = Field(description="The cursor of the page before; None: there is none.")
    position: str = Field(description="For /events?after=: nothing that follows is missed.")


class WordsShape(Shape):
    """Words that a belief rests on, or that speak against it."""

    message: str
    quote: str
    speaker: str
    trust: TrustClass
    supports: bool
    at: str


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


class Ground(Shape):
    """One thing that a reply stood on, or that was considered for it."""

    kind: str
    id: str
    text: str | None = Field(description="None: it was taken out since.")
    speaker: str | None
    channel: str | None
    at: str | None
    score: float
    why: list[str]
    words: list[WordsShape]


class ReceiptShape(Shape):
    """Why a reply was given."""

    id: str
    asked: MessageShape
    reply: MessageShape
    intent: str = Field(description="What the message was taken for, in a sentence.")
    stood_on: list[Ground]
    left_out: list[Ground]
    only_shown: list[MessageShape] = Field(description="What a model saw of the talk besides.")
    model: str | None
    prompt: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    answerable: float | None = Field(description="How likely it seemed that it answers, 0 to 1.")
    as_text: str = Field(description="All of it to read, as `oldfriend why` prints it.")


class ForgetPreview(Shape):
    """What would be forgotten with something; nothing is done yet."""

    counts: dict[str, int]
    goes: list[str] = Field(description="The messages and beliefs that would go, as they read.")
    replies: int = Field(description="Replies that stood on it.")
    command: str = Field(description="What does it.")

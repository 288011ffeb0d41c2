"""What is believed? Memories, entities and summaries, their evidence, the decisions behind them."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import (
    EntityId,
    EvidenceId,
    MemoryId,
    MessageId,
    ObjectId,
    PersonId,
    SegmentId,
    SummaryId,
)
from oldfriend.domain.trust import Role, TrustClass

MemoryKind = Literal[
    "note",  # what the person asked to be remembered, in their words
    "event",  # what happened, once
    "fact",  # what is so for a while; one value for each key
    "preference",  # what they like, need or cannot stand; one of twelve categories
    "pattern",  # what keeps being so
    "commitment",  # what somebody has promised
    "expectation",  # what is going to happen
    "triple",  # how one of two who have names stands to the other; its key is a Tie
    "thought",  # what the companion makes of what it knows; it rests on other memories
    "opinion",  # what the companion thinks of a topic, which is its key
]
PatternKind = Literal[
    "behavior", "belief", "goal", "preference", "emotion", "temporal", "causal"
]  # fmt: skip
Category = Literal[
    "dietary", "budget", "travel_style", "accommodation", "interests", "dislikes", "allergies",
    "preferred_airlines", "preferred_currency", "home_timezone", "language", "accessibility",
]  # fmt: skip
RelationalTag = Literal[
    "identity-bearing", "unresolved", "vulnerability", "turning-point", "correction", "commitment"
]  # fmt: skip
Subject = Literal["person", "companion", "shared", "other"]
"""Whom a memory is about; "other" is somebody or something that the person has spoken of."""

Status = Literal[
    "active", "tentative", "disputed",  # believed: fully, not yet, no longer surely
    "fulfilled", "expired",  # promises and expectations that have come to an end
    "superseded", "merged", "deprecated", "rejected",  # no longer believed
]  # fmt: skip
LIVE: frozenset[Status] = frozenset({"active", "tentative", "disputed"})
"""What is believed now, or waits to come true; all else has an end."""

Tie = Literal[
    "partner_of", "parent_of", "child_of", "sibling_of", "relative_of",
    "friend_of", "colleague_of", "knows", "works_at", "studies_at", "member_of", "lives_in",
    "comes_from", "owns", "likes", "dislikes", "prefers", "visited", "plans_for", "part_of",
]  # fmt: skip
"""How one stands to another; read from the first to the second."""

RelationKind = Literal[
    "supersedes", "contradicts", "supports", "parent_of", "causes", "merged_into", "rests_on"
]
EntityKind = Literal["person", "place", "org", "pet", "other"]
EntityStatus = Literal["confirmed", "uncertain", "merged", "separate"]
Signal = Literal["explicit", "implicit"]
MoodSignal = Literal["warm", "cool", "tired", "frustrated"]
"""How the person was towards the companion at the end of a talk."""
Stance = Literal["supports", "contradicts"]
ObjectKind = Literal[
    "note", "event", "fact", "preference", "pattern", "commitment", "expectation",
    "triple", "thought", "opinion", "entity", "summary",
]  # fmt: skip
ChangeOp = Literal[
    "learned", "revised",  # new; or said better, joined, tagged anew
    "disputed", "superseded", "merged", "deprecated", "fulfilled", "expired", "ended", "reopened",
    "corrected", "confirmed", "rejected", "unrejected",  # these, and the next, by the person
    "pinned", "unpinned", "separated",
]  # fmt: skip

CHANGE_VERSION = 4
"""The shape of a change record that this code writes; older ones are upcast on reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A message version that a decision rests on."""

    message: MessageId
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """How one object stands to another."""

    kind: RelationKind
    other: ObjectId


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Something believed, as it was decided."""

    id: MemoryId
    person: PersonId
    kind: MemoryKind
    text: str  # 1 to 3 sentences that stand alone, in the language they were said in
    language: str
    subject: Subject = "person"
    trust: TrustClass = "person"  # whose words it rests on; "outside" is only "read in …"
    key: str = ""  # of a fact: English, snake_case; of a preference: its Category; of a triple: Tie
    value: str = ""  # of a fact or preference; of a triple the name of its second
    pattern: PatternKind | None = None
    impact: int = 0  # of an event, −10 to +10
    tags: tuple[str, ...] = ()  # feelings, free
    arousal: int | None = None  # of an event, 0 (calm) to 10 (beside oneself); None: not told
    cues: tuple[str, ...] = ()  # of an event, what set the feeling off, in the words that told it
    relational: tuple[RelationalTag, ...] = ()
    importance: float = 0.5  # 0 to 1
    status: Status = "active"
    happened_at: Micros | None = None  # of an event: when it began …
    happened_until: Micros | None = None  # … and ended
    holds_from: Micros | None = None  # in the world; None: as far back as one knows
    holds_until: Micros | None = None  # in the world; None: still
    due_at: Micros | None = None  # of a commitment or expectation
    entities: tuple[EntityId, ...] = ()  # whose names stand in the text; of a triple its two ends,
    # of which the person themself is left out: then it is about them, and they are the first
    relations: tuple[Relation, ...] = ()
    is_pinned: bool = False
    is_by_person: bool = False  # written or corrected by them: never overruled by inference
    vouched_at: Micros | None = None  # when they did; what was said before does not overrule it
    learned_at: Micros
    ended_at: Micros | None = None

    @property
    def is_live(self) -> bool:
        """Whether it is believed, or waits to come true; whatever its status was in the end."""
        return self.ended_at is None and self.status in LIVE

    @property
    def happened_during(self) -> tuple[Micros, Micros] | None:
        """When an event began and when it ended; None: it is none, or that is not known."""
        if self.kind != "event" or self.happened_at is None:
            return None
        return self.happened_at, self.happened_until or self.happened_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """Somebody or something in a person's life that has a name."""

    id: EntityId
    person: PersonId
    name: str
    kind: EntityKind
    aliases: tuple[str, ...] = ()  # other names, as they were said
    description: str = ""
    status: EntityStatus = "confirmed"
    same_as: EntityId | None = None  # uncertain: perhaps this one; merged: this one for sure
    is_by_person: bool = False  # written or corrected by them: no inference describes it anew
    is_pinned: bool = False
    learned_at: Micros
    ended_at: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What was said in a stretch of talk, in short."""

    id: SummaryId
    person: PersonId
    level: int  # 1: of a segment; each further one: of summaries of the level below
    text: str
    language: str
    topics: tuple[str, ...] = ()
    segments: tuple[SegmentId, ...] = ()  # all that it covers, also through other summaries
    sources: tuple[SummaryId, ...] = ()  # the summaries that it was folded from
    from_at: Micros
    until_at: Micros
    is_active: bool = True  # False: folded into one of a higher level
    learned_at: Micros
    ended_at: Micros | None = None


Believed: TypeAlias = Memory | Entity | Summary
"""Anything that decisions are about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A decision already made about one object. Folding changes gives the objects."""

    person: PersonId
    seq: int
    object: ObjectId
    op: ChangeOp
    v: int
    decided_at: Micros  # when it was decided, by the house's clock
    after: Believed  # the object as decided; folding copies it
    causes: tuple[Cause, ...]
    author: str  # a rule with its version, a prompt with its version, or the person
    segment: SegmentId | None = None  # whose consolidation decided it; its calls are in the ledger
    base: int  # the object's newest change when this was decided; 0 for a new object


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The exact words that support a belief, or speak against it."""

    id: EvidenceId
    object: ObjectId
    message: MessageId
    version: int
    quote: str
    author: str
    trust: TrustClass
    signal: Signal
    stance: Stance = "supports"
    confidence: float = 1.0  # how sure whoever read it was, 0 to 1
    extractor: str = ""  # the rule or prompt with its version
    segment: SegmentId | None = None  # whose consolidation found it
    said_at: Micros
    zone: str  # of the message that is quoted
    speaker: str = ""  # the name of who said it, as it was then
    role: Role = "person"  # of who said it
    channel: str = ""  # where it was said


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the live evidence makes of a belief: computed, never decided."""

    strength: float  # 1 to 20; grows with evidence that is spread over time
    confidence: float  # 0 to 1
    times_seen: int
    first_seen: Micros
    last_seen: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Mood:
    """How the companion felt at the end of a stretch of talk, as its reading has it."""

    phrase: str  # free, in the language of the talk
    energy: int  # 0 to 10
    signal: MoodSignal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A memory, how it stands, and the newest decision about it."""

    memory: Memory
    standing: Standing
    base: int  # seq of its newest change, for whoever decides about it again

"""Memories: beliefs, entities and summaries, with their evidence and the journal of decisions."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, TypeAlias

from oldfriend.domain.belief_kinds import KINDS_BY_NAME
from oldfriend.domain.belief_kinds import MemoryKind as MemoryKind
from oldfriend.domain.belief_kinds import Subject as Subject
from oldfriend.domain.clock import Micros, TimeGrain
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
from oldfriend.domain.messages import Role, TrustClass

PatternKind = Literal["behavior", "belief", "goal", "preference", "emotion", "temporal", "causal"]
Category = Literal[
    "dietary",
    "budget",
    "travel_style",
    "accommodation",
    "interests",
    "dislikes",
    "allergies",
    "preferred_airlines",
    "preferred_currency",
    "home_timezone",
    "language",
    "accessibility",
]
RelationalTag = Literal[
    "identity-bearing", "unresolved", "vulnerability", "turning-point", "correction", "commitment"
]
Status = Literal[
    "active",
    "tentative",
    "disputed",  # believed: fully, tentatively, in doubt
    "fulfilled",
    "expired",  # promises and expectations that have ended
    "superseded",
    "merged",
    "deprecated",
    "rejected",  # no longer believed
    "unconfirmed",
    "withdrawn",  # never believed: waits for the person's word, or has waited in vain
]
LIVE_STATUSES: frozenset[Status] = frozenset({"active", "tentative", "disputed"})
"""Believed now, or still open; all other statuses are final."""
NEVER_BELIEVED: frozenset[Status] = frozenset({"unconfirmed", "withdrawn"})
"""Read in the person's words and in doubt: told to nobody but the person who may confirm it."""

RelationType = Literal[
    "partner_of",
    "parent_of",
    "child_of",
    "sibling_of",
    "relative_of",
    "friend_of",
    "colleague_of",
    "knows",
    "works_at",
    "studies_at",
    "member_of",
    "lives_in",
    "comes_from",
    "owns",
    "likes",
    "dislikes",
    "prefers",
    "visited",
    "plans_for",
    "part_of",
]
"""How one entity relates to another; read from the first to the second."""

LinkKind = Literal[
    "supersedes", "contradicts", "supports", "parent_of", "causes", "merged_into", "rests_on"
]
EntityKind = Literal["person", "place", "org", "pet", "other"]
EntityStatus = Literal["confirmed", "uncertain", "merged", "separate"]
EvidenceSignal = Literal["explicit", "implicit"]
MoodSignal = Literal["warm", "cool", "tired", "frustrated"]
"""How the person treated the companion at the end of a conversation."""
EvidenceStance = Literal["supports", "contradicts"]
ObjectKind = Literal[MemoryKind, "entity", "summary"]
JournalOp = Literal[
    "learned",
    "revised",  # new; or reworded, joined, retagged
    "disputed",
    "superseded",
    "merged",
    "deprecated",
    "fulfilled",
    "expired",
    "ended",
    "reopened",
    "corrected",
    "confirmed",
    "rejected",
    "unrejected",  # these, and the next ones, by the person
    "pinned",
    "unpinned",
    "separated",
    "proposed",
    "withdrawn",  # a claim in doubt: read, and no longer waiting for the person's word
]

PLAIN_QUOTE: Final = re.compile(r"\A\w+\s?:\s?[“„«].+[”“»]")
"""A text that only quotes somebody, as rules write it."""
QUOTE_KEY: Final = "in_own_words"
"""Key of the facts that are found without a model, and kept in the person's words."""
JOURNAL_VERSION = 4
"""The format of journal entries that this code writes; older ones are upcast on reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A message version on which a decision is based."""

    message: MessageId
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectLink:
    """A link from one object to another."""

    kind: LinkKind
    target: ObjectId


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBelief:
    """A belief, as it was decided."""

    id: MemoryId
    person: PersonId
    kind: MemoryKind
    text: str  # 1 to 3 self-contained sentences, in the language of the message
    language: str
    subject: Subject = "person"
    trust: TrustClass = "person"  # whose words it is based on; "outside" is only "read in …"
    key: str = ""  # fact: English snake_case; preference: Category; triple: RelationType
    value: str = ""  # of a fact or preference; of a triple, the name of its second entity
    pattern: PatternKind | None = None
    impact: int = 0  # of an event, −10 to +10
    tags: tuple[str, ...] = ()  # feelings, free text
    arousal: int | None = None  # of an event, 0 (calm) to 10 (extreme); None: unknown
    cues: tuple[str, ...] = ()  # of an event, what triggered the feeling, in the original words
    relational: tuple[RelationalTag, ...] = ()
    importance: float = 0.5  # 0 to 1
    status: Status = "active"
    happened_at: Micros | None = None  # of an event: when it began …
    happened_until: Micros | None = None  # … and ended
    holds_from: Micros | None = None  # valid time; None: as far back as is known
    holds_until: Micros | None = None  # valid time; None: still
    due_at: Micros | None = None  # of a commitment or expectation
    grain: TimeGrain = ""  # how precisely these times are known
    zone: str = ""  # in which these times were said; "": unknown, as of old beliefs
    entities: tuple[EntityId, ...] = ()  # named in the text; of a triple, its two ends without
    # the person, if it is about them: then they are the first end
    relations: tuple[ObjectLink, ...] = ()
    is_pinned: bool = False
    is_by_person: bool = False  # written or corrected by the person: never overruled by inference
    vouched_at: Micros | None = None  # when they did so; earlier messages do not overrule it
    learned_at: Micros
    ended_at: Micros | None = None

    @property
    def is_live(self) -> bool:
        """Whether it is believed or still open: not ended, and with a live status."""
        return self.ended_at is None and self.status in LIVE_STATUSES

    @property
    def is_plain_quote(self) -> bool:
        """Whether its text says nothing beyond the words of its evidence."""
        may_be_quote = self.is_quoted_fact or KINDS_BY_NAME[self.kind].may_be_quote
        return may_be_quote and PLAIN_QUOTE.fullmatch(self.text) is not None

    @property
    def is_quoted_fact(self) -> bool:
        """Whether it was found without a model, and nobody has worded it since."""
        return self.key == QUOTE_KEY and not self.is_by_person

    @property
    def happened_during(self) -> tuple[Micros, Micros] | None:
        """When an event began and ended; None if it is no event, or that is unknown."""
        if self.kind != "event" or self.happened_at is None:
            return None
        return self.happened_at, self.happened_until or self.happened_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A named person, place or thing in a person's life."""

    id: EntityId
    person: PersonId
    name: str
    kind: EntityKind
    aliases: tuple[str, ...] = ()  # other names, as they were used
    description: str = ""
    status: EntityStatus = "confirmed"
    same_as: EntityId | None = None  # uncertain: perhaps this entity; merged: certainly this one
    is_by_person: bool = False  # by the person: inference does not describe it anew
    is_pinned: bool = False
    learned_at: Micros
    ended_at: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A short text of what was said in a stretch of conversation."""

    id: SummaryId
    person: PersonId
    level: int  # 1: of a segment; above that: of summaries of the level below
    text: str
    language: str
    topics: tuple[str, ...] = ()
    segments: tuple[SegmentId, ...] = ()  # all that it covers, also through other summaries
    sources: tuple[SummaryId, ...] = ()  # the summaries that it was rolled up from
    from_at: Micros
    until_at: Micros
    is_active: bool = True  # False: rolled up into one of a higher level
    learned_at: Micros
    ended_at: Micros | None = None


JournalObject: TypeAlias = StoredBelief | Entity | Summary
"""Any object that journal entries are about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """A decision that was made about one object; replaying the entries gives the objects."""

    person: PersonId
    seq: int
    object_id: ObjectId
    op: JournalOp
    format_version: int
    decided_at: Micros  # by the application's clock
    after: JournalObject  # the object as decided; replaying copies it
    causes: tuple[Cause, ...]
    author: str  # a rule or a prompt with its version, or the person
    segment: SegmentId | None = None  # whose consolidation decided it; its calls are recorded
    previous_seq: int  # seq of the object's entry before this one; 0 for a new object


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The exact words that support or contradict a belief."""

    id: EvidenceId
    object_id: ObjectId
    message: MessageId
    version: int
    quote: str
    author: str
    trust: TrustClass
    signal: EvidenceSignal
    stance: EvidenceStance = "supports"
    confidence: float = 1.0  # of the extractor, 0 to 1
    extractor: str = ""  # the rule or prompt with its version
    segment: SegmentId | None = None  # whose consolidation found it
    said_at: Micros
    zone: str  # of the quoted message
    speaker: str = ""  # the speaker's name at that time
    role: Role = "person"  # of the speaker
    channel: str = ""  # of the quoted message
    diary_day: date | None = None  # of the entry that came with the quoted message


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceStats:
    """What the live evidence of a belief adds up to: computed, never decided."""

    strength: float  # 1 to 20; grows with evidence that is spread over time
    confidence: float  # 0 to 1
    times_seen: int
    first_seen: Micros
    last_seen: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Mood:
    """How the companion felt at the end of a stretch of conversation, as judged from it."""

    phrase: str  # free text, in the language of the conversation
    energy: int  # 0 to 10
    signal: MoodSignal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryState:
    """A memory with its evidence stats and its newest journal position."""

    memory: StoredBelief
    stats: EvidenceStats
    base_seq: int  # seq of its newest entry, for the next decision about it

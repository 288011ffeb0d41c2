"""Extraction types: the claims read from a segment, each with the quotes it rests on.

A model and the rules produce the same types. Claims are not beliefs yet: ``validate`` checks them
against the messages, then ``resolution`` compares them with existing beliefs.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from oldfriend.domain.belief_kinds import list_kinds
from oldfriend.domain.clock import Micros, TimeGrain
from oldfriend.domain.ids import MemoryId, MessageId, SegmentId
from oldfriend.domain.memories import (
    Entity,
    EntityKind,
    EvidenceSignal,
    MemoryKind,
    MemoryState,
    Mood,
    PatternKind,
    RelationalTag,
    RelationType,
    Subject,
)
from oldfriend.domain.messages import Message, Person
from oldfriend.memory.readers import RULES_AUTHOR_PREFIX, ReaderKind

DEFAULT_LANGUAGE: Final = "en"
"""Language of a segment in which nothing was said."""

SMALL_TALK_KINDS: Final = frozenset(
    list_kinds(lambda kind: kind.extraction is not None and kind.extraction.from_small_talk)
)
"""The only kinds of claims that a model extracts from small talk."""

ModelEffect = Literal["new", "reinforces", "contradicts", "supersedes", "fulfils"]
"""Effects that a model may give a claim."""
ClaimEffect = Literal[ModelEffect, "cancels"]
"""Effect of a claim on what is known: "new" touches nothing, the others name a target."""
ENDING_EFFECTS: Final[frozenset[ClaimEffect]] = frozenset({"fulfils", "cancels"})
"""Effects that end what was to be; the text and due time are those of the target."""


Modality = Literal["asserted", "reported", "joke", "imagined", "wish", "question", "denied"]
"""How the quoted words mean what is claimed, as the reader sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Quote: words of one message, copied exactly."""

    message: MessageId
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Claim: a statement extracted from a segment; ``StoredBelief`` describes each kind."""

    kind: MemoryKind
    text: str
    quotes: tuple[Quote, ...]
    effect: ClaimEffect = "new"
    target: MemoryId | None = None  # the memory it reinforces, contradicts, supersedes or fulfils
    confidence: float = 0.7
    signal: EvidenceSignal = "explicit"
    modality: Modality = "asserted"
    subject: Subject = "person"
    key: str = ""
    value: str = ""
    ended_claim: "Claim | None" = None  # the belief that it says is over, as it was until then
    denied_value: str = ""  # value that it says was wrong and never true
    pattern: PatternKind | None = None
    impact: int = 0
    tags: tuple[str, ...] = ()
    arousal: int | None = None
    cues: tuple[str, ...] = ()
    relational: tuple[RelationalTag, ...] = ()
    importance: float = 0.5
    happened_at: Micros | None = None
    happened_until: Micros | None = None
    holds_from: Micros | None = None
    holds_until: Micros | None = None
    due_at: Micros | None = None
    grain: TimeGrain = ""  # how precisely these times were said
    names: tuple[str, ...] = ()  # entities it mentions, as named in the text


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationClaim:
    """Relation claim: how one entity is related to another."""

    kind: RelationType
    first: str  # by name or id; "" is the person
    second: str
    claim: Claim  # the underlying claim, of kind "triple"

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """The quotes that the relation rests on."""
        return self.claim.quotes


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMention:
    """Entity mention: a named person or thing."""

    name: str
    kind: EntityKind
    quotes: tuple[Quote, ...]
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SameAsClaim:
    """Same-as claim: what the person said about whether two names mean the same entity."""

    one: str
    other: str
    is_same: bool
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Extraction: everything extracted from one segment."""

    author: str  # "extract/9", "rules/6": prompt or rules with their version
    claims: tuple[Claim, ...] = ()
    relations: tuple[RelationClaim, ...] = ()
    mentions: tuple[EntityMention, ...] = ()
    same_as_claims: tuple[SameAsClaim, ...] = ()
    topics: tuple[str, ...] = ()
    summary: str = ""
    mood: Mood | None = None
    self_check: Mapping[str, str] = field(default_factory=dict)  # missed_peak, attribution
    malformed: int = 0  # unreadable claims in an otherwise readable answer
    is_tagged: bool = False  # whether the fact tagger has read it beside the rules

    @property
    def is_by_model(self) -> bool:
        """Whether a model read it, rather than rules."""
        return not self.author.startswith(RULES_AUTHOR_PREFIX)

    @property
    def reader(self) -> ReaderKind:
        """What has read it."""
        if self.is_by_model:
            return ReaderKind.MODEL
        return ReaderKind.TAGGER if self.is_tagged else ReaderKind.RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionInput:
    """Extraction input: the messages of a segment, and the relevant known beliefs."""

    segment: SegmentId
    person: Person
    companion: str
    messages: tuple[Message, ...]  # oldest first, current versions; the first dates them all
    context_messages: tuple[Message, ...] = ()  # just before, for context only; never evidence
    told_messages: tuple[Message, ...] = ()  # own ones that answers rest on which are put right
    known: tuple[MemoryState, ...] = ()  # strongest patterns, current facts, open promises
    shown: tuple[MemoryState, ...] = ()  # what a model is shown of the beliefs known at that time
    entities: tuple[Entity, ...] = ()

    @property
    def companion_names(self) -> frozenset[str]:
        """The companion's names, now and when these messages were sent."""
        companion_messages = (
            each for each in (*self.context_messages, *self.messages) if each.role == "companion"
        )
        return frozenset({self.companion, *(each.speaker for each in companion_messages)})

    @property
    def language(self) -> str:
        """Language of most of the person's tokens; of all tokens if the person said nothing."""
        own_messages = [each for each in self.messages if each.trust == "person"]
        amounts: Counter[str] = Counter()
        for message in own_messages or self.messages:
            amounts[message.language] += message.tokens
        return max(amounts, key=lambda each: (amounts[each], each), default=DEFAULT_LANGUAGE)

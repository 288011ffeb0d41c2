"""What does somebody read in a stretch of talk? Claims, each with the words it rests on.

The same values whether a model or the rules have read it. Nothing here is believed yet: claims
are checked against the words (``checking``), then against what is known (``deciding``).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MemoryId, MessageId, SegmentId
from oldfriend.domain.memories import (
    Believed,
    Entity,
    EntityKind,
    Known,
    Memory,
    MemoryKind,
    Mood,
    PatternKind,
    RelationalTag,
    Signal,
    Subject,
    Tie,
)
from oldfriend.domain.messages import Message
from oldfriend.domain.people import Person

USUAL_LANGUAGE: Final = "en"
"""Where nothing was said."""

Bearing = Literal["new", "reinforces", "contradicts", "supersedes", "fulfils"]
"""How a claim bears on what is known: nothing of it is known, or it names what it touches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words of one message, copied exactly."""

    message: MessageId
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that a stretch of talk seems to tell; see ``Memory`` for the fields of a kind."""

    kind: MemoryKind
    text: str
    quotes: tuple[Quote, ...]
    bearing: Bearing = "new"
    target: MemoryId | None = None  # what it reinforces, contradicts, supersedes or fulfils
    confidence: float = 0.7
    signal: Signal = "explicit"
    subject: Subject = "person"
    key: str = ""
    value: str = ""
    ends: "Claim | None" = None  # what it says holds no more, as it was until then
    denied: str = ""  # words for what it says was wrong, and never so
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
    names: tuple[str, ...] = ()  # whom and what it mentions, as named in the text


@dataclass(frozen=True, slots=True, kw_only=True)
class Tied:
    """How somebody or something stands to another, as a claim about the two."""

    tie: Tie
    first: str  # by name or id; "" is the person themself
    second: str
    claim: Claim  # what says so: a triple

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """The words that it rests on."""
        return self.claim.quotes


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Somebody or something with a name."""

    name: str
    kind: EntityKind
    quotes: tuple[Quote, ...]
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sameness:
    """What the person said about whether two names mean the same."""

    one: str
    other: str
    is_same: bool
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Everything that was read in one segment."""

    author: str  # "extract/4", "rules/5": prompt or rules with their version
    beside_opinions: str = ""  # who has read all else, where the author has read opinions only
    claims: tuple[Claim, ...] = ()
    ties: tuple[Tied, ...] = ()
    names: tuple[Named, ...] = ()
    samenesses: tuple[Sameness, ...] = ()
    topics: tuple[str, ...] = ()
    summary: str = ""
    mood: Mood | None = None
    self_check: Mapping[str, str] = field(default_factory=dict)  # missed_peak, attribution
    malformed: int = 0  # claims that could not be read, inside an answer that could

    def author_of(self, what: Believed) -> str:
        """Who has read what led to a belief."""
        is_opinion = isinstance(what, Memory) and what.kind == "opinion"
        return self.author if is_opinion else self.beside_opinions or self.author


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What is read: the messages of a segment, and what is known that bears on them."""

    segment: SegmentId
    person: Person
    companion: str
    messages: tuple[Message, ...]  # oldest first, as they read now; the anchor is the first's time
    before: tuple[Message, ...] = ()  # just before it, for context only; never evidence
    known: tuple[Known, ...] = ()  # strongest patterns, live facts, open promises
    entities: tuple[Entity, ...] = ()

    @property
    def companion_names(self) -> frozenset[str]:
        """What the companion is called, now and when this was said."""
        said = (each for each in (*self.before, *self.messages) if each.role == "companion")
        return frozenset({self.companion, *(each.speaker for each in said)})

    @property
    def language(self) -> str:
        """In which language most of the person's words were said; of nobody's else, of all."""
        own = [each for each in self.messages if each.trust == "person"]
        amounts: Counter[str] = Counter()
        for message in own or self.messages:
            amounts[message.language] += message.tokens
        return max(amounts, key=lambda each: (amounts[each], each), default=USUAL_LANGUAGE)

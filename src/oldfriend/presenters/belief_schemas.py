"""Beliefs: what is believed, for the API, programs and JSON."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal, Self

from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.domain.belief_times import get_told_zone
from oldfriend.domain.clock import Micros, TimeGrain, from_micros
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import (
    Entity,
    Evidence,
    EvidenceStats,
    JournalObject,
    ObjectKind,
    StoredBelief,
    Subject,
    Summary,
)
from oldfriend.domain.messages import Message
from oldfriend.memory.belief_corrections import find_merge_survivor
from oldfriend.memory.belief_views import get_kind
from oldfriend.memory.evidence import DEFAULT_GROWTH, RELATION_GROWTH, compute_stats_history
from oldfriend.memory.receipts import MemoryUsage
from oldfriend.presenters.base_schema import Schema, describe, format_exact_time, format_time
from oldfriend.presenters.dated_sentences import tell_as_of
from oldfriend.presenters.message_schemas import (
    EvidenceQuote,
    EvidenceSchema,
    StoredMessage,
    evidence_as_json,
)
from oldfriend.turn.reason_texts import format_reasons
from oldfriend.turn.recalled import RecalledBelief

MAX_POINTS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthPointSchema(Schema):
    """The strength of a belief after a message."""

    at: str
    strength: float = field(
        metadata=describe("From 1 to 20; grows with mentions that are spread over time.")
    )
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefSchema(Schema):
    """A belief with its evidence."""

    id: str
    kind: ObjectKind
    text: str
    sentence: str = field(
        metadata=describe("The text as a sentence to the person.", examples=["You live in Porto."])
    )
    sentence_language: str | None = field(
        metadata=describe(
            "The language of the sentence: yours (`Accept-Language`), unless it can only be told "
            "in the words in which it was said.",
            examples=["en"],
        )
    )
    status: str | None = field(
        metadata=describe("The status, such as active, tentative or disputed.")
    )
    key: str | None = field(
        default=None, metadata=describe("The attribute of a fact or preference.")
    )
    value: str | None = None
    subject: Subject | None = field(default=None, metadata=describe("Whom the belief is about."))
    tags: tuple[str, ...] = ()
    is_pinned: bool
    is_by_person: bool = field(
        metadata=describe("Whether the person stated, corrected or confirmed it themselves.")
    )
    impact: int = field(
        default=0, metadata=describe("The emotional impact of an event, from −10 to +10.")
    )
    level: int | None = field(
        default=None,
        metadata=describe("The level of a summary: 1 for one conversation, more for several."),
    )
    happened_at: str | None = field(
        default=None, metadata=describe("When the event or the summarized period began.")
    )
    until_at: str | None = field(
        default=None, metadata=describe("When it ended, if that is known.")
    )
    due_at: str | None = None
    zone: str | None = field(
        default=None,
        metadata=describe(
            "The time zone in which these times were said, and are given; null if unknown.",
            examples=["Europe/Madrid"],
        ),
    )
    grain: Literal["month", "year"] | None = field(
        default=None,
        metadata=describe("The precision of these times, if they are not known to the day."),
    )
    as_of: str | None = field(
        default=None,
        metadata=describe("When it was last said, if so long ago that it may no longer be so."),
    )
    learned_at: str
    ended_at: str | None = field(metadata=describe("When it stopped being believed."))
    first_seen_at: str | None = field(
        default=None, metadata=describe("When it was first mentioned.")
    )
    last_seen_at: str | None = None
    confidence: float | None = field(
        metadata=describe(
            "From 0 to 1, from the evidence for and against it; null for entities and summaries."
        )
    )
    strength: float | None = None
    times_seen: int | None
    course: tuple[StrengthPointSchema, ...] = field(
        default=(),
        metadata=describe("Its strength over time, if it was mentioned more than once."),
    )
    merged_into: str | None = field(
        default=None, metadata=describe("The id of the belief that it was merged into.")
    )
    etag: str | None = field(
        default=None, metadata=describe("The value to send as If-Match when editing it.")
    )
    folded: tuple[str, ...] = field(
        default=(),
        metadata=describe(
            "The ids of beliefs from the same words that say nothing beyond this one; lists show "
            "them beneath it."
        ),
    )
    words: tuple[EvidenceSchema, ...]

    @classmethod
    def from_domain(
        cls, belief: BeliefDetails, *, zone: str, now: Micros, language: str = ""
    ) -> Self:
        """Present a belief to the API as it is told at a moment, in a language or in its own."""
        content, as_of = belief.content, belief.find_stale_since(now)
        told = (
            tell_as_of(content, belief.evidence, as_of=as_of, zone=zone, language=language)
            if isinstance(content, StoredBelief)
            else None
        )
        journaled = None if isinstance(content, Summary) else content
        common = cls(
            id=content.id,
            kind=get_kind(content),
            text=name_belief(content),
            sentence=name_belief(content) if told is None else told.text,
            sentence_language=None if told is None else told.language,
            as_of=format_time(as_of, zone),
            status=None if journaled is None else journaled.status,
            is_pinned=journaled is not None and journaled.is_pinned,
            is_by_person=journaled is not None and journaled.is_by_person,
            learned_at=format_time(content.learned_at, zone),
            ended_at=format_time(content.ended_at, zone),
            confidence=None,
            times_seen=None,
            etag=None if belief.base is None else format_etag(belief.base),
            folded=belief.folded,
            words=tuple(EvidenceSchema.from_domain(each) for each in belief.evidence),
        )
        extra = {
            **build_kind_fields(content, zone),
            **build_confidence_fields(belief.standing, zone),
        }
        if isinstance(content, StoredBelief) and len(belief.evidence) > 1:
            extra["course"] = build_points(content, belief.evidence, zone=zone)
        return replace(common, **extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefPageSchema(Schema):
    """A page of beliefs."""

    items: tuple[BeliefSchema, ...]
    total: int
    kinds: dict[ObjectKind, int] = field(
        metadata=describe("The number of beliefs of each kind, whichever kinds were requested.")
    )
    next: str | None = field(
        metadata=describe("The cursor of the next page; null on the last page.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TagsSchema(Schema):
    """The tags of current beliefs, the most frequent first."""

    items: dict[str, int]


def format_etag(version: int) -> str:
    """Format the ETag of a belief: the number of its newest journal entry, quoted."""
    return f'"{version}"'


def build_kind_fields(content: JournalObject, zone: str) -> dict[str, Any]:
    """Build the fields that only some kinds have."""
    if isinstance(content, Summary):
        return {
            "level": content.level,
            "tags": content.topics,
            "happened_at": format_time(content.from_at, zone),
            "until_at": format_time(content.until_at, zone),
        }
    if isinstance(content, Entity):
        return {}
    told_zone = get_told_zone(content, zone)
    return {
        "key": content.key or None,
        "value": content.value or None,
        "impact": content.impact,
        "subject": content.subject,
        "tags": content.tags,
        "happened_at": format_time(content.happened_at, told_zone),
        "until_at": format_time(content.happened_until, told_zone),
        "due_at": format_time(content.due_at, told_zone),
        "zone": content.zone or None,
        "grain": content.grain or None,
        "merged_into": find_merge_survivor(content),
    }


def build_confidence_fields(standing: EvidenceStats | None, zone: str) -> dict[str, Any]:
    """Build the fields of confidence and strength; empty without evidence statistics."""
    if standing is None:
        return {}
    has_words = standing.times_seen > 0
    return {
        "confidence": standing.confidence,
        "times_seen": standing.times_seen,
        "strength": round(standing.strength, 3),
        "first_seen_at": format_time(standing.first_seen, zone) if has_words else None,
        "last_seen_at": format_time(standing.last_seen, zone) if has_words else None,
    }


def build_points(
    memory: StoredBelief, evidence: Sequence[Evidence], *, zone: str
) -> tuple[StrengthPointSchema, ...]:
    """Build the strength over time, up to the last MAX_POINTS points."""
    course = compute_stats_history(
        evidence, RELATION_GROWTH if memory.kind == "triple" else DEFAULT_GROWTH
    )
    return tuple(
        StrengthPointSchema(
            at=format_time(at, zone), strength=round(each.strength, 3), confidence=each.confidence
        )
        for at, each in course[-MAX_POINTS:]
    )


def name_belief(belief: JournalObject) -> str:
    """Return what is believed in one text; of an entity its name and description."""
    if not isinstance(belief, Entity):
        return belief.text
    return f"{belief.name}: {belief.description}" if belief.description else belief.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """A belief; fields that its kind does not have are empty or None.

    ``kind`` is note, event, fact, preference, pattern, commitment, expectation; entity (``text`` is
    its name) or summary.
    """

    id: str
    kind: str
    text: str
    status: str  # active, tentative, disputed …; of an entity confirmed, uncertain …
    key: str = ""  # of a fact or preference, such as "location" …
    value: str = ""  # … and "Porto"
    description: str = ""  # of an entity …
    aliases: tuple[str, ...] = ()  # … and its other names
    impact: int = 0  # of an event, -10 to 10
    happened_at: datetime | None = None
    holds_from: datetime | None = None  # in the world, as opposed to when it was learned
    holds_until: datetime | None = None
    due_at: datetime | None = None
    grain: TimeGrain = ""  # how precisely these times are known, if not to the day
    as_of: datetime | None = None  # when a state was last said, if so long ago that it may be over
    learned_at: datetime
    ended_at: datetime | None = None  # None: it is still believed
    confidence: float | None = None  # 0 to 1, from its evidence; not of entities, summaries
    times_seen: int = 0
    is_pinned: bool = False
    is_by_person: bool = False  # written or confirmed by them: never overruled by inference
    evidence: tuple[EvidenceQuote, ...] = ()

    @classmethod
    def from_domain(cls, belief: BeliefDetails, zone: str, *, now: Micros) -> Self:
        """Present a belief with its evidence to a program, as it is told at a moment."""
        return cls(**build_belief_fields(belief, zone, now=now))


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefHit(Belief):
    """A belief that answers a query, with its evidence; ``score`` as for messages."""

    at: datetime  # when it was last said
    score: float
    why: tuple[str, ...]
    later: tuple[StoredMessage, ...] = ()  # what probably changed it since, the newest first

    @classmethod
    def from_recalled(
        cls,
        recalled_belief: RecalledBelief,
        zone: str,
        later: Sequence[Message] = (),
        *,
        now: Micros,
    ) -> Self:
        """Present a recalled belief, with what probably changed it since."""
        state = recalled_belief.state
        belief = BeliefDetails(
            content=state.memory, standing=state.stats, evidence=recalled_belief.evidence
        )
        return cls(
            **build_belief_fields(belief, zone, now=now),
            at=from_micros(state.stats.last_seen, zone),
            score=recalled_belief.score.value,
            why=tuple(format_reasons(recalled_belief.reasons)),
            later=tuple(StoredMessage.from_domain(each) for each in later),
        )


def build_belief_fields(belief: BeliefDetails, zone: str, *, now: Micros) -> dict[str, Any]:
    """Return the fields of ``Belief``."""
    content, standing = belief.content, belief.standing
    fields: dict[str, Any] = {
        "id": content.id,
        "kind": get_kind(content),
        "as_of": to_datetime(belief.find_stale_since(now), zone),
        "learned_at": from_micros(content.learned_at, zone),
        "ended_at": to_datetime(content.ended_at, zone),
        "confidence": None if standing is None else standing.confidence,
        "times_seen": 0 if standing is None else standing.times_seen,
        "evidence": tuple(map(EvidenceQuote.from_domain, belief.evidence)),
    }
    if isinstance(content, StoredBelief):
        told_zone = get_told_zone(content, zone)
        return fields | {
            "text": content.text,
            "status": content.status,
            "key": content.key,
            "value": content.value,
            "impact": content.impact,
            "happened_at": to_datetime(content.happened_at, told_zone),
            "holds_from": to_datetime(content.holds_from, told_zone),
            "holds_until": to_datetime(content.holds_until, told_zone),
            "due_at": to_datetime(content.due_at, told_zone),
            "grain": content.grain,
            "is_pinned": content.is_pinned,
            "is_by_person": content.is_by_person,
        }
    if isinstance(content, Entity):
        return fields | {
            "text": content.name,
            "status": content.status,
            "description": content.description,
            "aliases": content.aliases,
            "is_pinned": content.is_pinned,
            "is_by_person": content.is_by_person,
        }
    return fields | {
        "text": content.text,
        "status": "active" if content.is_active else "folded",
        "happened_at": from_micros(content.from_at, zone),
    }


def to_datetime(at: Micros | None, zone: str) -> datetime | None:
    """Convert a time to a datetime in the person's zone; None stays None."""
    return None if at is None else from_micros(at, zone)


def belief_as_json(
    belief: BeliefDetails, *, zone: str, now: Micros | None = None
) -> dict[str, JsonValue]:
    """Return a belief as JSON; with ``now`` also as of when, if it is a state of long ago."""
    as_of = None if now is None else belief.find_stale_since(now)
    return {
        **content_as_json(belief.content, zone=zone),
        **({} if as_of is None else {"as_of": format_exact_time(as_of, zone)}),
        **standing_as_json(belief.standing, zone),
        **uses_as_json(belief.uses, zone),
        **sources_as_json(belief.sources, zone),
        "evidence": [evidence_as_json(each) for each in belief.evidence],
    }


def uses_as_json(uses: MemoryUsage | None, zone: str) -> dict[str, JsonValue]:
    """Return the usage of a memory as JSON; empty if it was not loaded."""
    if uses is None:
        return {}
    last_at = format_exact_time(uses.last_at, zone)
    return {"came_to_mind": {"replies": uses.replies, "used": uses.used, "last_at": last_at}}


def sources_as_json(sources: Sequence[Message | Summary], zone: str) -> dict[str, JsonValue]:
    """Return the sources of a summary as JSON; empty if they were not loaded."""
    made_of: list[JsonValue] = [
        content_as_json(each, zone=zone)
        if isinstance(each, Summary)
        else StoredMessage.from_domain(each).as_json()
        for each in sources
    ]
    return {"made_of": made_of} if made_of else {}


def content_as_json(belief: JournalObject, *, zone: str) -> dict[str, JsonValue]:
    """Return the content of a belief as JSON, without its evidence."""
    common: dict[str, JsonValue] = {
        "id": belief.id,
        "kind": get_kind(belief),
        "learned_at": format_exact_time(belief.learned_at, zone),
        "ended_at": format_exact_time(belief.ended_at, zone),
    }
    if isinstance(belief, StoredBelief):
        return common | memory_as_json(belief, zone)
    if isinstance(belief, Entity):
        return common | {
            "name": belief.name,
            "is": belief.kind,
            "aliases": [*belief.aliases],
            "description": belief.description,
            "status": belief.status,
            "same_as": belief.same_as,
            "is_pinned": belief.is_pinned,
            "is_by_person": belief.is_by_person,
        }
    return common | {
        "level": belief.level,
        "text": belief.text,
        "topics": [*belief.topics],
        "from_at": format_exact_time(belief.from_at, zone),
        "until_at": format_exact_time(belief.until_at, zone),
        "is_active": belief.is_active,
        "sources": [*belief.sources],
        "segments": [*belief.segments],
    }


def memory_as_json(memory: StoredBelief, zone: str) -> dict[str, JsonValue]:
    """Return the fields of a memory as JSON."""
    told_zone = get_told_zone(memory, zone)
    return {
        "text": memory.text,
        "status": memory.status,
        "subject": memory.subject,
        "trust": memory.trust,
        "key": memory.key,
        "value": memory.value,
        "impact": memory.impact,
        "tags": [*memory.tags],
        "arousal": memory.arousal,
        "cues": [*memory.cues],
        "importance": memory.importance,
        "happened_at": format_exact_time(memory.happened_at, told_zone),
        "holds_from": format_exact_time(memory.holds_from, told_zone),
        "holds_until": format_exact_time(memory.holds_until, told_zone),
        "due_at": format_exact_time(memory.due_at, told_zone),
        "entities": [*memory.entities],
        "relations": [{"kind": link.kind, "other": link.target} for link in memory.relations],
        "is_pinned": memory.is_pinned,
        "is_by_person": memory.is_by_person,
    }


def standing_as_json(standing: EvidenceStats | None, zone: str) -> dict[str, JsonValue]:
    """Return the evidence statistics of a memory as JSON; null for what has none."""
    if standing is None:
        return dict.fromkeys(("confidence", "strength", "times_seen", "last_seen"))
    return {
        "confidence": standing.confidence,
        "strength": round(standing.strength, 4),
        "times_seen": standing.times_seen,
        "last_seen": format_exact_time(standing.last_seen, zone),
    }

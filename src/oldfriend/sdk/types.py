"""SDK types: plain values returned by the memory, with times as aware datetimes."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from oldfriend.beliefs.history import HistoryEntry
from oldfriend.beliefs.queries import BeliefDetails as Known
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.memories import Entity, Evidence, JournalObject, Memory
from oldfriend.domain.messages import Message
from oldfriend.memory.serialization import get_kind
from oldfriend.turn.reason_texts import format_reasons
from oldfriend.turn.retrieval import RecalledBelief, RecalledMessage

TimeInput = datetime | str
"""A datetime, aware or in the person's time zone, or ISO 8601 text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A message in the memory."""

    id: str
    external_id: str | None  # the id given to ``add``
    session: str
    channel: str
    speaker: str
    role: str
    trust: str  # "outside": forwarded, fetched or pasted, so not the speaker's own words
    at: datetime  # aware, in the zone where it was said
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Words):
    """A message that answers a query; ``score`` ranges from 0 to 1."""

    kind: str = "message"
    score: float
    why: tuple[str, ...]  # in plain words, the strongest reason first
    around: tuple[Words, ...] = ()  # neighboring messages, if requested


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgot:
    """The result of forgetting, without any of the deleted text."""

    messages: int
    beliefs: int
    orphans: tuple[str, ...]  # ids of beliefs that stay although they rested on it
    near: tuple[str, ...]  # ids of messages that stay and say nearly the same
    is_proved: bool  # verified as gone from every reachable place


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """A quote for or against a belief."""

    message: str  # id of the message, as in ``Words``
    text: str
    speaker: str
    at: datetime
    supports: bool


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
    learned_at: datetime
    ended_at: datetime | None = None  # None: it is still believed
    confidence: float | None = None  # 0 to 1, from the evidence for and against it
    times_seen: int = 0
    is_pinned: bool = False
    is_by_person: bool = False  # written or confirmed by them: never overruled by inference
    evidence: tuple[Quoted, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefHit(Belief):
    """A belief that answers a query, with its evidence; ``score`` as for messages."""

    at: datetime  # when it was last said
    score: float
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """One decision about a belief: when, what, by whom and based on which messages."""

    at: datetime
    until: datetime | None  # when the next one was made; None: it still holds
    op: str  # learned, revised, superseded, corrected …
    by: str  # "person", a rule or a prompt with its version
    belief: Belief  # as it was decided
    because: tuple[Words, ...]


def build_words_fields(message: Message) -> dict[str, Any]:
    """Return the fields of ``Words`` for a message."""
    return {
        "id": message.id,
        "external_id": message.external_id,
        "session": message.session_name,
        "channel": message.channel,
        "speaker": message.speaker,
        "role": message.role,
        "trust": message.trust,
        "at": from_micros(message.at, message.zone),
        "text": message.text,
    }


def to_hit(recalled: RecalledMessage, around: Sequence[Message] = ()) -> Hit:
    """Convert a recalled message."""
    return Hit(
        **build_words_fields(recalled.message),
        score=recalled.hit.score,
        why=tuple(format_reasons(recalled.hit.reasons)),
        around=tuple(Words(**build_words_fields(message)) for message in around),
    )


def to_belief_hit(recalled: RecalledBelief, zone: str) -> BeliefHit:
    """Convert a recalled belief."""
    state = recalled.state
    belief = to_belief(
        Known(content=state.memory, standing=state.stats, evidence=recalled.evidence), zone
    )
    return BeliefHit(
        **{field.name: getattr(belief, field.name) for field in fields(belief)},
        at=from_micros(state.stats.last_seen, zone),
        score=recalled.score,
        why=tuple(format_reasons(recalled.why)),
    )


def to_belief(known: Known, zone: str) -> Belief:
    """Convert a belief with its evidence."""
    standing = known.standing
    return replace(
        to_decided_belief(known.content, zone),
        confidence=None if standing is None else standing.confidence,
        times_seen=0 if standing is None else standing.times_seen,
        evidence=tuple(map(to_quoted, known.evidence)),
    )


def to_decided_belief(what: JournalObject, zone: str) -> Belief:
    """Convert an object as it was decided."""
    common: dict[str, Any] = {
        "id": what.id,
        "kind": get_kind(what),
        "learned_at": from_micros(what.learned_at, zone),
        "ended_at": to_datetime(what.ended_at, zone),
    }
    if isinstance(what, Memory):
        return Belief(
            text=what.text,
            status=what.status,
            key=what.key,
            value=what.value,
            impact=what.impact,
            happened_at=to_datetime(what.happened_at, zone),
            holds_from=to_datetime(what.holds_from, zone),
            holds_until=to_datetime(what.holds_until, zone),
            due_at=to_datetime(what.due_at, zone),
            is_pinned=what.is_pinned,
            is_by_person=what.is_by_person,
            **common,
        )
    if isinstance(what, Entity):
        return Belief(
            text=what.name,
            status=what.status,
            description=what.description,
            aliases=what.aliases,
            is_pinned=what.is_pinned,
            is_by_person=what.is_by_person,
            **common,
        )
    return Belief(
        text=what.text,
        status="active" if what.is_active else "folded",
        happened_at=from_micros(what.from_at, zone),
        **common,
    )


def to_quoted(evidence: Evidence) -> Quoted:
    """Convert a piece of evidence."""
    return Quoted(
        message=evidence.message,
        text=evidence.quote,
        speaker=evidence.speaker,
        at=from_micros(evidence.said_at, evidence.zone),
        supports=evidence.stance == "supports",
    )


def to_decided(step: HistoryEntry, zone: str) -> Decided:
    """Convert a history entry."""
    return Decided(
        at=from_micros(step.change.decided_at, zone),
        until=to_datetime(step.until, zone),
        op=step.change.op,
        by=step.change.author,
        belief=to_decided_belief(step.change.after, zone),
        because=tuple(Words(**build_words_fields(message)) for message in step.cause_messages),
    )


def to_datetime(at: Micros | None, zone: str) -> datetime | None:
    """Convert a time to a datetime in the person's zone; None stays None."""
    return None if at is None else from_micros(at, zone)

"""What does a program get from the memory? Plain values, with times as aware datetimes."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from oldfriend.app.believing.history import Step
from oldfriend.app.believing.looking import Belief as Known
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.memories import Believed, Entity, Evidence, Memory
from oldfriend.domain.messages import Message
from oldfriend.memory.rows import kind_of
from oldfriend.turn.explaining import reasons_in_words
from oldfriend.turn.recall import Recalled, Remembered

Moment = datetime | str
"""A moment: aware, or by the person's clocks; or as ISO 8601 text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A message in the memory, as a program sees it."""

    id: str
    external_id: str | None  # the id that it was added with
    session: str
    channel: str
    speaker: str
    role: str
    trust: str  # "outside": forwarded, fetched or pasted, so not the speaker's own words
    at: datetime  # aware, in the zone where it was said
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Words):
    """A message that answers a query; ``score`` runs from 0 to 1."""

    kind: str = "message"
    score: float
    why: tuple[str, ...]  # in plain words, the strongest cause first
    around: tuple[Words, ...] = ()  # what was said beside it, where that was asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgot:
    """What was forgotten, without a word of it."""

    messages: int
    beliefs: int
    orphans: tuple[str, ...]  # ids of beliefs that stay although they rested on it
    near: tuple[str, ...]  # ids of messages that stay and say nearly the same
    is_proved: bool  # it was looked for everywhere in reach, and is nowhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """Words for a belief, or against it."""

    message: str  # id of the message, as in ``Words``
    text: str
    speaker: str
    at: datetime
    supports: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """Something believed; what does not belong to its kind is empty, or None.

    ``kind`` is note, event, fact, preference, pattern, commitment, expectation; entity (``text``
    is its name) or summary.
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
    holds_from: datetime | None = None  # in the world …
    holds_until: datetime | None = None
    due_at: datetime | None = None
    learned_at: datetime
    ended_at: datetime | None = None  # None: it is believed
    confidence: float | None = None  # 0 to 1, by the words for and against it
    times_seen: int = 0
    is_pinned: bool = False
    is_by_person: bool = False  # written or confirmed by them: never overruled by inference
    evidence: tuple[Quoted, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefHit(Belief):
    """A belief that answers a query, with its words; ``score`` as a message has it."""

    at: datetime  # when it was last said
    score: float
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """One decision about a belief: when, what, who by, because of which words."""

    at: datetime
    until: datetime | None  # when the next one was made; None: it holds
    op: str  # learned, revised, superseded, corrected …
    by: str  # "person", a rule or a prompt with its version
    belief: Belief  # as it was decided
    because: tuple[Words, ...]


def fields_of(message: Message) -> dict[str, Any]:
    """The fields of Words for a message."""
    return {
        "id": message.id, "external_id": message.external_id, "session": message.session_name,
        "channel": message.channel, "speaker": message.speaker, "role": message.role,
        "trust": message.trust, "at": from_micros(message.at, message.zone), "text": message.text,
    }  # fmt: skip


def hit_from(recalled: Recalled, around: Sequence[Message] = ()) -> Hit:
    """A recalled message as a program sees it."""
    return Hit(
        **fields_of(recalled.message),
        score=recalled.hit.score,
        why=tuple(reasons_in_words(recalled.hit.why)),
        around=tuple(Words(**fields_of(message)) for message in around),
    )


def belief_hit_from(remembered: Remembered, zone: str) -> BeliefHit:
    """A belief that came to mind as a program sees it."""
    known = remembered.known
    belief = belief_from(
        Known(what=known.memory, standing=known.standing, words=remembered.words), zone
    )
    return BeliefHit(
        **{field.name: getattr(belief, field.name) for field in fields(belief)},
        at=from_micros(known.standing.last_seen, zone), score=remembered.score,
        why=tuple(reasons_in_words(remembered.why)),
    )  # fmt: skip


def belief_from(known: Known, zone: str) -> Belief:
    """Something believed as a program sees it, with its words."""
    standing = known.standing
    return replace(
        believed_from(known.what, zone),
        confidence=None if standing is None else standing.confidence,
        times_seen=0 if standing is None else standing.times_seen,
        evidence=tuple(map(quoted_from, known.words)),
    )


def believed_from(what: Believed, zone: str) -> Belief:
    """Something as it was decided."""
    common: dict[str, Any] = {
        "id": what.id, "kind": kind_of(what), "learned_at": from_micros(what.learned_at, zone),
        "ended_at": moment(what.ended_at, zone),
    }  # fmt: skip
    if isinstance(what, Memory):
        return Belief(
            text=what.text, status=what.status, key=what.key, value=what.value,
            impact=what.impact, happened_at=moment(what.happened_at, zone),
            holds_from=moment(what.holds_from, zone), holds_until=moment(what.holds_until, zone),
            due_at=moment(what.due_at, zone), is_pinned=what.is_pinned,
            is_by_person=what.is_by_person, **common,
        )  # fmt: skip
    if isinstance(what, Entity):
        return Belief(
            text=what.name, status=what.status, description=what.description,
            aliases=what.aliases, is_pinned=what.is_pinned, is_by_person=what.is_by_person,
            **common,
        )  # fmt: skip
    return Belief(
        text=what.text, status="active" if what.is_active else "folded",
        happened_at=from_micros(what.from_at, zone), **common,
    )  # fmt: skip


def quoted_from(words: Evidence) -> Quoted:
    """Words that bear on a belief as a program sees them."""
    return Quoted(
        message=words.message, text=words.quote, speaker=words.speaker,
        at=from_micros(words.said_at, words.zone), supports=words.stance == "supports",
    )  # fmt: skip


def decided_from(step: Step, zone: str) -> Decided:
    """One decision as a program sees it."""
    return Decided(
        at=from_micros(step.change.decided_at, zone), until=moment(step.until, zone),
        op=step.change.op, by=step.change.author, belief=believed_from(step.change.after, zone),
        because=tuple(Words(**fields_of(message)) for message in step.because),
    )  # fmt: skip


def moment(at: Micros | None, zone: str) -> datetime | None:
    """A moment by the person's clocks; None where there is none."""
    return None if at is None else from_micros(at, zone)

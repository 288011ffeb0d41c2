"""Converters for beliefs, their history and moods."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from oldfriend.api.converters.chat import to_message_shape
from oldfriend.api.converters.common import format_optional_time, format_time, to_words_shape
from oldfriend.api.schemas.memories import (
    BeliefShape,
    DayShape,
    Decided,
    FeltShape,
    PointShape,
    StepShape,
    TurnedShape,
)
from oldfriend.beliefs.belief_pages import BeliefChange
from oldfriend.beliefs.history import HistoryEntry
from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.domain.memories import (
    Entity,
    Evidence,
    EvidenceStats,
    JournalEntry,
    JournalObject,
    Memory,
    Summary,
)
from oldfriend.memory.change_stats import DayChanges
from oldfriend.memory.confidence import DEFAULT_GROWTH, RELATION_GROWTH, compute_stats_history
from oldfriend.memory.corrections import find_merge_survivor
from oldfriend.memory.mood import TimedMood
from oldfriend.memory.serialization import get_kind
from oldfriend.presenters.belief_presenter import format_author

MAX_POINTS: Final = 60

SOURCES: Final[Mapping[str, Literal["reflection", "slow tick"]]] = {
    "reflect": "reflection",
    "tick": "slow tick",
}
"""Sources that derive beliefs without a message, by author prefix."""


def to_belief_shape(belief: BeliefDetails, *, zone: str) -> BeliefShape:
    """Convert a belief."""
    content = belief.content
    journaled = None if isinstance(content, Summary) else content
    common = BeliefShape(
        id=content.id,
        kind=get_kind(content),
        text=format_belief(content),
        status=None if journaled is None else journaled.status,
        is_pinned=journaled is not None and journaled.is_pinned,
        is_by_person=journaled is not None and journaled.is_by_person,
        learned_at=format_time(content.learned_at, zone),
        ended_at=format_optional_time(content.ended_at, zone),
        confidence=None,
        times_seen=None,
        etag=None if belief.base is None else format_etag(belief.base),
        words=[to_words_shape(each) for each in belief.evidence],
    )
    extra = {**build_kind_fields(content, zone), **build_confidence_fields(belief.standing, zone)}
    if isinstance(content, Memory) and len(belief.evidence) > 1:
        extra["course"] = to_point_shapes(content, belief.evidence, zone=zone)
    return common.model_copy(update=extra)


def format_etag(version: int) -> str:
    """Format the ETag of a belief: the number of its newest journal entry, quoted."""
    return f'"{version}"'


def build_kind_fields(what: JournalObject, zone: str) -> dict[str, Any]:
    """Build the fields that only some kinds have."""
    if isinstance(what, Summary):
        return {
            "level": what.level,
            "tags": list(what.topics),
            "happened_at": format_time(what.from_at, zone),
            "until_at": format_time(what.until_at, zone),
        }
    if isinstance(what, Entity):
        return {}
    return {
        "key": what.key or None,
        "value": what.value or None,
        "impact": what.impact,
        "subject": what.subject,
        "tags": list(what.tags),
        "happened_at": format_optional_time(what.happened_at, zone),
        "until_at": format_optional_time(what.happened_until, zone),
        "due_at": format_optional_time(what.due_at, zone),
        "merged_into": find_merge_survivor(what),
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


def to_point_shapes(what: Memory, evidence: Sequence[Evidence], *, zone: str) -> list[PointShape]:
    """Convert the strength over time, up to the last MAX_POINTS points."""
    course = compute_stats_history(
        evidence, RELATION_GROWTH if what.kind == "triple" else DEFAULT_GROWTH
    )
    return [
        PointShape(
            at=format_time(at, zone), strength=round(each.strength, 3), confidence=each.confidence
        )
        for at, each in course[-MAX_POINTS:]
    ]


def format_belief(believed: JournalObject) -> str:
    """Format the content of a belief as text."""
    if not isinstance(believed, Entity):
        return believed.text
    return f"{believed.name}: {believed.description}" if believed.description else believed.name


def to_journal_entry_shape(
    change: JournalEntry, evidence: Sequence[Evidence], *, zone: str
) -> Decided:
    """Convert a journal entry, with the belief as it was decided."""
    return Decided(
        seq=change.seq,
        op=change.op,
        by=format_author(change.author),
        source=SOURCES.get(change.author.partition("/")[0]),
        at=format_time(change.decided_at, zone),
        belief=to_belief_shape(
            BeliefDetails(content=change.after, evidence=tuple(evidence), base=change.seq),
            zone=zone,
        ),
    )


def to_belief_change_shape(
    turned: BeliefChange, evidence: Sequence[Evidence], *, zone: str
) -> TurnedShape:
    """Convert a difference between two days."""
    decided = to_journal_entry_shape(turned.change, evidence, zone=zone)
    return TurnedShape(
        turn=turned.effect,
        op=decided.op,
        by=decided.by,
        at=decided.at,
        belief=decided.belief,
        before=None if turned.previous is None else format_belief(turned.previous),
    )


def to_history_entry_shape(step: HistoryEntry, *, zone: str) -> StepShape:
    """Convert an entry of a belief's history."""
    return StepShape(
        id=step.change.object_id,
        op=step.change.op,
        by=format_author(step.change.author),
        at=format_time(step.change.decided_at, zone),
        until=format_optional_time(step.until, zone),
        text=format_belief(step.change.after),
        because=[to_message_shape(each) for each in step.cause_messages],
    )


def to_day_shape(turned: DayChanges) -> DayShape:
    """Convert the number of changes on a day."""
    return DayShape(
        day=turned.day.isoformat(), added=turned.added, changed=turned.changed, ended=turned.ended
    )


def to_timed_mood_shape(felt: TimedMood, *, zone: str) -> FeltShape:
    """Convert a mood with its time."""
    return FeltShape(
        at=format_time(felt.at, zone),
        phrase=felt.mood.phrase,
        energy=felt.mood.energy,
        signal=felt.mood.signal,
    )

"""Converters for reflection records."""

from collections.abc import Mapping

from oldfriend.api.schemas.reflections import Thought, TickShape
from oldfriend.domain.json import JsonValue
from oldfriend.memory.reflection_log import ReflectionRecord
from oldfriend.presenters.formatting import format_time


def to_reflection_shape(tick: ReflectionRecord, *, zone: str) -> TickShape:
    """Convert a reflection record."""
    return TickShape(
        id=tick.id,
        kind=tick.kind,
        why=tick.why,
        at=format_time(tick.ran_at, zone),
        tokens_in=tick.tokens_in,
        tokens_out=tick.tokens_out,
        learned=sum_outcome(tick.outcome, "learned"),
        rejected=sum_outcome(tick.outcome, "rejected"),
        error=tick.error,
    )


def to_transcript_shape(tick: ReflectionRecord, *, zone: str) -> Thought:
    """Convert a reflection record with its transcript."""
    transcript = tick.transcript
    return Thought(
        **to_reflection_shape(tick, zone=zone).model_dump(),
        shown=[] if transcript is None else list(transcript.shown),
        answered=[] if transcript is None else list(transcript.answered),
    )


def sum_outcome(outcome: Mapping[str, JsonValue], key: str) -> int:
    """Sum one outcome over all kinds."""
    counts = outcome.get(key)
    found = counts.values() if isinstance(counts, dict) else ()
    return sum(count for count in found if isinstance(count, int))

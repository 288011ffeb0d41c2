"""Converters for the mood and the learning progress."""

from oldfriend.api.converters.common import format_optional_time
from oldfriend.api.schemas.session import MoodShape, ProgressShape
from oldfriend.domain.memories import Mood
from oldfriend.learning.learning_progress import LearningProgress
from oldfriend.usage.costs import MICRODOLLARS


def to_mood_shape(mood: Mood | None) -> MoodShape | None:
    """Convert a mood; None is neutral."""
    if mood is None:
        return None
    return MoodShape(phrase=mood.phrase, energy=mood.energy, signal=mood.signal)


def to_progress_shape(progress: LearningProgress | None, *, zone: str) -> ProgressShape | None:
    """Convert the learning progress; None if nothing is in progress."""
    if progress is None:
        return None
    return ProgressShape(
        read=progress.read,
        of=progress.total,
        since=format_optional_time(progress.first_at, zone),
        until=format_optional_time(progress.last_at, zone),
        cost_usd=progress.cost / MICRODOLLARS,
        waits_until=format_optional_time(progress.resumes_at, zone),
        reflects=progress.is_reflecting,
    )

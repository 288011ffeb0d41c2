"""How is a mood shown, and what goes on behind the talk?"""

from oldfriend.app.forming.progress import Progress
from oldfriend.domain.memories import Mood
from oldfriend.ledger.spending import DOLLAR
from oldfriend.web.shapes.session import MoodShape, ProgressShape
from oldfriend.web.showing.common import at_or_none


def mood_shape(mood: Mood | None) -> MoodShape | None:
    """A mood; None: neutral."""
    if mood is None:
        return None
    return MoodShape(phrase=mood.phrase, energy=mood.energy, signal=mood.signal)


def progress_shape(progress: Progress | None, *, zone: str) -> ProgressShape | None:
    """What goes on behind the talk; None: nothing does."""
    if progress is None:
        return None
    return ProgressShape(
        read=progress.read, of=progress.of, since=at_or_none(progress.since, zone),
        until=at_or_none(progress.until, zone), cost_usd=progress.cost / DOLLAR,
        waits_until=at_or_none(progress.waits_until, zone), reflects=progress.reflects,
    )  # fmt: skip

"""How is a mood shown?"""

from oldfriend.domain.memories import Mood
from oldfriend.web.shapes.session import MoodShape


def mood_shape(mood: Mood | None) -> MoodShape | None:
    """A mood; None: neutral."""
    if mood is None:
        return None
    return MoodShape(phrase=mood.phrase, energy=mood.energy, signal=mood.signal)

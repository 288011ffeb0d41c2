"""A clock that stands still until it is told to go on."""

from oldfriend.domain.clock import MINUTE, SECOND, Micros

NOON = 1_700_000_000 * SECOND
"""14 November 2023, 22:13:20 UTC: any moment would do."""


class FrozenClock:
    """Time for tests."""

    def __init__(self, now: Micros = NOON) -> None:
        """Stand still at a moment."""
        self.now = now

    def __call__(self) -> Micros:
        """The time, as every clock tells it."""
        return self.now

    def tick(self, *, minutes: float = 0, seconds: float = 0) -> Micros:
        """Go on; the new time."""
        self.now += round(minutes * MINUTE + seconds * SECOND)
        return self.now

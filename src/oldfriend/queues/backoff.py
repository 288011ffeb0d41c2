"""How long to wait before trying again? Longer each time, and never all at the same moment."""

from oldfriend.domain.clock import SECOND, Micros

FIRST_S = 1.0
LONGEST_S = 300.0


def retry_at(now: Micros, attempts: int, *, chance: float, at_least_s: float = 0.0) -> Micros:
    """When to try again what has failed so many times: up to 1, 2, 4 … 300 s from now.

    ``chance`` (0 to 1) picks the moment within, so that many who failed together do not come
    back together. ``at_least_s`` is what the other side asked for.
    """
    doublings = min(max(attempts - 1, 0), 32)
    most_s = min(LONGEST_S, FIRST_S * (1 << doublings))
    return now + round((at_least_s + chance * most_s) * SECOND)

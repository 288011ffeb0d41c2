"""Backoff: when to retry after a failure, exponentially later each time and with jitter."""

from oldfriend.domain.clock import SECOND, Micros

BASE_DELAY_S = 1.0
MAX_DELAY_S = 300.0


def compute_retry_at(
    now: Micros, attempts: int, *, jitter: float, min_delay_s: float = 0.0
) -> Micros:
    """Return when to retry after this many failed attempts: up to 1, 2, 4 … 300 s from now.

    ``jitter`` (0 to 1) picks the moment within that range, so that jobs that failed together are
    not retried together. ``min_delay_s`` is the delay that the other side asked for; it is added.
    """
    doublings = min(max(attempts - 1, 0), 32)
    most_s = min(MAX_DELAY_S, BASE_DELAY_S * (1 << doublings))
    return now + round((min_delay_s + jitter * most_s) * SECOND)

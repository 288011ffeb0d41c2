"""Who failed waits, longer each time, and not in step with the others."""

from hypothesis import given
from hypothesis import strategies as st

from oldfriend.domain.clock import SECOND
from oldfriend.queues.jobs_table import MAX_DELAY_S, compute_retry_at


def test_the_longest_wait_doubles_up_to_five_minutes():
    waits = [compute_retry_at(0, attempts, jitter=1) // SECOND for attempts in range(12)]

    assert waits == [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


def test_what_the_other_side_asks_for_is_kept():
    assert compute_retry_at(5 * SECOND, 1, jitter=0, min_delay_s=20) == 25 * SECOND


@given(st.integers(0, 10**9), st.floats(0, 1), st.floats(0, 1))
def test_the_moment_lies_anywhere_within_the_wait(attempts, one, other):
    """Full jitter: more chance, more delay, never too much."""
    early, late = sorted((one, other))

    assert (
        0
        <= compute_retry_at(0, attempts, jitter=early)
        <= compute_retry_at(0, attempts, jitter=late)
    )
    assert compute_retry_at(0, attempts, jitter=late) <= MAX_DELAY_S * SECOND

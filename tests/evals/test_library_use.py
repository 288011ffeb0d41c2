"""What a program pays that uses the memory alone is measured through the real house."""

import pytest

from oldfriend_evals.bench_measures import Scope
from oldfriend_evals.library_use import measure_first_recall, measure_single_adds

QUICK = Scope(quick=True, locomo=None, float_model=None)


async def test_single_adds_are_measured_in_a_short_and_a_long_history() -> None:
    """And keep what they add."""
    (measure,) = await measure_single_adds(QUICK)

    assert measure.value is not None and measure.value > 0
    assert measure.ratio is not None and measure.ratio < 2


@pytest.mark.slow
async def test_first_recall_is_measured_relative_to_a_later_one() -> None:
    """Each in a process of its own; ten times as much would be compiling every book."""
    (measure,) = await measure_first_recall(QUICK)

    assert measure.ratio is not None and 1 < measure.ratio < 10

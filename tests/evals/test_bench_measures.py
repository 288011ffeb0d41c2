"""A measurement is fair, and says itself whether it is good enough."""

import pytest

from oldfriend_evals.bench_measures import (
    Measure,
    build_lower_target,
    build_unmeasured,
    build_upper_target,
    measure_medians_ms,
)


@pytest.mark.parametrize(
    ("value", "reference", "target", "reached"),
    [
        (6.0, 2.0, build_upper_target(3), True),
        (6.1, 2.0, build_upper_target(3), False),
        (82.5, None, build_lower_target(82.5), True),
        (82.4, None, build_lower_target(82.5), False),
        (1.0, None, None, None),
    ],
)
def test_target_is_checked_against_the_ratio_else_the_value(value, reference, target, reached):
    measure = Measure(name="a", value=value, unit="", reference=reference, target=target)

    assert measure.reached is reached


def test_unmeasured_target_is_neither_reached_nor_missed():
    measure = build_unmeasured("a", "no such thing here", target=build_upper_target(1))

    assert measure.reached is None
    assert measure.note == "no such thing here"


async def test_measured_pair_alternates_which_goes_first():
    """Whoever goes first may find the caches warmer or colder; that must not favour one side."""
    order: list[str] = []

    async def ours():
        order.append("ours")

    async def theirs():
        order.append("theirs")

    medians = await measure_medians_ms([(ours, theirs)] * 4)

    assert order == ["ours", "theirs", "theirs", "ours"] * 2
    assert all(0 <= median < 100 for median in medians)

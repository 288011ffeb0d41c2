"""A measurement is fair, and says itself whether it is good enough."""

import pytest

from oldfriend_evals.measuring import Measure, at_least, at_most, medians_ms, not_measured


@pytest.mark.parametrize(
    ("value", "reference", "target", "reached"),
    [
        (6.0, 2.0, at_most(3), True),
        (6.1, 2.0, at_most(3), False),
        (82.5, None, at_least(82.5), True),
        (82.4, None, at_least(82.5), False),
        (1.0, None, None, None),
    ],
)
def test_target_is_checked_against_the_ratio_else_the_value(value, reference, target, reached):
    measure = Measure(name="a", value=value, unit="", reference=reference, target=target)

    assert measure.reached is reached


def test_unmeasured_target_is_neither_reached_nor_missed():
    measure = not_measured("a", "no such thing here", target=at_most(1))

    assert measure.reached is None
    assert measure.note == "no such thing here"


async def test_measured_pair_alternates_which_goes_first():
    """Whoever goes first may find the caches warmer or colder; that must not favour one side."""
    order: list[str] = []

    async def ours():
        order.append("ours")

    async def theirs():
        order.append("theirs")

    medians = await medians_ms([(ours, theirs)] * 4)

    assert order == ["ours", "theirs", "theirs", "ours"] * 2
    assert all(0 <= median < 100 for median in medians)

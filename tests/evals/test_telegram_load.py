"""What is measured on Telegram is whole talks, through a Telegram that is a process of its own."""

import pytest

from oldfriend_evals.telegram_load import SLOW_S, measure_many_chats, measure_receiving


@pytest.mark.slow
async def test_telegram_throughput_is_bounded_by_the_model_not_by_one_chat() -> None:
    """Never faster than the model, and not chat after chat."""
    measured = await measure_many_chats(rounds=1, chats=4)

    assert measured.reference == 4 / SLOW_S
    assert measured.value is not None
    assert 1 / SLOW_S < measured.value <= 4 / SLOW_S


async def test_telegram_receiving_is_measured_relative_to_the_median() -> None:
    """Fifty people are made first; the slow ones are beside the median."""
    measured = await measure_receiving(count=120)

    assert measured.value is not None
    assert measured.reference is not None
    assert measured.value >= measured.reference > 0

"""What is measured on Telegram is whole talks, through a Telegram that is a process of its own."""

import pytest

from oldfriend_evals.telegram_load import SLOW_S, measure_many_chats, measure_receiving


@pytest.mark.slow
async def test_everybody_is_answered_as_often_as_they_wrote() -> None:
    """Never faster than the model, and not chat after chat."""
    measured = await measure_many_chats(rounds=1, chats=4)

    assert measured.reference == 4 / SLOW_S
    assert measured.value is not None
    assert 1 / SLOW_S < measured.value <= 4 / SLOW_S


async def test_taking_in_is_measured_without_what_comes_once() -> None:
    """Fifty people are made first; the slow ones are beside the median."""
    measured = await measure_receiving(count=120)

    assert measured.value is not None
    assert measured.reference is not None
    assert measured.value >= measured.reference > 0

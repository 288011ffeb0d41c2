"""The time is told in any zone."""

from oldfriend.prompts.prompt import reply_prompt
from oldfriend.turn.tools.current_time import current_time
from tests.clock import FrozenClock


async def test_without_a_place_it_is_the_persons_time(clock: FrozenClock) -> None:
    """With day, date, zone and offset."""
    tool = current_time(reply_prompt(), clock, zone="Asia/Kolkata")

    assert await tool.use({}) == "Wednesday 2023-11-15 03:43, Asia/Kolkata (UTC+05:30)"
    assert await tool.use({"zone": "UTC"}) == "Tuesday 2023-11-14 22:13, UTC (UTC)"

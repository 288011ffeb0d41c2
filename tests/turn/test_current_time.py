"""The time is told in any zone."""

from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.turn.tools.current_time import build_current_time_tool
from tests.clock import FrozenClock


async def test_without_a_place_it_is_the_persons_time(clock: FrozenClock) -> None:
    """With day, date, zone and offset."""
    tool = build_current_time_tool(get_reply_prompt(), clock, zone="Asia/Kolkata")

    assert await tool.run({}) == "Wednesday 2023-11-15 03:43, Asia/Kolkata (UTC+05:30)"
    assert await tool.run({"zone": "UTC"}) == "Tuesday 2023-11-14 22:13, UTC (UTC)"

"""The time is told in any zone."""

from dataclasses import replace

from oldfriend.turn.tools.current_time import build_current_time_tool
from tests.turn.conftest import Talk


async def test_current_time_defaults_to_the_time_zone_of_the_message(talk: Talk) -> None:
    """With day, date, zone and offset."""
    utterance = await talk.hears("What time is it?")
    message = replace(utterance.message, zone="Asia/Kolkata")
    tool = build_current_time_tool(talk.tool_context(replace(utterance, message=message)))

    assert await tool.run({}) == "Wednesday 2023-11-15 03:44, Asia/Kolkata (UTC+05:30)"
    assert await tool.run({"zone": "UTC"}) == "Tuesday 2023-11-14 22:14, UTC (UTC)"

"""The time is told in any zone."""

from dataclasses import replace

from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.turn.tools.current_time import build_current_time_tool
from oldfriend.turn.tools.tool import ToolContext
from tests.turn.conftest import Talk


async def test_without_a_place_it_is_the_persons_time(talk: Talk) -> None:
    """With day, date, zone and offset."""
    utterance = await talk.hears("What time is it?")
    message = replace(utterance.message, zone="Asia/Kolkata")
    context = ToolContext(
        prompt=get_reply_prompt(),
        clock=talk.clock,
        utterance=replace(utterance, message=message),
    )
    tool = build_current_time_tool(context)

    assert await tool.run({}) == "Wednesday 2023-11-15 03:44, Asia/Kolkata (UTC+05:30)"
    assert await tool.run({"zone": "UTC"}) == "Tuesday 2023-11-14 22:14, UTC (UTC)"

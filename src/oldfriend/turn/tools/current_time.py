"""Current time tool: tells the time in a time zone by reading the clock."""

import asyncio
from typing import Final

from oldfriend.domain.clock import format_offset, from_micros
from oldfriend.domain.time_zones import resolve_zone
from oldfriend.llm.model import ToolDefinition
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolContext, ToolSpec


def build_current_time_tool(context: ToolContext) -> BoundTool:
    """Build the tool that tells the time, by default in the person's time zone."""
    prompt = context.prompt

    async def use(arguments: ToolArguments) -> str:
        asked = str(arguments.get("zone") or context.utterance.message.zone).strip()
        found = await asyncio.to_thread(resolve_zone, asked)  # the zone list is read from disk
        now = from_micros(context.clock(), found)
        return (
            f"{now:%A} {now:%Y-%m-%d %H:%M}, {found} (UTC{format_offset(now).removeprefix('UTC')})"
        )

    return BoundTool(
        definition=ToolDefinition(
            name="current_time",
            description=prompt.render("current_time"),
            parameters={
                "type": "object",
                "properties": {
                    "zone": {"type": "string", "description": prompt.render("current_time_zone")}
                },
                "required": [],
                "additionalProperties": False,
            },
        ),
        kind="read",
        run=use,
    )


CURRENT_TIME: Final = ToolSpec(name="current_time", build=build_current_time_tool)

"""What time is it somewhere? A tool that only reads the clock."""

import asyncio

from oldfriend.domain.clock import Clock, from_micros, offset_name
from oldfriend.domain.zones import find_zone
from oldfriend.llm.model import Tool
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.tools.ability import Ability, Arguments


def current_time(prompt: Prompt, clock: Clock, *, zone: str) -> Ability:
    """The tool that tells the time; in the person's zone where none is asked for."""

    async def use(arguments: Arguments) -> str:
        asked = str(arguments.get("zone") or zone).strip()
        found = await asyncio.to_thread(find_zone, asked)  # the list of zones is read from disk
        now = from_micros(clock(), found)
        return f"{now:%A} {now:%Y-%m-%d %H:%M}, {found} (UTC{offset_name(now).removeprefix('UTC')})"

    return Ability(
        tool=Tool(
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
        use=use,
    )

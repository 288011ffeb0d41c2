"""What time is it somewhere? A tool that only reads the clock."""

import asyncio
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Final
from zoneinfo import available_timezones

from oldfriend.domain.clock import Clock, from_micros, offset_name, zone_named
from oldfriend.domain.errors import InvalidInput
from oldfriend.llm.model import Tool
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.tools.ability import Ability, Arguments

CITIES: Final[Mapping[str, str]] = {
    "abu dhabi": "Asia/Dubai", "barcelona": "Europe/Madrid", "bangalore": "Asia/Kolkata",
    "beijing": "Asia/Shanghai", "boston": "America/New_York", "cape town": "Africa/Johannesburg",
    "cologne": "Europe/Berlin", "dallas": "America/Chicago", "delhi": "Asia/Kolkata",
    "frankfurt": "Europe/Berlin", "geneva": "Europe/Zurich", "guangzhou": "Asia/Shanghai",
    "hamburg": "Europe/Berlin", "hanoi": "Asia/Bangkok", "houston": "America/Chicago",
    "koln": "Europe/Berlin", "kyoto": "Asia/Tokyo", "las vegas": "America/Los_Angeles",
    "lisboa": "Europe/Lisbon", "lyon": "Europe/Paris", "marseille": "Europe/Paris",
    "miami": "America/New_York", "milan": "Europe/Rome", "montreal": "America/Toronto",
    "mumbai": "Asia/Kolkata", "munchen": "Europe/Berlin", "munich": "Europe/Berlin",
    "new delhi": "Asia/Kolkata", "osaka": "Asia/Tokyo", "philadelphia": "America/New_York",
    "porto": "Europe/Lisbon", "rio de janeiro": "America/Sao_Paulo",
    "san francisco": "America/Los_Angeles", "seattle": "America/Los_Angeles",
    "shenzhen": "Asia/Shanghai", "st petersburg": "Europe/Moscow", "tel aviv": "Asia/Jerusalem",
    "washington": "America/New_York", "wien": "Europe/Vienna",
    "北京": "Asia/Shanghai", "上海": "Asia/Shanghai", "香港": "Asia/Hong_Kong",
    "东京": "Asia/Tokyo", "纽约": "America/New_York", "伦敦": "Europe/London",
    "巴黎": "Europe/Paris", "里斯本": "Europe/Lisbon",
}  # fmt: skip
"""Large cities after which no zone is named."""


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


def find_zone(asked: str) -> str:
    """The zone of this name, or of the city with it. Raises InvalidInput."""
    try:
        zone_named(asked)
    except InvalidInput:
        place = plain(asked)
        found = zones_by_place().get(place) or zones_by_place().get(place.split(",")[0].strip())
        if found is None:
            raise
        return found
    return asked or "UTC"


@cache
def zones_by_place() -> Mapping[str, str]:
    """Zones by their whole name and by their city, in plain letters; the shortest name wins."""
    names = sorted(available_timezones(), key=lambda name: (-len(name), name))
    cities = {plain(name.rsplit("/", 1)[-1]): name for name in names}
    return {**cities, **CITIES, **{plain(name): name for name in names}}


def plain(name: str) -> str:
    """A name in lower case, without accents, underscores and dots."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    bare = "".join(c for c in letters if not unicodedata.combining(c))
    return " ".join(bare.replace("_", " ").replace(".", " ").split())

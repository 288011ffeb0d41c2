"""By whose clocks does somebody live who writes from elsewhere? They say it: /zone and a place.

No message tells it, and the machine may stand where other clocks go.
"""

import asyncio
import re
from dataclasses import replace
from typing import Final

from oldfriend.app.courtesy import Courtesy, in_their_language
from oldfriend.app.house import House
from oldfriend.app.persona.naming import change_person
from oldfriend.channels.arriving import Message
from oldfriend.domain.clock import from_micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.people import Person
from oldfriend.domain.zones import find_zone, near_zones

COMMAND: Final = re.compile(
    r"\s*/zone(?:@\w+)?(?:\s+(?P<place>\S.*?))?\s*", re.IGNORECASE | re.DOTALL
)
LONGEST_PLACE: Final = 60
"""Characters; whatever is longer is no name."""


def place_in(said: Message) -> str | None:
    """The place that is told with the command, which may be none; None: it is not told."""
    found = COMMAND.fullmatch(said.text) if said.is_theirs and not said.is_edit else None
    return None if found is None else found["place"] or ""


async def take_zone(house: House, said: Message, person: Person, place: str) -> Courtesy:
    """Go by the clocks of a place from now on; what is kept there, or what may be meant."""
    if not place:
        return clocks_of(house, said, person, "zone_is")
    try:
        zone = await asyncio.to_thread(find_zone, place)  # the list of zones is read from disk
    except InvalidInput:
        name = place[:LONGEST_PLACE]
        near = await asyncio.to_thread(near_zones, name)
        phrase = "zone_near" if near else "zone_unknown"
        return in_their_language(said, person, phrase, place=name, near=", ".join(near))
    return clocks_of(house, said, await change_person(house, person.id, zone=zone), "zone_now")


def welcome(house: House, said: Message, person: Person, phrase: str) -> Courtesy:
    """Greet somebody, and say by whose clocks we take it that they live."""
    greeting = in_their_language(said, person, phrase)
    clocks = clocks_of(house, said, person, "zone_is")
    return replace(greeting, text=f"{greeting.text}\n\n{clocks.text}")


def clocks_of(house: House, said: Message, person: Person, phrase: str) -> Courtesy:
    """A phrase with the zone of a person, and the time that it is there."""
    time = f"{from_micros(house.clock(), person.zone):%H:%M}"
    return in_their_language(said, person, phrase, zone=person.zone, time=time)

"""What is said at once on a platform, and is no part of any talk? One line, and it is not kept."""

from dataclasses import dataclass

from oldfriend.app.house import House
from oldfriend.channels.arriving import Message, Sender
from oldfriend.domain.people import Person
from oldfriend.prompts.phrasebook import phrasebook, spoken_language
from oldfriend.queues.places import turn_away


@dataclass(frozen=True, slots=True, kw_only=True)
class Courtesy:
    """Something to be said at once, which is no part of any talk; best effort, and not kept."""

    address: str
    text: str


async def turned_away(
    house: House, said: Message, phrase: str, *, place: str | None = None
) -> Courtesy | None:
    """Count it, keep nothing, and say one polite line, once a day at a place."""
    address = said.spot.address if place is None else place
    async with house.db.writing() as tx:
        is_first = await turn_away(tx, said.spot.channel, address, now=house.clock())
    return in_their_language(said, None, phrase) if is_first else None


def in_their_language(
    said: Message, person: Person | None, phrase: str, **what: str
) -> Courtesy:  # fmt: skip
    """A phrase of the house, as somebody on a platform reads it best; with ``what`` filled in."""
    spoken = spoken_language(person.language if person else None, language_of(said.sender))
    text = phrasebook(spoken).say[phrase]
    return Courtesy(address=said.spot.address, text=text.format(**what) if what else text)


def language_of(sender: Sender) -> str | None:
    """What the platform knows of somebody's language."""
    return sender.language

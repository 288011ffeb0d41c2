"""Zone requests: by whose clocks the person lives, as in "/zone Lisbon"."""

import asyncio
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import from_micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.time_zones import resolve_zone, suggest_zones
from oldfriend.lang.command_menu import EDGES, read_command
from oldfriend.lang.language_pack import choose_language_with, list_languages
from oldfriend.memory.people import lock_person, set_zone
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.tasks.task_wording import TaskWording
from oldfriend.tasks.zone_changes import list_moved_tasks, move_tasks_to_zone
from oldfriend.turn.request_handlers.clock_requests import load_zone_asks
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.store_change import ChangeScope

NAME: Final = "zone"
MAX_PLACE_CHARS: Final = 60
MAX_ASK_CHARS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class SetZone:
    """The change that has a person live by the clocks of a zone."""

    zone: str

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Store the zone, and have what repeats go by its clocks."""
        person = scope.person
        await lock_person(tx, person.id)
        await set_zone(tx, person.id, self.zone, is_said=True)
        await move_tasks_to_zone(
            tx,
            person.id,
            earlier=person.zone,
            zone=self.zone,
            now=scope.now,
            is_guessed=person.has_guessed_zone,
        )


async def handle_zone(context: HandlerContext) -> HandledRequest | None:
    """Set the zone of the place that a message names, or say which one holds."""
    command = read_command(context.text)
    place = read_place(context.text, context.perception.language) if command is None else None
    if command is not None and command.name == NAME:
        place = command.words.strip()
    if place is None:
        return None
    is_command = command is not None
    if not place:
        text = tell(context, "zone_is", zone=context.utterance.person.zone)
        return HandledRequest(name=NAME, text=text, is_command=True)
    try:
        zone = await asyncio.to_thread(resolve_zone, place)  # the list is read from disk
    except InvalidInput:
        near = await asyncio.to_thread(suggest_zones, place[:MAX_PLACE_CHARS])
        phrase = "zone_near" if near else "zone_unknown"
        text = tell(context, phrase, place=place[:MAX_PLACE_CHARS], near=", ".join(near))
        return HandledRequest(name=NAME, text=text, is_command=is_command) if is_command else None
    text = await tell_change(context, zone)
    return HandledRequest(
        name=NAME, text=text, changes=(SetZone(zone=zone),), is_command=is_command
    )


def read_place(text: str, language: str) -> str | None:
    """Return the place whose clocks a whole text asks to go by."""
    plain = " ".join(text.replace("\u2019", "'").split()).strip(EDGES)
    if not plain or len(plain) > MAX_ASK_CHARS:
        return None
    likely = choose_language_with("agenda", language)
    for each in dict.fromkeys((likely, *list_languages("agenda"))):
        for pattern in load_zone_asks(each):
            found = pattern.fullmatch(plain)
            if found is not None:
                return found["place"].strip()
    return None


async def tell_change(context: HandlerContext, zone: str) -> str:
    """Say by whose clocks the person lives from now on, and what else goes by them."""
    person = context.utterance.person
    text = tell(context, "zone_now", zone=zone)
    async with context.db.begin_read() as tx:
        tasks = await list_moved_tasks(
            tx,
            person.id,
            earlier=person.zone,
            zone=zone,
            now=context.clock(),
            is_guessed=person.has_guessed_zone,
        )
    if not tasks:
        return text
    language = context.perception.offline_reply_language
    wording = TaskWording(language, zone=zone, now=context.clock())
    return (
        f"{text} {wording.say('moved_guessed_zone' if person.has_guessed_zone else 'moved_zone')}"
    )


def tell(context: HandlerContext, phrase: str, *, zone: str = "UTC", **values: str) -> str:
    """Word a phrase about a zone, with the time there."""
    time = f"{from_micros(context.clock(), zone):%H:%M}"
    phrases = load_phrases(context.perception.offline_reply_language).phrases
    return str(phrases[phrase]).format(zone=zone, time=time, **values)


ZONE_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_zone)

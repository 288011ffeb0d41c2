"""What becomes of what people do on a platform? Who is it, may they, and to whom does it belong?

Then it is as anything that is said: into the log and the inbox, durably. Of whom nobody knows
nothing is kept but that they have written. It does not know which platform it is.
"""

import re
from dataclasses import replace
from typing import Final

from oldfriend.app.accepting import Line, Said, accept, edit, keep
from oldfriend.app.courtesy import Courtesy, in_their_language, turned_away
from oldfriend.app.groups import hear_in_group, keep_group_reaction, note_company
from oldfriend.app.house import House
from oldfriend.app.lines import (
    as_said_again,
    find_meant_again,
    find_said,
    in_its_album,
    kept_of_words,
    key_of_words,
    line_to,
    message_of,
    replied_to,
    stop_answering,
)
from oldfriend.app.pairing import find_code, join, make_person
from oldfriend.app.recordings import is_aloud, is_heard
from oldfriend.app.running.telling import tell
from oldfriend.app.whereabouts import place_in, take_zone, welcome
from oldfriend.channels.arriving import (
    Arriving,
    Company,
    Door,
    Garbled,
    Message,
    Reaction,
    Removal,
)
from oldfriend.domain import messages
from oldfriend.domain.people import Person
from oldfriend.memory.identities import MOST_ATTEMPTS, find_identity, note_attempt
from oldfriend.memory.people import get_person_by_id, move_chats
from oldfriend.queues.places import close_place, find_closed, open_place

CODE: Final = re.compile(r"\s*(?:/start )?(\d{3})[ -]?(\d{3})\s*", re.ASCII)
BLOCKED: Final = "they let us in no more"


async def receive(house: House, what: Arriving) -> Courtesy | None:
    """Take in what has happened, so that it is durable; what is to be said to it at once.

    Raises StoreError.
    """
    match what:
        case Message():
            return await hear(house, what)
        case Reaction() if what.spot.is_private:
            await keep_reaction(house, what)
        case Reaction():
            await keep_group_reaction(house, what)
        case Company():
            await note_company(house, what)
        case Door():
            await note_door(house, what)
        case Removal():
            async with house.db.writing() as tx:
                await move_chats(tx, what.channel, before=what.before, now=what.now)
        case Garbled():
            tell("update-unreadable", channel=what.channel, update=what.update, why=what.why)
    return None


async def hear(house: House, said: Message) -> Courtesy | None:
    """Take in what somebody has said: of whom we know, or who shows a code."""
    if not said.spot.is_private:
        return await hear_in_group(house, said)
    known = await who_is(house, said)
    if code := CODE.fullmatch(said.text):
        answer = await take_code(house, said, known, "".join(code.groups()))
        if answer is not None or known is None:
            return answer
    if known is None:
        return await turned_away(house, said, "stranger")
    if (place := place_in(said)) is not None:
        return await take_zone(house, said, known, place)
    line = await line_to(house, known, said.spot)
    match said.text.strip().partition("@")[0].lower():
        case "/start":
            return welcome(house, said, known, "greeting")
        case "/stop":
            await stop_answering(house, line)
            return in_their_language(said, line.person, "stopped")
    return await take_in(house, line, said)


async def take_in(house: House, line: Line, said: Message) -> Courtesy | None:
    """Have it answered; what nobody can read is kept, and it is said that nobody can."""
    async with house.db.reading() as tx:
        said = await in_its_album(tx, line, said)
        before = await find_said(tx, line, said)
        details = {**said.details, **await replied_to(tx, line, said)}
        meant = await find_meant_again(tx, line, said, details, by=line.person.id)
    if said.is_edit:
        await take_edit(house, line, said, before)
    elif before is None and meant is not None:
        again = as_said_again(said_by(said, details), meant)
        await accept(house, line, again, to_answer=False)
    elif before is None and not said.is_read and not (is_aloud(details) and house.transcriber):
        await keep(house, line, said_by(said, details))
        why = "unheard_off" if is_aloud(details) else "not_looked_into"
        return in_their_language(said, line.person, why)
    elif before is None:
        await accept(house, line, said_by(said, details), to_answer=False)
    return None


def said_by(said: Message, details: dict[str, str]) -> Said:
    """What was said, as it is accepted."""
    return Said(
        text=said.text, at=said.at, key=said.key, number=said.number,
        trust="person" if said.is_theirs and (said.is_read or is_aloud(details)) else "outside",
        details=details,
    )  # fmt: skip


async def take_edit(
    house: House, line: Line, said: Message, before: messages.Message | None
) -> None:
    """Have what was said read otherwise; of what is not known, or forgotten, nothing is taken."""
    if before is None or before.text == messages.storable(said.text) or is_heard(before.details):
        return
    if before.turn is not None:
        await edit(house, line, before.id, said.text)
    else:  # there was nothing in it to be answered, and there is now
        words = replace(said_by(said, kept_of_words(before)), key=key_of_words(said))
        await accept(house, line, words, to_answer=False)


async def keep_reaction(house: House, reaction: Reaction) -> None:
    """Write a reaction down, where it is of somebody whom we know; nobody answers it."""
    async with house.db.reading() as tx:
        known = await find_identity(tx, reaction.spot.channel, reaction.sender.address)
    if known is None or not reaction.emoji:
        return
    line = await line_to(house, known, reaction.spot)
    async with house.db.reading() as tx:
        on = await message_of(tx, known.id, line.chat.id, reaction.on)
    details = {} if on is None else {"reacts_to": on}
    words = Said(text=f"[{reaction.emoji}]", at=reaction.at, key=reaction.key, details=details)
    await keep(house, line, words)


async def note_door(house: House, door: Door) -> None:
    """Send nothing any more to where we are let in no more."""
    async with house.db.writing() as tx:
        if door.is_open:
            await open_place(tx, door.spot.channel, door.spot.address)
        else:
            now = house.clock()
            await close_place(tx, door.spot.channel, door.spot.address, BLOCKED, now=now)


async def who_is(house: House, said: Message) -> Person | None:
    """Who has said something; somebody new where the owner has allowed them by their address."""
    channel, address = said.spot.channel, said.sender.address
    async with house.db.reading() as tx:
        known = await find_identity(tx, channel, address)
        is_closed = await find_closed(tx, channel, said.spot.address) is not None
    if is_closed:
        async with house.db.writing() as tx:
            await open_place(tx, channel, said.spot.address)
    if known is None and address in house.settings.allowed_on(channel):
        return await make_person(house, channel, said.sender)
    return known


async def take_code(
    house: House, said: Message, known: Person | None, digits: str
) -> Courtesy | None:
    """Make the address theirs who was shown this code; None: somebody known just says a number."""
    code, are_any = await find_code(house, said.spot.channel, said.sender.address, digits)
    if code is not None:
        outcome = await join(house, said.spot.channel, said.sender, known, code)
        if outcome != "now_known":
            return in_their_language(said, known, outcome)
        async with house.db.reading() as tx:
            return welcome(house, said, await get_person_by_id(tx, code.person), outcome)
    if known is not None and not are_any:
        return None
    async with house.db.writing() as tx:
        tries = await note_attempt(tx, said.spot.channel, said.sender.address, now=house.clock())
    is_told = known is None and tries <= MOST_ATTEMPTS
    return in_their_language(said, None, "code_wrong") if is_told else None

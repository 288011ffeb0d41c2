"""What becomes of what people do on a platform? Who is it, may they, and to whom does it belong?

Then it is as anything that is said: into the log and the inbox, durably. Of whom nobody knows
nothing is kept but that they have written. It does not know which platform it is.
"""

import re
from dataclasses import dataclass
from typing import Final

from oldfriend.app.accepting import Line, Said, accept, edit, keep, stop
from oldfriend.app.house import House
from oldfriend.app.pairing import find_code, join, make_person
from oldfriend.app.running.telling import tell
from oldfriend.channels.arriving import (
    Arriving,
    Door,
    Garbled,
    Message,
    Reaction,
    Removal,
    Sender,
    Spot,
)
from oldfriend.db.database import Transaction
from oldfriend.domain import messages
from oldfriend.domain.ids import ChatId, PersonId
from oldfriend.domain.people import Person
from oldfriend.memory.identities import MOST_ATTEMPTS, find_identity, note_attempt
from oldfriend.memory.log import find_by_key, list_recent
from oldfriend.memory.people import (
    ensure_chat,
    ensure_companion,
    find_chat,
    find_companion,
    move_chats,
)
from oldfriend.prompts.phrasebook import phrasebook, spoken_language
from oldfriend.queues.places import close_place, find_closed, find_delivered, open_place, turn_away

CODE: Final = re.compile(r"\s*(\d{3})[ -]?(\d{3})\s*", re.ASCII)
LOOKED_BACK: Final = 5
"""Messages among which the one stands that is being answered."""
BLOCKED: Final = "they let us in no more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Courtesy:
    """Something to be said at once, which is no part of any talk; best effort, and not kept."""

    address: str
    text: str


async def receive(house: House, what: Arriving) -> Courtesy | None:
    """Take in what has happened, so that it is durable; what is to be said to it at once.

    Raises StoreError.
    """
    match what:
        case Message():
            return await hear(house, what)
        case Reaction():
            await keep_reaction(house, what)
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
        return await stay_out(house, said)
    known = await who_is(house, said)
    if code := CODE.fullmatch(said.text):
        answer = await take_code(house, said, known, "".join(code.groups()))
        if answer is not None or known is None:
            return answer
    if known is None:
        return await turned_away(house, said, "stranger")
    line = await line_to(house, known, said.spot)
    match said.text.strip().partition("@")[0].lower():
        case "/start":
            return in_their_language(said, known, "greeting")
        case "/stop":
            return await stop_talking(house, line, said)
    return await take_in(house, line, said)


async def take_in(house: House, line: Line, said: Message) -> Courtesy | None:
    """Have it answered; what nobody can read is kept, and it is said that nobody can."""
    async with house.db.reading() as tx:
        before = await find_by_key(tx, line.person.id, line.chat.id, said.key)
        details = {**said.details, **await replied_to(tx, line, said)}
    if said.is_edit:
        await take_edit(house, line, said, before)
    elif before is None and not said.is_read:
        await keep(house, line, said_by(said, details))
        return in_their_language(said, line.person, "not_looked_into")
    elif before is None:
        await accept(house, line, said_by(said, details), to_answer=False)
    return None


def said_by(said: Message, details: dict[str, str]) -> Said:
    """What was said, as it is accepted."""
    return Said(
        text=said.text, at=said.at, key=said.key, number=said.number,
        trust="person" if said.is_theirs and said.is_read else "outside", details=details,
    )  # fmt: skip


async def take_edit(
    house: House, line: Line, said: Message, before: messages.Message | None
) -> None:
    """Have what was said read otherwise; of what is not known, or forgotten, nothing is taken."""
    if before is None or before.text == messages.storable(said.text):
        return
    if before.turn is not None:
        await edit(house, line, before.id, said.text)
    else:  # there was nothing in it to be answered, and there is now
        words = Said(text=said.text, at=said.at, key=f"{said.key}/edited", details=before.details)
        await accept(house, line, words, to_answer=False)


async def replied_to(tx: Transaction, line: Line, said: Message) -> dict[str, str]:
    """To which message of ours or theirs this is a reply, where that is known."""
    if said.replies_to is None:
        return {}
    meant = await message_of(tx, line.person.id, line.chat.id, said.replies_to)
    return {} if meant is None else {"replies_to": meant}


async def message_of(tx: Transaction, person: PersonId, chat: ChatId, key: str) -> str | None:
    """The message in the log that has a key on the platform, theirs or ours."""
    theirs = await find_by_key(tx, person, chat, key)
    return theirs.id if theirs is not None else await find_delivered(tx, person, chat, key)


async def keep_reaction(house: House, reaction: Reaction) -> None:
    """Write a reaction down, where it is of somebody whom we know; nobody answers it."""
    async with house.db.reading() as tx:
        known = await find_identity(tx, reaction.spot.channel, reaction.sender.address)
    if known is None or not reaction.spot.is_private or not reaction.emoji:
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


async def line_to(house: House, person: Person, spot: Spot) -> Line:
    """The person's line at a place; made if new."""
    place = {"channel": spot.channel, "address": spot.address}
    async with house.db.reading() as tx:
        companion = await find_companion(tx)
        chat = None
        if companion is not None:
            chat = await find_chat(tx, person.id, companion.id, **place)
    if chat is None:
        now = house.clock()
        async with house.db.writing() as tx:
            companion = await ensure_companion(tx, now=now)
            chat = await ensure_chat(tx, person, companion, **place, title=spot.title, now=now)
    return Line(person=person, chat=chat)


async def stop_talking(house: House, line: Line, said: Message) -> Courtesy:
    """Have the reply stopped that is being thought of."""
    async with house.db.reading() as tx:
        recent = await list_recent(tx, line.person.id, line.chat.id, limit=LOOKED_BACK)
    last = next((each for each in recent[::-1] if each.role == "person" and each.turn), None)
    if last is not None:
        await stop(house, line, last.id)
    return in_their_language(said, line.person, "stopped")


async def take_code(
    house: House, said: Message, known: Person | None, digits: str
) -> Courtesy | None:
    """Make the address theirs who was shown this code; None: somebody known just says a number."""
    code, are_any = await find_code(house, said.spot.channel, said.sender.address, digits)
    if code is not None:
        outcome = await join(house, said.spot.channel, said.sender, known, code)
        return in_their_language(said, known, outcome)
    if known is not None and not are_any:
        return None
    async with house.db.writing() as tx:
        tries = await note_attempt(tx, said.spot.channel, said.sender.address, now=house.clock())
    is_told = known is None and tries <= MOST_ATTEMPTS
    return in_their_language(said, None, "code_wrong") if is_told else None


async def turned_away(house: House, said: Message, phrase: str) -> Courtesy | None:
    """Count it, keep nothing, and say one polite line, once a day."""
    async with house.db.writing() as tx:
        is_first = await turn_away(
            tx, said.spot.channel, said.spot.address, now=house.clock()
        )  # fmt: skip
    return in_their_language(said, None, phrase) if is_first else None


async def stay_out(house: House, said: Message) -> Courtesy | None:
    """Say, to whoever talks to us in a group, that we do not talk there."""
    return await turned_away(house, said, "in_private") if said.is_to_us else None


def in_their_language(said: Message, person: Person | None, phrase: str) -> Courtesy:
    """A phrase of the house, as somebody on a platform reads it best."""
    spoken = spoken_language(person.language if person else None, language_of(said.sender))
    return Courtesy(address=said.spot.address, text=phrasebook(spoken).say[phrase])


def language_of(sender: Sender) -> str | None:
    """What the platform knows of somebody's language."""
    return sender.language

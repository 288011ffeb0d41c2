"""Whose chat is it, and which message is meant? Where somebody on a platform and the log meet."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from oldfriend.app.accepting import Line, Said, stop
from oldfriend.app.house import House
from oldfriend.app.recordings import is_unheard
from oldfriend.channels.arriving import Message, Spot
from oldfriend.db.database import Transaction
from oldfriend.domain import messages
from oldfriend.domain.ids import ChatId, MessageId, PersonId
from oldfriend.domain.messages import CALLED, PICKED
from oldfriend.domain.people import Person
from oldfriend.memory.log import find_by_key, get_message, list_recent
from oldfriend.memory.people import ensure_chat, ensure_companion, find_chat, find_companion
from oldfriend.prompts.phrasebook import SPOKEN, phrasebook
from oldfriend.queues.places import find_delivered

LOOKED_BACK: Final = 5
"""Messages among which the one stands that is being answered."""
ANSWERED: Final = frozenset({"person", "other"})
LAST_WORDS: Final = 30
"""Messages among which somebody's last stands, with what others said meanwhile."""
AROUND_WORDS: Final = " .!。！,:，："
LARGEST_ALBUM: Final = 30
"""Messages among which the first piece of one stands, with what others said meanwhile."""
ALBUM: Final = "album"
"""In a message's details: what was sent in one go with it."""
WORDS: Final = "album_words"
"""There: whether its text is words, or only tells what it is."""


async def line_to(house: House, person: Person, spot: Spot) -> Line:
    """The line at a place into a memory, a person's or a group's; made if new."""
    async with house.db.reading() as tx:
        companion = await find_companion(tx)
        chat = None
        if companion is not None:
            place = {"channel": spot.channel, "address": spot.address}
            chat = await find_chat(tx, person.id, companion.id, **place)
    if chat is not None:
        return Line(person=person, chat=chat)
    async with house.db.writing() as tx:
        return await make_line(tx, house, person, spot)


async def make_line(tx: Transaction, house: House, person: Person, spot: Spot) -> Line:
    """The same, in a writing transaction."""
    now = house.clock()
    companion = await ensure_companion(tx, now=now)
    chat = await ensure_chat(
        tx, person, companion, channel=spot.channel, address=spot.address, title=spot.title,
        now=now,
    )  # fmt: skip
    return Line(person=person, chat=chat)


async def find_said(tx: Transaction, line: Line, said: Message) -> messages.Message | None:
    """What was taken in of a message before; of an edit what it puts otherwise."""
    person, chat = line.person.id, line.chat.id
    if said.is_edit:
        words = await find_by_key(tx, person, chat, key_of_words(said))
        if words is not None:
            return words
    return await find_by_key(tx, person, chat, said.key)


def key_of_words(said: Message) -> str:
    """By which words are known that were put below something without any, or called to us."""
    return f"{said.key}/edited"


async def in_its_album(tx: Transaction, line: Line, said: Message) -> Message:
    """The same; of an album, of which something is known, what makes that read otherwise.

    Each piece comes by itself and is kept before the next one comes, so that none can be waited
    for; only the log knows after a restart what came before.
    """
    if not said.album or said.is_edit or await find_said(tx, line, said) is not None:
        return said
    recent = await list_recent(tx, line.person.id, line.chat.id, limit=LARGEST_ALBUM)
    first = next((each for each in recent if each.details.get(ALBUM) == said.album), None)
    if first is None or first.external_id is None:
        return replace(said, details={**said.details, **kept_of_album(said)})
    piece = replace(said, key=first.external_id, is_edit=True)
    reads = await find_said(tx, line, piece) or first
    is_reworded = reads.id != first.id or reads.version > 1
    has_words = is_reworded or first.details.get(WORDS) == "yes"
    if not has_words:
        return replace(piece, text=said.text if said.is_read else reads.text)
    is_new = said.is_read and f"\n{said.text}\n" not in f"\n{reads.text}\n"
    return replace(piece, text=f"{reads.text}\n{said.text}" if is_new else reads.text)


def kept_of_album(said: Message) -> dict[str, str]:
    """By what the first piece of an album is known, and whether there are words in it."""
    return {ALBUM: said.album, WORDS: "yes" if said.is_read else "no"}


def kept_of_words(before: messages.Message) -> dict[str, str]:
    """By what words are known that were put below something without any, of an album that too."""
    words = {WORDS: "yes"} if ALBUM in before.details else {}
    return {**before.details, **words}


async def replied_to(tx: Transaction, line: Line, said: Message) -> dict[str, str]:
    """To which message of ours or theirs this is a reply, or which words, where that is known."""
    meant = None
    if said.replies_to is not None:
        meant = await message_of(tx, line.person.id, line.chat.id, said.replies_to)
    if meant is not None:
        replied = await get_message(tx, line.person.id, MessageId(meant))
        return {"replies_to": meant, **picked_of(replied, said.quoted)}
    return {"quoted": said.quoted, "quoted_from": said.quoted_from} if said.quoted else {}


def picked_of(replied: messages.Message, quoted: str) -> dict[str, str]:
    """Where in a message the words stand that were picked to reply to; nothing where all were.

    Only the place is kept: the words go with their message when it is forgotten.
    """
    start = replied.text.find(quoted)
    if not quoted or start < 0 or quoted == replied.text:
        return {}
    return {PICKED: f"{replied.version}:{start}:{start + len(quoted)}"}


async def message_of(tx: Transaction, person: PersonId, chat: ChatId, key: str) -> str | None:
    """The message in the log that has a key on the platform, theirs or ours."""
    theirs = await find_by_key(tx, person, chat, key)
    return theirs.id if theirs is not None else await find_delivered(tx, person, chat, key)


async def find_meant_again(
    tx: Transaction, line: Line, said: Message, details: Mapping[str, str], *, by: str
) -> messages.Message | None:
    """The recording that was not heard, and is to be listened to again.

    The one of theirs that is replied to; else what whoever asks (``by``: as an author) said last.
    """
    words = said.text.replace(said.details.get(CALLED, ""), "").strip(AROUND_WORDS).lower()
    books = [phrasebook(language) for language in SPOKEN]
    if words != "/retry" and not any(book.understand.again.fullmatch(words) for book in books):
        return None
    among = await list_recent(tx, line.person.id, line.chat.id, limit=LAST_WORDS)
    if "replies_to" in details:
        replied = await get_message(tx, line.person.id, MessageId(details["replies_to"]))
        if replied.role in ANSWERED:  # to what we say of it they may reply as well
            among = [replied]
    theirs = [each for each in among if each.role in ANSWERED and each.author == by]
    return theirs[-1] if theirs and is_unheard(theirs[-1].details) else None


def as_said_again(words: Said, meant: messages.Message) -> Said:
    """A recording as if it were sent once more."""
    return replace(words, text=meant.text, trust=meant.trust, details=meant.details)


async def stop_answering(house: House, line: Line) -> None:
    """Have the reply stopped that is being thought of."""
    async with house.db.reading() as tx:
        recent = await list_recent(tx, line.person.id, line.chat.id, limit=LOOKED_BACK)
    last = next((each for each in recent[::-1] if each.role in ANSWERED and each.turn), None)
    if last is not None:
        await stop(house, line, last.id)

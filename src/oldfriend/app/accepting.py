"""How is what somebody says taken in? Into the log and into the inbox, in one transaction.

Only then may whoever brought it be told that it has arrived: whatever dies now, it is answered.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from oldfriend.app.attaching import Laid, attach
from oldfriend.app.choices.settings import Settings
from oldfriend.app.embedding import plan_embedding
from oldfriend.app.forgotten import lift_told
from oldfriend.app.forming.tending import note_talk, reopened
from oldfriend.app.house import House
from oldfriend.app.marking import STOPPED, write_marker
from oldfriend.app.waking import QUEUES
from oldfriend.channels.channel import PAGE, PLATFORMS
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import ChatId, MessageId, PersonId, TurnId, new_id
from oldfriend.domain.letters import Claim
from oldfriend.domain.messages import Message, Spoken
from oldfriend.domain.people import Chat, Companion, Person
from oldfriend.domain.sayings import saying
from oldfriend.domain.trust import TrustClass
from oldfriend.memory.log import Place, edit_message, get_message, write_message
from oldfriend.memory.people import (
    ensure_chat,
    ensure_companion,
    ensure_identity,
    ensure_owner,
    ensure_person,
    get_companion,
    get_person_by_id,
    lock_person,
    set_zone,
)
from oldfriend.memory.sessions import session_at
from oldfriend.queues.inbox import Word, find_turn, is_open, put_word, withdraw
from oldfriend.queues.joining import Piece
from oldfriend.queues.lanes import claim
from oldfriend.queues.pace import take_place
from oldfriend.turn.perceive import Hearer, perceive


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Who is talking, and where: an open line between a person and the companion."""

    person: Person
    chat: Chat


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """Somebody in a group, to the memory of whoever else is in it, and to that of the group."""

    name: str
    author: str  # the id of the person, where we know them


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Words as they arrive; without a time and zone, said here and now."""

    text: str
    at: Micros | None = None
    zone: str | None = None
    key: str | None = None  # the channel's id of the message: a redelivery bears the same
    number: int | None = None  # where the channel counts its messages
    trust: TrustClass = "person"  # outside: they pass it on, and have not said it themselves
    details: Mapping[str, str] = field(default_factory=dict)
    sound: Laid | None = None  # as it was said aloud, where that is kept
    by: Voice | None = None  # who says it, where several talk; None: the person


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A message that is in the log and waits for its answer; with a claim: ours to answer."""

    message: Message
    claim: Claim | None


async def open_line(house: House, *, person: str | None, channel: str) -> Line:
    """The line of a person (None: the owner) on a channel; made if new.

    Raises InvalidInput for a platform, which has addresses of its own.
    """
    if channel in PLATFORMS:
        raise InvalidInput(f"Talk on {channel} itself: oldfriend connect {channel}")
    now, zone = house.clock(), house.settings.zone
    async with house.db.writing() as tx:
        someone = await ensure_owner(tx, now=now, zone=zone)
        if person is not None:
            someone = await ensure_person(tx, person, now=now, zone=zone)
        return await line_of(tx, someone, channel, now=now)


async def open_page_line(house: House, person: PersonId) -> Line:
    """The line of somebody who is signed in on the page; made if new. Raises NotFound."""
    async with house.db.writing() as tx:
        await lock_person(tx, person)  # nobody gives them another name meanwhile
        someone = await get_person_by_id(tx, person)
        return await line_of(tx, someone, PAGE, now=house.clock())


async def line_of(tx: Transaction, someone: Person, channel: str, *, now: Micros) -> Line:
    """The line of a person on a channel where they are known by their name; made if new."""
    companion = await ensure_companion(tx, now=now)
    chat = await ensure_chat(
        tx, someone, companion, channel=channel, address=someone.name, title=channel, now=now
    )
    await ensure_identity(tx, someone.id, channel=chat.channel, address=someone.name, now=now)
    return Line(person=someone, chat=chat)


async def accept(house: House, line: Line, said: Said, *, to_answer: bool) -> Accepted | None:
    """Write down what was said, and that it waits, before anything that can fail.

    ``to_answer`` takes the chat's lane at once where it is free. None: it was delivered before.
    Raises InvalidInput for an empty or endless text.
    """
    if not said.text.strip():
        raise InvalidInput(
            saying("empty_message", "There is nothing in that message. Write something.")
        )
    house.reached("accept")
    async with house.db.writing() as tx:
        message = await write_down(tx, house, line, said)
        held = None
        if message is not None and to_answer:
            held = await take_lane(tx, house, line.chat.id)
    house.reached("accepted")
    house.waking.ring("inbox")
    return None if message is None else Accepted(message=message, claim=held)


async def write_down(tx: Transaction, house: House, line: Line, said: Said) -> Message | None:
    """Put the words into the log and a letter about them into the inbox; None if known.

    What only asks or greets is kept like everything else, but not found: asking again must not
    find the question in place of its answer.
    """
    now, settings = house.clock(), house.settings
    person = await get_person_by_id(tx, line.person.id)
    quiet_s = house.quiet_s_of(line.chat.channel)
    turn = await find_turn_of(tx, house, line, said) or TurnId(new_id(now))
    tells = await tells_something(tx, house, person, said)
    message = await write_words(tx, house, line.chat, person, said, turn=turn, findable=tells)
    if message is None:
        return None
    if tells and said.trust == "person":
        await lift_told(tx, settings, person.id, message.text)
    limit = settings.limits.messages_per_minute
    earliest = await take_place(tx, person.id, per_minute=limit, now=now)
    word = Word(
        kind="said", message=message.id, version=message.version, turn=turn,
        chars=len(said.text), number=said.number, key=said.key,
        speaker=None if said.by is None else said.by.author,
    )  # fmt: skip
    await put_word(tx, line.chat.id, person.id, word, quiet_s=quiet_s, now=now, earliest=earliest)
    return message


async def find_turn_of(
    tx: Transaction, house: House, line: Line, said: Said
) -> TurnId | None:  # fmt: skip
    """The turn that still waits for more, and that these words are part of."""
    piece = Piece(
        sender=said.by.author if said.by else line.person.id, number=said.number,
        chars=len(said.text), at=house.clock(),
    )  # fmt: skip
    quiet_s = house.quiet_s_of(line.chat.channel)
    return await find_turn(tx, line.chat.id, piece, quiet_s=quiet_s)


async def tells_something(tx: Transaction, house: House, person: Person, said: Said) -> bool:
    """Whether there is something in it to be found later, and not only a question."""
    if said.trust == "outside":
        return True
    hearer = hearer_of(await ensure_companion(tx, now=house.clock()), person, house.settings)
    return not perceive(said.text, hearer).only_asks


async def remember_words(
    tx: Transaction, house: House, line: Line, said: Said
) -> Message | None:  # fmt: skip
    """Write down what was said to others, to be found and read later; None if it is known."""
    now, person = house.clock(), await get_person_by_id(tx, line.person.id)
    tells = await tells_something(tx, house, person, said)
    message = await write_words(tx, house, line.chat, person, said, turn=None, findable=tells)
    if message is None or not tells:
        return message
    if said.trust == "person":
        await lift_told(tx, house.settings, person.id, message.text)
    await plan_embedding(tx, now=now)
    await note_talk(tx, house, person.id, message.session, now=now)
    return message


async def keep(house: House, line: Line, said: Said) -> Message | None:
    """Write down what calls for no answer, such as a reaction; None if it is known."""
    async with house.db.writing() as tx:
        return await keep_words(tx, house, line, said)


async def keep_words(tx: Transaction, house: House, line: Line, said: Said) -> Message | None:
    """The same, in a writing transaction."""
    person = await get_person_by_id(tx, line.person.id)
    return await write_words(tx, house, line.chat, person, said, turn=None, findable=False)


async def write_words(
    tx: Transaction, house: House, chat: Chat, person: Person, said: Said, *,
    turn: TurnId | None, findable: bool,
) -> Message | None:  # fmt: skip
    """Put the words into the log, in the session of their time; None if they are known.

    Whoever talks at this machine is where it is, unless they have said by whose clocks they live;
    of others it is known from before.
    """
    now, settings = house.clock(), house.settings
    is_away = chat.channel == PAGE or chat.channel in house.platforms
    zone = person.zone if is_away or person.has_said_zone else settings.zone
    if person.zone != zone:  # they have travelled
        await set_zone(tx, person.id, zone)
    at = now if said.at is None else said.at
    place = Place(
        chat=chat, session=await session_at(tx, chat, at), turn=turn,
        language=person.language or settings.language or "en",
    )  # fmt: skip
    spoken = Spoken(
        role="other" if said.by else "person", speaker=said.by.name if said.by else person.name,
        author=said.by.author if said.by else None, text=said.text, at=at,
        zone=said.zone or zone, trust=said.trust, external_id=said.key, details=said.details,
    )  # fmt: skip
    message = await write_message(tx, place, spoken, now=now, findable=findable)
    if message is not None and said.sound is not None:
        await attach(tx, said.sound, message.id, kind="heard", now=now)
    return message


async def edit(house: House, line: Line, message: MessageId, text: str) -> Message:
    """Write down a new version of a message, and have a turn that is at it take notice.

    Raises NotFound, InvalidInput.
    """
    async with house.db.writing() as tx:
        edited = await reword(tx, house, line.person.id, message, text)
        await put_notice(tx, house, line.chat, edited, kind="edited")
    house.waking.ring()
    return edited


async def reword(
    tx: Transaction, house: House, whose: PersonId, message: MessageId, text: str, *,
    details: Mapping[str, str] | None = None,
) -> Message:  # fmt: skip
    """Have a message say something else from now on, also for what was learned from it.

    Raises NotFound, InvalidInput.
    """
    person = await get_person_by_id(tx, whose)
    hearer = hearer_of(await get_companion(tx), person, house.settings)
    tells = not perceive(text, hearer).only_asks
    reworded = await edit_message(
        tx, person.id, message, text, now=house.clock(), findable=tells, details=details
    )
    await reopened(tx, house, person.id, [message], now=house.clock())
    return reworded


async def stop(house: House, line: Line, message: MessageId) -> None:
    """Have whatever is done about a message stopped, or never begun; nothing where it is over.

    Raises NotFound.
    """
    async with house.db.writing() as tx:
        await lock_person(tx, line.person.id)
        stopped = await get_message(tx, line.person.id, message)
        assert stopped.turn is not None  # what came from elsewhere is not answered
        if await withdraw(tx, line.chat.id, stopped.turn, now=house.clock()):
            await write_marker(tx, line.chat, stopped, STOPPED, now=house.clock())
            await plan_embedding(tx, now=house.clock())  # else the turn would have done it
        elif await is_open(tx, "inbox", line.chat.id, stopped.turn):
            await put_notice(tx, house, line.chat, stopped, kind="stop")
    house.waking.ring(*QUEUES, "stop")


async def put_notice(
    tx: Transaction, house: House, chat: Chat, message: Message, *, kind: Literal["edited", "stop"]
) -> None:
    """Put a letter about what has become of a message that is in the log already."""
    assert message.turn is not None  # what came from elsewhere is not answered
    word = Word(
        kind=kind, message=message.id, version=message.version, turn=message.turn,
        chars=len(message.text),
    )  # fmt: skip
    quiet_s = house.quiet_s_of(chat.channel)
    await put_word(tx, chat.id, chat.person, word, quiet_s=quiet_s, now=house.clock())


async def take_lane(tx: Transaction, house: House, chat: ChatId) -> Claim | None:
    """Hold a chat's lane, where something is due and nobody else holds it."""
    lease_s = house.settings.limits.lease_s
    return await claim(tx, "inbox", owner=house.name, now=house.clock(), lease_s=lease_s, lane=chat)


def hearer_of(companion: Companion, person: Person, settings: Settings) -> Hearer:
    """Who hears what a person says, and in which languages."""
    return Hearer(name=companion.name, languages=(person.language, settings.language))

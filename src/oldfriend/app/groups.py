"""What becomes of what is said in a group? It goes into the group's own memory, and is answered.

That memory holds what was said in the group, and nothing else: an answer there cannot give away
what somebody has said in private. Of those in it whom we know each has it in their own memory, too,
what they have said as their word and the rest as that of others. It does not know which platform
it is.
"""

from dataclasses import dataclass, replace
from typing import Final

from oldfriend.app.accepting import (
    Line,
    Said,
    Voice,
    find_turn_of,
    keep_words,
    put_notice,
    remember_words,
    reword,
    write_down,
)
from oldfriend.app.courtesy import Courtesy, in_their_language, turned_away
from oldfriend.app.house import House
from oldfriend.app.lines import (
    as_said_again,
    find_meant_again,
    find_said,
    in_its_album,
    kept_of_words,
    key_of_words,
    line_to,
    make_line,
    message_of,
    replied_to,
    stop_answering,
)
from oldfriend.app.pairing import free_name, make_group
from oldfriend.app.recordings import is_aloud, is_heard, plan_listening
from oldfriend.channels.arriving import Company, Message, Reaction, Sender, Spot
from oldfriend.db.database import Transaction
from oldfriend.domain import messages
from oldfriend.domain.people import Person
from oldfriend.memory.groups import be_out_of_group, find_group, leave_group, list_members
from oldfriend.memory.identities import find_identity
from oldfriend.memory.people import lock_person
from oldfriend.queues.places import find_closed, open_place

COMMANDS: Final = frozenset({"/start", "/stop", "/allow", "/disallow"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """The group, and who speaks in it; None: nobody whom we know."""

    group: Person
    speaker: Person | None
    voice: Voice


async def hear_in_group(house: House, said: Message) -> Courtesy | None:
    """Take in what is said in a group that the owner lets us be part of; of others keep nothing."""
    speaker, group = await who_is_here(house, said)
    command = command_in(said)
    if command in {"/allow", "/disallow"} and speaker is not None and speaker.is_owner:
        return await decide(house, said, speaker, group, lets_in=command == "/allow")
    if group is None and said.spot.group in house.settings.allowed_on(said.spot.channel):
        group = await make_group(house, said.spot)
    if group is None:
        place = said.spot.group
        return await turned_away(house, said, "in_private", place=place) if said.is_to_us else None
    async with house.db.reading() as tx:
        voice = await voice_of(tx, said.spot.channel, said.sender, speaker)
    here = Here(group=group, speaker=speaker, voice=voice)
    if command == "/start":
        return in_their_language(said, speaker, "greeting")
    if command == "/stop":
        await stop_answering(house, await line_to(house, group, said.spot))
        return in_their_language(said, speaker, "stopped")
    return await take_in(house, here, said)


def command_in(said: Message) -> str | None:
    """What a message tells us to do, if it does."""
    words = said.text.split(maxsplit=1)[:1] if said.is_to_us and said.is_theirs else []
    command = words[0].partition("@")[0].lower() if words else ""
    return command if command in COMMANDS else None


async def who_is_here(house: House, said: Message) -> tuple[Person | None, Person | None]:
    """Who speaks, and in which group; a group that is heard again takes our words again."""
    channel = said.spot.channel
    async with house.db.reading() as tx:
        speaker = await find_identity(tx, channel, said.sender.address)
        group = await find_group(tx, channel, said.spot.group)
        is_closed = await find_closed(tx, channel, said.spot.address) is not None
    if is_closed:
        async with house.db.writing() as tx:
            await open_place(tx, channel, said.spot.group)
    return speaker, group


async def decide(
    house: House, said: Message, owner: Person, group: Person | None, *, lets_in: bool
) -> Courtesy:
    """Be part of a group, or of it no more, as the owner says."""
    if lets_in:
        await make_group(house, said.spot)
        await line_to(house, owner, replace(said.spot, address=said.spot.group))
    elif group is not None:
        async with house.db.writing() as tx:
            await be_out_of_group(tx, group.id, said.spot.channel)
    return in_their_language(said, None, "group_allowed" if lets_in else "group_left")


async def voice_of(
    tx: Transaction, channel: str, sender: Sender, speaker: Person | None
) -> Voice:  # fmt: skip
    """Who speaks, as the others know them; nobody passes for somebody else by their name."""
    if speaker is not None:
        return Voice(name=speaker.name, author=speaker.id)
    name = await free_name(tx, channel, sender)
    return Voice(name=name, author=f"{channel} {sender.address}")


async def take_in(house: House, here: Here, said: Message) -> Courtesy | None:
    """Write it down for everybody, and have it answered where it is said to us."""
    async with house.db.writing() as tx:
        lines = await lines_of(tx, house, here, said.spot)
        pieces = [await in_its_album(tx, line, said) for line in lines]
        for line, piece in zip(lines, pieces, strict=True):
            if piece.is_edit:
                await take_edit(tx, house, here, line, piece)
            else:
                await take_words(tx, house, here, line, piece)
    house.waking.ring()
    is_told = said.is_to_us and not pieces[0].is_edit and not is_looked_at(house, said)
    return in_their_language(said, here.speaker, "not_looked_into") if is_told else None


def is_looked_at(house: House, said: Message) -> bool:
    """Whether there are words in it, or somebody says some who can be listened to."""
    return said.is_read or (is_aloud(said.details) and house.transcriber is not None)


async def lines_of(
    tx: Transaction, house: House, here: Here, spot: Spot
) -> list[Line]:  # fmt: skip
    """The line into the group's memory, then those into its members'; all of them are locked."""
    members = await list_members(tx, spot.channel, spot.group)
    known = {each.id: each for each in [*members, *filter(None, [here.speaker])]}
    for person in sorted([here.group.id, *known]):
        await lock_person(tx, person)
    if here.speaker is not None:  # whoever speaks in a topic is in the whole group
        await make_line(tx, house, here.speaker, replace(spot, address=spot.group))
    everybody = [here.group, *known.values()]
    return [await make_line(tx, house, each, spot) for each in everybody]


async def take_words(tx: Transaction, house: House, here: Here, line: Line, said: Message) -> None:
    """Write down what was said, as the one hears it whose memory it goes into."""
    if await find_said(tx, line, said) is not None:
        return
    details = {**said.details, **await replied_to(tx, line, said)}
    words = as_heard(house, here, line, said, details)
    if said.is_to_us:
        meant = await find_meant_again(tx, line, said, details, by=here.voice.author)
        words = words if meant is None else as_said_again(words, meant)
    if not is_looked_at(house, said):
        await keep_words(tx, house, line, words)
    elif line.person.id == here.group.id and (
        said.is_to_us or await find_turn_of(tx, house, line, words)
    ):
        await write_down(tx, house, line, words)
    else:
        kept = await remember_words(tx, house, line, words)
        if kept is not None and line.person.id == here.group.id:
            await plan_listening(tx, house, kept)


def as_heard(
    house: House, here: Here, line: Line, said: Message, details: dict[str, str]
) -> Said:  # fmt: skip
    """The words as the one hears them whose memory they go into."""
    is_own = here.speaker is not None and here.speaker.id == line.person.id
    is_said = said.is_theirs and is_looked_at(house, said)
    return Said(
        text=said.text, at=said.at, key=said.key, number=said.number,
        trust=("person" if is_own else "other") if is_said else "outside",
        details=details, by=None if is_own else here.voice,
    )  # fmt: skip


async def take_edit(tx: Transaction, house: House, here: Here, line: Line, said: Message) -> None:
    """Have what was said read otherwise; what is called to us only now is answered."""
    before = await find_said(tx, line, said)
    if before is None or before.text == messages.storable(said.text) or is_heard(before.details):
        return
    if said.is_to_us and before.turn is None and line.person.id == here.group.id:
        words = as_heard(house, here, line, said, {**kept_of_words(before), **said.details})
        await write_down(tx, house, line, replace(words, key=key_of_words(said)))
        return
    edited = await reword(tx, house, line.person.id, before.id, said.text)
    if edited.turn is not None:
        await put_notice(tx, house, line.chat, edited, kind="edited")


async def keep_group_reaction(house: House, reaction: Reaction) -> None:
    """Write a reaction down in the group's memory, if it has one."""
    async with house.db.reading() as tx:
        group = await find_group(tx, reaction.spot.channel, reaction.spot.group)
        speaker = await find_identity(tx, reaction.spot.channel, reaction.sender.address)
    if group is None or not reaction.emoji:
        return
    line = await line_to(house, group, reaction.spot)
    async with house.db.writing() as tx:
        on = await message_of(tx, group.id, line.chat.id, reaction.on)
        voice = await voice_of(tx, reaction.spot.channel, reaction.sender, speaker)
        words = Said(
            text=f"[{reaction.emoji}]", at=reaction.at, key=reaction.key, trust="other",
            details={} if on is None else {"reacts_to": on}, by=voice,
        )  # fmt: skip
        await keep_words(tx, house, line, words)


async def note_company(house: House, company: Company) -> None:
    """Note which of the people whom we know are in a group that we are part of."""
    spot = company.spot
    async with house.db.writing() as tx:
        if await find_group(tx, spot.channel, spot.group) is None:
            return
        for sender in company.who:
            person = await find_identity(tx, spot.channel, sender.address)
            if person is None:
                continue
            if company.is_in:
                await make_line(tx, house, person, replace(spot, address=spot.group))
            else:
                await leave_group(
                    tx, person.id, channel=spot.channel, address=spot.group, now=house.clock()
                )

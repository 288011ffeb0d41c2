"""What is said in the recordings of a turn? Fetched, heard, and put where only their name stood.

A recording has its place in the log and in the inbox before anything of it is fetched: whoever
is cut off is followed by one who fetches it again, and what was written down is not paid for twice.
It does not know which platform has it.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from oldfriend.app.accepting import reword
from oldfriend.app.attaching import attach, erase
from oldfriend.app.embedding import plan_embedding
from oldfriend.app.hearing import Heard, NotHeard, hear
from oldfriend.app.house import House
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import AllowanceUsedUp, InvalidInput, NotDelivered, NotFound
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.letters import Claim
from oldfriend.domain.messages import MAX_TEXT, Message
from oldfriend.llm.speech import MOST_BYTES
from oldfriend.memory.groups import is_group, list_members
from oldfriend.memory.log import find_by_key, get_message
from oldfriend.memory.people import find_chat, get_chat, lock_person
from oldfriend.queues.agenda import Job, put_job
from oldfriend.queues.lanes import check
from oldfriend.turn.outcome import Utterance

RECORDING: Final = "recording"
"""In a message's details: by which name its platform gives the recording out."""
CAPTION: Final = "caption"
"""There: the message has words of its own, which stay."""
HEARD: Final = "heard"
"""There: what the message says is what was heard in it."""
LISTEN: Final = "listen"
"""The job of listening to what was said to others."""
PAUSES_S: Final = (1.0, 3.0)
"""Before it is tried again; then the person decides."""
LONGEST_FETCH_S: Final = 60.0


def is_aloud(details: Mapping[str, str]) -> bool:
    """Whether something was said aloud."""
    return RECORDING in details


def is_heard(details: Mapping[str, str]) -> bool:
    """Whether that is written down."""
    return HEARD in details


def is_unheard(details: Mapping[str, str]) -> bool:
    """Whether something was said aloud that nobody has written down."""
    return is_aloud(details) and not is_heard(details)


async def hear_out(
    house: House, claim: Claim, said: Utterance
) -> tuple[Utterance, NotHeard | None]:
    """The same with its recordings in words, and why one of them is not.

    Raises NotFound for what was forgotten meanwhile, LeaseLost, StoreError.
    """
    messages: list[Message] = []
    why: NotHeard | None = None
    for each in said.messages:
        heard = await hear_message(house, each) if is_unheard(each.details) else None
        if isinstance(heard, Heard):
            messages.append(await put_into_words(house, each, heard, claim=claim))
        else:
            messages.append(each)
            why = why if heard is None else heard
    return replace(said, message=messages[-1], earlier=tuple(messages[:-1])), why


async def plan_listening(tx: Transaction, house: House, message: Message) -> None:
    """Have a recording listened to that nobody is to answer, where that was chosen."""
    if house.settings.speech.overhears and is_unheard(message.details):
        job = Job(name=LISTEN, arguments={"message": message.id})
        lane = f"{LISTEN}:{message.person}"
        await put_job(tx, lane, job, person=message.person, now=house.clock())


async def overhear(house: House, person: PersonId, job: Job) -> None:
    """Listen to it; what has no words in it, or is forgotten by now, stays as it is.

    Raises NotDelivered for what may pass, AllowanceUsedUp.
    """
    try:
        async with house.db.reading() as tx:
            message = await get_message(tx, person, recording_of(job))
        heard = await fetch_and_hear(house, message) if is_unheard(message.details) else None
        if isinstance(heard, Heard):
            await put_into_words(house, message, heard)
    except NotFound:
        return
    if isinstance(heard, NotHeard) and heard.reason == "spent":
        raise AllowanceUsedUp(heard.why)
    if isinstance(heard, NotHeard) and heard.may_pass:
        raise NotDelivered(heard.why, retry_after_s=heard.retry_after_s)


def recording_of(job: Job) -> MessageId:
    """Which message a job is to listen to. Raises InvalidInput."""
    match job.arguments:
        case {"message": str(message)}:
            return MessageId(message)
    raise InvalidInput(f"A job to listen to something that is no message: {dict(job.arguments)}")


async def hear_message(house: House, message: Message) -> Heard | NotHeard:
    """What is said in a message; what may pass is tried again shortly."""
    heard = await fetch_and_hear(house, message)
    for pause_s in PAUSES_S:
        if not isinstance(heard, NotHeard) or heard.reason != "later":
            break
        await asyncio.sleep(max(pause_s, min(heard.retry_after_s or 0.0, 10 * pause_s)))
        heard = await fetch_and_hear(house, message)
    return heard


async def fetch_and_hear(house: House, message: Message) -> Heard | NotHeard:
    """The same, tried once."""
    if int(message.details.get("bytes", "0")) > MOST_BYTES:
        return NotHeard(reason="too large", why="The platform says so.")
    channel = house.channels.get(message.channel)
    if channel is None:
        return NotHeard(reason="later", why=f"This process does not reach {message.channel}.")
    try:
        async with asyncio.timeout(LONGEST_FETCH_S):
            audio = await channel.fetch(message.details[RECORDING])
    except NotFound as error:
        return NotHeard(reason="never", why=str(error))
    except NotDelivered as error:
        return NotHeard(reason="later", why=str(error), retry_after_s=error.retry_after_s)
    except TimeoutError:
        return NotHeard(reason="later", why="The platform did not give it out in time.")
    house.reached("fetched")
    return await hear(house, message.person, audio, mime=message.details.get("mime", ""))


async def put_into_words(
    house: House, message: Message, heard: Heard, *, claim: Claim | None = None
) -> Message:  # fmt: skip
    """Have a message say what was heard in it, beside its own words, with the sound if kept.

    So it reads then for everybody who was there. Raises NotFound, LeaseLost where ``claim`` is.
    """
    house.reached("heard")
    try:
        async with house.db.writing() as tx:
            others = await list_heard_by_others(tx, message)
            for each in others:
                await have_it_say(tx, house, each, heard)
            if others or claim is None:
                await plan_embedding(tx, now=house.clock())  # no turn of theirs does it
            spoken = await have_it_say(tx, house, message, heard)
            if heard.sound is not None:
                await attach(tx, heard.sound, message.id, kind="heard", now=house.clock())
            if claim is not None:
                await check(tx, claim)
    except NotFound:
        if heard.sound is not None:
            await erase(house.settings, [heard.sound])
        raise
    return spoken


async def list_heard_by_others(tx: Transaction, message: Message) -> list[Message]:
    """The same in the memories of those who heard it in a group; all of them are locked."""
    if message.external_id is None or not await is_group(tx, message.person):
        return []
    chat = await get_chat(tx, message.person, message.chat)
    members = await list_members(tx, chat.channel, chat.address.partition("/")[0])
    for person in sorted([message.person, *(each.id for each in members)]):
        await lock_person(tx, person)
    found = []
    for each in members:
        theirs = await find_chat(
            tx, each.id, chat.companion, channel=chat.channel, address=chat.address
        )
        if theirs is not None:
            found.append(await find_by_key(tx, each.id, theirs.id, message.external_id))
    return [each for each in found if each is not None and is_unheard(each.details)]


async def have_it_say(tx: Transaction, house: House, message: Message, heard: Heard) -> Message:
    """Have a message say what was heard in it. Raises NotFound."""
    words = f"{message.text}\n{heard.text}" if CAPTION in message.details else heard.text
    return await reword(
        tx, house, message.person, message.id, words[:MAX_TEXT],
        details={**message.details, HEARD: "yes"},
    )  # fmt: skip

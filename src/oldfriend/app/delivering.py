"""How does a reply that was committed reach its platform? Part by part, in order."""

import asyncio
import random
from dataclasses import dataclass
from typing import Final

from oldfriend.app.holding import Hold
from oldfriend.app.house import House
from oldfriend.app.running.telling import tell_trouble
from oldfriend.app.speaking import spoken
from oldfriend.channels.channel import Channel
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import (
    LeaseLost,
    NotDelivered,
    PlaceClosed,
    PlaceMoved,
    Undeliverable,
)
from oldfriend.domain.ids import PersonId
from oldfriend.domain.letters import Claim, Letter
from oldfriend.memory.people import move_chats
from oldfriend.queues.backoff import retry_at
from oldfriend.queues.lanes import (
    MOST_ATTEMPTS,
    check,
    fail,
    finish_checked,
    refuse_taken_over,
    release,
    take_away,
)
from oldfriend.queues.letters import write_body
from oldfriend.queues.outbox import Part, part_of
from oldfriend.queues.places import (
    close_place,
    count_delivered,
    find_closed,
    write_delivered,
)

LONGEST_SEND_S = 60.0
IN_VAIN: Final = "in_vain"
"""In a letter's body: how often its platform, being away, has not taken it."""
LEAST_TRIES: Final = 20
"""Half an hour of them: what has only waited for a day has not been tried for one."""


async def deliver(house: House, claim: Claim, stopping: asyncio.Event) -> None:
    """Send the parts that wait in a chat; what is not taken now is tried again, or parked."""
    hold, letters = Hold(house, claim), claim.letters
    while letters and not stopping.is_set():
        letter = letters[0]
        try:
            last = await hold.during(send(house, claim, letter))
        except LeaseLost:
            return  # somebody else is at it
        except asyncio.CancelledError:
            await hold.give_back()
            raise
        except Exception as error:
            await put_off(house, claim, letter, error)
            return
        letters = await done_with_first(house, claim, letters, last)
        house.reached("delivered")
    if letters or not claim.letters:
        await hold.give_back()


@dataclass(frozen=True, slots=True)
class Sent:
    """A piece of a part that its platform has taken."""

    part: Part
    number: int
    key: str  # by which it stands there


async def done_with_first(
    house: House, claim: Claim, letters: tuple[Letter, ...], last: Sent | None
) -> tuple[Letter, ...]:
    """Take the first away, and note its last piece; what is left to do in the lane.

    When nothing is, it is free. Raises LeaseLost; that the piece was sent is noted all the same.
    """
    first, *others = letters
    try:
        async with house.db.writing() as tx:
            if last is not None:
                await write_sent(tx, house, first, last)
            await check(tx, claim)
            if others:
                await take_away(tx, [first], now=house.clock())
                return tuple(others)
            return await finish_checked(tx, claim, [first], now=house.clock())
    except LeaseLost:
        await note_sent(house, first, last)
        raise


async def send(house: House, claim: Claim, letter: Letter) -> Sent | None:
    """Send what is not sent yet of one part, and note each piece of it at once, but the last.

    Where a process that does not reach the platform has put it, it is cut here. Raises
    NotDelivered, Undeliverable, TimeoutError, LeaseLost.
    """
    part = part_of(letter)
    channel = house.channels.get(part.channel)
    if channel is None:
        raise NotDelivered(f"This process does not reach {part.channel}.")
    sent = await pieces_sent(house, claim, letter, part)
    house.reached("sending")
    last: Sent | None = None
    for number, text in enumerate(() if part.is_aloud else channel.parts(part.text)):
        if number < sent:
            continue
        await note_sent(house, letter, last)
        last = Sent(part, number, await send_piece(house, channel, part, number, text))
        house.reached("sent")
    if part.is_aloud and not sent and letter.person is not None:
        key = await send_aloud(house, channel, letter.person, part)
        last = None if key is None else Sent(part, 0, key)
    return last


async def note_sent(house: House, letter: Letter, sent: Sent | None) -> None:
    """Note by which key a piece stands on its platform, where one does.

    Before all other writing: whoever dies until then may have it sent twice.
    """
    if sent is not None:
        async with house.db.writing(first=True) as tx:
            await write_sent(tx, house, letter, sent)


async def write_sent(tx: Transaction, house: House, letter: Letter, sent: Sent) -> None:
    """The same, in a transaction."""
    if letter.person is not None:
        await write_delivered(
            tx, letter.person, sent.part, sent.number, chat=letter.lane, key=sent.key,
            now=house.clock(),
        )  # fmt: skip


async def send_aloud(house: House, channel: Channel, person: PersonId, part: Part) -> str | None:
    """Send a reply as it sounds; None where there is no sound to be had, or nobody takes it.

    Its text is there already. Raises NotDelivered, PlaceClosed, TimeoutError.
    """
    speech = await spoken(house, person, part.reply)
    if speech is None:
        return None
    try:
        async with asyncio.timeout(LONGEST_SEND_S):
            return await channel.send_aloud(
                part.address, speech.audio, is_opus=speech.is_opus, title=part.text,
                key=f"{part.reply}/{part.ordinal}",
            )  # fmt: skip
    except PlaceClosed:
        raise
    except (Undeliverable, PlaceMoved) as error:
        tell_trouble("not-sent-aloud", error)
        return None


async def pieces_sent(house: House, claim: Claim, letter: Letter, part: Part) -> int:
    """How much of a part was sent before.

    Raises PlaceClosed where nobody wants it, LeaseLost where somebody else sends it.
    """
    async with house.db.reading() as tx:
        await refuse_taken_over(tx, claim)
        why = await find_closed(tx, part.channel, part.address)
        sent = await count_delivered(tx, letter.person, part) if letter.person else 0
    if why is not None:
        raise PlaceClosed(f"Nothing is sent there until they write again: {why}")
    return sent


async def send_piece(house: House, channel: Channel, part: Part, number: int, text: str) -> str:
    """Send a piece, to where its chat is now; by which key the platform knows it."""
    key = f"{part.reply}/{part.ordinal}" + (f".{number}" if number else "")
    shown = None if number else part.shown
    try:
        async with asyncio.timeout(LONGEST_SEND_S):
            if shown is not None and await channel.amend(part.address, shown, text):
                return shown
            return await channel.send(part.address, text, key=key)
    except PlaceMoved as moved:
        async with house.db.writing() as tx:
            await move_chats(tx, part.channel, before=part.address, now=moved.address)
        async with asyncio.timeout(LONGEST_SEND_S):
            return await channel.send(moved.address, text, key=key)


async def put_off(house: House, claim: Claim, letter: Letter, error: Exception) -> None:
    """Try a part again later; park it with the rest of its reply, when there is no hope.

    A platform that is away is waited for a day at least, less and less often. What breaks for a
    reason of our own is tried a few times.
    """
    now = house.clock()
    is_weather = isinstance(error, NotDelivered | TimeoutError)
    in_vain = times_in_vain(letter) + is_weather
    tries = in_vain if is_weather else letter.attempts
    is_old = now - letter.put_at > DAY
    is_tired = is_old and tries >= LEAST_TRIES if is_weather else tries >= MOST_ATTEMPTS
    is_hopeless = is_tired or isinstance(error, Undeliverable)
    asked_s = error.retry_after_s if isinstance(error, NotDelivered) else None
    again = retry_at(now, tries, chance=random.random(), at_least_s=asked_s or 0.0)
    if not isinstance(error, NotDelivered | Undeliverable):
        tell_trouble("send-failed", error, lane=letter.lane)
    why = str(error) or "the platform did not answer"
    async with house.db.writing() as tx:
        if isinstance(error, PlaceClosed):
            part = part_of(letter)
            await close_place(tx, part.channel, part.address, why, now=now)
        await fail(
            tx, claim, letter, error=why, now=now, retry_at=None if is_hopeless else again,
            counts=not is_weather,
        )  # fmt: skip
        await write_body(tx, letter, {**letter.body, IN_VAIN: in_vain})
        await release(tx, claim, now=now)


def times_in_vain(letter: Letter) -> int:
    """How often a platform has not taken a part; what was opened again by hand begins anew.

    It is counted apart from attempts: so many of those mean that it takes its workers down.
    """
    times = letter.body.get(IN_VAIN)
    return times if isinstance(times, int) and letter.error is not None else 0

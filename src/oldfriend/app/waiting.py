"""Why does somebody still wait for their reply? Told beside the talk, as long as nothing is said.

It is no part of the reply, and nothing of it is kept. A delay is a value: a terminal shows it in
words, and so may any channel.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from oldfriend.app.house import House
from oldfriend.domain.clock import SECOND
from oldfriend.domain.errors import StoreError
from oldfriend.domain.language import detect_language
from oldfriend.domain.messages import Message
from oldfriend.prompts.phrasebook import phrasebook, spoken_language
from oldfriend.queues.inbox import find_standing

LOOK_EVERY_S: Final = 0.5
SILENCE_S: Final = 5.0
"""A model that has said nothing for so long is mentioned."""

Reason = Literal["limit", "again", "earlier", "silent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """Why a message is not answered yet, and the seconds that go with it.

    "limit" and "again" (it went wrong before): until it may be begun. "earlier": another message
    of the chat comes first. "silent": so long the model has said nothing.
    """

    reason: Reason
    seconds: int = 0


Tell: TypeAlias = Callable[[Delay], Awaitable[None]]
"""Shows a delay to whoever waits, or does not."""


def in_words(delay: Delay, said: str, language: str | None) -> str:
    """A delay as it is told to somebody who has said this, and spoke that language before."""
    words = beside_what_was_said(f"wait_{delay.reason}", said, language)
    return words.format(seconds=delay.seconds)


def beside_what_was_said(name: str, said: str, language: str | None) -> str:
    """A phrase of the house, in the language in which somebody has just spoken."""
    detected = detect_language(said, fallback=language or "en")
    return phrasebook(spoken_language(detected, language)).say[name]


async def tell_delays(
    house: House, said: Message, tell: Tell, *, has_begun: Callable[[], bool]
) -> None:
    """Tell each reason once, as it comes up, until the first word of the reply was said."""
    told: set[Reason] = set()
    clock = asyncio.get_running_loop().time
    quiet_since = clock()
    while not has_begun():
        await asyncio.sleep(LOOK_EVERY_S)
        try:
            delay = await find_delay(house, said)
        except StoreError:
            continue  # whoever waits for the reply says so
        if delay is not None:
            quiet_since = clock()
        elif house.models and clock() - quiet_since >= SILENCE_S:
            delay = Delay(reason="silent", seconds=round(clock() - quiet_since))
        if delay is not None and delay.reason not in told and not has_begun():
            told.add(delay.reason)
            await tell(delay)


async def find_delay(house: House, said: Message) -> Delay | None:
    """Why a message is not being answered now; None: it is, or it was."""
    assert said.turn is not None  # what was accepted has one
    async with house.db.reading() as tx:
        standing = await find_standing(tx, said.chat, said.turn)
    if standing is None:
        return None
    left_s = math.ceil((standing.due_at - house.clock()) / SECOND)
    if left_s > house.quiet_s_of(said.channel):
        return Delay(reason="again" if standing.has_failed else "limit", seconds=left_s)
    return None if standing.is_first else Delay(reason="earlier")

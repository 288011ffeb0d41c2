"""Delay notices: tell a waiting person why a reply is late, as long as none of it has been said.

A notice is no part of the reply, and nothing of it is kept. A delay is a value that a terminal or
any other channel can put into words.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Database
from oldfriend.domain.clock import SECOND
from oldfriend.domain.errors import StoreError
from oldfriend.domain.messages import Message
from oldfriend.memory.chat_language import find_chat_language
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, choose_language, load_phrases
from oldfriend.queues.inbox import find_turn_status

POLL_INTERVAL_S: Final = 0.5
SILENT_AFTER_S: Final = 5.0
"""A model that has been silent for so long is reported."""

DelayReason = Literal["limit", "again", "earlier", "silent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """Why a message is not answered yet, and the seconds that go with it.

    "limit" and "again" (it failed before): seconds until it may start. "earlier": another message
    of the chat comes first. "silent": seconds without any output of the model.
    """

    reason: DelayReason
    seconds: int = 0
    language: str = field(
        default=OFFLINE_LANGUAGES[0], compare=False
    )  # of system messages in this chat


OnDelay: TypeAlias = Callable[[Delay], Awaitable[None]]
"""Shows a delay to the waiting person, or ignores it."""


def format_delay(delay: Delay) -> str:
    """Format a delay for the waiting person."""
    template = load_phrases(delay.language).phrases[f"wait_{delay.reason}"]
    return template.format(seconds=delay.seconds)


async def load_system_language(db: Database, message: Message) -> str:
    """Return the language of system messages about a message, such as delay notices."""
    async with db.begin_read() as tx:
        chat_language = await find_chat_language(tx, message.person, message.chat)
    return choose_language(chat_language, message.language)


async def report_delays(
    app: AppContext, message: Message, on_delay: OnDelay, *, has_begun: Callable[[], bool]
) -> None:
    """Report each reason once, as it comes up, until the reply has begun."""
    reported: set[DelayReason] = set()
    clock = asyncio.get_running_loop().time
    quiet_since, language = clock(), ""
    while not has_begun():
        await asyncio.sleep(POLL_INTERVAL_S)
        try:
            delay = await find_delay(app, message)
            language = language or await load_system_language(app.db, message)
        except StoreError:
            continue  # whoever waits for the reply reports it
        if delay is not None:
            quiet_since = clock()
        elif app.models and clock() - quiet_since >= SILENT_AFTER_S:
            delay = Delay(reason="silent", seconds=round(clock() - quiet_since))
        if delay is not None and delay.reason not in reported and not has_begun():
            reported.add(delay.reason)
            await on_delay(replace(delay, language=language))


async def find_delay(app: AppContext, message: Message) -> Delay | None:
    """Return why a message is not being answered now; None if it is, or was."""
    assert message.turn is not None  # accepted messages have a turn
    async with app.db.begin_read() as tx:
        status = await find_turn_status(tx, message.chat, message.turn)
    if status is None:
        return None
    left_s = math.ceil((status.due_at - app.clock()) / SECOND)
    if left_s > app.get_debounce_s(message.channel):
        return Delay(reason="again" if status.has_failed else "limit", seconds=left_s)
    return None if status.is_next else Delay(reason="earlier")

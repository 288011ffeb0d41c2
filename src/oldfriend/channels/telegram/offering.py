"""What does Telegram offer to whoever begins to write a command? In the language of their phone."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from oldfriend.channels.telegram.api import Api
from oldfriend.domain.errors import PlatformRefused, PlatformUnavailable
from oldfriend.prompts.phrasebook import SPOKEN, phrasebook

ALONE: Final = ("zone", "retry", "stop")
IN_GROUPS: Final = ("stop", "allow", "disallow")
LONGEST_S: Final = 5.0
"""Nothing is heard meanwhile."""


async def offer_commands(api: Api) -> None:
    """Have Telegram offer ours, where it does not yet; best effort, for they hold without that."""
    with suppress(PlatformUnavailable, PlatformRefused, TimeoutError):
        async with asyncio.timeout(LONGEST_S):
            await offer_what_is_new(api)


async def offer_what_is_new(api: Api) -> None:
    """The same. Raises PlatformUnavailable, PlatformRefused."""
    last = SPOKEN[-1]
    if await api.commands(last, in_groups=True) == told_in(last, IN_GROUPS):
        return  # what is written last is there, and so is all
    for language in SPOKEN:
        await api.offer(told_in(language, ALONE), language, in_groups=False)
        await api.offer(told_in(language, IN_GROUPS), language, in_groups=True)


def told_in(language: str, commands: tuple[str, ...]) -> Mapping[str, str]:
    """What each command is for, in a language."""
    say = phrasebook(language).say
    return {each: say[f"command_{each}"] for each in commands}

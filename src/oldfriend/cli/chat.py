"""oldfriend chat: a conversation in the terminal.

With a real terminal there is line editing, history, and what is said elsewhere in the same chat
appears as it is said. Otherwise lines are read from standard input and answered one by one.
"""

import argparse
import asyncio
import sys
from contextlib import AsyncExitStack
from functools import partial

from oldfriend.app.accepting import Line, open_line
from oldfriend.app.catching_up import leave, read_ripe
from oldfriend.app.doctor import growing_too_large
from oldfriend.app.embedding import LEFT_OVER, make_up
from oldfriend.app.house import House
from oldfriend.app.meanwhile import TalkPlace
from oldfriend.app.waiting import beside_what_was_said
from oldfriend.app.wiring import open_house
from oldfriend.cli.conversation import Conversation
from oldfriend.cli.opening import opened, person_named, settings_from
from oldfriend.cli.remarks import remark
from oldfriend.cli.whom import person_to_talk
from oldfriend.domain.errors import StoreFull, StoreUnusable


async def run(options: argparse.Namespace) -> int:
    """Talk until the person leaves; in memory as long as the store cannot be opened."""
    async with AsyncExitStack() as stack:
        reach = partial(reach_store, options, stack)
        try:
            talk = TalkPlace(*await reach())
            if (warning := await growing_too_large(talk.house)) is not None:
                remark(warning)
        except (StoreFull, StoreUnusable) as error:
            settings = settings_from(options)
            remark(f"{error} {beside_what_was_said('not_kept', '', settings.language)}")
            house = await stack.enter_async_context(open_house(settings, in_memory=True))
            line = await open_line(house, person=person_named(options), channel=options.channel)
            talk = TalkPlace(house, line, reach=reach)
        code = await converse(talk)
        if not talk.is_aside:
            await leave(talk.house, talk.line.person.id)
    return code


async def reach_store(options: argparse.Namespace, stack: AsyncExitStack) -> tuple[House, Line]:
    """The store, open until the stack ends, and the line of whoever talks. Raises StoreError."""
    async with AsyncExitStack() as trying:
        house = await trying.enter_async_context(opened(options, create=True))
        person = await person_to_talk(house, options)
        line = await open_line(house, person=person, channel=options.channel)
        await stack.enter_async_context(trying.pop_all())
    return house, line


async def converse(place: TalkPlace) -> int:
    """Talk, at a terminal or through a pipe; the exit code."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return await converse_by_lines(place)

    from oldfriend.cli.terminal import converse_on_terminal

    await converse_on_terminal(place)
    return 0 if not place.is_aside else 1


async def converse_by_lines(place: TalkPlace) -> int:
    """Answer the lines of standard input, then make up for some missing vectors.

    1 when something could not be done: nobody may be there to read that it was said.
    """
    talk = Conversation(place, partial(print, flush=True), speak, remark=remark)
    trouble = await read_ripe(talk.house, talk.line.person.id)
    try:
        while text := await asyncio.to_thread(sys.stdin.readline):
            if not await talk.hear(text.rstrip("\n")):
                break
    finally:
        await talk.finish()
    if talk.is_kept:
        trouble = await make_up(talk.house, talk.line.person.id, most=LEFT_OVER) or trouble
    if trouble is not None:
        print(f"oldfriend: {trouble}", file=sys.stderr)
    return 1 if talk.has_failed else 0


async def speak(piece: str) -> None:
    """Print a reply, or a piece of one, for whoever reads the other end of the pipe."""
    print(piece, end="", flush=True)

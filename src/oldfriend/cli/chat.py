"""oldfriend chat: a conversation in the terminal.

With a real terminal there is line editing, history, and what is said elsewhere in the same chat
appears as it is said. Otherwise lines are read from standard input and answered one by one.
"""

import argparse
import asyncio
import sys

from oldfriend.app.accepting import Line, open_line
from oldfriend.app.catching_up import leave, read_ripe
from oldfriend.app.embedding import LEFT_OVER, make_up
from oldfriend.app.house import House
from oldfriend.cli.conversation import Conversation
from oldfriend.cli.opening import opened
from oldfriend.cli.remarks import remark
from oldfriend.cli.whom import person_to_talk


async def run(options: argparse.Namespace) -> int:
    """Talk until the person leaves."""
    async with opened(options, create=True) as house:
        person = await person_to_talk(house, options)
        line = await open_line(house, person=person, channel=options.channel)
        code = await converse(house, line)
        await leave(house, line.person.id)
    return code


async def converse(house: House, line: Line) -> int:
    """Talk, at a terminal or through a pipe; the exit code."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return await converse_by_lines(house, line)

    from oldfriend.cli.terminal import converse_on_terminal

    await converse_on_terminal(house, line)
    return 0


async def converse_by_lines(house: House, line: Line) -> int:
    """Answer the lines of standard input, then make up for some missing vectors.

    1 when something could not be done: nobody may be there to read that it was said.
    """
    talk = Conversation(house, line, print, speak, remark=remark)
    trouble = await read_ripe(house, line.person.id)
    while text := await asyncio.to_thread(sys.stdin.readline):
        if not await talk.hear(text.rstrip("\n")):
            break
    trouble = await make_up(house, line.person.id, most=LEFT_OVER) or trouble
    if trouble is not None:
        print(f"oldfriend: {trouble}", file=sys.stderr)
    return 1 if talk.has_failed else 0


async def speak(piece: str) -> None:
    """Print a reply, or a piece of one, for whoever reads the other end of the pipe."""
    print(piece, end="", flush=True)

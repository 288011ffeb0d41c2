"""oldfriend chat: a conversation in the terminal.

With a real terminal there is line editing, history, and what is said elsewhere in the same chat
appears as it is said. Otherwise lines are read from standard input and answered one by one.
"""

import argparse
import asyncio
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable

from oldfriend.app.answering import Line, answer, open_line
from oldfriend.app.embedding import embed_missing
from oldfriend.app.showing import explained, receipt_as_text
from oldfriend.app.wiring import House
from oldfriend.cli.opening import opened, person_named
from oldfriend.domain.errors import InvalidInput, OldfriendError
from oldfriend.domain.messages import Message
from oldfriend.memory.log import list_recent, list_written_since
from oldfriend.memory.receipts import find_receipt

SHOWN_AT_START = 6
HELP = """Just write. Commands:
  /why      what my last answer stood on
  /history  the last twenty messages here
  /help     this
  /quit     leave (or Ctrl-D)"""
PIECE_S, LONGEST_STREAM_S = 0.012, 0.6

Write = Callable[[str], None]
Stream = Callable[[str], Awaitable[None]]


async def run(options: argparse.Namespace) -> int:
    """Talk until the person leaves."""
    async with opened(options, create=True) as house:
        line = await open_line(house, person=person_named(options), channel=options.channel)
        if sys.stdin.isatty() and sys.stdout.isatty():
            await converse_on_terminal(house, line)
        else:
            await converse(Conversation(house, line, print, print_whole), piped_lines())
    return 0


class Conversation:
    """One sitting: what has been shown, so that nothing is shown twice."""

    def __init__(self, house: House, line: Line, write: Write, stream: Stream) -> None:
        """Begin, with ways to put lines before the person: at once, or as if spoken."""
        self.house = house
        self.line = line
        self.write = write
        self.stream = stream
        self.shown_to = 0
        self._busy = asyncio.Lock()

    async def begin(self) -> None:
        """Show where the talk stopped last time."""
        for message in await self._recent(SHOWN_AT_START):
            self.show(message)

    async def hear(self, text: str) -> bool:
        """Deal with one line; False when the person wants to leave."""
        command = text.strip().lower()
        if command in {"/quit", "/exit", "/q"}:
            return False
        actions: dict[str, Callable[[], Awaitable[None]]] = {
            "/why": self.explain, "/history": self.show_history, "/help": self.help,
        }  # fmt: skip
        try:
            if command in actions:
                await actions[command]()
            elif command.startswith("/") and " " not in command and command.count("/") == 1:
                self.write(f"There is no command {command}.\n{HELP}")
            elif command:
                await self.reply_to(text)
        except InvalidInput as error:
            self.write(str(error))
        return True

    async def reply_to(self, text: str) -> None:
        """Answer, and show the answer once it is kept."""
        async with self._busy:
            given = await answer(self.house, self.line, text)
            self.shown_to = max(self.shown_to, given.reply.seq)
        await self.stream(given.reply.text)

    async def explain(self) -> None:
        """Show what the last answer stood on."""
        async with self.house.db.reading() as tx:
            receipt = await find_receipt(tx, self.line.person.id)
            text = None if receipt is None else receipt_as_text(await explained(tx, receipt))
        self.write(text or "I haven't answered anything yet.")

    async def show_history(self) -> None:
        """Show the last messages of this chat."""
        for message in await self._recent(20):
            self.show(message)

    async def help(self) -> None:
        """Show the commands."""
        self.write(HELP)

    async def show_what_others_wrote(self) -> None:
        """Show what came into this chat through another process."""
        async with self._busy, self.house.db.reading() as tx:
            new = await list_written_since(
                tx, self.line.person.id, self.line.chat.id, after=self.shown_to
            )
        for message in new:
            self.show(message)

    def show(self, message: Message) -> None:
        """Put one message before the person."""
        self.shown_to = max(self.shown_to, message.seq)
        who = "you" if message.role == "person" else message.speaker
        self.write(f"{who}: {message.text}")

    async def _recent(self, limit: int) -> list[Message]:
        async with self.house.db.reading() as tx:
            return await list_recent(tx, self.line.person.id, self.line.chat.id, limit=limit)


async def converse(talk: Conversation, lines: AsyncIterator[str]) -> None:
    """Answer lines until there are no more, then make up for missing vectors."""
    async for text in lines:
        if not await talk.hear(text):
            break
    await catch_up(talk.house, talk.line)


async def piped_lines() -> AsyncIterator[str]:
    """The lines of standard input."""
    while text := await asyncio.to_thread(sys.stdin.readline):
        yield text.rstrip("\n")


async def print_whole(text: str) -> None:
    """Print a reply for whoever reads the other end of the pipe."""
    print(text, flush=True)


async def print_by_words(text: str) -> None:
    """Print a reply word by word, as it will come from a model."""
    terminal = sys.__stdout__ or sys.stdout
    pieces = re.findall(r"\S+\s*|\s+", text)
    pause = min(PIECE_S, LONGEST_STREAM_S / max(1, len(pieces)))
    for piece in pieces:
        terminal.write(piece)
        terminal.flush()
        await asyncio.sleep(pause)
    terminal.write("\n\n")
    terminal.flush()


async def converse_on_terminal(house: House, line: Line) -> None:
    """Talk with line editing, and live news from other processes."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.patch_stdout import patch_stdout

    history = house.settings.data / "chat-history"
    history.touch(mode=0o600)
    session: PromptSession[str] = PromptSession(history=FileHistory(str(history)))
    talk = Conversation(house, line, print, print_by_words)
    print(f"Oldfriend · {line.person.name} on {line.chat.channel} · /help · /quit\n")
    await talk.begin()

    async def typed() -> AsyncIterator[str]:
        while True:
            try:
                yield await session.prompt_async("you: ")
            except (EOFError, KeyboardInterrupt):
                return

    with patch_stdout():
        async with asyncio.TaskGroup() as tasks:
            news = tasks.create_task(follow_others(talk))
            vectors = tasks.create_task(catch_up(house, line))
            await converse(talk, typed())
            news.cancel()
            vectors.cancel()


async def follow_others(talk: Conversation) -> None:
    """Show what other processes write into this chat, as they write it."""
    while True:
        await talk.house.db.wait_for_others()
        await talk.show_what_others_wrote()


async def catch_up(house: House, line: Line) -> None:
    """Give vectors to what earlier processes left without."""
    try:
        await embed_missing(house, line.person.id)
    except OldfriendError as error:
        print(f"(Searching by words for now: {error})")

"""How does one talk at a real terminal? With line editing, and live news from elsewhere.

Loaded only when there is one.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.patch_stdout import patch_stdout

from oldfriend.app.catching_up import read_meanwhile
from oldfriend.app.embedding import make_up
from oldfriend.app.meanwhile import TalkPlace
from oldfriend.cli.conversation import Conversation
from oldfriend.cli.folding import Folding, folded
from oldfriend.cli.remarks import GREY
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.ids import PersonId
from oldfriend.memory.people import get_companion

PIECE_S, LONGEST_STREAM_S = 0.012, 0.6
LOOK_AGAIN_S = 30.0


async def converse_on_terminal(place: TalkPlace) -> None:
    """Talk until the person leaves; vectors that are missing are made meanwhile."""
    typing: PromptSession[str] = PromptSession(
        history=history_in(place.house.settings.data, place.line.person.id)
    )
    voice = Voice()
    talk = Conversation(place, voice.write, voice.speak, remark=remark, end="\n\n")
    line = talk.line
    async with place.house.db.reading() as tx:
        name = (await get_companion(tx)).name
    print(f"{name} · {line.person.name} on {line.chat.channel} · /help · /quit\n")
    await talk.begin()
    try:
        with patch_stdout():
            await talk_on(typing, talk)
    finally:
        await talk.finish()


async def talk_on(typing: PromptSession[str], talk: Conversation) -> None:
    """Answer what is typed until the person leaves, and show beside it what happens elsewhere."""
    async with asyncio.TaskGroup() as tasks:
        beside = [tasks.create_task(each(talk)) for each in (follow_others, catch_up, learn)]
        async for text in typed(typing):
            with ctrl_c_calls(lambda: tasks.create_task(talk.stop_reply())):
                goes_on = await talk.hear(text)
            if not goes_on:
                break
        for task in beside:
            task.cancel()


async def typed(typing: PromptSession[str]) -> AsyncIterator[str]:
    """The lines that the person types."""
    while True:
        try:
            yield await typing.prompt_async("you: ")
        except (EOFError, KeyboardInterrupt):
            return


@contextmanager
def ctrl_c_calls(act: Callable[[], object]) -> Iterator[None]:
    """Have Ctrl-C do something for a while; pressed once more, it ends the program as ever."""
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)

    def pressed() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
        act()

    loop.add_signal_handler(signal.SIGINT, pressed)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)


def remark(text: str) -> None:
    """Show a line in grey, beside the talk; no prompt is in the way while a reply is awaited."""
    terminal = sys.__stdout__ or sys.stdout
    terminal.write(f"{GREY.format(folded(text))}\n")
    terminal.flush()


def history_in(folder: Path, person: PersonId) -> History:
    """What one person typed in earlier sittings; in this one alone where nothing can be kept."""
    file = folder / f"chat-history-{person}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))
    except OSError:
        return InMemoryHistory()
    return TypedBefore(file)


class TypedBefore(FileHistory):
    """What was typed, in a file, as long as the disk has room."""

    def store_string(self, string: str) -> None:  # type: ignore[explicit-override] # from 3.12 on
        """Keep a line; that it cannot be recalled with an arrow key must not end the talk."""
        with suppress(OSError):
            super().store_string(string)


class Voice:
    """How replies come onto the screen."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._folding = Folding()

    async def speak(self, text: str) -> None:
        """Print a reply, or a piece of one, word by word."""
        terminal = sys.__stdout__ or sys.stdout
        pieces = self._folding.take(text)
        pause = min(PIECE_S, LONGEST_STREAM_S / max(1, len(pieces)))
        for piece in pieces:
            terminal.write(piece)
            terminal.flush()
            await asyncio.sleep(pause)

    def write(self, text: str) -> None:
        """Print a line; a reply is over."""
        print(folded(text))
        self._folding = Folding()


async def follow_others(talk: Conversation) -> None:
    """Show what other processes write into this chat, as they write it."""
    try:
        with talk.house.waking.bell() as bell:
            while True:
                await bell.wait(LOOK_AGAIN_S)
                await talk.show_what_others_wrote()
    except OldfriendError as error:
        talk.write(f"(What is said elsewhere does not appear here any more: {error})")


async def catch_up(talk: Conversation) -> None:
    """Give vectors to what earlier processes left without."""
    trouble = await make_up(talk.house, talk.line.person.id)
    if trouble is not None:
        talk.write(f"({trouble})")


async def learn(talk: Conversation) -> None:
    """Read what was said, as it becomes ripe."""
    try:
        await read_meanwhile(talk.house, talk.line.person.id)
    except OldfriendError as error:
        if talk.is_kept:
            talk.write(f"(What you say is kept, and read later: {error})")

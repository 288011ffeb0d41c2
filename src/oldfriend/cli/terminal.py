"""Terminal chat: line editing, streamed replies and live messages from other processes.

Imported only when standard input and output are a terminal.
"""

import asyncio
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO, cast

from prompt_toolkit import PromptSession
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.utils import get_cwidth

from oldfriend.app.embed_messages import try_embed_missing
from oldfriend.cli.conversation import Conversation
from oldfriend.cli.model_offers import format_offer
from oldfriend.cli.output import (
    EscapeSequence,
    SanitizedStream,
    escape_control_chars,
    sanitize_output,
    write_notice,
)
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.ids import PersonId
from oldfriend.memory.message_log import count_messages
from oldfriend.memory.people import get_companion
from oldfriend.replies.offline_spool import ConversationStore
from oldfriend.runtime.maintenance import maintain_continuously
from oldfriend.runtime.provider_setup import list_offers

_TOKENS = re.compile(r"\n|[^\S\n]+|[\u2e80-\uffff]|[^\s\u2e80-\uffff]+")
"""Newlines, other whitespace, single characters of scripts without spaces, and words."""
_WORD = re.compile(r"[^\s\u2e80-\uffff]+")
_ERASE_BACK = "\x1b[{columns}D\x1b[K"
"""Terminal sequence: move left by some columns and erase to the end of the line."""

PIECE_DELAY_S, MAX_STREAM_S = 0.012, 0.6
POLL_S = 30.0


async def run_terminal_chat(store: ConversationStore) -> None:
    """Chat until the person leaves, while background tasks run."""
    session: PromptSession[str] = PromptSession(
        history=open_history(store.app.settings.data, store.chat_context.person.id)
    )
    printer = ReplyPrinter()
    conversation = Conversation(
        store, printer.write_line, printer.write_piece, write_notice=write_dimmed, end="\n\n"
    )
    chat_context = conversation.chat_context
    async with store.app.db.begin_read() as tx:
        name = (await get_companion(tx)).name
    print(f"{name} · {chat_context.person.name} on {chat_context.chat.channel} · /help · /quit\n")
    await conversation.show_recent()
    try:
        with print_above_prompt():
            await run_prompt_loop(session, conversation)
    finally:
        await conversation.finish()


async def run_prompt_loop(prompt_session: PromptSession[str], conversation: Conversation) -> None:
    """Answer typed lines until the person leaves; show messages from elsewhere meanwhile."""
    async with asyncio.TaskGroup() as tasks:
        background = [
            tasks.create_task(each(conversation))
            for each in (follow_new_messages, embed_missing, learn_meanwhile, offer_models)
        ]
        async for text in read_lines(prompt_session):
            with on_interrupt(lambda: tasks.create_task(conversation.stop_reply())):
                continues = await conversation.handle_line(text)
            if not continues:
                break
        for task in background:
            task.cancel()


async def read_lines(prompt_session: PromptSession[str]) -> AsyncIterator[str]:
    """Yield the lines that the person types, until Ctrl-C or end of input."""
    while True:
        try:
            yield await prompt_session.prompt_async("you: ")
        except (EOFError, KeyboardInterrupt):
            return


@contextmanager
def on_interrupt(callback: Callable[[], object]) -> Iterator[None]:
    """Call back on the first Ctrl-C; a second one ends the program as usual."""
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)

    def pressed() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
        callback()

    loop.add_signal_handler(signal.SIGINT, pressed)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)


def write_dimmed(text: str) -> None:
    """Write a notice in grey; no prompt is in the way while a reply is awaited."""
    write_notice(get_terminal(), wrap_text(text), is_grey=True)


def get_terminal() -> TextIO:
    """Return the terminal itself, for output while no prompt is shown."""
    return cast(TextIO, SanitizedStream(sys.__stdout__ or sys.stdout))


@contextmanager
def print_above_prompt() -> Iterator[None]:
    """Make printed text appear above the prompt, still sanitized."""
    with patch_stdout():
        sanitize_output()
        yield


def open_history(folder: Path, person: PersonId) -> History:
    """Open the person's input history; in memory only if the file cannot be written."""
    file = folder / f"chat-history-{person}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))
    except OSError:
        return InMemoryHistory()
    return InputHistory(file)


class InputHistory(FileHistory):
    """An input history file that tolerates a full disk."""

    def store_string(self, string: str) -> None:  # type: ignore[explicit-override] # from 3.12 on
        """Store a line; a failure must not end the chat."""
        with suppress(OSError):
            super().store_string(string)


class ReplyPrinter:
    """Prints replies piece by piece, wrapped to the terminal."""

    def __init__(self) -> None:
        """Start at the beginning of a line."""
        self._wrapper = LineWrapper()

    async def write_piece(self, text: str) -> None:
        """Print a reply, or a piece of one, word by word."""
        terminal = get_terminal()
        pieces = self._wrapper.feed(text)
        pause = min(PIECE_DELAY_S, MAX_STREAM_S / max(1, len(pieces)))
        for piece in pieces:
            terminal.write(piece)
            terminal.flush()
            await asyncio.sleep(pause)

    def write_line(self, text: str) -> None:
        """Print a line, and start a new reply."""
        print(wrap_text(text))
        self._wrapper = LineWrapper()


async def follow_new_messages(conversation: Conversation) -> None:
    """Show messages that other processes add to this chat."""
    try:
        with conversation.app.notifier.subscribe() as wake:
            while True:
                await wake.wait(POLL_S)
                await conversation.show_new_messages()
    except OldfriendError as error:
        conversation.write_line(f"(What you say on other channels no longer appears here: {error})")


async def embed_missing(conversation: Conversation) -> None:
    """Embed messages that earlier processes left without a vector."""
    trouble = await try_embed_missing(conversation.app, conversation.chat_context.person.id)
    if trouble is not None:
        conversation.write_line(f"({trouble})")


async def learn_meanwhile(conversation: Conversation) -> None:
    """Extract segments as they become due."""
    try:
        await maintain_continuously(conversation.app, conversation.chat_context.person.id)
    except OldfriendError as error:
        if conversation.is_saved:
            conversation.write_line(f"(What you say is kept, and will be read later: {error})")


async def offer_models(conversation: Conversation) -> None:
    """Tell the owner in their first chat which models could be connected, and how."""
    app, person = conversation.app, conversation.chat_context.person
    if app.settings.models.for_role("main") or not person.is_owner:
        return
    try:
        async with app.db.begin_read() as tx:
            if await count_messages(tx, person.id):
                return
        offers = await list_offers(app.settings)
    except OldfriendError:
        return  # nothing that a chat needs
    if offers:
        lines = "\n".join(f"  {format_offer(offer)}" for offer in offers)
        conversation.write_line(
            "(No language model is connected, so answers quote what you said. You could "
            "connect:\n"
            f"{lines})"
        )


class LineWrapper:
    """Wraps streamed text without delay: a word that does not fit starts a new line.

    A word that grows too long while it streams is erased and written again on the next line.
    """

    def __init__(self) -> None:
        """Start at the left margin."""
        self._column = 0
        self._gap = ""  # whitespace before the next word, if it stays on the line
        self._word = ""  # the last word on the line, which may continue

    def feed(self, text: str) -> list[str]:
        """Return what to write for more text, in pieces."""
        width = shutil.get_terminal_size().columns
        return [
            placed
            for piece in _TOKENS.findall(escape_control_chars(text))
            for placed in self._place_piece(piece, width)
        ]

    def _place_piece(self, piece: str, width: int) -> tuple[str, ...]:
        if piece == "\n":
            self._column, self._gap, self._word = 0, "", ""
            return (piece,)
        if piece.isspace():
            self._gap, self._word = piece, ""
            return ()
        begun = self._word if _WORD.fullmatch(piece) else ""
        gap, self._gap = self._gap, ""
        erase: tuple[str, ...] = ()
        self._word = begun + piece if _WORD.fullmatch(piece) else ""
        if self._column and self._column + len(gap) + get_cwidth(piece) > width:
            back = get_cwidth(begun)
            if back < self._column:  # otherwise the line holds only this word
                erase = (EscapeSequence(_ERASE_BACK.format(columns=back)),) if begun else ()
                gap = f"\n{begun}"
                self._column = back
        else:
            self._column += len(gap)
        needed = self._column + get_cwidth(piece)
        self._column = (needed - 1) % width + 1  # the terminal breaks a word longer than a line
        return (*erase, gap + piece)


def wrap_text(text: str) -> str:
    """Wrap a whole text, keeping its own line breaks."""
    return "".join(LineWrapper().feed(text))

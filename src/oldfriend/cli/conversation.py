"""Conversation: one chat session, independent of where its lines come from and go to.

Knows nothing of terminals.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from oldfriend.app.app_context import AppContext
from oldfriend.domain.buttons import Button, find_buttons
from oldfriend.domain.errors import InvalidInput, OldfriendError, TurnFailed, TurnStopped
from oldfriend.domain.messages import Message
from oldfriend.inbound.accept import (
    AcceptedMessage,
    ChatContext,
    MessageSubmission,
    accept_message,
    stop_turn,
)
from oldfriend.lang.command_menu import CommandMenu, read_command
from oldfriend.lang.detection import detect_language
from oldfriend.llm.model import TextCallback
from oldfriend.memory.message_log import list_messages_after_seq, list_recent_messages
from oldfriend.memory.receipts import find_receipt
from oldfriend.presenters.receipt_schemas import receipt_as_text
from oldfriend.presenters.resolved_receipts import resolve_receipt
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, choose_language, load_phrases
from oldfriend.replies.delay_notices import Delay, format_delay, load_system_language
from oldfriend.replies.offline_spool import TRANSIENT_ERRORS, ConversationStore
from oldfriend.replies.reply_worker import wait_for_reply
from oldfriend.turn.request_handlers.registry import COMMANDS, OTHER_COMMANDS

INITIAL_MESSAGES = 6
MAX_NUMBER_DIGITS = 2  # of what presses a button
HELP_TEXT = """Here in the terminal:
  /why      what my last answer is based on
  /history  the last twenty messages here
  /quit     leave (or Ctrl-D)
Ctrl-C stops a reply."""

WriteLine = Callable[[str], None]


def find_unknown_command(text: str) -> str | None:
    """Return the name of a lone command that nothing here or in a turn knows."""
    command = read_command(text)
    is_known = command is None or command.words or command.text in COMMANDS | OTHER_COMMANDS
    return None if command is None or is_known else command.name


def format_buttons(buttons: Sequence[Button], *, after: int = 0) -> str:
    """Return buttons with the number that presses each, beginning after those already shown."""
    return "   ".join(f"{at}) {each.label}" for at, each in enumerate(buttons, after + 1))


class Conversation:
    """One chat session, with a record of what was shown: nothing is repeated or left out."""

    def __init__(
        self,
        store: ConversationStore,
        write_line: WriteLine,
        write_piece: TextCallback,
        *,
        write_notice: WriteLine | None = None,
        end: str = "\n",
    ) -> None:
        """Start with callbacks for whole lines and for pieces of a reply.

        ``write_notice`` is for what is not part of the conversation (None: like other lines);
        ``end`` is written after each reply.
        """
        self._store = store
        self.write_line = write_line
        self.write_piece = write_piece
        self.write_notice = write_notice or write_line
        self.end = end
        self.has_failed = False
        self._shown_seqs: set[int] = set()  # by seq, since each version of a message has its own
        self._last_seen_seq = 0
        self._shown_in_store: tuple[set[int], int] = set(), 0  # before going offline
        self._lock = asyncio.Lock()
        self._pending_message: Message | None = None  # being answered now
        self._last_text = ""  # of the person
        self._buttons: tuple[Button, ...] = ()  # shown since the person's last line
        self._language: str | None = None  # of the chat, for notices; None for a new chat
        self._reported_errors: set[type[OldfriendError]] = set()  # of the store

    @property
    def app(self) -> AppContext:
        """The app context of the store in use now."""
        return self._store.app

    @property
    def chat_context(self) -> ChatContext:
        """The chat context in the store in use now."""
        return self._store.chat_context

    @property
    def is_saved(self) -> bool:
        """Whether everything that was said is in the store, as far as is known."""
        return not self._store.is_offline

    async def save(self) -> bool:
        """Try to store what is unsaved, with a notice on success; return whether all is stored.

        What still cannot be stored is kept in a file, in case this process does not get to try
        again.
        """
        written = await self._store.try_replay() if self._store.is_offline else None
        if written is None and self._store.is_offline:
            await self._store.save_to_file()
            self._report_store_trouble()
        if written is not None:
            shown, last_seen = self._shown_in_store
            seqs = {each.seq for each in written}
            self._shown_seqs, self._last_seen_seq = shown | seqs, last_seen or max(seqs, default=0)
            self.write_notice(self._localize("kept_again"))
        return self.is_saved

    async def finish(self) -> None:
        """Try once more to store everything, and tell the person if that fails."""
        if await self.save():
            return
        self.has_failed = True
        count = await self._store.save_to_file()
        phrase_name = "never_kept" if self._store.file is None else "kept_aside"
        phrase = self._localize(phrase_name)
        self.write_line(phrase.format(count=count, file=self._store.file))

    def _report_store_trouble(self) -> None:
        """Report a store error once per class, unless it is transient."""
        error = self._store.last_error
        if (
            error is None
            or isinstance(error, TRANSIENT_ERRORS)
            or type(error) in self._reported_errors
        ):
            return
        self._reported_errors.add(type(error))
        self.write_notice(str(error))

    async def show_recent(self) -> None:
        """Show the last messages of the chat."""
        recent = await self._list_recent(INITIAL_MESSAGES)
        for message in recent:
            self.show_message(message)
        if recent:
            self._language = await load_system_language(self.app.db, recent[-1])
        self._last_seen_seq = max(self._shown_seqs, default=0)

    async def handle_line(self, text: str) -> bool:
        """Handle one line and report failures; False when the person wants to leave."""
        command = text.strip().lower()
        if command in {"/quit", "/exit", "/q", "quit", "exit"}:
            return False
        try:
            await self._dispatch(command, text)
        except InvalidInput as error:
            self.write_line(str(error))
        except TurnFailed as error:
            self.has_failed = True
            self.write_line(str(error))
        except OldfriendError as error:
            self.has_failed = True
            self.write_line(f"That did not work. {error}\nYou wrote: {text}")
        return True

    async def answer(self, text: str) -> None:
        """Answer a message; a model's text is streamed, any other is shown once it is stored.

        A notice says why a reply is delayed, or that it was stopped.
        """
        streamed: list[str] = []

        async def say(piece: str) -> None:
            streamed.append(piece)
            await self.write_piece(piece)

        async with self._lock:
            accepted = await self._accept(text)
            self._pending_message = accepted.message
            try:
                response = await wait_for_reply(
                    self.app,
                    accepted,
                    on_text=say if self.app.models else None,
                    on_delay=self._write_delay,
                )
            except TurnStopped:
                await self.write_piece("\n" if streamed else "")
                self.write_notice(self._localize("stopped"))
                return
            finally:
                self._pending_message = None
                self._shown_seqs.add(accepted.message.seq)
            self._shown_seqs.add(response.reply.seq)
            self._buttons = find_buttons(response.reply.details)
            if "".join(streamed) != response.reply.text:
                await self.write_piece(
                    response.reply.text if not streamed else f"\n\n{response.reply.text}"
                )
            if self._buttons:
                await self.write_piece(f"\n{format_buttons(self._buttons)}")
            await self.write_piece(self.end)

    async def _accept(self, text: str) -> AcceptedMessage:
        """Accept a message into the store, or into memory while the store cannot be written."""
        submission = MessageSubmission(text=text, at=self.app.clock())
        self._last_text = text
        await self.save()
        try:
            accepted = await accept_message(self.app, self.chat_context, submission, claim_now=True)
        except TRANSIENT_ERRORS as error:
            if self._store.is_offline:
                raise
            self._shown_in_store = set(self._shown_seqs), self._last_seen_seq
            await self._store.go_offline()
            self.write_notice(f"{error} {self._localize('not_kept')}")
            accepted = await accept_message(self.app, self.chat_context, submission, claim_now=True)
        assert accepted is not None  # without an idempotency key it is never a repeat
        # Offline, the chat holds too few messages to tell its language again.
        if self._language is None or not self._store.is_offline:
            self._language = await load_system_language(self.app.db, accepted.message)
        return accepted

    async def stop_reply(self) -> None:
        """Stop the reply in progress, if there is one."""
        if self._pending_message is None:
            return
        try:
            await stop_turn(self.app, self.chat_context, self._pending_message.id)
        except OldfriendError as error:
            self.write_line(f"That did not work. {error}")

    async def show_receipt(self) -> None:
        """Show the receipt of the last reply."""
        async with self.app.db.begin_read() as tx:
            receipt = await find_receipt(tx, self.chat_context.person.id)
            text = None if receipt is None else receipt_as_text(await resolve_receipt(tx, receipt))
        self.write_line(text or "I haven't answered anything yet.")

    async def show_history(self) -> None:
        """Show the last messages of this chat."""
        for message in await self._list_recent(20):
            self.show_message(message)

    async def show_help(self) -> None:
        """Show the commands of the terminal, and what can be asked for on every channel."""
        self.write_line(f"{self._load_menu().format_help()}\n\n{HELP_TEXT}")

    async def show_new_messages(self) -> None:
        """Show messages that other processes added to this chat."""
        async with self._lock:
            async with self.app.db.begin_read() as tx:
                messages = await list_messages_after_seq(
                    tx,
                    self.chat_context.person.id,
                    self.chat_context.chat.id,
                    after=self._last_seen_seq,
                )
            for message in messages:
                self._last_seen_seq = message.seq
                if message.seq not in self._shown_seqs:
                    self.show_message(message)
                    found = find_buttons(message.details)
                    if found:
                        self.write_line(format_buttons(found, after=len(self._buttons)))
                    self._buttons += found

    def show_message(self, message: Message) -> None:
        """Show one message, unless it is a marker, which is meant for models."""
        self._shown_seqs.add(message.seq)
        if message.role == "marker":
            return
        who = "you" if message.role == "person" else message.speaker
        self.write_line(f"{who}: {message.text}")

    async def _write_delay(self, delay: Delay) -> None:
        self.write_notice(format_delay(delay))

    async def _dispatch(self, command: str, text: str) -> None:
        actions: dict[str, Callable[[], Awaitable[None]]] = {
            "/why": self.show_receipt,
            "/history": self.show_history,
            "/help": self.show_help,
        }
        if command in actions:
            await actions[command]()
        elif (unknown := find_unknown_command(command)) is not None:
            self.write_line(self._load_menu().format_unknown(unknown))
        elif command:
            pressed = self._find_pressed(command)
            if pressed is not None:
                self.write_notice(f"→ {pressed.label}")
            await self.answer(text if pressed is None else pressed.command)

    def _find_pressed(self, line: str) -> Button | None:
        """Return the button whose number a line is, of those still shown; None for any other."""
        number = line.removesuffix(")")
        is_number = number.isascii() and number.isdecimal() and len(number) <= MAX_NUMBER_DIGITS
        at = int(number) if is_number else 0
        return self._buttons[at - 1] if 0 < at <= len(self._buttons) else None

    def _load_menu(self) -> CommandMenu:
        """Load what is said of commands, in the chat's language."""
        return CommandMenu.load(choose_language(self._language, self.chat_context.person.language))

    def _localize(self, name: str) -> str:
        """Return a phrase in the chat's language, as far as it is known."""
        likely = self.chat_context.person.language or self.app.settings.language
        detected = detect_language(self._last_text, fallback=likely or OFFLINE_LANGUAGES[0])
        return load_phrases(choose_language(self._language, detected, likely)).phrases[name]

    async def _list_recent(self, limit: int) -> list[Message]:
        async with self.app.db.begin_read() as tx:
            return await list_recent_messages(
                tx, self.chat_context.person.id, self.chat_context.chat.id, limit=limit
            )

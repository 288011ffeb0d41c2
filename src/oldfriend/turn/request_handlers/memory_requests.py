"""Memory requests: commands about what is kept and what was said.

"/memory", "/history", "/search boat", "/new"; and "/why" and "/facts", which say the same as the
questions in words.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.messages import Message
from oldfriend.lang.command_menu import CommandMenu, read_command
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.chat_history import list_messages_after, list_messages_containing
from oldfriend.memory.message_log import count_messages, list_recent_messages
from oldfriend.memory.people import get_chat
from oldfriend.memory.sessions import close_session, count_sessions
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.turn.quotes import format_day, format_moment
from oldfriend.turn.receipt_items import build_listed_item
from oldfriend.turn.request_handlers.command_requests import (
    find_command_intent,
    read_memory_command,
)
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.store_change import ChangeScope

NAME: Final = "memory"
SHOWN: Final = 5
MAX_SHOWN: Final = 20
MAX_FOUND: Final = 8
MAX_LEARNED: Final = 10
MAX_LINE_CHARS: Final = 200
PAGE_PARTS: Final = frozenset({"merge", "pin"})
"""Subcommands that the page offers instead, where one can see which belief is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseConversation:
    """The change that ends the session of the message."""

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Close it; what is said next opens a new one."""
        chat = await get_chat(tx, scope.person.id, scope.message.chat)
        await close_session(tx, chat, scope.message.session, at=scope.now, trigger="asked")


async def handle_memory(context: HandlerContext) -> HandledRequest | None:
    """Handle a command about the memory."""
    command = read_memory_command(context.text)
    if command is None:
        return None
    desk = MemoryDesk(context)
    if find_command_intent(context.text) is not None:  # answered as the question in words is
        return HandledRequest(name=command.name, text="", is_command=True, is_whole_message=False)
    if command.name == "new":
        text = desk.say["new_begun"]
        return replace(desk.tell(text), changes=(CloseConversation(),))
    shows = {"history": desk.show_history, "search": desk.search, "memory": desk.show_memory}
    return await shows[command.name](command.words)


class MemoryDesk:
    """Shows a person what is kept of theirs, in the language of the reply."""

    def __init__(self, context: HandlerContext) -> None:
        """Take the turn's context."""
        self.context = context
        self.message = context.utterance.message
        self.say = CommandMenu.load(context.perception.reply_language).say
        self.book = load_phrases(context.perception.offline_reply_language)

    def tell(self, text: str) -> HandledRequest:
        """Return a request that only tells something."""
        return HandledRequest(name=NAME, text=text, is_command=True)

    def show(self, head: str, messages: Sequence[Message]) -> HandledRequest:
        """List messages with who wrote them and when."""
        return HandledRequest(
            name=NAME,
            text="\n".join([head, *map(self.format_message, messages)]),
            items=tuple(build_listed_item("message", each.id, each.version) for each in messages),
            is_command=True,
        )

    def format_message(self, message: Message) -> str:
        """Format a message as a line."""
        words = " ".join(message.text.split())
        cut = words if len(words) <= MAX_LINE_CHARS else f"{words[:MAX_LINE_CHARS].rstrip()} …"
        is_own = message.role == "person" and message.trust == "person"
        return self.say["line"].format(
            when=format_moment(self.book, message.at, self.message.zone),
            who=self.say["you"] if is_own else message.speaker or message.channel,
            text=cut,
        )

    async def show_history(self, words: str) -> HandledRequest:
        """Show the last messages of this chat before the command."""
        asked = int(words) if words.isascii() and words.isdigit() else SHOWN
        first = self.context.utterance.messages[0]
        async with self.context.db.begin_read() as tx:
            messages = await list_recent_messages(
                tx,
                first.person,
                first.chat,
                limit=min(max(asked, 1), MAX_SHOWN),
                before=first.seq,
            )
        shown = [each for each in messages if each.role != "marker"]
        if not shown:
            return self.tell(self.say["history_none"])
        return self.show(self.say["history_head"], shown)

    async def search(self, words: str) -> HandledRequest:
        """Show the newest messages that hold some words; its own if there are no others."""
        if not words:
            return self.tell(self.say["search_usage"])
        first = self.context.utterance.messages[0]
        async with self.context.db.begin_read() as tx:
            found = await list_messages_containing(tx, first.person, words, limit=2 * MAX_FOUND)
        asked = {each.id for each in self.context.utterance.messages}
        shown = [each for each in found if each.id not in asked and read_command(each.text) is None]
        shown = [each for each in shown if each.role != "companion"] or shown
        if not shown:
            return self.tell(self.say["search_none"].format(words=words))
        return self.show(self.say["search_head"].format(words=words), shown[:MAX_FOUND])

    async def show_memory(self, words: str) -> HandledRequest:
        """Show how much is kept, or what was learned last; or say where a belief is changed."""
        first = words.partition(" ")[0].lower()
        if first in PAGE_PARTS:
            return self.tell(self.say[f"memory_{first}"])
        return await (self.show_learned() if words.lower() == "list" else self.show_counts())

    async def show_counts(self) -> HandledRequest:
        """Tell how much is kept, and by which commands it is seen."""
        person = self.context.utterance.person.id
        async with self.context.db.begin_read() as tx:
            messages = await count_messages(tx, person, role="person")
            sessions = await count_sessions(tx, person)
            beliefs = len(await list_memories(tx, person))
            first = await list_messages_after(tx, person, at=0, seq=0, limit=1)
        if not first:
            return self.tell(self.say["memory_empty"])
        counts = self.say["memory_counts"].format(
            messages=messages,
            sessions=sessions,
            beliefs=beliefs,
            day=format_day(self.book, first[0].at, self.message.zone),
        )
        return self.tell(f"{counts}\n{self.say['memory_more']}")

    async def show_learned(self) -> HandledRequest:
        """Show the beliefs that were learned last."""
        person = self.context.utterance.person.id
        async with self.context.db.begin_read() as tx:
            known = [each.memory for each in await list_memories(tx, person)]
        if not known:
            return self.tell(self.say["memory_none"])
        newest = known[-MAX_LEARNED:][::-1]
        lines = [
            self.say["memory_line"].format(
                day=format_day(self.book, each.learned_at, self.message.zone),
                text=" ".join(each.text.split())[:MAX_LINE_CHARS],
            )
            for each in newest
        ]
        return HandledRequest(
            name=NAME,
            text="\n".join([self.say["memory_learned"], *lines]),
            items=tuple(build_listed_item("memory", each.id, 1) for each in newest),
            is_command=True,
        )


MEMORY_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_memory)

"""Reachable chats: where a person can be written to unasked, and until when platforms allow it."""

from dataclasses import dataclass

from oldfriend.channels.channel import DIARY_CHANNEL, PROGRAM_CHANNELS, WEB_CHANNEL
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import ChatId, PersonId
from oldfriend.domain.messages import Chat
from oldfriend.memory.chat_history import list_recently_used_chats
from oldfriend.memory.message_log import list_recent_messages
from oldfriend.memory.people import find_chat, get_chat, get_person_by_id
from oldfriend.queues.outbox import find_block_reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachableChat:
    """A chat that can be written to."""

    chat: Chat
    window_ends_at: Micros | None  # until when its platform takes what nobody asked; None: always

    def is_open(self, now: Micros) -> bool:
        """Whether what is sent now is taken now."""
        return self.window_ends_at is None or self.window_ends_at > now


async def find_reachable_chat(
    tx: Transaction, person: PersonId, wanted: ChatId | None = None, *, now: Micros
) -> ReachableChat | None:
    """Return the wanted chat, else the most recently used one that is not blocked, if any.

    One whose platform would hold the message until they write comes after all that are open, and a
    chat front end, which hears only replies, comes last. Never the diary: who has written only
    there is written to in the chat on the page.
    """
    candidates = await list_recently_used_chats(tx, person)
    closed: ReachableChat | None = None
    silent: ReachableChat | None = None
    page: ReachableChat | None = None
    for each in candidates if wanted is None else [wanted, *candidates]:
        try:
            chat = await get_chat(tx, person, each)
        except NotFound:
            continue  # forgotten
        if chat.address == chat.id:
            continue  # set aside: its address is no longer theirs
        if chat.channel == DIARY_CHANNEL:
            page = page or await find_page_chat(tx, chat)
            continue
        if await find_block_reason(tx, chat.channel, chat.address) is not None:
            continue
        found = ReachableChat(chat=chat, window_ends_at=await find_window_end(tx, person, chat))
        if chat.channel in PROGRAM_CHANNELS:
            silent = silent or found
        elif found.is_open(now):
            return found
        else:
            closed = closed or found
    return closed or page or silent


async def find_page_chat(tx: Transaction, diary: Chat) -> ReachableChat | None:
    """Return the chat on the page of the person whose diary it is, if they have one."""
    person = await get_person_by_id(tx, diary.person)
    chat = await find_chat(tx, person.id, diary.companion, channel=WEB_CHANNEL, address=person.name)
    return None if chat is None else ReachableChat(chat=chat, window_ends_at=None)


async def find_window_end(tx: Transaction, person: PersonId, chat: Chat) -> Micros | None:
    """Return until when a chat's platform takes messages unasked; None: always."""
    spec = CHANNELS.get(chat.channel)
    if spec is None or spec.capabilities.reply_window is None:
        return None
    heard = await list_recent_messages(tx, person, chat.id, limit=1, role="person")
    return heard[0].at + spec.capabilities.reply_window if heard else 0

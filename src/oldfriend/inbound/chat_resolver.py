"""Chat resolver: maps platform addresses and message ids to people, chats and logged messages."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from oldfriend.app.app_context import InboundContext
from oldfriend.channels.channel import ChatRef, IncomingMessage
from oldfriend.db.database import Database, Transaction
from oldfriend.domain import messages
from oldfriend.domain.clock import Clock
from oldfriend.domain.ids import ChatId, MessageId, PersonId
from oldfriend.domain.messages import (
    ADDRESS_DETAIL,
    QUOTED_PART_DETAIL,
    Person,
    is_untranscribed,
)
from oldfriend.inbound.accept import ChatContext, MessageSubmission, stop_turn
from oldfriend.memory.message_log import (
    find_message_by_external_id,
    get_message,
    list_recent_messages,
)
from oldfriend.memory.people import ensure_chat, ensure_companion, find_chat, find_companion
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.queues.outbox import find_delivered_reply

STOP_WINDOW: Final = 5
"""How many recent messages are searched for the one that is being answered."""
HUMAN_ROLES: Final = frozenset({"person", "other"})
RETRY_WINDOW: Final = 30
"""How many recent messages are searched for a person's last one, among those of others."""
TRIMMED_CHARS: Final = " .!。！,:，："
ALBUM_WINDOW: Final = 30
"""How many recent messages are searched for the first piece of an album."""
ALBUM_KEY: Final = "album"
"""In a message's details: the id of the album that it was sent in."""
ALBUM_WORDS_KEY: Final = "album_words"
"""In a message's details: whether its text is a caption, or only describes the media."""


async def resolve_chat(
    db: Database, clock: Clock, person: Person, chat_ref: ChatRef
) -> ChatContext:
    """Return the chat of a person or a group at a platform address, creating it if new."""
    async with db.begin_read() as tx:
        companion = await find_companion(tx)
        chat = None
        if companion is not None:
            location = {"channel": chat_ref.channel, "address": chat_ref.address}
            chat = await find_chat(tx, person.id, companion.id, **location)
    if chat is not None:
        return ChatContext(person=person, chat=chat)
    async with db.begin_write() as tx:
        return await ensure_platform_chat(tx, clock, person, chat_ref)


async def ensure_platform_chat(
    tx: Transaction, clock: Clock, person: Person, chat_ref: ChatRef
) -> ChatContext:
    """Return the chat at a platform address in a writing transaction, creating it if new."""
    now = clock()
    companion = await ensure_companion(tx, now=now)
    chat = await ensure_chat(
        tx,
        person,
        companion,
        channel=chat_ref.channel,
        address=chat_ref.address,
        title=chat_ref.title,
        now=now,
    )
    return ChatContext(person=person, chat=chat)


async def find_logged_message(
    tx: Transaction, chat_context: ChatContext, incoming: IncomingMessage
) -> messages.Message | None:
    """Return the message that an incoming one duplicates; for an edit, the one that it changes."""
    person, chat = chat_context.person.id, chat_context.chat.id
    if incoming.is_edit:
        edited = await find_message_by_external_id(tx, person, chat, incoming.edit_id)
        if edited is not None:
            return edited
    return await find_message_by_external_id(tx, person, chat, incoming.external_id)


async def merge_album(
    tx: Transaction, chat_context: ChatContext, incoming: IncomingMessage
) -> IncomingMessage:
    """Merge a piece of an album into its first message, as an edit of that.

    Any other message is returned unchanged. Each piece arrives and is stored by itself, so there is
    nothing to wait for; after a restart only the log knows what came before.
    """
    if (
        not incoming.album_id
        or incoming.is_edit
        or await find_logged_message(tx, chat_context, incoming) is not None
    ):
        return incoming
    recent = await list_recent_messages(
        tx, chat_context.person.id, chat_context.chat.id, limit=ALBUM_WINDOW
    )
    first = next(
        (each for each in recent if each.details.get(ALBUM_KEY) == incoming.album_id), None
    )
    if first is None or first.external_id is None:
        return replace(incoming, details={**incoming.details, **build_album_details(incoming)})
    piece = replace(incoming, external_id=first.external_id, is_edit=True)
    current = await find_logged_message(tx, chat_context, piece) or first
    is_reworded = current.id != first.id or current.version > 1
    has_words = is_reworded or first.details.get(ALBUM_WORDS_KEY) == "yes"
    if not has_words:
        return replace(piece, text=incoming.text if incoming.is_readable else current.text)
    is_new = incoming.is_readable and f"\n{incoming.text}\n" not in f"\n{current.text}\n"
    return replace(piece, text=f"{current.text}\n{incoming.text}" if is_new else current.text)


def build_album_details(incoming: IncomingMessage) -> dict[str, str]:
    """Return the details that mark the first piece of an album, and whether it has a caption."""
    return {ALBUM_KEY: incoming.album_id, ALBUM_WORDS_KEY: "yes" if incoming.is_readable else "no"}


def build_edit_details(previous: messages.Message) -> dict[str, str]:
    """Return the details of a message with a late caption, also for an album."""
    album_details = {ALBUM_WORDS_KEY: "yes"} if ALBUM_KEY in previous.details else {}
    unread = (messages.MEDIA_DETAIL, messages.UNDECRYPTED_MEDIA)  # its key has come since
    kept = {name: value for name, value in previous.details.items() if (name, value) != unread}
    return kept | album_details


async def load_reply_details(
    tx: Transaction, chat_context: ChatContext, incoming: IncomingMessage
) -> dict[str, str]:
    """Return the details of a reply: the message it replies to, or the quoted words, if known."""
    target_id = None
    if incoming.replies_to is not None:
        target_id = await find_message_id(
            tx, chat_context.person.id, chat_context.chat.id, incoming.replies_to
        )
    if target_id is not None:
        replied = await get_message(tx, chat_context.person.id, MessageId(target_id))
        return {"replies_to": target_id, **build_quote_span(replied, incoming.quoted_text)}
    return (
        {"quoted": incoming.quoted_text, "quoted_from": incoming.quoted_from}
        if incoming.quoted_text
        else {}
    )


def build_quote_span(replied: messages.Message, quoted: str) -> dict[str, str]:
    """Return the span of a message that was quoted; empty if all of it was.

    Only the position is stored: the words go with their message when it is forgotten.
    """
    start = replied.text.find(quoted)
    if not quoted or start < 0 or quoted == replied.text:
        return {}
    return {QUOTED_PART_DETAIL: f"{replied.version}:{start}:{start + len(quoted)}"}


async def find_message_id(
    tx: Transaction, person: PersonId, chat_id: ChatId, external_id: str
) -> str | None:
    """Return our id of the logged message, theirs or ours, that has an id on the platform."""
    theirs = await find_message_by_external_id(tx, person, chat_id, external_id)
    if theirs is not None:
        return theirs.id
    return await find_delivered_reply(tx, person, chat_id, external_id)


async def find_retry_target(
    tx: Transaction,
    chat_context: ChatContext,
    incoming: IncomingMessage,
    details: Mapping[str, str],
    *,
    author: str,
) -> messages.Message | None:
    """Return the untranscribed recording that a retry command refers to.

    That is the message of theirs that is replied to; otherwise the last one by ``author``.
    """
    command = (
        incoming.text.replace(incoming.details.get(ADDRESS_DETAIL, ""), "")
        .strip(TRIMMED_CHARS)
        .lower()
    )
    locales = [load_phrases(language) for language in OFFLINE_LANGUAGES]
    if command != "/retry" and not any(
        locale.patterns.again.fullmatch(command) for locale in locales
    ):
        return None
    candidates = await list_recent_messages(
        tx, chat_context.person.id, chat_context.chat.id, limit=RETRY_WINDOW
    )
    if "replies_to" in details:
        replied = await get_message(tx, chat_context.person.id, MessageId(details["replies_to"]))
        if replied.role in HUMAN_ROLES:  # a retry may also reply to our message about the recording
            candidates = [replied]
    theirs = [each for each in candidates if each.role in HUMAN_ROLES and each.author == author]
    return theirs[-1] if theirs and is_untranscribed(theirs[-1].details) else None


def build_retry(submission: MessageSubmission, target: messages.Message) -> MessageSubmission:
    """Return a submission that repeats a recording as if it were sent again."""
    return replace(submission, text=target.text, trust=target.trust, details=target.details)


async def stop_current_turn(app: InboundContext, chat_context: ChatContext) -> None:
    """Stop the turn that is being answered in a chat."""
    async with app.db.begin_read() as tx:
        recent = await list_recent_messages(
            tx, chat_context.person.id, chat_context.chat.id, limit=STOP_WINDOW
        )
    last = next((each for each in recent[::-1] if each.role in HUMAN_ROLES and each.turn), None)
    if last is not None:
        await stop_turn(app, chat_context, last.id)

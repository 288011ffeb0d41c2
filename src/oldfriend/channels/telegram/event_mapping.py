"""Event mapping: turns Telegram updates into channel events."""

import re
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from oldfriend.channels.channel import (
    ButtonPress,
    ChannelEvent,
    ChatAvailability,
    ChatMoved,
    ChatRef,
    IncomingMessage,
    MembershipChange,
    Reaction,
    Sender,
    UnreadableUpdate,
)
from oldfriend.channels.message_details import (
    build_media_details,
    describe_media,
    is_called_by_name,
    is_own_command,
)
from oldfriend.channels.telegram import updates
from oldfriend.channels.telegram.bot_api import BotIdentity, TelegramAddress
from oldfriend.channels.telegram.polling import UnparsedUpdate, Update
from oldfriend.channels.telegram.updates import (
    BotMembershipUpdate,
    CallbackUpdate,
    Media,
    MembersUpdate,
    MessageUpdate,
    MigrationUpdate,
    ReactionUpdate,
    TelegramChat,
)
from oldfriend.domain.buttons import MAX_COMMAND_BYTES
from oldfriend.domain.messages import ADDRESS_DETAIL

TTL_S: Final = 300.0
MAX_KEYS: Final = 2_000


class UpdateDedup:
    """A record of the updates received lately."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Start empty."""
        self._clock = clock
        self._seen_at: OrderedDict[str, float] = OrderedDict()

    def is_duplicate(self, update: Update) -> bool:
        """Tell whether an update was received before."""
        self._evict()
        return any(key in self._seen_at for key in list_dedup_keys(update))

    def record(self, update: Update) -> None:
        """Record an update that was received and is durable."""
        for key in list_dedup_keys(update):
            self._seen_at[key] = self._clock()
            self._seen_at.move_to_end(key)
        self._evict()

    def _evict(self) -> None:
        earliest = self._clock() - TTL_S
        while self._seen_at and (
            len(self._seen_at) > MAX_KEYS or next(iter(self._seen_at.values())) < earliest
        ):
            self._seen_at.popitem(last=False)


def list_dedup_keys(update: Update) -> list[str]:
    """Return the keys that identify an update."""
    keys = [] if update.update_id is None else [f"update:{update.update_id}"]
    if isinstance(update, CallbackUpdate):
        keys.append(f"callback:{update.query_id}")
    elif isinstance(update, MessageUpdate) and not update.is_edited:
        keys.append(build_external_id(update.chat.id, update.message_id))
    return keys


def build_external_id(chat_id: int, message_id: int) -> str:
    """Return the external id of a message, the person's or ours."""
    return f"message:{chat_id}:{message_id}"


CHANNEL_NAME: Final = "telegram"
GROUP_KINDS: Final = frozenset({"group", "supergroup"})
LIVE_LOCATION_PREFIX: Final = "[location]"
"""A live location is edited all the time; its start is enough."""


def to_channel_event(update: Update, bot: BotIdentity) -> ChannelEvent | None:
    """Convert an update to a channel event; None: it does not concern us."""
    match update:
        case UnparsedUpdate():
            return UnreadableUpdate(
                channel=CHANNEL_NAME, update_id=update.update_id, reason=update.reason
            )
        case MessageUpdate() if is_relevant(update):
            return to_incoming_message(update, bot)
        case ReactionUpdate() if not update.sender.is_bot:
            return Reaction(
                chat_ref=to_chat_ref(update.chat),
                sender=to_sender(update.sender),
                at=update.at,
                external_id=f"update:{update.update_id}",
                target_external_id=build_external_id(update.chat.id, update.message_id),
                emoji=" ".join(update.emoji),
            )
        case CallbackUpdate() if update.chat is not None and update.data.startswith("/"):
            return ButtonPress(
                chat_ref=to_chat_ref(update.chat),
                sender=to_sender(update.sender),
                target_external_id=build_external_id(update.chat.id, update.message_id),
                command=update.data[:MAX_COMMAND_BYTES],
            )
        case BotMembershipUpdate():
            return ChatAvailability(
                chat_ref=to_chat_ref(update.chat), is_available=update.is_member
            )
        case MembersUpdate():
            members = tuple(to_sender(each) for each in update.members if not each.is_bot)
            return (
                MembershipChange(
                    chat_ref=to_chat_ref(update.chat), members=members, has_joined=update.has_joined
                )
                if members
                else None
            )
        case MigrationUpdate():
            before, now = (
                TelegramAddress(chat_id=update.old_chat_id),
                TelegramAddress(chat_id=update.new_chat_id),
            )
            return ChatMoved(
                channel=CHANNEL_NAME, old_address=before.as_text, new_address=now.as_text
            )
    return None


def is_relevant(update: MessageUpdate) -> bool:
    """Tell whether a human wrote a message to a chat, other than a live location update."""
    if update.sender.is_bot or update.chat.kind == "channel":
        return False
    return not (update.is_edited and update.text.startswith(LIVE_LOCATION_PREFIX))


def to_incoming_message(update: MessageUpdate, bot: BotIdentity) -> IncomingMessage:
    """Convert a message update to an incoming message."""
    reply_to = (
        None
        if update.reply_to_message_id is None
        else build_external_id(update.chat.id, update.reply_to_message_id)
    )
    details = {"forwarded_from": update.forwarded_from} if update.forwarded_from else {}
    if update.media is not None:
        details |= build_media_details(
            update.media.kind,
            file_id=update.media.file_id,
            mime=update.media.mime,
            size=update.media.size,
            has_words=bool(update.text),
        )
    return IncomingMessage(
        chat_ref=to_chat_ref(update.chat),
        sender=to_sender(update.sender),
        external_id=build_external_id(update.chat.id, update.message_id),
        number=update.message_id,
        at=update.at,
        text=update.text or describe_update_media(update.media),
        is_edit=update.is_edited,
        is_own_words=not (update.forwarded_from or update.is_contact_card),
        is_readable=bool(update.text),
        is_addressed=is_addressed_to_bot(update, bot),
        replies_to=reply_to,
        quoted_text=update.quoted_text,
        quoted_from=update.quoted_speaker,
        album_id=update.album_id,
        details=details | build_mention_details(update, bot),
    )


def describe_update_media(media: Media | None) -> str:
    """Describe a file that comes without text."""
    return "" if media is None else describe_media(media.kind, media.duration_s)


def is_addressed_to_bot(update: MessageUpdate, bot: BotIdentity) -> bool:
    """Tell whether a message is addressed to the companion."""
    if update.chat.kind not in GROUP_KINDS:
        return True
    if update.forwarded_from:
        return False
    is_mentioned = update.replied_user_id == bot.id or bot.username in update.mentions
    return is_mentioned or is_own_command(update.text) or is_called_by_name(update.text, bot.name)


def build_mention_details(update: MessageUpdate, bot: BotIdentity) -> dict[str, str]:
    """Return the mention by which a text addresses the bot; it is no part of what is said."""
    if update.chat.kind not in GROUP_KINDS or not bot.username:
        return {}
    found = compile_mention(bot.username).search(update.text)
    return {} if found is None else {ADDRESS_DETAIL: found[0]}


def compile_mention(username: str) -> re.Pattern[str]:
    """Return the pattern that finds a mention of a username."""
    return re.compile(rf"@{re.escape(username)}(?![A-Za-z0-9_])", re.IGNORECASE)


def to_chat_ref(telegram_chat: TelegramChat) -> ChatRef:
    """Convert a Telegram chat."""
    address = TelegramAddress(chat_id=telegram_chat.id, topic_id=telegram_chat.topic_id).as_text
    return ChatRef(
        channel=CHANNEL_NAME,
        address=address,
        title=telegram_chat.title or CHANNEL_NAME,
        is_private=telegram_chat.kind == "private",
    )


def to_sender(user: updates.TelegramUser) -> Sender:
    """Convert a Telegram user; of the language tag only the language is kept."""
    language = user.language.partition("-")[0].lower() or None
    return Sender(address=str(user.id), name=user.name, language=language)

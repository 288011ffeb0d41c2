"""Event mapping: turns what Discord tells into channel events.

An address is the number of a channel: each channel of a server is a group of its own, since not
everybody on the server can read all of them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.channels.channel import (
    ButtonPress,
    ChannelEvent,
    ChatRef,
    IncomingMessage,
    MessageDeletion,
    Reaction,
    Sender,
)
from oldfriend.channels.discord.discord_api import get_id, get_name
from oldfriend.channels.json_fields import (
    JsonFields,
    find_fields,
    find_int,
    find_json_object,
    find_text,
    get_json_object,
    list_json_objects,
)
from oldfriend.channels.message_details import (
    MediaKind,
    build_media_details,
    describe_media,
    is_called_by_name,
)
from oldfriend.domain.buttons import MAX_COMMAND_BYTES
from oldfriend.domain.clock import Micros, system_clock
from oldfriend.domain.messages import ADDRESS_DETAIL

CHANNEL_NAME: Final = "discord"
MESSAGE_KINDS: Final = frozenset({0, 19, 20, 23})
"""Messages that people write: plain, replies, commands. Joins, pins and the like are none."""
COMPONENT_INTERACTION: Final = 3
FORWARD: Final = 1
VOICE_FLAG: Final = 1 << 13
MAX_QUOTE_CHARS: Final = 2_000
EPOCH_MS: Final = 1_420_070_400_000
"""Discord counts time from 2015."""
MENTION: Final = re.compile(r"<@!?(\d{1,20})>", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordChat:
    """A channel of Discord's, and the bot in it."""

    channel_id: str
    title: str
    is_private: bool
    bot: JsonFields

    @property
    def chat_ref(self) -> ChatRef:
        """Return the chat."""
        return ChatRef(
            channel=CHANNEL_NAME,
            address=self.channel_id,
            title=self.title or CHANNEL_NAME,
            is_private=self.is_private,
        )


def build_external_id(channel_id: str, message_id: str) -> str:
    """Return the external id of a message, the person's or ours."""
    return f"message:{channel_id}:{message_id}"


def to_message(
    raw: JsonFields, chat: DiscordChat, *, is_edit: bool = False
) -> IncomingMessage | None:
    """Convert a message; None if no person wrote it, or it says nothing. Raises ValueError."""
    author = get_json_object(raw, "author")
    message_id = get_id(raw)
    if author.get("bot") is True or "webhook_id" in raw or raw.get("type", 0) not in MESSAGE_KINDS:
        return None
    snapshot = find_snapshot(raw)
    said = raw if snapshot is None else snapshot
    replied = find_json_object(raw, "referenced_message")
    media, media_details = find_media(said, chat.channel_id, message_id)
    text, details = name_mentions(said, chat)
    if not text and not media:
        return None
    if snapshot is not None:
        details["forwarded_from"] = "somebody"
    return IncomingMessage(
        chat_ref=chat.chat_ref,
        sender=to_sender(author),
        external_id=build_external_id(chat.channel_id, message_id),
        number=None,
        at=get_time(message_id),
        text=text or media,
        is_edit=is_edit,
        is_own_words=snapshot is None,
        is_readable=bool(text),
        is_addressed=chat.is_private or is_addressed(raw, replied, text, chat.bot),
        replies_to=None if replied is None else build_external_id(chat.channel_id, get_id(replied)),
        quoted_text="" if replied is None else find_text(replied, "content")[:MAX_QUOTE_CHARS],
        quoted_from="" if replied is None else get_name(get_json_object(replied, "author")),
        details=media_details | details,
    )


def to_events(name: str, raw: JsonFields, chat: DiscordChat) -> Sequence[ChannelEvent]:
    """Convert any other event of Discord's. Raises ValueError."""
    event: ChannelEvent | None = None
    match name:
        case "MESSAGE_DELETE":
            event = to_deletion(raw, chat)
        case "MESSAGE_UPDATE" if raw.get("edited_timestamp"):
            event = to_message(raw, chat, is_edit=True)
        case "MESSAGE_REACTION_ADD":
            event = to_reaction(raw, chat, at=system_clock())
        case "INTERACTION_CREATE":
            event = to_press(raw, chat)
    return [] if event is None else [event]


def find_snapshot(raw: JsonFields) -> JsonFields | None:
    """Return the message that this one forwards."""
    reference = find_json_object(raw, "message_reference")
    if reference is None or reference.get("type") != FORWARD:
        return None
    snapshots = list_json_objects(raw, "message_snapshots")
    return find_json_object(snapshots[0], "message") if snapshots else None


def is_addressed(raw: JsonFields, replied: JsonFields | None, text: str, bot: JsonFields) -> bool:
    """Tell whether a message of a server is for the bot: it mentions it or replies to it."""
    if find_snapshot(raw) is not None:
        return False
    if any(each.get("id") == bot["id"] for each in list_json_objects(raw, "mentions")):
        return True
    if replied is not None and get_json_object(replied, "author").get("id") == bot["id"]:
        return True
    return is_called_by_name(text, get_name(bot))


def name_mentions(raw: JsonFields, chat: DiscordChat) -> tuple[str, dict[str, str]]:
    """Return the text with names for numbers, and the mention by which it addresses the bot.

    A command after the mention stands alone.
    """
    names = {find_text(each, "id"): get_name(each) for each in list_json_objects(raw, "mentions")}
    bot_id, bot_name = find_text(chat.bot, "id"), get_name(chat.bot)
    names[bot_id] = bot_name
    content = find_text(raw, "content")
    text = MENTION.sub(lambda found: f"@{names.get(found[1]) or found[1]}", content)
    if chat.is_private or not any(found[1] == bot_id for found in MENTION.finditer(content)):
        return text.strip(), {}
    mention = f"@{bot_name}"
    rest = text.strip().removeprefix(mention).lstrip()
    return (rest, {}) if rest.startswith("/") else (text.strip(), {ADDRESS_DETAIL: mention})


def find_media(raw: JsonFields, channel_id: str, message_id: str) -> tuple[str, dict[str, str]]:
    """Return what a file is called in words, and its details; empty if there is none."""
    files = list_json_objects(raw, "attachments")
    if not files:
        return "", {}
    file = files[0]
    mime = find_text(file, "content_type").partition(";")[0]
    kind = to_media_kind(mime, is_voice=bool((find_int(raw, "flags") or 0) & VOICE_FLAG))
    seconds = file.get("duration_secs")
    duration = round(seconds) if isinstance(seconds, int | float) and 0 <= seconds < 1e6 else None
    details = build_media_details(
        kind,
        file_id=f"{channel_id}/{message_id}/{get_id(file)}",
        mime=mime,
        size=find_int(file, "size"),
        has_words=bool(find_text(raw, "content")),
    )
    return describe_media(kind, duration), details


def to_media_kind(mime: str, *, is_voice: bool) -> MediaKind:
    """Return what kind of file it is."""
    if is_voice:
        return "voice"
    match mime.partition("/")[0]:
        case "audio":
            return "audio"
        case "image":
            return "photo"
        case "video":
            return "video"
    return "document"


def to_deletion(raw: JsonFields, chat: DiscordChat) -> MessageDeletion:
    """Convert the deletion of a message. Raises ValueError.

    Discord does not say whose doing it was. Many at once are a moderator's, and are not asked for.
    """
    external_id = build_external_id(chat.channel_id, get_id(raw))
    return MessageDeletion(chat_ref=chat.chat_ref, external_id=external_id)


def to_reaction(raw: JsonFields, chat: DiscordChat, *, at: Micros) -> Reaction | None:
    """Convert a reaction; None if it is the bot's own. Raises ValueError."""
    user, message_id = get_id(raw, "user_id"), get_id(raw, "message_id")
    member = find_fields(raw, "member")
    person = find_json_object(member, "user") or {"id": user}
    if user == chat.bot["id"] or person.get("bot") is True:
        return None
    emoji = find_text(get_json_object(raw, "emoji"), "name")
    target = build_external_id(chat.channel_id, message_id)
    return Reaction(
        chat_ref=chat.chat_ref,
        sender=Sender(address=user, name=get_name(person)),
        external_id=f"reaction:{target}:{user}:{emoji}",
        target_external_id=target,
        at=at,
        emoji=emoji,
    )


def to_press(raw: JsonFields, chat: DiscordChat) -> ButtonPress | None:
    """Convert a press of a button; None if it is another interaction. Raises ValueError."""
    command = find_text(find_fields(raw, "data"), "custom_id")
    if raw.get("type") != COMPONENT_INTERACTION or not command.startswith("/"):
        return None
    member = find_fields(raw, "member")
    user = find_json_object(raw, "user") or get_json_object(member, "user")
    message_id = get_id(get_json_object(raw, "message"))
    return ButtonPress(
        chat_ref=chat.chat_ref,
        sender=to_sender(user),
        target_external_id=build_external_id(chat.channel_id, message_id),
        command=command[:MAX_COMMAND_BYTES],
    )


def to_sender(user: JsonFields) -> Sender:
    """Convert a user. Raises ValueError."""
    return Sender(address=get_id(user), name=get_name(user))


def build_id(at: Micros) -> int:
    """Return the least id of what is made at a time."""
    return (at // 1_000 - EPOCH_MS) << 22


def get_time(snowflake: str) -> Micros:
    """Return when something was made, which its id tells."""
    return ((int(snowflake) >> 22) + EPOCH_MS) * 1_000

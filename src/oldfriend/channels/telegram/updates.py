"""Telegram updates: parse the Bot API's JSON into values.

Each update is parsed on its own: one that cannot be parsed does not affect the others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from oldfriend.channels.json_fields import (
    JsonFields,
    find_int,
    find_json_object,
    find_text,
    get_int,
    get_json_object,
    get_text,
    get_time,
    list_json_objects,
)
from oldfriend.channels.message_details import MediaKind
from oldfriend.domain.clock import Micros
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import MAX_TEXT_CHARS, format_quote

FOREIGN_FIELDS: Final = ("via_bot", "sender_business_bot", "story", "is_automatic_forward")
"""Besides "forward_*", the fields of messages that hold somebody else's words."""
QUOTE_ENTITIES: Final = frozenset({"blockquote", "expandable_blockquote"})

ChatKind = Literal["private", "group", "supergroup", "channel"]

MEDIA_KINDS: Final[tuple[MediaKind, ...]] = (
    "voice",
    "audio",
    "video_note",
    "photo",
    "video",
    "animation",
    "document",
    "sticker",
)
"""In order of precedence: an animation comes as a document as well."""
CHAT_KINDS: Final[tuple[ChatKind, ...]] = ("private", "group", "supergroup", "channel")
MAX_QUOTE_CHARS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramUser:
    """A user, or a chat that acts in its own name."""

    id: int
    name: str
    username: str = ""
    language: str = ""
    is_bot: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramChat:
    """A chat, and the topic in it if it has topics."""

    id: int
    kind: ChatKind
    title: str
    topic_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """A file that came with a message."""

    kind: MediaKind
    file_id: str  # to download it by
    mime: str = ""
    name: str = ""
    size: int | None = None  # bytes
    duration_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageUpdate:
    """A message, new or edited."""

    update_id: int
    chat: TelegramChat
    sender: TelegramUser
    message_id: int  # unique in its chat
    at: Micros
    text: str  # the text or caption; a description of other content
    is_edited: bool = False
    album_id: str = ""  # shared by messages that were sent together
    forwarded_from: str = ""  # the author, if not the sender
    is_contact_card: bool = False  # a contact, which is not the sender's own words either
    reply_to_message_id: int | None = None
    replied_user_id: int | None = None  # the author of the message it replies to
    quoted_text: str = ""  # from the message it replies to
    quoted_speaker: str = ""
    mentions: tuple[str, ...] = ()  # in lower case, without "@"
    media: Media | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackUpdate:
    """A press of a button below a message; Telegram waits for an acknowledgement."""

    update_id: int
    query_id: str
    sender: TelegramUser
    chat: TelegramChat | None
    data: str
    message_id: int = 0  # of the message with the button


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionUpdate:
    """A reaction to a message; empty: it was removed."""

    update_id: int
    chat: TelegramChat
    sender: TelegramUser
    message_id: int
    at: Micros
    emoji: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BotMembershipUpdate:
    """The bot was added, removed or blocked."""

    update_id: int
    chat: TelegramChat
    sender: TelegramUser
    is_member: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersUpdate:
    """People joined a group, or one left it."""

    update_id: int
    chat: TelegramChat
    members: tuple[TelegramUser, ...]
    has_joined: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationUpdate:
    """A group became a supergroup, with another id."""

    update_id: int
    old_chat_id: int
    new_chat_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredUpdate:
    """An update that does not concern us."""

    update_id: int
    description: str


ParsedUpdate: TypeAlias = (
    MessageUpdate
    | CallbackUpdate
    | ReactionUpdate
    | BotMembershipUpdate
    | MembersUpdate
    | MigrationUpdate
    | IgnoredUpdate
)


class MalformedUpdate(ValueError):
    """An update that does not follow the API; ``update_id`` is its id, if it has one."""

    def __init__(self, reason: str, update_id: int | None) -> None:
        """Take the reason and the update's id."""
        super().__init__(reason)
        self.update_id = update_id


def parse_update(value: JsonValue) -> ParsedUpdate:
    """Parse one update. Raises MalformedUpdate."""
    match value:
        case dict() as fields if (update_id := find_int(fields, "update_id")) is not None:
            try:
                return parse_known_update(update_id, fields)
            except (TypeError, ValueError, OverflowError) as error:
                reason = f"{type(error).__name__}: {error}"[:MAX_QUOTE_CHARS]
                raise MalformedUpdate(reason, update_id) from error
        case _:
            raise MalformedUpdate("It has no update_id.", None)


def parse_known_update(update_id: int, raw: JsonFields) -> ParsedUpdate:
    """Parse an update whose id is known. Raises ValueError."""
    for name in ("message", "edited_message", "channel_post", "edited_channel_post"):
        if name in raw:
            return parse_message(
                update_id, get_json_object(raw, name), is_edited=name.startswith("edited")
            )
    if "callback_query" in raw:
        return parse_callback(update_id, get_json_object(raw, "callback_query"))
    if "message_reaction" in raw:
        return parse_reaction(update_id, get_json_object(raw, "message_reaction"))
    if "my_chat_member" in raw:
        return parse_bot_membership(update_id, get_json_object(raw, "my_chat_member"))
    return IgnoredUpdate(update_id=update_id, description=next(iter(raw), "nothing"))


def parse_message(update_id: int, raw: JsonFields, *, is_edited: bool) -> ParsedUpdate:
    """Parse a message, or a service message of Telegram."""
    chat = parse_chat(raw)
    if "migrate_to_chat_id" in raw:
        return MigrationUpdate(
            update_id=update_id,
            old_chat_id=chat.id,
            new_chat_id=get_int(raw, "migrate_to_chat_id"),
        )
    if (members_update := find_members_update(update_id, chat, raw)) is not None:
        return members_update
    text, is_card = format_content(raw)
    media = find_media(raw)
    if not text and media is None:
        return IgnoredUpdate(
            update_id=update_id, description=" ".join(sorted(raw))[:MAX_QUOTE_CHARS]
        )
    replied = find_replied_message(raw)
    date_field = "edit_date" if is_edited and "edit_date" in raw else "date"
    return MessageUpdate(
        update_id=update_id,
        chat=chat,
        sender=parse_sender(raw),
        message_id=get_int(raw, "message_id"),
        at=get_time(raw, date_field),
        text=mark_quotes(raw, text)[:MAX_TEXT_CHARS],
        is_edited=is_edited,
        album_id=find_text(raw, "media_group_id"),
        forwarded_from=find_origin(raw),
        is_contact_card=is_card,
        reply_to_message_id=None if replied is None else get_int(replied, "message_id"),
        replied_user_id=None if replied is None else parse_sender(replied).id,
        quoted_text=find_quoted_text(raw, replied),
        quoted_speaker=find_quoted_speaker(raw, replied),
        mentions=tuple(list_mentions(raw, text)),
        media=media,
    )


def find_members_update(
    update_id: int, telegram_chat: TelegramChat, raw: JsonFields
) -> MembersUpdate | None:
    """Return who joined or left, if the message tells."""
    if joined := list_json_objects(raw, "new_chat_members"):
        members = tuple(map(parse_user, joined))
        return MembersUpdate(
            update_id=update_id, chat=telegram_chat, members=members, has_joined=True
        )
    if (left := find_json_object(raw, "left_chat_member")) is not None:
        return MembersUpdate(
            update_id=update_id, chat=telegram_chat, members=(parse_user(left),), has_joined=False
        )
    return None


def find_replied_message(raw: JsonFields) -> JsonFields | None:
    """Return the message replied to, unless it only opens the topic."""
    replied = find_json_object(raw, "reply_to_message")
    return None if replied is None or "forum_topic_created" in replied else replied


def format_content(raw: JsonFields) -> tuple[str, bool]:
    """Return a message's content as text, and whether it is a contact card."""
    text = find_text(raw, "text") or find_text(raw, "caption")
    if text:
        return text[:MAX_TEXT_CHARS], False
    if (contact := find_json_object(raw, "contact")) is not None:
        names = (find_text(contact, name) for name in ("first_name", "last_name", "phone_number"))
        return f"[contact] {' '.join(filter(None, names))}", True
    if (venue := find_json_object(raw, "venue")) is not None:
        return f"[location] {find_text(venue, 'title')}, {find_text(venue, 'address')}", False
    if (location := find_json_object(raw, "location")) is not None:
        return f"[location] {location.get('latitude')}, {location.get('longitude')}", False
    if (sticker := find_json_object(raw, "sticker")) is not None:
        return f"{find_text(sticker, 'emoji')} [sticker]".strip(), False
    if (poll := find_json_object(raw, "poll")) is not None:
        options = [find_text(each, "text") for each in list_json_objects(poll, "options")]
        return "\n".join(["[poll] " + find_text(poll, "question"), *options]), False
    if (dice := find_json_object(raw, "dice")) is not None:
        return f"{find_text(dice, 'emoji')} {get_int(dice, 'value')}", False
    return "", False


def find_media(raw: JsonFields) -> Media | None:
    """Return the file of a message; the largest size of a photo."""
    for kind in MEDIA_KINDS:
        found = list_json_objects(raw, kind) if kind == "photo" else [find_json_object(raw, kind)]
        if found and found[-1] is not None:
            file = found[-1]
            return Media(
                kind=kind,
                file_id=find_text(file, "file_id"),
                mime=find_text(file, "mime_type"),
                name=find_text(file, "file_name"),
                size=find_int(file, "file_size"),
                duration_s=find_int(file, "duration"),
            )
    return None


def find_quoted_text(raw: JsonFields, replied: JsonFields | None) -> str:
    """Return the text that a reply quotes: the selected part, or all of it."""
    if (quote := find_json_object(raw, "quote")) is not None:
        return find_text(quote, "text")[:MAX_QUOTE_CHARS]
    return "" if replied is None else format_content(replied)[0][:MAX_QUOTE_CHARS]


def find_quoted_speaker(raw: JsonFields, replied: JsonFields | None) -> str:
    """Return the author of the quoted text, also if it is from another chat."""
    if replied is not None:
        return parse_sender(replied).name
    elsewhere = find_json_object(raw, "external_reply")
    origin = None if elsewhere is None else find_json_object(elsewhere, "origin")
    return "" if origin is None else parse_origin(origin)


def list_mentions(raw: JsonFields, text: str) -> Iterator[str]:
    """Yield the mentioned usernames; offsets count UTF-16 code units."""
    units = text.encode("utf-16-le", "surrogatepass")
    for name in ("entities", "caption_entities"):
        for entity in list_json_objects(raw, name):
            start, length = 2 * get_int(entity, "offset"), 2 * get_int(entity, "length")
            words = units[start : start + length].decode("utf-16-le", "replace").lower()
            if find_text(entity, "type") == "mention":
                yield words.removeprefix("@")
            elif find_text(entity, "type") == "bot_command" and "@" in words:
                yield words.partition("@")[2]


def parse_callback(update_id: int, raw: JsonFields) -> CallbackUpdate:
    """Parse a button press."""
    message = find_json_object(raw, "message")
    return CallbackUpdate(
        update_id=update_id,
        query_id=get_text(raw, "id"),
        sender=parse_sender(raw),
        chat=None if message is None else parse_chat(message),
        data=find_text(raw, "data"),
        message_id=0 if message is None else get_int(message, "message_id"),
    )


def parse_reaction(update_id: int, raw: JsonFields) -> ParsedUpdate:
    """Parse a reaction; an anonymous one is ignored."""
    if "user" not in raw:
        return IgnoredUpdate(update_id=update_id, description="a reaction of nobody")
    return ReactionUpdate(
        update_id=update_id,
        chat=parse_chat(raw),
        sender=parse_sender(raw, "user"),
        message_id=get_int(raw, "message_id"),
        at=get_time(raw, "date"),
        emoji=tuple(
            find_text(each, "emoji")
            for each in list_json_objects(raw, "new_reaction")
            if find_text(each, "emoji")
        ),
    )


def parse_bot_membership(update_id: int, raw: JsonFields) -> BotMembershipUpdate:
    """Parse whether the bot is in a chat now."""
    status = find_text(get_json_object(raw, "new_chat_member"), "status")
    is_member = status in {"member", "administrator", "creator", "restricted"}
    return BotMembershipUpdate(
        update_id=update_id, chat=parse_chat(raw), sender=parse_sender(raw), is_member=is_member
    )


def parse_chat(raw: JsonFields) -> TelegramChat:
    """Parse the chat of an update. Raises ValueError."""
    chat = get_json_object(raw, "chat")
    kind = next((each for each in CHAT_KINDS if each == chat.get("type")), None)
    if kind is None:
        raise ValueError(f"There is no kind of chat {chat.get('type')!r}.")
    topic = raw.get("message_thread_id") if raw.get("is_topic_message") is True else None
    return TelegramChat(
        id=get_int(chat, "id"),
        kind=kind,
        title=find_text(chat, "title") or find_name(chat),
        topic_id=topic if isinstance(topic, int) else None,
    )


def parse_sender(raw: JsonFields, name: str = "from") -> TelegramUser:
    """Return the sender: a chat acting in its own name, a user, or the chat if nobody is named.

    For a chat that acts in its own name, such as a group with anonymous admins, Telegram names a
    bot of its own as the user.
    """
    sender = find_json_object(raw, "sender_chat") or find_json_object(raw, name)
    return parse_user(sender if sender is not None else get_json_object(raw, "chat"))


def parse_user(raw: JsonFields) -> TelegramUser:
    """Parse a user, or a chat that acts in its own name."""
    return TelegramUser(
        id=get_int(raw, "id"),
        name=find_name(raw),
        username=find_text(raw, "username"),
        language=find_text(raw, "language_code"),
        is_bot=raw.get("is_bot") is True,
    )


def find_origin(raw: JsonFields) -> str:
    """Return whose words a message holds if they are not the sender's own; else "".

    Covers forwards, also in the format before Bot API 7.0, results of inline bots, and messages
    that a bot wrote for a business.
    """
    if (origin := find_json_object(raw, "forward_origin")) is not None:
        return parse_origin(origin)
    if not any(name in FOREIGN_FIELDS or name.startswith("forward_") for name in raw):
        return ""
    for name in ("forward_from", "forward_from_chat", *FOREIGN_FIELDS):
        if (who := find_json_object(raw, name)) is not None and find_name(who):
            return find_name(who)
    names = ("forward_sender_name", "forward_signature")
    return next(filter(None, (find_text(raw, name) for name in names)), "somebody")


def parse_origin(raw: JsonFields) -> str:
    """Return the name of a user or chat of origin."""
    for name in ("sender_user", "sender_chat", "chat"):
        if (who := find_json_object(raw, name)) is not None:
            return find_name(who)
    return find_text(raw, "sender_user_name") or "somebody"


def mark_quotes(raw: JsonFields, text: str) -> str:
    """Mark text formatted as a quotation as in plain text: with "> " before each line."""
    units = text.encode("utf-16-le", "surrogatepass")
    quotes = [
        (2 * max(0, get_int(entity, "offset")), 2 * get_int(entity, "length"))
        for name in ("entities", "caption_entities")
        for entity in list_json_objects(raw, name)
        if find_text(entity, "type") in QUOTE_ENTITIES
    ]
    for start, length in sorted(quotes, reverse=True):
        before, quoted, after = (
            part.decode("utf-16-le", "surrogatepass")
            for part in (units[:start], units[start : start + length], units[start + length :])
        )
        text = format_quote(before, quoted, after)
        units = text.encode("utf-16-le", "surrogatepass")
    return text


def find_name(raw: JsonFields) -> str:
    """Return the name of a user or a chat."""
    names = [find_text(raw, name) for name in ("first_name", "last_name")]
    return " ".join(filter(None, names)) or find_text(raw, "title") or find_text(raw, "username")

"""What has happened on Telegram? An update, as its API gives it, as a value of ours.

Each is read by itself: one that cannot be read harms no other. Knows nobody, and asks nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from oldfriend.channels.telegram.fields import (
    Fields,
    count_in,
    fields_in,
    moment_in,
    needed_in,
    objects_in,
    optional_in,
    text_in,
    whole_in,
)
from oldfriend.domain.clock import Micros
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import MAX_TEXT

ChatKind = Literal["private", "group", "supergroup", "channel"]
MediaKind = Literal[
    "voice", "audio", "video_note", "photo", "video", "animation", "document", "sticker"
]

MEDIA: Final[tuple[MediaKind, ...]] = (
    "voice", "audio", "video_note", "photo", "video", "animation", "document", "sticker",
)  # fmt: skip
"""An animation is a document as well; what stands first is what it is."""
KINDS: Final[tuple[ChatKind, ...]] = ("private", "group", "supergroup", "channel")
LONGEST_QUOTE: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who did something: a user, or a chat that speaks for itself."""

    id: int
    name: str
    username: str = ""
    language: str = ""
    is_bot: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where: a chat, and the topic in it, if it has topics."""

    id: int
    kind: ChatKind
    title: str
    topic: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """A file that came with a message."""

    kind: MediaKind
    file: str  # by which it can be fetched
    mime: str = ""
    name: str = ""
    size: int | None = None  # bytes
    seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message, new or edited."""

    update: int
    place: Place
    sender: Sender
    number: int  # of the message in its chat
    at: Micros
    text: str  # the words, or a caption; what Telegram shows otherwise, in words
    is_edited: bool = False
    album: str = ""  # what was sent in one go bears the same
    forwarded_from: str = ""  # whose words these are, if not the sender's
    is_card: bool = False  # somebody's contact: not the sender's own words either
    reply_to: int | None = None
    answers: int | None = None  # who said what it replies to
    quoted: str = ""  # of the message that it replies to
    quoted_speaker: str = ""
    mentions: tuple[str, ...] = ()  # in lower case, without "@"
    media: Media | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """A button below a message was pressed; Telegram waits for an acknowledgement."""

    update: int
    id: str
    sender: Sender
    place: Place | None
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reacted:
    """Somebody reacted to a message with these emoji; none: they took it back."""

    update: int
    place: Place
    sender: Sender
    number: int
    at: Micros
    emoji: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The bot was let in, or put out, or blocked."""

    update: int
    place: Place
    sender: Sender
    is_in: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Attended:
    """People have come into a group, or one has left it."""

    update: int
    place: Place
    who: tuple[Sender, ...]
    is_in: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """A group has become a supergroup, with another id."""

    update: int
    before: int
    now: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """Something that does not concern us."""

    update: int
    what: str


Happened: TypeAlias = Said | Pressed | Reacted | Membership | Attended | Migrated | Ignored


class Unreadable(ValueError):
    """An update is not what the API promises; ``update`` is its number, where it has one."""

    def __init__(self, why: str, update: int | None) -> None:
        """Say what is wrong with which update."""
        super().__init__(why)
        self.update = update


def read_update(value: JsonValue) -> Happened:
    """What has happened, as one update tells it. Raises Unreadable."""
    match value:
        case dict() as what if (update := count_in(what, "update_id")) is not None:
            try:
                return happened(update, what)
            except (TypeError, ValueError, OverflowError) as error:
                why = f"{type(error).__name__}: {error}"[:LONGEST_QUOTE]
                raise Unreadable(why, update) from error
        case _:
            raise Unreadable("It has no update_id.", None)


def happened(update: int, what: Fields) -> Happened:
    """The same, once its number is known."""
    for name in ("message", "edited_message", "channel_post", "edited_channel_post"):
        if name in what:
            return message_in(update, fields_in(what, name), is_edited=name.startswith("edited"))
    if "callback_query" in what:
        return pressed_in(update, fields_in(what, "callback_query"))
    if "message_reaction" in what:
        return reacted_in(update, fields_in(what, "message_reaction"))
    if "my_chat_member" in what:
        return membership_in(update, fields_in(what, "my_chat_member"))
    return Ignored(update=update, what=next(iter(what), "nothing"))


def message_in(update: int, message: Fields, *, is_edited: bool) -> Happened:
    """A message, or what is told by one of Telegram's own."""
    place = place_in(message)
    if "migrate_to_chat_id" in message:
        return Migrated(update=update, before=place.id, now=whole_in(message, "migrate_to_chat_id"))
    if (attended := attended_in(update, place, message)) is not None:
        return attended
    text, is_card = words_in(message)
    media = media_in(message)
    if not text and media is None:
        return Ignored(update=update, what=" ".join(sorted(message))[:LONGEST_QUOTE])
    answered = answered_in(message)
    dated = "edit_date" if is_edited and "edit_date" in message else "date"
    return Said(
        update=update, place=place, sender=sender_in(message),
        number=whole_in(message, "message_id"),
        at=moment_in(message, dated),
        text=text, is_edited=is_edited, album=text_in(message, "media_group_id"),
        forwarded_from=origin_in(message), is_card=is_card,
        reply_to=None if answered is None else whole_in(answered, "message_id"),
        answers=None if answered is None else sender_in(answered).id,
        quoted=quoted_in(message, answered),
        quoted_speaker=quoted_speaker_in(message, answered),
        mentions=tuple(mentions_in(message, text)), media=media,
    )  # fmt: skip


def attended_in(update: int, place: Place, message: Fields) -> Attended | None:
    """Who has come or gone, where Telegram tells of that."""
    if came := objects_in(message, "new_chat_members"):
        who = tuple(map(user_in, came))
        return Attended(update=update, place=place, who=who, is_in=True)
    if (left := optional_in(message, "left_chat_member")) is not None:
        return Attended(update=update, place=place, who=(user_in(left),), is_in=False)
    return None


def answered_in(message: Fields) -> Fields | None:
    """The message to which this is a reply; not the one that only opens its topic."""
    answered = optional_in(message, "reply_to_message")
    return None if answered is None or "forum_topic_created" in answered else answered


def words_in(message: Fields) -> tuple[str, bool]:
    """What a message says, and whether that is somebody's card."""
    text = text_in(message, "text") or text_in(message, "caption")
    if text:
        return text[:MAX_TEXT], False
    if (contact := optional_in(message, "contact")) is not None:
        names = (text_in(contact, name) for name in ("first_name", "last_name", "phone_number"))
        return f"[contact] {' '.join(filter(None, names))}", True
    if (venue := optional_in(message, "venue")) is not None:
        return f"[location] {text_in(venue, 'title')}, {text_in(venue, 'address')}", False
    if (location := optional_in(message, "location")) is not None:
        return f"[location] {location.get('latitude')}, {location.get('longitude')}", False
    if (sticker := optional_in(message, "sticker")) is not None:
        return f"{text_in(sticker, 'emoji')} [sticker]".strip(), False
    if (poll := optional_in(message, "poll")) is not None:
        options = [text_in(each, "text") for each in objects_in(poll, "options")]
        return "\n".join(["[poll] " + text_in(poll, "question"), *options]), False
    if (dice := optional_in(message, "dice")) is not None:
        return f"{text_in(dice, 'emoji')} {whole_in(dice, 'value')}", False
    return "", False


def media_in(message: Fields) -> Media | None:
    """The file that came with a message; of a photo the largest size."""
    for kind in MEDIA:
        found = objects_in(message, kind) if kind == "photo" else [optional_in(message, kind)]
        if found and found[-1] is not None:
            file = found[-1]
            return Media(
                kind=kind, file=text_in(file, "file_id"), mime=text_in(file, "mime_type"),
                name=text_in(file, "file_name"), size=count_in(file, "file_size"),
                seconds=count_in(file, "duration"),
            )  # fmt: skip
    return None


def origin_in(message: Fields) -> str:
    """Who said first what is forwarded; empty where nothing is."""
    origin = optional_in(message, "forward_origin")
    return "" if origin is None else origin_of(origin)


def origin_of(origin: Fields) -> str:
    """Who or what words come from."""
    for name in ("sender_user", "sender_chat", "chat"):
        if (who := optional_in(origin, name)) is not None:
            return name_of(who)
    return text_in(origin, "sender_user_name") or "somebody"


def quoted_in(message: Fields, answered: Fields | None) -> str:
    """The words that a reply is about: those that were picked, or all of them."""
    if (quote := optional_in(message, "quote")) is not None:
        return text_in(quote, "text")[:LONGEST_QUOTE]
    return "" if answered is None else words_in(answered)[0][:LONGEST_QUOTE]


def quoted_speaker_in(message: Fields, answered: Fields | None) -> str:
    """Who said what a reply is about; also where that was in another chat."""
    if answered is not None:
        return sender_in(answered).name
    elsewhere = optional_in(message, "external_reply")
    origin = None if elsewhere is None else optional_in(elsewhere, "origin")
    return "" if origin is None else origin_of(origin)


def mentions_in(message: Fields, text: str) -> Iterator[str]:
    """The names that are mentioned; places count in UTF-16 units."""
    units = text.encode("utf-16-le", "surrogatepass")
    for name in ("entities", "caption_entities"):
        for entity in objects_in(message, name):
            start, length = 2 * whole_in(entity, "offset"), 2 * whole_in(entity, "length")
            words = units[start : start + length].decode("utf-16-le", "replace").lower()
            if text_in(entity, "type") == "mention":
                yield words.removeprefix("@")
            elif text_in(entity, "type") == "bot_command" and "@" in words:
                yield words.partition("@")[2]


def pressed_in(update: int, query: Fields) -> Pressed:
    """A button that was pressed."""
    below = optional_in(query, "message")
    return Pressed(
        update=update, id=needed_in(query, "id"), sender=sender_in(query),
        place=None if below is None else place_in(below), data=text_in(query, "data"),
    )  # fmt: skip


def reacted_in(update: int, reaction: Fields) -> Happened:
    """A reaction to a message; somebody who cannot be known has none for us."""
    if "user" not in reaction:
        return Ignored(update=update, what="a reaction of nobody")
    return Reacted(
        update=update, place=place_in(reaction), sender=sender_in(reaction, "user"),
        number=whole_in(reaction, "message_id"), at=moment_in(reaction, "date"),
        emoji=tuple(
            text_in(each, "emoji")
            for each in objects_in(reaction, "new_reaction")
            if text_in(each, "emoji")
        ),
    )  # fmt: skip


def membership_in(update: int, change: Fields) -> Membership:
    """Whether the bot is in a chat now."""
    status = text_in(fields_in(change, "new_chat_member"), "status")
    is_in = status in {"member", "administrator", "creator", "restricted"}
    return Membership(
        update=update, place=place_in(change), sender=sender_in(change), is_in=is_in
    )  # fmt: skip


def place_in(message: Fields) -> Place:
    """Where a message stands."""
    chat = fields_in(message, "chat")
    kind = next((each for each in KINDS if each == chat.get("type")), None)
    if kind is None:
        raise ValueError(f"There is no kind of chat {chat.get('type')!r}.")
    topic = message.get("message_thread_id") if message.get("is_topic_message") is True else None
    return Place(
        id=whole_in(chat, "id"), kind=kind, title=text_in(chat, "title") or name_of(chat),
        topic=topic if isinstance(topic, int) else None,
    )  # fmt: skip


def sender_in(message: Fields, name: str = "from") -> Sender:
    """Who did it: a chat that speaks for itself, a user, or the chat where nobody is named.

    Beside a chat that speaks, such as a group for its hidden admins, Telegram names a bot of its
    own as the user.
    """
    who = optional_in(message, "sender_chat") or optional_in(message, name)
    return user_in(who if who is not None else fields_in(message, "chat"))


def user_in(who: Fields) -> Sender:
    """A user, or a chat that speaks for itself."""
    return Sender(
        id=whole_in(who, "id"), name=name_of(who), username=text_in(who, "username"),
        language=text_in(who, "language_code"), is_bot=who.get("is_bot") is True,
    )  # fmt: skip


def name_of(who: Fields) -> str:
    """What a user or a chat is called."""
    names = [text_in(who, name) for name in ("first_name", "last_name")]
    return " ".join(filter(None, names)) or text_in(who, "title") or text_in(who, "username")

"""Event mapping: turns what Slack tells into channel events.

What people write comes in Slack's markup language, in which people, channels and links are named
in angle brackets; it is turned back into what they see.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from oldfriend.channels.channel import (
    ButtonPress,
    ChannelEvent,
    ChatAvailability,
    ChatMoved,
    ChatRef,
    IncomingMessage,
    MembershipChange,
    MessageDeletion,
    Reaction,
    Sender,
    UnreadableUpdate,
)
from oldfriend.channels.json_fields import (
    JsonFields,
    find_fields,
    find_int,
    find_text,
    get_json_object,
    get_text,
    list_json_objects,
)
from oldfriend.channels.message_details import (
    COMMANDS,
    MediaKind,
    build_media_details,
    describe_media,
    is_called_by_name,
    is_own_command,
)
from oldfriend.channels.slack.web_api import SlackApi, SlackIdentity
from oldfriend.domain.buttons import MAX_COMMAND_BYTES
from oldfriend.domain.clock import SECOND, Micros, is_representable
from oldfriend.domain.messages import ADDRESS_DETAIL, MAX_TEXT_CHARS

CHANNEL_NAME: Final = "slack"
SAID_SUBTYPES: Final = frozenset({"", "file_share", "me_message", "thread_broadcast"})
"""Subtypes of messages that a person wrote; all others tell what has happened."""
TIMESTAMP: Final = re.compile(r"(\d{1,11})\.(\d{6})", re.ASCII)
ANGLE_BRACKETS: Final = re.compile(r"<([^<>\n]{1,3000})>")
MAX_LOOKUPS: Final = 20
"""Of people named in one message, whose names are looked up."""
MAX_QUOTE_CHARS: Final = 1_000
SKIN_TONE: Final = "::"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackAddress:
    """A conversation, or a thread in it."""

    channel: str
    thread: str | None = None

    @property
    def as_text(self) -> str:
        """Return the address as it is stored."""
        return self.channel if self.thread is None else f"{self.channel}/{self.thread}"


def parse_address(address: str) -> SlackAddress:
    """Parse a stored address."""
    channel, _, thread = address.partition("/")
    return SlackAddress(channel=channel, thread=thread or None)


def build_external_id(channel: str, timestamp: str) -> str:
    """Return the external id of a message, the person's or ours."""
    return f"message:{channel}:{timestamp}"


def parse_external_id(external_id: str) -> str:
    """Return the timestamp of a message, which is its id within its conversation."""
    return external_id.rpartition(":")[2]


def parse_timestamp(text: str) -> Micros:
    """Return the time that a message's id tells. Raises ValueError."""
    found = TIMESTAMP.fullmatch(text)
    at = 0 if found is None else SECOND * int(found[1]) + int(found[2])
    if found is None or not is_representable(at):
        raise ValueError("A timestamp is none.")
    return at


def format_timestamp(at_s: float) -> str:
    """Format a time as Slack does."""
    return f"{at_s:.6f}"


def is_private(channel: str) -> bool:
    """Tell whether a conversation is between a person and the bot alone."""
    return channel.startswith("D")


class EventMapper:
    """Turns events into those of a channel; looks up names as it needs them."""

    def __init__(self, api: SlackApi, bot: SlackIdentity) -> None:
        """Take what knows the names, and who the bot is."""
        self._api = api
        self._bot = bot

    async def map_event(self, event: JsonFields) -> ChannelEvent | None:
        """Convert an event; None: it does not concern us. Raises SlackUnreachable."""
        try:
            match event.get("type"):
                case "message" | "app_mention":
                    return await self._map_message(event)
                case "reaction_added" | "reaction_removed" as kind:
                    return await self._map_reaction(event, is_added=kind == "reaction_added")
                case "member_joined_channel" | "member_left_channel" as kind:
                    return await self._map_member(event, has_joined=kind.startswith("member_j"))
                case "channel_left" | "group_left":
                    chat_ref = await self._get_chat_ref(get_text(event, "channel"))
                    return ChatAvailability(chat_ref=chat_ref, is_available=False)
                case "channel_id_changed":
                    return ChatMoved(
                        channel=CHANNEL_NAME,
                        old_address=get_text(event, "old_channel_id"),
                        new_address=get_text(event, "new_channel_id"),
                    )
        except ValueError as error:
            reason = f"{type(error).__name__}: {error}"[:MAX_QUOTE_CHARS]
            return UnreadableUpdate(channel=CHANNEL_NAME, update_id=None, reason=reason)
        return None

    async def map_press(self, payload: JsonFields) -> ButtonPress | None:
        """Convert a press of a button. Raises SlackUnreachable."""
        actions = list_json_objects(payload, "actions")
        container = find_fields(payload, "container")
        channel, at = find_text(container, "channel_id"), find_text(container, "message_ts")
        user_id = find_text(find_fields(payload, "user"), "id")
        command = find_text(actions[0], "value") if actions else ""
        if not (channel and at and user_id and command.startswith("/")):
            return None
        message = find_fields(payload, "message")
        return ButtonPress(
            chat_ref=await self._get_chat_ref(channel, find_thread(message, at)),
            sender=await self._get_sender(user_id),
            target_external_id=build_external_id(channel, at),
            command=command[:MAX_COMMAND_BYTES],
        )

    async def map_slash_command(self, payload: JsonFields) -> IncomingMessage | None:
        """Convert what somebody wrote after our slash command. Raises SlackUnreachable."""
        channel, user_id = find_text(payload, "channel_id"), find_text(payload, "user_id")
        trigger = find_text(payload, "trigger_id")
        if not (channel and user_id and trigger):
            return None
        if is_private(channel):  # perhaps of two people
            channel = await self._api.find_direct(user_id, channel)
            if not channel:
                return None
        text = find_text(payload, "text").strip()
        first = text.split(maxsplit=1)[:1]
        is_command = not text or f"/{first[0].lower()}" in COMMANDS
        return IncomingMessage(
            chat_ref=await self._get_chat_ref(channel),
            sender=await self._get_sender(user_id),
            external_id=f"command:{trigger}",
            number=None,
            at=round(time.time() * SECOND),  # Slack does not say when
            text=(f"/{text or 'help'}" if is_command else text)[:MAX_TEXT_CHARS],
        )

    async def _map_message(self, event: JsonFields) -> ChannelEvent | None:
        channel, subtype = get_text(event, "channel"), find_text(event, "subtype")
        if subtype == "message_deleted":
            before = find_fields(event, "previous_message")
            return await self._map_deletion(channel, get_text(event, "deleted_ts"), before)
        if subtype == "message_changed":
            message = get_json_object(event, "message")
            if find_text(message, "subtype") == "tombstone":  # deleted, but it has a thread
                before = find_fields(event, "previous_message")
                return await self._map_deletion(channel, get_text(message, "ts"), before)
            return await self._map_said(channel, message, is_edit=True)
        return await self._map_said(channel, event, is_edit=False)

    async def _map_deletion(
        self, channel: str, timestamp: str, before: JsonFields
    ) -> MessageDeletion | None:
        if self._is_foreign(before) and before:
            return None
        self._api.forget_parent(channel, timestamp)
        return MessageDeletion(
            chat_ref=await self._get_chat_ref(channel, find_thread(before, timestamp)),
            external_id=build_external_id(channel, timestamp),
        )

    def _is_foreign(self, raw_message: JsonFields) -> bool:
        """Tell whether no person wrote a message: the bot itself, another one, or Slack."""
        user_id = find_text(raw_message, "user")
        return (
            not user_id
            or user_id in {self._bot.user_id, "USLACKBOT"}
            or bool(find_text(raw_message, "bot_id"))
            or find_text(raw_message, "subtype") not in SAID_SUBTYPES
        )

    async def _map_said(
        self, channel: str, raw_message: JsonFields, *, is_edit: bool
    ) -> IncomingMessage | None:
        if self._is_foreign(raw_message):
            return None
        timestamp = get_text(raw_message, "ts")
        at = parse_timestamp(timestamp)
        if is_edit:
            edited = find_fields(raw_message, "edited")
            at = parse_timestamp(find_text(edited, "ts") or timestamp)
            self._api.forget_parent(channel, timestamp)
        thread = find_thread(raw_message, timestamp)
        parent = {} if thread is None else await self._api.find_parent(channel, thread)
        shared = find_shared_message(raw_message)
        text, mention = self._split_mention(await self._decode(find_text(raw_message, "text")))
        shared_text = await self._decode(find_text(shared, "text"))
        quoted = shared if text and shared_text else parent
        file = next(iter(sorted(list_json_objects(raw_message, "files"), key=get_file_rank)), None)
        is_forwarded = bool(shared_text) and not text
        said = text or shared_text
        details = {"forwarded_from": find_text(shared, "author_name")} if is_forwarded else {}
        details |= build_file_details(file, has_words=bool(said))
        return IncomingMessage(
            chat_ref=await self._get_chat_ref(channel, thread),
            sender=await self._get_sender(get_text(raw_message, "user")),
            external_id=build_external_id(channel, timestamp),
            number=None,
            at=at,
            text=(said or describe_file(file))[:MAX_TEXT_CHARS],
            is_edit=is_edit,
            is_own_words=not is_forwarded,
            is_readable=bool(said),
            is_addressed=is_private(channel)
            or bool(mention)
            or find_text(parent, "user") == self._bot.user_id
            or is_own_command(text)
            or is_called_by_name(text, self._bot.name),
            replies_to=None if thread is None else build_external_id(channel, thread),
            quoted_text=(await self._decode(find_text(quoted, "text")))[:MAX_QUOTE_CHARS],
            quoted_from=await self._get_author(quoted),
            details=details | ({ADDRESS_DETAIL: mention} if mention else {}),
        )

    async def _map_reaction(self, event: JsonFields, *, is_added: bool) -> Reaction | None:
        item = get_json_object(event, "item")
        user_id = get_text(event, "user")
        if find_text(item, "type") != "message" or user_id == self._bot.user_id:
            return None
        channel, at = get_text(item, "channel"), get_text(event, "event_ts")
        name = get_text(event, "reaction").partition(SKIN_TONE)[0]
        return Reaction(
            chat_ref=await self._get_chat_ref(channel),
            sender=await self._get_sender(user_id),
            external_id=f"reaction:{channel}:{at}",
            target_external_id=build_external_id(channel, get_text(item, "ts")),
            at=parse_timestamp(at),
            emoji=f":{name}:" if is_added else "",
        )

    async def _map_member(
        self, event: JsonFields, *, has_joined: bool
    ) -> MembershipChange | ChatAvailability:
        chat_ref = await self._get_chat_ref(get_text(event, "channel"))
        user_id = get_text(event, "user")
        if user_id == self._bot.user_id:
            return ChatAvailability(chat_ref=chat_ref, is_available=has_joined)
        sender = await self._get_sender(user_id)
        return MembershipChange(chat_ref=chat_ref, members=(sender,), has_joined=has_joined)

    async def _get_chat_ref(self, channel: str, thread: str | None = None) -> ChatRef:
        title = "" if is_private(channel) else await self._api.find_title(channel)
        return ChatRef(
            channel=CHANNEL_NAME,
            address=SlackAddress(channel=channel, thread=thread).as_text,
            title=title or CHANNEL_NAME,
            is_private=is_private(channel),
        )

    async def _get_sender(self, user_id: str) -> Sender:
        user = await self._api.find_user(user_id)
        return Sender(address=user_id, name=user.name, language=user.language)

    async def _get_author(self, raw_message: JsonFields) -> str:
        """Return who wrote a message that is quoted."""
        user_id = find_text(raw_message, "user") or find_text(raw_message, "author_id")
        if user_id == self._bot.user_id:
            return self._bot.name
        known = find_text(raw_message, "author_name")
        return known or ((await self._api.find_user(user_id)).name if user_id else "")

    def _split_mention(self, text: str) -> tuple[str, str]:
        """Return a text and the mention of the bot in it; a command loses the mention before it."""
        mention = f"@{self._bot.name}"
        if MENTION_MARK not in text:
            return text, ""
        text = text.replace(MENTION_MARK, mention).strip()
        rest = text.removeprefix(mention).lstrip(" ,:")
        return (rest if text.startswith(mention) and rest.startswith("/") else text), mention

    async def _decode(self, text: str) -> str:
        """Return what people see of a text in Slack's markup language.

        Where it names the bot, MENTION_MARK stands.
        """
        text = text.replace(MENTION_MARK, "")[: 2 * MAX_TEXT_CHARS]
        user_ids = {
            found[1].lstrip("@").partition("|")[0]
            for found in ANGLE_BRACKETS.finditer(text)
            if found[1].startswith("@")
        }
        names = {
            user_id: (await self._api.find_user(user_id)).name
            for user_id in sorted(user_ids - {self._bot.user_id})[:MAX_LOOKUPS]
        }
        marked = {name: f"@{shown}" for name, shown in names.items()}
        marked[self._bot.user_id] = MENTION_MARK
        decoded = ANGLE_BRACKETS.sub(lambda found: decode_brackets(found[1], marked), text)
        return unescape_text(decoded).strip()


MENTION_MARK: Final = "\ue000"
"""A character of private use, which stands for the bot's mention until the text is decoded."""


def decode_brackets(inner: str, people: Mapping[str, str]) -> str:
    """Return what people see of angle brackets: a person, a channel, a special word or a link."""
    target, _, label = inner.partition("|")
    match target[:1]:
        case "@":
            return people.get(target[1:]) or f"@{label.lstrip('@') or target[1:]}"
        case "#":
            return f"#{label or target[1:]}"
        case "!":
            return decode_special(target[1:], label)
    shown = target.removeprefix("mailto:").removeprefix("tel:")
    is_same = not label or label in {shown, target} or f"http://{label}" == target
    return (label or shown) if is_same else f"{label} ({target})"


def decode_special(target: str, label: str) -> str:
    """Return what people see of a group's mention, or of a date."""
    if target.startswith(("here", "channel", "everyone")):
        return f"@{target.partition('^')[0]}"
    return label or target.partition("^")[0]


def unescape_text(text: str) -> str:
    """Return a text without the three escapes that Slack's markup language has."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def find_thread(raw_message: JsonFields, timestamp: str) -> str | None:
    """Return the thread in which a message stands; its first message stands outside."""
    thread = find_text(raw_message, "thread_ts")
    return None if not TIMESTAMP.fullmatch(thread) or thread == timestamp else thread


def find_shared_message(raw_message: JsonFields) -> JsonFields:
    """Return the message of somebody that was shared with this one, or nothing."""
    for each in list_json_objects(raw_message, "attachments"):
        if each.get("is_share") is True:
            return each
    return {}


def get_file_kind(file: JsonFields) -> MediaKind:
    """Return what kind of a file this is."""
    kind, _, _ = find_text(file, "mimetype").partition("/")
    match kind, find_text(file, "subtype"):
        case _, "slack_audio":
            return "voice"
        case "audio", _:
            return "audio"
        case "video", "slack_video":
            return "video_note"
        case "video", _:
            return "video"
        case "image", _:
            return "photo"
    return "document"


FILE_RANKS: Final = ("voice", "audio", "video_note", "photo", "video", "document")
"""Of several files that come with one message, the first kind of these is the one told of."""


def get_file_rank(file: JsonFields) -> int:
    """Return how soon a file is told of."""
    return FILE_RANKS.index(get_file_kind(file))


def build_file_details(file: JsonFields | None, *, has_words: bool) -> dict[str, str]:
    """Return the kind of a file, and for a recording how to download it."""
    if file is None:
        return {}
    return build_media_details(
        get_file_kind(file),
        file_id=find_text(file, "id"),
        mime=find_text(file, "mimetype"),
        size=find_int(file, "size"),
        has_words=has_words,
    )


def describe_file(file: JsonFields | None) -> str:
    """Describe a file that comes without text."""
    if file is None:
        return ""
    duration_ms = find_int(file, "duration_ms")
    return describe_media(
        get_file_kind(file), None if duration_ms is None else duration_ms // 1_000
    )

"""Event mapping: turns events of Matrix rooms into channel events.

An event is JSON that other people's servers pass on: its fields are read without assuming that
they are valid.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from oldfriend.channels.channel import (
    ChannelEvent,
    ChatRef,
    IncomingMessage,
    MembershipChange,
    MessageDeletion,
    Reaction,
    Sender,
    UnreadableUpdate,
)
from oldfriend.channels.json_fields import JsonFields, find_fields, find_int, find_text
from oldfriend.channels.message_details import (
    COMMANDS,
    MIN_NAME_CHARS,
    MediaKind,
    build_media_details,
    describe_media,
    is_called_by_name,
    is_own_command,
)
from oldfriend.domain.clock import Micros, is_representable
from oldfriend.domain.messages import (
    ADDRESS_DETAIL,
    MAX_TEXT_CHARS,
    MEDIA_DETAIL,
    UNDECRYPTED_MEDIA,
)

CHANNEL_NAME: Final = "matrix"
MAX_QUOTE_CHARS: Final = 1_000
MAX_EMOJI_CHARS: Final = 40
MAX_FILE_ID_CHARS: Final = 2_000
MAX_MIME_CHARS: Final = 100
SPEECH: Final = frozenset({"voice", "audio"})
ENCRYPTED_KINDS: Final = frozenset({"m.room.message", "m.sticker", "m.reaction"})
WORDS: Final = frozenset({"m.text", "m.emote"})
MEDIA_KINDS: Final[Mapping[str, MediaKind]] = {
    "m.image": "photo",
    "m.video": "video",
    "m.file": "document",
    "m.audio": "audio",
    "m.sticker": "sticker",
}
VOICE_FIELDS: Final = ("m.voice", "org.matrix.msc3245.voice")
EDIT, THREAD, ANNOTATION = "m.replace", "m.thread", "m.annotation"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedEvent:
    """The event that another one edits or replies to."""

    sender: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomView:
    """A room as events are read in it."""

    room_id: str
    title: str
    user_id: str  # ours
    name: str  # ours in this room
    partner: str | None  # the only other one in a direct room
    name_of: Callable[[str], str] = field(repr=False)  # of its members
    now: Micros

    def build_chat_ref(self, thread: str = "") -> ChatRef:
        """Return the chat; with one person that is the person, in whichever room they write."""
        topic = f"/{thread}" if thread else ""
        return ChatRef(
            channel=CHANNEL_NAME,
            address=f"{self.room_id}{topic}" if self.partner is None else self.partner,
            title=self.title or CHANNEL_NAME,
            is_private=self.partner is not None,
        )

    def build_sender(self, user_id: str) -> Sender:
        """Return somebody as they are called in the room."""
        return Sender(address=user_id, name=self.name_of(user_id) or user_id)


def build_external_id(room_id: str, event_id: str) -> str:
    """Return the external id of an event, the person's or ours."""
    return f"{room_id} {event_id}"


def find_relation(source: JsonFields) -> JsonFields:
    """Return how an event relates to another one."""
    return find_fields(find_fields(source, "content"), "m.relates_to")


def find_related_id(source: JsonFields) -> str:
    """Return the event that an edit replaces, a redaction removes or a message replies to."""
    if find_text(source, "type") == "m.room.redaction":  # beside the content in older rooms
        return find_text(find_fields(source, "content"), "redacts") or find_text(source, "redacts")
    relation = find_relation(source)
    if find_text(relation, "rel_type") == EDIT:
        return find_text(relation, "event_id")
    if relation.get("is_falling_back") is True:  # the last message of a thread, for old clients
        return ""
    return find_text(find_fields(relation, "m.in_reply_to"), "event_id")


def find_thread(source: JsonFields) -> str:
    """Return the first message of the thread that a message is in; "" if it is in none."""
    relation = find_relation(source)
    return find_text(relation, "event_id") if find_text(relation, "rel_type") == THREAD else ""


def read_text(source: JsonFields) -> str:
    """Return the words of a message that was loaded because another one refers to it."""
    content = find_fields(source, "content")
    newest = find_fields(content, "m.new_content") or content
    return strip_fallback(find_text(newest, "body"))[0][:MAX_QUOTE_CHARS]


def to_channel_event(
    source: JsonFields,
    room: RoomView,
    related: RelatedEvent | None,
    *,
    is_decrypted: bool = False,
) -> ChannelEvent | None:
    """Convert an event; None: it does not concern us.

    What was encrypted is only a message: the homeserver has checked nothing of it.
    """
    sender, kind = find_text(source, "sender"), find_text(source, "type")
    if not sender or not find_text(source, "event_id"):
        return UnreadableUpdate(
            channel=CHANNEL_NAME, update_id=None, reason="It has no sender or no id."
        )
    if is_decrypted and kind not in ENCRYPTED_KINDS:
        return None
    if kind == "m.room.member":
        return to_membership_change(source, room)
    read = READERS.get(kind)
    is_own_or_state = sender == room.user_id or "state_key" in source
    return None if read is None or is_own_or_state else read(source, room, related)


def to_message(
    source: JsonFields, room: RoomView, related: RelatedEvent | None
) -> IncomingMessage | None:
    """Convert a message or an edit; None if redacted, a bot's notice, or somebody else's edit."""
    content, relation = find_fields(source, "content"), find_relation(source)
    is_edit = find_text(relation, "rel_type") == EDIT
    if is_edit:
        if related is None or related.sender != find_text(source, "sender"):
            return None
        content = find_fields(content, "m.new_content")
    kind = "m.sticker" if source.get("type") == "m.sticker" else find_text(content, "msgtype")
    media = find_media_kind(content, kind)
    if kind not in WORDS and media is None and kind != "m.location":
        return None
    text, quoted = find_words(content, kind, is_reply=related is not None and not is_edit)
    is_file = media is not None and media != "sticker"
    details = read_media_details(content, media, has_words=bool(text)) if media and is_file else {}
    command = to_command(text)
    event_id = find_text(relation, "event_id") if is_edit else find_text(source, "event_id")
    reply = None if is_edit or related is None else related
    return IncomingMessage(
        chat_ref=room.build_chat_ref(find_thread(source)),
        sender=room.build_sender(find_text(source, "sender")),
        external_id=build_external_id(room.room_id, event_id),
        number=None,
        at=get_time(source, room),
        text=(command or text or describe_file(content, media))[:MAX_TEXT_CHARS],
        is_edit=is_edit,
        is_readable=bool(text),
        is_addressed=is_addressed(content, text, room, related=reply, command=command),
        replies_to=None
        if reply is None
        else build_external_id(room.room_id, find_related_id(source)),
        quoted_text="" if reply is None else (reply.text or quoted)[:MAX_QUOTE_CHARS],
        quoted_from="" if reply is None else room.name_of(reply.sender),
        details=details | build_mention_details(text, room),
    )


def find_words(content: JsonFields, kind: str, *, is_reply: bool) -> tuple[str, str]:
    """Return what a message says, and what it quotes from the one it replies to."""
    body = find_text(content, "body")
    if kind == "m.location":
        return f"[location] {body or find_text(content, 'geo_uri')}".strip(), ""
    if kind == "m.sticker":
        return f"{body} [sticker]".strip(), ""
    if kind in MEDIA_KINDS:  # the body is a caption only beside a name
        name = find_text(content, "filename")
        return (body if name and name != body else ""), ""
    text, quoted = strip_fallback(body) if is_reply else (body, "")
    return (f"* {text}" if kind == "m.emote" and text else text), quoted


def strip_fallback(body: str) -> tuple[str, str]:
    """Return a reply without the lines that repeat what it replies to, and those lines."""
    lines = body.split("\n")
    count = next((n for n, line in enumerate(lines) if not line.startswith("> ")), len(lines))
    if not count or count == len(lines) or lines[count]:
        return body, ""
    quoted = "\n".join(line.removeprefix("> ") for line in lines[:count])
    return "\n".join(lines[count + 1 :]), QUOTED_NAME.sub("", quoted)


QUOTED_NAME: Final = re.compile(r"\A(?:\* )?<[^>\n]{1,255}> ")


def find_media_kind(content: JsonFields, kind: str) -> MediaKind | None:
    """Return what kind of file a message is; None: it has none."""
    if kind == "m.audio" and any(each in content for each in VOICE_FIELDS):
        return "voice"
    return MEDIA_KINDS.get(kind)


def read_media_details(content: JsonFields, media: MediaKind, *, has_words: bool) -> dict[str, str]:
    """Return the kind of a file, and for a recording how to download and decrypt it."""
    info = find_fields(content, "info")
    where: JsonFields = find_fields(content, "file") or {"url": find_text(content, "url")}
    file_id = json.dumps(where, separators=(",", ":"))
    if media not in SPEECH or not find_text(where, "url") or len(file_id) > MAX_FILE_ID_CHARS:
        return {MEDIA_DETAIL: media}
    return build_media_details(
        media,
        file_id=file_id,
        mime=find_text(info, "mimetype")[:MAX_MIME_CHARS],
        size=find_int(info, "size"),
        has_words=has_words,
    )


def describe_file(content: JsonFields, media: MediaKind | None) -> str:
    """Describe a file that comes without words."""
    if media is None:
        return ""
    duration_ms = find_int(find_fields(content, "info"), "duration")
    return describe_media(media, None if duration_ms is None else duration_ms // 1_000)


def to_command(text: str) -> str:
    """Return a command that was written as "!stop", since clients keep "/stop" to themselves."""
    word, space, rest = text.partition(" ")
    command = f"/{word[1:].lower()}" if word.startswith("!") else ""
    return f"{command}{space}{rest}" if command in COMMANDS else ""


def is_addressed(
    content: JsonFields, text: str, room: RoomView, *, related: RelatedEvent | None, command: str
) -> bool:
    """Tell whether a message is addressed to the companion."""
    if room.partner is not None or (related is not None and related.sender == room.user_id):
        return True
    if is_own_command(command or text):
        return True
    if "m.mentions" in content:
        named = find_fields(content, "m.mentions").get("user_ids")
        if isinstance(named, list) and room.user_id in named:
            return True
    elif room.user_id in text or room.user_id in find_text(content, "formatted_body"):
        return True
    return is_called_by_name(text, room.name)


def build_mention_details(text: str, room: RoomView) -> dict[str, str]:
    """Return the mention by which a text addresses the bot; it is no part of what is said."""
    if room.partner is not None:
        return {}
    lowered = "".join(each.lower()[:1] for each in text)  # as long as the text
    for name in (room.user_id, room.name):
        start = lowered.find(name.lower()) if len(name) >= MIN_NAME_CHARS else -1
        end = start + len(name)
        if start >= 0 and not text[end : end + 1].isalnum():
            start -= text[:start].endswith("@")
            return {ADDRESS_DETAIL: text[start:end]}
    return {}


def to_reaction(
    source: JsonFields, room: RoomView, related: RelatedEvent | None
) -> Reaction | None:
    """Convert a reaction; None if it names neither a message nor an emoji."""
    del related
    relation = find_relation(source)
    target, emoji = find_text(relation, "event_id"), find_text(relation, "key")[:MAX_EMOJI_CHARS]
    if find_text(relation, "rel_type") != ANNOTATION or not target or not emoji:
        return None
    return Reaction(
        chat_ref=room.build_chat_ref(),
        sender=room.build_sender(find_text(source, "sender")),
        external_id=build_external_id(room.room_id, find_text(source, "event_id")),
        target_external_id=build_external_id(room.room_id, target),
        at=get_time(source, room),
        emoji=emoji,
    )


def to_deletion(
    source: JsonFields, room: RoomView, related: RelatedEvent | None
) -> MessageDeletion | None:
    """Convert a redaction by the author; a moderator's takes nothing from anybody's memory."""
    if related is None or related.sender != find_text(source, "sender"):
        return None
    external_id = build_external_id(room.room_id, find_related_id(source))
    return MessageDeletion(chat_ref=room.build_chat_ref(), external_id=external_id)


def to_membership_change(source: JsonFields, room: RoomView) -> MembershipChange | None:
    """Convert the joining or leaving of somebody else."""
    member = find_text(source, "state_key")
    membership = find_text(find_fields(source, "content"), "membership")
    before = find_text(find_fields(find_fields(source, "unsigned"), "prev_content"), "membership")
    has_joined = membership == "join"
    if not member or member == room.user_id or has_joined == (before == "join"):
        return None
    return MembershipChange(
        chat_ref=room.build_chat_ref(),
        members=(room.build_sender(member),),
        has_joined=has_joined,
    )


def to_undecrypted(
    source: JsonFields, room: RoomView, related: RelatedEvent | None
) -> IncomingMessage | None:
    """Convert a message whose key we do not have; None for an edit, which changes what is known."""
    if find_text(find_relation(source), "rel_type") == EDIT:
        return None
    return IncomingMessage(
        chat_ref=room.build_chat_ref(find_thread(source)),
        sender=room.build_sender(find_text(source, "sender")),
        external_id=build_external_id(room.room_id, find_text(source, "event_id")),
        number=None,
        at=get_time(source, room),
        text="[encrypted message]",
        is_readable=False,
        is_addressed=room.partner is not None
        or (related is not None and related.sender == room.user_id),
        details={MEDIA_DETAIL: UNDECRYPTED_MEDIA},
    )


def get_time(source: JsonFields, room: RoomView) -> Micros:
    """Return when an event was sent, as its server says; none is from the future."""
    sent_ms = find_int(source, "origin_server_ts")
    at = room.now if sent_ms is None else 1_000 * sent_ms
    return min(at, room.now) if is_representable(at) else room.now


READERS: Final[
    Mapping[str, Callable[[JsonFields, RoomView, RelatedEvent | None], ChannelEvent | None]]
] = {
    "m.room.message": to_message,
    "m.sticker": to_message,
    "m.reaction": to_reaction,
    "m.room.redaction": to_deletion,
    "m.room.encrypted": to_undecrypted,
}
"""What turns an event into one of ours, by its type."""

"""Event mapping: turns what WhatsApp's webhook tells into channel events and delivery statuses.

Each message is mapped on its own: one that cannot be read does not affect the others. What is said
in groups, to another number, or of calls and catalogs does not concern us.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from oldfriend.channels.channel import (
    ButtonPress,
    ChannelEvent,
    ChatRef,
    IncomingMessage,
    MessageDeletion,
    Reaction,
    Sender,
    UnreadableUpdate,
)
from oldfriend.channels.json_fields import JsonFields, find_fields, find_text, list_json_objects
from oldfriend.channels.message_details import MediaKind, build_media_details, describe_media
from oldfriend.domain.buttons import MAX_COMMAND_BYTES
from oldfriend.domain.clock import SECOND, Micros, is_representable
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import MAX_TEXT_CHARS
from oldfriend.domain.unicode_text import is_ascii_number

CHANNEL_NAME: Final = "whatsapp"
FIELD: Final = "messages"
"""The field of a webhook that tells of messages and statuses."""
MAX_ID_CHARS: Final = 512
MAX_NAME_CHARS: Final = 200
MAX_REASON_CHARS: Final = 200
MAX_TIME_DIGITS: Final = 12
MAX_CARDS: Final = 20
UNKNOWN_AUTHOR: Final = "somebody"
"""Whose words a forwarded message holds; WhatsApp does not tell."""
MEDIA_KINDS: Final[Mapping[str, MediaKind]] = {
    "image": "photo",
    "video": "video",
    "document": "document",
    "sticker": "sticker",
    "audio": "audio",
}
SILENT_TYPES: Final = frozenset({"system", "request_welcome", "ephemeral"})
"""Notices of WhatsApp that nobody has written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryStatus:
    """What has become of a message of ours."""

    external_id: str
    status: str  # sent, delivered, read, played or failed
    address: str
    send_key: str  # "" if it was sent without
    error_code: int  # 0 if it has not failed
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedEvent:
    """An event, and the id by which WhatsApp tells of it again."""

    external_id: str  # of the message that is the event; "" if it could not be read
    event: ChannelEvent
    at: Micros
    address: str = ""  # of who has written, which opens their window


WebhookItem: TypeAlias = ReceivedEvent | DeliveryStatus


def map_webhook(payload: JsonValue, phone_number_id: str) -> list[WebhookItem]:
    """Return what a webhook tells of our number: messages by their time, then statuses."""
    items: list[ReceivedEvent] = []
    statuses: list[DeliveryStatus] = []
    for value in list_values(payload, phone_number_id):
        names = {
            key: find_text(find_fields(contact, "profile"), "name")[:MAX_NAME_CHARS]
            for contact in list_json_objects(value, "contacts")
            for key in (find_text(contact, "wa_id"), find_text(contact, "user_id"))
            if key
        }
        mapped = (try_map_message(raw, names) for raw in list_json_objects(value, "messages"))
        items += (each for each in mapped if each is not None)
        statuses += filter(None, map(map_status, list_json_objects(value, "statuses")))
    return [*sorted(items, key=lambda each: each.at), *statuses]


def list_values(payload: JsonValue, phone_number_id: str) -> Iterator[JsonFields]:
    """Yield the values of a payload that tell of messages of our number."""
    if not isinstance(payload, dict):
        return
    for entry in list_json_objects(payload, "entry"):
        for change in list_json_objects(entry, "changes"):
            value = find_fields(change, "value")
            number = find_text(find_fields(value, "metadata"), "phone_number_id")
            if change.get("field") == FIELD and number == phone_number_id:
                yield value


def try_map_message(raw: JsonFields, names: Mapping[str, str]) -> ReceivedEvent | None:
    """Map a message; None if it does not concern us."""
    try:
        return map_message(raw, names)
    except ValueError as error:
        reason = f"{type(error).__name__}: {error}"[:MAX_REASON_CHARS]
        unreadable = UnreadableUpdate(channel=CHANNEL_NAME, update_id=None, reason=reason)
        return ReceivedEvent(external_id="", event=unreadable, at=0)


def map_message(raw: JsonFields, names: Mapping[str, str]) -> ReceivedEvent | None:
    """Map a message. Raises ValueError if a field that it needs is missing."""
    kind = find_text(raw, "type")
    if "group_id" in raw or kind in SILENT_TYPES:
        return None
    address = find_text(raw, "from") or find_text(raw, "from_user_id")
    external_id, at = require_id(raw, "id"), get_time(raw)
    if not address or len(address) > MAX_ID_CHARS:
        raise ValueError("Nobody is named as the sender.")
    name = names.get(address) or names.get(find_text(raw, "from_user_id")) or format_number(address)
    chat_ref = ChatRef(channel=CHANNEL_NAME, address=address, title=name, is_private=True)
    sender = Sender(address=address, name=name)
    event: ChannelEvent
    match kind:
        case "reaction":
            reaction = find_fields(raw, "reaction")
            event = Reaction(
                chat_ref=chat_ref,
                sender=sender,
                external_id=external_id,
                target_external_id=require_id(reaction, "message_id"),
                at=at,
                emoji=find_text(reaction, "emoji"),
            )
            return ReceivedEvent(external_id=external_id, event=event, at=at)
        case "revoke":
            deleted = require_id(find_fields(raw, "revoke"), "original_message_id")
            event = MessageDeletion(chat_ref=chat_ref, external_id=deleted)
            return ReceivedEvent(external_id=external_id, event=event, at=at)
        case "edit":
            edit = find_fields(raw, "edit")
            edited = require_id(edit, "original_message_id")
            event = build_message(
                find_fields(edit, "message"), chat_ref, sender, edited, at, is_edit=True
            )
        case "interactive" if (command := get_command(raw)) and get_context(raw):
            event = ButtonPress(
                chat_ref=chat_ref,
                sender=sender,
                target_external_id=get_context(raw),
                command=command,
            )
        case _:
            event = build_message(raw, chat_ref, sender, external_id, at)
    return ReceivedEvent(external_id=external_id, event=event, at=at, address=address)


def format_number(address: str) -> str:
    """Return a phone number as people write it; an id that is none stays as it is."""
    return f"+{address}" if is_ascii_number(address) else address


def build_message(
    raw: JsonFields,
    chat_ref: ChatRef,
    sender: Sender,
    external_id: str,
    at: Micros,
    *,
    is_edit: bool = False,
) -> IncomingMessage:
    """Build the message that somebody has written."""
    context = find_fields(raw, "context")
    is_forwarded = context.get("forwarded") is True or context.get("frequently_forwarded") is True
    text, details = describe_content(raw)
    return IncomingMessage(
        chat_ref=chat_ref,
        sender=sender,
        external_id=external_id,
        number=None,
        at=at,
        text=(text or describe_file(raw))[:MAX_TEXT_CHARS],
        is_edit=is_edit,
        is_own_words=not is_forwarded and raw.get("type") != "contacts",
        is_readable=bool(text),
        replies_to=get_context(raw) or None,
        details=details | ({"forwarded_from": UNKNOWN_AUTHOR} if is_forwarded else {}),
    )


def describe_content(raw: JsonFields) -> tuple[str, dict[str, str]]:
    """Return the words of a message, and the details of its file."""
    kind = find_text(raw, "type")
    content = find_fields(raw, kind)
    match kind:
        case "text":
            return find_text(content, "body"), {}
        case "button":
            return find_text(content, "text"), {}
        case "interactive":
            return find_text(get_reply(raw), "title"), {}
        case "location":
            places = [find_text(content, name) for name in ("name", "address")]
            point = f"{content.get('latitude')}, {content.get('longitude')}"
            return f"[location] {', '.join(filter(None, places)) or point}", {}
        case "contacts":
            cards = [describe_card(each) for each in list_json_objects(raw, kind)[:MAX_CARDS]]
            return "\n".join(f"[contact] {each}" for each in cards), {}
    if (media := find_media_kind(raw)) is None:
        return "", {}
    caption = find_text(content, "caption")
    details = build_media_details(
        media,
        file_id=require_id(content, "id"),
        mime=find_text(content, "mime_type")[:MAX_NAME_CHARS],
        size=None,  # told when it is downloaded
        has_words=bool(caption),
    )
    return caption, details


def describe_card(card: JsonFields) -> str:
    """Describe a contact by name and numbers."""
    numbers = (find_text(each, "phone") for each in list_json_objects(card, "phones"))
    return " ".join(
        filter(None, [find_text(find_fields(card, "name"), "formatted_name"), *numbers])
    )


def find_media_kind(raw: JsonFields) -> MediaKind | None:
    """Return the kind of a message's file; None if it has none that we know."""
    kind = find_text(raw, "type")
    is_voice = kind == "audio" and find_fields(raw, kind).get("voice") is True
    return "voice" if is_voice else MEDIA_KINDS.get(kind)


def describe_file(raw: JsonFields) -> str:
    """Describe what comes without words: a file, or something that WhatsApp does not pass on."""
    kind = find_media_kind(raw)
    return "[message]" if kind is None else describe_media(kind, None)


def get_reply(raw: JsonFields) -> JsonFields:
    """Return the button or the row of a list that was chosen."""
    chosen = find_fields(raw, "interactive")
    return find_fields(chosen, "button_reply") or find_fields(chosen, "list_reply")


def get_command(raw: JsonFields) -> str:
    """Return the command of the button that was pressed; "" if it bears none of ours."""
    command = find_text(get_reply(raw), "id")
    return command[:MAX_COMMAND_BYTES] if command.startswith("/") else ""


def get_context(raw: JsonFields) -> str:
    """Return the id of the message replied to, or ""."""
    return find_text(find_fields(raw, "context"), "id")[:MAX_ID_CHARS]


def map_status(raw: JsonFields) -> DeliveryStatus | None:
    """Map what has become of a message of ours; None if it does not say of which."""
    errors = list_json_objects(raw, "errors")
    first = errors[0] if errors else {}
    code = first.get("code")
    external_id = find_text(raw, "id")
    if not external_id or "group_id" in raw:
        return None
    return DeliveryStatus(
        external_id=external_id[:MAX_ID_CHARS],
        status=find_text(raw, "status"),
        address=find_text(raw, "recipient_id") or find_text(raw, "recipient_user_id"),
        send_key=find_text(raw, "biz_opaque_callback_data")[:MAX_ID_CHARS],
        error_code=code if isinstance(code, int) and not isinstance(code, bool) else 0,
        error=(find_text(first, "title") or find_text(first, "message"))[:MAX_REASON_CHARS],
    )


def require_id(raw: JsonFields, name: str) -> str:
    """Return an id. Raises ValueError if there is none that could be one."""
    value = find_text(raw, name)
    if not value or len(value) > MAX_ID_CHARS:
        raise ValueError(f'"{name}" is missing.')
    return value


def get_time(raw: JsonFields) -> Micros:
    """Return the time of a message. Raises ValueError."""
    value = find_text(raw, "timestamp")
    if not is_ascii_number(value) or len(value) > MAX_TIME_DIGITS:
        raise ValueError('"timestamp" is no time.')
    at = SECOND * int(value)
    if not is_representable(at):
        raise ValueError('"timestamp" is no date.')
    return at

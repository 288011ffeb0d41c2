"""Telegram Desktop exports: ``result.json`` of one chat or of an account.

The file often identifies the owner: by the account's own profile, or in a chat of two people as the
one who is not the other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.messages import Role, format_quote
from oldfriend.transfer.formats.json_stream import (
    ARRAY_STEP,
    ISO_TIME_EXAMPLE,
    Fields,
    describe_kind,
    list_objects,
    parse_epoch,
    parse_iso,
    parse_object,
    stream_values,
    to_object,
    to_text,
    with_local_offset,
)
from oldfriend.transfer.formats.parsed_message import AddNotice, ChatFormat, ParsedMessage
from oldfriend.transfer.formats.source import FormatProbe, SourceFile

EXPECTED: Final = 'a message such as {"id": 1, "type": "message", "date": …, "from": …, "text": …}'
SINGLE_CHAT: Final[tuple[str, ...]] = ()
CHAT_PATHS: Final = (SINGLE_CHAT, ("chats", "list", ARRAY_STEP), ("left_chats", "list", ARRAY_STEP))
VALUE_PATHS: Final = frozenset(
    {("personal_information",)}
    | {(*base, key) for base in CHAT_PATHS for key in ("name", "type", "id")}
    | {(*base, "messages", ARRAY_STEP) for base in CHAT_PATHS}
)
TWO_PARTY_TYPES: Final = frozenset({"personal_chat", "bot_chat"})
BROADCAST_TYPES: Final = frozenset({"public_channel", "private_channel"})
UNKNOWN_SPEAKER: Final = "Deleted Account"
FORWARDED_PREFIXES: Final = ("forwarded_", "saved_from", "via_bot")
"""Prefixes of fields that mark a message as written by somebody else."""
QUOTE_TYPES: Final = frozenset({"blockquote", "expandable_blockquote"})
MEDIA_KEYS: Final = (
    "media_type",
    "photo",
    "file",
    "poll",
    "location_information",
    "contact_information",
)


@dataclass(slots=True)
class ExportedChat:
    """The chat whose messages are being read, as known so far."""

    owner: str | None = None  # "user123"
    name: str = ""
    kind: str = ""
    id: str = ""

    def set_field(self, key: str, value: object) -> None:
        """Set one field of the chat or of the account."""
        match key:
            case "personal_information":
                self.owner = f"user{to_text(to_object(value).get('user_id'))}"
            case "name":
                self.name = to_text(value) or UNKNOWN_SPEAKER
            case "type":
                self.kind = to_text(value)
            case "id":
                self.id = to_text(value)

    def reset(self) -> None:
        """Clear the chat, but keep the account."""
        self.name = self.kind = self.id = ""

    def resolve_role(self, sender: str) -> Role | None:
        """Return whether the owner or somebody else is the sender, if the file states it."""
        if self.owner is not None:
            return "person" if sender == self.owner else "other"
        if self.kind == "saved_messages":
            return "person"
        if self.kind in TWO_PARTY_TYPES and self.id and sender.startswith("user"):
            return "other" if sender == f"user{self.id}" else "person"
        return None

    def is_outside(self, sender: str) -> bool:
        """Return whether messages of a sender are broadcasts or come from a bot."""
        return self.kind in BROADCAST_TYPES or (
            self.kind == "bot_chat" and sender == f"user{self.id}"
        )


def can_parse(probe: FormatProbe) -> bool:
    """Return whether this is JSON with the keys of one chat or of an account."""
    keys = probe.keys
    return (
        {"messages", "type"} <= keys
        or {"messages", "id", "name"} <= keys
        or {"chats", ".list"} <= keys
        or {"about", "personal_information"} <= keys
    )


def parse(source: SourceFile, _: AddNotice) -> Iterator[ParsedMessage]:
    """Yield the messages of all chats in the order of the file. Raises ImportRefused."""
    chat = ExportedChat()
    base: tuple[str, ...] = SINGLE_CHAT
    reading_messages = False
    for line, path, value in stream_values(source, VALUE_PATHS):
        is_message = path[-1] == ARRAY_STEP
        if reading_messages and not is_message:
            chat.reset()
        reading_messages = is_message
        if not is_message:
            base = path[:-1]
            chat.set_field(path[-1], value)
            continue
        if path[:-2] != base and path[:-2]:
            chat.reset()
            base = path[:-2]
        yield parse_message(parse_object(value, line=line, expected=EXPECTED), line, chat)


def parse_message(fields: Fields, line: int, exported_chat: ExportedChat) -> ParsedMessage:
    """Parse one message or service message. Raises ImportRefused."""
    if to_text(fields.get("id")) == "":
        raise ImportRefused("the message has no id.", line=line, expected=EXPECTED)
    is_service = fields.get("type") == "service"
    sender = parse_sender(fields)
    is_forwarded = any(name.startswith(FORWARDED_PREFIXES) for name in fields)
    title = exported_chat.name or "Telegram"
    return ParsedMessage(
        line=line,
        chat=exported_chat.id or title,
        chat_title=title,
        speaker="" if is_service else to_text(fields.get("from")) or UNKNOWN_SPEAKER,
        role="system" if is_service else exported_chat.resolve_role(sender),
        text=format_service_action(fields) if is_service else parse_text(fields, line),
        at=parse_time(fields, line),
        external_id=to_text(fields.get("id")),
        outside=not is_service and (is_forwarded or exported_chat.is_outside(sender)),
        details=parse_details(fields),
    )


def parse_sender(fields: Fields) -> str:
    """Return the sender's id in the notation of newer exports."""
    sender = to_text(fields.get("from_id"))
    return f"user{sender}" if sender.isdecimal() else sender


def parse_time(fields: Fields, line: int) -> datetime:
    """Return when a message was sent, with the UTC offset of the exporting computer.

    Raises ImportRefused.
    """
    if fields.get("date") is None and fields.get("date_unixtime") is None:
        raise ImportRefused(
            "the message has no date.", line=line, expected=f'"date", {ISO_TIME_EXAMPLE}'
        )
    if fields.get("date_unixtime") is None:
        return parse_iso(fields["date"], line=line, what="the date")
    moment = parse_epoch(fields["date_unixtime"], line=line, what="date_unixtime")
    if fields.get("date") is None:
        return moment
    return with_local_offset(moment, parse_iso(fields["date"], line=line, what="the date"))


def parse_text(fields: Fields, line: int) -> str:
    """Return the text of a message, from a string or a list of plain and formatted parts.

    Raises ImportRefused.
    """
    value = fields.get("text", fields.get("text_entities", ""))
    if isinstance(value, str):
        return value or format_poll(to_object(fields.get("poll")))
    if not isinstance(value, list):
        raise ImportRefused(
            f"the text is {describe_kind(value)}.", line=line, expected="a text or a list of texts"
        )
    text = ""
    for part in value:
        is_quoted = to_object(part).get("type") in QUOTE_TYPES
        text = (
            format_quote(text, parse_text_part(part), "\n")
            if is_quoted
            else text + parse_text_part(part)
        )
    return text.rstrip("\n") if value and to_object(value[-1]).get("type") in QUOTE_TYPES else text


def parse_text_part(part: object) -> str:
    """Return the text of a plain or formatted part."""
    return part if isinstance(part, str) else to_text(to_object(part).get("text"))


def format_poll(poll: Fields) -> str:
    """Format a poll as its question and answers, one a line."""
    answers = (to_text(answer.get("text")) for answer in list_objects(poll.get("answers")))
    return "\n".join(part for part in (to_text(poll.get("question")), *answers) if part)


def format_service_action(fields: Fields) -> str:
    """Describe a service message in a few words."""
    members = fields.get("members")
    names = (
        [to_text(name) or UNKNOWN_SPEAKER for name in members] if isinstance(members, list) else []
    )
    action = to_text(fields.get("action")).replace("_", " ")
    title, text = to_text(fields.get("title")), to_text(fields.get("text"))
    parts = (to_text(fields.get("actor")), action, title, ", ".join(names), text)
    return " ".join(part for part in parts if part)


def parse_details(fields: Fields) -> dict[str, str]:
    """Return what belongs to a message beside its text."""
    media = next((key for key in MEDIA_KEYS if fields.get(key)), None)
    details = {
        "reply_to": to_text(fields.get("reply_to_message_id")),
        "forwarded_from": to_text(fields.get("forwarded_from")),
        "media": to_text(fields.get(media)) or media.removesuffix("_information") if media else "",
        "file": to_text(fields.get("file_name")) if media else "",
        "sticker": to_text(fields.get("sticker_emoji")),
        "edited": to_text(fields.get("edited")),
        "links": " ".join(list_links(fields.get("text"))),
    }
    return {key: value for key, value in details.items() if value}


def list_links(text: object) -> list[str]:
    """Return the URLs of linked text."""
    parts = text if isinstance(text, list) else []
    links = (to_text(to_object(part).get("href")) for part in parts)
    return [link for link in links if link]


TELEGRAM: Final = ChatFormat(
    name="telegram",
    title="Telegram Desktop: result.json (exported as JSON)",
    chats_have_ids=True,
    can_parse=can_parse,
    parse=parse,
)

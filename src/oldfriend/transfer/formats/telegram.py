"""What does a Telegram Desktop export say? ``result.json``, of one chat or of an account.

The file often tells who the owner is: the account's own profile, or in a chat of two the one
who is not the other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.trust import Role
from oldfriend.transfer.formats.json_pieces import ARRAY, pieces
from oldfriend.transfer.formats.json_values import (
    Fields,
    as_object,
    kind_of,
    object_in,
    objects_in,
    text_in,
)
from oldfriend.transfer.formats.moments import (
    ISO_TIME,
    moment_of_epoch,
    moment_of_iso,
    placed_by_clock,
)
from oldfriend.transfer.formats.parsed import Format, Note, ParsedMessage
from oldfriend.transfer.formats.source import Glimpse, Source

EXPECTED: Final = 'a message such as {"id": 1, "type": "message", "date": …, "from": …, "text": …}'
ONE: Final[tuple[str, ...]] = ()
LISTS: Final = (ONE, ("chats", "list", ARRAY), ("left_chats", "list", ARRAY))
PLACES: Final = frozenset(
    {("personal_information",)}
    | {(*base, key) for base in LISTS for key in ("name", "type", "id")}
    | {(*base, "messages", ARRAY) for base in LISTS}
)
WITH_ONE_OTHER: Final = frozenset({"personal_chat", "bot_chat"})
BROADCASTS: Final = frozenset({"public_channel", "private_channel"})
NOBODY: Final = "Deleted Account"
MEDIA_KEYS: Final = (
    "media_type", "photo", "file", "poll", "location_information", "contact_information",
)  # fmt: skip


@dataclass(slots=True)
class Where:
    """The chat whose messages are being read, as far as the file has told."""

    owner: str | None = None  # "user123"
    name: str = ""
    kind: str = ""
    id: str = ""

    def learn(self, key: str, value: object) -> None:
        """Take in one more thing about the chat, or about the account."""
        match key:
            case "personal_information":
                self.owner = f"user{text_in(object_in(value).get('user_id'))}"
            case "name":
                self.name = text_in(value) or NOBODY
            case "type":
                self.kind = text_in(value)
            case "id":
                self.id = text_in(value)

    def leave(self) -> None:
        """Forget the chat; the account stays."""
        self.name = self.kind = self.id = ""

    def role_of(self, sender: str) -> Role | None:
        """Whether the owner or another wrote it, where the file tells."""
        if self.owner is not None:
            return "person" if sender == self.owner else "other"
        if self.kind == "saved_messages":
            return "person"
        if self.kind in WITH_ONE_OTHER and self.id and sender.startswith("user"):
            return "other" if sender == f"user{self.id}" else "person"
        return None

    def is_outside(self, sender: str) -> bool:
        """Whether these are published or made by a program, not said by somebody known."""
        return self.kind in BROADCASTS or (self.kind == "bot_chat" and sender == f"user{self.id}")


def recognise(glimpse: Glimpse) -> bool:
    """JSON with the keys of one chat, or of an account."""
    keys = glimpse.keys
    return (
        {"messages", "type"} <= keys or {"messages", "id", "name"} <= keys
        or {"chats", ".list"} <= keys or {"about", "personal_information"} <= keys
    )  # fmt: skip


def read(source: Source, _: Note) -> Iterator[ParsedMessage]:
    """The messages of all chats, in the order of the file. Raises ImportRefused."""
    where = Where()
    base: tuple[str, ...] = ONE
    reading_messages = False
    for line, path, value in pieces(source, PLACES):
        is_message = path[-1] == ARRAY
        if reading_messages and not is_message:
            where.leave()
        reading_messages = is_message
        if not is_message:
            base = path[:-1]
            where.learn(path[-1], value)
            continue
        if path[:-2] != base and path[:-2]:
            where.leave()
            base = path[:-2]
        yield message_of(as_object(value, line=line, expected=EXPECTED), line, where)


def message_of(fields: Fields, line: int, where: Where) -> ParsedMessage:
    """One message or service line. Raises ImportRefused."""
    if text_in(fields.get("id")) == "":
        raise ImportRefused("the message has no id.", line=line, expected=EXPECTED)
    is_service = fields.get("type") == "service"
    sender = sender_of(fields)
    is_forwarded = "forwarded_from" in fields or "via_bot" in fields
    title = where.name or "Telegram"
    return ParsedMessage(
        line=line, chat=where.id or title, chat_title=title,
        speaker="" if is_service else text_in(fields.get("from")) or NOBODY,
        role="system" if is_service else where.role_of(sender),
        text=service_text(fields) if is_service else text_of(fields, line),
        at=at_of(fields, line), external_id=text_in(fields.get("id")),
        outside=not is_service and (is_forwarded or where.is_outside(sender)),
        details=details_of(fields),
    )  # fmt: skip


def sender_of(fields: Fields) -> str:
    """The sender's id as newer exports write it."""
    sender = text_in(fields.get("from_id"))
    return f"user{sender}" if sender.isdecimal() else sender


def at_of(fields: Fields, line: int) -> datetime:
    """When it was sent: the moment, on the clock of the computer that exported it."""
    if fields.get("date") is None and fields.get("date_unixtime") is None:
        raise ImportRefused("the message has no date.", line=line, expected=f'"date", {ISO_TIME}')
    if fields.get("date_unixtime") is None:
        return moment_of_iso(fields["date"], line=line, what="the date")
    moment = moment_of_epoch(fields["date_unixtime"], line=line, what="date_unixtime")
    if fields.get("date") is None:
        return moment
    return placed_by_clock(moment, moment_of_iso(fields["date"], line=line, what="the date"))


def text_of(fields: Fields, line: int) -> str:
    """The words: a text, or pieces of one, some of them formatted."""
    value = fields.get("text", fields.get("text_entities", ""))
    if isinstance(value, str):
        return value or poll_text(object_in(fields.get("poll")))
    if not isinstance(value, list):
        raise ImportRefused(
            f"the text is {kind_of(value)}.", line=line, expected="a text or a list of texts"
        )
    return "".join(words_of(part) for part in value)


def words_of(part: object) -> str:
    """The words of a plain or formatted piece of text."""
    return part if isinstance(part, str) else text_in(object_in(part).get("text"))


def poll_text(poll: Fields) -> str:
    """The question of a poll and its answers, a line each."""
    answers = (text_in(answer.get("text")) for answer in objects_in(poll.get("answers")))
    return "\n".join(part for part in (text_in(poll.get("question")), *answers) if part)


def service_text(fields: Fields) -> str:
    """What happened in the chat, in a few words."""
    members = fields.get("members")
    names = [text_in(name) or NOBODY for name in members] if isinstance(members, list) else []
    what = text_in(fields.get("action")).replace("_", " ")
    title, words = text_in(fields.get("title")), text_in(fields.get("text"))
    parts = (text_in(fields.get("actor")), what, title, ", ".join(names), words)
    return " ".join(part for part in parts if part)


def details_of(fields: Fields) -> dict[str, str]:
    """What belongs to a message beside its words."""
    media = next((key for key in MEDIA_KEYS if fields.get(key)), None)
    told = {
        "reply_to": text_in(fields.get("reply_to_message_id")),
        "forwarded_from": text_in(fields.get("forwarded_from")),
        "media": text_in(fields.get(media)) or media.removesuffix("_information") if media else "",
        "file": text_in(fields.get("file_name")) if media else "",
        "sticker": text_in(fields.get("sticker_emoji")),
        "edited": text_in(fields.get("edited")),
        "links": " ".join(links_in(fields.get("text"))),
    }
    return {key: value for key, value in told.items() if value}


def links_in(text: object) -> list[str]:
    """The addresses behind linked words."""
    parts = text if isinstance(text, list) else []
    links = (text_in(object_in(part).get("href")) for part in parts)
    return [link for link in links if link]


TELEGRAM: Final = Format(
    name="telegram", title="Telegram Desktop: result.json (exported as JSON)", chats_have_ids=True,
    recognise=recognise, read=read,
)  # fmt: skip

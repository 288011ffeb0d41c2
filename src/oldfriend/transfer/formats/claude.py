"""Claude exports: ``conversations.json``, or the whole ``.zip``.

Attachments are kept too, in chunks, but as documents rather than as messages the person wrote.
"""

from collections.abc import Iterator
from typing import Final

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.messages import Role
from oldfriend.transfer.formats.documents import split_chunks
from oldfriend.transfer.formats.json_stream import (
    ARRAY_STEP,
    Fields,
    list_objects,
    parse_iso,
    parse_object,
    parse_objects,
    stream_values,
    to_text,
)
from oldfriend.transfer.formats.parsed_message import AddNotice, ChatFormat, ParsedMessage
from oldfriend.transfer.formats.source import FormatProbe, SourceFile

EXPECTED_CONVERSATION: Final = 'a conversation such as {"uuid": …, "name": …, "chat_messages": […]}'
EXPECTED_MESSAGE: Final = (
    'a message such as {"uuid": …, "sender": "human" or "assistant", "text": …, "created_at": …}'
)
ROLES: Final[dict[str, Role]] = {"human": "person", "assistant": "companion"}
SPEAKER_NAME: Final = "Claude"


def can_parse(probe: FormatProbe) -> bool:
    """Return whether this is a list of conversations with messages."""
    return ".chat_messages" in probe.keys


def parse(source: SourceFile, _: AddNotice) -> Iterator[ParsedMessage]:
    """Yield the messages and attachments, conversation by conversation. Raises ImportRefused."""
    for line, _path, value in stream_values(source, frozenset({(ARRAY_STEP,)})):
        conversation = parse_object(value, line=line, expected=EXPECTED_CONVERSATION)
        messages = parse_objects(
            conversation.get("chat_messages"), line=line, expected=EXPECTED_CONVERSATION
        )
        for message in messages:
            parsed = parse_message(message, conversation, line)
            if parsed.text.strip() or parsed.details:
                yield parsed
            yield from parse_attachments(message, parsed)


def parse_message(fields: Fields, conversation: Fields, line: int) -> ParsedMessage:
    """Parse one message. Raises ImportRefused."""
    role = ROLES.get(to_text(fields.get("sender")))
    external_id, chat = to_text(fields.get("uuid")), to_text(conversation.get("uuid"))
    if role is None or not external_id or not chat:
        raise ImportRefused(
            "its uuid or its sender is missing.", line=line, expected=EXPECTED_MESSAGE
        )
    attached = [*list_objects(fields.get("attachments")), *list_objects(fields.get("files"))]
    names = ", ".join(name for item in attached if (name := to_text(item.get("file_name"))))
    return ParsedMessage(
        line=line,
        chat=chat,
        chat_title=to_text(conversation.get("name")) or "Untitled",
        session=chat,
        speaker="" if role == "person" else SPEAKER_NAME,
        role=role,
        text=parse_text(fields),
        at=parse_iso(fields.get("created_at"), line=line, what="created_at"),
        external_id=external_id,
        details={"media": names} if names else {},
    )


def parse_text(fields: Fields) -> str:
    """Return the visible text: the text parts, else the text field."""
    parts = [
        to_text(part.get("text"))
        for part in list_objects(fields.get("content"))
        if part.get("type") == "text"
    ]
    return "\n\n".join(part for part in parts if part) or to_text(fields.get("text"))


def parse_attachments(fields: Fields, parsed: ParsedMessage) -> Iterator[ParsedMessage]:
    """Yield the attachments of a message in chunks."""
    for number, attachment in enumerate(list_objects(fields.get("attachments")), start=1):
        name = to_text(attachment.get("file_name")) or "attachment"
        lines = enumerate(to_text(attachment.get("extracted_content")).split("\n"), start=1)
        for index, chunk in enumerate(split_chunks(lines), start=1):
            yield ParsedMessage(
                line=parsed.line,
                chat=parsed.chat,
                chat_title=parsed.chat_title,
                session=parsed.session,
                speaker=parsed.speaker,
                role=parsed.role,
                text=chunk.text,
                at=parsed.at,
                external_id=f"{parsed.external_id}/{number}/{index}",
                outside=True,
                details={"attachment": name},
            )


CLAUDE: Final = ChatFormat(
    name="claude",
    title="Claude: conversations.json or the exported .zip",
    chats_have_ids=True,
    can_parse=can_parse,
    parse=parse,
)

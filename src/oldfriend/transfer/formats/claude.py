"""What does a Claude export say? ``conversations.json``, or the whole ``.zip``.

What was attached is kept too, in pieces, but as something read, not said.
"""

from collections.abc import Iterator
from typing import Final

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.trust import Role
from oldfriend.transfer.formats.chunks import chunks_of
from oldfriend.transfer.formats.json_pieces import ARRAY, pieces
from oldfriend.transfer.formats.json_values import (
    Fields,
    as_object,
    as_objects,
    objects_in,
    text_in,
)
from oldfriend.transfer.formats.moments import moment_of_iso
from oldfriend.transfer.formats.parsed import Format, Note, ParsedMessage
from oldfriend.transfer.formats.source import Glimpse, Source

EXPECTED: Final = 'a conversation such as {"uuid": …, "name": …, "chat_messages": […]}'
EXPECTED_MESSAGE: Final = (
    'a message such as {"uuid": …, "sender": "human" or "assistant", "text": …, "created_at": …}'
)
ROLES: Final[dict[str, Role]] = {"human": "person", "assistant": "companion"}
NAME: Final = "Claude"


def recognise(glimpse: Glimpse) -> bool:
    """A list of conversations, each with its messages."""
    return ".chat_messages" in glimpse.keys


def read(source: Source, _: Note) -> Iterator[ParsedMessage]:
    """The messages and attachments, conversation after conversation. Raises ImportRefused."""
    for line, _path, value in pieces(source, frozenset({(ARRAY,)})):
        conversation = as_object(value, line=line, expected=EXPECTED)
        messages = as_objects(conversation.get("chat_messages"), line=line, expected=EXPECTED)
        for message in messages:
            said = message_of(message, conversation, line)
            if said.text.strip() or said.details:
                yield said
            yield from attachments_of(message, said)


def message_of(fields: Fields, conversation: Fields, line: int) -> ParsedMessage:
    """What was said. Raises ImportRefused."""
    role = ROLES.get(text_in(fields.get("sender")))
    external_id, chat = text_in(fields.get("uuid")), text_in(conversation.get("uuid"))
    if role is None or not external_id or not chat:
        raise ImportRefused(
            "its uuid or its sender is missing.", line=line, expected=EXPECTED_MESSAGE
        )
    attached = [*objects_in(fields.get("attachments")), *objects_in(fields.get("files"))]
    names = ", ".join(name for item in attached if (name := text_in(item.get("file_name"))))
    return ParsedMessage(
        line=line, chat=chat, chat_title=text_in(conversation.get("name")) or "Untitled",
        session=chat, speaker="" if role == "person" else NAME, role=role, text=words_of(fields),
        at=moment_of_iso(fields.get("created_at"), line=line, what="created_at"),
        external_id=external_id, details={"media": names} if names else {},
    )  # fmt: skip


def words_of(fields: Fields) -> str:
    """The shown words: the parts that are text, else the text as a whole."""
    parts = [
        text_in(part.get("text"))
        for part in objects_in(fields.get("content"))
        if part.get("type") == "text"
    ]
    return "\n\n".join(part for part in parts if part) or text_in(fields.get("text"))


def attachments_of(fields: Fields, said: ParsedMessage) -> Iterator[ParsedMessage]:
    """What was attached to a message, in pieces."""
    for number, attachment in enumerate(objects_in(fields.get("attachments")), start=1):
        name = text_in(attachment.get("file_name")) or "attachment"
        lines = enumerate(text_in(attachment.get("extracted_content")).split("\n"), start=1)
        for piece, chunk in enumerate(chunks_of(lines), start=1):
            yield ParsedMessage(
                line=said.line, chat=said.chat, chat_title=said.chat_title, session=said.session,
                speaker=said.speaker, role=said.role, text=chunk.text, at=said.at,
                external_id=f"{said.external_id}/{number}/{piece}", outside=True,
                details={"attachment": name},
            )  # fmt: skip


CLAUDE: Final = Format(
    name="claude", title="Claude: conversations.json or the exported .zip", chats_have_ids=True,
    recognise=recognise, read=read,
)  # fmt: skip

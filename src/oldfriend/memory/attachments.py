"""Attachments: voice recordings and spoken replies that belong to messages.

The audio is stored either in a file or, where there is none, in the row itself. This module knows
neither files nor transcripts.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.audio_formats import EXTENSIONS
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, PersonId

AttachmentKind = Literal["heard", "spoken"]
"""What the person said, or a reply that was spoken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Audio that belongs to a message."""

    id: str
    person: PersonId
    message: MessageId
    kind: AttachmentKind
    voice: str  # of a spoken reply: the model and its voice; else empty
    mime: str
    size: int
    made_at: Micros

    @property
    def file_name(self) -> str:
        """The name of its file, where it has one."""
        return build_file_name(self.id, self.mime)


def build_file_name(attachment_id: str, mime: str) -> str:
    """Return the file name of an attachment."""
    return f"{attachment_id}.{EXTENSIONS.get(mime, 'bin')}"


async def add_attachment(tx: Transaction, attachment: Attachment, content: bytes | None) -> None:
    """Store an attachment unless the message already has one of this kind and voice; ``content`` is
    None if the audio is in a file.
    """
    await tx.run(
        """INSERT INTO attachment (id, person, message, kind, voice, mime, size, recording,
             made_at)
           VALUES (:id, :person, :message, :kind, :voice, :mime, :size, :recording, :made_at)
           ON CONFLICT (person, message, kind, voice) DO NOTHING""",
        id=attachment.id,
        person=attachment.person,
        message=attachment.message,
        kind=attachment.kind,
        voice=attachment.voice,
        mime=attachment.mime,
        size=attachment.size,
        recording=content,
        made_at=attachment.made_at,
    )


async def find_attachment(
    tx: Transaction,
    person: PersonId,
    message_id: MessageId,
    kind: AttachmentKind,
    *,
    voice: str | None = "",
) -> tuple[Attachment, bytes | None] | None:
    """Return a message's attachment of a kind, with its content where that is not in a file.

    With ``voice`` None, the newest in any voice.
    """
    row = await tx.row(
        """SELECT id, person, message, kind, voice, mime, size, made_at, recording
           FROM attachment
           WHERE person = :person AND message = :message AND kind = :kind
           AND voice = coalesce(:voice, voice) ORDER BY made_at DESC, id DESC LIMIT 1""",
        person=person,
        message=message_id,
        kind=kind,
        voice=voice,
    )
    return None if row is None else (parse_attachment_row(row), row[8])


async def list_attachments(tx: Transaction, person: PersonId) -> list[Attachment]:
    """List all attachments of a person, oldest first."""
    rows = await tx.rows(
        """SELECT id, person, message, kind, voice, mime, size, made_at FROM attachment
           WHERE person = :person ORDER BY made_at, id""",
        person=person,
    )
    return [parse_attachment_row(row) for row in rows]


async def remove_attachments(
    tx: Transaction, person: PersonId, attachments: Collection[Attachment]
) -> None:
    """Remove attachments; the caller deletes their files once this is committed."""
    await tx.run_many(
        "DELETE FROM attachment WHERE person = :person AND id = :id",
        [{"person": person, "id": each.id} for each in attachments],
    )


async def delete_spoken_replies(tx: Transaction, person: PersonId, *, before: Micros) -> None:
    """Delete spoken replies made before a moment; they can be synthesized again."""
    await tx.run(
        """DELETE FROM attachment WHERE person = :person AND kind = 'spoken'
           AND made_at < :before""",
        person=person,
        before=before,
    )


def parse_attachment_row(row: Row) -> Attachment:
    """Parse an attachment row."""
    attachment_id, person, message, kind, voice, mime, size, made_at = row[:8]
    return Attachment(
        id=attachment_id,
        person=person,
        message=message,
        kind=kind,
        voice=voice,
        mime=mime,
        size=size,
        made_at=made_at,
    )

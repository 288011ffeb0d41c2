"""Which sounds are kept beside messages? Where there is no file for them, their bytes stand here.

Knows nothing of files, nor of what is said in a sound.
"""

from collections.abc import Collection

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.attachments import Attachment, AttachmentKind
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, PersonId


async def add_attachment(
    tx: Transaction, attachment: Attachment, content: bytes | None
) -> None:  # fmt: skip
    """Keep a sound with its message, unless one of the kind is there; bytes None: in a file."""
    await tx.run(
        """INSERT INTO attachment (id, person, message, kind, voice, mime, size, recording,
             made_at)
           VALUES (:id, :person, :message, :kind, :voice, :mime, :size, :recording, :made_at)
           ON CONFLICT (person, message, kind, voice) DO NOTHING""",
        id=attachment.id, person=attachment.person, message=attachment.message,
        kind=attachment.kind, voice=attachment.voice, mime=attachment.mime, size=attachment.size,
        recording=content, made_at=attachment.made_at,
    )  # fmt: skip


async def find_attachment(
    tx: Transaction, person: PersonId, message: MessageId, kind: AttachmentKind, *,
    voice: str | None = "",
) -> tuple[Attachment, bytes | None] | None:  # fmt: skip
    """The sound of a kind that belongs to a message; its bytes where they are not in a file.

    Without a voice (None) the newest, whoever speaks.
    """
    row = await tx.row(
        """SELECT id, person, message, kind, voice, mime, size, made_at, recording
           FROM attachment
           WHERE person = :person AND message = :message AND kind = :kind
           AND voice = coalesce(:voice, voice) ORDER BY made_at DESC, id DESC LIMIT 1""",
        person=person,
        message=message,
        kind=kind,
        voice=voice,
    )
    return None if row is None else (attachment_from(row), row[8])


async def list_attachments(tx: Transaction, person: PersonId) -> list[Attachment]:
    """All sounds that are kept of a person, oldest first."""
    rows = await tx.rows(
        """SELECT id, person, message, kind, voice, mime, size, made_at FROM attachment
           WHERE person = :person ORDER BY made_at, id""",
        person=person,
    )
    return [attachment_from(row) for row in rows]


async def remove_attachments(
    tx: Transaction, person: PersonId, gone: Collection[Attachment]
) -> None:  # fmt: skip
    """Take sounds away; whoever has them in files deletes these once that is committed."""
    await tx.run_many(
        "DELETE FROM attachment WHERE person = :person AND id = :id",
        [{"person": person, "id": each.id} for each in gone],
    )


async def remove_spoken(tx: Transaction, person: PersonId, *, before: Micros) -> None:
    """Let go of replies that were spoken long ago; they can be spoken again."""
    await tx.run(
        """DELETE FROM attachment WHERE person = :person AND kind = 'spoken'
           AND made_at < :before""",
        person=person,
        before=before,
    )


def attachment_from(row: Row) -> Attachment:
    """A sound from its row."""
    name, person, message, kind, voice, mime, size, made_at = row[:8]
    return Attachment(
        id=name, person=person, message=message, kind=kind, voice=voice, mime=mime, size=size,
        made_at=made_at,
    )  # fmt: skip

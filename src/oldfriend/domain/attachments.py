"""Attachments: audio that belongs to a message; its bytes are stored elsewhere."""

from dataclasses import dataclass
from typing import Literal

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

"""What is a sound that is kept beside a message? Its bytes stand elsewhere."""

from dataclasses import dataclass
from typing import Literal

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.sounds import EXTENSIONS

AttachmentKind = Literal["heard", "spoken"]
"""What the person said, or a reply as it was spoken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A sound that belongs to a message."""

    id: str
    person: PersonId
    message: MessageId
    kind: AttachmentKind
    voice: str  # of what was spoken: the speaker, and its voice; else empty
    mime: str
    size: int
    made_at: Micros

    @property
    def file_name(self) -> str:
        """How its file is called, where it has one."""
        return file_name(self.id, self.mime)


def file_name(attachment: str, mime: str) -> str:
    """How the file of an attachment is called."""
    return f"{attachment}.{EXTENSIONS.get(mime, 'bin')}"

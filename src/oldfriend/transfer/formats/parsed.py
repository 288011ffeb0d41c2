"""What does every format make of a file? Messages, as the file tells them.

Knows nothing of persons, databases or who owns the memory.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from oldfriend.domain.trust import Role
from oldfriend.transfer.formats.source import Glimpse, Source

Note = Callable[[str], None]
"""How a reader mentions something that the person should know, such as a guess it made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedMessage:
    """One message of an export, with its place in the file."""

    line: int
    chat: str  # what tells this chat from others of the same format
    chat_title: str
    session: str | None = None
    speaker: str  # empty for a known role whose name the file does not tell
    role: Role | None = None  # None: depends on who the owner is
    text: str
    at: datetime  # naive: by the clock where the export was made; UTC: a moment, no zone told
    external_id: str
    has_own_id: bool = False  # the file gives it; else it follows from the words
    outside: bool = False  # forwarded, attached or fetched, not said
    is_placeholder: bool = False  # stands for something that the export left out
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A kind of file that can be imported. Its name becomes the channel."""

    name: str
    title: str
    chats_have_ids: bool  # the file names its chats in a way that never changes
    recognise: Callable[[Glimpse], bool]
    read: Callable[[Source, Note], Iterator[ParsedMessage]]

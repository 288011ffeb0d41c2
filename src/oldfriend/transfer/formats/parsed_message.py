"""Parsed messages: the common output of every format parser, as the file states it.

People, databases and the owner of the memory are not known here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from oldfriend.domain.trust import Role
from oldfriend.transfer.formats.source import FormatProbe, SourceFile

AddNotice = Callable[[str], None]
"""Reports something that the person should know about the file, such as a guess."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedMessage:
    """One message of an export, with its line in the file."""

    line: int
    chat: str  # identifies this chat among others of the same format
    chat_title: str
    session: str | None = None
    speaker: str  # empty for a known role without a name in the file
    role: Role | None = None  # None: depends on who the owner is
    text: str
    at: datetime  # naive: local time of the export; UTC: exact, in an unknown zone
    external_id: str
    has_own_id: bool = False  # from the file; else derived from the content
    outside: bool = False  # forwarded, attached or fetched, so not the speaker's own words
    is_placeholder: bool = False  # stands for media that the export left out
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFormat:
    """A file format that can be imported; its name becomes the channel."""

    name: str
    title: str
    chats_have_ids: bool  # the file gives its chats stable ids
    can_parse: Callable[[FormatProbe], bool]
    parse: Callable[[SourceFile, AddNotice], Iterator[ParsedMessage]]

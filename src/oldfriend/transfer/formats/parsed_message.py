"""Parsed messages: the common output of every format parser, as the file states it.

People, databases and the owner of the memory are not known here.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from oldfriend.domain.messages import Role, is_single_line
from oldfriend.transfer.formats.source import FormatProbe, SourceFile

MAX_TIMES_KEPT = 5_000
"""Enough for every second of an hour, because times repeat when clocks go back by one."""


class ContentIds:
    """Derives the ids of one chat's messages in the order of the file."""

    def __init__(self) -> None:
        """Start before the first message."""
        self._counts_by_time: OrderedDict[str, dict[bytes, int]] = OrderedDict()

    def derive(self, *, time: str, speaker: str, text: str) -> str:
        """Return the id of the next message; the same in every export that contains it."""
        content = "\0".join((time, speaker, text)).encode("utf-8", "surrogatepass")
        key = hashlib.blake2b(content, digest_size=12).digest()
        count = self._get_counts(time)
        ordinal = count[key] = count.get(key, 0) + 1
        return f"{key.hex()}-{ordinal}"

    def _get_counts(self, moment: str) -> dict[bytes, int]:
        count = self._counts_by_time.get(moment)
        if count is None:
            count = self._counts_by_time[moment] = {}
            if len(self._counts_by_time) > MAX_TIMES_KEPT:
                self._counts_by_time.popitem(last=False)
        return count


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

    def __post_init__(self) -> None:
        """Put the names on one line."""
        if not is_single_line(self.speaker):
            object.__setattr__(self, "speaker", " ".join(self.speaker.split()))
        if not is_single_line(self.chat_title):
            object.__setattr__(self, "chat_title", " ".join(self.chat_title.split()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFormat:
    """A file format that can be imported; its name becomes the channel."""

    name: str
    title: str
    chats_have_ids: bool  # the file gives its chats stable ids
    can_parse: Callable[[FormatProbe], bool]
    parse: Callable[[SourceFile, AddNotice], Iterator[ParsedMessage]]

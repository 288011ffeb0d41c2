"""What was said? A message as it is written down, and as it stands in the log."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import BatchId, ChatId, MessageId, PersonId, SessionId, TurnId
from oldfriend.domain.trust import Role, TrustClass

CALLED = "called"
"""In a message's details: with which of its words it calls the companion; they say nothing else."""
PICKED = "picked"
"""There: the part of the message replied to that is meant, as its version, beginning and end."""
MAX_TEXT = 1_000_000
"""Characters in one message; far above any channel's own limit (ACCEPTANCE SEC1)."""
WIDE = re.compile("[\u2e80-\U0010ffff]")
"""Characters that are about a token each: CJK, and emoji."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """Something somebody said, before it has a place in the log."""

    role: Role
    speaker: str
    text: str
    at: Micros
    zone: str = "UTC"
    trust: TrustClass
    external_id: str | None = None
    details: Mapping[str, str] = field(default_factory=dict)  # forwarded_from, media, recording …
    author: str | None = None  # who it really was; None: as role and speaker tell
    findable: bool = True  # False: nobody's words, such as "Ana joined"; kept, but never found


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One version of one message, as it stands in the log. Only an edit adds a version."""

    id: MessageId
    version: int
    seq: int  # order of writing, per person; each version has its own
    person: PersonId
    chat: ChatId
    session: SessionId
    session_name: str  # the id it came with, else our own
    channel: str
    role: Role
    author: str
    speaker: str
    trust: TrustClass
    text: str
    at: Micros
    zone: str
    language: str
    tokens: int
    turn: TurnId | None
    external_id: str | None
    batch: BatchId | None
    details: Mapping[str, str]


def picked_from(message: Message, picked: str | None) -> Message:
    """A message with only the part of it that is meant; whole where it has changed since."""
    version, _, span = (picked or "").partition(":")
    if version != str(message.version):
        return message
    start, _, end = span.partition(":")
    return replace(message, text=message.text[int(start) : int(end)])


def estimate_tokens(text: str) -> int:
    """How many tokens a model would count, roughly: a quarter of the characters.

    CJK characters count one each. Never asks the network.
    """
    wide = 0 if text.isascii() else len(WIDE.findall(text))
    return (len(text) - wide + 3) // 4 + wide


def storable(text: str) -> str:
    """The same text with what no database can hold (half characters, NUL) shown as U+FFFD."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

"""Channel events: what people do on a platform, as values that are the same for every platform.

A sender is an address here; who it belongs to is resolved elsewhere.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from oldfriend.domain.clock import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """The author of an event, as the platform knows them."""

    address: str
    name: str
    language: str | None = None  # such as "pt", if the platform knows it


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRef:
    """A chat on a platform."""

    channel: str
    address: str
    title: str
    is_private: bool

    @property
    def group_address(self) -> str:
        """Return the address of the whole group, of which this may be one topic."""
        return self.address.partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """A new or edited message of somebody."""

    chat_ref: ChatRef
    sender: Sender
    key: str  # the platform's id, the same on redelivery
    number: int | None  # if the platform numbers its messages
    at: Micros
    text: str
    is_edit: bool = False
    is_own_words: bool = True  # False: forwarded, or a contact card
    is_readable: bool = True  # False: only a file that is not read
    is_addressed: bool = True  # in a group: names the companion or replies to it
    replies_to: str | None = None  # the key of another message
    quoted_text: str = ""  # the text it replies to
    quoted_from: str = ""  # the author of that text
    album_id: str = ""  # shared by messages that were sent together
    details: dict[str, str] = field(default_factory=dict)  # forwarded_from, media


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """An emoji that somebody put on a message; empty: they removed it."""

    chat_ref: ChatRef
    sender: Sender
    key: str
    message_key: str  # the message reacted to
    at: Micros
    emoji: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAvailability:
    """Whether a chat accepts our messages."""

    chat_ref: ChatRef
    is_available: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipChange:
    """People who have joined a group or left it."""

    chat_ref: ChatRef
    members: tuple[Sender, ...]
    has_joined: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMoved:
    """A chat with a new address."""

    channel: str
    old_address: str
    new_address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableUpdate:
    """An update that cannot be parsed; ``reason`` quotes nothing of it."""

    channel: str
    update_id: int | None
    reason: str


ChannelEvent: TypeAlias = (
    IncomingMessage | Reaction | ChatAvailability | MembershipChange | ChatMoved | UnreadableUpdate
)

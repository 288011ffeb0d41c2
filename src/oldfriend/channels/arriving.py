"""What do people do on a platform? The same values, whichever platform it is.

Knows nothing of who is meant: a sender is an address.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from oldfriend.domain.clock import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who did something, as the platform knows them."""

    address: str
    name: str
    language: str | None = None  # such as "pt", where the platform knows it


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where something happened: a chat on a platform."""

    channel: str
    address: str
    title: str
    is_private: bool

    @property
    def group(self) -> str:
        """The address of the whole group, of which this may be one topic."""
        return self.address.partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Somebody has said something, or changed what they had said."""

    spot: Spot
    sender: Sender
    key: str  # the platform's name of it, the same when it comes again
    number: int | None  # where the platform counts its messages
    at: Micros
    text: str
    is_edit: bool = False
    is_theirs: bool = True  # False: forwarded, or somebody's card; not the sender's own words
    is_read: bool = True  # False: there is nothing in it but a file that nobody looks into
    is_to_us: bool = True  # in a group: it names the companion, or replies to it
    replies_to: str | None = None  # the key of another message
    quoted: str = ""  # the words that it replies to
    quoted_from: str = ""  # who said them
    album: str = ""  # what was sent in one go bears the same
    details: dict[str, str] = field(default_factory=dict)  # forwarded_from, media


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """Somebody has put an emoji to a message; none: they took it back."""

    spot: Spot
    sender: Sender
    key: str
    on: str  # the key of the message
    at: Micros
    emoji: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """A chat takes our messages, or takes none any more."""

    spot: Spot
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """Somebody has come into a group, or has left it."""

    spot: Spot
    who: tuple[Sender, ...]
    is_in: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """A chat has another address now."""

    channel: str
    before: str
    now: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Garbled:
    """Something has come that nobody can read; ``why`` quotes nothing of it."""

    channel: str
    update: int | None
    why: str


Arriving: TypeAlias = Message | Reaction | Door | Company | Removal | Garbled

"""Channel: a platform on which people talk to the companion: its spec, protocol and events.

An *external id* is the platform's id of a message, theirs or ours; a *send key* is the idempotency
key that we give to a part of a reply.

A channel is only for platforms that replies must be sent to: the terminal reads its replies from
the log.

A sender is an address here; who it belongs to is resolved elsewhere.

A new channel is a folder beside ``telegram`` with a spec, and a line in ``registry``.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Protocol, TypeAlias

from oldfriend.domain.clock import Micros
from oldfriend.domain.i18n_messages import LocalizedText
from oldfriend.domain.setting_parsers import (
    SettingsSection,
    list_parser,
    number_parser,
    parse_bool,
    parse_url,
    text_parser,
)


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
    external_id: str  # the platform's id, the same on redelivery
    number: int | None  # if the platform numbers its messages
    at: Micros
    text: str
    is_edit: bool = False
    is_own_words: bool = True  # False: forwarded, or a contact card
    is_readable: bool = True  # False: only a file that is not read
    is_addressed: bool = True  # in a group: names the companion or replies to it
    replies_to: str | None = None  # the external id of another message
    quoted_text: str = ""  # the text it replies to
    quoted_from: str = ""  # the author of that text
    album_id: str = ""  # shared by messages that were sent together
    details: dict[str, str] = field(default_factory=dict)  # forwarded_from, media


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """An emoji that somebody put on a message; empty: they removed it."""

    chat_ref: ChatRef
    sender: Sender
    external_id: str  # of the reaction itself
    target_external_id: str  # the message reacted to
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


WEB_CHANNEL: Final = "web"
"""The channel of the web page, which may be open anywhere, unlike a terminal."""

HandleEvent: TypeAlias = Callable[[ChannelEvent], Awaitable[None]]
"""Handles an event; when it returns, the event is durable. Raises StoreError."""


class DraftPreview(Protocol):
    """A preview that shows a reply while it is being written; best effort.

    It disappears when the reply is sent, or is a message that becomes the reply.
    """

    @property
    def interval_s(self) -> float:
        """Return the minimum seconds between two updates."""

    @property
    def external_id(self) -> str | None:
        """Return the id of the message that is to become the reply; None: there is none."""

    @property
    def is_sending(self) -> bool:
        """Tell whether such a message is being sent now; before ending, wait for its id."""

    async def show(self, text: str) -> None:
        """Show the text so far; for an empty text, only that a reply is being written.

        Raises DeliveryFailed, Undeliverable, ChatAddressChanged.
        """


class Channel(Protocol):
    """A platform on which people chat."""

    @property
    def debounce_s(self) -> float:
        """Return the seconds of silence after which messages are answered."""

    def split(self, text: str) -> Sequence[str]:
        """Split a reply as the platform needs it; splitting a part again returns it unchanged."""

    async def send(
        self, address: str, text: str, *, send_key: str, preview_send_key: str | None = None
    ) -> str:
        """Send one part and return its external id.

        The same part comes with the same ``send_key`` if a crash left open whether it was sent: a
        platform with idempotency keys shows it once. ``preview_send_key`` is the one with which
        a DraftPreview may have shown it. Raises DeliveryFailed, Undeliverable, ChatAddressChanged.
        """

    async def edit(self, address: str, external_id: str, text: str) -> bool:
        """Replace the text of a message of ours; False: it no longer exists.

        Raises DeliveryFailed, ChatBlocked, ChatAddressChanged.
        """

    async def send_audio(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, send_key: str
    ) -> str:
        """Send a spoken reply and return its external id.

        Raises DeliveryFailed, Undeliverable, ChatAddressChanged.
        """

    async def download_audio(self, file_id: str) -> bytes:
        """Download a recording that the platform holds. Raises DeliveryFailed, NotFound."""

    def open_preview(
        self, address: str, *, send_key: str, external_id: str | None = None
    ) -> DraftPreview | None:
        """Open a preview of a reply that is being written; None: the channel has none.

        ``external_id``: the message that showed it before. Without one, the channel may
        know of a message that was sent but never recorded.
        """

    async def listen(self, handle_event: HandleEvent) -> None:
        """Receive events without end, in order within each chat.

        An event that was not handled is received again. Raises PlatformUnavailable,
        PlatformRejected.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSettings(SettingsSection):
    """The settings that every channel has; a channel may have more, and other parsers."""

    enabled: Annotated[bool, parse_bool] = True  # if there is a token
    allowed: Annotated[tuple[str, ...], list_parser(text_parser("an address", r"\S+"))] = ()
    base_url: Annotated[str, parse_url]
    quiet_s: Annotated[float, number_parser(ge=0, le=60)] = 2.0  # debounce time in seconds


class BotChannel(Channel, Protocol):
    """A channel on which the companion is a bot with a token."""

    async def register(self) -> str:
        """Tell the platform how the bot hears of messages, and return the bot's name there.

        Raises PlatformRejected, PlatformUnavailable.
        """

    async def diagnose(self) -> "BotDiagnosis":
        """Ask the platform how the bot is doing, without taking updates away from a listener.

        Raises PlatformRejected, PlatformUnavailable.
        """

    async def close(self) -> None:
        """Close the connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotFinding:
    """Something that a platform reports about the bot."""

    text: LocalizedText
    is_problem: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BotDiagnosis:
    """The bot as the platform knows it."""

    findings: Sequence[BotFinding]
    # says of groups, by their names, that the bot does not hear all there; None: it does
    format_group_hint: Callable[[str], LocalizedText] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSpec:
    """A platform: its name, its settings, how it is opened, and what to tell people about it."""

    name: str  # in the database, in the settings file and on the command line
    title: str  # as people call it
    default_settings: ChannelSettings
    file_only_settings: frozenset[str]  # settings that cannot be changed from the page
    # opens the bot with a token, the settings of the channel and a folder of its own; imports what
    # it needs. Raises PlatformRejected for a token that cannot be one, and without the extra.
    open_bot: Callable[[str, ChannelSettings, Path], BotChannel]
    setup_help: str  # how to get a token
    farewell_help: str  # how to end the bot for good
    bot_link: str  # the address of a {bot}
    code_link: str  # the address that opens a {bot} and sends it a {code}

"""Channel: a platform on which people talk to the companion: its spec, protocol and events.

An *external id* is the platform's id of a message, theirs or ours; a *send key* is the idempotency
key that we give to a part of a reply.

A channel is only for platforms that replies must be sent to: the terminal reads its replies from
the log.

A sender is an address here; who it belongs to is resolved elsewhere.

A channel inherits ``BotChannel`` and writes what its platform has: what it leaves out (an edit,
audio, a preview, a look-up of what was sent) is answered as by a platform that has none.

A new channel is a folder beside ``telegram`` with a spec, and a line in ``registry``.
"""

import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal, Protocol, TypeAlias

from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound, Undeliverable
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

    @property
    def edit_id(self) -> str:
        """Return the external id of what answers an edit: a late caption or mention."""
        return f"{self.external_id}/edited"


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
class ButtonPress:
    """A press of a button below a message of ours; what the platform passes on may be forged."""

    chat_ref: ChatRef
    sender: Sender
    target_external_id: str  # the message with the button
    command: str

    @property
    def external_id(self) -> str:
        """Return the id of what the press says: of all presses below a message, only one counts."""
        return f"press/{self.target_external_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PressAnswer:
    """What comes of a press: what only the one who pressed is told, and whether the buttons go."""

    text: str = ""
    is_used: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDeletion:
    """A message that its author has deleted on the platform.

    What is known to be a moderator's doing is none: it takes nothing from anybody's memory. Where
    the platform does not say whose it was, it is taken for the author's.
    """

    chat_ref: ChatRef
    external_id: str  # of the message


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageUndelivered:
    """A message of ours that the platform had accepted, and did not deliver after all."""

    chat_ref: ChatRef
    external_id: str  # of our message
    reason: str
    may_retry: bool  # False: it would be refused again


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
    IncomingMessage
    | Reaction
    | ButtonPress
    | MessageDeletion
    | MessageUndelivered
    | ChatAvailability
    | MembershipChange
    | ChatMoved
    | UnreadableUpdate
)


DIARY_CHANNEL: Final = "diary"
"""The channel of what is written into the diary on the page, where nothing is answered."""
TERMINAL_CHANNEL: Final = "terminal"
"""The channel of the chat in a terminal."""
WEB_CHANNEL: Final = "web"
"""The channel of the web page, which may be open anywhere, unlike a terminal."""
API_CHANNEL: Final = "openai"
"""The channel of chat front ends that take the companion for a model."""
VOICE_CHANNEL: Final = "voice"
"""The channel of voice assistants, which stand in the same house as this machine."""
PROGRAM_CHANNELS: Final = frozenset({API_CHANNEL, VOICE_CHANNEL})
"""Channels of programs, which hear replies only and do not prove who speaks each time."""
REMOTE_CHANNELS: Final = frozenset({WEB_CHANNEL, API_CHANNEL})
"""Channels that are no platform, and whose people may be anywhere."""

HandleEvent: TypeAlias = Callable[[ChannelEvent], Awaitable[PressAnswer | None]]
"""Handles an event; when it returns, the event is durable. Raises StoreError.

It returns what comes of a press of a button, and None of all else.
"""


class Cursors(Protocol):
    """What a channel asks of us: how far it has been heard, and whom we know there."""

    async def find(self, scope: str) -> str | None:
        """Return the position saved last for a scope, such as a chat or the whole account."""

    async def save(self, scope: str, position: str) -> None:
        """Save a position, once everything up to it has been handled. Raises StoreError."""

    async def is_known(self, address: str) -> bool:
        """Tell whether a person has paired or a group was let in, or its address is allowed."""

    async def find_forgotten_times(self, addresses: Collection[str]) -> Mapping[str, Micros]:
        """Return when everything of the owner of each address was last forgotten, if ever."""


@dataclass(frozen=True, slots=True)
class SentLookup:
    """Whether a part was sent with a key, and if so, its external id."""

    outcome: Literal["yes", "no", "unknown"]
    external_id: str = ""


NOT_SENT: Final = SentLookup("no")
SENDING_UNKNOWN: Final = SentLookup("unknown")


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


class TypingPreview:
    """A preview that only shows that a reply is being written, now and then."""

    is_sending = False

    def __init__(
        self,
        show_typing: Callable[[], Awaitable[None]],
        *,
        interval_s: float,
        external_id: str | None = None,
    ) -> None:
        """Take what shows it, and how many seconds it is seen at least."""
        self._show_typing = show_typing
        self.interval_s = interval_s
        self.external_id = external_id
        self._shown_at = -interval_s

    async def show(self, text: str) -> None:
        """Show that a reply is being written, if that is not seen still."""
        del text  # it is shown once it is whole
        if time.monotonic() - self._shown_at >= self.interval_s:
            self._shown_at = time.monotonic()
            await self._show_typing()


class Channel(Protocol):
    """A platform on which people chat; its classes inherit this.

    What the arguments have that it does not show (buttons, Markdown), it leaves out.
    """

    debounce_s: float
    """The seconds of silence after which messages are answered."""

    def split(self, text: str, *, is_markdown: bool = False) -> Sequence[str]:
        """Split a reply as the platform needs it; splitting a part again returns it unchanged.

        What is not Markdown is shown as it stands: here, in ``send`` and in ``edit``.
        """

    async def send(
        self,
        address: str,
        text: str,
        *,
        send_key: str,
        preview_send_key: str | None = None,
        is_markdown: bool = False,
        buttons: Sequence[Button] = (),
    ) -> str:
        """Send one part and return its external id.

        The same part comes with the same ``send_key`` if a crash left open whether it was sent: a
        platform with idempotency keys shows it once. ``preview_send_key`` is the one with which
        a DraftPreview may have shown it. Raises OutcomeUnknown if it may have been sent all the
        same, DeliveryFailed if it was not, WindowClosed, Undeliverable, ChatAddressChanged.
        """

    async def was_sent(self, address: str, send_key: str, *, since: Micros = 0) -> SentLookup:
        """Tell whether a part was sent; asked before it is sent again, unless it ``sends_once``.

        It was not sent before ``since``. Raises DeliveryFailed.
        """
        del address, send_key, since
        return SENDING_UNKNOWN

    async def ask_to_write(self, address: str, *, send_key: str) -> bool:
        """Ask somebody by a message that the platform has approved to write; False: it has none.

        Raises DeliveryFailed, Undeliverable.
        """
        del address, send_key
        return False

    async def edit(
        self,
        address: str,
        external_id: str,
        text: str,
        *,
        is_markdown: bool = False,
        buttons: Sequence[Button] = (),
    ) -> bool:
        """Replace the text and the buttons of a message of ours; False: it no longer exists.

        Raises DeliveryFailed, ChatBlocked, ChatAddressChanged.
        """
        del address, external_id, text, is_markdown, buttons
        return False

    async def send_audio(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, send_key: str
    ) -> str:
        """Send a spoken reply and return its external id.

        Raises DeliveryFailed, Undeliverable, ChatAddressChanged.
        """
        del address, audio, is_opus, title, send_key
        raise Undeliverable("This platform takes no audio.")

    async def download_audio(self, file_id: str) -> bytes:
        """Download a recording that the platform holds. Raises DeliveryFailed, NotFound."""
        raise NotFound(f"This platform holds no recordings, so not {file_id!r}.")

    def open_preview(
        self, address: str, *, send_key: str, external_id: str | None = None
    ) -> DraftPreview | None:
        """Open a preview of a reply that is being written; None: the channel has none.

        ``external_id``: the message that showed it before. Without one, the channel may
        know of a message that was sent but never recorded.
        """
        del address, send_key, external_id
        return None

    async def listen(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        """Receive events without end, in order within each chat.

        An event that was not handled is received again; ``cursors`` keep how far that is, where
        the platform does not. Raises PlatformUnavailable, PlatformRejected.
        """


ALWAYS_RELOADABLE: Final = ("enabled", "allowed")
"""The settings of every channel that a reload applies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSettings(SettingsSection):
    """The settings that every channel has; a channel may have more, and other parsers."""

    enabled: Annotated[bool, parse_bool] = True  # if there is a token
    allowed: Annotated[tuple[str, ...], list_parser(text_parser("an address", r"\S+"))] = ()
    base_url: Annotated[str, parse_url] = ""  # where it is reached, unless a credential says so
    quiet_s: Annotated[float, number_parser(ge=0, le=60)] = 2.0  # debounce time in seconds

    @property
    def listen_port(self) -> int | None:
        """Return the port of this machine on which the platform calls us, if it does."""
        return None

    @property
    def reloadable(self) -> tuple[str, ...]:
        """Return the names of the settings that a reload applies to a running channel."""
        return ALWAYS_RELOADABLE


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

    def apply_settings(self, channel_settings: "ChannelSettings") -> None:
        """Take the settings of a reload, for what may change while the bot is open."""
        del channel_settings


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
class ChannelCapabilities:
    """What a platform has; the contract suite proves each on the channel's fake."""

    longest_text: int  # the most characters of a part, as ``split`` cuts
    can_edit: bool = False  # our messages
    has_buttons: bool = False
    has_voice: bool = False  # takes audio
    shows_typing: bool = False  # or what is being written
    has_reactions: bool = False  # that are heard
    has_groups: bool = False
    sends_once: bool = False  # shows once what is sent twice with the same key
    # how long it takes messages after the person has written, in microseconds; None: always
    reply_window: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelCredential:
    """A value that opens a bot; asked for by `oldfriend connect` and on the page."""

    name: str  # a word of the variable that may hold it: OLDFRIEND_SLACK_APP_TOKEN
    label: str  # what people are asked for
    is_secret: bool = True  # not shown while it is typed
    is_url: bool = False  # an address that requests are sent to
    default: str = ""  # what an empty answer means; without one it is required


TOKEN: Final = ChannelCredential(name="token", label="Token of the bot")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSpec:
    """A platform: its name, its settings, how it is opened, and what to tell people about it."""

    name: str  # in the database, in the settings file and on the command line
    title: str  # as people call it
    default_settings: ChannelSettings
    file_only_settings: frozenset[str]  # settings that cannot be changed from the page
    # opens the bot with its credentials, the settings of the channel and a folder of its own;
    # imports what it needs. Raises PlatformRejected for what is wrong, and without the extra.
    open_bot: Callable[[Mapping[str, str], ChannelSettings, Path], BotChannel]
    setup_help: str  # how to get a token; "{port}" is where we listen
    farewell_help: str  # how to end the bot for good
    bot_link: str  # the address of a {bot}
    code_link: str  # the address that opens a {bot} and sends it a {code}
    capabilities: ChannelCapabilities
    credentials: tuple[ChannelCredential, ...] = (TOKEN,)
    # the setting without which nobody is answered, and what people are asked for
    needed_setting: ChannelCredential | None = None
    make_link: str | None = None  # the address at which the platform makes the bot by itself
    # files in its folder that tell when whom was written to, which it can do without at any time
    record_files: tuple[str, ...] = ()
    gives_codes: bool = True  # False: others may read what is sent there
    # whether a stranger sends a code there; if not, only who is in ``allowed`` does and is answered
    pairs_by_code: bool = True

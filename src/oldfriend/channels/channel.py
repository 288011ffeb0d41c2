"""Channel: the protocol of a platform on which people talk to the companion.

Only for platforms that replies must be sent to: the terminal reads its replies from the log.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol, TypeAlias

from oldfriend.channels.channel_events import ChannelEvent

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
    def message_key(self) -> str | None:
        """Return the key of the message that is to become the reply; None: there is none."""

    @property
    def is_sending(self) -> bool:
        """Tell whether such a message is being sent now; before ending, wait for its key."""

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
        self, address: str, text: str, *, key: str, preview_key: str | None = None
    ) -> str:
        """Send one part and return the platform's key for it.

        The same part comes with the same ``key`` if a crash left open whether it was sent: a
        platform with idempotency keys shows it once. ``preview_key``: the key with which a
        DraftPreview may have shown it. Raises DeliveryFailed, Undeliverable, ChatAddressChanged.
        """

    async def edit(self, address: str, message_key: str, text: str) -> bool:
        """Replace the text of a message of ours; False: it no longer exists.

        Raises DeliveryFailed, ChatBlocked, ChatAddressChanged.
        """

    async def send_audio(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, key: str
    ) -> str:
        """Send a spoken reply and return the message's key.

        Raises DeliveryFailed, Undeliverable, ChatAddressChanged.
        """

    async def download_audio(self, file_id: str) -> bytes:
        """Download a recording that the platform holds. Raises DeliveryFailed, NotFound."""

    def open_preview(
        self, address: str, *, key: str, message_key: str | None = None
    ) -> DraftPreview | None:
        """Open a preview of a reply that is being written; None: the channel has none.

        ``message_key``: the key of the message that showed it before. Without one, the channel may
        know of a message that was sent but never recorded.
        """

    async def listen(self, handle_event: HandleEvent) -> None:
        """Receive events without end, in order within each chat.

        An event that was not handled is received again. Raises PlatformUnavailable,
        PlatformRejected.
        """

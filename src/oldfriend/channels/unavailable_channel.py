"""Unavailable channel: stands in for a platform that cannot be reached and says why when asked."""

from collections.abc import Sequence

from oldfriend.channels.channel import HandleEvent
from oldfriend.domain.errors import DeliveryFailed, PlatformRejected


class UnavailableChannel:
    """A configured platform that lacks something it needs."""

    debounce_s = 0.0

    def __init__(self, reason: str) -> None:
        """Take the reason."""
        self.reason = reason

    def split(self, text: str) -> Sequence[str]:
        """Return the text whole; a process that reaches the platform splits it."""
        return [text]

    async def send(
        self, address: str, text: str, *, key: str, preview_key: str | None = None
    ) -> str:
        """Raise DeliveryFailed."""
        del address, text, key, preview_key
        raise DeliveryFailed(self.reason)

    async def edit(self, address: str, message_key: str, text: str) -> bool:
        """Raise DeliveryFailed."""
        del address, message_key, text
        raise DeliveryFailed(self.reason)

    async def send_audio(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, key: str
    ) -> str:
        """Raise DeliveryFailed."""
        del address, audio, is_opus, title, key
        raise DeliveryFailed(self.reason)

    async def download_audio(self, file_id: str) -> bytes:
        """Raise DeliveryFailed."""
        del file_id
        raise DeliveryFailed(self.reason)

    def open_preview(self, address: str, *, key: str, message_key: str | None = None) -> None:
        """Return None: there is no preview."""
        del address, key, message_key

    async def listen(self, handle_event: HandleEvent) -> None:
        """Raise PlatformRejected."""
        del handle_event
        raise PlatformRejected(self.reason)

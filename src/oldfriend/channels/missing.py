"""What stands in for a platform that cannot be reached from here? It says why when it is asked."""

from collections.abc import Sequence

from oldfriend.channels.channel import Receive
from oldfriend.domain.errors import NotDelivered, PlatformRefused


class NoChannel:
    """A platform that is wanted, for which something is missing."""

    quiet_s = 0.0

    def __init__(self, why: str) -> None:
        """Know what is missing."""
        self.why = why

    def parts(self, text: str) -> Sequence[str]:
        """Whoever reaches it cuts it."""
        return [text]

    async def send(self, address: str, text: str, *, key: str) -> str:
        """Raise NotDelivered."""
        del address, text, key
        raise NotDelivered(self.why)

    async def amend(self, address: str, shown: str, text: str) -> bool:
        """Raise NotDelivered."""
        del address, shown, text
        raise NotDelivered(self.why)

    async def send_aloud(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, key: str
    ) -> str:
        """Raise NotDelivered."""
        del address, audio, is_opus, title, key
        raise NotDelivered(self.why)

    async def fetch(self, name: str) -> bytes:
        """Raise NotDelivered."""
        del name
        raise NotDelivered(self.why)

    def glimpse(self, address: str, *, key: str, shown: str | None = None) -> None:
        """There is none."""
        del address, key, shown

    async def listen(self, receive: Receive) -> None:
        """Raise PlatformRefused."""
        del receive
        raise PlatformRefused(self.why)

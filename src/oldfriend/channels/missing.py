"""What stands where a platform is that cannot be reached from here? It says why, to whoever asks."""

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
        """Send nothing. Raises NotDelivered."""
        raise NotDelivered(self.why)

    def draft(self, address: str, *, key: str) -> None:
        """There is none."""

    async def listen(self, receive: Receive) -> None:
        """Hear nothing. Raises PlatformRefused."""
        raise PlatformRefused(self.why)

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

    def glimpse(self, address: str, *, key: str) -> None:
        """There is none."""
        del address, key

    async def listen(self, receive: Receive) -> None:
        """Raise PlatformRefused."""
        del receive
        raise PlatformRefused(self.why)

"""What do we ask of a place where people talk to the companion?

Only of places that must be reached: the terminal reads its replies from the log.
"""

from collections.abc import Sequence
from typing import Protocol


class Channel(Protocol):
    """A platform, such as Telegram."""

    @property
    def quiet_s(self) -> float:
        """How long it must have been quiet before what was said is answered."""

    def parts(self, text: str) -> Sequence[str]:
        """A reply, cut as the platform needs it."""

    async def send(self, address: str, text: str, *, key: str) -> None:
        """Send one part. Raises NotDelivered, Undeliverable.

        The same part comes with the same key if a crash left open whether it was sent: a platform
        that knows keys shows it once.
        """

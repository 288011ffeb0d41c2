"""What do we ask of a place where people talk to the companion?

Only of places that must be reached: the terminal reads its replies from the log.
"""

from collections.abc import Sequence
from typing import Final, Protocol

PLATFORMS: Final[frozenset[str]] = frozenset()
"""The names of the channels whose replies are sent, whichever process answers. There is none yet.

Every other channel is a place where whoever waits reads the reply from the log: a terminal, a
program, a diary.
"""


class Channel(Protocol):
    """A platform, such as Telegram."""

    @property
    def quiet_s(self) -> float:
        """How long it must have been quiet before what was said is answered."""

    def parts(self, text: str) -> Sequence[str]:
        """A reply, cut as the platform needs it; what is a part already stays whole."""

    async def send(self, address: str, text: str, *, key: str) -> None:
        """Send one part. Raises NotDelivered, Undeliverable.

        The same part comes with the same key if a crash left open whether it was sent: a platform
        that knows keys shows it once.
        """

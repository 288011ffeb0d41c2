"""What do we ask of a place where people talk to the companion?

Only of places that must be reached: the terminal reads its replies from the log.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol, TypeAlias

from oldfriend.channels.arriving import Arriving

PLATFORMS: Final[frozenset[str]] = frozenset({"telegram"})
"""The names of the channels whose replies are sent, whichever process answers.

Every other channel is a place where whoever waits reads the reply from the log: a terminal, a
program, a diary.
"""
PAGE: Final = "web"
"""The channel of the page, which may be open anywhere, unlike a terminal."""

Receive: TypeAlias = Callable[[Arriving], Awaitable[None]]
"""Takes in what has happened: when it returns, that is durable. Raises StoreError if it cannot."""


class Glimpse(Protocol):
    """Shows a reply in its place while it is being written; best effort.

    It is gone with the reply, or it is a message that becomes the reply.
    """

    @property
    def every_s(self) -> float:
        """How often at most."""

    @property
    def shown(self) -> str | None:
        """The key of the message that is to become the reply; None: there is none."""

    @property
    def is_placing(self) -> bool:
        """Whether such a message is being sent just now: whoever ends here waits for its key."""

    async def show(self, text: str) -> None:
        """Show how far it has come; no text yet: only that it is being written.

        Raises NotDelivered, Undeliverable, PlaceMoved.
        """


class Channel(Protocol):
    """A platform, such as Telegram."""

    @property
    def quiet_s(self) -> float:
        """How long it must have been quiet before what was said is answered."""

    def parts(self, text: str) -> Sequence[str]:
        """A reply, cut as the platform needs it; what is a part already stays whole."""

    async def send(self, address: str, text: str, *, key: str) -> str:
        """Send one part; the key by which the platform knows it.

        The same part comes with the same key if a crash left open whether it was sent: a platform
        that knows keys shows it once. Raises NotDelivered, Undeliverable, PlaceMoved.
        """

    async def amend(self, address: str, shown: str, text: str) -> bool:
        """Have a message of ours read otherwise; False: it is not there any more.

        Raises NotDelivered, PlaceClosed, PlaceMoved.
        """

    async def send_aloud(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, key: str
    ) -> str:
        """Send a reply as it sounds; the key of that message. Raises as ``send``."""

    async def fetch(self, name: str) -> bytes:
        """A recording that the platform has. Raises NotDelivered, NotFound."""

    def glimpse(self, address: str, *, key: str, shown: str | None = None) -> Glimpse | None:
        """A way to show a reply while it is being written; None: there is none.

        ``shown``: the key of the message in which it was being shown before. Where there is none,
        the channel may know of one that was sent and never noted.
        """

    async def listen(self, receive: Receive) -> None:
        """Hear what people do, in the order of each chat, without end.

        What has not been received is heard again. Raises PlatformUnavailable, PlatformRefused.
        """

"""Bot connections: opens each bot once, and stands in for one that cannot be opened."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from oldfriend.channels.channel import BotChannel, Channel, ChannelSpec, HandleEvent
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.provider_resolution import find_channel_token
from oldfriend.config.settings import Settings
from oldfriend.domain.errors import DeliveryFailed, PlatformRejected
from oldfriend.llm.addresses import find_refusal


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
        self, address: str, text: str, *, send_key: str, preview_send_key: str | None = None
    ) -> str:
        """Raise DeliveryFailed."""
        del address, text, send_key, preview_send_key
        raise DeliveryFailed(self.reason)

    async def edit(self, address: str, external_id: str, text: str) -> bool:
        """Raise DeliveryFailed."""
        del address, external_id, text
        raise DeliveryFailed(self.reason)

    async def send_audio(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, send_key: str
    ) -> str:
        """Raise DeliveryFailed."""
        del address, audio, is_opus, title, send_key
        raise DeliveryFailed(self.reason)

    async def download_audio(self, file_id: str) -> bytes:
        """Raise DeliveryFailed."""
        del file_id
        raise DeliveryFailed(self.reason)

    def open_preview(self, address: str, *, send_key: str, external_id: str | None = None) -> None:
        """Return None: there is no preview."""
        del address, send_key, external_id

    async def listen(self, handle_event: HandleEvent) -> None:
        """Raise PlatformRejected."""
        del handle_event
        raise PlatformRejected(self.reason)


class BotConnections:
    """The connected platforms, with one connection per token that survives reloads."""

    def __init__(self) -> None:
        """Connect to none yet."""
        self._opened: dict[tuple[str, str], BotChannel] = {}  # by channel and token

    def connect_channels(self, settings: Settings) -> dict[str, Channel]:
        """Return the connected channels; an unusable one reports why when it is used.

        Raises InvalidInput where keys are stored insecurely.
        """
        connected: dict[str, Channel] = {}
        for spec in CHANNELS.values():
            if settings.channels[spec.name].enabled:
                token = find_channel_token(settings, spec.name)
                if token is not None:
                    connected[spec.name] = self._connect(spec, token.value, settings)
        return connected

    async def close(self) -> None:
        """Close the connections."""
        for each in self._opened.values():
            await each.close()

    def _connect(self, spec: ChannelSpec, token: str, settings: Settings) -> Channel:
        if (spec.name, token) not in self._opened:
            try:
                self._opened[spec.name, token] = open_bot(spec, token, settings)
            except PlatformRejected as error:
                return UnavailableChannel(str(error))
        return self._opened[spec.name, token]


def open_bot(spec: ChannelSpec, token: str, settings: Settings) -> BotChannel:
    """Open a bot on a platform.

    Raises PlatformRejected without the extra, for an invalid token, and for a base URL that no
    request may be sent to.
    """
    chosen = settings.channels[spec.name]
    if refusal := find_refusal(chosen.base_url):
        raise PlatformRejected(refusal)
    return spec.open_bot(token, chosen, settings.data / spec.name)


@asynccontextmanager
async def opened_bot(
    spec: ChannelSpec, token: str, settings: Settings
) -> AsyncIterator[BotChannel]:
    """Open a bot for a moment. Raises PlatformRejected."""
    bot = open_bot(spec, token, settings)
    try:
        yield bot
    finally:
        await bot.close()


async def register_bot(spec: ChannelSpec, token: str, settings: Settings) -> str:
    """Tell the platform how the bot hears of messages, and return the bot's name there.

    Raises PlatformRejected, PlatformUnavailable.
    """
    async with opened_bot(spec, token, settings) as bot:
        return await bot.register()

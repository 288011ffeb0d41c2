"""Channel registry: the connections to messaging platforms, each opened once."""

from typing import TYPE_CHECKING

from oldfriend.channels.channel import Channel
from oldfriend.channels.unavailable_channel import UnavailableChannel
from oldfriend.config.provider_resolution import find_channel_token
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import TelegramSettings
from oldfriend.domain.errors import PlatformRejected
from oldfriend.domain.i18n_messages import build_missing_extra_text, localizable
from oldfriend.llm.addresses import find_refusal

if TYPE_CHECKING:
    from oldfriend.channels.telegram.bot_api import BotIdentity, WebhookStatus
    from oldfriend.channels.telegram.telegram_channel import TelegramChannel
    from oldfriend.channels.telegram.webhook import WebhookAddress


class ChannelRegistry:
    """The connected platforms, with one connection per token that survives reloads."""

    def __init__(self) -> None:
        """Connect to none yet."""
        self._made: dict[str, TelegramChannel] = {}

    def connect_channels(self, settings: Settings) -> dict[str, Channel]:
        """Return the connected channels; an unusable one reports why when it is used.

        Raises InvalidInput where keys are stored insecurely.
        """
        token = find_channel_token(settings, "telegram") if settings.telegram.enabled else None
        return {} if token is None else {"telegram": self._telegram(token.value, settings)}

    async def close(self) -> None:
        """Close the connections."""
        for each in self._made.values():
            await each.close()

    def _telegram(self, token: str, settings: Settings) -> Channel:
        if token not in self._made:
            try:
                self._made[token] = open_telegram(token, settings)
            except PlatformRejected as error:
                return UnavailableChannel(str(error))
        return self._made[token]


def open_telegram(token: str, settings: Settings) -> "TelegramChannel":
    """Open a Telegram bot.

    Raises PlatformRejected without the extra, for an invalid token, and for a base URL that no
    request may be sent to.
    """
    try:
        from telegram.error import InvalidToken

        from oldfriend.channels.telegram.telegram_channel import TelegramChannel
    except ImportError as error:
        raise PlatformRejected(
            build_missing_extra_text("Telegram", "oldfriend[telegram]")
        ) from error
    chosen = settings.telegram
    if refusal := find_refusal(chosen.base_url):
        raise PlatformRejected(refusal)
    try:
        return TelegramChannel(
            token,
            base_url=chosen.base_url,
            debounce_s=chosen.quiet_s,
            webhook=build_webhook(chosen),
            folder=settings.data / "telegram",
        )
    except InvalidToken as error:
        raise PlatformRejected(
            localizable("bot_token_unfit", "That cannot be a token of a Telegram bot.")
        ) from error


def build_webhook(chosen: TelegramSettings) -> "WebhookAddress | None":
    """Return the configured webhook; None if updates are polled."""
    from oldfriend.channels.telegram.webhook import WebhookAddress

    if chosen.webhook is None:
        return None
    return WebhookAddress(url=chosen.webhook, host=chosen.webhook_host, port=chosen.webhook_port)


async def register_bot(settings: Settings, token: str) -> str:
    """Register the webhook, if one is configured, and return the bot's username.

    Raises PlatformRejected, PlatformUnavailable.
    """
    telegram = open_telegram(token, settings)
    try:
        await telegram.register_webhook()
        return await telegram.get_username()
    finally:
        await telegram.close()


async def fetch_bot_state(settings: Settings, token: str) -> "tuple[BotIdentity, WebhookStatus]":
    """Fetch the bot's identity and webhook status. Raises PlatformRejected, PlatformUnavailable."""
    telegram = open_telegram(token, settings)
    try:
        return await telegram.get_state()
    finally:
        await telegram.close()

"""Telegram spec: how its bot is opened, and what people are told about it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oldfriend.channels.channel import ChannelCapabilities, ChannelSettings, ChannelSpec
from oldfriend.channels.telegram.telegram_settings import TelegramSettings
from oldfriend.domain.errors import PlatformRejected
from oldfriend.domain.i18n_messages import build_missing_extra_text, localizable

if TYPE_CHECKING:
    from oldfriend.channels.telegram.telegram_channel import TelegramChannel

TOKEN: Final = re.compile(r"\d{1,20}:[\w-]{1,200}", re.ASCII)
"""What @BotFather gives out: the number of the bot and a secret."""


def open_bot(
    credentials: Mapping[str, str], channel_settings: ChannelSettings, folder: Path
) -> "TelegramChannel":
    """Open a bot on Telegram. Raises PlatformRejected without the extra or for an unfit token."""
    assert isinstance(channel_settings, TelegramSettings)
    try:
        from oldfriend.channels.telegram.telegram_channel import TelegramChannel
        from oldfriend.channels.telegram.webhook import WebhookAddress
    except ImportError as error:
        raise PlatformRejected(
            build_missing_extra_text("Telegram", "oldfriend[telegram]")
        ) from error
    if TOKEN.fullmatch(credentials["token"]) is None:
        title = "Telegram"
        text = f"That cannot be the token of a {title} bot."
        raise PlatformRejected(localizable("bot_token_unfit", text, title=title))
    webhook = None
    if channel_settings.webhook is not None:
        webhook = WebhookAddress(
            url=channel_settings.webhook,
            host=channel_settings.webhook_host,
            port=channel_settings.webhook_port,
        )
    return TelegramChannel(
        credentials["token"],
        base_url=channel_settings.base_url,
        debounce_s=channel_settings.quiet_s,
        webhook=webhook,
        folder=folder,
    )


TELEGRAM: Final = ChannelSpec(
    name="telegram",
    title="Telegram",
    default_settings=TelegramSettings(),
    file_only_settings=frozenset({"base_url", "webhook", "webhook_host", "webhook_port"}),
    open_bot=open_bot,
    setup_help=(
        "To create a bot, write /newbot to @BotFather on Telegram. It gives you a token.\n"
        "What is said to a bot passes through Telegram's servers, and they can read it."
    ),
    farewell_help="To delete the bot itself, write /deletebot to @BotFather.",
    bot_link="https://t.me/{bot}",
    code_link="https://t.me/{bot}?start={code}",
    capabilities=ChannelCapabilities(
        longest_text=4_096,
        can_edit=True,
        has_buttons=True,
        has_voice=True,
        shows_typing=True,
        has_reactions=True,
        has_groups=True,
    ),
)

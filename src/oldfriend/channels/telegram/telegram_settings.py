"""Telegram settings: who may write there, and how Telegram is reached."""

from dataclasses import dataclass, replace
from typing import Annotated, Final

from oldfriend.channels.channel import ChannelSettings
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.setting_parsers import (
    int_parser,
    list_parser,
    optional_parser,
    parse_url,
    text_parser,
)

OFFICIAL_URL: Final = "https://api.telegram.org"

PARSE_USER_ID = text_parser(
    localizable("expected_user", "the number of a Telegram user or group, such as 123456789"),
    r"-?[1-9]\d{0,18}",
)
PARSE_USER_IDS = list_parser(lambda given: PARSE_USER_ID(replace(given, value=str(given.value))))
PARSE_WEBHOOK_URL = text_parser(
    localizable(
        "expected_proxy",
        "the address of a proxy that Telegram can reach, such as https://me.example/api/telegram",
    ),
    r"https?://[^\s@]+/api/telegram",
)
PARSE_HOST = text_parser(
    localizable("expected_host", "an address of this machine, such as 127.0.0.1"),
    r"[A-Za-z0-9.:-]+",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramSettings(ChannelSettings):
    """Who may write on Telegram besides those who have paired, and how it is reached.

    The token is no setting: `oldfriend connect telegram` stores it.
    """

    allowed: Annotated[
        tuple[str, ...], PARSE_USER_IDS
    ] = ()  # ids of users and groups; empty: nobody
    base_url: Annotated[str, parse_url] = OFFICIAL_URL
    webhook: Annotated[str | None, optional_parser(PARSE_WEBHOOK_URL)] = (
        None  # the URL that Telegram calls; None: polling
    )
    webhook_host: Annotated[str, PARSE_HOST] = (
        "127.0.0.1"  # the local address that receives these calls
    )
    webhook_port: Annotated[int, int_parser(ge=1, le=65_535)] = 8345

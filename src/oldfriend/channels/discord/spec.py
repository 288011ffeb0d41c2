"""Discord spec: how its bot is opened, and what people are told about it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from oldfriend.channels.channel import ChannelCapabilities, ChannelSettings, ChannelSpec
from oldfriend.domain.errors import PlatformRejected
from oldfriend.domain.i18n_messages import build_missing_extra_text, localizable
from oldfriend.domain.setting_parsers import list_parser, parse_url, text_parser

if TYPE_CHECKING:
    from oldfriend.channels.discord.discord_channel import DiscordChannel

OFFICIAL_URL: Final = "https://discord.com"
PARSE_ID = text_parser(
    "the number of a Discord user or channel, such as 80351110224678912", r"[1-9]\d{0,19}"
)
TOKEN: Final = re.compile(r"[\w-]{1,200}+(?:\.[\w-]{1,200}+){2}", re.ASCII)
"""What Discord gives out: three parts between dots."""
PARSE_IDS = list_parser(lambda given: PARSE_ID(replace(given, value=str(given.value))))


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordSettings(ChannelSettings):
    """Who may write on Discord besides those who have paired, and how it is reached."""

    allowed: Annotated[tuple[str, ...], PARSE_IDS] = ()  # ids of users and channels
    base_url: Annotated[str, parse_url] = OFFICIAL_URL


def open_bot(
    credentials: Mapping[str, str], channel_settings: ChannelSettings, folder: Path
) -> "DiscordChannel":
    """Open a bot on Discord. Raises PlatformRejected without the extra or for an unfit token."""
    del folder  # Discord itself knows what was sent
    try:
        from oldfriend.channels.discord.discord_channel import DiscordChannel
    except ImportError as error:
        raise PlatformRejected(build_missing_extra_text("Discord", "oldfriend[discord]")) from error
    if TOKEN.fullmatch(credentials["token"]) is None:
        title = "Discord"
        text = f"That cannot be the token of a {title} bot."
        raise PlatformRejected(localizable("bot_token_unfit", text, title=title))
    return DiscordChannel(
        credentials["token"],
        base_url=channel_settings.base_url,
        debounce_s=channel_settings.quiet_s,
        allowed=channel_settings.allowed,
    )


DISCORD: Final = ChannelSpec(
    name="discord",
    title="Discord",
    default_settings=DiscordSettings(),
    file_only_settings=frozenset({"base_url"}),
    open_bot=open_bot,
    setup_help=(
        "1. Open https://discord.com/developers/applications and choose New Application. Under\n"
        "   Bot, choose Reset Token and copy the token. It needs no privileged intent.\n"
        "2. Under Installation, leave User Install and Guild Install on; for servers, add the\n"
        "   scope bot with Send Messages, Read Message History and Attach Files. Open the\n"
        "   install link, and add the bot to yourself or to a server.\n"
        "What is said to a bot passes through Discord's servers, and they can read it."
    ),
    farewell_help="To delete the bot itself, delete its application where you made it.",
    bot_link="https://discord.com/channels/@me",
    code_link="https://discord.com/channels/@me",
    capabilities=ChannelCapabilities(
        longest_text=2_000,
        can_edit=True,
        has_buttons=True,
        has_voice=True,
        shows_typing=True,
        has_reactions=True,
        has_groups=True,
        sends_once=True,
    ),
)

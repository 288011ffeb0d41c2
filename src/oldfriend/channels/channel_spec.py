"""Channel spec: what the rest of Oldfriend needs to know of a platform before it is connected.

A new channel is a folder beside ``telegram`` with a spec, and a line in ``registry``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

from oldfriend.channels.channel import Channel
from oldfriend.domain.i18n_messages import LocalizedText
from oldfriend.domain.setting_parsers import (
    SettingsSection,
    list_parser,
    number_parser,
    parse_bool,
    parse_url,
    text_parser,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSettings(SettingsSection):
    """The settings that every channel has; a channel may have more, and other parsers."""

    enabled: Annotated[bool, parse_bool] = True  # if there is a token
    allowed: Annotated[tuple[str, ...], list_parser(text_parser("an address", r"\S+"))] = ()
    base_url: Annotated[str, parse_url]
    quiet_s: Annotated[float, number_parser(ge=0, le=60)] = 2.0  # debounce time in seconds


class BotChannel(Channel, Protocol):
    """A channel on which the companion is a bot with a token."""

    async def register(self) -> str:
        """Tell the platform how the bot hears of messages, and return the bot's name there.

        Raises PlatformRejected, PlatformUnavailable.
        """

    async def diagnose(self) -> "BotDiagnosis":
        """Ask the platform how the bot is doing, without taking updates away from a listener.

        Raises PlatformRejected, PlatformUnavailable.
        """

    async def close(self) -> None:
        """Close the connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotFinding:
    """Something that a platform reports about the bot."""

    text: LocalizedText
    is_problem: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BotDiagnosis:
    """The bot as the platform knows it."""

    findings: Sequence[BotFinding]
    # says of groups, by their names, that the bot does not hear all there; None: it does
    format_group_hint: Callable[[str], LocalizedText] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSpec:
    """A platform: its name, its settings, how it is opened, and what to tell people about it."""

    name: str  # in the database, in the settings file and on the command line
    title: str  # as people call it
    default_settings: ChannelSettings
    file_only_settings: frozenset[str]  # settings that cannot be changed from the page
    # opens the bot with a token, the settings of the channel and a folder of its own; imports what
    # it needs. Raises PlatformRejected for a token that cannot be one, and without the extra.
    open_bot: Callable[[str, ChannelSettings, Path], BotChannel]
    setup_help: str  # how to get a token
    farewell_help: str  # how to end the bot for good
    bot_link: str  # the address of a {bot}
    code_link: str  # the address that opens a {bot} and sends it a {code}

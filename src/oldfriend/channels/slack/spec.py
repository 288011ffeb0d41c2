"""Slack spec: how its bot is opened, its settings, and what people are told about it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from oldfriend.channels.channel import (
    ChannelCapabilities,
    ChannelCredential,
    ChannelSettings,
    ChannelSpec,
)
from oldfriend.channels.slack.app_manifest import build_manifest_link
from oldfriend.domain.errors import PlatformRejected
from oldfriend.domain.i18n_messages import build_missing_extra_text, localizable
from oldfriend.domain.setting_parsers import list_parser, parse_url, text_parser

if TYPE_CHECKING:
    from oldfriend.channels.slack.slack_channel import SlackChannel

OFFICIAL_URL: Final = "https://slack.com/api"
BOT_TOKEN, APP_TOKEN = "bot_token", "app_token"
TOKEN_PREFIXES: Final = {BOT_TOKEN: "xoxb-", APP_TOKEN: "xapp-"}

PARSE_ID = text_parser(
    localizable(
        "expected_slack_id",
        "the id of a member or a channel of Slack, such as U012AB3CD or C012AB3CD",
    ),
    r"[UWCDG][A-Z0-9]{2,20}",
)
PARSE_IDS = list_parser(lambda given: PARSE_ID(replace(given, value=str(given.value))))


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackSettings(ChannelSettings):
    """Who may write on Slack besides those who have paired, and how it is reached.

    The tokens are no settings: `oldfriend connect slack` stores them.
    """

    allowed: Annotated[tuple[str, ...], PARSE_IDS] = ()  # ids of members and channels
    base_url: Annotated[str, parse_url] = OFFICIAL_URL


def open_bot(
    credentials: Mapping[str, str], channel_settings: ChannelSettings, folder: Path
) -> "SlackChannel":
    """Open a bot on Slack. Raises PlatformRejected without the extra or for unfit tokens."""
    del folder  # Slack itself is asked what was sent
    try:
        from oldfriend.channels.slack.slack_channel import SlackChannel
    except ImportError as error:
        raise PlatformRejected(build_missing_extra_text("Slack", "oldfriend[slack]")) from error
    for name, prefix in TOKEN_PREFIXES.items():
        if not credentials[name].startswith(prefix):
            raise PlatformRejected(
                localizable(
                    "slack_token_unfit",
                    f"Slack needs two tokens: the bot token begins with xoxb-, the app-level token "
                    f"with xapp-. The one given here does not begin with {prefix}.",
                    prefix=prefix,
                )
            )
    return SlackChannel(
        credentials[BOT_TOKEN],
        credentials[APP_TOKEN],
        base_url=channel_settings.base_url,
        debounce_s=channel_settings.quiet_s,
    )


SLACK: Final = ChannelSpec(
    name="slack",
    title="Slack",
    default_settings=SlackSettings(),
    file_only_settings=frozenset({"base_url"}),
    open_bot=open_bot,
    setup_help=(
        "1. Open this link, choose your workspace and create the app:\n"
        f"   {build_manifest_link()}\n"
        "2. Under Install App, install it; that gives you the bot token (xoxb-...).\n"
        "3. Under Basic Information, App-Level Tokens, generate a token with the scope\n"
        "   connections:write; that is the app-level token (xapp-...).\n"
        "What is said to the app passes through Slack's servers, and they can read it; so can the\n"
        "owners of the workspace."
    ),
    farewell_help="To delete the app itself: api.slack.com/apps, Basic Information, Delete App.",
    bot_link="@{bot} in Slack, under Apps,",
    code_link="https://app.slack.com/client",
    capabilities=ChannelCapabilities(
        longest_text=3_000,
        can_edit=True,
        has_buttons=True,
        has_voice=True,
        has_reactions=True,
        has_groups=True,
    ),
    make_link=build_manifest_link(),
    credentials=(
        ChannelCredential(name=BOT_TOKEN, label="Bot token (xoxb-...)"),
        ChannelCredential(name=APP_TOKEN, label="App-level token (xapp-...)"),
    ),
    gives_codes=False,
)

"""Matrix spec: how its bot is opened, who may write there, and what people are told about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from oldfriend.channels.channel import (
    ChannelCapabilities,
    ChannelCredential,
    ChannelSettings,
    ChannelSpec,
)
from oldfriend.domain.errors import PlatformRejected
from oldfriend.domain.i18n_messages import build_missing_extra_text, localizable
from oldfriend.domain.setting_parsers import list_parser, parse_url, text_parser

if TYPE_CHECKING:
    from oldfriend.channels.matrix.matrix_channel import MatrixChannel

PARSE_MATRIX_IDS = list_parser(
    text_parser(
        localizable(
            "expected_matrix_id",
            "the id of a Matrix user or room, such as @ana:example.org",
        ),
        r"[@!][^\s:/]{1,200}(?::[^\s/]{1,255})?",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixSettings(ChannelSettings):
    """Who may write on Matrix besides those who have paired.

    Homeserver, user and password are no settings: `oldfriend connect matrix` stores them.
    """

    allowed: Annotated[tuple[str, ...], PARSE_MATRIX_IDS] = ()  # users and rooms; empty: nobody
    base_url: Annotated[str, parse_url] = ""  # another address of the homeserver


def open_bot(
    credentials: Mapping[str, str], channel_settings: ChannelSettings, folder: Path
) -> "MatrixChannel":
    """Open a bot on Matrix. Raises PlatformRejected without the extra or for an unfit name."""
    assert isinstance(channel_settings, MatrixSettings)
    try:
        from oldfriend.channels.matrix.matrix_channel import MatrixChannel
    except ImportError as error:
        raise PlatformRejected(build_missing_extra_text("Matrix", "oldfriend[matrix]")) from error
    return MatrixChannel(
        channel_settings.base_url or credentials["homeserver"],
        credentials["user"],
        credentials["password"],
        folder=folder,
        debounce_s=channel_settings.quiet_s,
    )


MATRIX: Final = ChannelSpec(
    name="matrix",
    title="Matrix",
    default_settings=MatrixSettings(),
    file_only_settings=frozenset({"base_url"}),
    open_bot=open_bot,
    setup_help=(
        "Create an account for the bot on any homeserver that takes a password, and let nothing "
        "else use it.\nIn encrypted rooms the homeserver cannot read what is said, only who talks "
        "when and with whom."
    ),
    farewell_help=(
        "To end the bot for good, deactivate its account on the homeserver, and delete the folder "
        "matrix in the data folder, which has its keys."
    ),
    bot_link="https://matrix.to/#/{bot}",
    code_link="https://matrix.to/#/{bot}",
    capabilities=ChannelCapabilities(
        longest_text=4_000,
        can_edit=True,
        has_voice=True,
        shows_typing=True,
        has_reactions=True,
        has_groups=True,
        sends_once=True,
    ),
    credentials=(
        ChannelCredential(
            name="homeserver",
            label="Address of the homeserver",
            is_secret=False,
            is_url=True,
            default="https://matrix.org",
        ),
        ChannelCredential(
            name="user", label="The bot's user, such as @friend:matrix.org", is_secret=False
        ),
        ChannelCredential(name="password", label="The bot's password"),
    ),
)

"""Channel registry: every platform on which people can talk to the companion."""

from typing import Final

from oldfriend.channels.channel import ChannelSpec
from oldfriend.channels.discord.spec import DISCORD
from oldfriend.channels.email.spec import EMAIL
from oldfriend.channels.matrix.spec import MATRIX
from oldfriend.channels.slack.spec import SLACK
from oldfriend.channels.telegram.spec import TELEGRAM
from oldfriend.channels.whatsapp.spec import WHATSAPP

CHANNELS: Final[dict[str, ChannelSpec]] = {
    spec.name: spec for spec in (TELEGRAM, WHATSAPP, DISCORD, SLACK, MATRIX, EMAIL)
}
"""By name. Replies on these are sent, whichever process answers.

On every other channel whoever waits reads the reply from the log: a terminal, a program, a diary.
"""


def has_reply_window(channel: str) -> bool:
    """Tell whether a platform takes messages only for a while after somebody has written."""
    spec = CHANNELS.get(channel)
    return spec is not None and spec.capabilities.reply_window is not None

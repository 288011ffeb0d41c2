"""Channel registry: every platform on which people can talk to the companion."""

from typing import Final

from oldfriend.channels.channel import ChannelSpec
from oldfriend.channels.discord.spec import DISCORD
from oldfriend.channels.email.spec import EMAIL
from oldfriend.channels.matrix.spec import MATRIX
from oldfriend.channels.slack.spec import SLACK
from oldfriend.channels.telegram.spec import TELEGRAM
from oldfriend.channels.whatsapp.spec import WHATSAPP
from oldfriend.domain.clock import Micros

CHANNELS: Final[dict[str, ChannelSpec]] = {
    spec.name: spec for spec in (TELEGRAM, WHATSAPP, DISCORD, SLACK, MATRIX, EMAIL)
}
"""By name. Replies on these are sent, whichever process answers.

On every other channel whoever waits reads the reply from the log: a terminal, a program, a diary.
"""


def has_reply_window(channel: str) -> bool:
    """Tell whether a platform takes messages only for a while after somebody has written."""
    return find_reply_window(channel) is not None


def find_reply_window(channel: str) -> Micros | None:
    """Return how long after somebody has written a platform takes messages; None: always."""
    spec = CHANNELS.get(channel)
    return None if spec is None else spec.capabilities.reply_window

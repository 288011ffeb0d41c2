"""Channel registry: every platform on which people can talk to the companion."""

from typing import Final

from oldfriend.channels.channel import ChannelSpec
from oldfriend.channels.telegram.spec import TELEGRAM

CHANNELS: Final[dict[str, ChannelSpec]] = {spec.name: spec for spec in (TELEGRAM,)}
"""By name. Replies on these are sent, whichever process answers.

On every other channel whoever waits reads the reply from the log: a terminal, a program, a diary.
"""

"""E-mail settings: who may write by mail, and how mails are heard and answered."""

from dataclasses import dataclass, replace
from typing import Annotated, Final

from typing_extensions import override

from oldfriend.channels.channel import ALWAYS_RELOADABLE, ChannelSettings
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.setting_parsers import (
    RawSetting,
    list_parser,
    number_parser,
    optional_parser,
    text_parser,
)

CHANNEL_NAME: Final = "email"
RECORD_FILE: Final = "accepted"
"""The file of the mails that were handed over and accepted lately."""
LONGEST_TEXT: Final = 50_000
"""Characters of one mail of ours; servers take more, people do not."""
PARSE_ADDRESS = text_parser(
    localizable("expected_mail_address", "an e-mail address, such as ana@example.org"),
    r"[a-z0-9!#$%&'*+=?^_`{|}~.-]{1,64}@[a-z0-9.-]{1,190}",
)
PARSE_SERVER_ID = text_parser(
    localizable("expected_server_id", "the name of your mail server, such as mx.example.org"),
    r"(?:\*\.)?[A-Za-z0-9][A-Za-z0-9._-]{0,199}",
)


def parse_mail_address(raw: RawSetting) -> str:
    """Parse an e-mail address; its letters are kept in lower case."""
    return PARSE_ADDRESS(replace(raw, value=str(raw.value).strip().lower()))


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailSettings(ChannelSettings):
    """Who may write by mail, and how mails are heard and answered.

    The address and its password are no settings: `oldfriend connect email` stores them.
    """

    allowed: Annotated[tuple[str, ...], list_parser(parse_mail_address)] = ()
    authserv_id: Annotated[str | None, optional_parser(PARSE_SERVER_ID)] = (
        None  # how our mail server signs its checks of senders; None: no mail is believed
    )
    reply_every_min: Annotated[float, number_parser(ge=0, le=1440)] = (
        2.0  # at most one reply per thread in so many minutes
    )
    poll_s: Annotated[float, number_parser(ge=0.05, le=3600)] = (
        60.0  # seconds between two looks, where the server does not tell of new mails
    )

    @property
    @override
    def reloadable(self) -> tuple[str, ...]:
        """Return those of every channel, and what is read anew at each look into the mailbox."""
        return (*ALWAYS_RELOADABLE, "authserv_id", "reply_every_min", "poll_s")

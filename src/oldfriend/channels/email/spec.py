"""E-mail spec: how our mailbox is opened, and what people are told about it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oldfriend.channels.channel import (
    ChannelCapabilities,
    ChannelCredential,
    ChannelSettings,
    ChannelSpec,
)
from oldfriend.channels.email.email_settings import (
    CHANNEL_NAME,
    LONGEST_TEXT,
    RECORD_FILE,
    EmailSettings,
    parse_mail_address,
)
from oldfriend.domain.errors import InvalidInput, PlatformRejected
from oldfriend.domain.i18n_messages import build_missing_extra_text
from oldfriend.domain.setting_parsers import RawSetting

if TYPE_CHECKING:
    from oldfriend.channels.email.email_channel import EmailChannel


def open_bot(
    credentials: Mapping[str, str], channel_settings: ChannelSettings, folder: Path
) -> "EmailChannel":
    """Open our mailbox. Raises PlatformRejected without the extra, or for what is no mailbox."""
    assert isinstance(channel_settings, EmailSettings)
    try:
        from oldfriend.channels.email.email_channel import EmailChannel
        from oldfriend.channels.email.mail_servers import MailAccount, parse_server
    except ImportError as error:
        raise PlatformRejected(build_missing_extra_text("E-mail", "oldfriend[email]")) from error
    try:
        address = parse_mail_address(
            RawSetting(value=credentials["address"], source="address", is_text=True)
        )
    except InvalidInput as error:
        raise PlatformRejected(str(error)) from error
    account = MailAccount(
        address=address,
        password=credentials["password"],
        imap=parse_server(credentials["imap"], secure_scheme="imaps"),
        smtp=parse_server(credentials["smtp"], secure_scheme="smtps"),
    )
    return EmailChannel(account, channel_settings, folder)


EMAIL: Final = ChannelSpec(
    name=CHANNEL_NAME,
    title="E-mail",
    default_settings=EmailSettings(),
    file_only_settings=frozenset({"base_url", "poll_s"}),
    open_bot=open_bot,
    setup_help=(
        "Give the companion a mailbox of its own, which nobody else writes from. Your provider\n"
        "names the servers; where you sign in with a second factor, make an app password for it.\n"
        "Mail passes through the servers of both providers, and they can read it."
    ),
    farewell_help="To end the mailbox itself, close the account at its provider.",
    bot_link="mailto:{bot}",
    code_link="mailto:{bot}?body={code}",
    pairs_by_code=False,
    gives_codes=False,
    needed_setting=ChannelCredential(
        name="authserv_id",
        label="Name of your mail server, such as mx.example.org",
        is_secret=False,
    ),
    capabilities=ChannelCapabilities(longest_text=LONGEST_TEXT),
    record_files=(RECORD_FILE,),
    credentials=(
        ChannelCredential(name="address", label="Address of the companion", is_secret=False),
        ChannelCredential(name="password", label="Password (or app password)"),
        ChannelCredential(
            name="imap", label="Server to read from, such as imap.example.org", is_secret=False
        ),
        ChannelCredential(
            name="smtp", label="Server to send with, such as smtp.example.org", is_secret=False
        ),
    ),
)

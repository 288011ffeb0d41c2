"""WhatsApp spec: how its number is opened, and what people are told about it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oldfriend.channels.channel import (
    ChannelCapabilities,
    ChannelCredential,
    ChannelSettings,
    ChannelSpec,
)
from oldfriend.channels.whatsapp.whatsapp_settings import (
    RECORD_FILE,
    WEBHOOK_PATH,
    WhatsAppSettings,
)
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import PlatformRejected
from oldfriend.domain.i18n_messages import build_missing_extra_text, localizable

if TYPE_CHECKING:
    from oldfriend.channels.whatsapp.whatsapp_channel import WhatsAppChannel

MAX_TEXT_CHARS: Final = 4_096


def open_bot(
    credentials: Mapping[str, str], channel_settings: ChannelSettings, folder: Path
) -> "WhatsAppChannel":
    """Open a number on WhatsApp.

    Raises PlatformRejected without the extra or for a phone number ID that cannot be one.
    """
    assert isinstance(channel_settings, WhatsAppSettings)
    try:
        from oldfriend.channels.whatsapp.whatsapp_channel import WhatsAppChannel
    except ImportError as error:
        raise PlatformRejected(
            build_missing_extra_text("WhatsApp", "oldfriend[whatsapp]")
        ) from error
    phone_number_id = credentials["phone_number_id"]
    if not (phone_number_id.isascii() and phone_number_id.isdigit()):
        raise PlatformRejected(
            localizable(
                "whatsapp_number_unfit",
                "The phone number ID has digits only; it is not the phone number itself. It "
                "stands in your app under WhatsApp, API Setup.",
            )
        )
    return WhatsAppChannel(credentials, channel_settings, folder=folder)


WHATSAPP: Final = ChannelSpec(
    name="whatsapp",
    title="WhatsApp",
    default_settings=WhatsAppSettings(),
    file_only_settings=frozenset({"base_url", "webhook_host", "webhook_port"}),
    open_bot=open_bot,
    setup_help=(
        "1. On developers.facebook.com, make an app with WhatsApp. Under WhatsApp, API Setup, it\n"
        "   shows the phone number ID; a system user's token lasts. The app secret stands under\n"
        "   App settings, Basic. The verify token is a word that you make up.\n"
        f"2. Let your proxy pass on what it is sent over HTTPS at {WEBHOOK_PATH} to port\n"
        "   {port} of this machine.\n"
        "3. While the server runs, open WhatsApp, Configuration: enter that address as the\n"
        "   callback URL, and the verify token, and subscribe to the field messages.\n"
        "4. Publish the app: until then Meta passes on nothing that anybody writes.\n"
        "Meta reads what is said on WhatsApp to a number of the Cloud API."
    ),
    farewell_help="To end the number itself, remove it from your app on developers.facebook.com.",
    bot_link="https://wa.me/{bot}",
    code_link="https://wa.me/{bot}?text={code}",
    capabilities=ChannelCapabilities(
        longest_text=MAX_TEXT_CHARS,
        has_buttons=True,
        has_voice=True,
        shows_typing=True,
        has_reactions=True,
        reply_window=DAY,
    ),
    credentials=(
        ChannelCredential(name="token", label="Access token"),
        ChannelCredential(name="phone_number_id", label="Phone number ID", is_secret=False),
        ChannelCredential(name="app_secret", label="App secret"),
        ChannelCredential(name="verify_token", label="Verify token (a word that you make up)"),
    ),
    record_files=(RECORD_FILE,),
)

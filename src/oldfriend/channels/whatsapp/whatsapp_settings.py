"""WhatsApp settings: who may write there, how Meta reaches us, and what asks people to write."""

from dataclasses import dataclass, replace
from typing import Annotated, Final

from typing_extensions import override

from oldfriend.channels.channel import ChannelSettings
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.setting_parsers import (
    RawSetting,
    int_parser,
    list_parser,
    optional_parser,
    parse_url,
    text_parser,
)

WEBHOOK_PATH: Final = "/api/whatsapp"
DEFAULT_PORT: Final = 8346
RECORD_FILE: Final = "deliveries"
"""Tells what became of the messages that we sent lately, and which chats may be written to."""
OFFICIAL_URL: Final = "https://graph.facebook.com/v26.0"

PARSE_PERSON = text_parser(
    localizable("expected_phone", "a phone number with its country code, such as +351912345678"),
    r"\+?[1-9][0-9]{5,14}|[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}",
)
PARSE_HOST = text_parser(
    localizable("expected_host", "an address of this machine, such as 127.0.0.1"),
    r"[A-Za-z0-9.:-]+",
)
PARSE_TEMPLATE = text_parser(
    localizable("expected_template", "the name of a message template, such as good_to_see_you"),
    r"[a-z0-9_]{1,512}",
)
PARSE_TEMPLATE_LANGUAGE = text_parser(
    localizable("expected_template_language", "the language of a template, such as en or pt_BR"),
    r"[a-z]{2,3}(?:_[A-Z]{2,3})?",
)


def parse_person(given: RawSetting) -> str:
    """Parse a phone number, or the id that WhatsApp gives to somebody who hides theirs."""
    return PARSE_PERSON(replace(given, value=str(given.value))).removeprefix("+")


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatsAppSettings(ChannelSettings):
    """Who may write on WhatsApp besides those who have paired, and how it reaches us.

    Token and secrets are no settings: `oldfriend connect whatsapp` stores them.
    """

    allowed: Annotated[tuple[str, ...], list_parser(parse_person)] = ()  # phone numbers
    base_url: Annotated[str, parse_url] = OFFICIAL_URL
    webhook_host: Annotated[str, PARSE_HOST] = (
        "127.0.0.1"  # the local address that receives Meta's calls
    )
    webhook_port: Annotated[int, int_parser(ge=1, le=65_535)] = DEFAULT_PORT
    template: Annotated[str | None, optional_parser(PARSE_TEMPLATE)] = (
        None  # sent where a day has passed since they wrote; None: we wait until they do
    )
    template_language: Annotated[str, PARSE_TEMPLATE_LANGUAGE] = "en"

    @property
    @override
    def listen_port(self) -> int:
        """Return the port of this machine on which Meta's calls arrive."""
        return self.webhook_port

"""API errors: maps the Telegram library's errors to errors of ours."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    RetryAfter,
    TelegramError,
)

from oldfriend.domain.errors import (
    ChatBlocked,
    DeliveryFailed,
    PlatformRejected,
    PlatformUnavailable,
    Undeliverable,
)
from oldfriend.domain.i18n_messages import localizable

MARKUP_ERROR: Final = "can't parse entities"
CHAT_GONE_ERRORS: Final = ("chat not found", "user is deactivated", "peer_id_invalid")

SECRET: Final = re.compile(r"(?<=/bot)[^/\s]+|(?<!\d)\d{1,20}:[\w-]{20,}")
"""A token, as it stands in an address or alone."""


def quote(error: TelegramError) -> str:
    """Return what an error of the library says, without the token."""
    return SECRET.sub("…", str(error))


class GroupMigrated(Exception):
    """A group that has a new address."""

    def __init__(self, chat_id: int) -> None:
        """Take the new chat id."""
        super().__init__(f"The group has become a supergroup: {chat_id}.")
        self.chat_id = chat_id


@contextmanager
def map_receive_errors() -> Iterator[None]:
    """Map the library's errors while receiving to PlatformUnavailable or PlatformRejected."""
    try:
        yield
    except RetryAfter as error:
        raise PlatformUnavailable(quote(error), retry_after_s=get_retry_after_s(error)) from error
    except InvalidToken as error:
        raise PlatformRejected(
            localizable(
                "bot_token_unknown",
                "Telegram does not know this token. Get the right one from @BotFather, then: "
                "oldfriend connect telegram",
            )
        ) from error
    except Conflict as error:
        raise PlatformRejected(
            localizable(
                "bot_heard_elsewhere",
                "Something else receives this bot's messages: another Oldfriend, or a webhook "
                f"({quote(error)}). Stop it, or use a separate bot.",
            )
        ) from error
    except BadRequest as error:
        raise PlatformRejected(f"Telegram refuses: {quote(error)}") from error
    except TelegramError as error:
        raise PlatformUnavailable(f"Telegram cannot be reached: {quote(error)}") from error


@contextmanager
def map_send_errors(
    passthrough: type[TelegramError] | tuple[type[TelegramError], ...] | None = None,
) -> Iterator[None]:
    """Map the library's errors while sending to errors of ours, except ``passthrough``."""
    try:
        yield
    except TelegramError as error:
        if passthrough is not None and isinstance(error, passthrough):
            raise
        raise to_delivery_error(error) from error


def to_delivery_error(error: TelegramError) -> DeliveryFailed | Undeliverable | GroupMigrated:
    """Convert a Telegram error to one of ours."""
    match error:
        case ChatMigrated():
            return GroupMigrated(error.new_chat_id)
        case RetryAfter():
            return DeliveryFailed(quote(error), retry_after_s=get_retry_after_s(error))
        case Forbidden():
            return ChatBlocked(f"The bot was blocked there: {quote(error)}")
        case BadRequest():
            return to_undeliverable(error)
        case InvalidToken():
            return DeliveryFailed("Telegram does not know this token any more.")
        case _:
            return DeliveryFailed(f"Telegram cannot be reached: {quote(error)}")


def to_undeliverable(error: BadRequest) -> Undeliverable:
    """Convert a permanent refusal; to ChatBlocked if the whole chat is gone."""
    if any(words in str(error).lower() for words in CHAT_GONE_ERRORS):
        return ChatBlocked(f"The chat no longer exists: {quote(error)}")
    return Undeliverable(f"Telegram refuses: {quote(error)}")


def get_retry_after_s(error: RetryAfter) -> float:
    """Return the seconds that Telegram asks us to wait."""
    wait = error.retry_after
    return float(wait) if isinstance(wait, int) else wait.total_seconds()

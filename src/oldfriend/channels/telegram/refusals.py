"""What does Telegram refuse, or fail at? Its library's errors, as errors of ours."""

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
    NotDelivered,
    PlaceClosed,
    PlatformRefused,
    PlatformUnavailable,
    Undeliverable,
)
from oldfriend.domain.sayings import saying

NOBODY_THERE: Final = ("chat not found", "user is deactivated", "peer_id_invalid")


class Moved(Exception):
    """A group has another address now."""

    def __init__(self, chat: int) -> None:
        """Keep which."""
        super().__init__(f"The group has become a supergroup: {chat}.")
        self.chat = chat


@contextmanager
def hearing() -> Iterator[None]:
    """What goes wrong while we want to hear something, as an error of ours."""
    try:
        yield
    except RetryAfter as error:
        raise PlatformUnavailable(str(error), retry_after_s=seconds_of(error)) from error
    except InvalidToken as error:
        raise PlatformRefused(saying(
            "bot_token_unknown",
            "Telegram does not know this token. Get the right one from @BotFather, then: "
            "oldfriend connect telegram",
        )) from error  # fmt: skip
    except Conflict as error:
        raise PlatformRefused(saying(
            "bot_heard_elsewhere",
            "Somebody else listens for this bot: another Oldfriend, or a webhook "
            f"({error}). Stop it, or take a bot of its own.",
        )) from error  # fmt: skip
    except BadRequest as error:
        raise PlatformRefused(f"Telegram refuses: {error}") from error
    except TelegramError as error:
        raise PlatformUnavailable(f"Telegram cannot be reached: {error}") from error


@contextmanager
def sending(
    but: type[TelegramError] | tuple[type[TelegramError], ...] | None = None,
) -> Iterator[None]:
    """What goes wrong while we want to send something, as an error of ours, ``but`` some."""
    try:
        yield
    except TelegramError as error:
        if but is not None and isinstance(error, but):
            raise
        raise as_ours(error) from error


def as_ours(error: TelegramError) -> NotDelivered | Undeliverable | Moved:
    """An error of Telegram's as one of ours."""
    match error:
        case ChatMigrated():
            return Moved(error.new_chat_id)
        case RetryAfter():
            return NotDelivered(str(error), retry_after_s=seconds_of(error))
        case Forbidden():
            return PlaceClosed(f"They do not want to hear from us any more: {error}")
        case BadRequest():
            return as_undeliverable(error)
        case InvalidToken():
            return NotDelivered("Telegram does not know this token any more.")
        case _:
            return NotDelivered(f"Telegram cannot be reached: {error}")


def as_undeliverable(error: BadRequest) -> Undeliverable:
    """A refusal that stays one; of everything, where the chat is gone."""
    if any(words in str(error).lower() for words in NOBODY_THERE):
        return PlaceClosed(f"There is nobody any more: {error}")
    return Undeliverable(f"Telegram refuses: {error}")


def seconds_of(error: RetryAfter) -> float:
    """How long Telegram asks to be left alone."""
    wait = error.retry_after
    return float(wait) if isinstance(wait, int) else wait.total_seconds()

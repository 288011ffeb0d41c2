"""Errors of Slack: what it refuses, what it does not answer, and which errors of ours they are."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from oldfriend.domain.errors import (
    ChatBlocked,
    DeliveryFailed,
    OutcomeUnknown,
    PlatformRejected,
    PlatformUnavailable,
    Undeliverable,
)
from oldfriend.domain.i18n_messages import localizable

DEFAULT_WAIT_S: Final = 30.0
"""Until the next try, if Slack asks to wait and does not say for how long."""
RATE_LIMITED: Final = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
TOKEN_REFUSED: Final = frozenset(
    {
        "account_inactive",
        "invalid_auth",
        "not_allowed_token_type",
        "not_authed",
        "token_expired",
        "token_revoked",
    }
)
CHAT_CLOSED: Final = frozenset(
    {
        "cannot_dm_bot",
        "channel_not_found",
        "is_archived",
        "messages_tab_disabled",
        "not_in_channel",
        "restricted_action",
        "user_disabled",
        "user_not_found",
    }
)
TEMPORARY: Final = frozenset(
    {
        "accesslimited",
        "fatal_error",
        "internal_error",
        "request_timeout",
        "service_unavailable",
        "team_added_to_org",
    }
)
"""Errors after which nobody knows whether a call was carried out."""
MESSAGE_GONE: Final = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})


class SlackRefusal(Exception):
    """Slack has answered that it does not do what was asked."""

    def __init__(self, code: str) -> None:
        """Take Slack's name of the error, such as "channel_not_found"."""
        super().__init__(code)
        self.code = code


class TooManyPages(Exception):
    """A list is longer than we read."""


class SlackUnreachable(Exception):
    """Slack has not answered, or asks us to wait."""

    def __init__(
        self, reason: str, *, is_unsent: bool = False, retry_after_s: float | None = None
    ) -> None:
        """Take a reason that quotes no address, for the socket's holds a ticket.

        ``is_unsent``: the call was certainly not carried out.
        """
        super().__init__(reason)
        self.is_unsent = is_unsent
        self.retry_after_s = retry_after_s


@contextmanager
def map_receive_errors() -> Iterator[None]:
    """Map errors while receiving to PlatformUnavailable or PlatformRejected."""
    try:
        yield
    except SlackUnreachable as error:
        raise PlatformUnavailable(
            f"Slack cannot be reached: {error}", retry_after_s=error.retry_after_s
        ) from error
    except SlackRefusal as error:
        if error.code in TEMPORARY:
            raise PlatformUnavailable(f"Slack is out of order: {error.code}") from error
        raise PlatformRejected(describe_refusal(error.code)) from error


@contextmanager
def map_send_errors() -> Iterator[None]:
    """Map errors while sending to errors of ours."""
    try:
        yield
    except SlackUnreachable as error:
        failure = DeliveryFailed if error.is_unsent else OutcomeUnknown
        raise failure(
            f"Slack cannot be reached: {error}", retry_after_s=error.retry_after_s
        ) from error
    except SlackRefusal as error:
        raise to_delivery_error(error.code) from error


def to_delivery_error(code: str) -> DeliveryFailed | Undeliverable:
    """Convert an error of Slack to one of ours."""
    if code in TEMPORARY:
        return OutcomeUnknown(f"Slack is out of order: {code}")
    if code in TOKEN_REFUSED or code == "missing_scope":
        return DeliveryFailed(str(describe_refusal(code)))
    if code in CHAT_CLOSED:
        return ChatBlocked(f"Slack lets nothing into this chat: {code}")
    return Undeliverable(f"Slack refuses: {code}")


def describe_refusal(code: str) -> str:
    """Say what Slack refuses, and what to do."""
    if code in TOKEN_REFUSED:
        return localizable(
            "slack_token_unknown",
            f"Slack does not accept a token ({code}). Get both from api.slack.com/apps, then: "
            "oldfriend connect slack",
            code=code,
        )
    return f"Slack refuses: {code}"


@contextmanager
def check_answer() -> Iterator[None]:
    """Turn a field that an answer lacks into a SlackUnreachable."""
    try:
        yield
    except ValueError as error:
        raise SlackUnreachable(f"an answer that makes no sense: {error}") from None


def to_call_error(response: object) -> SlackRefusal | SlackUnreachable:
    """Return the error that an answer tells of; the SDK passes on what it has of it."""
    status = getattr(response, "status_code", None) or getattr(response, "status", None)
    data = getattr(response, "data", None)
    code = data.get("error") if isinstance(data, dict) else None
    if status == 429 or code in RATE_LIMITED:
        return SlackUnreachable(
            "it asks us to wait", is_unsent=True, retry_after_s=find_wait_s(response)
        )
    if isinstance(code, str):
        return SlackRefusal(code)
    return SlackUnreachable(f"HTTP {status}")


def find_wait_s(response: object) -> float:
    """Return for how many seconds Slack asks us to wait."""
    headers = getattr(response, "headers", {})
    try:
        return max(float(headers.get("Retry-After", DEFAULT_WAIT_S)), 0.0)
    except ValueError:
        return DEFAULT_WAIT_S

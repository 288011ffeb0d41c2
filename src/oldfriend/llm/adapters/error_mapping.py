"""Error mapping: maps the client library's exceptions to model errors with a text for the user.

No message contains the API key, even where the provider quotes it.
"""

from collections.abc import Callable
from typing import Final

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelTimeoutError,
    UserError,
)

from oldfriend.domain.errors import (
    ApiKeyRejected,
    ModelError,
    ModelMisconfigured,
    ModelRefusal,
    ModelUnavailable,
    OutageKind,
    RequestRejected,
)
from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.llm.adapters.error_texts import (
    format_connection_lost,
    format_failure,
    format_key_refused,
    format_overloaded,
    format_rate_limited,
    format_rejected,
    format_timeout,
    format_unknown_model,
    format_unpaid,
    format_unreachable,
)
from oldfriend.llm.providers import ModelConfig

MAX_QUOTED_CHARS: Final = 200
"""Characters that are quoted of a provider's message."""

REFUSAL_CODES: Final = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "invalid_prompt",
        "moderation_blocked",
    }
)

TRANSIENT_ERRORS: Final[
    dict[type[ModelAPIError], tuple[OutageKind, Callable[[ModelConfig], LocalizedText]]]
] = {
    ModelQuotaExceededError: ("unpaid", format_unpaid),
    ModelRateLimitError: ("busy", format_rate_limited),
    ModelOverloadedError: ("failing", format_overloaded),
    ModelTimeoutError: ("slow", format_timeout),
}


def map_model_error(config: ModelConfig, error: Exception) -> ModelError:
    """Map any exception of the library to a model error."""
    if isinstance(error, ModelAPIError):
        return map_api_error(config, error)
    if isinstance(error, ContentFilterError):
        return build_refusal_error(config)
    if isinstance(error, UserError):
        return ModelMisconfigured(
            localizable(
                "model_unusable",
                f"{config.model} cannot be used so: {quote_text(config, str(error))}",
                model=config.model,
                said=quote_text(config, str(error)),
            )
        )
    quoted = quote_text(config, str(error)) or type(error).__name__
    return ModelUnavailable(
        localizable(
            "answer_unreadable",
            f"{config.model} answered with something that cannot be read: {quoted}",
            model=config.model,
            said=quoted,
        ),
        outage="failing",
    )


def map_api_error(config: ModelConfig, error: ModelAPIError) -> ModelError:
    """Map an API error of the library to a model error."""
    if isinstance(error, ModelAuthenticationError):  # not quoted: some repeat parts of the key
        return ApiKeyRejected(format_key_refused(config, "model"))
    if isinstance(error, ModelNotFoundError):
        return build_unknown_model_error(config, error)
    if isinstance(error, ModelContextWindowExceededError):
        return RequestRejected(
            localizable(
                "request_too_long",
                f"The request is longer than {config.model} can read.",
                model=config.model,
            )
        )
    if isinstance(error, ModelRequestRejectedError):
        if {error.provider_error_code, error.provider_error_type} & REFUSAL_CODES:
            return build_refusal_error(config)
        quoted = quote_text(config, extract_provider_message(error))
        return RequestRejected(format_rejected(config, quoted))
    outage, text = classify_transient_error(config, error)
    return ModelUnavailable(text, retry_after_s=error.retry_after, outage=outage)


def classify_transient_error(
    config: ModelConfig, error: ModelAPIError
) -> tuple[OutageKind, LocalizedText]:
    """Return the outage kind of a transient error, and its text for the user."""
    for kind, (outage, format_text) in TRANSIENT_ERRORS.items():
        if isinstance(error, kind):
            return outage, format_text(config)
    if isinstance(error, ModelConnectionError):
        is_connect_failure = error.phase == "connect"
        return "unavailable", (
            format_unreachable(config)
            if is_connect_failure
            else format_connection_lost(config, " before the reply was whole")
        )
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    return "failing", format_failure(
        config, quote_text(config, extract_provider_message(error)), status=status
    )


def build_unknown_model_error(config: ModelConfig, error: ModelNotFoundError) -> ModelMisconfigured:
    """Build the error for a wrong model name or address."""
    suggestion = error.suggested_model_id if isinstance(error, ModelHTTPError) else None
    return ModelMisconfigured(
        format_unknown_model(config, "model", "model", suggestion=suggestion or None)
    )


def build_refusal_error(config: ModelConfig, reason: str = "") -> ModelRefusal:
    """Build the error for a model that refuses to answer."""
    quoted = quote_text(config, reason)
    text = f"{config.model} will not answer this{': ' + quoted if quoted else '.'}"
    return ModelRefusal(localizable("model_refuses", text, model=config.model))


def extract_provider_message(error: ModelAPIError) -> str:
    """Return the provider's own message, without the rest of the response if possible."""
    body = error.body
    for inner in (body, body.get("error") if isinstance(body, dict) else None):
        if isinstance(inner, dict) and isinstance(inner.get("message"), str):
            return str(inner["message"])
    return error.message


def quote_text(config: ModelConfig, text: str) -> str:
    """Return the start of a provider's message on one line and without the key."""
    quoted = " ".join(text.split())
    if config.key:
        quoted = quoted.replace(config.key, "[key]")
    return quoted if len(quoted) <= MAX_QUOTED_CHARS else f"{quoted[:MAX_QUOTED_CHARS]}…"

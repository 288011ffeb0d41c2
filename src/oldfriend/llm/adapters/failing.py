"""A provider failed: what does it mean for us, and what should somebody do about it?

No sentence contains a key, also where the provider quotes it.
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
    KeyRefused,
    ModelError,
    ModelMisconfigured,
    ModelRefused,
    ModelUnavailable,
    Outage,
    RequestRejected,
)
from oldfriend.domain.sayings import Saying, saying
from oldfriend.llm.adapters.troubles import (
    busy,
    failed,
    key_refused,
    lost,
    model_unknown,
    not_taken,
    overloaded,
    slow,
    unpaid,
    unreached,
)
from oldfriend.llm.catalogue import Choice

MOST_QUOTED: Final = 200
"""Characters of what a provider says itself."""

REFUSALS: Final = frozenset({
    "content_filter", "content_policy_violation", "invalid_prompt", "moderation_blocked",
})  # fmt: skip

WAITS: Final[dict[type[ModelAPIError], tuple[Outage, Callable[[Choice], Saying]]]] = {
    ModelQuotaExceededError: ("unpaid", unpaid),
    ModelRateLimitError: ("busy", busy),
    ModelOverloadedError: ("failing", overloaded),
    ModelTimeoutError: ("slow", slow),
}


def failure(choice: Choice, error: Exception) -> ModelError:
    """What a provider's failure is for us."""
    if isinstance(error, ModelAPIError):
        return api_failure(choice, error)
    if isinstance(error, ContentFilterError):
        return refusal(choice)
    if isinstance(error, UserError):
        return ModelMisconfigured(saying(
            "model_unusable", f"{choice.model} cannot be used so: {quoted(choice, str(error))}",
            model=choice.model, said=quoted(choice, str(error)),
        ))  # fmt: skip
    said = quoted(choice, str(error)) or type(error).__name__
    return ModelUnavailable(
        saying(
            "answer_unreadable",
            f"{choice.model} answered with something that cannot be read: {said}",
            model=choice.model,
            said=said,
        ),
        outage="failing",
    )


def api_failure(choice: Choice, error: ModelAPIError) -> ModelError:
    """What an error of the interface is for us."""
    if isinstance(error, ModelAuthenticationError):  # not quoted: some repeat parts of the key
        return KeyRefused(key_refused(choice, "model"))
    if isinstance(error, ModelNotFoundError):
        return unknown_model(choice, error)
    if isinstance(error, ModelContextWindowExceededError):
        return RequestRejected(saying(
            "request_too_long", f"The request is longer than {choice.model} can read.",
            model=choice.model,
        ))  # fmt: skip
    if isinstance(error, ModelRequestRejectedError):
        if {error.provider_error_code, error.provider_error_type} & REFUSALS:
            return refusal(choice)
        said = quoted(choice, provider_message(error))
        return RequestRejected(not_taken(choice, said))
    outage, says = waiting(choice, error)
    return ModelUnavailable(says, retry_after_s=error.retry_after, outage=outage)


def waiting(choice: Choice, error: ModelAPIError) -> tuple[Outage, Saying]:
    """What may pass: its kind, and a sentence for it."""
    for kind, (outage, says) in WAITS.items():
        if isinstance(error, kind):
            return outage, says(choice)
    if isinstance(error, ModelConnectionError):
        is_never_made = error.phase == "connect"
        return "unavailable", (
            unreached(choice) if is_never_made else lost(choice, " before the reply was whole")
        )
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    return "failing", failed(choice, quoted(choice, provider_message(error)), status=status)


def unknown_model(choice: Choice, error: ModelNotFoundError) -> ModelMisconfigured:
    """The name or the address is wrong."""
    meant = error.suggested_model_id if isinstance(error, ModelHTTPError) else None
    return ModelMisconfigured(model_unknown(choice, "model", "model", meant=meant or None))


def refusal(choice: Choice, why: str = "") -> ModelRefused:
    """It will not answer this."""
    said = quoted(choice, why)
    told = f"{choice.model} will not answer this{': ' + said if said else '.'}"
    return ModelRefused(saying("model_refuses", told, model=choice.model))


def provider_message(error: ModelAPIError) -> str:
    """What the provider says itself, without the rest of the answer where that can be told."""
    body = error.body
    for inner in (body, body.get("error") if isinstance(body, dict) else None):
        if isinstance(inner, dict) and isinstance(inner.get("message"), str):
            return str(inner["message"])
    return error.message


def quoted(choice: Choice, text: str) -> str:
    """The start of what a provider said, in one line and without the key."""
    line = " ".join(text.split())
    if choice.key:
        line = line.replace(choice.key, "[key]")
    return line if len(line) <= MOST_QUOTED else f"{line[:MOST_QUOTED]}…"

"""A provider failed: what does it mean for us, and what should somebody do about it?

No sentence contains a key, also where the provider quotes it.
"""

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
from oldfriend.llm.catalogue import Choice, is_on_this_machine

MOST_QUOTED: Final = 200
"""Characters of what a provider says itself."""

REFUSALS: Final = frozenset({
    "content_filter", "content_policy_violation", "invalid_prompt", "moderation_blocked",
})  # fmt: skip

WAITS: Final[dict[type[ModelAPIError], tuple[Outage, str]]] = {
    ModelQuotaExceededError: (
        "unpaid", "has no credit left for this account. Top it up, or connect another",
    ),
    ModelRateLimitError: ("busy", "asks for fewer requests (429)"),
    ModelOverloadedError: ("failing", "is overloaded"),
    ModelTimeoutError: ("slow", "did not answer in time"),
}  # fmt: skip


def failure(choice: Choice, error: Exception) -> ModelError:
    """What a provider's failure is for us."""
    if isinstance(error, ModelAPIError):
        return api_failure(choice, error)
    if isinstance(error, ContentFilterError):
        return refusal(choice)
    if isinstance(error, UserError):
        return ModelMisconfigured(f"{choice.model} cannot be used so: {quoted(choice, str(error))}")
    said = quoted(choice, str(error)) or type(error).__name__
    return ModelUnavailable(
        f"{choice.model} answered with something that cannot be read: {said}", outage="failing"
    )


def api_failure(choice: Choice, error: ModelAPIError) -> ModelError:
    """What an error of the interface is for us."""
    if isinstance(error, ModelAuthenticationError):  # not quoted: some repeat parts of the key
        return KeyRefused(
            f"{choice.provider} does not accept the key, or does not let it use {choice.name}. "
            "Give it another one: oldfriend connect model"
        )
    if isinstance(error, ModelNotFoundError):
        return unknown_model(choice, error)
    if isinstance(error, ModelContextWindowExceededError):
        return RequestRejected(f"The request is longer than {choice.model} can read.")
    if isinstance(error, ModelRequestRejectedError):
        if {error.provider_error_code, error.provider_error_type} & REFUSALS:
            return refusal(choice)
        said = quoted(choice, provider_message(error))
        return RequestRejected(f"{choice.model} does not take this request: {said}")
    outage, says = waiting(choice, error)
    return ModelUnavailable(says, retry_after_s=error.retry_after, outage=outage)


def waiting(choice: Choice, error: ModelAPIError) -> tuple[Outage, str]:
    """What may pass: its kind, and a sentence for it."""
    for kind, (outage, says) in WAITS.items():
        if isinstance(error, kind):
            return outage, f"{choice.provider} {says}."
    if isinstance(error, ModelConnectionError):
        return "unavailable", unreached(choice, error)
    status = f" ({error.status_code})" if isinstance(error, ModelHTTPError) else ""
    said = quoted(choice, provider_message(error))
    return "failing", f"{choice.provider} failed{status}: {said}"


def unreached(choice: Choice, error: ModelConnectionError) -> str:
    """A sentence for a connection that was not made, or was lost."""
    if error.phase == "connect":
        hint = " Is it running?" if is_on_this_machine(choice.base_url) else ""
        return f"{choice.provider} cannot be reached at {choice.base_url}.{hint}"
    return f"The connection to {choice.provider} was lost before the reply was whole."


def unknown_model(choice: Choice, error: ModelNotFoundError) -> ModelMisconfigured:
    """The name or the address is wrong."""
    known = error.suggested_model_id if isinstance(error, ModelHTTPError) else None
    hint = f" Did you mean {known}?" if known else ""
    return ModelMisconfigured(
        f"{choice.provider} knows no model {choice.name!r} at {choice.base_url}.{hint} "
        "Choose another one: oldfriend connect model"
    )


def refusal(choice: Choice, why: str = "") -> ModelRefused:
    """It will not answer this."""
    said = quoted(choice, why)
    return ModelRefused(f"{choice.model} will not answer this{': ' + said if said else '.'}")


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

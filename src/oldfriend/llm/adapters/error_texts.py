"""Error texts: localized messages for provider failures; none contains the API key."""

from typing import Final

from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.llm.providers import ModelConfig, is_local_address

MAX_QUOTED_CHARS: Final = 200
"""Characters that are quoted of a provider's message."""

TOO_LONG_MARKS: Final = (
    "exceeds the context length",  # Ollama
    "exceed_context_size",  # later versions of it, and llama-server
    "exceeds the available context size",  # llama-server
    "greater than the context length",  # LM Studio
)
"""In the local servers' messages about a prompt that does not fit."""


def is_about_length(text: str) -> bool:
    """Tell whether a local server's message says that a prompt does not fit."""
    return any(mark in text for mark in TOO_LONG_MARKS)


def format_unpaid(config: ModelConfig) -> LocalizedText:
    """Text for an account without credit."""
    provider = config.provider
    return localizable(
        "provider_unpaid",
        f"{provider} has no credit left for this account. Top it up, or connect another.",
        provider=provider,
    )


def format_rate_limited(config: ModelConfig) -> LocalizedText:
    """Text for a rate limit (429)."""
    provider = config.provider
    return localizable(
        "provider_busy", f"{provider} is limiting our requests (429).", provider=provider
    )


def format_overloaded(config: ModelConfig) -> LocalizedText:
    """Text for an overloaded provider."""
    return localizable(
        "provider_overloaded",
        f"{config.provider} is overloaded.",
        provider=config.provider,
    )


def format_timeout(config: ModelConfig) -> LocalizedText:
    """Text for a timeout."""
    return localizable(
        "provider_slow",
        f"{config.provider} did not answer in time.",
        provider=config.provider,
    )


def format_address_unfit(config: ModelConfig, error: Exception) -> LocalizedText:
    """Text for an address that is none."""
    return localizable(
        "address_unfit",
        f"{config.provider} cannot be reached at {config.base_url!r}: {error}",
        provider=config.provider,
        address=config.base_url,
        error=str(error),
    )


def format_unreachable(config: ModelConfig) -> LocalizedText:
    """Text for a failed connection attempt."""
    provider, address = config.provider, config.base_url
    text = f"{provider} cannot be reached at {address}."
    if is_local_address(address):
        text_with_hint = f"{text} Is it running?"
        return localizable(
            "provider_unreached_here", text_with_hint, provider=provider, address=address
        )
    return localizable("provider_unreached", text, provider=provider, address=address)


def format_connection_lost(config: ModelConfig, detail: str = "") -> LocalizedText:
    """Text for a connection lost during a request."""
    provider = config.provider
    return localizable(
        "provider_lost", f"The connection to {provider} was lost{detail}.", provider=provider
    )


def format_failure(
    config: ModelConfig, message: str, *, status: int | None = None
) -> LocalizedText:
    """Text for a failure that the provider describes."""
    status_text = "" if status is None else f" ({status})"
    return localizable(
        "provider_failed",
        f"{config.provider} failed{status_text}: {message}",
        provider=config.provider,
        said=message,
    )


def format_rejected(
    config: ModelConfig, message: str, *, status: int | None = None
) -> LocalizedText:
    """Text for a rejected request, with the provider's reason."""
    subject = "this request" if status is None else f"this ({status})"
    return localizable(
        "request_not_taken",
        f"{config.model} rejected {subject}: {message}",
        model=config.model,
        said=message,
    )


def format_too_long(config: ModelConfig) -> LocalizedText:
    """Text for a prompt that does not fit into the model's context."""
    return localizable(
        "request_too_long",
        f"The request is longer than {config.model} can read.",
        model=config.model,
    )


def format_key_refused(config: ModelConfig, role: str) -> LocalizedText:
    """Text for a rejected key; the provider's message is left out, because some quote the key."""
    return localizable(
        "key_refused",
        f"{config.provider} does not accept the key, or the key may not use {config.name}. To "
        f"give another one: oldfriend connect {role}",
        provider=config.provider,
    )


def format_unknown_model(
    config: ModelConfig, kind: str, role: str, *, suggestion: str | None = None
) -> LocalizedText:
    """Text for an unknown model; `suggestion` is a similar name that the provider knows."""
    provider, name, address = config.provider, config.name, config.base_url
    hint = "" if suggestion is None else f" Did you mean {suggestion}?"
    return localizable(
        "model_unknown" if suggestion is None else "model_unknown_meant",
        f"{provider} has no {kind} {name!r} at {address}.{hint} "
        f"Choose another one: oldfriend connect {role}",
        provider=provider,
        name=name,
        address=address,
        meant=suggestion or "",
    )


def format_empty_answer(model: str, max_tokens: int | None) -> LocalizedText:
    """Return the error text for an empty answer; `max_tokens` is the limit if it was reached."""
    if max_tokens is None:
        return localizable("answer_empty", f"{model} gave an empty answer.", model=model)
    text = f"{model} used up its {max_tokens} tokens before it said anything."
    return localizable("answer_cut_short", text, model=model, most=max_tokens)


def quote_text(config: ModelConfig, text: str) -> str:
    """Return the start of a provider's message on one line and without the key."""
    quoted = " ".join(text.split())
    if config.key:
        quoted = quoted.replace(config.key, "[key]")
    return quoted if len(quoted) <= MAX_QUOTED_CHARS else f"{quoted[:MAX_QUOTED_CHARS]}…"

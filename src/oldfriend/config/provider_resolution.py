"""Provider resolution: finds the address and key of a model's provider in settings and key stores.

It opens no connection.
"""

from oldfriend.config.keys import RESERVED_NAMES, Credential, find_key, find_key_for_other_origin
from oldfriend.config.settings import Settings, get_token_variable
from oldfriend.config.settings_schema import MODEL_ROLES, ProviderSettings
from oldfriend.domain.errors import ModelMisconfigured
from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.llm.providers import (
    PROVIDERS,
    ModelConfig,
    Timeouts,
    build_model_config,
    is_local_address,
)


def resolve_model(settings: Settings, model: str) -> ModelConfig:
    """Return a model ("provider:name") with everything needed to reach it.

    Raises ModelMisconfigured if its address or key is missing, or its key is stored for another
    address; InvalidInput if the key file is not private or is corrupt.
    """
    provider = parse_provider(model)
    if provider in RESERVED_NAMES:
        raise ModelMisconfigured(format_reserved_name(provider))
    provider_settings, address = (
        settings.providers.get(provider, ProviderSettings()),
        get_provider_url(settings, provider),
    )
    key = find_key(
        provider,
        settings.environment,
        variable=provider_settings.key_from_env,
        data=settings.data,
        address=address,
    )
    if key is None and (conflict := find_origin_conflict(settings, provider, address)):
        raise ModelMisconfigured(conflict)
    return build_model_config(
        model,
        kind=provider_settings.kind,
        base_url=provider_settings.base_url,
        key=key.value if key else None,
        timeouts=Timeouts(
            connect_s=provider_settings.connect_s,
            first_token_s=provider_settings.silence_s,
            idle_s=provider_settings.silence_s,
            total_s=max(settings.limits.turn_timeout_s, provider_settings.silence_s),
        ),
    )


def find_channel_token(settings: Settings, channel: str) -> Credential | None:
    """Return our token for a platform and its source. Raises InvalidInput."""
    return find_key(
        channel,
        settings.environment,
        variable=get_token_variable(channel),
        data=settings.data,
        address=settings.channels[channel].base_url,
    )


def format_reserved_name(provider: str) -> LocalizedText:
    """Return the message that a name is reserved and cannot be a provider."""
    return localizable(
        "provider_reserved",
        f"{provider} cannot be the name of a provider: it is reserved. Choose another name.",
        provider=provider,
    )


def find_origin_conflict(settings: Settings, provider: str, address: str) -> LocalizedText | None:
    """Return a message if a provider's key is stored for another address. Raises InvalidInput."""
    stored = find_key_for_other_origin(provider, address, data=settings.data)
    return (
        None if stored is None else format_origin_conflict(provider, stored.origin or "", address)
    )


def format_origin_conflict(provider: str, origin: str, address: str) -> LocalizedText:
    """Return the message that a provider's key is stored for another address."""
    return localizable(
        "key_kept_elsewhere",
        f"The key of {provider} is stored for {origin} and is not sent anywhere else. For "
        f"{address}, give a key along with the address (oldfriend connect model --provider "
        f"{provider}), or give the provider there another name.",
        provider=provider,
        at=origin,
        address=address,
    )


def parse_provider(model: str) -> str:
    """Return the provider in "provider:name"."""
    return model.partition(":")[0]


def can_send_to_model(settings: Settings, model: str) -> bool:
    """Return whether people's texts may go to a model that was used before.

    Only to a provider that still receives them anyway, or that is on this machine.
    """
    if ":" not in model:
        return True  # in this process
    provider = parse_provider(model)
    used = {parse_provider(settings.embedder.model)}
    used |= {
        parse_provider(name) for role in MODEL_ROLES for name in settings.models.for_role(role)
    }
    return provider in used or is_local_address(get_provider_url(settings, provider))


def get_provider_url(settings: Settings, provider: str) -> str:
    """Return the base URL of a provider; empty if it is unknown."""
    known = PROVIDERS.get(provider)
    own = settings.providers.get(provider, ProviderSettings()).base_url
    return own or (known.base_url if known else "")

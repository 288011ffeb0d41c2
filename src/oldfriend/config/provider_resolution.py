"""Provider resolution: finds the address and key of a model's provider in settings and key stores.

It opens no connection.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from oldfriend.channels.channel import ChannelSpec
from oldfriend.config.keys import (
    RESERVED_NAMES,
    find_key,
    find_key_for_other_origin,
    find_stored_key,
    store_key,
)
from oldfriend.config.settings import TOOL_SERVERS_SECTION, Settings, get_credential_variable
from oldfriend.config.settings_schema import MODEL_ROLES, ProviderSettings, ToolServerSettings
from oldfriend.domain.errors import InvalidInput, ModelMisconfigured
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


MAX_CREDENTIAL_CHARS: Final = 4_000
"""All credentials of a channel together, as they are stored."""


@dataclass(frozen=True, slots=True)
class ChannelCredentials:
    """What opens our bot on a platform, by name, and where it is stored."""

    values: tuple[tuple[str, str], ...] = field(repr=False)
    source: str = field(compare=False)


def find_channel_credentials(settings: Settings, spec: ChannelSpec) -> ChannelCredentials | None:
    """Return what opens our bot; None unless all of it is known. Raises InvalidInput.

    A variable goes before what is stored.
    """
    stored = find_stored_key(spec.name, _get_origin(settings, spec), data=settings.data)
    values = {} if stored is None else parse_credentials(spec, stored.value)
    source = "" if stored is None else stored.source
    for each in reversed(spec.credentials):
        variable = get_credential_variable(spec.name, each.name)
        if value := settings.environment.get(variable, "").strip():
            values[each.name], source = value, variable
    return build_credentials(spec, values, source=source)


def build_credentials(
    spec: ChannelSpec, values: Mapping[str, str], *, source: str = ""
) -> ChannelCredentials | None:
    """Return a channel's credentials with their defaults; None if one is missing."""
    found = tuple((each.name, values.get(each.name) or each.default) for each in spec.credentials)
    return ChannelCredentials(found, source) if all(value for _, value in found) else None


def parse_credentials(spec: ChannelSpec, stored: str) -> dict[str, str]:
    """Parse credentials as they are stored: a single one as it is, several as JSON."""
    if len(spec.credentials) == 1:
        return {spec.credentials[0].name: stored}
    try:
        values = json.loads(stored)
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in values.items()} if values else {}


def store_channel_credentials(
    settings: Settings, spec: ChannelSpec, credentials: ChannelCredentials
) -> str:
    """Store what opens our bot where keys are; return where. Raises InvalidInput."""
    values = dict(credentials.values)
    if len(spec.credentials) == 1:
        stored = values[spec.credentials[0].name]
    else:  # a key has no spaces, and JSON needs none
        stored = json.dumps(values, separators=(",", ":")).replace(" ", "\\u0020")
    if len(stored) > MAX_CREDENTIAL_CHARS:
        raise InvalidInput(f"That is too long for {spec.title}.")
    return store_key(spec.name, stored, data=settings.data, address=_get_origin(settings, spec))


def _get_origin(settings: Settings, spec: ChannelSpec) -> str | None:
    """Return where credentials are sent; None if that is one of them."""
    return settings.channels[spec.name].base_url or None


def find_tool_server_key(settings: Settings, name: str, server: ToolServerSettings) -> str | None:
    """Return the key of a tool server, from its variable or the key store. Raises InvalidInput."""
    found = find_key(
        get_tool_server_key_name(name),
        settings.environment,
        variable=server.key_from_env,
        data=settings.data,
        address=server.url,
    )
    return None if found is None else found.value


def get_tool_server_key_name(name: str) -> str:
    """Return the name under which the key of a tool server is stored."""
    return f"{TOOL_SERVERS_SECTION}-{name}"


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

"""Provider setup: lists, validates, tries and saves model providers.

It prompts for nothing: the caller passes what was chosen. Nothing is sent except an explicit test.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from oldfriend.app.spend_limits import PendingCharges, UsageAccount
from oldfriend.config.keys import (
    RESERVED_NAMES,
    delete_key,
    find_key,
    find_stored_key,
    list_key_variables,
    store_key,
)
from oldfriend.config.provider_resolution import (
    find_origin_conflict,
    format_origin_conflict,
    format_reserved_name,
    get_provider_url,
)
from oldfriend.config.settings import Settings
from oldfriend.config.settings_file import TomlValue, update_settings_file
from oldfriend.config.settings_schema import (
    LOCAL,
    MODEL_NAME_PATTERN,
    MODEL_ROLES,
    PROVIDER_NAME_PATTERN,
    ModelRole,
    ModelSettings,
    ProviderSettings,
)
from oldfriend.domain.clock import system_clock
from oldfriend.domain.errors import InvalidInput, StoreNotFound
from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.domain.setting_parsers import RawSetting, parse_url, redact_url
from oldfriend.llm.addresses import find_refusal, list_host_gateways, parse_origin
from oldfriend.llm.local_models import (
    LocalModel,
    LocalServer,
    parse_size_in_name,
    suggest_roles,
)
from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend.llm.providers import (
    LOCAL_PROVIDERS,
    PROVIDERS,
    ApiKind,
    is_free_at,
    is_local_address,
)
from oldfriend.runtime.wiring import (
    ModelRegistry,
    fetch_dimension,
    find_servers,
    open_database,
)

DEFAULT_EMBEDDING_MODELS: Final[Mapping[str, str]] = {
    "openai": "text-embedding-3-small",
    "google": "gemini-embedding-001",
    "mistral": "mistral-embed",
    "openrouter": "openai/text-embedding-3-small",
    "ollama": "nomic-embed-text",
}
"""The usual embedding model of each provider that has one."""
TYPED_KEY_VARIABLE: Final = "OLDFRIEND_TYPED_KEY"
"""The variable that holds a typed key while it is being tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderOffer:
    """A provider that could be connected at once, and why."""

    provider: str
    why: str
    server: LocalServer | None = None  # of a local one
    key_in: str | None = None  # where its key is


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSetup:
    """A provider and model that somebody wants to connect."""

    provider: str
    name: str
    base_url: str | None = None
    kind: ApiKind | None = None
    key_from_env: str | None = None
    key: str | None = field(default=None, repr=False)  # as just typed

    @property
    def model(self) -> str:
        """The model as written in settings."""
        return f"{self.provider}:{self.name}"

    def with_key(self, key: str) -> "ProviderSetup":
        """Return a copy with a typed key."""
        return replace(self, key=key)


async def list_offers(settings: Settings) -> list[ProviderOffer]:
    """Return the servers on this machine, then the providers with a known key."""
    offers = [
        ProviderOffer(provider=server.provider, why=format_place(server.base_url), server=server)
        for server in await find_local_servers(settings)
    ]
    return offers + await asyncio.to_thread(list_key_offers, settings)


def format_place(base_url: str) -> str:
    """Return in words where a server runs."""
    return "runs on this machine" if is_local_address(base_url) else f"answers at {base_url}"


async def find_local_servers(settings: Settings) -> list[LocalServer]:
    """Return the model servers that answer; they are asked for their lists of models only."""
    return await find_servers(list_places(settings))


def list_places(settings: Settings) -> list[tuple[str, str]]:
    """Return where to look for model servers, as provider and address.

    Each is looked for at the address in the settings; without one, at its usual port of this
    machine and, inside a container, of the machine that runs it.
    """
    places: list[tuple[str, str]] = []
    for provider in LOCAL_PROVIDERS:
        usual, address = PROVIDERS[provider].base_url, get_provider_url(settings, provider)
        hosts = list_host_gateways() if address == usual else ()
        places.append((provider, address))
        places += [(provider, usual.replace("localhost", host)) for host in hosts]
    # What the settings name otherwise is known already.
    named = {
        parse_origin(get_provider_url(settings, provider))
        for provider in settings.providers
        if provider not in LOCAL_PROVIDERS
    }
    return [
        (provider, url)
        for provider, url in dict.fromkeys(places)
        if parse_origin(url) not in named and find_refusal(url) is None
    ]


async def find_server(settings: Settings, setup: ProviderSetup) -> LocalServer | None:
    """Return the local server that a setup is for, with its models, if it answers."""
    if setup.provider not in LOCAL_PROVIDERS:
        return None
    found = await find_servers([(setup.provider, resolve_address(settings, setup))])
    return next((server for server in found if server.provider == setup.provider), None)


def list_key_offers(settings: Settings) -> list[ProviderOffer]:
    """Return the providers whose key is in the environment or was stored."""
    offers: list[ProviderOffer] = []
    for provider in [*PROVIDERS, *(set(settings.providers) - set(PROVIDERS))]:
        variable = settings.providers.get(provider, ProviderSettings()).key_from_env
        key = find_key(
            provider,
            settings.environment,
            variable=variable,
            data=settings.data,
            address=get_provider_url(settings, provider),
        )
        if key is not None:
            why = f"its key is in {key.source}"
            offers.append(ProviderOffer(provider=provider, why=why, key_in=key.source))
    return offers


def is_key_needed(settings: Settings, setup: ProviderSetup) -> bool:
    """Return whether a key is needed and missing."""
    known, address = PROVIDERS.get(setup.provider), resolve_address(settings, setup)
    if setup.key or setup.key_from_env or setup.provider in RESERVED_NAMES:
        return False
    if find_origin_conflict(settings, setup.provider, address):
        return True
    if known is None or not known.key_variables or setup.base_url:
        return False
    return not find_key(setup.provider, settings.environment, data=settings.data, address=address)


def find_empty_variable(settings: Settings, setup: ProviderSetup) -> str | None:
    """Return the variable named for the key if it holds no key."""
    variable = (
        setup.key_from_env
        or settings.providers.get(setup.provider, ProviderSettings()).key_from_env
    )
    if variable is None or setup.key:
        return None
    key = find_key(
        setup.provider,
        settings.environment,
        variable=variable,
        data=settings.data,
        address=resolve_address(settings, setup),
    )
    return variable if key is None else None


def validate_provider(name: str) -> str:
    """Return the name of a provider. Raises InvalidInput."""
    if name in RESERVED_NAMES:
        raise InvalidInput(format_reserved_name(name))
    if not re.fullmatch(PROVIDER_NAME_PATTERN, name):
        providers = ", ".join(PROVIDERS)
        raise InvalidInput(
            localizable(
                "provider_unknown",
                f"{redact_url(name)!r} is not a known provider. Known providers: {providers}.",
                there=providers,
            )
        )
    return name


def validate_setup(settings: Settings, setup: ProviderSetup) -> None:
    """Raise InvalidInput for a setup that is incomplete or cannot be right."""
    validate_provider(setup.provider)
    if not setup.name or not re.fullmatch(MODEL_NAME_PATTERN, setup.model):
        raise InvalidInput(
            localizable("model_unnamed", "Give the name of the model, as its provider writes it.")
        )
    if setup.base_url:
        where = localizable("setting_address", "The address")
        parse_url(RawSetting(value=setup.base_url, source=where, is_text=True))
    elif not get_provider_url(settings, setup.provider):
        raise InvalidInput(
            localizable(
                "address_needed",
                f"Give the address of {setup.provider}, such as http://localhost:8080/v1",
                provider=setup.provider,
            )
        )
    validate_address(settings, setup)
    if variable := find_empty_variable(settings, setup):
        raise InvalidInput(
            localizable("variable_empty", f"There is no key in {variable}.", variable=variable)
        )
    if is_key_needed(settings, setup):
        raise InvalidInput(
            localizable("key_needed", f"{setup.provider} needs a key.", provider=setup.provider)
        )


def resolve_address(settings: Settings, setup: ProviderSetup) -> str:
    """Return the address a setup sends to; "" if none is given."""
    return setup.base_url or get_provider_url(settings, setup.provider)


def validate_address(settings: Settings, setup: ProviderSetup) -> None:
    """Raise InvalidInput where a key that belongs to one address would go to another."""
    refusal = find_address_refusal(settings, setup)
    if refusal is not None:
        raise InvalidInput(refusal)


def find_address_refusal(settings: Settings, setup: ProviderSetup) -> LocalizedText | None:
    """Return why a setup may not be sent to its address; None if it may.

    A key in the environment, or one stored without an address, belongs to the provider's own
    address and to the one in the settings. So no setup may change that address while such a key may
    exist, because the key would be sent to the new address.
    """
    provider, address = setup.provider, resolve_address(settings, setup)
    if provider in RESERVED_NAMES:
        return format_reserved_name(provider)
    if refused := find_refusal(address):
        return refused
    if setup.key_from_env and settings.environment.get(setup.key_from_env, "").strip():
        return None  # given together with the address, which only the machine's owner can do
    known, chosen = PROVIDERS.get(provider), settings.providers.get(provider, ProviderSettings())
    own = {each for each in (chosen.base_url, known.base_url if known else None) if each}
    if parse_origin(address) in {parse_origin(each) for each in own}:
        return None if setup.key else find_origin_conflict(settings, provider, address)
    if list_key_variables(provider, chosen.key_from_env):
        at = get_provider_url(settings, provider)
        return localizable(
            "provider_address_fixed",
            f"The key of {provider} belongs to {at} and is not sent anywhere else. For {address}, "
            f"choose a provider name of its own, such as my-{provider}, and give its key. On the "
            "command line you can also name the variable with its key: --key-from-env VARIABLE",
            provider=provider,
            at=at,
            address=address,
        )
    stored_key = find_stored_key(provider, address, data=settings.data)
    if setup.key or (stored_key is not None and stored_key.origin):
        return None
    if stored_key is not None:
        return format_origin_conflict(provider, get_provider_url(settings, provider), address)
    return find_origin_conflict(settings, provider, address)


def with_setup(settings: Settings, setup: ProviderSetup) -> Settings:
    """Return the settings with this setup. Raises InvalidInput for a key at another's address."""
    validate_address(settings, setup)
    before = settings.providers.get(setup.provider, ProviderSettings())
    provider = replace(
        before,
        kind=setup.kind or before.kind,
        base_url=setup.base_url or before.base_url,
        key_from_env=setup.key_from_env or before.key_from_env,
    )
    environment = settings.environment
    if setup.key:  # stored only after a successful trial
        provider = replace(provider, key_from_env=TYPED_KEY_VARIABLE)
        environment = {**environment, TYPED_KEY_VARIABLE: setup.key}
    return replace(
        settings,
        models=ModelSettings(main=(setup.model,)),
        providers={**settings.providers, setup.provider: provider},
        environment=environment,
    )


def is_local(settings: Settings, setup: ProviderSetup) -> bool:
    """Return whether no text leaves this machine."""
    return is_free_at(resolve_address(settings, setup), setup.name)


async def try_model(settings: Settings, setup: ProviderSetup) -> str:
    """Ask the model for one word and return its answer. Raises ModelError."""
    request = CompletionRequest(
        purpose="test",
        prompt="test/1",
        system_prompt="Answer in one word.",
        turns=(PromptTurn(role="instruction", text="Say hello."),),
        max_output_tokens=64,
    )
    registry, charges = ModelRegistry(with_setup(settings, setup), system_clock), PendingCharges()
    try:
        return (
            await registry.build_role_models()["main"].build_chain(charges.record).complete(request)
        ).text.strip()
    finally:
        await registry.close()
        await charge_owner(settings, charges)


async def measure_embedder(settings: Settings, setup: ProviderSetup) -> int:
    """Return the dimension of an embedder's vectors. Raises EmbeddingFailed, ModelMisconfigured."""
    charges = PendingCharges()
    try:
        return await fetch_dimension(with_setup(settings, setup), setup.model, charges)
    finally:
        await charge_owner(settings, charges)


async def charge_owner(settings: Settings, charges: PendingCharges) -> None:
    """Record the calls of a trial in the ledger, if a database exists."""
    try:
        db = await open_database(settings.database, create=False)
    except StoreNotFound:
        return
    try:
        account = UsageAccount(db=db, settings=settings, clock=system_clock)
        for call in charges.calls:
            await account.record(call)
    finally:
        await db.close()


def save_model(
    settings: Settings, setup: ProviderSetup, server: LocalServer | None = None
) -> tuple[dict[ModelRole, str], str | None]:
    """Save a choice of model; return the model of each role, and where the key was stored, if any.

    With a provider's usual main model, or the one that is suggested of a local server, come its
    models for the other roles. For a small model prompts are shortened, and learning takes two
    passes.
    """
    roles: dict[ModelRole, str] = {"main": setup.model}
    known = PROVIDERS.get(setup.provider)
    others: Mapping[str, str | None] = {}
    if known is not None and setup.name == known.main:
        others = {"small": known.small, "reflect": known.reflect}
    elif server is not None and setup.name == (suggested := suggest_roles(server)).get("main"):
        others = suggested
    roles |= {
        role: f"{setup.provider}:{name}"
        for role in MODEL_ROLES
        if role != "main" and (name := others.get(role))
    }
    chosen: dict[str, TomlValue] = {
        f"models.{role}": [roles[role]] if role in roles else None for role in MODEL_ROLES
    }
    fitting = fit_settings(settings, setup.name, server)
    return roles, save_choices(settings, setup, chosen | fitting)


def fit_settings(settings: Settings, name: str, server: LocalServer | None) -> dict[str, TomlValue]:
    """Return the settings that a small model needs, or take back those of the one before.

    With any other model before, they are the person's own.
    """
    model = None if server is None else server.find_model(name)
    if model is not None and model.fitness == "small":
        return {"context.preset": "small", "memory.passes": 2}
    was_fitted = settings.context.preset == "small" and settings.memory.passes == 2
    if was_fitted and any(is_small_model(each, server) for each in settings.models.main):
        return {"context.preset": None, "memory.passes": None}
    return {}


def is_small_model(model: str, server: LocalServer | None) -> bool:
    """Tell whether a model as written in settings is small, by its server or else its name."""
    _, _, name = model.partition(":")
    known = None if server is None else server.find_model(name)
    known = known or LocalModel(name=name, parameters=parse_size_in_name(name))
    return known.fitness == "small"


def save_role_model(settings: Settings, setup: ProviderSetup, model_role: ModelRole) -> str | None:
    """Save a model for one role only; return where its key was stored, if any."""
    return save_choices(settings, setup, {f"models.{model_role}": [setup.model]})


def save_local_embedder(settings: Settings) -> None:
    """Switch back to the embedder in this program."""
    update_settings_file(settings.file, {"embedder.model": None, "embedder.dimension": None})


def save_embedder(settings: Settings, setup: ProviderSetup, dimension: int) -> str | None:
    """Save the choice of an embedder; return where its key was stored, if any."""
    chosen: dict[str, TomlValue] = {"embedder.model": setup.model, "embedder.dimension": dimension}
    return save_choices(settings, setup, chosen)


def save_choices(
    settings: Settings, setup: ProviderSetup, choices: Mapping[str, TomlValue]
) -> str | None:
    """Write choices and the provider's connection to the settings; return where a key was stored.

    Raises InvalidInput.
    """
    validate_address(settings, setup)
    section = f"providers.{setup.provider}"
    connection: dict[str, TomlValue] = {
        f"{section}.{name}": value
        for name, value in (
            ("kind", setup.kind),
            ("base_url", setup.base_url),
            ("key_from_env", setup.key_from_env),
        )
        if value is not None
    }
    key_location = None
    if setup.key:
        address = resolve_address(settings, setup)
        key_location = store_key(setup.provider, setup.key, data=settings.data, address=address)
    update_settings_file(settings.file, {**connection, **choices})
    return key_location


def disconnect_models(settings: Settings) -> None:
    """Remove every remote model from the settings; what is known of providers stays."""
    removed: dict[str, TomlValue] = {f"models.{role}": None for role in MODEL_ROLES}
    removed |= {"embedder.model": None, "embedder.dimension": None, "speech.speaker": None}
    if not (settings.speech.transcriber or "").startswith(f"{LOCAL}:"):
        removed["speech.transcriber"] = None
    update_settings_file(settings.file, removed)


def delete_provider_key(settings: Settings, provider: str) -> bool:
    """Delete a provider's stored key; return whether there was one. Raises InvalidInput."""
    return delete_key(validate_provider(provider), data=settings.data)

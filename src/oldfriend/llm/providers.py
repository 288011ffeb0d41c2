"""Provider presets: addresses, key variables and default models of the known providers.

Values only: no provider is asked and no key is looked up. A provider that is not listed is reached
by its address, as most speak OpenAI's API.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import urlsplit

from oldfriend.domain.errors import ModelMisconfigured
from oldfriend.domain.i18n_messages import localizable
from oldfriend.llm.addresses import find_refusal, is_this_machine

ApiKind = Literal["openai", "openai-responses", "anthropic", "ollama"]
"""API of a provider; "openai" is chat completions, which nearly all imitate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderPreset:
    """Provider that can be chosen by its name alone."""

    kind: ApiKind
    base_url: str
    key_variables: tuple[str, ...] = ()  # environment variables for the key; the first set one wins
    small: str | None = None  # classify, extract
    main: str | None = None  # reply
    reflect: str | None = None


PROVIDERS: Final[Mapping[str, ProviderPreset]] = MappingProxyType(
    {
        "anthropic": ProviderPreset(
            kind="anthropic",
            base_url="https://api.anthropic.com",
            key_variables=("ANTHROPIC_API_KEY",),
            small="claude-haiku-5-5",
            main="claude-sonnet-5-5",
            reflect="claude-sonnet-5-5",
        ),
        "openai": ProviderPreset(
            kind="openai-responses",
            base_url="https://api.openai.com/v1",
            key_variables=("OPENAI_API_KEY",),
            small="gpt-6-luna",
            main="gpt-6.1-terra",
            reflect="gpt-6.1-terra",
        ),
        "google": ProviderPreset(
            kind="openai",
            base_url="https://generativelanguage.googleapis.com/v1beta/openai",
            key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            small="gemini-3.5-flash-lite",
            main="gemini-3.8-flash",
            reflect="gemini-3.8-flash",
        ),
        "groq": ProviderPreset(
            kind="openai",
            base_url="https://api.groq.com/openai/v1",
            key_variables=("GROQ_API_KEY",),
            small="openai/gpt-oss-20b",
            main="openai/gpt-oss-120b",
            reflect="openai/gpt-oss-120b",
        ),
        "mistral": ProviderPreset(
            kind="openai",
            base_url="https://api.mistral.ai/v1",
            key_variables=("MISTRAL_API_KEY",),
            small="mistral-small-latest",
            main="mistral-large-latest",
            reflect="mistral-large-latest",
        ),
        "openrouter": ProviderPreset(
            kind="openai",
            base_url="https://openrouter.ai/api/v1",
            key_variables=("OPENROUTER_API_KEY",),
            small="anthropic/claude-haiku-5.5",
            main="anthropic/claude-sonnet-5.5",
            reflect="anthropic/claude-sonnet-5.5",
        ),
        # Local servers have no default models: they have those that the user installed.
        "ollama": ProviderPreset(kind="ollama", base_url="http://localhost:11434/v1"),
        "lmstudio": ProviderPreset(kind="openai", base_url="http://localhost:1234/v1"),
        "llama-server": ProviderPreset(kind="openai", base_url="http://localhost:8080/v1"),
        "vllm": ProviderPreset(kind="openai", base_url="http://localhost:8000/v1"),
    }
)

LOCAL_PROVIDERS: Final = ("ollama", "lmstudio", "llama-server", "vllm")
"""Servers that people run themselves; they are looked for on this machine."""

CLOUD_SUFFIXES: Final = ("-cloud", ":cloud")
"""Suffixes of Ollama models that run in its cloud, for a fee."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Timeouts of a provider in seconds."""

    connect_s: float = 10.0
    first_token_s: float = 60.0  # until the first piece, of text or thinking
    idle_s: float = 60.0  # between pieces
    total_s: float = 300.0  # for the whole response, streamed or not


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """One model of one provider, and all that is needed to reach it."""

    provider: str
    name: str
    kind: ApiKind
    base_url: str
    key: str | None = field(default=None, repr=False)
    timeouts: Timeouts = field(default_factory=Timeouts)

    @property
    def model(self) -> str:
        """Name in settings and in the ledger: "provider:name"."""
        return f"{self.provider}:{self.name}"


def build_model_config(
    model: str,
    *,
    kind: ApiKind | None = None,
    base_url: str | None = None,
    key: str | None = None,
    timeouts: Timeouts | None = None,
) -> ModelConfig:
    """Build a configuration from "provider:name"; omitted values default to the provider's preset.

    Raises ModelMisconfigured if the provider is unknown and has no address, if a key is missing, or
    if the address is forbidden.
    """
    provider, _, name = model.partition(":")
    known = PROVIDERS.get(provider)
    if not provider or not name:
        raise ModelMisconfigured(
            localizable(
                "model_unfit",
                f"{model!r} does not name a model. Write provider:name, "
                'such as "anthropic:claude-sonnet-5-5".',
                model=model,
            )
        )
    if known is None and base_url is None:
        raise ModelMisconfigured(
            localizable(
                "provider_without_address",
                f"There is no address for the provider {provider!r}. Give its base_url, or choose "
                "one "
                f"of {', '.join(PROVIDERS)}.",
                provider=provider,
            )
        )
    if known is not None and known.key_variables and not key and base_url is None:
        raise ModelMisconfigured(
            localizable(
                "provider_without_key",
                f"There is no key for {provider}. Run: oldfriend connect model "
                f"(or set {' or '.join(known.key_variables)}).",
                provider=provider,
            )
        )
    if refused := find_refusal(base_url or ""):
        raise ModelMisconfigured(refused)
    return ModelConfig(
        provider=provider,
        name=name,
        kind=kind or infer_api_kind(known, base_url),
        key=key or None,
        base_url=base_url or (known.base_url if known else ""),
        timeouts=timeouts or Timeouts(),
    )


def infer_api_kind(preset: ProviderPreset | None, base_url: str | None) -> ApiKind:
    """Return a provider's API; imitations of OpenAI have chat completions only."""
    if preset is None or (base_url and preset.kind == "openai-responses"):
        return "openai"
    return preset.kind


def is_local_address(base_url: str) -> bool:
    """Tell whether an address can only be this machine, or the one that runs this container."""
    return is_this_machine(urlsplit(base_url).hostname or "")


def is_free(config: ModelConfig) -> bool:
    """Tell whether a model runs on this machine, so that it costs nothing."""
    return is_free_at(config.base_url, config.name)


def is_free_at(base_url: str, name: str) -> bool:
    """Tell whether a model of this name at this address runs on this machine."""
    return is_local_address(base_url) and not name.endswith(CLOUD_SUFFIXES)

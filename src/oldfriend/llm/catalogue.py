"""Which providers are known by name, where are they, and which of their models do for what?

Values only: nothing is asked here, and no key is looked up. A provider that is not listed is
reached by its address, as most speak OpenAI's language.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import urlsplit

from oldfriend.domain.errors import ModelMisconfigured
from oldfriend.domain.sayings import saying

Kind = Literal["openai", "openai-responses", "anthropic"]
"""The language that a provider speaks; "openai" is the chat completions that all imitate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A provider that can be chosen by its name alone."""

    kind: Kind
    base_url: str
    keys: tuple[str, ...] = ()  # variables that hold its key, the first that is set; (): none
    small: str | None = None  # classify, extract
    main: str | None = None  # reply
    reflect: str | None = None


PROVIDERS: Final[Mapping[str, Known]] = MappingProxyType({
    "anthropic": Known(
        kind="anthropic", base_url="https://api.anthropic.com", keys=("ANTHROPIC_API_KEY",),
        small="claude-haiku-5-5", main="claude-sonnet-5-5", reflect="claude-sonnet-5-5",
    ),
    "openai": Known(
        kind="openai-responses", base_url="https://api.openai.com/v1", keys=("OPENAI_API_KEY",),
        small="gpt-6-luna", main="gpt-6.1-terra", reflect="gpt-6.1-terra",
    ),
    "google": Known(
        kind="openai", base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        small="gemini-3.5-flash-lite", main="gemini-3.8-flash", reflect="gemini-3.8-flash",
    ),
    "groq": Known(
        kind="openai", base_url="https://api.groq.com/openai/v1", keys=("GROQ_API_KEY",),
        small="openai/gpt-oss-20b", main="openai/gpt-oss-120b", reflect="openai/gpt-oss-120b",
    ),
    "mistral": Known(
        kind="openai", base_url="https://api.mistral.ai/v1", keys=("MISTRAL_API_KEY",),
        small="mistral-small-latest", main="mistral-large-latest", reflect="mistral-large-latest",
    ),
    "openrouter": Known(
        kind="openai", base_url="https://openrouter.ai/api/v1", keys=("OPENROUTER_API_KEY",),
        small="anthropic/claude-haiku-5.5", main="anthropic/claude-sonnet-5.5",
        reflect="anthropic/claude-sonnet-5.5",
    ),
    # Those on one's own machine have the models that one put there.
    "ollama": Known(kind="openai", base_url="http://localhost:11434/v1"),
    "lmstudio": Known(kind="openai", base_url="http://localhost:1234/v1"),
    "vllm": Known(kind="openai", base_url="http://localhost:8000/v1"),
})  # fmt: skip


RENTED: Final = ("-cloud", ":cloud")
"""How Ollama names models that it reaches elsewhere, for a fee."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How many seconds to wait for a provider."""

    connect_s: float = 10.0
    first_s: float = 60.0  # until it begins to write, or to think
    silence_s: float = 60.0  # between two pieces
    whole_s: float = 300.0  # for all of it; also where it does not come in pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One model of one provider, and all that is needed to reach it."""

    provider: str
    name: str
    kind: Kind
    base_url: str
    key: str | None = field(default=None, repr=False)
    patience: Patience = field(default_factory=Patience)

    @property
    def model(self) -> str:
        """As it is written in settings and in the ledger."""
        return f"{self.provider}:{self.name}"


def choose(
    model: str,
    *,
    kind: Kind | None = None,
    base_url: str | None = None,
    key: str | None = None,
    patience: Patience | None = None,
) -> Choice:
    """A choice from "provider:name"; what is not said is as usual for the provider.

    Raises ModelMisconfigured where it is not known and has no address, or needs a key.
    """
    provider, _, name = model.partition(":")
    known = PROVIDERS.get(provider)
    if not provider or not name:
        raise ModelMisconfigured(saying(
            "model_unfit",
            f"{model!r} does not name a model. Write provider:name, "
            'such as "anthropic:claude-sonnet-5-5".',
            model=model,
        ))  # fmt: skip
    if known is None and base_url is None:
        raise ModelMisconfigured(saying(
            "provider_without_address",
            f"There is no address for the provider {provider!r}. Give its base_url, or choose one "
            f"of {', '.join(PROVIDERS)}.",
            provider=provider,
        ))  # fmt: skip
    if known is not None and known.keys and not key and base_url is None:
        raise ModelMisconfigured(saying(
            "provider_without_key",
            f"There is no key for {provider}. Run: oldfriend connect model "
            f"(or set {' or '.join(known.keys)}).",
            provider=provider,
        ))  # fmt: skip
    return Choice(
        provider=provider, name=name, kind=kind or usual_kind(known, base_url), key=key or None,
        base_url=base_url or (known.base_url if known else ""), patience=patience or Patience(),
    )  # fmt: skip


def usual_kind(known: Known | None, base_url: str | None) -> Kind:
    """What a provider speaks; one that stands in for OpenAI elsewhere imitates its chat only."""
    if known is None or (base_url and known.kind == "openai-responses"):
        return "openai"
    return known.kind


def is_on_this_machine(base_url: str) -> bool:
    """Whether an address can only be this machine's own."""
    host = urlsplit(base_url).hostname or ""
    return host in {"localhost", "::1"} or host.startswith("127.") or host.endswith(".localhost")


def is_free(choice: Choice) -> bool:
    """Whether it runs on this machine, so that nobody is paid for it."""
    return is_on_this_machine(choice.base_url) and not choice.name.endswith(RENTED)

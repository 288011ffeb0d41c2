"""How is a provider's client opened? Ours is the choice of address, key, patience and proxy.

The clients would look for keys and addresses in the environment: they are given theirs, so that
nothing goes where nobody said it should. They neither retry nor report to anybody.
"""

from typing import TYPE_CHECKING, Final

import httpx2
from pydantic_ai.models import Model

from oldfriend.llm.catalogue import Choice, is_on_this_machine

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pydantic_ai.providers import Provider

NO_KEY: Final = "none"
"""The clients refuse to start without one."""

LIMITS: Final = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
"""Chats wait for their models in parallel; how many do is limited elsewhere."""


def open_client(choice: Choice, http: httpx2.AsyncClient) -> Model:
    """A model of the library's, ready to be asked over these connections."""
    return open_anthropic(choice, http) if choice.kind == "anthropic" else open_openai(choice, http)


def open_http(choice: Choice) -> httpx2.AsyncClient:
    """Connections to a provider; what is on this machine is not reached through a proxy."""
    return httpx2.AsyncClient(
        timeout=timeouts(choice), limits=LIMITS, trust_env=not is_on_this_machine(choice.base_url)
    )


def timeouts(choice: Choice) -> httpx2.Timeout:
    """How long the network may take; the waits between the pieces are watched by the adapter."""
    return httpx2.Timeout(choice.patience.whole_s, connect=choice.patience.connect_s)


def open_anthropic(choice: Choice, http: httpx2.AsyncClient) -> Model:
    """Anthropic's own interface."""
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        api_key=choice.key or NO_KEY, base_url=choice.base_url, http_client=http, max_retries=0,
        timeout=timeouts(choice), open_telemetry=False,
    )  # fmt: skip
    return AnthropicModel(choice.name, provider=AnthropicProvider(anthropic_client=client))


def open_openai(choice: Choice, http: httpx2.AsyncClient) -> Model:
    """OpenAI's two interfaces, and all that imitate them."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI(
        api_key=choice.key or NO_KEY, base_url=choice.base_url, http_client=http, max_retries=0,
        timeout=timeouts(choice),
    )  # fmt: skip
    client.organization = client.project = None  # taken from the environment otherwise
    return (open_responses if choice.kind == "openai-responses" else open_chat)(choice, client)


def open_responses(choice: Choice, client: "AsyncOpenAI") -> Model:
    """OpenAI's newer interface; nothing is to be kept there."""
    from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings

    unkept = OpenAIResponsesModelSettings(openai_store=False)  # by default for 30 days
    return OpenAIResponsesModel(
        choice.name, provider=openai_provider(choice, client), settings=unkept
    )


def open_chat(choice: Choice, client: "AsyncOpenAI") -> Model:
    """OpenAI's older interface, which all imitate, some only in part."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.models.openrouter import OpenRouterModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    profile = OpenAIModelProfile(
        # A stream that just ends would else be taken for a whole reply.
        openai_chat_streaming_requires_finish_reason=True,
        # The templates of many open models take one at most.
        openai_chat_supports_multiple_system_messages=choice.provider == "openai",
    )
    if choice.provider == "openrouter":
        router = OpenRouterProvider(openai_client=client)
        return OpenRouterModel(choice.name, provider=router, profile=profile)
    return OpenAIChatModel(choice.name, provider=openai_provider(choice, client), profile=profile)


def openai_provider(choice: Choice, client: "AsyncOpenAI") -> "Provider[AsyncOpenAI]":
    """Who is behind the interface: it tells the library what its models can do."""
    from pydantic_ai.providers.ollama import OllamaProvider
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
    from pydantic_ai.providers.vllm import VLLMProvider

    match choice.provider:
        case "openai":
            return OpenAIProvider(openai_client=client)
        case "ollama":
            return OllamaProvider(openai_client=client)
        case "vllm":
            return VLLMProvider(openai_client=client)
        case other:
            return OpenAICompatibleProvider(other, openai_client=client)

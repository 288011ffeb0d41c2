"""Provider clients: builds the library's model objects with our address, key, timeouts and proxy.

The clients would otherwise look for keys and addresses in the environment; they are given theirs,
so that nothing is sent to a place that nobody chose. They neither retry nor send telemetry.
"""

from typing import TYPE_CHECKING, Final

import httpx2
from pydantic_ai.models import Model

from oldfriend.llm.adapters.http_connections import build_timeout
from oldfriend.llm.providers import ModelConfig

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers import Provider

PLACEHOLDER_KEY: Final = "none"
"""Key for providers without one, because the clients require a key."""


def build_client(config: ModelConfig, http: httpx2.AsyncClient) -> Model:
    """Build the library's model object, using these connections."""
    return (
        build_anthropic_model(config, http)
        if config.kind == "anthropic"
        else build_openai_model(config, http)
    )


def build_anthropic_model(config: ModelConfig, http: httpx2.AsyncClient) -> Model:
    """Build a model for Anthropic's API."""
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        api_key=config.key or PLACEHOLDER_KEY,
        base_url=config.base_url,
        http_client=http,
        max_retries=0,
        timeout=build_timeout(config),
        open_telemetry=False,
    )
    return AnthropicModel(config.name, provider=AnthropicProvider(anthropic_client=client))


def build_openai_model(config: ModelConfig, http: httpx2.AsyncClient) -> Model:
    """Build a model for either of OpenAI's APIs, or an imitation."""
    from openai import AsyncOpenAI

    class Client(AsyncOpenAI):
        """Client that does not run `uname -p` to detect its platform."""

        def hide_platform(self) -> None:
            self._platform = "Unknown"

    client = Client(
        api_key=config.key or PLACEHOLDER_KEY,
        base_url=config.base_url,
        http_client=http,
        max_retries=0,
        timeout=build_timeout(config),
    )
    client.hide_platform()
    client.organization = client.project = None  # taken from the environment otherwise
    return (build_responses_model if config.kind == "openai-responses" else build_chat_model)(
        config, client
    )


def build_responses_model(config: ModelConfig, client: "AsyncOpenAI") -> Model:
    """Build a model for OpenAI's Responses API, with storage of responses turned off."""
    from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings

    settings = OpenAIResponsesModelSettings(openai_store=False)  # stored for 30 days by default
    return OpenAIResponsesModel(
        config.name, provider=build_openai_provider(config, client), settings=settings
    )


def build_chat_model(config: ModelConfig, client: "AsyncOpenAI") -> Model:
    """Build a model for chat completions, which nearly all providers imitate, some only in part."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.models.openrouter import OpenRouterModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    profile = OpenAIModelProfile(
        **get_local_profile(config.provider),
        # Without it a stream that breaks off would pass for a complete reply.
        openai_chat_streaming_requires_finish_reason=True,
        # The chat templates of many open models accept at most one.
        openai_chat_supports_multiple_system_messages=config.provider == "openai",
    )
    if config.provider == "openrouter":
        router = OpenRouterProvider(openai_client=client)
        return OpenRouterModel(config.name, provider=router, profile=profile)
    return OpenAIChatModel(
        config.name, provider=build_openai_provider(config, client), profile=profile
    )


def get_local_profile(provider: str) -> "OpenAIModelProfile":
    """Return what the local servers can do that the library does not know of them.

    All of them constrain an answer to a JSON schema: LM Studio's "Structured Output", llama.cpp's
    tools/server/README.md (response_format), vLLM's "Structured Outputs". The chat templates of
    reasoning models take a switch, by vLLM's "Reasoning Outputs" and llama.cpp's README
    (chat_template_kwargs); those of other models ignore it. LM Studio documents none.
    """
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    match provider:
        case "lmstudio":
            return OpenAIModelProfile(supports_json_schema_output=True)
        case "llama-server" | "vllm":
            return OpenAIModelProfile(
                supports_json_schema_output=True,
                supports_thinking=True,
                openai_chat_thinking_false_body={
                    "chat_template_kwargs": {"enable_thinking": False}
                },
            )
    return OpenAIModelProfile()


def build_openai_provider(config: ModelConfig, client: "AsyncOpenAI") -> "Provider[AsyncOpenAI]":
    """Build the provider object, which tells the library what its models support."""
    from pydantic_ai.providers.ollama import OllamaProvider
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
    from pydantic_ai.providers.vllm import VLLMProvider

    match config.provider:
        case "openai":
            return OpenAIProvider(openai_client=client)
        case "ollama":
            return OllamaProvider(openai_client=client)
        case "vllm":
            return VLLMProvider(openai_client=client)
        case other:
            return OpenAICompatibleProvider(other, openai_client=client)

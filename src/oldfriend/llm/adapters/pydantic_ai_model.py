"""Pydantic AI adapter: builds a provider's client, warms it up, and asks a model once.

Fallback to other models and recording of calls are left to the fallback chain.

The clients would otherwise look for keys and addresses in the environment; they are given theirs,
so that nothing is sent to a place that nobody chose. They neither retry nor send telemetry.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import httpx2
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import (
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from oldfriend.domain.errors import (
    ModelError,
    ModelMisconfigured,
    ModelUnavailable,
    RequestRejected,
)
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.json import JsonValue
from oldfriend.llm.adapters.error_texts import format_address_unfit, format_too_long
from oldfriend.llm.adapters.http_connections import (
    build_timeout,
    check_length,
    limit_time,
    open_model_http,
    relay_pieces,
)
from oldfriend.llm.adapters.pricing import compute_price
from oldfriend.llm.adapters.pydantic_ai_mapping import (
    build_parameters,
    build_refusal_error,
    build_settings,
    map_model_error,
    parse_response,
    to_model_messages,
)
from oldfriend.llm.model import (
    Completion,
    CompletionRequest,
    PromptTurn,
    TextCallback,
    move_call_instructions,
)
from oldfriend.llm.providers import LOCAL_PROVIDERS, ApiKind, ModelConfig, is_local_address

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


LIBRARY_ERRORS: Final = (
    AgentRunError,
    UserError,
    httpx2.HTTPError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
)
"""Exceptions of the library; the builtin ones mean that a response has an unexpected shape."""


@dataclass(slots=True, kw_only=True)
class PydanticAiModel:
    """One model of one provider, asked with Pydantic AI."""

    config: ModelConfig
    client: Model
    http: httpx2.AsyncClient
    refuses_tools: bool = False  # known once it has

    @property
    def name(self) -> str:
        """Provider and model name: "provider:name"."""
        return self.config.model

    async def complete(
        self, request: CompletionRequest, on_text: TextCallback | None = None
    ) -> Completion:
        """Send one request, streamed if `on_text` is given.

        A local server that takes no tools is asked without them, from then on at once.
        """
        if self.refuses_tools:
            request = replace(request, tools=())
        try:
            return await self._complete(request, on_text)
        except RequestRejected as error:
            is_too_long = error.user_text == format_too_long(self.config)
            if is_too_long or not request.tools or self.config.provider not in LOCAL_PROVIDERS:
                raise
        completion = await self._complete(replace(request, tools=()), on_text)
        self.refuses_tools = True
        return completion

    async def _complete(
        self, request: CompletionRequest, on_text: TextCallback | None
    ) -> Completion:
        request = move_call_instructions(request)
        if on_text is None:
            response = await self._request(request)
        else:
            response = await relay_pieces(
                self._iter_pieces(request),
                on_text,
                model=self.name,
                timeouts=self.config.timeouts,
            )
        return self._parse_response(response, request)

    async def close(self) -> None:
        """Close the connections."""
        await self.http.aclose()

    async def _request(self, request: CompletionRequest) -> ModelResponse:
        async with limit_time(self.name, self.config.timeouts.total_s):
            with self._map_errors():
                return await model_request(
                    self.client,
                    to_model_messages(request.turns, self.name),
                    model_settings=self._build_settings(request),
                    model_request_parameters=self._build_parameters(request),
                    instrument=False,
                )

    async def _iter_pieces(
        self, request: CompletionRequest
    ) -> AsyncGenerator[str | ModelResponse, None]:
        """Yield the text in pieces ("" for other events), then the whole response."""
        with self._map_errors():
            stream = model_request_stream(
                self.client,
                to_model_messages(request.turns, self.name),
                model_settings=self._build_settings(request),
                model_request_parameters=self._build_parameters(request),
                instrument=False,
            )
            joiner = TextPartJoiner()
            async with stream as events:
                async for event in events:
                    yield joiner.extract_text(event)
                yield events.get()

    def _build_parameters(self, request: CompletionRequest) -> ModelRequestParameters:
        is_local = self.config.provider in LOCAL_PROVIDERS or is_local_address(self.config.base_url)
        return build_parameters(request, self.client.profile, is_local=is_local)

    def _build_settings(self, request: CompletionRequest) -> ModelSettings:
        # vLLM rejects max_tokens beyond the model's context; others treat it as an upper limit.
        has_room = self.config.provider != "vllm"
        return build_settings(request, self.client.profile, has_room=has_room)

    def _parse_response(self, response: ModelResponse, request: CompletionRequest) -> Completion:
        """Convert the response. Raises ModelUnavailable if it was not finished, ModelRefusal."""
        details = response.provider_details or {}
        is_cut = response.finish_reason == "length" or details.get("finish_reason") == "incomplete"
        if response.finish_reason is None and not is_cut:
            raise ModelUnavailable(
                localizable(
                    "reply_lost",
                    f"The connection to {self.name} was lost in mid-reply.",
                    model=self.name,
                )
            )
        if response.finish_reason == "content_filter":
            raise build_refusal_error(self.config, str(details.get("refusal", "")))
        cost = compute_price(self.config, response.usage, response.model_name)
        check_length(self.name, len(response.text or ""))
        return parse_response(response, request, model=self.name, cost=cost, is_truncated=is_cut)

    @contextmanager
    def _map_errors(self) -> Iterator[None]:
        try:
            yield
        except LIBRARY_ERRORS as error:
            mapped = map_model_error(self.config, error)
            # A provider's message about a wrong key may quote parts of it.
            raise mapped from (None if isinstance(mapped, ModelMisconfigured) else error)


@dataclass(slots=True)
class TextPartJoiner:
    """Inserts an empty line between text parts that are separated by other parts."""

    _has_text: bool = False
    _is_in_text: bool = False

    def extract_text(self, event: ModelResponseStreamEvent) -> str:
        """Return the text of an event, or ""."""
        if isinstance(event, PartStartEvent):
            gap = "\n\n" if self._has_text and not self._is_in_text else ""
            self._is_in_text = isinstance(event.part, TextPart)
            if not isinstance(event.part, TextPart):
                return ""
            self._has_text = True
            return gap + event.part.content
        if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
            return event.delta.content_delta
        return ""


def open_model(config: ModelConfig) -> PydanticAiModel:
    """Open a model; the caller closes it. Raises ModelMisconfigured."""
    try:
        http = open_model_http(config)
        client = build_client(config, http)
    except (UserError, ValueError, httpx2.InvalidURL) as error:
        raise ModelMisconfigured(format_address_unfit(config, error)) from error
    return PydanticAiModel(config=config, client=client, http=http)


FAKE_URL: Final = "http://localhost"

WARMUP_REQUEST: Final = CompletionRequest(
    purpose="test",
    prompt="none",
    system_prompt="Greet.",
    turns=(PromptTurn(role="person", text="Hello."),),
)

RESPONSE_JSON: Final[dict[str, JsonValue]] = {
    "id": "r",
    "object": "response",
    "created_at": 0,
    "model": "m",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "status": "completed",
    "usage": {
        "input_tokens": 1,
        "output_tokens": 1,
        "total_tokens": 2,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    },
}

STREAM_EVENTS: Final[Mapping[ApiKind, tuple[dict[str, JsonValue], ...]]] = {
    "openai": (
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "m",
            "choices": [
                {"index": 0, "delta": {"content": "Hello."}, "finish_reason": None},
            ],
        },
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "m",
            "choices": [
                {"index": 0, "delta": {}, "finish_reason": "stop"},
            ],
        },
    ),
    "openai-responses": (
        {"type": "response.created", "sequence_number": 0, "response": RESPONSE_JSON},
        {
            "type": "response.output_text.delta",
            "sequence_number": 1,
            "item_id": "i",
            "output_index": 0,
            "content_index": 0,
            "delta": "Hello.",
            "logprobs": [],
        },
        {"type": "response.completed", "sequence_number": 2, "response": RESPONSE_JSON},
    ),
    "anthropic": (
        {
            "type": "message_start",
            "message": {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "Hello."},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ),
}


def warm_up_client(config: ModelConfig) -> bool:
    """Send a request to a mock transport; return whether the client could read its response."""
    return asyncio.run(_complete_offline(replace(config, base_url=FAKE_URL, key=None)))


async def _complete_offline(config: ModelConfig) -> bool:
    async def answer(_: httpx2.Request) -> httpx2.Response:
        sent = (
            f"event: {e.get('type')}\ndata: {json.dumps(e)}\n\n" for e in STREAM_EVENTS[config.kind]
        )
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, text="".join(sent))

    async def nobody_listens(_: str) -> None:
        pass

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
        model = PydanticAiModel(config=config, client=build_client(config, http), http=http)
        try:
            await model.complete(WARMUP_REQUEST, nobody_listens)
        except ModelError:
            return False  # the client expects another format: the first reply takes a little longer
        return True

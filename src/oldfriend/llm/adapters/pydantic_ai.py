"""Pydantic AI adapter: asks one model once, streaming or not, within time limits.

Fallback to other models and recording of calls are left to the fallback chain.
"""

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

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

from oldfriend.domain.errors import ModelMisconfigured, ModelUnavailable, RequestRejected
from oldfriend.domain.i18n_messages import localizable
from oldfriend.llm.adapters.clients import build_client
from oldfriend.llm.adapters.error_texts import format_address_unfit, format_too_long
from oldfriend.llm.adapters.http_connections import open_model_http
from oldfriend.llm.adapters.pricing import compute_price
from oldfriend.llm.adapters.pydantic_ai_mapping import (
    build_parameters,
    build_refusal_error,
    build_settings,
    map_model_error,
    parse_response,
    to_model_messages,
)
from oldfriend.llm.adapters.time_limits import check_length, limit_time, relay_pieces
from oldfriend.llm.model import Completion, CompletionRequest, TextCallback
from oldfriend.llm.providers import LOCAL_PROVIDERS, ModelConfig, is_local_address

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

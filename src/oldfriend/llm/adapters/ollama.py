"""Ollama: asks a model over Ollama's own API, which alone lets a request set the context length.

Over its OpenAI-compatible API a prompt that is longer than the server's usual context (4,096
tokens in most versions) loses its beginning without a word. The format is that of Ollama's
docs/api.md; ``truncate`` and ``shift`` are those of its api/types.go, and older servers ignore
them.
"""

import json
import secrets
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Final

import httpx2

from oldfriend.domain.errors import (
    ApiKeyRejected,
    BrokenOutput,
    ModelError,
    ModelMisconfigured,
    ModelUnavailable,
    RequestRejected,
)
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import estimate_tokens
from oldfriend.llm.adapters import error_texts
from oldfriend.llm.adapters.http_connections import (
    check_length,
    limit_time,
    open_model_http,
    relay_pieces,
)
from oldfriend.llm.adapters.local_servers import parse_ollama_model
from oldfriend.llm.model import (
    THINKING_TOKENS,
    USER_PLACEHOLDER,
    Completion,
    CompletionRequest,
    PromptTurn,
    TextCallback,
    TokenUsage,
    ToolCall,
    ToolResult,
    clamp_token_count,
    keep_unreadable,
    move_call_instructions,
)
from oldfriend.llm.providers import ModelConfig, is_free

CONTEXT_STEPS: Final = (8_192, 16_384, 32_768, 65_536, 131_072)
"""Few lengths, because Ollama loads a model again whenever its context length changes."""
TOKEN_MARGIN: Final = 1.3
"""Most tokenizers count more than a token per four characters, above all outside English."""
MARKUP_TOKENS: Final = 256
"""Tokens of the chat template."""
Json = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What a model can do, by /api/show."""

    has_tools: bool
    thinks: bool
    least_thinking: JsonValue  # the value of ``think`` with which it thinks least
    context_length: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaAnswer:
    """The end of an answer, with all of it."""

    text: str
    calls: tuple[ToolCall, ...]
    end: Json


class PromptTooLong(Exception):
    """The prompt does not fit into the context length that was asked for."""


@dataclass(slots=True, kw_only=True)
class OllamaModel:
    """One model of an Ollama."""

    config: ModelConfig
    http: httpx2.AsyncClient
    _abilities: Abilities | None = field(default=None, init=False)
    _context: int = field(default=0, init=False)  # the longest that was needed so far

    @property
    def name(self) -> str:
        """Provider and model name: "provider:name"."""
        return self.config.model

    async def complete(
        self, request: CompletionRequest, on_text: TextCallback | None = None
    ) -> Completion:
        """Send one request, streamed if `on_text` is given."""
        abilities = await self._load_abilities()
        body = build_body(self.config.name, move_call_instructions(request), abilities)
        self._context = max(self._context, choose_context(estimate_needed_tokens(body)))
        while True:
            try:
                answer = await self._ask(with_context(body, self._context, abilities), on_text)
                return self._parse_answer(answer, request)
            except PromptTooLong as error:
                longer = choose_context(self._context + 1)
                if longer <= self._context or self._context >= (abilities.context_length or longer):
                    raise RequestRejected(error_texts.format_too_long(self.config)) from error
                self._context = longer

    async def close(self) -> None:
        """Close the connections."""
        await self.http.aclose()

    async def _load_abilities(self) -> Abilities:
        if self._abilities is None:
            async with limit_time(self.name, self.config.timeouts.first_token_s):
                with self._map_errors():
                    response = await self.http.post(
                        self._url("show"), json={"model": self.config.name}, headers=self._headers()
                    )
                    if response.is_error:
                        raise self._map_status(response.status_code, response.text)
                    self._abilities = parse_abilities(self.config.name, response.json())
        return self._abilities

    async def _ask(self, body: Json, on_text: TextCallback | None) -> OllamaAnswer:
        if on_text is not None:
            return await relay_pieces(
                self._iter_pieces({**body, "stream": True}),
                on_text,
                model=self.name,
                timeouts=self.config.timeouts,
            )
        async with (
            limit_time(self.name, self.config.timeouts.total_s),
            aclosing(self._iter_pieces({**body, "stream": False})) as pieces,
        ):
            async for piece in pieces:
                if isinstance(piece, OllamaAnswer):
                    return piece
        raise AssertionError("an answer ends with itself")

    async def _iter_pieces(self, body: Json) -> AsyncGenerator[str | OllamaAnswer, None]:
        """Yield the text in pieces ("" for other parts), then the whole answer."""
        texts: list[str] = []
        calls: list[ToolCall] = []
        with self._map_errors():
            async with self.http.stream(
                "POST", self._url("chat"), json=body, headers=self._headers()
            ) as response:
                if response.is_error:
                    await response.aread()
                    raise self._map_status(response.status_code, response.text)
                async for line in response.aiter_lines():
                    if not line.strip():
                        continue
                    part = json.loads(line)
                    if "error" in part:
                        raise self._map_status(500, line)
                    message = part["message"]
                    calls += parse_calls(message.get("tool_calls") or ())
                    text = str(message.get("content") or "")
                    texts.append(text)
                    yield text
                    if part.get("done"):
                        yield OllamaAnswer(text="".join(texts), calls=tuple(calls), end=part)
                        return
        raise ModelUnavailable(
            localizable(
                "reply_lost",
                f"The connection to {self.name} was lost in mid-reply.",
                model=self.name,
            )
        )

    def _parse_answer(self, answer: OllamaAnswer, request: CompletionRequest) -> Completion:
        """Convert an answer. Raises BrokenOutput if it is empty, ModelUnavailable if too long."""
        check_length(self.name, len(answer.text))
        is_truncated = answer.end.get("done_reason") == "length"
        if not answer.text.strip() and not answer.calls:
            raise BrokenOutput(
                error_texts.format_empty_answer(
                    self.name, request.max_output_tokens if is_truncated else None
                )
            )
        return Completion(
            model=self.name,
            text=answer.text,
            calls=answer.calls,
            usage=TokenUsage(
                input=parse_tokens(answer.end.get("prompt_eval_count")),
                output=parse_tokens(answer.end.get("eval_count")),
            ),
            cost=0 if is_free(self.config) else None,
            is_truncated=is_truncated,
        )

    def _url(self, call: str) -> str:
        return f"{self.config.base_url.rstrip('/').removesuffix('/v1')}/api/{call}"

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.config.key}"} if self.config.key else {}

    @contextmanager
    def _map_errors(self) -> Iterator[None]:
        try:
            yield
        except httpx2.ConnectError as error:
            text = error_texts.format_unreachable(self.config)
            raise ModelUnavailable(text, outage="unavailable") from error
        except httpx2.TimeoutException as error:
            raise ModelUnavailable(
                error_texts.format_timeout(self.config), outage="slow"
            ) from error
        except httpx2.HTTPError as error:
            text = error_texts.format_connection_lost(self.config, " before the reply was whole")
            raise ModelUnavailable(text, outage="unavailable") from error
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            quoted = error_texts.quote_text(self.config, str(error)) or type(error).__name__
            raise ModelUnavailable(
                localizable(
                    "answer_unreadable",
                    f"{self.name} answered with something that cannot be read: {quoted}",
                    model=self.name,
                    said=quoted,
                ),
                outage="failing",
            ) from error

    def _map_status(self, status: int, text: str) -> ModelError | PromptTooLong:
        """Return the error for a response that reports one."""
        if error_texts.is_about_length(text):
            return PromptTooLong()
        config = self.config
        said = error_texts.quote_text(config, extract_error(text))
        match status:
            case 401 | 403:
                return ApiKeyRejected(error_texts.format_key_refused(config, "model"))
            case 404:
                return ModelMisconfigured(
                    error_texts.format_unknown_model(config, "model", "model")
                )
            case 429:
                return ModelUnavailable(error_texts.format_rate_limited(config), outage="busy")
            case 503:
                return ModelUnavailable(error_texts.format_overloaded(config), outage="failing")
            case _ if status < 500:
                return RequestRejected(error_texts.format_rejected(config, said))
        return ModelUnavailable(
            error_texts.format_failure(config, said, status=status), outage="failing"
        )


def open_ollama(config: ModelConfig) -> OllamaModel:
    """Open a model; the caller closes it. Raises ModelMisconfigured for an invalid address."""
    try:
        httpx2.URL(config.base_url)
    except (ValueError, httpx2.InvalidURL) as error:
        raise ModelMisconfigured(error_texts.format_address_unfit(config, error)) from error
    return OllamaModel(config=config, http=open_model_http(config))


def parse_abilities(name: str, shown: JsonValue) -> Abilities:
    """Return a model's abilities by /api/show; what an older server does not tell is assumed."""
    if not isinstance(shown, dict):
        raise TypeError("no object")
    model = parse_ollama_model(name, shown)
    thinking = shown.get("thinking")
    values = thinking.get("values") if isinstance(thinking, dict) else None
    levels = values if isinstance(values, list) and values else [False]
    return Abilities(
        has_tools=model.has_tools is not False,
        thinks=bool(model.thinks),
        least_thinking=False if False in levels else levels[0],
        context_length=model.context_length,
    )


def build_body(name: str, request: CompletionRequest, abilities: Abilities) -> dict[str, JsonValue]:
    """Build a request without its context length.

    Thinking is turned off unless it was asked for, and counts as output where it cannot be.
    """
    thinks = abilities.thinks and (request.may_think or abilities.least_thinking is not False)
    options: dict[str, JsonValue] = {
        "num_predict": request.max_output_tokens + (THINKING_TOKENS if thinks else 0)
    }
    if request.temperature is not None:
        options["temperature"] = request.temperature
    body: dict[str, JsonValue] = {
        "model": name,
        "messages": build_messages(request, has_tools=abilities.has_tools),
        "options": options,
        "truncate": False,
        "shift": False,
    }
    if abilities.thinks and not request.may_think:
        body["think"] = abilities.least_thinking
    if request.output is not None:
        body["format"] = dict(request.output)
    if request.tools and request.may_call and abilities.has_tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in request.tools
        ]
    return body


def with_context(body: Json, context: int, abilities: Abilities) -> Json:
    """Return a request with a context length, at most that of the model."""
    options = body["options"]
    assert isinstance(options, dict)
    limited = min(context, abilities.context_length or context)
    return {**body, "options": {**options, "num_ctx": limited}}


def build_messages(request: CompletionRequest, *, has_tools: bool) -> list[JsonValue]:
    """Build the messages: one of the system, then those of the two sides and of tools."""
    may_write_calls = request.tools and request.may_call and not has_tools
    call_form = request.call_form if may_write_calls else ""
    parts = (request.system_prompt, call_form, request.output_form, request.call_instructions)
    system = "\n\n".join(filter(None, parts))
    messages: list[dict[str, JsonValue]] = []
    for turn in request.turns:
        message = build_message(turn, has_tools=has_tools)
        if not messages and message["role"] == "assistant":
            messages.append({"role": "user", "content": USER_PLACEHOLDER})
        if messages and message["role"] == messages[-1]["role"] == "user":
            joined = f"{messages[-1]['content']}\n\n{message['content']}"
            messages[-1] = {"role": "user", "content": joined}
        else:
            messages.append(message)
    return [{"role": "system", "content": system}, *messages]


def build_message(turn: PromptTurn | ToolResult, *, has_tools: bool) -> dict[str, JsonValue]:
    """Build the message of a turn; for a model without tools their results are the user's text."""
    if isinstance(turn, ToolResult):
        if not has_tools:
            return {"role": "user", "content": turn.text}
        return {
            "role": "tool",
            "content": turn.text,
            "tool_name": turn.name,
            "tool_call_id": turn.id,
        }
    if turn.role != "companion":
        return {"role": "user", "content": turn.text}
    message: dict[str, JsonValue] = {"role": "assistant", "content": turn.text}
    if turn.calls and has_tools:
        message["tool_calls"] = [
            {"id": call.id, "function": {"name": call.name, "arguments": dict(call.arguments)}}
            for call in turn.calls
        ]
    return message


def estimate_needed_tokens(body: Json) -> int:
    """Return about how many tokens a request and its answer need."""
    options = body["options"]
    assert isinstance(options, dict)
    sent = json.dumps([body["messages"], body.get("tools")], ensure_ascii=False)
    predicted = options["num_predict"]
    assert isinstance(predicted, int)
    return round(TOKEN_MARGIN * estimate_tokens(sent)) + MARKUP_TOKENS + predicted


def choose_context(needed: int) -> int:
    """Return the shortest usual context length that suffices, or the longest."""
    return next((step for step in CONTEXT_STEPS if step >= needed), CONTEXT_STEPS[-1])


def parse_calls(calls: Sequence[Json]) -> list[ToolCall]:
    """Parse the tool calls of a message; arguments that are no object are kept as unreadable."""
    parsed: list[ToolCall] = []
    for call in calls:
        function = call["function"]
        if not isinstance(function, dict):
            raise TypeError("no function")
        name, arguments = str(function["name"]), function.get("arguments")
        readable = arguments if isinstance(arguments, dict) else keep_unreadable(str(arguments))
        identity = str(call.get("id") or f"call_{secrets.token_hex(8)}")
        parsed.append(ToolCall(id=identity, name=name, arguments=readable))
    return parsed


def parse_tokens(count: JsonValue) -> int:
    """Return a token count of an answer, or 0."""
    return clamp_token_count(count) if isinstance(count, int) else 0


def extract_error(text: str) -> str:
    """Return the message of an error, or the whole text."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return str(body["error"]) if isinstance(body, dict) and "error" in body else text

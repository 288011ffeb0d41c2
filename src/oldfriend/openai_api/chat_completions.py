"""Chat completions: requests and replies in OpenAI's first format, /v1/chat/completions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers

from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolCall
from oldfriend.openai_api.chat_messages import (
    is_call_required,
    read_messages,
    read_text,
    read_tools,
)
from oldfriend.openai_api.chat_reply import FinishedReply
from oldfriend.openai_api.chat_request import (
    ChatRequest,
    clamp_max_tokens,
    clamp_temperature,
    get_model_use,
    read_output,
)
from oldfriend.openai_api.error_json import ApiRefusal, ErrorFormat
from oldfriend.openai_api.reply_response import to_sse

CONVERSATION_HEADERS: Final = ("x-openwebui-chat-id", "x-conversation-id", "x-session-id")
RETRY_HEADER: Final = "x-stainless-retry-count"
"""How often OpenAI's clients have sent a request before."""
MAX_KEY_CHARS: Final = 200


def read_chat_completion(body: Mapping[str, JsonValue], headers: Headers) -> ChatRequest:
    """Return what a request asks for. Raises ApiRefusal."""
    model = read_text(body.get("model"), "model")
    messages = read_messages(body.get("messages"))
    if not messages:
        raise ApiRefusal(400, "“messages” must have at least one message.", param="messages")
    refuse_several(body.get("n"))
    options = body.get("stream_options")
    may_call = body.get("tool_choice") != "none"
    return ChatRequest(
        model=model,
        use=get_model_use(model),
        messages=messages,
        tools=read_tools(body.get("tools")) if may_call else (),
        must_call=is_call_required(body.get("tool_choice")),
        is_streamed=body.get("stream") is True,
        includes_usage=isinstance(options, dict) and options.get("include_usage") is True,
        conversation=read_conversation(headers),
        is_retry=headers.get(RETRY_HEADER, "0") not in {"", "0"},
        idempotency_key=headers.get("idempotency-key", "")[:MAX_KEY_CHARS],
        max_tokens=clamp_max_tokens(body.get("max_completion_tokens") or body.get("max_tokens")),
        temperature=clamp_temperature(body.get("temperature")),
        output=read_output(body.get("response_format"), "response_format"),
    )


def read_conversation(headers: Headers) -> str:
    """Return the program's id of the conversation; empty if it does not send one."""
    found = (headers.get(each, "") for each in CONVERSATION_HEADERS)
    return next((each[:MAX_KEY_CHARS] for each in found if each), "")


def refuse_several(count: JsonValue) -> None:
    """Raise ApiRefusal if several replies are wanted: a companion says one thing."""
    if count is not None and count != 1:
        raise ApiRefusal(400, "Only one reply is written at a time: “n” must be 1.", param="n")


@dataclass(slots=True, kw_only=True)
class ChatCompletionFormat:
    """The format of one reply."""

    request: ChatRequest
    id: str
    created: int  # seconds since 1970
    error_format: ErrorFormat = "openai"
    media_type: str = "text/event-stream"
    keep_alive: str = ": keep-alive\n\n"

    @property
    def is_streamed(self) -> bool:
        """Tell whether the reply is sent piece by piece."""
        return self.request.is_streamed

    def build_whole(self, finished: FinishedReply) -> JsonValue:
        """Return a completion."""
        message: dict[str, JsonValue] = {
            "role": "assistant",
            "content": finished.text if finished.text or not finished.calls else None,
            "refusal": None,
        }
        if finished.calls:
            message["tool_calls"] = build_calls(finished.calls)
        choice: dict[str, JsonValue] = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": finished.finish_reason,
        }
        return {
            **self._build_head("chat.completion"),
            "choices": [choice],
            "usage": build_usage(finished),
        }

    def iter_first(self) -> Iterator[str]:
        """Yield the role."""
        yield self._build_chunk({"role": "assistant", "content": ""})

    def iter_piece(self, piece: str) -> Iterator[str]:
        """Yield a piece of text."""
        yield self._build_chunk({"content": piece})

    def iter_last(self, finished: FinishedReply) -> Iterator[str]:
        """Yield the calls, why it ended and, where wanted, the usage."""
        if finished.calls:
            yield self._build_chunk({"tool_calls": build_calls(finished.calls, is_streamed=True)})
        yield self._build_chunk({}, finish_reason=finished.finish_reason)
        if self.request.includes_usage:
            head = self._build_head("chat.completion.chunk")
            yield to_sse({**head, "choices": [], "usage": build_usage(finished)})
        yield to_sse("[DONE]")

    def iter_error(self, refusal: ApiRefusal) -> Iterator[str]:
        """Yield an error in place of what is missing."""
        error = refusal.to_json()
        yield to_sse(error if isinstance(error, dict) else {})

    def _build_chunk(self, delta: dict[str, JsonValue], *, finish_reason: str | None = None) -> str:
        choice: dict[str, JsonValue] = {
            "index": 0,
            "delta": delta,
            "logprobs": None,
            "finish_reason": finish_reason,
        }
        chunk: dict[str, JsonValue] = {
            **self._build_head("chat.completion.chunk"),
            "choices": [choice],
        }
        if self.request.includes_usage:
            chunk["usage"] = None
        return to_sse(chunk)

    def _build_head(self, kind: str) -> dict[str, JsonValue]:
        return {
            "id": f"chatcmpl-{self.id}",
            "object": kind,
            "created": self.created,
            "model": self.request.model,
            "system_fingerprint": None,
        }


def build_calls(calls: Sequence[ToolCall], *, is_streamed: bool = False) -> list[JsonValue]:
    """Return tool calls; in a stream each has its place."""
    return [
        {
            **({"index": number} if is_streamed else {}),
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": to_arguments(call)},
        }
        for number, call in enumerate(calls)
    ]


def to_arguments(call: ToolCall) -> str:
    """Return the arguments of a call as text."""
    return json.dumps(dict(call.arguments), ensure_ascii=False)


def build_usage(finished: FinishedReply) -> dict[str, JsonValue]:
    """Return how many tokens a reply took."""
    return {
        "prompt_tokens": finished.tokens_in,
        "completion_tokens": finished.tokens_out,
        "total_tokens": finished.tokens_in + finished.tokens_out,
        "prompt_tokens_details": {"cached_tokens": finished.tokens_cached},
    }

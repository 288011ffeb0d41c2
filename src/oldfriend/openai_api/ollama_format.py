"""Ollama format: requests and replies as Ollama's programs have them, such as Home Assistant."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from starlette.datastructures import Headers

from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolCall
from oldfriend.openai_api.chat_completions import MAX_KEY_CHARS, read_conversation
from oldfriend.openai_api.chat_messages import (
    ChatMessage,
    read_images,
    read_messages,
    read_object,
    read_text,
    read_tools,
)
from oldfriend.openai_api.chat_reply import FinishedReply
from oldfriend.openai_api.chat_request import (
    ANY_OBJECT,
    LATEST,
    ChatRequest,
    clamp_max_tokens,
    clamp_temperature,
    get_model_use,
)
from oldfriend.openai_api.error_json import ApiRefusal, ErrorFormat

API_VERSION: Final = "0.13.0"
"""The version of Ollama whose API this is; some programs refuse older ones."""
FAMILY: Final = "oldfriend"
CONTEXT_TOKENS: Final = 32_768
"""How much programs may send; of all but the end the companion has its own log."""

OllamaRoute = Literal["chat", "generate"]


def read_ollama_request(
    body: Mapping[str, JsonValue], headers: Headers, route: OllamaRoute
) -> ChatRequest:
    """Return what a request asks for. Raises ApiRefusal."""
    model = read_text(body.get("model"), "model")
    options = read_object(body.get("options") or {}, "options")
    messages = read_messages(body.get("messages")) if route == "chat" else read_prompt(body)
    return ChatRequest(
        model=model,
        use=get_model_use(model),
        messages=messages,
        tools=read_tools(body.get("tools")),
        is_streamed=body.get("stream") is not False,
        conversation=read_conversation(headers),
        idempotency_key=headers.get("idempotency-key", "")[:MAX_KEY_CHARS],
        max_tokens=clamp_max_tokens(options.get("num_predict")),
        temperature=clamp_temperature(options.get("temperature")),
        output=read_format(body.get("format")),
    )


def read_format(value: JsonValue) -> Mapping[str, JsonValue] | None:
    """Return the JSON Schema of a reply: "json", or the schema itself. Raises ApiRefusal."""
    if not value:
        return None
    return ANY_OBJECT if value == "json" else read_object(value, "format")


def read_prompt(body: Mapping[str, JsonValue]) -> tuple[ChatMessage, ...]:
    """Return the messages of a request for a text. Raises ApiRefusal."""
    system, prompt = (
        read_text(body.get("system"), "system"),
        read_text(body.get("prompt"), "prompt"),
    )
    given = [
        ChatMessage(role="system", text=system),
        ChatMessage(role="user", text=prompt, unseen=read_images(body.get("images"), "images")),
    ]
    return tuple(each for each in given if each.text or each.unseen)


@dataclass(slots=True, kw_only=True)
class OllamaFormat:
    """The format of one reply."""

    request: ChatRequest
    route: OllamaRoute
    now: Micros
    error_format: ErrorFormat = "ollama"
    media_type: str = "application/x-ndjson"
    keep_alive: str = ""

    @property
    def is_streamed(self) -> bool:
        """Tell whether the reply is sent piece by piece."""
        return self.request.is_streamed

    def build_whole(self, finished: FinishedReply) -> JsonValue:
        """Return a whole reply."""
        return self._build(finished.text, finished.calls, finished)

    def iter_first(self) -> Iterator[str]:
        """Yield nothing: a stream begins with its first piece."""
        yield from ()

    def iter_piece(self, piece: str) -> Iterator[str]:
        """Yield a piece of text."""
        yield to_line(self._build(piece, (), None))

    def iter_last(self, finished: FinishedReply) -> Iterator[str]:
        """Yield the calls, and that it is done."""
        if finished.calls:
            yield to_line(self._build("", finished.calls, None))
        yield to_line(self._build("", (), finished))

    def iter_error(self, refusal: ApiRefusal) -> Iterator[str]:
        """Yield an error in place of what is missing."""
        yield to_line(refusal.to_json("ollama"))

    def build_loaded(self) -> JsonValue:
        """Return the reply to a request without words, which only loads a model."""
        return {
            **self._build_head(),
            **self._build_words("", ()),
            "done": True,
            "done_reason": "load",
        }

    def _build(
        self, text: str, calls: Sequence[ToolCall], finished: FinishedReply | None
    ) -> dict[str, JsonValue]:
        """Return a line of a stream; with ``finished``, the last one."""
        line = {
            **self._build_head(),
            **self._build_words(text, calls),
            "done": finished is not None,
        }
        if finished is None:
            return line
        return {
            **line,
            "done_reason": "length" if finished.is_truncated else "stop",
            "total_duration": 0,
            "load_duration": 0,
            "prompt_eval_count": finished.tokens_in,
            "prompt_eval_duration": 0,
            "eval_count": finished.tokens_out,
            "eval_duration": 0,
        }

    def _build_head(self) -> dict[str, JsonValue]:
        return {"model": self.request.model, "created_at": format_time(self.now)}

    def _build_words(self, text: str, calls: Sequence[ToolCall]) -> dict[str, JsonValue]:
        if self.route == "generate":
            return {"response": text}
        message: dict[str, JsonValue] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [
                {"function": {"name": each.name, "arguments": dict(each.arguments)}}
                for each in calls
            ]
        return {"message": message}


def to_line(value: JsonValue) -> str:
    """Return a line of a stream."""
    return json.dumps(value, ensure_ascii=False) + "\n"


def format_time(at: Micros) -> str:
    """Return a time as Ollama writes it."""
    return from_micros(at, "UTC").strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def build_details() -> dict[str, JsonValue]:
    """Return what Ollama tells of how a model was made; there is nothing to tell."""
    return {
        "parent_model": "",
        "format": "",
        "family": FAMILY,
        "families": [FAMILY],
        "parameter_size": "",
        "quantization_level": "",
    }


def build_tag(name: str, at: Micros) -> dict[str, JsonValue]:
    """Return a model in the list of models."""
    return {
        "name": f"{name}{LATEST}",
        "model": f"{name}{LATEST}",
        "modified_at": format_time(at),
        "size": 0,
        "digest": "",
        "details": build_details(),
    }


def build_shown(name: str, at: Micros, *, can_call: bool) -> dict[str, JsonValue]:
    """Return what there is to know of a model; without a language model it calls no tools."""
    capabilities: list[JsonValue] = ["completion", *(["tools"] if can_call else [])]
    return {
        "modelfile": "",
        "parameters": "",
        "template": "{{ .Prompt }}",
        "details": build_details(),
        "model_info": {
            "general.architecture": FAMILY,
            "general.basename": name,
            f"{FAMILY}.context_length": CONTEXT_TOKENS,
        },
        "capabilities": capabilities,
        "modified_at": format_time(at),
    }

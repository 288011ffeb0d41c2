"""Responses: requests and replies in OpenAI's second format, /v1/responses."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers

from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolCall
from oldfriend.openai_api.chat_completions import (
    MAX_KEY_CHARS,
    RETRY_HEADER,
    read_conversation,
    to_arguments,
)
from oldfriend.openai_api.chat_messages import (
    MAX_MESSAGES,
    ChatMessage,
    is_call_required,
    read_arguments,
    read_list,
    read_message,
    read_object,
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

ID_PREFIX: Final = "resp_"


def read_response_request(body: Mapping[str, JsonValue], headers: Headers) -> ChatRequest:
    """Return what a request asks for. Raises ApiRefusal."""
    model = read_text(body.get("model"), "model")
    instructions = read_text(body.get("instructions"), "instructions")
    given = read_input(body.get("input"))
    if not given:
        raise ApiRefusal(400, "“input” must be a text or a list of items.", param="input")
    system = (ChatMessage(role="system", text=instructions),) if instructions else ()
    continued = read_continued(body)
    may_call = body.get("tool_choice") != "none"
    text = read_object(body.get("text") or {}, "text")
    return ChatRequest(
        model=model,
        use=get_model_use(model),
        messages=(*system, *given),
        tools=read_tools(body.get("tools")) if may_call else (),
        must_call=is_call_required(body.get("tool_choice")),
        is_streamed=body.get("stream") is True,
        conversation=continued or read_conversation(headers),
        is_continuation=continued.startswith(ID_PREFIX),
        is_retry=headers.get(RETRY_HEADER, "0") not in {"", "0"},
        idempotency_key=headers.get("idempotency-key", "")[:MAX_KEY_CHARS],
        max_tokens=clamp_max_tokens(body.get("max_output_tokens")),
        temperature=clamp_temperature(body.get("temperature")),
        output=read_output(text.get("format"), "text.format"),
    )


def read_continued(body: Mapping[str, JsonValue]) -> str:
    """Return the response or the conversation that a request goes on with. Raises ApiRefusal."""
    previous = read_text(body.get("previous_response_id"), "previous_response_id")
    if previous:
        return f"{ID_PREFIX}{previous.removeprefix(ID_PREFIX)}"[:MAX_KEY_CHARS]
    conversation = body.get("conversation")
    if isinstance(conversation, dict):
        conversation = conversation.get("id")
    return read_text(conversation, "conversation")[:MAX_KEY_CHARS]


def read_input(value: JsonValue) -> tuple[ChatMessage, ...]:
    """Return the messages of an input: a text, or items. Raises ApiRefusal."""
    if isinstance(value, str):
        return (ChatMessage(role="user", text=read_text(value, "input")),)
    messages = []
    for number, each in enumerate(read_list(value, "input", most=MAX_MESSAGES)):
        place = f"input[{number}]"
        item = read_object(each, place)
        match item.get("type", "message"):
            case "message":
                messages.append(read_message(item, place))
            case "function_call":
                messages.append(read_call_item(item, place))
            case "function_call_output":
                output = item.get("output")
                messages.append(
                    ChatMessage(
                        role="tool",
                        text=output if isinstance(output, str) else str(output),
                        call_id=read_text(item.get("call_id"), f"{place}.call_id"),
                    )
                )
            case _:
                continue  # such as reasoning, which is the other model's own
    return tuple(messages)


def read_call_item(item: Mapping[str, JsonValue], place: str) -> ChatMessage:
    """Return a tool call among the items of an input. Raises ApiRefusal."""
    call = ToolCall(
        id=read_text(item.get("call_id"), f"{place}.call_id"),
        name=read_text(item.get("name"), f"{place}.name"),
        arguments=read_arguments(item.get("arguments")),
    )
    return ChatMessage(role="assistant", text="", calls=(call,))


@dataclass(slots=True, kw_only=True)
class ResponseFormat:
    """The format of one reply."""

    request: ChatRequest
    id: str
    created: int  # seconds since 1970
    error_format: ErrorFormat = "openai"
    media_type: str = "text/event-stream"
    keep_alive: str = ": keep-alive\n\n"
    number: int = -1  # of the last event

    @property
    def is_streamed(self) -> bool:
        """Tell whether the reply is sent piece by piece."""
        return self.request.is_streamed

    def build_whole(self, finished: FinishedReply) -> JsonValue:
        """Return a response."""
        return self._build_response(finished)

    def iter_first(self) -> Iterator[str]:
        """Yield that the response has begun."""
        response = self._build_response(None)
        yield self._event("response.created", response=response)
        yield self._event("response.in_progress", response=response)
        item = self._build_message("", status="in_progress")
        yield self._event(
            "response.output_item.added", output_index=0, item={**item, "content": []}
        )
        yield self._event("response.content_part.added", **self._place(), part=build_part(""))

    def iter_piece(self, piece: str) -> Iterator[str]:
        """Yield a piece of text."""
        yield self._event("response.output_text.delta", **self._place(), delta=piece, logprobs=[])

    def iter_last(self, finished: FinishedReply) -> Iterator[str]:
        """Yield the whole text, the calls and the whole response."""
        place, text = self._place(), finished.text
        yield self._event("response.output_text.done", **place, text=text, logprobs=[])
        yield self._event("response.content_part.done", **place, part=build_part(text))
        item = self._build_message(text, status="completed")
        yield self._event("response.output_item.done", output_index=0, item=item)
        for number, call in enumerate(finished.calls, start=1):
            yield from self._iter_call(call, number)
        response = self._build_response(finished, has_message=True)
        kind = "response.incomplete" if finished.is_truncated else "response.completed"
        yield self._event(kind, response=response)

    def iter_error(self, refusal: ApiRefusal) -> Iterator[str]:
        """Yield an error in place of what is missing."""
        yield self._event(
            "error", code=refusal.code or refusal.kind, message=refusal.message, param=refusal.param
        )

    def _iter_call(self, call: ToolCall, number: int) -> Iterator[str]:
        """Yield a tool call."""
        item, written = build_call_item(call), to_arguments(call)
        opened: JsonValue = {**item, "arguments": "", "status": "in_progress"}
        place: dict[str, JsonValue] = {"item_id": call.id, "output_index": number}
        yield self._event("response.output_item.added", output_index=number, item=opened)
        yield self._event("response.function_call_arguments.delta", **place, delta=written)
        yield self._event(
            "response.function_call_arguments.done", **place, arguments=written, name=call.name
        )
        yield self._event("response.output_item.done", output_index=number, item=item)

    def _event(self, kind: str, **fields: JsonValue) -> str:
        self.number += 1
        return to_sse({"type": kind, "sequence_number": self.number, **fields}, event=kind)

    def _place(self) -> dict[str, JsonValue]:
        return {"item_id": f"msg_{self.id}", "output_index": 0, "content_index": 0}

    def _build_message(self, text: str, *, status: str) -> dict[str, JsonValue]:
        return {
            "id": f"msg_{self.id}",
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": [build_part(text)],
        }

    def _build_response(
        self, finished: FinishedReply | None, *, has_message: bool = False
    ) -> dict[str, JsonValue]:
        """Return the response as far as it is written."""
        output: list[JsonValue] = []
        is_cut = finished is not None and finished.is_truncated
        if finished is not None:
            if finished.text or has_message or not finished.calls:
                output.append(self._build_message(finished.text, status="completed"))
            output += [build_call_item(each) for each in finished.calls]
        status = "incomplete" if is_cut else "in_progress" if finished is None else "completed"
        return {
            "id": f"{ID_PREFIX}{self.id}",
            "object": "response",
            "created_at": self.created,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
            "instructions": None,
            "model": self.request.model,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "temperature": None,
            "top_p": None,
            "metadata": {},
            "usage": None if finished is None else build_response_usage(finished),
        }


def build_part(text: str) -> dict[str, JsonValue]:
    """Return a text as a part of a message."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def build_call_item(call: ToolCall) -> dict[str, JsonValue]:
    """Return a tool call as an item."""
    return {
        "id": call.id,
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": to_arguments(call),
        "status": "completed",
    }


def build_response_usage(finished: FinishedReply) -> dict[str, JsonValue]:
    """Return how many tokens a reply took."""
    return {
        "input_tokens": finished.tokens_in,
        "input_tokens_details": {"cached_tokens": finished.tokens_cached},
        "output_tokens": finished.tokens_out,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": finished.tokens_in + finished.tokens_out,
    }

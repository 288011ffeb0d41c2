"""Warm-up of a provider's client: one request to a mock transport, before the first reply."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import httpx2

from oldfriend.domain.errors import ModelError
from oldfriend.domain.json import JsonValue
from oldfriend.llm.adapters.clients import build_client
from oldfriend.llm.adapters.pydantic_ai import PydanticAiModel
from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend.llm.providers import ApiKind, ModelConfig

FAKE_URL: Final = "http://localhost"

WARMUP_REQUEST: Final = CompletionRequest(
    purpose="test",
    prompt="none",
    stable="Greet.",
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

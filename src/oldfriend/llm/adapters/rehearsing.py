"""What makes a client ready to read its first reply at once? Having read one.

The clients build their types when the first answer comes, for up to a second in which nothing
else moves. Here it comes from a string instead of the network.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import httpx2

from oldfriend.domain.errors import ModelError
from oldfriend.domain.json import JsonValue
from oldfriend.llm.adapters.clients import open_client
from oldfriend.llm.adapters.pydantic_ai import PydanticModel
from oldfriend.llm.catalogue import Choice, Kind
from oldfriend.llm.model import Request, Turn

NOBODY: Final = "http://localhost"

GREETING: Final = Request(
    purpose="test", prompt="none", stable="Greet.", turns=(Turn(role="person", text="Hello."),)
)

RESPONSE: Final[dict[str, JsonValue]] = {
    "id": "r", "object": "response", "created_at": 0, "model": "m", "output": [],
    "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "status": "completed",
    "usage": {
        "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    },
}  # fmt: skip

EVENTS: Final[Mapping[Kind, tuple[dict[str, JsonValue], ...]]] = {
    "openai": (
        {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [
            {"index": 0, "delta": {"content": "Hello."}, "finish_reason": None},
        ]},
        {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [
            {"index": 0, "delta": {}, "finish_reason": "stop"},
        ]},
    ),
    "openai-responses": (
        {"type": "response.created", "sequence_number": 0, "response": RESPONSE},
        {"type": "response.output_text.delta", "sequence_number": 1, "item_id": "i",
         "output_index": 0, "content_index": 0, "delta": "Hello.", "logprobs": []},
        {"type": "response.completed", "sequence_number": 2, "response": RESPONSE},
    ),
    "anthropic": (
        {"type": "message_start", "message": {
            "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
            "stop_reason": None, "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0,
         "delta": {"type": "text_delta", "text": "Hello."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None},
         "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ),
}  # fmt: skip


def rehearse(choice: Choice) -> bool:
    """Ask a model of the same kind that is not there; whether its answer could be read."""
    return asyncio.run(_rehearse(replace(choice, base_url=NOBODY, key=None)))


async def _rehearse(choice: Choice) -> bool:
    async def answer(_: httpx2.Request) -> httpx2.Response:
        sent = (f"event: {e.get('type')}\ndata: {json.dumps(e)}\n\n" for e in EVENTS[choice.kind])
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, text="".join(sent))

    async def nobody_listens(_: str) -> None:
        pass

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
        model = PydanticModel(choice=choice, client=open_client(choice, http), http=http)
        try:
            await model.complete(GREETING, nobody_listens)
        except ModelError:
            return False  # the clients read otherwise by now: the first reply takes a little longer
        return True

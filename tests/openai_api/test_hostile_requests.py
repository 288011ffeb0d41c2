"""Whatever a program sends is read or refused, and never breaks anything."""

from collections.abc import Callable, Mapping

from hypothesis import example, given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import PromptTurn, ToolResult
from oldfriend.openai_api.chat_completions import read_chat_completion
from oldfriend.openai_api.chat_request import ChatRequest
from oldfriend.openai_api.error_json import ApiRefusal
from oldfriend.openai_api.model_turns import build_turns
from oldfriend.openai_api.ollama_format import read_ollama_request
from oldfriend.openai_api.resent_history import read_new_words
from oldfriend.openai_api.responses import read_response_request

TEXTS = st.text(max_size=8) | st.just("\ud800\x00")
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ROLE = st.sampled_from(["system", "developer", "user", "assistant", "tool", "function", "king"])
PART = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["text", "input_text", "image_url"]) | ANYTHING,
        "text": ANYTHING,
    },
)
CALL = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["a", "b"]) | ANYTHING,
        "function": ANYTHING
        | st.fixed_dictionaries({"name": TEXTS}, optional={"arguments": ANYTHING}),
    },
)
MESSAGE = ANYTHING | st.fixed_dictionaries(
    {"role": ROLE | ANYTHING},
    optional={
        "type": st.sampled_from(["message", "function_call", "function_call_output"]) | ANYTHING,
        "content": ANYTHING | TEXTS | st.lists(PART, max_size=2),
        "tool_calls": ANYTHING | st.lists(CALL, max_size=2),
        "tool_call_id": st.sampled_from(["a", "b"]) | ANYTHING,
        "call_id": st.sampled_from(["a", "b"]) | ANYTHING,
        "name": ANYTHING,
        "images": ANYTHING,
        "output": ANYTHING,
        "arguments": ANYTHING,
    },
)
MESSAGES = ANYTHING | st.lists(MESSAGE, max_size=5)
TOOLS = ANYTHING | st.lists(
    ANYTHING | st.fixed_dictionaries({"type": st.just("function"), "function": ANYTHING}),
    max_size=2,
)
BODY = st.fixed_dictionaries(
    {"model": st.sampled_from(["oldfriend", "oldfriend-plain", "oldfriend-memory:latest"])},
    optional={
        "messages": MESSAGES,
        "input": MESSAGES,
        "prompt": ANYTHING,
        "system": ANYTHING,
        "options": ANYTHING,
        "tools": TOOLS,
        "n": ANYTHING,
        "stream": ANYTHING,
        "stream_options": ANYTHING,
        "tool_choice": ANYTHING,
        "max_tokens": ANYTHING,
        "num_predict": ANYTHING,
        "instructions": ANYTHING,
        "conversation": ANYTHING,
        "previous_response_id": ANYTHING,
    },
)
READERS: tuple[Callable[[Mapping[str, JsonValue], Headers], ChatRequest], ...] = (
    read_chat_completion,
    read_response_request,
    lambda body, headers: read_ollama_request(body, headers, "chat"),
    lambda body, headers: read_ollama_request(body, headers, "generate"),
)


SPOKEN = {"model": "oldfriend", "messages": [{"role": "user", "content": "x"}]}


@given(BODY)
@example({**SPOKEN, "n": []})
@example({**SPOKEN, "messages": [{"role": "user", "content": [{"type": []}]}]})
@example({**SPOKEN, "messages": [{"role": "user", "content": "x", "tool_calls": [{}]}]})
@example({**SPOKEN, "input": [{"type": {}, "role": "user", "content": "x"}]})
def test_every_request_is_read_or_refused(body: dict[str, JsonValue]) -> None:
    """In all formats; what is read has calls and results in pairs, and ends with what to answer."""
    for read in READERS:
        try:
            request = read(body, Headers({}))
        except ApiRefusal as refusal:
            assert refusal.status in {400, 404}
            continue
        words = read_new_words(request, b"secret")
        assert words is None or len(words.texts) == len(words.keys) > 0
        waiting: list[str] = []
        for turn in build_turns(request.messages):
            if isinstance(turn, ToolResult):
                waiting.remove(turn.id)
            else:
                assert not waiting
                waiting += [each.id for each in turn.calls]
        assert not waiting
        assert isinstance(turn, ToolResult) or turn.role in {"person", "instruction"}
        assert isinstance(turn, PromptTurn | ToolResult)

"""What no decent provider sends, and some do: exact bytes, over a real connection."""

import json

import pytest

from oldfriend.domain.errors import (
    ApiKeyRejected,
    BrokenOutput,
    ModelMisconfigured,
    ModelRefusal,
    ModelUnavailable,
    RequestRejected,
)
from oldfriend.llm.adapters import http_connections
from oldfriend.llm.adapters.model_factory import build_model
from oldfriend.llm.model import UNREADABLE_ARGUMENTS, ToolCall, ToolResult
from oldfriend.llm.providers import ApiKind, build_model_config
from tests.fakes.raw_server import END, STREAM_HEAD, chat_piece, chunk, event, raw_server, whole
from tests.llm.request_fixtures import WEATHER, Listener, saying

KEY = "sk-very-secret"


async def ask(url: str, kind: ApiKind, request=None, heard=None, **fields):
    name = "anthropic:claude-haiku-5-5" if kind == "anthropic" else "openai:gpt-6-luna"
    address = url if kind == "anthropic" else f"{url}/v1"
    model = build_model(build_model_config(name, kind=kind, base_url=address, key=KEY, **fields))
    try:
        return await model.complete(request or saying("hello"), heard)
    finally:
        await model.close()


def anthropic_message(*content, stop: str = "end_turn", usage=None) -> dict[str, object]:
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage or {"input_tokens": 3, "output_tokens": 2},
    }


def chat_message(message: dict[str, object], *, ends: str = "stop", usage=None):
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "gpt-6-luna",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", **message},
                "finish_reason": ends,
            }
        ],
        "usage": usage or {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }


HI = {"type": "text", "text": "Hi."}
STARTED = {
    "type": "message_start",
    "message": anthropic_message() | {"stop_reason": None},
}
BLOCK = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}


def said(text: str) -> str:
    return event(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    )


CUT = {
    "openai": [STREAM_HEAD, chat_piece("I was"), chat_piece(" about to")],
    "openai-responses": [
        STREAM_HEAD,
        event(
            {
                "type": "response.output_text.delta",
                "sequence_number": 1,
                "item_id": "i",
                "output_index": 0,
                "content_index": 0,
                "delta": "I was about to",
                "logprobs": [],
            }
        ),
    ],
    "anthropic": [STREAM_HEAD, event(STARTED), event(BLOCK), said("I was about to")],
}


@pytest.mark.parametrize("ending", ["", END, chunk("data: {broken\n\n"), chunk("data: [1, 2]\n\n")])
@pytest.mark.parametrize("kind", CUT)
async def test_stream_without_a_proper_end_raises_model_unavailable(kind, ending):
    """Hung up, ended as if it were well, or gone mad: it is not taken for the whole."""
    heard = Listener()

    async with raw_server([*CUT[kind], ending]) as server:
        with pytest.raises(ModelUnavailable):
            await ask(server.url, kind, heard=heard)

    assert heard.text == "I was about to"
    assert len(server.bodies) == 1


@pytest.mark.parametrize("kind", CUT)
async def test_error_event_inside_a_stream_raises_model_unavailable(kind):
    """The status was 200 by then."""
    trouble = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    if kind == "openai-responses":
        trouble = {
            "type": "error",
            "code": "server_error",
            "message": "Overloaded",
            "sequence_number": 2,
            "param": None,
        }

    async with raw_server([*CUT[kind], event(trouble), END]) as server:
        with pytest.raises(ModelUnavailable):
            await ask(server.url, kind, heard=Listener())


@pytest.mark.parametrize("kind", CUT)
@pytest.mark.parametrize(
    "body", ["", "{", "[]", "{}", "null", '"text"', "<html>Bad gateway</html>"]
)
async def test_unexpected_response_body_raises_a_model_error(kind, body):
    """A proxy's page, an empty body, JSON of another kind."""
    async with raw_server(whole(body)) as server:
        with pytest.raises((ModelUnavailable, BrokenOutput)):
            await ask(server.url, kind)


async def test_openai_refusal_raises_model_refusal():
    """It has its own field."""
    refused = chat_message({"content": None, "refusal": "I cannot help with that."})
    async with raw_server(whole(refused)) as server:
        with pytest.raises(ModelRefusal, match="I cannot help with that"):
            await ask(server.url, "openai")


async def test_anthropic_refusal_raises_model_refusal():
    """It is a reason to stop."""
    async with raw_server(whole(anthropic_message(stop="refusal"))) as server:
        with pytest.raises(ModelRefusal):
            await ask(server.url, "anthropic")


async def test_content_filter_error_raises_model_refusal():
    """A status 400 that is about what was said, not how."""
    body = {"error": {"message": "No.", "type": "invalid_request_error", "code": "content_filter"}}
    async with raw_server(whole(body, status=400)) as server:
        with pytest.raises(ModelRefusal) as caught:
            await ask(server.url, "openai")
    assert not isinstance(caught.value, RequestRejected)


async def test_context_length_error_raises_request_rejected():
    """Another model may read more."""
    body = {"error": {"message": "Too long.", "code": "context_length_exceeded"}}
    async with raw_server(whole(body, status=400)) as server:
        with pytest.raises(RequestRejected, match="longer than"):
            await ask(server.url, "openai")


async def test_insufficient_quota_raises_model_unavailable_unpaid():
    """It may pass: when somebody pays."""
    body = {"error": {"message": "Quota.", "type": "x", "code": "insufficient_quota"}}
    async with raw_server(whole(body, status=429)) as server:
        with pytest.raises(ModelUnavailable, match="Top it up") as failed:
            await ask(server.url, "openai")

    assert failed.value.outage == "unpaid"


@pytest.mark.parametrize("ends", ["stop", "length"])
async def test_empty_answer_raises_broken_output(ends):
    """It is no reply, and may be asked for again."""
    async with raw_server(whole(chat_message({"content": ""}, ends=ends))) as server:
        with pytest.raises(BrokenOutput):
            await ask(server.url, "openai")


@pytest.mark.parametrize("arguments", ['{"a": ', '{"a": 1e999}', f'{{"a": {"7" * 5_000}}}', "7"])
async def test_tool_arguments_that_are_not_json_are_marked_unreadable(arguments):
    """The tool is not run on a guess, but the model is told; cut off, it is no answer."""
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": arguments}}
    message = chat_message({"content": None, "tool_calls": [call]}, ends="tool_calls")
    cut_off = chat_message({"content": None, "tool_calls": [call]}, ends="length")
    async with raw_server(whole(message), whole(cut_off)) as server:
        [made] = (await ask(server.url, "openai")).calls
        with pytest.raises(BrokenOutput, match="look"):
            await ask(server.url, "openai")

    assert (made.name, dict(made.arguments)) == ("look", {UNREADABLE_ARGUMENTS: arguments[:500]})


@pytest.mark.parametrize("count", [1 << 63, 10**30])
async def test_impossible_token_count_is_ignored(count):
    """It would fit into no database."""
    usage = {"prompt_tokens": count, "completion_tokens": 2, "total_tokens": 2}
    async with raw_server(whole(chat_message({"content": "Hi."}, usage=usage))) as server:
        completion = await ask(server.url, "openai")

    assert (completion.text, completion.usage.input) == ("Hi.", 0)


async def test_cached_tokens_are_counted_as_input_for_each_provider():
    """They are part of those that went in, in every language."""
    usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 2}
    async with raw_server(whole(anthropic_message(HI, usage=usage))) as server:
        completion = await ask(server.url, "anthropic")
    assert (completion.usage.input, completion.usage.cached) == (100, 90)

    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 2,
        "total_tokens": 102,
        "prompt_tokens_details": {"cached_tokens": 90},
    }
    async with raw_server(whole(chat_message({"content": "Hi."}, usage=usage))) as server:
        completion = await ask(server.url, "openai")
    assert (completion.usage.input, completion.usage.cached) == (100, 90)


async def test_only_the_stable_prompt_part_is_marked_for_caching():
    """What changes each time would be written to the cache for nothing."""
    async with raw_server(whole(anthropic_message(HI))) as server:
        await ask(
            server.url,
            "anthropic",
            saying("hello", call_instructions="It is noon.", may_call=False, tools=(WEATHER,)),
        )

    [body] = server.bodies
    stable, changing = body["system"]
    assert (stable["text"], stable["cache_control"]["type"]) == ("Be kind.", "ephemeral")
    assert "cache_control" not in changing
    assert "cache_control" not in json.dumps(body["messages"])
    assert body["tool_choice"] == {"type": "none"}


async def test_openai_responses_request_disables_storage():
    """Its newer interface keeps what it is sent for 30 days, unless it is told not to."""
    async with raw_server([*CUT["openai-responses"], END]) as server:
        with pytest.raises(ModelUnavailable):
            await ask(server.url, "openai-responses", heard=Listener())

    assert server.bodies[0]["store"] is False


async def test_signed_thinking_is_sent_back_only_to_its_provider():
    """A model that thought before it asked for a tool wants to see that again, nobody else does."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}
    asks = {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Rome"}}
    async with raw_server(
        whole(anthropic_message(thought, asks, stop="tool_use")), whole(anthropic_message(HI))
    ) as server:
        request = saying("weather?", tools=(WEATHER,), may_think=True)
        first = await ask(server.url, "anthropic", request)
        result = ToolResult(id="t1", name="get_weather", text="sun")
        turns = (*request.turns, first.turn, result)
        await ask(server.url, "anthropic", saying("", turns=turns, tools=(WEATHER,)))
    assert first.calls == (ToolCall(id="t1", name="get_weather", arguments={"city": "Rome"}),)
    assert thought in server.bodies[1]["messages"][1]["content"]

    async with raw_server(whole(chat_message({"content": "Hi."}))) as server:
        await ask(server.url, "openai", saying("", turns=turns, tools=(WEATHER,)))
    assert "Hm." not in json.dumps(server.bodies[0])


async def test_environment_variables_do_not_redirect_requests(monkeypatch):
    """Only what was chosen is asked, and with the key that was chosen for it."""
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-x")
    async with raw_server(whole(chat_message({"content": "Hi."}))) as server:
        assert (await ask(server.url, "openai")).text == "Hi."
    async with raw_server(whole(anthropic_message(HI))) as server:
        assert (await ask(server.url, "anthropic")).text == "Hi."


@pytest.mark.parametrize(
    ("status", "outage"), [(429, "busy"), (500, "failing"), (503, "failing"), (529, "failing")]
)
async def test_rate_limit_and_server_error_have_different_outage_kinds(status, outage):
    """The person reads what is so, and whether waiting helps."""
    async with raw_server(whole({"error": {"message": "no"}}, status=status)) as server:
        with pytest.raises(ModelUnavailable) as failed:
            await ask(server.url, "openai")

    assert failed.value.outage == outage


async def test_rejected_api_key_is_distinguished_from_misconfiguration():
    """Another key helps, or another name."""
    for status, kind in ((401, ApiKeyRejected), (404, ModelMisconfigured)):
        async with raw_server(whole({"error": {"message": "no"}}, status=status)) as server:
            with pytest.raises(kind) as failed:
                await ask(server.url, "openai")

        assert type(failed.value) is kind


HALVES = ("x\ud83d", "\ude00y", "z\ud800", "!")
"""A character in two pieces, and a half that stays alone, as JSON writes them."""


@pytest.mark.parametrize("streamed", [True, False])
async def test_split_surrogates_are_joined_and_lone_ones_replaced(streamed: bool):
    """No database stores half a character: what follows would wait for it."""
    pieces = [chat_piece(each) for each in HALVES]
    message = json.dumps(chat_message({"content": "".join(HALVES)}))
    script = (
        [STREAM_HEAD, *pieces, chat_piece("", ends="stop"), END] if streamed else whole(message)
    )
    heard = Listener() if streamed else None
    async with raw_server(script) as raw:
        answer = await ask(raw.url, "openai", heard=heard)

    assert answer.text == "x\U0001f600yz\ufffd!"
    assert heard is None or "".join(heard.pieces) == answer.text


@pytest.mark.parametrize("streamed", [True, False])
async def test_oversized_response_raises_model_unavailable(monkeypatch, streamed: bool):
    """It must not fill the memory while its time runs."""
    monkeypatch.setattr(http_connections, "MAX_RESPONSE_BYTES", 100_000)
    endless = [chat_piece("again and " * 10) for _ in range(2_000)]
    body = json.dumps(chat_message({"content": "again and " * 20_000}))
    script = [STREAM_HEAD, *endless] if streamed else whole(body)
    async with raw_server(script) as raw:
        with pytest.raises(ModelUnavailable):
            await ask(raw.url, "openai", heard=Listener() if streamed else None)


async def test_answer_longer_than_a_message_raises_model_unavailable(monkeypatch):
    """Nobody is told to split what a model has written."""
    monkeypatch.setattr(http_connections, "MAX_ANSWER_CHARS", 1_000)
    message = chat_message({"content": "again and " * 200})
    async with raw_server(whole(message)) as raw:
        with pytest.raises(ModelUnavailable, match="more than 1,000 characters"):
            await ask(raw.url, "openai")

"""Models of local servers answer: thinking off, output capped, nothing cut silently."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from oldfriend.domain.errors import (
    BrokenOutput,
    ModelMisconfigured,
    ModelUnavailable,
    RequestRejected,
)
from oldfriend.llm.adapters.model_factory import build_model
from oldfriend.llm.adapters.ollama import OllamaModel
from oldfriend.llm.adapters.pydantic_ai_model import PydanticAiModel
from oldfriend.llm.model import PromptTurn, ToolCall, ToolResult
from oldfriend.llm.providers import build_model_config
from oldfriend.turn.structured_output import complete_structured
from tests.fakes import local_servers
from tests.fakes.local_servers import (
    FakeLlamaServer,
    FakeLmStudio,
    FakeModel,
    FakeOllama,
    FakeServer,
    FakeVllm,
    running,
)
from tests.fakes.raw_server import raw_server, whole
from tests.llm.request_fixtures import WEATHER, Listener, saying

KINDS = (FakeOllama, FakeLmStudio, FakeLlamaServer, FakeVllm)
SCHEMA = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
LONG = "What was said. " * 8_000  # 30,000 tokens
ABILITIES = {"capabilities": ["completion", "tools"], "model_info": {}, "details": {}}


@asynccontextmanager
async def opened(url: str, provider: str) -> AsyncIterator[PydanticAiModel | OllamaModel]:
    """The model "m" of a server."""
    model = build_model(build_model_config(f"{provider}:m", base_url=url))
    try:
        yield model
    finally:
        await model.close()


@pytest.fixture(params=KINDS, ids=lambda kind: kind.provider)
def fake(request: pytest.FixtureRequest) -> Iterator[FakeServer]:
    """Each server, with a model that thinks where it can be told not to."""
    thinks = request.param is not FakeLmStudio
    with running(request.param([FakeModel(name="m", thinks=thinks)])) as fake:
        yield fake


@pytest.mark.parametrize("heard", [Listener(), None])
async def test_local_model_request_disables_thinking_and_caps_output(
    fake: FakeServer, heard: Listener | None
) -> None:
    """In pieces or at once; what it may write is capped, as thinking takes nothing of it."""
    async with opened(fake.base_url, fake.provider) as model:
        asked = saying("hello", call_instructions="It is noon.", temperature=0.2)
        completion = await model.complete(asked, heard)

    (body,) = fake.chats
    assert (body["options"] if fake.provider == "ollama" else body)["temperature"] == 0.2
    assert completion.text == "I hear you."
    assert completion.cost == 0
    assert completion.usage.input > 0
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    if fake.provider == "ollama":
        assert (body["think"], body["options"]["num_predict"]) == (False, 2048)
    elif fake.provider != "lmstudio":
        assert body["chat_template_kwargs"] == {"enable_thinking": False}


async def test_local_model_output_follows_the_json_schema(fake: FakeServer) -> None:
    """Each server keeps to a JSON schema while it writes."""
    fake.answers = {"age": 7, "not_asked_for": "x"}
    async with opened(fake.base_url, fake.provider) as model:
        told = await complete_structured(model, saying("How old?", output=SCHEMA), lambda it: it)

    assert told == {"age": 7}


async def test_thinking_model_request_leaves_room_for_thinking(fake: FakeServer) -> None:
    """Where it was asked for; vLLM refuses more than its context."""
    async with opened(fake.base_url, fake.provider) as model:
        if fake.provider == "vllm":
            with pytest.raises(BrokenOutput):
                await model.complete(saying("Why?", may_think=True))
            return
        completion = await model.complete(saying("Why?", may_think=True))

    assert completion.text == "I hear you."
    assert "think" not in fake.chats[0]


@pytest.mark.parametrize("kind", [FakeOllama, FakeVllm])
async def test_model_without_tool_support_is_asked_without_tools(kind: type[FakeServer]) -> None:
    """Else it could not be talked with at all; it is known after the first time."""
    fake = kind([FakeModel(name="m", has_tools=False)])
    fake.has_tool_parser = False
    request = saying("weather?", tools=(WEATHER,))
    with running(fake):
        async with opened(fake.base_url, fake.provider) as model:
            for _ in range(2):
                assert (await model.complete(request, Listener())).text == "I hear you."

    assert [bool(body.get("tools")) for body in fake.chats][-1:] == [False]
    assert len(fake.chats) == (2 if kind is FakeOllama else 3)


async def test_unknown_model_raises_misconfigured_with_help(fake: FakeServer) -> None:
    """With what to do."""
    async with opened(fake.base_url, fake.provider) as model:
        other = build_model(replace(model.config, name="other"))
        with pytest.raises(ModelMisconfigured, match="oldfriend connect model"):
            await other.complete(saying("hello"))
        await other.close()


async def test_prompt_beyond_the_context_length_is_rejected_not_truncated(fake: FakeServer) -> None:
    """By the trained or loaded context; tools are not blamed for it."""
    fake.models = [replace(fake.models[0], context=16_384)]
    async with opened(fake.base_url, fake.provider) as model:
        with pytest.raises(RequestRejected):
            await model.complete(saying("hello", system_prompt=LONG, tools=(WEATHER,)))
        await model.complete(saying("hello", tools=(WEATHER,)))

    assert [bool(body.get("tools")) for body in fake.chats] == [True, True]


async def test_ollama_context_length_is_set_by_prompt_size() -> None:
    """Its own context is 4,096 tokens, and it cuts what is longer; the length changes rarely."""
    fake = FakeOllama([FakeModel(name="m", context=131_072)])
    with running(fake):
        async with opened(fake.base_url, "ollama") as model:
            short = await model.complete(saying("hello"))
            long = await model.complete(saying("hello", system_prompt=LONG))
            await model.complete(saying("hello"))

    assert [body["options"]["num_ctx"] for body in fake.chats] == [8_192, 65_536, 65_536]
    assert long.usage.input - short.usage.input > 29_000
    assert [path for _, path, _ in fake.requests].count("/api/show") == 1


async def test_ollama_context_length_is_raised_when_it_counts_more_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As for languages whose words are many tokens."""
    fake = FakeOllama([FakeModel(name="m", context=131_072)])
    count = local_servers.count_tokens
    monkeypatch.setattr(local_servers, "count_tokens", lambda value: 3 * count(value))
    with running(fake):
        async with opened(fake.base_url, "ollama") as model:
            completion = await model.complete(saying("hello", system_prompt=LONG))

    assert [body["options"]["num_ctx"] for body in fake.chats] == [65_536, 131_072]
    assert completion.usage.input > 90_000


async def test_ollama_tool_call_and_result_are_exchanged() -> None:
    """Call and result are a pair; the arguments are an object."""
    call = {"function": {"name": "get_weather", "arguments": {"city": "Rome"}}}
    asks = {"message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": True}
    told = {"message": {"role": "assistant", "content": "Sunny."}, "done": True}
    request = saying("weather?", tools=(WEATHER,))
    async with (
        raw_server(whole(ABILITIES), whole(asks), whole(told)) as server,
        opened(server.url, "ollama") as model,
    ):
        first = await model.complete(request)
        (made,) = first.calls
        result = ToolResult(id=made.id, name=made.name, text="sun, 30 degrees")
        turns = (*request.turns, first.turn, result)
        second = await model.complete(replace(request, turns=turns))

    assert (made.name, dict(made.arguments)) == ("get_weather", {"city": "Rome"})
    assert second.text == "Sunny."
    messages = server.bodies[-1]["messages"]
    assert isinstance(messages, list)
    *_, asked, answered = messages
    assert asked["tool_calls"][0]["function"]["arguments"] == {"city": "Rome"}
    assert (answered["role"], answered["tool_name"]) == ("tool", "get_weather")


async def test_ollama_without_tools_gets_tool_results_as_user_text() -> None:
    """As when it goes on for a model that has called one."""
    fake = FakeOllama([FakeModel(name="m", has_tools=False)])
    called = PromptTurn(
        role="companion", text="", calls=(ToolCall(id="1", name="get_weather", arguments={}),)
    )
    request = saying("weather?", tools=(WEATHER,))
    turns = (*request.turns, called, ToolResult(id="1", name="get_weather", text="sun"))
    with running(fake):
        async with opened(fake.base_url, "ollama") as model:
            await model.complete(replace(request, turns=turns))

    assert fake.chats[0]["messages"][-1] == {"role": "user", "content": "sun"}


PIECE = '{"message": {"role": "assistant", "content": "Su"}, "done": false}\n'
OPEN = "HTTP/1.1 200 Yes\r\ncontent-type: application/x-ndjson\r\nconnection: close\r\n\r\n"


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ([OPEN, PIECE], "lost in mid-reply"),
        ([OPEN, PIECE, '{"error": "an error was encountered"}\n'], "an error was encountered"),
        ([OPEN, "no JSON\n"], "cannot be read"),
        ([OPEN, '{"message": []}\n'], "cannot be read"),
        (whole({"error": "server busy"}, status=503), "overloaded"),
        (whole({"error": "out of memory"}, status=500), "out of memory"),
    ],
)
async def test_broken_ollama_stream_raises_model_unavailable(
    script: list[str | float], told: str
) -> None:
    """What came until then is no reply."""
    async with (
        raw_server(whole(ABILITIES), script) as server,
        opened(server.url, "ollama") as model,
    ):
        with pytest.raises(ModelUnavailable, match=told):
            await model.complete(saying("hello"), Listener())


async def test_unreachable_ollama_raises_model_unavailable() -> None:
    """The sentence asks whether it runs."""
    async with opened("http://127.0.0.1:9/v1", "ollama") as model:
        with pytest.raises(ModelUnavailable, match="Is it running"):
            await model.complete(saying("hello"))


@pytest.mark.parametrize("has_tools", [True, False])
@pytest.mark.parametrize("kind", [FakeOllama, FakeVllm])
async def test_only_a_model_without_tools_reads_how_calls_are_written(
    kind: type[FakeServer], *, has_tools: bool
) -> None:
    """With the instructions of the system; and not where nothing may be called."""
    fake = kind([FakeModel(name="m", has_tools=has_tools)])
    fake.has_tool_parser = has_tools
    form = "SCHEDULE: what | when"
    request = saying("weather?", tools=(WEATHER,), call_form=form)
    with running(fake):
        async with opened(fake.base_url, fake.provider) as model:
            await model.complete(request)
            told = form in str(fake.chats[-1]["messages"][0])
            await model.complete(replace(request, may_call=False))

    assert told is not has_tools
    assert form not in str(fake.chats[-1]["messages"])

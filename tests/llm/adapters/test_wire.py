"""Over HTTP, against a third party's fake of the providers, in each of their three languages."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from oldfriend.domain.errors import ModelMisconfigured, ModelUnavailable, RequestRejected
from oldfriend.learning.extraction_schema import TIMESTAMP, array_schema, object_schema
from oldfriend.llm.adapters.model_factory import build_model
from oldfriend.llm.adapters.pydantic_ai_model import PydanticAiModel
from oldfriend.llm.fallback import CircuitBreaker, FallbackChain
from oldfriend.llm.model import PromptTurn, ToolDefinition, ToolResult
from oldfriend.llm.providers import ApiKind, Timeouts, build_model_config
from oldfriend.turn.structured_output import complete_structured
from tests.clock import FrozenClock
from tests.fakes.model_server import ModelServer
from tests.llm.request_fixtures import WEATHER, Ledger, Listener, saying

KEY = "sk-very-secret"
KINDS: tuple[ApiKind, ...] = ("openai", "openai-responses", "anthropic")
MODELS = {
    "openai": "openai:gpt-6-luna",
    "openai-responses": "openai:gpt-6-luna",
    "anthropic": "anthropic:claude-haiku-5-5",
}
LONG = "This is an answer of some length, which comes in several pieces, one after another."

Opener = Callable[..., PydanticAiModel]


@pytest.fixture
async def opened(provider: ModelServer) -> AsyncIterator[Opener]:
    """Opens models of the fake provider, and closes them in the end."""
    async with AsyncExitStack() as stack:

        def open_one(
            kind: ApiKind, *, model: str | None = None, **patience: float
        ) -> PydanticAiModel:
            choice = build_model_config(
                model or MODELS[kind],
                kind=kind,
                key=KEY,
                base_url=provider.url if kind == "anthropic" else f"{provider.url}/v1",
                timeouts=Timeouts(**patience),
            )
            made = build_model(choice)
            stack.push_async_callback(made.close)
            return made

        yield open_one


@pytest.fixture(params=KINDS)
def model(request: pytest.FixtureRequest, opened: Opener) -> PydanticAiModel:
    """A model of each language."""
    return opened(request.param)


def fixture(message: str, response: dict[str, object], **more: object) -> dict[str, object]:
    match = {"userMessage": message, **more.pop("match", {})}
    return {"match": match, "response": response, **more}


def error(message: str, status: int, kind: str, **more: object) -> dict[str, object]:
    return {"error": {"message": message, "type": kind}, "status": status, **more}


async def test_reply_is_streamed_in_pieces(model, provider):
    """And what was said is what is kept."""
    provider.answers(fixture("hello", {"content": LONG}))
    heard = Listener()

    completion = await model.complete(saying("hello"), heard)

    assert completion.text == heard.text == LONG
    assert len(heard.pieces) > 2
    assert completion.model == model.name
    assert not completion.is_truncated


async def test_reply_is_not_streamed_without_a_listener(model, provider):
    """Some local servers cannot stream objects or tools."""
    provider.answers(fixture("hello", {"content": LONG}))

    assert (await model.complete(saying("hello"))).text == LONG
    assert provider.requests()[0].get("stream") is not True


async def test_request_contains_instructions_and_turns_in_order(model, provider):
    """Stable first, the turns in order, what changes before the last words, the house as user."""
    provider.answers(fixture("Go on", {"content": "Yes."}))
    request = saying(
        "one", "two", "three", system_prompt="Be kind.", call_instructions="It is noon."
    )
    wish = PromptTurn(role="instruction", text="Go on.")

    await model.complete(replace(request, turns=(*request.turns, wish)))

    [body] = provider.requests()
    told = [(m["role"], text_of(m["content"])) for m in body["messages"]]
    instructions = "".join(text for role, text in told if role == "system")
    assert "Be kind." in instructions and "It is noon." not in instructions
    assert " ".join(text for role, text in told if role != "system") in {
        "one two It is noon.\n\nthree Go on.",
        "one two It is noon.\n\nthreeGo on.",
    }
    assert told[-1][0] == "user"


async def test_conversation_sent_to_the_provider_begins_with_the_user_role(model, provider):
    """Providers refuse one that does not."""
    provider.answers(fixture("three", {"content": "Yes."}))

    await model.complete(saying("two", "three"))

    roles = [m["role"] for m in provider.requests()[0]["messages"] if m["role"] != "system"]
    assert roles[0] == "user"


async def test_tool_call_and_result_are_sent_as_a_pair(model, provider):
    """The second request holds the call and its result as a pair."""
    asks = {"toolCalls": [{"id": "call_1", "name": "get_weather", "arguments": {"city": "Rome"}}]}
    provider.answers(
        fixture("weather", asks, match={"hasToolResult": False}),
        fixture("weather", {"content": "Sunny."}, match={"hasToolResult": True}),
    )
    request = saying("weather?", tools=(WEATHER,))

    first = await model.complete(request, Listener())

    [call] = first.calls
    assert (call.name, dict(call.arguments)) == ("get_weather", {"city": "Rome"})
    result = ToolResult(id=call.id, name=call.name, text="sun, 30 degrees")
    second = await model.complete(replace(request, turns=(*request.turns, first.turn, result)))
    assert second.text == "Sunny."
    *_, asked, answered = provider.requests()[1]["messages"]
    assert asked["tool_calls"][0]["id"] == answered["tool_call_id"] == "call_1"
    assert answered["content"] == "sun, 30 degrees"


async def test_tools_are_sent_with_tool_choice_none_when_calls_are_disallowed(model, provider):
    """After the last call that is allowed."""
    provider.answers(fixture("weather", {"content": "I do not know."}))

    await model.complete(saying("weather?", tools=(WEATHER,), may_call=False))

    body = provider.requests()[0]
    assert body["tools"]
    assert body.get("tool_choice", "none") == "none"  # the fake does not tell it of Anthropic's


async def test_invalid_structured_output_is_retried_once_over_the_wire(model, provider):
    """The wire carries the form, the broken answer and the reason."""
    provider.answers(
        fixture("corrected JSON", {"content": '{"age": 7}'}),
        fixture("How old", {"content": '{"age": "seven"}'}),
    )
    form = {
        "type": "object",
        "properties": {"age": {"type": "integer"}},
        "required": ["age"],
        "additionalProperties": False,
    }

    def age(value: object) -> int:
        match value:
            case {"age": int(years)}:
                return years
        raise ValueError("age must be a whole number")

    assert await complete_structured(model, saying("How old is she?", output=form), age) == 7
    assert len(provider.requests()) == 2


async def test_token_usage_is_read_from_the_provider(model, provider):
    """Tokens in and out."""
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 12,
        "input_tokens": 100,
        "output_tokens": 12,
    }
    provider.answers(fixture("hello", {"content": LONG, "usage": usage}))

    for heard in (Listener(), None):
        completion = await model.complete(saying("hello"), heard)
        assert (completion.usage.input, completion.usage.output) == (100, 12)
        assert completion.cost == 0  # it runs on this machine


async def test_reply_at_the_token_limit_is_marked_truncated(model, provider):
    """So that nobody takes it for the whole."""
    reason = "max_tokens" if model.config.kind == "anthropic" else "length"
    provider.answers(fixture("hello", {"content": LONG, "finishReason": reason}))

    assert (await model.complete(saying("hello"), Listener())).is_truncated


async def test_rate_limit_raises_model_unavailable_with_retry_after(model, provider):
    """Nothing is tried behind our back, and the provider's wish is known."""
    provider.answers(fixture("hello", error("Slow down", 429, "rate_limit_error", retryAfter=7)))

    with pytest.raises(ModelUnavailable, match="429") as caught:
        await model.complete(saying("hello"), Listener())

    assert caught.value.retry_after_s == 7
    assert len(provider.requests()) == 1


@pytest.mark.parametrize("status", [500, 503, 529])
async def test_server_error_raises_model_unavailable_without_retry(model, provider, status):
    """It may pass."""
    provider.answers(fixture("hello", error("Oh no", status, "api_error")))

    with pytest.raises(ModelUnavailable):
        await model.complete(saying("hello"))
    assert len(provider.requests()) == 1


@pytest.mark.parametrize(
    ("status", "kind", "raised", "says"),
    [
        (401, "authentication_error", ModelMisconfigured, "oldfriend connect model"),
        (403, "permission_error", ModelMisconfigured, "oldfriend connect model"),
        (404, "not_found_error", ModelMisconfigured, "has no model"),
        (400, "invalid_request_error", RequestRejected, "rejected this request"),
    ],
)
async def test_permanent_http_error_says_what_to_do_and_hides_the_key(
    model, provider, status, kind, raised, says
):
    """And the key is in no sentence, also not in one that quotes the provider."""
    provider.answers(fixture("hello", error(f"Bad thing with {KEY}", status, kind)))

    with pytest.raises(raised, match=says) as caught:
        await model.complete(saying("hello"))

    assert KEY not in str(caught.value)
    if raised is ModelMisconfigured:
        assert caught.value.__suppress_context__


@pytest.mark.parametrize("heard", [Listener(), None])
async def test_malformed_response_raises_model_unavailable(model, provider, heard):
    """It is the provider's failure, and may pass."""
    provider.answers(fixture("hello", {"content": LONG}, chaos={"malformedRate": 1.0}))

    with pytest.raises(ModelUnavailable):
        await model.complete(saying("hello"), heard)


async def test_truncated_stream_raises_model_unavailable(model, provider):
    """What came until then was said; the reply is no reply."""
    events = 9 if model.config.kind == "openai-responses" else 5
    provider.answers(fixture("hello", {"content": LONG}, chunkSize=10, truncateAfterChunks=events))
    heard = Listener()

    with pytest.raises(ModelUnavailable):
        await model.complete(saying("hello"), heard)
    assert heard.text
    assert LONG.startswith(heard.text)


async def test_first_token_timeout_raises_model_unavailable(opened, provider):
    """Its time to the first word has an end."""
    provider.answers(fixture("hello", {"content": LONG}, streamingProfile={"ttft": 3000}))
    for kind in KINDS:
        with pytest.raises(ModelUnavailable, match="in time") as caught:
            await opened(kind, first_token_s=0.1).complete(saying("hello"), Listener())

        assert caught.value.outage == "slow"


@pytest.mark.slow
async def test_idle_timeout_raises_model_unavailable(opened, provider):
    """So has the time between two words."""
    provider.answers(fixture("hello", {"content": LONG}, chunkSize=20, latency=300))
    for kind in KINDS:
        with pytest.raises(ModelUnavailable, match="in time"):
            await opened(kind, first_token_s=9, idle_s=0.1).complete(saying("hello"), Listener())


async def test_total_timeout_raises_model_unavailable(opened, provider):
    """And the whole, also where it comes at once."""
    provider.answers(
        fixture("hello", {"content": LONG}, latency=300, streamingProfile={"ttft": 900})
    )
    for kind in KINDS:
        with pytest.raises(ModelUnavailable, match="in time"):
            await opened(kind, total_s=0.15).complete(saying("hello"), Listener())


async def test_refused_connection_raises_model_unavailable(opened):
    """The sentence asks whether it runs."""
    model = opened("openai", model="ollama:qwen3")
    elsewhere = replace(model.config, base_url="http://127.0.0.1:9/v1")
    lonely = build_model(elsewhere)

    with pytest.raises(ModelUnavailable, match="Is it running") as caught:
        await lonely.complete(saying("hello"))
    await lonely.close()

    assert caught.value.outage == "unavailable"


async def test_fallback_provider_continues_a_broken_reply(opened, provider):
    """From OpenAI to Anthropic in the middle of a reply; each word is said once."""
    provider.answers(
        fixture(
            "hello",
            {"content": LONG},
            match={"model": "gpt-6-luna"},
            chunkSize=10,
            latency=5,
            truncateAfterChunks=5,
        ),
        fixture("Continue the same reply", {"content": LONG}, match={"model": "claude-haiku-5-5"}),
    )
    heard, ledger = Listener(), Ledger()
    chain = FallbackChain(
        models=[opened("openai"), opened("anthropic")],
        record=ledger,
        circuit_breaker=CircuitBreaker(),
        clock=FrozenClock(),
        random=lambda: 0.0,
    )

    completion = await chain.complete(saying("hello"), heard)

    assert heard.text == completion.text == LONG
    assert ledger.outcomes == [
        ("openai:gpt-6-luna", "cut off"),
        ("anthropic:claude-haiku-5-5", "done"),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "ollama:qwen3:8b",
        "groq:openai/gpt-oss-20b",
        "vllm:a",
        "mine:b",
        "openrouter:anthropic/claude-haiku-5.5",
        "google:gemini-3.8-flash",
    ],
)
async def test_openai_compatible_provider_is_supported_at_any_address(opened, provider, name):
    """By any address; with one instruction at most, as many templates want it."""
    provider.answers(fixture("hello", {"content": LONG}))

    completion = await opened("openai", model=name).complete(
        saying("hello", call_instructions="It is noon."), Listener()
    )

    assert completion.text == LONG
    assert [m["role"] for m in provider.requests()[0]["messages"]] == ["system", "user"]


def text_of(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content)


async def test_shared_schema_parts_are_sent_repeatedly_and_unchanged(model, provider):
    """In the first request and in the next; the library changes schemas in place."""
    provider.answers(fixture("hello", {"content": "{}"}))
    fields = {"begins": TIMESTAMP, "ends": TIMESTAMP, "trips": array_schema(TIMESTAMP)}
    schema = object_schema(fields, required=["begins"])
    tool = ToolDefinition(name="book", description="Book a trip.", parameters=schema)

    for _ in range(2):
        await model.complete(saying("hello", output=schema, tools=(tool,)))

    first, second = provider.requests()
    assert first["tools"] == second["tools"]
    assert str(first["tools"]).count("ISO 8601") == len(fields)

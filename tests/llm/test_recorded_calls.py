"""What was paid for before a crash is not asked for again."""

import asyncio
from dataclasses import replace

import pytest

from oldfriend.llm.fallback import CircuitBreaker, FallbackChain
from oldfriend.llm.model import (
    Completion,
    CompletionRequest,
    ModelCall,
    PromptTurn,
    TokenUsage,
)
from oldfriend.llm.recorded_calls import ReplayingModel, hash_request
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply, build_broken_reply
from tests.clock import FrozenClock
from tests.llm.request_fixtures import Listener, saying

HELLO = saying("hello")


class Kept:
    """The finished calls of a turn."""

    def __init__(self) -> None:
        self.done: dict[int, Completion] = {}
        self.calls: list[ModelCall] = []
        self.heard = ""
        self.number = 0
        self.is_late = False

    def begin(self, request: CompletionRequest, digest: str, number: int) -> None:
        self.number = number

    def on_text(self, piece: str) -> None:
        self.heard += piece

    async def record(self, call: ModelCall) -> None:
        self.calls.append(call)
        if call.outcome == "done" and call.completion is not None:
            self.done[self.number] = call.completion

    def end(self) -> None:
        self.number = -1

    def turn(self, *models: ScriptedModel) -> ReplayingModel:
        def chain(record):
            return FallbackChain(
                models=models,
                record=record,
                circuit_breaker=CircuitBreaker(),
                clock=FrozenClock(),
                random=lambda: -0.5,
            )

        return ReplayingModel(
            build_model=chain,
            recorded=dict(self.done),
            recorder=self,
            name="a",
            is_late=lambda: self.is_late,
        )


async def test_rerun_turn_replays_recorded_completions():
    """The draft that the person sees is written to its end."""
    kept, model, heard = Kept(), ScriptedModel(["One.", "Two."]), Listener()
    first = kept.turn(model)
    said = [await first.complete(HELLO), await first.complete(HELLO)]

    again = kept.turn(model)

    assert [await again.complete(HELLO, heard), await again.complete(HELLO, heard)] == said
    assert heard.pieces == ["One.", "Two."]
    assert len(model.requests) == 2


async def test_unfinished_call_is_made_again_on_rerun():
    """Only from there on."""
    kept, model = Kept(), ScriptedModel(["One.", "Two."])
    await kept.turn(model).complete(HELLO)
    again = kept.turn(model)
    await again.complete(HELLO)

    assert (await again.complete(saying("more"))).text == "Two."


async def test_reply_continued_by_a_second_model_is_replayed_as_one():
    """It was asked for once."""
    kept = Kept()
    models = (
        ScriptedModel([build_broken_reply("One two", after=5)], name="a"),
        ScriptedModel(["One two three."], name="b"),
    )
    whole = await kept.turn(*models).complete(HELLO, Listener())

    assert await kept.turn(*models).complete(HELLO) == whole
    assert whole.text == "One two three."
    assert len(models[1].requests) == 1


@pytest.mark.parametrize("is_late", [False, True])
async def test_late_or_stopped_call_is_recorded_with_its_usage(is_late):
    """One that is stopped is not waited for; about what it was sent it is charged for."""
    kept, heard = Kept(), Listener()
    kept.is_late = is_late
    model = ScriptedModel(
        [ScriptedReply(text="One two three.", chunk_delay_s=0.05, usage=TokenUsage(output=5))]
    )
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.07):
            await kept.turn(model).complete(HELLO, heard)
    (call,) = kept.calls

    assert call.outcome == ("done" if is_late else "cut off")
    assert call.completion.usage.output == (5 if is_late else 2)
    assert call.completion.usage.input == (0 if is_late else count_tokens(HELLO))
    assert heard.pieces == ["One two "]


async def test_call_cut_off_before_the_first_token_is_recorded_with_input_usage():
    """The request was read, and nobody says what that cost."""
    kept = Kept()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await kept.turn(ScriptedModel([ScriptedReply(text="One.", delay_s=9)])).complete(HELLO)
    (call,) = kept.calls

    assert (call.outcome, call.completion.cost) == ("cut off", None)
    assert call.completion.usage == TokenUsage(input=count_tokens(HELLO))


def count_tokens(request: CompletionRequest) -> int:
    """About how many a request has."""
    return (
        len(request.system_prompt + request.call_instructions)
        + sum(len(e.text) for e in request.turns)
    ) // 4


def test_request_hash_covers_the_request_content_only():
    """It is the same in every process and database: it is written down, and ids are not sent."""
    assert hash_request(HELLO) == hash_request(saying("hello"))
    assert hash_request(HELLO) == hash_request(replace(HELLO, shown=("m1",)))
    for other in (
        saying("Hello"),
        replace(HELLO, max_output_tokens=1),
        replace(HELLO, prompt="p/2"),
    ):
        assert hash_request(other) != hash_request(HELLO)
    assert hash_request(HELLO).startswith("c796573b5f70")


def test_request_hash_finds_calls_recorded_under_former_field_names():
    """The value is that of the code before fields and the role "house" were renamed."""
    request = CompletionRequest(
        purpose="reply",
        prompt="reply/1",
        system_prompt="Be kind.",
        call_instructions="Now.",
        turns=(
            PromptTurn(role="person", text="hello"),
            PromptTurn(role="instruction", text="Go on."),
        ),
        max_output_tokens=64,
        may_think=True,
    )

    assert hash_request(request).startswith("7551dcf6f6ddf204a5662ff3f62e2485")

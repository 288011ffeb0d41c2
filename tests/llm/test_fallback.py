"""One after another is asked, each call is written down, and nothing is said twice."""

import asyncio
from dataclasses import replace
from typing import get_args

import pytest

from oldfriend.domain.errors import (
    BrokenOutput,
    ModelMisconfigured,
    ModelRefusal,
    ModelUnavailable,
    OutageKind,
    RequestRejected,
)
from oldfriend.domain.i18n_messages import LocalizedText
from oldfriend.llm.fallback import CircuitBreaker, FallbackChain
from oldfriend.llm.model import PromptTurn, ToolCall, ToolResult
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply, build_broken_reply
from oldfriend.llm.unavailable import UnavailableModel
from tests.clock import FrozenClock
from tests.llm.request_fixtures import Ledger, Listener, saying

HELLO = saying("hello")
DOWN = ModelUnavailable("It is down.")
SOON = ModelUnavailable("Too many requests.", retry_after_s=0.01)
LATER = ModelUnavailable("Too many requests.", retry_after_s=3600)


def scripted(name: str, *answers) -> ScriptedModel:
    return ScriptedModel(answers, name=name)


class Bench:
    """A chain with all it needs."""

    def __init__(self, *models: ScriptedModel) -> None:
        self.clock = FrozenClock()
        self.ledger = Ledger()
        self.rests = CircuitBreaker()
        self.heard = Listener()
        self.chain = FallbackChain(
            models=models,
            record=self.ledger,
            circuit_breaker=self.rests,
            clock=self.clock,
            random=lambda: -0.5,
        )

    async def reply(self, request=HELLO):
        return await self.chain.complete(request, self.heard)


async def test_first_model_that_answers_is_used():
    """In the order of the person's choice; nobody else is asked."""
    bench = Bench(scripted("a", "From a."), scripted("b", "From b."))

    completion = await bench.reply()

    assert completion.text == bench.heard.text == "From a."
    assert bench.ledger.outcomes == [("a", "done")]


async def test_next_model_is_used_after_a_failure_and_both_calls_are_recorded():
    """A failed call is written down too, with how long it took."""
    slow = ScriptedReply(error=DOWN, delay_s=0.02)
    bench = Bench(scripted("a", slow), scripted("b", "From b."))

    completion = await bench.reply()

    assert completion.model == "b"
    assert bench.ledger.outcomes == [("a", "failed"), ("b", "done")]
    assert bench.ledger.calls[0].latency_us >= 20_000
    assert bench.ledger.calls[0].error == "It is down."
    assert bench.ledger.calls[0].completion is None


async def test_broken_reply_is_continued_without_repeating_text():
    """Each word reaches the person once, and the whole is what was said."""
    first = build_broken_reply("Once upon a time there was a king.", after=18)
    second = ScriptedReply(text="a time there was a queen.", chunk_size=3)
    bench = Bench(scripted("a", first), scripted("b", second))

    completion = await bench.reply()

    assert bench.heard.text == "Once upon a time there was a queen."
    assert completion.text == bench.heard.text
    lost, done = bench.ledger.calls
    assert (lost.outcome, done.outcome) == ("cut off", "done")
    assert lost.completion is not None
    assert lost.completion.text == "Once upon a time t"
    assert lost.completion.cost is None
    assert lost.completion.usage.output == 4
    assert done.reply_prefix == "Once upon a time t"
    assert done.completion is not None
    assert done.completion.text == completion.text
    assert done.request == lost.request == HELLO


async def test_next_model_is_shown_the_partial_reply():
    """It gets the words as the companion's, and a wish of the house's."""
    second = scripted("b", "and so on")
    bench = Bench(scripted("a", build_broken_reply("Well, you see", after=8)), second)

    await bench.reply()

    *_, broken_off, wish = second.requests[0].turns
    assert broken_off == PromptTurn(role="companion", text="Well, yo")
    assert wish.role == "instruction"


async def test_reply_that_breaks_off_twice_is_continued_twice():
    """Whoever is next goes on from the last word."""
    bench = Bench(
        scripted("a", build_broken_reply("One two three", after=7)),
        scripted("b", build_broken_reply("two three four", after=9)),
        scripted("c", "three four five."),
    )

    assert (await bench.reply()).text == "One two three four five."


async def test_single_model_continues_its_own_broken_reply():
    """With one model only, it is asked a second time."""
    bench = Bench(scripted("a", build_broken_reply("One two three", after=7), "two three."))

    assert (await bench.reply()).text == "One two three."


async def test_tool_call_after_a_broken_reply_keeps_the_text_so_far():
    """The words so far stay, the calls are the second model's."""
    call = ToolCall(id="1", name="look", arguments={})
    bench = Bench(
        scripted("a", build_broken_reply("Let me look.", after=12)),
        scripted("b", ScriptedReply(calls=(call,))),
    )

    completion = await bench.reply()

    assert (completion.text, completion.calls) == ("Let me look.", (call,))


async def test_short_retry_after_is_waited_for():
    """When all have failed, the one that asks for a moment gets it."""
    model = scripted("a", SOON, "Here I am.")

    assert (await Bench(model).reply()).text == "Here I am."


async def test_long_retry_after_raises_model_unavailable():
    """Somebody waits for the reply: they are told instead."""
    model = scripted("a", LATER, "Here I am.")

    with pytest.raises(ModelUnavailable) as caught:
        await Bench(model).reply()
    assert caught.value.retry_after_s == 3600
    assert len(model.requests) == 1


async def test_single_failure_is_retried_once():
    """Clients do not retry by themselves."""
    assert (await Bench(scripted("a", DOWN, "Back.")).reply()).text == "Back."


async def test_refusal_is_not_passed_to_the_next_model():
    """Nobody else is asked to overrule it."""
    other = scripted("b", "Sure.")
    bench = Bench(scripted("a", ModelRefusal("No.")), other)

    with pytest.raises(ModelRefusal):
        await bench.reply()
    assert bench.ledger.outcomes == [("a", "refused")]
    assert not other.requests


async def test_rejected_request_is_passed_to_the_next_model():
    """A longer context, another dialect, a key that works."""
    bench = Bench(
        scripted("a", RequestRejected("Too long.")),
        scripted("b", ModelMisconfigured("No such model.")),
        scripted("c", BrokenOutput("Empty.")),
        scripted("d", "Yes."),
    )

    assert (await bench.reply()).model == "d"


async def test_most_recoverable_error_is_raised_when_all_models_fail():
    """Waiting may help while one of them may come back."""
    bench = Bench(scripted("a", ModelMisconfigured("Wrong key.")), scripted("b", DOWN))

    with pytest.raises(ModelUnavailable, match=r"Wrong key\. It is down\.") as caught:
        await bench.reply()
    says = caught.value.user_text
    assert isinstance(says, LocalizedText)
    assert (says.code, says.values) == (
        "one_and_another",
        {"one": "Wrong key.", "other": "It is down."},
    )
    assert bench.ledger.outcomes == [("a", "failed"), ("b", "failed"), ("b", "failed")]


async def test_misconfigured_model_is_not_retried():
    """It will be as wrong in a minute."""
    model = scripted("a", ModelMisconfigured("Wrong key."))

    with pytest.raises(ModelMisconfigured):
        await Bench(model).reply()
    assert len(model.requests) == 1


async def test_circuit_breaker_skips_a_failing_model_for_a_while():
    """After some failures in a row it rests; then it gets another chance."""
    dead = scripted("a", *[DOWN] * 3, "I am back.")
    bench = Bench(dead, scripted("b", "From b."))
    for _ in range(5):
        assert (await bench.reply()).model == "b"
    assert len(dead.requests) == 3

    bench.clock.tick(seconds=31)

    assert (await bench.reply()).model == "a"


async def test_open_circuit_of_all_models_raises_with_the_remaining_wait():
    """And the error says when it makes sense to come back."""
    model = scripted("a", LATER)
    bench = Bench(model)
    with pytest.raises(ModelUnavailable):
        await bench.reply()
    bench.clock.tick(minutes=9)

    with pytest.raises(ModelUnavailable) as caught:
        await bench.reply()

    says = caught.value.user_text
    assert caught.value.retry_after_s == 60
    assert len(model.requests) == 1
    assert isinstance(says, LocalizedText)
    assert (says.code, says.values) == ("models_rest", {"names": "a", "seconds": 60})


def test_clock_set_back_does_not_prolong_an_open_circuit():
    """A rest that ends later than any can was noted by a clock that was wrong."""
    rests = CircuitBreaker()
    clock = FrozenClock()
    rests.record_failure("a", clock(), ModelUnavailable("busy", retry_after_s=60))
    assert rests.compute_wait_s("a", clock()) == 60

    clock.tick(minutes=-60 * 24)

    assert rests.compute_wait_s("a", clock()) == 0


async def test_cancelled_call_is_recorded_as_cut_off():
    """A turn that ran out of time has still paid for what it asked."""
    bench = Bench(scripted("a", ScriptedReply(text="A very long story", chunk_delay_s=0.05)))

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.12):
            await bench.reply()

    [call] = bench.ledger.calls
    assert call.outcome == "cut off"
    assert call.completion is not None
    assert "A very long story".startswith(call.completion.text)


async def test_structured_output_is_not_streamed_or_continued():
    """Nobody reads half an object, and it is not gone on with."""
    broken = build_broken_reply('{"a": 1}', after=4)
    bench = Bench(scripted("a", broken), scripted("b", '{"b": 2}'))

    completion = await bench.reply(saying("hello", output={"type": "object"}))

    assert completion.text == '{"b": 2}'
    assert bench.heard.pieces == []


async def test_unpaired_tool_results_are_dropped_from_the_request():
    """Whatever the caller remembers."""
    model = scripted("a", "Yes.")
    lone = ToolResult(id="gone", name="look", text="x")
    request = saying("hello", turns=(lone, *HELLO.turns))

    await Bench(model).reply(request)

    assert model.requests[0].turns == HELLO.turns


async def test_unavailable_model_is_skipped_without_a_recorded_call():
    """Its key is missing: there is nothing to pay for, and nothing that failed."""
    bench = Bench(UnavailableModel(name="a", reason="There is no key."), scripted("b", "From b."))

    await bench.reply()

    assert bench.ledger.outcomes == [("b", "done")]


async def test_broken_call_costs_nothing_only_for_a_free_model():
    """Elsewhere nobody knows."""
    for free, cost in (({"a"}, 0), ((), None)):
        bench = Bench(
            scripted("a", build_broken_reply("Once upon a time", after=8)), scripted("b", "So.")
        )
        await replace(bench.chain, free_models=free).complete(HELLO, bench.heard)

        assert bench.ledger.calls[0].completion is not None
        assert bench.ledger.calls[0].completion.cost == cost


@pytest.mark.parametrize("outage", get_args(OutageKind))
async def test_outage_kind_is_kept_while_the_circuit_is_open(outage):
    """Whoever waits is told the same as the one who was there."""
    bench = Bench(scripted("a", ModelUnavailable("Later.", retry_after_s=60, outage=outage)))

    for _ in range(2):
        with pytest.raises(ModelUnavailable) as failed:
            await bench.reply()
        assert failed.value.outage == outage

"""The companion uses tools within limits, once, and tells the model whatever goes wrong."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.llm.fallback import drop_unpaired_calls
from oldfriend.llm.model import CompletionRequest, PromptTurn, ToolCall, ToolDefinition, ToolResult
from oldfriend.llm.scripted import ScriptedAnswer, ScriptedModel, ScriptedReply
from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.turn.tools.tool import BoundTool, InMemoryToolCallStore, ToolArguments
from oldfriend.turn.tools.tool_executor import ToolExecutor
from oldfriend.turn.turn_dependencies import TurnLimits
from oldfriend.usage.tool_calls import ToolEffect
from tests.turn.conftest import Talk, results_in, wants


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database what test_model_replies.py does not."""
    return "sqlite"


async def test_tool_result_is_passed_to_the_model_before_the_reply(talk: Talk) -> None:
    """The call stands in the companion's turn, its result after it."""
    outcome, asked = await talk.ask(
        "What time is it?", wants("current_time", zone="Asia/Tokyo"), "Just after seven."
    )

    call, result = asked[1].turns[-2:]
    assert isinstance(call, PromptTurn) and call.calls[0].name == "current_time"
    assert isinstance(result, ToolResult) and result.id == call.calls[0].id
    assert result.text == "Wednesday 2023-11-15 07:14, Asia/Tokyo (UTC+09:00)"
    assert outcome.reply.text == "Just after seven."


async def test_text_before_a_tool_call_is_kept_as_its_own_paragraph(talk: Talk) -> None:
    """As a paragraph of its own."""
    first = ScriptedReply(text="Let me look.", calls=wants("current_time").calls)
    outcome, _ = await talk.ask("What time is it?", first, "Late.")

    assert outcome.reply.text == talk.heard == "Let me look.\n\nLate."


async def test_tool_calls_per_turn_are_limited_to_fifteen(talk: Talk) -> None:
    """Then the model has to answer without (ACCEPTANCE B9)."""

    def answer(request: CompletionRequest) -> ScriptedAnswer:
        number = len(results_in(request))
        zone = f"+{number % 12:02d}:{number // 12:02d}"
        return wants("current_time", number, zone=zone) if request.may_call else "Enough."

    mind = talk.mind(model=(model := ScriptedModel(answer)))
    outcome = await talk.turn(await talk.hears("What time is it everywhere?"), mind)

    assert outcome.reply.text == "Enough."
    assert len(results_in(model.requests[-1])) == 15
    assert [request.may_call for request in model.requests] == [True] * 15 + [False]
    assert all(drop_unpaired_calls(request.turns) == request.turns for request in model.requests)


async def test_tool_calls_beyond_the_limit_get_a_result_without_being_executed(talk: Talk) -> None:
    """Asked for at once: each call has its result, but the last are not done."""
    calls = tuple(
        ToolCall(id=f"c{n}", name="current_time", arguments={"zone": f"+0{n}:00"}) for n in range(4)
    )
    mind = talk.mind(ScriptedReply(calls=calls), "Enough.", limits=TurnLimits(max_tool_calls=2))
    outcome = await talk.turn(await talk.hears("What time is it?"), mind)

    endings = [use["ending"] for use in outcome.reply.details["tools"]]
    assert endings == ["done", "done", "too many", "too many"]
    assert isinstance(mind.model, ScriptedModel)
    assert len(results_in(mind.model.requests[1])) == 4


async def test_tool_call_after_the_limit_makes_the_turn_fail_as_garbled(talk: Talk) -> None:
    """That is trouble, not an endless loop."""
    mind = talk.mind(wants("current_time"), limits=TurnLimits(max_tool_calls=1))
    outcome = await talk.turn(await talk.hears("What time is it?"), mind)

    assert outcome.failure_kind == "garbled"


async def test_repeated_identical_tool_call_is_executed_once(talk: Talk) -> None:
    """The model is told (ACCEPTANCE B9)."""
    again = [wants("current_time", number, zone="Lisbon") for number in range(2)]
    outcome, asked = await talk.ask("What time is it?", *again, "Late.")

    assert "not used again" in results_in(asked[2])[1]
    assert [use["ending"] for use in outcome.reply.details["tools"]] == ["done", "repeated"]


LISBON, TOKYO = (wants("current_time", zone=zone).calls[0] for zone in ("Lisbon", "Tokyo"))
UNKNOWN, BAD = ToolCall(id="u", name="fly_home", arguments={}), wants("note").calls[0]


@pytest.mark.parametrize(
    ("rounds", "asked_for_calls"),
    [
        ([[LISBON]], 2),
        ([[LISBON], [TOKYO]], 4),
        ([[LISBON, TOKYO]], 2),
        ([[UNKNOWN]], 2),
        ([[UNKNOWN], [BAD]], 2),
        ([[LISBON], [UNKNOWN], [BAD]], 3),
    ],
    ids=["one call", "two in turn", "a pair", "one error", "errors", "errors after a result"],
)
async def test_repeated_or_faulty_tool_calls_force_a_final_answer(
    talk: Talk, rounds: list[list[ToolCall]], asked_for_calls: int
) -> None:
    """A model that repeats its calls or makes only faulty ones is not paid fifteen times (B9)."""

    def answer(request: CompletionRequest) -> ScriptedAnswer:
        calls = rounds[(len(model.requests) - 1) % len(rounds)]
        number = len(request.turns)
        numbered = [replace(call, id=f"{number}/{n}") for n, call in enumerate(calls)]
        return ScriptedReply(calls=tuple(numbered)) if request.may_call else "Late."

    mind = talk.mind(model=(model := ScriptedModel(answer)))
    outcome = await talk.turn(await talk.hears("What time is it?"), mind)

    assert [request.may_call for request in model.requests] == [True] * asked_for_calls + [False]
    assert outcome.reply.text == "Late."
    assert outcome.failure_kind is None


async def test_faulty_tool_calls_between_successful_ones_do_not_end_the_turn(talk: Talk) -> None:
    """One fault is told to the model; a result in between begins the count anew."""
    zones = [wants("current_time", n, zone=f"+0{n}:00") for n in range(3)]
    faulty = [wants("fly_home", n + 10) for n in range(3)]
    steps = [step for pair in zip(faulty, zones, strict=True) for step in pair]
    outcome, asked = await talk.ask("What time is it?", *steps, "Late.")

    assert outcome.reply.text == "Late."
    assert all(request.may_call for request in asked)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            wants("fly_home"),
            "There is no tool with that name. The tools are: current_time, note, search_memory",
        ),
        (wants("note"), "words is missing"),
        (wants("note", words=["tea"]), "words must be of type string"),
        (wants("current_time", zone="Lisbon", city="x"), "city is not known"),
        (wants("current_time", zone="Atlantis"), "'Atlantis' is not a time zone"),
    ],
)
async def test_invalid_tool_call_returns_an_error_and_the_turn_continues(
    talk: Talk, call: ScriptedReply, told: str
) -> None:
    """As the tool's result."""
    outcome, asked = await talk.ask("What time is it?", call, "I do not know.")

    assert told in results_in(asked[1])[0]
    assert outcome.reply.text == "I do not know."


async def test_long_tool_result_is_truncated_with_a_notice(talk: Talk) -> None:
    """500 characters are kept and read; short ones whole (ACCEPTANCE C5)."""
    desk = InMemoryToolCallStore()

    assert await used(InMemoryToolCallStore(), ability(text="x" * 500)) == "x" * 500
    given = await used(desk, ability(text="x" * 1734))
    assert given == "x" * 500 + " [[1,234 more characters left out]]"
    assert desk.calls[0].result == given


ANYWHERE = {"type": "object", "properties": {"to": {"type": "string"}}}


def ability(
    kind: ToolEffect = "read",
    *,
    text: str = "done",
    done: list[str] | None = None,
    before: Callable[[], Awaitable[None]] | None = None,
) -> BoundTool:
    """A tool that writes down that it ran."""

    async def use(_: ToolArguments) -> str:
        if before is not None:
            await before()
        if done is not None:
            done.append(text)
        return text

    tool = ToolDefinition(name="post", description="Post it.", parameters=ANYWHERE)
    return BoundTool(definition=tool, kind=kind, run=use)


async def used(
    desk: InMemoryToolCallStore, tool: BoundTool, *, each_s: float = 5, **arguments: JsonValue
) -> str:
    """What the model reads when it uses a tool as the first of a turn."""
    hands = ToolExecutor([tool], desk, get_reply_prompt(), max_calls=15, call_timeout_s=each_s)
    return (await hands.execute(ToolCall(id="1", name="post", arguments=arguments))).text


@pytest.mark.parametrize("kind", ["read", "idempotent", "once"])
async def test_rerun_turn_reuses_stored_tool_results(kind: ToolEffect) -> None:
    """Without doing it again."""
    desk, done = InMemoryToolCallStore(), list[str]()

    assert [await used(desk, ability(kind, done=done)) for _ in range(2)] == ["done", "done"]
    assert done == ["done"]


async def test_tool_call_is_recorded_before_a_run_once_tool_executes() -> None:
    """So that a crash in the middle cannot be mistaken for not begun."""
    desk = InMemoryToolCallStore()

    async def is_begun() -> None:
        assert desk.calls[0].result is None

    assert await used(desk, ability("once", before=is_begun)) == "done"


class Died(BaseException):
    """The process was killed."""


async def die() -> None:
    """Be killed."""
    raise Died


async def test_run_once_tool_is_not_repeated_after_a_crash_during_execution() -> None:
    """The model is told, so that the person is."""
    desk, done = InMemoryToolCallStore(), list[str]()
    with pytest.raises(Died):
        await used(desk, ability("once", before=die))

    assert "not known whether it was done" in await used(desk, ability("once", done=done))
    assert done == []


@pytest.mark.parametrize("kind", ["read", "idempotent"])
async def test_stored_tool_result_is_reused_only_for_the_same_arguments(kind: ToolEffect) -> None:
    """The question may have been edited between two runs."""
    desk = InMemoryToolCallStore()

    assert await used(desk, ability(kind, text="seven"), to="Tokyo") == "seven"
    assert await used(desk, ability(kind, text="noon"), to="Oslo") == "noon"
    assert await used(desk, ability(kind, text="late"), to="Tokyo") == "seven"
    assert await used(desk, ability(kind, text="late"), to="Oslo") == "noon"


async def test_stored_tool_results_are_each_reused_once_in_any_order() -> None:
    """A model that is asked again may go about it otherwise."""
    desk, done = InMemoryToolCallStore(), list[str]()
    for places in (["Ana", "Ben"], ["Ben", "Ana", "Ben"]):
        hands = ToolExecutor(
            [ability("once", done=done)], desk, get_reply_prompt(), max_calls=15, call_timeout_s=5
        )
        for number, place in enumerate(places):
            await hands.execute(ToolCall(id=str(number), name="post", arguments={"to": place}))

    assert [use.status for use in hands.uses] == ["reused", "reused", "done"]
    assert done == ["done"] * 3


async def test_run_once_tool_is_not_rerun_with_changed_arguments() -> None:
    """Whether its end is known or not; what was begun is told."""
    desk, done = InMemoryToolCallStore(), list[str]()
    with pytest.raises(Died):
        await used(desk, ability("once", before=die), to="Ana")
    told = await used(desk, ability("once", done=done), to="Anna")

    assert '{"to": "Ana"}. What came of it: it is not known whether it was done.' in told
    desk = InMemoryToolCallStore()
    await used(desk, ability("once", text="Posted."), to="Ana")
    told = await used(desk, ability("once", done=done), to="Anna")

    assert '{"to": "Ana"}. What came of it: Posted.' in told
    assert done == []


@pytest.mark.parametrize("kind", ["read", "idempotent"])
async def test_repeatable_tool_is_executed_again_after_a_crash(kind: ToolEffect) -> None:
    """Nothing speaks against it."""
    desk, done = InMemoryToolCallStore(), list[str]()
    with pytest.raises(Died):
        await used(desk, ability(kind, before=die))

    assert await used(desk, ability(kind, done=done)) == "done"
    assert done == ["done"]


@pytest.mark.parametrize(
    ("kind", "told"), [("read", "Nothing was changed"), ("once", "not known whether it was done")]
)
async def test_slow_tool_is_stopped_at_the_timeout(kind: ToolEffect, told: str) -> None:
    """Of one that must not run twice nobody knows how far it came."""

    async def sleep() -> None:
        await asyncio.sleep(60)

    desk = InMemoryToolCallStore()

    assert told in await used(desk, ability(kind, before=sleep), each_s=0.01)
    assert told in await used(desk, ability(kind, before=sleep), each_s=0.01)


async def test_tool_error_message_is_returned_to_the_model() -> None:
    """With its words."""

    async def fail() -> None:
        raise InvalidInput("The post office is closed.")

    assert await used(InMemoryToolCallStore(), ability(before=fail)) == (
        "The tool could not do it: The post office is closed."
    )


@pytest.mark.parametrize(("kind", "told"), [("read", "could not do it"), ("once", "not known")])
async def test_fault_of_a_tool_does_not_end_the_turn(
    kind: ToolEffect, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Where it failed is logged, without words of the person; the model reads that it failed."""

    async def fail() -> None:
        raise RuntimeError(f"of {'Filomena'}")

    assert told in await used(InMemoryToolCallStore(), ability(kind, before=fail))
    assert "RuntimeError" in caplog.text
    assert "of Filomena" not in caplog.text

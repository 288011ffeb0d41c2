"""A model reads several small talks in one call; each keeps its own claims and failures."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings_schema import MemorySettings
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import ModelRefusal
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning import consolidate as consolidate_module
from oldfriend.learning.learning_scheduler import GATHERED_TOKENS, consolidate_segment
from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend.llm.scripted import ScriptedAnswer, ScriptedModel
from oldfriend.memory.belief_views import list_memories, list_summaries
from oldfriend.memory.evidence import list_evidence
from oldfriend.memory.message_log import edit_message
from oldfriend.memory.segments import Segment, list_segments, reopen_segments
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now
from oldfriend_evals.model_roles import with_models
from tests.clock import FrozenClock
from tests.learning.test_learning_scheduler import work

OWNED = re.compile(r'<message id="(m\d+)"[^>]*class="person">(I own an? (\w+)[^<]*)')
DAYS = 24 * 60


def tell(request: CompletionRequest) -> str:
    """Tell of each thing that they own, and sum it up."""
    (turn, *_) = request.turns
    assert isinstance(turn, PromptTurn)
    facts = [
        {
            "key": f"owns_{thing}",
            "value": thing,
            "text": f"Owns a {thing}.",
            "quotes": [{"message": alias, "text": text}],
        }
        for alias, text, thing in OWNED.findall(turn.text)
    ]
    check = {"missed_peak": "none", "attribution": "the person's own words"}
    things = " and ".join(f"a {each['value']}" for each in facts)
    return json.dumps({"facts": facts, "summary": f"Owns {things}.", "self_check": check})


def with_reader(app: AppContext, reader: ScriptedModel) -> AppContext:
    """The same house, with a model that reads."""
    return with_models(app, {"small": reader})


async def name_things(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, things: Sequence[str]
) -> None:
    """Tell of things, each in a talk of its own."""
    for thing in things:
        await answer_message(app, chat_context, MessageSubmission(text=f"I own a {thing}."))
        clock.tick(minutes=31)
        await work(app)


async def owned(app: AppContext, chat_context: ChatContext) -> set[str]:
    """What they are believed to own."""
    async with app.db.begin_read() as tx:
        return {each.memory.value for each in await list_memories(tx, chat_context.person.id)}


async def segments_of(app: AppContext, chat_context: ChatContext) -> list[Segment]:
    """The segments so far."""
    async with app.db.begin_read() as tx:
        return await list_segments(tx, chat_context.person.id)


def extractions(reader: ScriptedModel) -> int:
    """How often the model was asked to read."""
    return sum(each.purpose == "extract" for each in reader.requests)


async def test_small_segments_are_batched_and_extracted_in_one_model_call(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The first is read at once; the others when a week is over, each by its own words."""
    reader = ScriptedModel(tell)
    app = with_reader(app, reader)
    await name_things(app, chat_context, clock, ["bike"])
    assert (await owned(app, chat_context), extractions(reader)) == ({"bike"}, 1)
    await name_things(app, chat_context, clock, ["harp", "boat", "tent"])
    assert (await owned(app, chat_context), extractions(reader)) == ({"bike"}, 1)

    clock.tick(minutes=7 * DAYS)
    await work(app)

    assert (await owned(app, chat_context), extractions(reader)) == (
        {"bike", "harp", "boat", "tent"},
        2,
    )
    segments = await segments_of(app, chat_context)
    assert {each.status for each in segments} == {"done"}
    async with app.db.begin_read() as tx:
        rows = [
            row
            for rows in (await list_evidence(tx, chat_context.person.id)).values()
            for row in rows
        ]
        summaries = await list_summaries(tx, chat_context.person.id)
    assert {row.segment for row in rows} == {each.id for each in segments}
    assert [len(each.segments) for each in summaries] == [1, 3]


async def test_batch_is_extracted_at_once_above_the_token_limit_or_with_no_delay(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """And nothing waits where the days are none."""
    reader = ScriptedModel(tell)
    app = with_reader(app, reader)
    await name_things(app, chat_context, clock, ["bike", f"harp{' and more' * GATHERED_TOKENS}"])
    assert extractions(reader) == 2

    now = replace(app, settings=replace(app.settings, memory=MemorySettings(read_within_days=0)))
    await name_things(now, chat_context, clock, ["boat"])
    assert extractions(reader) == 3


async def test_explicit_learning_extracts_the_waiting_batch_in_one_call(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """In one call."""
    reader = ScriptedModel(tell)
    app = with_reader(app, reader)
    await name_things(app, chat_context, clock, ["bike", "harp", "boat"])

    done = await learn_now(app, chat_context.person.id, cut_reason="asked")

    assert (done.read, done.waiting, extractions(reader)) == (2, 0, 2)
    assert await owned(app, chat_context) == {"bike", "harp", "boat"}


async def test_refused_batch_is_retried_per_segment_and_only_the_refused_one_fails(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The refusal concerns one of them only."""

    def balks(request: CompletionRequest) -> ScriptedAnswer:
        (turn, *_) = request.turns
        assert isinstance(turn, PromptTurn)
        things = [thing for *_, thing in OWNED.findall(turn.text)]
        return ModelRefusal("No harps.") if "harp" in things else tell(request)

    app = with_reader(app, ScriptedModel(balks))
    await name_things(app, chat_context, clock, ["bike", "boat", "harp", "tent"])
    for _ in range(9):
        clock.tick(minutes=DAYS)
        await work(app)

    assert await owned(app, chat_context) == {"bike", "boat", "tent"}
    assert [each.status for each in await segments_of(app, chat_context)] == [
        "done",
        "done",
        "failed",
        "done",
    ]


async def test_failed_segment_of_a_batch_is_retried_alone(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read by itself afterwards."""
    reader = ScriptedModel(tell)
    app = with_reader(app, reader)
    await name_things(app, chat_context, clock, ["bike", "boat", "harp", "tent"])
    write, failures = consolidate_module.write_resolution, [ValueError("a fault of ours")]

    async def write_or_fail(deps, context, *more) -> None:
        if failures and "harp" in context.inputs.messages[0].text:
            raise failures.pop()
        await write(deps, context, *more)

    monkeypatch.setattr(consolidate_module, "write_resolution", write_or_fail)
    clock.tick(minutes=7 * DAYS)
    await work(app)

    assert await owned(app, chat_context) == {"bike", "boat", "harp", "tent"}
    assert (failures, extractions(reader)) == ([], 3)


async def test_edited_segment_of_a_batch_is_consolidated_again_alone(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What was read with it stays as it is."""
    reader = ScriptedModel(tell)
    app = with_reader(app, reader)
    await name_things(app, chat_context, clock, ["bike", "harp", "boat"])
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    async with app.db.begin_write() as tx:
        evidence = await list_evidence(tx, chat_context.person.id)
        (harp,) = {row.message for rows in evidence.values() for row in rows if "harp" in row.quote}
        await edit_message(tx, chat_context.person.id, harp, "I own a drum.", now=clock() + DAY)
        (segment,) = await reopen_segments(tx, chat_context.person.id, [harp])
    await consolidate_segment(app, chat_context.person.id, segment)

    assert await owned(app, chat_context) == {"bike", "drum", "boat"}
    assert [each.generation for each in await segments_of(app, chat_context)] == [1, 2, 1]


async def test_claim_marked_new_by_extraction_is_not_sent_to_the_dedup_judge(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The model was shown what is known, and called the other one new."""

    def tell_habit(request: CompletionRequest) -> ScriptedAnswer:
        (turn, *_) = request.turns
        assert isinstance(turn, PromptTurn)
        when = re.findall(r">I run in the park every (\w+)", turn.text)[-1]
        said = f"I run in the park every {when}"
        habit = {
            "text": f"Runs in the park every {when}.",
            "pattern": "behavior",
            "quotes": [{"message": "m1", "text": said}],
        }
        check = {"missed_peak": "none", "attribution": "the person's own words"}
        return json.dumps({"patterns": [habit], "self_check": check})

    reader = ScriptedModel(tell_habit)
    app = with_reader(app, reader)
    for when in ("morning", "evening"):
        await answer_message(
            app, chat_context, MessageSubmission(text=f"I run in the park every {when}.")
        )
        clock.tick(minutes=31)
        await learn_now(app, chat_context.person.id, cut_reason="asked")

    async with app.db.begin_read() as tx:
        known = {each.memory.text for each in await list_memories(tx, chat_context.person.id)}
    assert known == {"Runs in the park every morning.", "Runs in the park every evening."}
    assert {each.purpose for each in reader.requests} == {"extract"}

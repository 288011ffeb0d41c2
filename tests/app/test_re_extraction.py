"""A model reads what rules have read, once somebody has agreed; until then nothing changes."""

import asyncio
import json
from contextlib import suppress
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext, CrashPoint
from oldfriend.beliefs.queries import list_beliefs
from oldfriend.domain.errors import BrokenOutput
from oldfriend.domain.memories import StoredBelief
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.learning.re_extraction import plan_reextraction, schedule_reextraction
from oldfriend.llm.model import CompletionRequest
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.belief_views import list_summaries
from oldfriend.memory.segments import list_segments
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now, process_due_segments
from oldfriend_evals.model_roles import with_models
from tests.clock import FrozenClock

HOME = "I live in Porto, by the river."
READ_BY_MODEL = {
    "self_check": {"missed_peak": "none", "attribution": "the person's own words"},
    "facts": [
        {
            "key": "location",
            "value": "Porto",
            "text": "Lives in Porto, by the river.",
            "quotes": [{"message": "m1", "text": HOME}],
        }
    ],
}


def with_small_model(app: AppContext, asked: list[CompletionRequest]) -> AppContext:
    """The house with a model for reading, which notes what it was asked."""

    def read(request: CompletionRequest) -> ScriptedReply:
        asked.append(request)
        return ScriptedReply(text=json.dumps(READ_BY_MODEL))

    return with_models(app, {"small": ScriptedModel(read)})


async def home_of(app: AppContext, chat_context: ChatContext) -> list[str]:
    """What is believed about where they live."""
    async with app.db.begin_read() as tx:
        told = await list_beliefs(tx, chat_context.person.id)
    return [
        e.content.text
        for e in told
        if isinstance(e.content, StoredBelief) and e.content.key == "location"
    ]


async def test_reextraction_reads_a_rule_read_segment_once_with_the_model(
    app: AppContext, chat_context: ChatContext
) -> None:
    """It is estimated before, nothing is believed twice, and then nothing is left to read."""
    await answer_message(app, chat_context, MessageSubmission(text=HOME))
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    assert await home_of(app, chat_context) == ["Lives in Porto."]
    rereading = await plan_reextraction(app.db, app.settings, chat_context.person.id)
    assert (len(rereading.segments), rereading.messages) == (1, 2)
    assert rereading.tokens_in > rereading.tokens_out > 0

    asked: list[CompletionRequest] = []
    app = with_small_model(app, asked)
    await schedule_reextraction(app.db, app.clock, app.notifier, rereading)
    await schedule_reextraction(app.db, app.clock, app.notifier, rereading)
    assert await home_of(app, chat_context) == ["Lives in Porto."]
    done = await process_due_segments(app, chat_context.person.id)

    assert (done.read, len(asked)) == (1, 1)
    assert len(await home_of(app, chat_context)) == 1
    async with app.db.begin_read() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
    assert (segment.author, segment.generation) == ("extract/9", 2)
    assert (await plan_reextraction(app.db, app.settings, chat_context.person.id)).segments == ()


@pytest.mark.parametrize(
    "text",
    [
        "ok so the ferry just left without us, everyone got drenched on the pier",
        "O barco saiu sem nós e ficámos todos encharcados no cais.",
    ],
)
async def test_reextraction_summarizes_segments_without_rule_claims(
    app: AppContext, chat_context: ChatContext, text: str
) -> None:
    """By a model that is connected later, in whichever language; before, there is no summary."""
    await answer_message(app, chat_context, MessageSubmission(text=text))
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    rereading = await plan_reextraction(app.db, app.settings, chat_context.person.id)
    async with app.db.begin_read() as tx:
        assert await list_summaries(tx, chat_context.person.id) == []
    answer = {"self_check": READ_BY_MODEL["self_check"], "summary": text}
    app = with_models(app, {"small": ScriptedModel([json.dumps(answer)])})
    await schedule_reextraction(app.db, app.clock, app.notifier, rereading)
    await process_due_segments(app, chat_context.person.id)

    async with app.db.begin_read() as tx:
        assert [each.text for each in await list_summaries(tx, chat_context.person.id)] == [text]


@pytest.mark.parametrize(
    "words",
    [
        "Minha irmã mora em Curitiba.",
        "妹は札幌に住んでる",
        "Siskoni asuu Oulussa.",
    ],
)
async def test_reextraction_plan_includes_unsupported_languages_but_no_small_talk(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, words: str
) -> None:
    """They do not know the language; small talk is not offered, nor what is planned already."""
    for text in (words, "obrigada!"):
        await answer_message(app, chat_context, MessageSubmission(text=text))
        await learn_now(app, chat_context.person.id, cut_reason="asked")
        clock.tick(minutes=60)
    async with app.db.begin_read() as tx:
        told, thanks = await list_segments(tx, chat_context.person.id)
    assert told.author == thanks.author == "rules/6"

    rereading = await plan_reextraction(app.db, app.settings, chat_context.person.id)
    assert [each.id for each in rereading.segments] == [told.id]
    await schedule_reextraction(app.db, app.clock, app.notifier, rereading)
    assert (await plan_reextraction(app.db, app.settings, chat_context.person.id)).segments == ()


async def test_interrupted_reextraction_reuses_the_stored_model_answer(
    app: AppContext, chat_context: ChatContext
) -> None:
    """It ended between the answer and what is believed because of it."""
    await answer_message(app, chat_context, MessageSubmission(text=HOME))
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    asked: list[CompletionRequest] = []
    app = with_small_model(app, asked)
    await schedule_reextraction(
        app.db,
        app.clock,
        app.notifier,
        await plan_reextraction(app.db, app.settings, chat_context.person.id),
    )

    def dies(step: CrashPoint) -> None:
        if step == "called":
            raise asyncio.CancelledError

    with suppress(asyncio.CancelledError):
        await process_due_segments(replace(app, on_crash_point=dies), chat_context.person.id)
    assert len(asked) == 1
    await process_due_segments(app, chat_context.person.id)

    async with app.db.begin_read() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
    assert (segment.author, segment.generation) == ("extract/9", 2)
    assert len(asked) == 1


async def test_unparseable_extraction_answer_is_requested_again(
    app: AppContext, chat_context: ChatContext
) -> None:
    """It was kept as what was given; only what can be read is used once more."""
    await answer_message(app, chat_context, MessageSubmission(text=HOME))
    answers = ["no json", "none either", json.dumps(READ_BY_MODEL)]
    app = with_models(app, {"small": ScriptedModel(answers)})
    await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )
    async with app.db.begin_read() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
    with pytest.raises(BrokenOutput):
        await consolidate_segment(app, chat_context.person.id, segment.id)

    assert await consolidate_segment(app, chat_context.person.id, segment.id) is not None
    assert len(await home_of(app, chat_context)) == 1
    async with app.db.begin_read() as tx:
        rows = await tx.rows("SELECT prompt FROM model_call ORDER BY prompt")
    assert [prompt for (prompt,) in rows] == ["extract/9", "extract/9", "extract/9+mend/1"]

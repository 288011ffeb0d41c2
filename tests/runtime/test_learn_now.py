"""What was said is read after a pause, after some turns, or when asked for; nothing else is."""

import asyncio
import math
from collections import Counter
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.queries import list_beliefs
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import MemorySettings
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_edit
from oldfriend.learning.learning_scheduler import schedule_learning, segment_at_shutdown
from oldfriend.learning.re_extraction import plan_reextraction, schedule_reextraction
from oldfriend.learning.reading_jobs import build_learning_partition, enqueue_consolidations
from oldfriend.learning.segmentation import SegmentationCriteria, cut_ready_segments
from oldfriend.memory.segments import CutReason, list_segments, list_uncut_spans, set_segment_status
from oldfriend.queues.queue import claim_jobs, list_jobs
from oldfriend.queues.scheduled_jobs import parse_job_spec
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.health_checks import run_checks
from oldfriend.runtime.job_handlers import run_jobs
from oldfriend.runtime.learn_now import (
    claim_partition,
    learn_before_exit,
    learn_now,
    pause_learning,
    process_due_segments,
    resume_learning,
    try_process_due_segments,
)
from oldfriend.usage.costs import sum_usage
from tests.clock import FrozenClock

HOME = "I live in Porto."


async def texts(app: AppContext, chat_context: ChatContext) -> set[str]:
    """What is believed."""
    async with app.db.begin_read() as tx:
        return {each.content.text for each in await list_beliefs(tx, chat_context.person.id)}


async def jobs(app: AppContext) -> list[str]:
    """The names of what is planned, the first one first."""
    async with app.db.begin_read() as tx:
        letters = await list_jobs(tx, is_dead_letter=False)
    planned = [each for each in letters if each.queue == "agenda"]
    return [parse_job_spec(each).name for each in sorted(planned, key=lambda each: each.due_at)]


async def test_messages_are_consolidated_after_a_pause(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Not before; and whoever says more is waited for."""
    await answer_message(app, chat_context, MessageSubmission(text=HOME))
    await try_process_due_segments(app, chat_context.person.id)
    assert await texts(app, chat_context) == set()

    clock.tick(minutes=20)
    await answer_message(app, chat_context, MessageSubmission(text="My sister Ana is a nurse."))
    clock.tick(minutes=20)
    await try_process_due_segments(app, chat_context.person.id)
    assert await texts(app, chat_context) == set()

    clock.tick(minutes=31)
    await try_process_due_segments(app, chat_context.person.id)
    assert "Lives in Porto." in await texts(app, chat_context)


async def test_messages_are_consolidated_after_the_configured_turns(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Though nobody pauses; and it is planned once."""
    app = replace(
        app,
        settings=replace(
            app.settings,
            memory=MemorySettings(read_every_turns=3),
        ),
    )
    for text in (HOME, "It rains.", "The trams are late.", "It rains again."):
        await answer_message(app, chat_context, MessageSubmission(text=text))
    assert [each for each in await jobs(app) if each == "tend"] == ["tend", "tend"]
    await try_process_due_segments(app, chat_context.person.id)

    assert "Lives in Porto." in await texts(app, chat_context)


async def test_no_learning_is_planned_with_memory_forming_off(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Whoever asks for it is told that it is off, and so does doctor."""
    app = deaf(app)
    await answer_message(app, chat_context, MessageSubmission(text=HOME))
    await learn_now(app, chat_context.person.id)
    await learn_before_exit(app, chat_context.person.id)
    assert await texts(app, chat_context) == set()
    assert "tend" not in await jobs(app)
    assert any("[memory] forms is off" in each.text for each in await run_checks(app))

    with pytest.raises(InvalidInput, match="set forms = true"):
        await learn_now(app, chat_context.person.id, cut_reason="asked")
    assert await texts(app, chat_context) == set()


async def test_pending_learning_waits_until_memory_forming_is_on(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Nor what was planned or edited; it is read once memory forms again."""
    given = await answer_message(app, chat_context, MessageSubmission(text=HOME))
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    await answer_message(app, chat_context, MessageSubmission(text="My sister Ana is a nurse."))
    await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )
    await accept_edit(deaf(app), chat_context, given.message.id, "I live in Faro.")
    for _ in range(48):
        clock.tick(minutes=60)
        await run_what_is_due(deaf(app))
    assert await texts(app, chat_context) == {"Lives in Porto."}

    clock.tick(minutes=60)
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    assert {
        each for each in await texts(app, chat_context) if "Porto" in each or "Faro" in each
    } == {"Lives in Faro."}
    assert any("nurse" in each for each in await texts(app, chat_context))


def deaf(app: AppContext) -> AppContext:
    """A house in which nothing is learned from what is said."""
    return replace(app, settings=replace(app.settings, memory=MemorySettings(forms=False)))


async def test_leaving_consolidates_everything_by_rules(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Everything is read at once where rules read."""
    await answer_message(app, chat_context, MessageSubmission(text=HOME))
    await learn_before_exit(app, chat_context.person.id)

    assert await texts(app, chat_context) == {"Lives in Porto."}


async def test_edited_message_is_consolidated_again(
    app: AppContext, chat_context: ChatContext
) -> None:
    """What was edited away is not believed any more."""
    given = await answer_message(app, chat_context, MessageSubmission(text=HOME))
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    await accept_edit(app, chat_context, given.message.id, "I live in Faro.")
    await try_process_due_segments(app, chat_context.person.id)

    assert await texts(app, chat_context) == {"Lives in Faro."}


async def test_shutdown_cuts_finished_spans_only(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The next start reads it."""
    await answer_message(app, chat_context, MessageSubmission(text=HOME))
    await segment_at_shutdown(app.db, app.clock, app.settings)
    async with app.db.begin_read() as tx:
        assert len(await list_uncut_spans(tx, chat_context.person.id)) == 1

    clock.tick(minutes=3)
    await segment_at_shutdown(app.db, app.clock, app.settings)
    async with app.db.begin_read() as tx:
        assert await list_uncut_spans(tx, chat_context.person.id) == []
    await try_process_due_segments(app, chat_context.person.id)
    assert await texts(app, chat_context) == {"Lives in Porto."}


async def test_learn_now_waits_for_a_worker_that_is_consolidating(
    app: AppContext, chat_context: ChatContext
) -> None:
    """And does not read it a second time."""
    await answer_message(app, chat_context, MessageSubmission(text=HOME))
    async with app.db.begin_write() as tx:
        ripeness = SegmentationCriteria(now=app.clock(), force_reason="asked")
        (segment,) = await cut_ready_segments(tx, chat_context.person.id, ripeness)
        await enqueue_consolidations(tx, [segment], now=app.clock())
    held = await claim_partition(app, build_learning_partition(chat_context.person.id))
    assert held is not None
    async with asyncio.TaskGroup() as both:
        waiting = both.create_task(
            process_due_segments(app, chat_context.person.id, wait_s=math.inf)
        )
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await run_jobs(app, held, asyncio.Event())
    assert await texts(app, chat_context) == {"Lives in Porto."}
    async with app.db.begin_read() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
    assert segment.generation == 1


async def test_learn_now_counts_segments_consolidated_by_another_worker(
    app: AppContext, chat_context: ChatContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks is not told that nothing was read, only because somebody else has read it."""
    await answer_message(app, chat_context, MessageSubmission(text=HOME))

    async def schedule_beside_a_worker(
        db: Database,
        clock: Clock,
        settings: Settings,
        person: PersonId,
        *,
        cut_reason: CutReason | None,
        by_model: bool,
    ) -> None:
        await schedule_learning(
            db,
            clock,
            settings,
            person,
            cut_reason=cut_reason,
            by_model=by_model,
        )
        await process_due_segments(app, person)

    monkeypatch.setattr("oldfriend.runtime.learn_now.schedule_learning", schedule_beside_a_worker)
    assert (await learn_now(app, chat_context.person.id, cut_reason="asked")).read == 1
    assert (await learn_now(app, chat_context.person.id, cut_reason="asked")).read == 0


async def test_paused_reextraction_waits_while_new_messages_are_consolidated(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Paused, it waits as long as it takes; new talk is read meanwhile."""
    await answer_message(app, chat_context, MessageSubmission(text=HOME))
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    await schedule_reextraction(
        app.db,
        app.clock,
        app.notifier,
        await plan_reextraction(app.db, app.settings, chat_context.person.id),
    )
    assert await pause_learning(app.db, app.clock, chat_context.person.id) == 1
    clock.tick(minutes=60 * 24 * 400)
    await answer_message(app, chat_context, MessageSubmission(text="I love jazz."))
    done = await learn_now(app, chat_context.person.id, cut_reason="asked")
    assert (done.read, done.waiting) == (1, 1)
    assert "Loves jazz." in await texts(app, chat_context)

    await resume_learning(app.db, app.clock, chat_context.person.id)
    done = await process_due_segments(app, chat_context.person.id)
    assert (done.read, done.waiting) == (1, 0)


async def test_failed_segment_is_reported_by_doctor(
    app: AppContext, chat_context: ChatContext
) -> None:
    """By doctor, until somebody has it tried again."""
    await answer_message(app, chat_context, MessageSubmission(text=HOME))
    async with app.db.begin_write() as tx:
        ripeness = SegmentationCriteria(now=app.clock(), force_reason="asked")
        (segment,) = await cut_ready_segments(tx, chat_context.person.id, ripeness)
        await set_segment_status(tx, segment, "failed", error="BrokenOutput: no", now=app.clock())
    assert any("BrokenOutput" in each.text for each in await run_checks(app) if not each.is_ok)


async def test_month_without_messages_makes_no_model_calls(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Thirty days without a message: no model is called, and nothing runs but what was planned.

    Tidying comes back for what is only kept for some days, such as the traces of replies.
    """
    await answer_message(app, chat_context, MessageSubmission(text=HOME))
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    began, ran = clock(), list[str]()
    for _ in range(30 * 24):
        clock.tick(minutes=60)
        ran += await run_what_is_due(app)

    often = Counter(ran)
    assert often.pop("tidy") <= 3
    assert set(often.values()) <= {1}, "each planned thing ran once"
    assert set(ran) <= {"embed", "tend", "tidy"}
    async with app.db.begin_read() as tx:
        assert (await sum_usage(tx, began)).calls == 0
    assert await jobs(app) == []


async def run_what_is_due(app: AppContext) -> list[str]:
    """Do what a worker would do now; what that was."""
    ran: list[str] = []
    while True:
        async with app.db.begin_write() as tx:
            held = await claim_jobs(tx, "agenda", owner="worker", now=app.clock(), lease_s=30)
        if held is None:
            return ran
        ran += [parse_job_spec(letter).name for letter in held.jobs]
        await run_jobs(app, held, asyncio.Event())

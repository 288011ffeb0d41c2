"""Background work is done where nobody serves: in a person's own process, briefly, and once."""

import asyncio
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings_schema import BudgetSettings, RetentionSettings
from oldfriend.domain.clock import SECOND
from oldfriend.domain.setting_parsers import Microdollars
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.learning_scheduler import (
    ROLLUP_JOB,
    SCHEDULE_JOB,
    build_rollup_partition,
    maintain_memory,
    schedule_learning,
)
from oldfriend.learning.reading_jobs import CONSOLIDATE_JOB
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.message_log import count_messages
from oldfriend.memory.segments import list_waiting_segments
from oldfriend.queues.queue import OVERDUE_S, list_jobs
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import claim_partition
from oldfriend.runtime.maintenance import MaintenanceTask, maintain, maintain_briefly
from tests.clock import FrozenClock
from tests.learning.test_learning_scheduler import (
    MINUTES_OF_A_DAY,
    levels,
    planned,
    promised,
    talk,
    with_model,
    with_summaries,
)

DAYS = MINUTES_OF_A_DAY


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database what test_jobs.py does not ask all."""
    return "sqlite"


async def test_jobs_planned_by_a_consolidation_run_in_the_same_maintenance(
    app: AppContext, chat_context: ChatContext
) -> None:
    """The sixth summary folds the five before it, though no worker runs."""
    for number in range(6):
        await talk(app, chat_context, number)
    await maintain(with_summaries(app), chat_context.person.id)

    assert await levels(app, chat_context) == [1, 2]
    assert await planned(app, ROLLUP_JOB) == []


async def test_overdue_commitment_expires_in_brief_maintenance(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Two days after a promise was due, though nobody serves."""
    await promised(app, chat_context, days=1)
    await maintain_memory(app, chat_context.person.id)
    clock.tick(minutes=4 * DAYS)
    await maintain_briefly(app, chat_context.person.id)

    async with app.db.begin_read() as tx:
        (known,) = await list_memories(tx, chat_context.person.id, kinds=["commitment"], live=False)
    assert known.memory.status == "expired"


async def test_brief_maintenance_runs_only_overdue_jobs(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """One that runs takes it within seconds; what waits longer waits for nobody."""
    await answer_message(app, chat_context, MessageSubmission(text="I live in Porto."))
    clock.tick(minutes=31)
    (due_at,) = await planned(app, SCHEDULE_JOB)
    clock.now = due_at + int(OVERDUE_S * SECOND) - 1
    assert await maintain(app, chat_context.person.id, overdue_s=OVERDUE_S) == 0

    clock.now += 1
    assert await maintain(app, chat_context.person.id, overdue_s=OVERDUE_S) == 2  # cut, and read
    assert await planned(app, CONSOLIDATE_JOB) == []


async def test_brief_maintenance_leaves_overdue_jobs_to_an_active_worker(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Whoever does other jobs of this store comes to these, too."""
    for number in range(6):
        await talk(app, chat_context, number)
    clock.tick(minutes=5)
    worker = replace(app, process_name="worker")
    held = await claim_partition(worker, build_rollup_partition(chat_context.person.id))
    assert held is not None

    assert await maintain(app, chat_context.person.id, overdue_s=OVERDUE_S) == 0
    await maintain(app, chat_context.person.id)  # nor is the same job done twice
    assert await levels(app, chat_context) == [1] * 6


async def test_maintenance_stops_at_its_time_budget_and_resumes_later(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What was not begun is free for others at once, and counts as not tried."""
    for number in range(8):
        await answer_message(
            app,
            chat_context,
            MessageSubmission(text=f"My friend Maria number {number} lives in Porto."),
        )
        clock.tick(minutes=40)
    await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )
    assert await maintain(app, chat_context.person.id, within_s=0) == 0
    await maintain(app, chat_context.person.id, within_s=0.001)

    async with app.db.begin_read() as tx:
        waiting = await list_waiting_segments(tx, chat_context.person.id)
        begun = [each for each in await list_jobs(tx, is_dead_letter=False) if each.attempts]
    assert len(waiting) > 0
    assert begun == []
    assert await maintain(app, chat_context.person.id, within_s=60) >= len(waiting)
    async with app.db.begin_read() as tx:
        assert await list_waiting_segments(tx, chat_context.person.id) == []


@pytest.fixture
def model() -> ScriptedModel:
    """A model that folds, and says what it folds."""
    return ScriptedModel(lambda request: '{"summary": "Maria and soup."}')


async def test_brief_maintenance_makes_no_model_calls(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, model: ScriptedModel
) -> None:
    """A slice after a command leaves to others what a model does; the whole of it does not."""
    for number in range(6):
        await talk(app, chat_context, number)
    clock.tick(minutes=5)
    connected = with_model(app, "small", model)
    await maintain_briefly(connected, chat_context.person.id)
    assert model.requests == []

    await maintain(connected, chat_context.person.id)
    assert {request.purpose for request in model.requests} == {"summary"}


async def test_maintenance_over_budget_makes_no_model_call(
    app: AppContext, chat_context: ChatContext, model: ScriptedModel
) -> None:
    """Folding waits for tomorrow, as reading does."""
    for number in range(6):
        await talk(app, chat_context, number)
    budget = BudgetSettings(background_per_day=Microdollars(0))
    connected = with_model(app, "small", model)
    connected = replace(connected, settings=replace(app.settings, budget=budget))
    await maintain(connected, chat_context.person.id)

    assert model.requests == []
    (due_at,) = await planned(app, ROLLUP_JOB)
    assert due_at > app.clock()


async def test_maintenance_deletes_messages_beyond_the_retention_period(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Though nobody serves."""
    await answer_message(app, chat_context, MessageSubmission(text="I live in Porto."))
    clock.tick(minutes=40 * DAYS)
    retention = RetentionSettings(messages_days=30)
    short = replace(app, settings=replace(app.settings, retention=retention))
    await maintain(short, chat_context.person.id)

    async with app.db.begin_read() as tx:
        assert await count_messages(tx, chat_context.person.id) == 0


async def test_closing_maintenance_does_not_wait_for_a_slow_job(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It is given back as if it had not been begun, and done by whoever comes next."""
    for number in range(6):
        await talk(app, chat_context, number)
    clock.tick(minutes=5)
    slow = with_model(app, "small", ScriptedModel([ScriptedReply(text="{}", delay_s=60)]))
    task = MaintenanceTask(slow, chat_context.person.id, budget_s=0.2)
    task.start()
    async with asyncio.timeout(5):
        await asyncio.sleep(0.1)
        await task.close()

    assert await planned(app, ROLLUP_JOB) != []
    await maintain(with_summaries(app), chat_context.person.id)
    assert await levels(app, chat_context) == [1, 2]


async def test_maintenance_task_runs_one_slice_at_a_time_and_none_without_budget(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """And none without a budget."""
    for number in range(6):
        await talk(app, chat_context, number)
    clock.tick(minutes=5)
    idle = MaintenanceTask(app, chat_context.person.id, budget_s=0)
    idle.start()
    await idle.close()
    assert await levels(app, chat_context) == [1] * 6

    task = MaintenanceTask(with_summaries(app), chat_context.person.id, budget_s=5)
    for _ in range(3):
        task.start()
    await task.close()
    assert await levels(app, chat_context) == [1, 2]

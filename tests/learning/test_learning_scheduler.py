"""What follows a reading: promises run out, summaries are folded, what presses is read."""

import asyncio
import json
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext, RoleModel
from oldfriend.app.spend_limits import load_allowances
from oldfriend.beliefs.queries import list_beliefs
from oldfriend.config.settings_schema import ContextSettings, MemorySettings, ModelRole
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import InvalidInput, ModelError, ModelUnavailable
from oldfriend.domain.ids import MemoryId, ObjectId, new_id
from oldfriend.domain.memories import StoredBelief
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.learning_scheduler import (
    MAINTAIN_JOB,
    ROLLUP_JOB,
    consolidate_segment,
    find_rollup_error,
    maintain_memory,
    schedule_learning,
)
from oldfriend.llm.fallback import CircuitBreaker, FallbackChain
from oldfriend.llm.model import CompletionRequest
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.belief_views import list_memories, list_summaries
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.reflection_log import (
    TRANSCRIPT_TTL,
    ReflectionRecord,
    ReflectionTranscript,
    find_last_reflection,
    save_reflection_record,
)
from oldfriend.memory.segments import (
    find_learning_threshold,
    list_segments,
    save_learning_threshold,
)
from oldfriend.presenters.belief_text import format_belief_lines
from oldfriend.queues.queue import claim_jobs, list_jobs
from oldfriend.queues.scheduled_jobs import parse_job_spec
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.health_checks import run_checks
from oldfriend.runtime.job_handlers import run_jobs
from oldfriend.usage.model_calls import CallContext, record_call
from tests.clock import FrozenClock
from tests.usage.conftest import call_of

MINUTES_OF_A_DAY = 24 * 60


async def work(app: AppContext) -> list[str]:
    """Do what a worker would do now; what that was."""
    ran: list[str] = []
    while True:
        async with app.db.begin_write() as tx:
            held = await claim_jobs(tx, "agenda", owner="worker", now=app.clock(), lease_s=30)
        if held is None:
            return ran
        ran += [parse_job_spec(letter).name for letter in held.jobs]
        with suppress(ModelError):  # it is put off, and told
            await run_jobs(app, held, asyncio.Event())


async def planned(app: AppContext, name: str) -> list[int]:
    """When the jobs of a name are to be done."""
    async with app.db.begin_read() as tx:
        letters = await list_jobs(tx, is_dead_letter=False)
    return [e.due_at for e in letters if e.queue == "agenda" and parse_job_spec(e).name == name]


async def promised(app: AppContext, chat_context: ChatContext, *, days: int) -> None:
    """Have a promise believed that is due in so many days."""
    now = app.clock()
    promise = StoredBelief(
        id=MemoryId(ObjectId(new_id(now))),
        person=chat_context.person.id,
        kind="commitment",
        text="Promised Tom to send the photos.",
        language="en",
        due_at=now + days * DAY,
        learned_at=now,
    )
    async with app.db.begin_write() as tx:
        await record_decision(
            tx, promise, op="learned", base=0, provenance=Provenance(author="rules/1"), now=now
        )


async def lines(app: AppContext, chat_context: ChatContext) -> list[str]:
    """What is open, as it is listed."""
    async with app.db.begin_read() as tx:
        told = await list_beliefs(tx, chat_context.person.id, kinds=["commitment"])
    return format_belief_lines(told, zone=chat_context.person.zone, now=app.clock())


async def test_commitment_becomes_overdue_and_then_expires_by_maintenance_job(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Overdue from its time on, over two days later; then nothing more is planned."""
    await promised(app, chat_context, days=10)
    await maintain_memory(app, chat_context.person.id)
    assert len(await planned(app, MAINTAIN_JOB)) == 1

    clock.tick(minutes=11 * MINUTES_OF_A_DAY)
    assert await work(app) == []
    assert all("overdue since" in each for each in await lines(app, chat_context))
    clock.tick(minutes=MINUTES_OF_A_DAY + 1)
    assert await work(app) == [MAINTAIN_JOB]
    async with app.db.begin_read() as tx:
        (known,) = await list_memories(tx, chat_context.person.id, kinds=["commitment"], live=False)
    assert (known.memory.status, await planned(app, MAINTAIN_JOB)) == ("expired", [])


async def test_consolidation_reschedules_the_maintenance_job_earlier(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """There is one tidying ahead, the sooner one."""
    await promised(app, chat_context, days=100)
    await maintain_memory(app, chat_context.person.id)
    await talk(app, chat_context, 1)

    (due_at,) = await planned(app, MAINTAIN_JOB)
    assert due_at == clock() + DAY


def summarizing(request: CompletionRequest) -> str:
    """What a model writes that sums up what it reads, and finds nothing else in it."""
    if request.purpose == "summary":
        return json.dumps({"text": "Carl and soup.", "topics": []})
    check = {"missed_peak": "none", "attribution": "all the person's own words"}
    return json.dumps({"self_check": check, "summary": "Met Carl at a pier and had soup."})


def with_summaries(app: AppContext) -> AppContext:
    """A house with a model that writes summaries."""
    return with_model(app, "small", ScriptedModel(summarizing))


async def talk(app: AppContext, chat_context: ChatContext, number: int) -> None:
    """Tell of something, and have it read by a model."""
    await answer_message(
        app,
        chat_context,
        MessageSubmission(text=f"Today I met Carl at pier {number} and we had soup."),
    )
    await answer_message(
        app,
        chat_context,
        MessageSubmission(text=f"My friend Maria number {number} came along, too."),
    )
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    ):
        await consolidate_segment(with_summaries(app), chat_context.person.id, segment.id)


async def levels(app: AppContext, chat_context: ChatContext) -> list[int]:
    """The levels of the summaries at hand."""
    async with app.db.begin_read() as tx:
        return sorted(each.level for each in await list_summaries(tx, chat_context.person.id))


async def test_sixth_summary_schedules_a_rollup_of_the_five_before_it(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """By a job of its own, which is planned for nothing else."""
    for number in range(6):
        assert await planned(app, ROLLUP_JOB) == []
        await talk(app, chat_context, number)
        clock.tick(minutes=60)
    assert ROLLUP_JOB in await work(with_summaries(app))

    assert await levels(app, chat_context) == [1, 2]


async def test_rollup_without_a_model_leaves_summaries_unchanged(
    app: AppContext, chat_context: ChatContext
) -> None:
    """What a model wrote before it was taken away stays as it is, and nothing fails."""
    for number in range(6):
        await talk(app, chat_context, number)
    assert ROLLUP_JOB in await work(app)

    assert await levels(app, chat_context) == [1] * 6
    assert await planned(app, ROLLUP_JOB) == []


@pytest.mark.slow
async def test_failed_rollup_is_reported_by_checks_and_retried_after_next_reading(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Also when it failed often; nothing is lost meanwhile."""
    for number in range(6):
        await talk(app, chat_context, number)
    failing = with_model(app, "small", ScriptedModel([ModelUnavailable("no power")] * 20))
    for _ in range(6):
        await work(failing)
        clock.tick(minutes=MINUTES_OF_A_DAY)
    assert await levels(app, chat_context) == [1] * 6
    assert any("no power" in each.text for each in await run_checks(app) if not each.is_ok)

    await talk(app, chat_context, 7)
    assert await planned(app, ROLLUP_JOB) == [clock()]
    await work(with_summaries(app))
    assert 2 in await levels(app, chat_context)
    async with app.db.begin_read() as tx:
        assert await find_rollup_error(tx, chat_context.person.id) is None


@pytest.mark.slow
async def test_segment_is_cut_and_consolidated_when_the_context_overflows(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What a model was not shown for want of room; once, until there is as much again."""
    talking = with_model(app, "main", ScriptedModel(["Tell me more."]))
    settings = replace(app.settings, context=ContextSettings(preset="small"))
    talking = replace(talking, settings=settings)
    for number in range(4):
        await talk(app, chat_context, number)  # from here on ten turns are waited for
    before = len(await cuts(app, chat_context))
    for number in range(9):
        clock.tick(minutes=1)
        await answer_message(
            talking,
            chat_context,
            MessageSubmission(text=f"Well, number {number}: {'it rained. ' * 90}"),
        )
    await work(app)

    pressed = (await cuts(app, chat_context))[before:]
    assert set(pressed) == {"pressure"}
    assert len(pressed) < 3


async def cuts(app: AppContext, chat_context: ChatContext) -> list[str]:
    """Why each stretch of talk so far has ended."""
    async with app.db.begin_read() as tx:
        return [each.cut_by for each in await list_segments(tx, chat_context.person.id)]


async def test_new_person_is_consolidated_after_fewer_turns(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """After three turns, then five, seven and nine, a breath later; from then on after ten."""
    read_after: list[tuple[int, str]] = []
    turns = 0
    while len(read_after) < 6:
        await answer_message(
            app, chat_context, MessageSubmission(text=f"Today I met Carl at pier {turns}.")
        )
        turns += 1
        await work(app)
        is_read = len(await cuts(app, chat_context)) > len(read_after)
        clock.tick(minutes=1)
        await work(app)
        if len(await cuts(app, chat_context)) > len(read_after):
            read_after.append((turns, "at once" if is_read else "later"))
            turns = 0

    early = [(3, "later"), (5, "later"), (7, "later"), (9, "later")]
    assert read_after == [*early, (10, "at once"), (10, "at once")]
    assert set(await cuts(app, chat_context)) == {"turns"}


async def assert_read_after(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, read_after: list[int]
) -> None:
    """Talk goes on for so many turns each time, and is cut with the last of them alone."""
    for turns in read_after:
        for turn in range(turns):
            before = len(await cuts(app, chat_context))
            await answer_message(
                app, chat_context, MessageSubmission(text=f"Today I met Carl at pier {turn}.")
            )
            clock.tick(minutes=1)
            await work(app)
            assert len(await cuts(app, chat_context)) == before + (turn + 1 == turns)


@pytest.mark.parametrize(("chosen", "read_after"), [(1, [1, 1]), (4, [3, 4, 4]), (500, [3, 5])])
async def test_consolidation_waits_at_most_the_configured_number_of_turns(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    chosen: int,
    read_after: list[int],
) -> None:
    """Also while they are hardly known; one turn and five hundred may be chosen (W14)."""
    settings = replace(app.settings, memory=MemorySettings(read_every_turns=chosen))
    choosy = replace(app, settings=settings)
    await assert_read_after(choosy, chat_context, clock, read_after)


@pytest.mark.parametrize(("own", "read_after"), [(2, [2, 2]), (None, [3, 4, 4]), (500, [3, 5])])
async def test_personal_learning_threshold_overrides_the_setting(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    own: int | None,
    read_after: list[int],
) -> None:
    """Whatever the house's setting is; who has chosen nothing is read by that."""
    settings = replace(app.settings, memory=MemorySettings(read_every_turns=4))
    choosy = replace(app, settings=settings)
    async with choosy.db.begin_write() as tx:
        await save_learning_threshold(tx, chat_context.person.id, own)
    await assert_read_after(choosy, chat_context, clock, read_after)


@pytest.mark.parametrize("turns", [0, 501, -1])
async def test_a_threshold_out_of_range_is_refused(
    app: AppContext, chat_context: ChatContext, turns: int
) -> None:
    """One to five hundred (W14); what was chosen before stays."""
    async with app.db.begin_write() as tx:
        await save_learning_threshold(tx, chat_context.person.id, 25)
        with pytest.raises(InvalidInput, match="from 1 to 500"):
            await save_learning_threshold(tx, chat_context.person.id, turns)

    async with app.db.begin_read() as tx:
        assert await find_learning_threshold(tx, chat_context.person.id) == 25


def with_model(app: AppContext, role: ModelRole, model: ScriptedModel) -> AppContext:
    """A house with a model."""

    def chain(record: Callable[..., object]) -> FallbackChain:
        return FallbackChain(
            models=[model],
            record=record,
            circuit_breaker=CircuitBreaker(),
            clock=app.clock,
            random=random.random,
        )

    return replace(app, models={role: RoleModel(name=model.name, build_chain=chain)})


@pytest.mark.parametrize("days", [30, 365])
async def test_messages_dated_by_a_fast_clock_are_consolidated_within_the_hour(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, days: int
) -> None:
    """Nothing waits for the day that the clock has shown; nor does what is said afterwards."""
    clock.tick(minutes=days * MINUTES_OF_A_DAY)
    await answer_message(app, chat_context, MessageSubmission(text="I have a boat called Dora."))
    clock.tick(minutes=-days * MINUTES_OF_A_DAY)
    await work(app)
    await answer_message(app, chat_context, MessageSubmission(text="My cat is called Miso."))
    for _ in range(2):
        clock.tick(minutes=31)
        await work(app)
    async with app.db.begin_read() as tx:
        read = [each.status for each in await list_segments(tx, chat_context.person.id)]
        letters = [e for e in await list_jobs(tx, is_dead_letter=False) if e.queue == "agenda"]

    assert read
    assert set(read) <= {"done", "trivial"}
    assert [e.due_at for e in letters if e.due_at > clock() + 2 * DAY] == []


async def test_reflection_record_dated_in_the_future_is_reset_to_now(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What it is said to have done in the future was done by now, and fades in its time."""
    ahead = clock() + 30 * DAY
    tick = ReflectionRecord(
        id=new_id(ahead),
        person=chat_context.person.id,
        kind="reflection",
        why="timer",
        ran_at=ahead,
        transcript=ReflectionTranscript(shown=("x",), answered=("y",)),
    )
    async with app.db.begin_write() as tx:
        await save_reflection_record(tx, tick)
    await maintain_memory(app, chat_context.person.id)
    async with app.db.begin_read() as tx:
        last = await find_last_reflection(tx, chat_context.person.id, "reflection")
    (due_at,) = await planned(app, MAINTAIN_JOB)

    assert last is not None
    assert last.ran_at == clock()
    assert due_at == clock() + TRANSCRIPT_TTL


async def test_cost_recorded_on_a_future_day_does_not_use_todays_allowance(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Else nothing could be spent until that day has come."""
    ahead = clock() + 30 * DAY
    call = call_of(cost=5_000_000)
    async with app.db.begin_write() as tx:
        await record_call(
            tx,
            CallContext(person=chat_context.person.id),
            call,
            step=0,
            request_hash="hash",
            now=ahead,
        )
        _, today = await load_allowances(tx, app.settings, now=clock())
        _, then = await load_allowances(tx, app.settings, now=ahead)

    assert (today.spent.cost, then.spent.cost) == (0, 5_000_000)

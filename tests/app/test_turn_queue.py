"""What is said goes through the inbox: in order, once, and not against the person's will."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

import pytest

from oldfriend.app import concurrency, leases
from oldfriend.app.app_context import AppContext, CrashPoint
from oldfriend.app.call_spool import CallSpool
from oldfriend.app.leases import HeldLease
from oldfriend.app.notifications import Notifier
from oldfriend.channels.channel import SENDING_UNKNOWN, SentLookup
from oldfriend.config.settings_schema import LimitSettings
from oldfriend.db.database import Transaction
from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import system_clock
from oldfriend.domain.errors import (
    DeliveryFailed,
    LeaseLost,
    StoreBusy,
    TurnFailed,
    TurnStopped,
    Undeliverable,
)
from oldfriend.domain.ids import new_id
from oldfriend.domain.job_types import Job, Lease
from oldfriend.inbound.accept import (
    AcceptedMessage,
    ChatContext,
    MessageSubmission,
    accept_edit,
    accept_message,
    open_local_chat,
    stop_turn,
)
from oldfriend.llm.model import CompletionRequest, PromptTurn, ToolCall
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.message_log import list_recent_messages
from oldfriend.queues.queue import MAX_ATTEMPTS, claim_jobs, drop_job, list_jobs, retry_dead_letter
from oldfriend.replies.outbox_worker import deliver
from oldfriend.replies.reply_worker import answer_message, wait_for_reply
from oldfriend.runtime import worker
from oldfriend.runtime.worker import (
    LAG_PROBE_S,
    MAX_YIELD_S,
    answer_chat,
    claim_batch,
    run_worker,
    wait_for_idle_loop,
)
from oldfriend_evals.model_roles import with_models
from tests.clock import FrozenClock
from tests.engines import both_engines
from tests.fakes.platform import Mute

engine = both_engines

LOOK_EVERY_S = 0.05


@dataclass
class Platform(Mute):
    """A channel in memory."""

    debounce_s: float = 0.0
    sent: list[str] = field(default_factory=list)
    trouble: list[Exception] = field(default_factory=list)  # instead of taking the next ones
    lookup: SentLookup = SENDING_UNKNOWN  # what it says of what was sent
    lookup_trouble: list[Exception] = field(default_factory=list)  # instead of saying so
    asked: list[str] = field(default_factory=list)  # by which key
    asked_since: list[int] = field(default_factory=list)  # when
    templates: list[str] = field(default_factory=list)  # to which address

    def split(self, text: str, *, is_markdown: bool = False) -> Sequence[str]:
        """A line is a part."""
        return text.splitlines()

    async def send(
        self,
        address: str,
        text: str,
        *,
        send_key: str,
        preview_send_key: str | None = None,
        is_markdown: bool = False,
        buttons: Sequence[Button] = (),
    ) -> str:
        """Take it, or not."""
        if self.trouble:
            raise self.trouble.pop(0)
        self.sent.append(text)
        return send_key

    async def was_sent(self, address: str, send_key: str, *, since: int = 0) -> SentLookup:
        """Say what it knows."""
        self.asked.append(send_key)
        self.asked_since.append(since)
        if self.lookup_trouble:
            raise self.lookup_trouble.pop(0)
        return self.lookup

    async def ask_to_write(self, address: str, *, send_key: str) -> bool:
        """Ask them to write."""
        self.templates.append(address)
        return True


def with_model(app: AppContext, model: ScriptedModel) -> AppContext:
    """The house with a model to think with, which knows its channels as platforms."""
    return replace(with_models(app, {"main": model}), platforms=frozenset(app.channels))


def echo(request: CompletionRequest) -> ScriptedReply:
    """Say what was said."""
    last = request.turns[-1]
    assert isinstance(last, PromptTurn)
    return ScriptedReply(text=f"re: {last.text}")


def slowly(request: CompletionRequest) -> ScriptedReply:
    """The same, after a while."""
    return replace(echo(request), delay_s=0.3)


async def said(
    app: AppContext, chat_context: ChatContext, text: str, **more: object
) -> AcceptedMessage:
    """Have something said that waits for a worker."""
    accepted = await accept_message(
        app, chat_context, MessageSubmission(text=text, **more), claim_now=False
    )
    assert accepted is not None
    return accepted


async def log_of(app: AppContext, chat_context: ChatContext) -> list[tuple[str, str]]:
    """What stands in a chat."""
    async with app.db.begin_read() as tx:
        messages = await list_recent_messages(
            tx, chat_context.person.id, chat_context.chat.id, limit=50
        )
    return [(message.role, message.text) for message in messages]


async def jobs_in(app: AppContext, *, failed: bool = False) -> list[Job]:
    """What waits, or is set aside."""
    async with app.db.begin_read() as tx:
        return [
            each for each in await list_jobs(tx, is_dead_letter=failed) if each.queue != "agenda"
        ]


async def work_until(app: AppContext, is_so: Callable[[], bool], *, within_s: float = 10.0) -> None:
    """Let a worker work until something is so."""
    stopping, step = asyncio.Event(), asyncio.Event()
    watched = replace(app, on_crash_point=lambda _: step.set())
    async with asyncio.timeout(within_s), asyncio.TaskGroup() as tasks:
        tasks.create_task(run_worker(watched, stopping=stopping))
        while not is_so():  # not all of it comes with a step, such as what a platform refuses
            step.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):
                    await step.wait()
        stopping.set()


@pytest.fixture
async def chat_context(app: AppContext) -> ChatContext:
    """The owner, on a platform."""
    return await open_local_chat(app.db, app.clock, app.settings, person=None, channel="platform")


async def test_redelivered_message_is_answered_once(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Platforms redeliver what they are not sure of."""
    platform = Platform()
    app = with_model(replace(app, channels={"platform": platform}), ScriptedModel(echo))
    await said(app, chat_context, "hello there", external_id="m1")
    assert (
        await accept_message(
            app,
            chat_context,
            MessageSubmission(text="hello there", external_id="m1"),
            claim_now=False,
        )
        is None
    )
    await work_until(app, lambda: bool(platform.sent))
    assert (
        await accept_message(
            app,
            chat_context,
            MessageSubmission(text="hello there", external_id="m1"),
            claim_now=False,
        )
        is None
    )

    assert platform.sent == ["re: hello there"]
    assert await jobs_in(app) == []


async def test_message_burst_is_answered_in_one_turn(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Whoever writes in short lines is not answered line by line."""
    platform = Platform(debounce_s=2.0)
    model = ScriptedModel(echo)
    app = with_model(replace(app, channels={"platform": platform}), model)
    for number, text in enumerate(("so", "guess what", "we got the flat")):
        clock.tick(seconds=1)
        await said(app, chat_context, text, external_id=f"m{number}", number=number)
    clock.tick(seconds=3)
    await work_until(app, lambda: len(platform.sent) == 3)

    assert platform.sent == ["re: so", "guess what", "we got the flat"]
    assert len(model.requests) == 1


async def test_edit_before_the_reply_is_shown_restarts_the_turn(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Nothing was shown yet: only the corrected words are answered."""
    app = with_model(app, ScriptedModel(slowly))
    accepted = await said(app, chat_context, "I live in Ghent")
    async with asyncio.TaskGroup() as tasks:
        answering = tasks.create_task(wait_for_reply(app, accepted, on_text=None))
        await asyncio.sleep(0.1)
        await accept_edit(app, chat_context, accepted.message.id, "I live in Bruges")

    assert answering.result().reply.text == "re: I live in Bruges"
    assert await jobs_in(app) == []


async def test_edit_after_streaming_began_waits_behind_the_turn(
    app: AppContext, chat_context: ChatContext
) -> None:
    """What somebody has read is not said once more in other words."""
    heard: list[str] = []

    async def say(piece: str) -> None:
        heard.append(piece)
        if len(heard) == 1:
            await accept_edit(app, chat_context, accepted.message.id, "I live in Bruges")

    app = with_model(app, ScriptedModel(echo))
    accepted = await said(app, chat_context, "I live in Ghent")
    given = await wait_for_reply(app, accepted, on_text=say)

    assert "".join(heard) == given.reply.text == "re: I live in Ghent"
    assert ("person", "I live in Bruges") in await log_of(app, chat_context)
    assert await jobs_in(app) == []


@pytest.mark.parametrize("look_every_s", [0.2, 60])
async def test_stop_ends_a_turn_at_once(
    app: AppContext, chat_context: ChatContext, monkeypatch: pytest.MonkeyPatch, look_every_s: float
) -> None:
    """Nothing is answered, and the log says why; it need not be looked for where it is said."""
    monkeypatch.setattr(leases, "POLL_INTERVAL_S", look_every_s)
    limits = replace(app.settings.limits, heartbeat_s=30, lease_s=120)
    app = replace(app, settings=replace(app.settings, limits=limits))
    app = with_model(app, ScriptedModel(lambda request: replace(echo(request), delay_s=60)))
    accepted = await said(app, chat_context, "tell me everything")

    async def wait_in_vain() -> None:
        with pytest.raises(TurnStopped):
            await wait_for_reply(app, accepted, on_text=None)

    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        tasks.create_task(wait_in_vain())
        await asyncio.sleep(0.1)
        stopper = app if look_every_s > 1 else replace(app, notifier=Notifier(app.db))
        await stop_turn(stopper, chat_context, accepted.message.id)

    assert [role for role, _ in await log_of(app, chat_context)] == ["person", "marker"]


async def test_rate_limited_messages_are_answered_later_in_order(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Fifteen a minute are answered at once; the rest when there is room, in order."""
    platform = Platform()
    limits = replace(app.settings.limits, messages_per_minute=15)
    app = with_model(
        replace(
            app, channels={"platform": platform}, settings=replace(app.settings, limits=limits)
        ),
        ScriptedModel(echo),
    )
    for number in range(20):
        await said(app, chat_context, f"line {number}")
    await work_until(app, lambda: len(platform.sent) == 15)
    assert len(await jobs_in(app)) == 5
    clock.tick(seconds=8)
    await work_until(app, lambda: len(platform.sent) == 17)
    clock.tick(seconds=60)
    await work_until(app, lambda: len(platform.sent) == 20)

    assert platform.sent == [f"re: line {number}" for number in range(20)]


async def test_turn_timeout_replies_that_the_model_is_too_slow(
    app: AppContext, chat_context: ChatContext
) -> None:
    """The person hears the truth, and the next turn does not catch up."""
    limits = LimitSettings(messages_per_minute=0, turn_timeout_s=0.2)
    app = with_model(
        replace(app, settings=replace(app.settings, limits=limits)),
        ScriptedModel(lambda request: replace(echo(request), delay_s=60)),
    )
    given = await answer_message(app, chat_context, MessageSubmission(text="tell me a story"))

    assert "takes too long" in given.reply.text
    assert given.receipt.details["trouble"] == {"kind": "slow", "error": ""}
    assert ("marker", "slow") in await log_of(app, chat_context)


@pytest.mark.slow
async def test_repeatedly_failing_turn_becomes_a_retryable_dead_letter(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It is set aside, those behind it are answered, and nothing is lost."""
    platform = Platform()
    broken = True

    def break_or_echo(request: CompletionRequest) -> ScriptedReply:
        if broken and "bad" in request.turns[-1].text:
            raise RuntimeError("a bug")
        return echo(request)

    app = with_model(replace(app, channels={"platform": platform}), ScriptedModel(break_or_echo))
    await said(app, chat_context, "a bad thing")
    await said(app, chat_context, "a good thing")
    for _ in range(MAX_ATTEMPTS):
        count = len(platform.sent)
        stopping = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(run_worker(app, stopping=stopping))
            await asyncio.sleep(0.15)
            stopping.set()
        clock.tick(seconds=400)
    await work_until(app, lambda: len(platform.sent) == 2)
    assert count == 0
    assert "went wrong" in platform.sent[0]
    assert platform.sent[1] == "re: a good thing"
    (failed,) = await jobs_in(app, failed=True)
    assert "a bug" in str(failed.error)

    broken = False
    async with app.db.begin_write() as tx:
        await retry_dead_letter(tx, failed.queue, failed.partition, failed.seq, now=app.clock())
    await work_until(app, lambda: len(platform.sent) == 3)
    assert platform.sent[2] == "re: a bad thing"
    assert await jobs_in(app, failed=True) == []


@pytest.mark.slow
async def test_failed_delivery_is_retried_in_order(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """And what it will never take holds back the rest of its own reply only."""
    platform = Platform(trouble=[DeliveryFailed("busy", retry_after_s=5), Undeliverable("too odd")])
    app = with_model(
        replace(app, channels={"platform": platform}),
        ScriptedModel(["one\ntwo", "three"]),
    )
    await said(app, chat_context, "first")
    await said(app, chat_context, "second")
    await work_until(app, lambda: len(platform.trouble) == 1)
    assert platform.sent == []
    clock.tick(seconds=60)
    await work_until(app, lambda: bool(platform.sent))

    assert platform.sent == ["three"]
    assert [job.payload["text"] for job in await jobs_in(app, failed=True)] == [
        "one",
        "two",
    ]


async def test_worker_with_an_expired_outbox_lease_sends_nothing(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Somebody else has taken over by then, and the person would read it twice."""
    platform = Platform()
    app = with_model(replace(app, channels={"platform": platform}), ScriptedModel(["one"]))
    await answer_message(replace(app, channels={}), chat_context, MessageSubmission(text="first"))
    late, after = [await outbox_of(app, name, lease_s=0.01) for name in ("late", "after")]

    await deliver(app, late, asyncio.Event())
    assert platform.sent == []
    await deliver(app, after, asyncio.Event())
    assert platform.sent == ["one"]


async def test_worker_that_lost_its_lease_returns_the_other_workers_reply(
    app: AppContext, chat_context: ChatContext
) -> None:
    """A process that had no time for its lease decided the same turn; it writes nothing."""
    limits = replace(app.settings.limits, lease_s=0.05, heartbeat_s=10.0)
    busy = replace(app, settings=replace(app.settings, limits=limits))
    late = with_model(busy, ScriptedModel([ScriptedReply(text="Too late.", delay_s=0.6)]))
    elsewhere = replace(app, spool=CallSpool())  # in this process it would wait for the first
    quick = with_model(elsewhere, ScriptedModel(["It was me."]))
    accepted = await accept_message(
        late, chat_context, MessageSubmission(text="hello there"), claim_now=True
    )
    assert accepted is not None
    async with asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(wait_for_reply(late, accepted, on_text=None))
        await asyncio.sleep(0.2)
        await wait_for_reply(quick, replace(accepted, lease=None), on_text=None)

    assert (await asked).reply.text == "It was me."
    assert await log_of(app, chat_context) == [
        ("person", "hello there"),
        ("companion", "It was me."),
    ]


async def outbox_of(app: AppContext, name: str, *, lease_s: float) -> Lease:
    """Hold the outbox for so long, as one of several."""
    async with app.db.begin_write() as tx:
        held = await claim_jobs(tx, "outbox", owner=name, now=app.clock(), lease_s=lease_s)
    assert held is not None
    await asyncio.sleep(2 * lease_s)
    return held


async def test_turn_rerun_after_a_crash_repeats_no_model_call_or_tool_call(
    app: AppContext, chat_context: ChatContext
) -> None:
    """The ledger knows what was given and done before the crash."""

    def look_at_the_clock(request: CompletionRequest) -> ScriptedReply:
        if len(request.turns) > 1:
            return ScriptedReply(text="It is late.")
        wanted = ToolCall(id="t1", name="current_time", arguments={"zone": "Asia/Tokyo"})
        return ScriptedReply(calls=(wanted,))

    model = ScriptedModel(look_at_the_clock)
    steps: list[str] = []

    class PowerCut(BaseException):
        """The end of a process, as far as this one can have it."""

    def cut(step: str) -> None:
        steps.append(step)
        if step == "decided" and steps.count("decided") == 1:
            raise PowerCut

    app = replace(with_model(app, model), on_crash_point=cut)
    accepted = await said(app, chat_context, "what time is it in Tokyo?")
    with pytest.raises(PowerCut):
        await wait_for_reply(app, accepted, on_text=None)
    await asyncio.sleep(0)
    async with app.db.begin_write() as tx:  # its lease is over
        await tx.run("UPDATE job_partition SET lease_until = 1 WHERE lease_until IS NOT NULL")
    given = await wait_for_reply(app, accepted, on_text=None)

    assert given.reply.text == "It is late."
    assert len(model.requests) == 2
    assert steps.count("called") == 2
    assert steps.count("tool finished") == 1


async def test_message_edited_twice_is_answered_once(
    app: AppContext, chat_context: ChatContext
) -> None:
    """The last words count, however often they were changed before the answer."""
    app = with_model(app, ScriptedModel(slowly))
    accepted = await said(app, chat_context, "I live in Ghent")
    await accept_edit(app, chat_context, accepted.message.id, "I live in Bruges")
    async with asyncio.TaskGroup() as tasks:
        answering = tasks.create_task(wait_for_reply(app, accepted, on_text=None))
        await asyncio.sleep(0.1)
        await accept_edit(app, chat_context, accepted.message.id, "I live in Ostend")

    assert answering.result().reply.text == "re: I live in Ostend"
    assert await jobs_in(app) == []


@pytest.mark.slow
async def test_stopping_worker_finishes_one_turn_and_leaves_the_other_jobs(
    app: AppContext, chat_context: ChatContext
) -> None:
    """However much waits there."""
    platform, begun = Platform(), asyncio.Event()

    def ask(request: CompletionRequest) -> ScriptedReply:
        begun.set()
        return slowly(request)

    model = ScriptedModel(ask)
    app = with_model(replace(app, channels={"platform": platform}), model)
    for number in range(5):
        await said(app, chat_context, f"line {number}")
    stopping = asyncio.Event()
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        tasks.create_task(run_worker(app, stopping=stopping))
        await begun.wait()
        stopping.set()
    assert len(model.requests) == 1
    await work_until(app, lambda: len(platform.sent) == 5)

    assert platform.sent == [f"re: line {number}" for number in range(5)]


async def test_cancelled_turn_releases_its_lease_and_counts_no_attempt(
    app: AppContext, chat_context: ChatContext
) -> None:
    """The next one need not wait for the lease to end, and no attempt is counted."""
    slow = with_model(app, ScriptedModel(lambda request: replace(echo(request), delay_s=60)))
    accepted = await said(slow, chat_context, "first")
    for _ in range(MAX_ATTEMPTS + 1):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await wait_for_reply(slow, accepted, on_text=None)
    quick = with_model(app, ScriptedModel(echo))
    async with asyncio.timeout(5):
        given = await wait_for_reply(quick, accepted, on_text=None)

    assert given.reply.text == "re: first"


async def test_replies_are_delivered_after_a_long_platform_outage(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """An outage is weather: nothing is set aside for it."""
    platform = Platform(trouble=[DeliveryFailed("away") for _ in range(12)])
    app = with_model(replace(app, channels={"platform": platform}), ScriptedModel(echo))
    await said(app, chat_context, "hello there")
    for left in reversed(range(12)):
        await work_until(app, lambda left=left: len(platform.trouble) == left)
        clock.tick(minutes=20)
    await work_until(app, lambda: bool(platform.sent))

    assert platform.sent == ["re: hello there"]
    assert await jobs_in(app, failed=True) == []


@pytest.mark.slow
async def test_worker_waits_while_the_database_is_unavailable(
    app: AppContext, chat_context: ChatContext
) -> None:
    """It is no crash of the worker."""
    platform = Platform()
    app = with_model(replace(app, channels={"platform": platform}), ScriptedModel(echo))
    await said(app, chat_context, "hello there")

    @dataclass
    class Moody:
        """A database that fails for a while."""

        failures: int = 4

        def __getattr__(self, name: str) -> object:
            if name == "begin_write" and self.failures:
                self.failures -= 1
                raise StoreBusy("Another program is writing.")
            return getattr(app.db, name)

    await work_until(replace(app, db=Moody()), lambda: bool(platform.sent), within_s=30)

    assert platform.sent == ["re: hello there"]


async def test_lease_is_lost_when_its_extension_fails_to_commit(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Whoever works on finds that out, and does not take it for extended."""

    class Full:
        """A database that takes nothing any more, as it says at each commit."""

        def __getattr__(self, name: str) -> object:
            return getattr(app.db, name)

        @asynccontextmanager
        async def begin_write(self) -> AsyncIterator[Transaction]:
            async with app.db.begin_write() as tx:
                yield tx
                raise StoreBusy("The disk is full.")

    limits = LimitSettings(messages_per_minute=0, lease_s=0.4, heartbeat_s=0.1)
    app = replace(app, settings=replace(app.settings, limits=limits))
    await said(app, chat_context, "one")
    [held] = await claim_batch(app, "inbox", 1)
    with pytest.raises(LeaseLost):
        await HeldLease(replace(app, db=Full()), held).run(asyncio.sleep(5))


async def test_waiting_for_a_dropped_job_fails(app: AppContext, chat_context: ChatContext) -> None:
    """Whoever waits hears that there will be no answer."""
    accepted = await said(app, chat_context, "never mind")
    (job,) = await jobs_in(app)
    async with app.db.begin_write() as tx:
        await drop_job(tx, job.queue, job.partition, job.seq, now=app.clock())
    with pytest.raises(TurnFailed, match="set aside"):
        async with asyncio.timeout(5):
            await wait_for_reply(app, accepted, on_text=None)


@pytest.mark.slow
async def test_lease_is_extended_through_many_short_turns(
    app: AppContext, chat_context: ChatContext
) -> None:
    """The partition stays with whoever works on it, also when there is never a pause."""
    platform = Platform()
    limits = LimitSettings(messages_per_minute=0, lease_s=1.0, heartbeat_s=0.1)
    model = ScriptedModel(echo)
    app = replace(
        app, channels={"platform": platform}, settings=replace(app.settings, limits=limits)
    )
    app = with_model(app, model)
    for number in range(60):
        await said(app, chat_context, f"line {number}")
    await work_until(app, lambda: len(platform.sent) == 60, within_s=30)

    assert len(model.requests) == 60
    assert platform.sent == [f"re: line {number}" for number in range(60)]


@pytest.mark.slow
async def test_turn_with_an_expired_lease_makes_no_model_call(
    app: AppContext, chat_context: ChatContext
) -> None:
    """The time between the claim and the work counts, too: another may be at it by now."""
    limits = LimitSettings(messages_per_minute=0, lease_s=1.0, heartbeat_s=0.9)
    model = ScriptedModel(echo)
    app = with_model(replace(app, settings=replace(app.settings, limits=limits)), model)
    await said(app, chat_context, "one")
    [late] = await claim_batch(app, "inbox", 1)
    time.sleep(limits.lease_s)  # noqa: ASYNC251 - what keeps the whole process from its work
    await answer_chat(app, late, asyncio.Event())
    assert model.requests == []

    [again] = await claim_batch(app, "inbox", 1)
    await answer_chat(app, again, asyncio.Event())
    assert await log_of(app, chat_context) == [("person", "one"), ("companion", "re: one")]
    assert len(model.requests) == 1


async def test_reply_made_by_one_process_is_delivered_by_another(
    app: AppContext, chat_context: ChatContext
) -> None:
    """The process that answers need not reach the platform; the one that does cuts the reply."""
    platform = Platform()
    elsewhere = replace(with_model(app, ScriptedModel(["one\ntwo"])), platforms={"platform"})
    await answer_message(elsewhere, chat_context, MessageSubmission(text="hello there"))
    (job,) = await jobs_in(app)
    assert (job.queue, job.payload["text"]) == ("outbox", "one\ntwo")
    await work_until(
        replace(elsewhere, channels={"platform": platform}), lambda: len(platform.sent) == 2
    )

    assert platform.sent == ["one", "two"]
    assert await jobs_in(app) == []


async def test_worker_without_the_platform_leaves_outbox_jobs_alone(
    app: AppContext, chat_context: ChatContext
) -> None:
    """It would only put them off for those who could send them."""
    app = replace(with_model(app, ScriptedModel(echo)), platforms={"platform"})
    await answer_message(app, chat_context, MessageSubmission(text="hello there"))
    stopping = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(run_worker(app, stopping=stopping))
        await asyncio.sleep(0.2)
        stopping.set()

    (job,) = await jobs_in(app)
    assert (job.attempts, job.error) == (0, None)


async def test_reply_on_a_channel_without_platform_creates_no_outbox_job(app: AppContext) -> None:
    """Whoever talks there reads the reply from the log, also on a name of their own."""
    diary = await open_local_chat(app.db, app.clock, app.settings, person=None, channel="diary")
    await answer_message(app, diary, MessageSubmission(text="hello there"))

    assert await jobs_in(app) == []


async def test_prompt_quotes_the_message_that_is_replied_to(
    app: AppContext, chat_context: ChatContext
) -> None:
    """In nobody's role; what is forgotten by now is not told of."""
    model = ScriptedModel(echo)
    app = with_model(app, model)
    first = await answer_message(
        app, chat_context, MessageSubmission(text="The lighthouse is red.")
    )
    picked = MessageSubmission(text="Why that one?", details={"replies_to": first.message.id})
    await answer_message(app, chat_context, picked)
    await answer_message(app, chat_context, replace(picked, details={"replies_to": "gone"}))
    told = [asked.call_instructions for asked in model.requests]

    assert "; the last message replies to this]" in told[-2]
    assert "The lighthouse is red." in told[-2]
    assert "replies to this" not in told[-1]


@pytest.mark.slow
@pytest.mark.parametrize("crashes", [0, 2])
async def test_jobs_present_in_worker_crashes_are_run_in_isolation(
    app: AppContext, chat_context: ChatContext, crashes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So only what takes its worker down by itself is given up for that in the end."""
    monkeypatch.setattr(concurrency, "SETTLE_S", 0.0)
    monkeypatch.setattr(concurrency, "COOLDOWN_S", 0.0)
    begun: list[CrashPoint] = []
    most: list[int] = []
    more = asyncio.Event()

    def reached(step: CrashPoint) -> None:
        if step == "thinking":
            begun.append(step)
            most.append(len(begun))
        elif step == "decided":
            begun.pop()
            more.set()

    app = with_model(app, ScriptedModel([ScriptedReply(text="I see.", delay_s=0.2)]))
    lines = [
        await open_local_chat(app.db, app.clock, app.settings, person=f"p{each}", channel="place")
        for each in range(4)
    ]
    for each in lines:
        await said(app, each, "hello there")
    for _ in range(crashes):
        for each in lines:
            await dies_at_it(app, each)
    stopping = asyncio.Event()
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(run_worker(replace(app, on_crash_point=reached), stopping=stopping))
        while len(most) < len(lines) or begun:
            await more.wait()
            more.clear()
        stopping.set()

    assert (max(most) == 1) == bool(crashes)


@pytest.mark.slow
async def test_hanging_chat_does_not_block_others_during_isolation(
    app: AppContext, chat_context: ChatContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where something is to be done alone beside it, nor where that is what hangs."""
    monkeypatch.setattr(concurrency, "SETTLE_S", 0.0)
    monkeypatch.setattr(concurrency, "DRAIN_TIMEOUT_S", 0.2)
    monkeypatch.setattr(leases, "MAX_EXCLUSIVE_S", 0.4)
    monkeypatch.setattr(worker, "MAX_EXCLUSIVE_S", 0.4)

    def reply(request: CompletionRequest) -> ScriptedReply:
        reply = echo(request)
        return replace(reply, delay_s=5.0 if "hang" in reply.text else 0.0)

    committed = asyncio.Event()

    def reached(step: CrashPoint) -> None:
        if step == "committed":
            committed.set()

    app = replace(with_model(app, ScriptedModel(reply)), on_crash_point=reached)
    lines = [
        await open_local_chat(app.db, app.clock, app.settings, person=f"p{each}", channel="place")
        for each in range(3)
    ]
    hanging, suspect, other = lines
    await said(app, suspect, "please hang, too")
    for _ in range(2):
        await dies_at_it(app, suspect)
    await said(app, hanging, "please hang")
    began, stopping = time.monotonic(), asyncio.Event()
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(run_worker(app, stopping=stopping))
        await asyncio.sleep(0.1)
        await said(app, other, "hello there")
        await committed.wait()
        took_s = time.monotonic() - began
        stopping.set()

    assert took_s < 3.0
    assert await log_of(app, other) == [
        ("person", "hello there"),
        ("companion", "re: hello there"),
    ]


@pytest.mark.slow
async def test_isolated_jobs_let_other_jobs_run_in_between(
    app: AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each there is room for whoever has come meanwhile."""
    monkeypatch.setattr(concurrency, "SETTLE_S", 0.0)
    monkeypatch.setattr(concurrency, "COOLDOWN_S", 0.5)
    app = replace(
        with_model(app, ScriptedModel([ScriptedReply(text="I see.", delay_s=0.3)])),
        clock=system_clock,
    )
    suspects = [
        await open_local_chat(app.db, app.clock, app.settings, person=f"p{each}", channel="place")
        for each in range(6)
    ]
    innocent = await open_local_chat(app.db, app.clock, app.settings, person="Ben", channel="place")
    for each in suspects:
        await said(app, each, "hello there")
        for _ in range(2):
            await dies_at_it(app, each)
    stopping = asyncio.Event()
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(run_worker(app, stopping=stopping))
        await until_answered(app, suspects, 1)
        await said(app, innocent, "hello there")
        await until_answered(app, [innocent], 1)
        before = await count_answered(app, suspects)
        await until_answered(app, suspects, len(suspects))
        stopping.set()

    assert before <= 2


async def until_answered(app: AppContext, lines: list[ChatContext], count: int) -> None:
    """Wait until somebody was answered in so many chats."""
    while await count_answered(app, lines) < count:  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(0.02)


async def count_answered(app: AppContext, lines: list[ChatContext]) -> int:
    """In how many chats somebody was answered."""
    return [len(await log_of(app, each)) for each in lines].count(2)


@pytest.mark.slow
async def test_suspect_job_waits_until_its_worker_has_settled(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is killed again and again soon after the start gives nobody up for that."""
    monkeypatch.setattr(concurrency, "SETTLE_S", 1.0)
    committed: asyncio.Queue[CrashPoint] = asyncio.Queue()

    def reached(step: CrashPoint) -> None:
        if step == "committed":
            committed.put_nowait(step)

    await said(app, chat_context, "first")
    for _ in range(3):
        await dies_at_it(app, chat_context)
    other = await open_local_chat(app.db, app.clock, app.settings, person="Ben", channel="place")
    await said(app, other, "second")
    app = replace(with_model(app, ScriptedModel(echo)), on_crash_point=reached)
    stopping = asyncio.Event()
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(run_worker(app, stopping=stopping))
        await committed.get()
        (waits,) = await jobs_in(app)
        await asyncio.sleep(1.1)
        clock.tick(seconds=2)
        app.notifier.notify()
        await committed.get()
        stopping.set()

    assert (waits.partition, waits.crashes, waits.isolated_crashes) == (chat_context.chat.id, 3, 0)
    assert await log_of(app, chat_context) == [("person", "first"), ("companion", "re: first")]


async def dies_at_it(app: AppContext, chat_context: ChatContext) -> None:
    """Have what waits in a chat begun by somebody who is never heard of again."""
    async with app.db.begin_write() as tx:
        held = await claim_jobs(
            tx,
            "inbox",
            owner=new_id(app.clock()),
            now=app.clock(),
            lease_s=0.01,
            partition=chat_context.chat.id,
        )
    assert held is not None
    await asyncio.sleep(0.05)


async def test_partitions_are_claimed_in_batch_with_suspect_ones_separate(app: AppContext) -> None:
    """Many claims cost one commit; what may take its worker down is then done when all else is."""
    lines = [
        await open_local_chat(
            app.db, app.clock, app.settings, person=f"p{each}", channel="terminal"
        )
        for each in range(4)
    ]
    for line in lines:
        await accept_message(app, line, MessageSubmission(text="Hello!"), claim_now=False)
    for _ in range(2):  # whoever began the second one died
        await dies_at_it(app, lines[1])

    first = await claim_batch(app, "inbox", 16)
    rest = await claim_batch(app, "inbox", 16)
    assert [each.partition for each in first] == [lines[1].chat.id]
    assert {each.partition for each in rest} == {line.chat.id for line in (lines[0], *lines[2:])}
    assert await claim_batch(app, "inbox", 16) == []


async def test_claim_batch_takes_no_more_partitions_than_asked_for(app: AppContext) -> None:
    """What is left is for other workers."""
    for each in range(3):
        chat_context = await open_local_chat(
            app.db, app.clock, app.settings, person=f"p{each}", channel="terminal"
        )
        await accept_message(app, chat_context, MessageSubmission(text="Hello!"), claim_now=False)

    assert len(await claim_batch(app, "inbox", 2)) == 2
    assert len(await claim_batch(app, "inbox", 2)) == 1


@pytest.mark.slow
async def test_background_work_yields_to_a_busy_loop_up_to_a_limit() -> None:
    """It is patient for so long, and no longer."""
    stopping = asyncio.Event()

    async def keep_busy() -> None:
        while not stopping.is_set():
            time.sleep(LAG_PROBE_S * 2)  # noqa: ASYNC251 - as a turn that computes
            await asyncio.sleep(0)

    now = asyncio.get_running_loop().time
    began = now()
    await wait_for_idle_loop(asyncio.Event())
    calm_s = now() - began
    async with asyncio.TaskGroup() as others:
        others.create_task(keep_busy())
        began = now()
        await wait_for_idle_loop(asyncio.Event())
        busy_s = now() - began
        stopping.set()

    assert calm_s < MAX_YIELD_S <= busy_s

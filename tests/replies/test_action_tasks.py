"""Something is done at its time, and told: once, by rules or by a model (ACCEPTANCE L6)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from oldfriend.app import recorded_models
from oldfriend.app.app_context import AppContext, CrashPoint
from oldfriend.app.audit_trail import AuditFilter, list_audit_trail
from oldfriend.domain.clock import MINUTE
from oldfriend.domain.errors import ModelUnavailable
from oldfriend.domain.messages import Message
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.llm.scripted import ScriptedAnswer, ScriptedModel
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import set_zone
from oldfriend.memory.receipts import find_receipt
from oldfriend.replies.reply_worker import answer_message
from oldfriend.tasks.task import STATUSES, Task
from oldfriend.tasks.task_store import list_tasks
from oldfriend.turn.tools.tool_registry import TOOLS
from oldfriend.usage.tool_log import list_tool_uses
from tests.clock import FrozenClock
from tests.engines import both_engines
from tests.learning.test_learning_scheduler import with_model
from tests.proactive.lived_time import at, live_until, run_due, tell
from tests.turn.conftest import wants
from tests.turn.test_confirmation import Posted, post_tool

engine = both_engines


class Killed(Exception):
    """The process died."""


NOON = at("2026-11-24T12:00")
ASKED = "Tomorrow at 9am, tell me what's on this week."
MOMENT_S = 0.2
DOWN = [ModelUnavailable("It is down.") for _ in range(20)]


async def list_told(app: AppContext, chat_context: ChatContext) -> list[Message]:
    """What came of actions, as it was told."""
    async with app.db.begin_read() as tx:
        messages = await list_messages(tx, chat_context.person.id, limit=1_000)
    told = (each for each in messages if (each.external_id or "").startswith("unprompted/task/"))
    return [each for each in told if not each.text.startswith("Reminder")]


async def tasks(app: AppContext, chat_context: ChatContext) -> list[Task]:
    """Everything on the list."""
    async with app.db.begin_read() as tx:
        return await list_tasks(tx, chat_context.person.id, statuses=STATUSES)


async def test_action_is_done_by_rules_and_told_once(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """From the store, with what was asked and a receipt that says why."""
    await tell(app, clock, chat_context, NOON, "Remind me to call Eva on Friday at 3pm")
    await tell(app, clock, chat_context, NOON + MINUTE, ASKED)
    await live_until(app, clock, at("2026-11-26T12:00"))

    (said,) = await list_told(app, chat_context)
    assert said.at == at("2026-11-25T09:00")
    assert said.text.startswith("You asked me for this: “tell me what's on this week”")
    assert "call Eva" in said.text
    assert [each.status for each in await tasks(app, chat_context) if each.kind == "action"] == [
        "delivered"
    ]
    async with app.db.begin_read() as tx:
        receipt = await find_receipt(tx, chat_context.person.id, said.id)
        logged = await list_tool_uses(tx, chat_context.person.id, limit=5)
    assert receipt is not None
    assert len(receipt.items) == 2
    assert "list_tasks" in [each.name for each in logged]


async def test_list_marks_what_is_done_and_not_only_told(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A reminder beside it is not marked (ACCEPTANCE W5)."""
    await tell(app, clock, chat_context, NOON, "Remind me to call Eva on Friday at 3pm")
    await tell(app, clock, chat_context, NOON + MINUTE, ASKED)
    listed = (await tell(app, clock, chat_context, NOON + 2 * MINUTE, "/tasks")).reply.text
    marked = [each for each in listed.splitlines() if "[I do it]" in each]

    assert len(marked) == 1
    assert "call Eva" not in marked[0]


async def test_late_action_waits_for_the_end_of_quiet_hours_and_says_so(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """As after a day on which nothing ran."""
    await tell(app, clock, chat_context, NOON, ASKED)
    clock.now = at("2026-11-25T23:30")
    await live_until(app, clock, at("2026-11-26T12:00"))

    (said,) = await list_told(app, chat_context)
    assert said.at == at("2026-11-26T08:00")
    assert "(This was due on Wed 25 November, 09:00; sorry that I'm late.)" in said.text


async def test_quiet_hours_are_those_of_where_the_person_is(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A single time stays the moment that it was; the night moves with the person."""
    await tell(app, clock, chat_context, NOON, ASKED)
    async with app.db.begin_write() as tx:
        await set_zone(tx, chat_context.person.id, "America/New_York", is_said=True)
    clock.now = at("2026-11-25T23:30")  # half past six in the evening there
    await live_until(app, clock, at("2026-11-26T12:00"))

    (said,) = await list_told(app, chat_context)
    assert said.at == at("2026-11-25T23:30")
    assert "(This was due on Wed 25 November, 04:00; sorry that I'm late.)" in said.text


async def test_action_of_a_quiet_hour_is_done_then(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The person has named that time."""
    await tell(app, clock, chat_context, NOON, "Tomorrow at 6am, tell me what's on this week.")
    await live_until(app, clock, at("2026-11-26T12:00"))

    (said,) = await list_told(app, chat_context)
    assert said.at == at("2026-11-25T06:00")
    assert "late" not in said.text


async def test_series_of_an_action_goes_on(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Each time anew."""
    await tell(app, clock, chat_context, NOON, "Every day at 9am tell me what's on today")
    await live_until(app, clock, at("2026-11-27T12:00"))

    assert [each.at for each in await list_told(app, chat_context)] == [
        at(f"2026-11-{day}T09:00") for day in (25, 26, 27)
    ]


async def ask_model(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    *answers: ScriptedAnswer,
    until: str = "2026-11-25T12:00",
) -> ScriptedModel:
    """Have an action asked for offline, and done by a model."""
    await tell(app, clock, chat_context, NOON, ASKED)
    model = ScriptedModel(answers)
    await live_until(with_model(app, "main", model), clock, at(until))
    return model


async def test_model_does_it_with_its_tools(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It reads what was asked as the person's words."""
    model = await ask_model(
        app,
        chat_context,
        clock,
        wants("more_tools", kind="tasks"),
        wants("list_tasks", 1),
        "A quiet week.",
    )

    (said,) = await list_told(app, chat_context)
    assert said.text.endswith("A quiet week.")
    assert any("what's on this week" in str(each.turns[-1]) for each in model.requests)


async def test_model_that_fails_is_asked_again_and_then_it_is_said(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Three times, two minutes apart."""
    await ask_model(app, chat_context, clock, *DOWN)

    (said,) = await list_told(app, chat_context)
    assert said.at == at("2026-11-25T09:06")
    async with app.db.begin_read() as tx:
        failed, _ = await list_audit_trail(
            tx, chat_context.person.id, limit=9, wanted=AuditFilter(kind="tool", status="error")
        )
    assert [(each.what, each.ending) for each in failed] == [("action", "failed")]
    assert "I could not do what you asked me for" in said.text


async def test_model_that_recovers_tells_it_late(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """At the next try."""
    await ask_model(app, chat_context, clock, *DOWN[:2], "A quiet week.")

    (said,) = await list_told(app, chat_context)
    assert said.at == at("2026-11-25T09:02")


async def test_action_changes_nothing_beside(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A model that wants to set something at that time is offered no tool for it."""
    model = await ask_model(
        app,
        chat_context,
        clock,
        wants("more_tools", kind="tasks"),
        wants("set_reminder", 1, text="what's on this week", words=ASKED),
        "Done.",
    )

    assert [each.kind for each in await tasks(app, chat_context)] == ["action"]
    offered = {tool.name for request in model.requests for tool in request.tools}
    assert "list_tasks" in offered
    assert not {"set_reminder", "note", "set_goal"} & offered


POINTS: Sequence[str] = ("decided", "committing", "committed")


@pytest.mark.parametrize("point", POINTS)
async def test_killed_action_is_told_once(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, point: str
) -> None:
    """Wherever the process dies."""
    await tell(app, clock, chat_context, NOON, ASKED)

    def die(now: CrashPoint) -> None:
        if now == point:
            raise Killed

    with pytest.raises(Killed):
        mortal = replace(app, on_crash_point=die)
        await live_until(mortal, clock, at("2026-11-25T12:00"), lease_s=MOMENT_S)
    await asyncio.sleep(2 * MOMENT_S)  # by then another process takes it over
    while await run_due(app):
        pass
    await live_until(app, clock, at("2026-11-26T12:00"))

    assert len(await list_told(app, chat_context)) == 1


async def test_action_that_acts_outside_asks_first(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At its time the question comes, and the call is made at the person's yes."""
    posted: Posted = []
    tools = (*TOOLS, post_tool(posted))
    monkeypatch.setattr(recorded_models, "TOOLS", tools)
    await tell(app, clock, chat_context, NOON, ASKED)
    model = ScriptedModel([wants("post", to="Eva"), "May I?", "Sent."])
    app = with_model(app, "main", model)
    await live_until(app, clock, at("2026-11-25T09:05"))

    (said,) = await list_told(app, chat_context)
    assert "May I do this?" in said.text
    assert posted == []
    clock.tick(minutes=1)
    await answer_message(app, chat_context, MessageSubmission(text="yes"))
    assert posted == [{"to": "Eva"}]

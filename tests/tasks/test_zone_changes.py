"""What was told by the clock follows the person to other clocks; a moment stays one."""

from dataclasses import replace

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import parse_timestamp
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.memory.people import set_zone
from oldfriend.persona.profile_names import update_person
from oldfriend.replies.reply_worker import answer_message
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_store import list_tasks, save_task
from tests.chat_fixtures import Say
from tests.clock import FrozenClock

HERE, THERE = "Europe/Lisbon", "America/New_York"


def at(text: str, zone: str) -> int:
    """A moment by the clocks of a zone."""
    return parse_timestamp(text, zone)[0]


async def test_series_and_days_go_by_the_new_clocks(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """Pills at eight stay pills at eight; a call at an hour stays the moment that it is."""
    clock.now = at("2026-11-25T09:00", HERE)
    told = {
        "pills": {"rrule": "FREQ=DAILY", "starts_at": at("2026-11-20T08:00", HERE)},
        "rent": {"is_date_only": True},
        "call": {},
        "blink": {"rrule": "FREQ=HOURLY", "starts_at": at("2026-11-26T08:00", HERE)},
    }
    async with app.db.begin_write() as tx:
        await set_zone(tx, line.person.id, HERE)
        for text, more in told.items():
            task = Task(
                id=f"{text:0<32}",
                person=line.person.id,
                text=text,
                language="en",
                kind="reminder",
                zone=HERE,
                due_at=at("2026-11-26T08:00", HERE),
                created_at=clock(),
                changed_at=clock(),
                **more,
            )
            await save_task(tx, task)
    await update_person(app, line.person.id, zone=THERE)

    async with app.db.begin_read() as tx:
        due = {each.text: each.due_at for each in await list_tasks(tx, line.person.id)}
    assert due == {
        "pills": at("2026-11-26T08:00", THERE),
        "rent": at("2026-11-26T08:00", THERE),
        "call": at("2026-11-26T08:00", HERE),
        "blink": at("2026-11-26T08:00", HERE),
    }


async def test_first_zone_moves_what_was_told_by_the_clock_and_no_length_of_time(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """Nobody knew by which clocks ten was told; 40 minutes are as long everywhere."""
    clock.now = at("2026-11-25T09:00", "UTC")
    async with app.db.begin_write() as tx:
        await set_zone(tx, line.person.id, "UTC")
    app = replace(app, settings=replace(app.settings, zone="UTC"))
    for text in (
        "Remind me tomorrow at 10am to call mum",
        "Remind me in 40 minutes to stretch",
        "/zone New York",
    ):
        here = await open_local_chat(
            app.db, app.clock, app.settings, person=None, channel="terminal"
        )
        told = await answer_message(app, here, MessageSubmission(text=text))

    async with app.db.begin_read() as tx:
        due = {each.text: each.due_at for each in await list_tasks(tx, line.person.id)}
    assert due == {
        "call mum": at("2026-11-26T10:00", THERE),
        "stretch": at("2026-11-25T09:40", "UTC"),
    }
    assert "Your reminders go by these clocks, too." in told.reply.text


async def test_zone_that_was_known_leaves_single_times(
    app: AppContext, line: ChatContext, clock: FrozenClock, say: Say
) -> None:
    """The person has travelled."""
    clock.now = at("2026-11-25T09:00", HERE)
    await say("Remind me tomorrow at 10am to call mum")
    await say("/zone New York")

    async with app.db.begin_read() as tx:
        (task,) = await list_tasks(tx, line.person.id)
    assert task.due_at == at("2026-11-26T10:00", HERE)

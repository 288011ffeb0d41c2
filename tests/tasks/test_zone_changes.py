"""What was told by the clock follows the person to other clocks; a moment stays one."""

from dataclasses import replace

import pytest

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
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
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
        await set_zone(tx, chat_context.person.id, HERE)
        for text, more in told.items():
            task = Task(
                id=f"{text:0<32}",
                person=chat_context.person.id,
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
    await update_person(app, chat_context.person.id, zone=THERE)

    async with app.db.begin_read() as tx:
        due = {each.text: each.due_at for each in await list_tasks(tx, chat_context.person.id)}
    assert due == {
        "pills": at("2026-11-26T08:00", THERE),
        "rent": at("2026-11-26T08:00", THERE),
        "call": at("2026-11-26T08:00", HERE),
        "blink": at("2026-11-26T08:00", HERE),
    }


async def test_first_zone_moves_what_was_told_by_the_clock_and_no_length_of_time(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Nobody knew by which clocks ten was told; 40 minutes are as long everywhere."""
    clock.now = at("2026-11-25T09:00", "UTC")
    async with app.db.begin_write() as tx:
        await set_zone(tx, chat_context.person.id, "UTC")
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
        due = {each.text: each.due_at for each in await list_tasks(tx, chat_context.person.id)}
    assert due == {
        "call mum": at("2026-11-26T10:00", THERE),
        "stretch": at("2026-11-25T09:40", "UTC"),
    }
    assert "Your reminders go by these clocks, too." in told.reply.text


@pytest.mark.parametrize(
    ("asked", "then", "due"),
    [
        ("Remind me at 11am to stretch", "snooze it for 3 hours", ("2026-11-25T14:00", THERE)),
        ("Remind me in 4 hours to stretch", "make it tomorrow at 9", ("2026-11-26T09:00", THERE)),
        ("Remind me tomorrow at 9am to stretch", "make it 10", ("2026-11-26T10:00", THERE)),
    ],
)
async def test_first_zone_goes_by_the_words_of_the_last_time(
    app: AppContext, clock: FrozenClock, asked: str, then: str, due: tuple[str, str]
) -> None:
    """What was put off or moved has the time that was told then."""
    clock.now = at("2026-11-25T09:00", "UTC")
    app = replace(app, settings=replace(app.settings, zone="UTC"))
    here = await open_local_chat(app.db, app.clock, app.settings, person=None, channel="terminal")
    async with app.db.begin_write() as tx:
        await set_zone(tx, here.person.id, "UTC")
    for text in (asked, then, "/zone New York"):
        here = await open_local_chat(
            app.db, app.clock, app.settings, person=None, channel="terminal"
        )
        await answer_message(app, here, MessageSubmission(text=text))

    async with app.db.begin_read() as tx:
        (task,) = await list_tasks(tx, here.person.id)
    assert task.due_at == at(*due)


async def test_first_zone_of_the_settings_moves_what_was_told_by_the_clock(
    app: AppContext, clock: FrozenClock
) -> None:
    """Whoever talks at the machine lives by the clocks that its owner names."""
    clock.now = at("2026-11-25T09:00", "UTC")
    for zone, text in (("UTC", "Remind me tomorrow at 10am to call mum"), (THERE, "Hello")):
        app = replace(app, settings=replace(app.settings, zone=zone))
        here = await open_local_chat(
            app.db, app.clock, app.settings, person=None, channel="terminal"
        )
        if zone == "UTC":
            async with app.db.begin_write() as tx:
                await set_zone(tx, here.person.id, zone)
            here = replace(here, person=replace(here.person, zone=zone))
        await answer_message(app, here, MessageSubmission(text=text))

    async with app.db.begin_read() as tx:
        (task,) = await list_tasks(tx, here.person.id)
    assert task.due_at == at("2026-11-26T10:00", THERE)


async def test_first_zone_tells_of_no_reminder_that_stays(
    app: AppContext, clock: FrozenClock
) -> None:
    """At ten by the new clocks it would have come hours ago."""
    clock.now = at("2026-11-25T09:00", "UTC")
    app = replace(app, settings=replace(app.settings, zone="UTC"))
    here = await open_local_chat(app.db, app.clock, app.settings, person=None, channel="terminal")
    async with app.db.begin_write() as tx:
        await set_zone(tx, here.person.id, "UTC")
    for text in ("Remind me today at 10am to call mum", "/zone Tokyo"):
        here = await open_local_chat(
            app.db, app.clock, app.settings, person=None, channel="terminal"
        )
        told = await answer_message(app, here, MessageSubmission(text=text))

    async with app.db.begin_read() as tx:
        (task,) = await list_tasks(tx, here.person.id)
    assert task.due_at == at("2026-11-25T10:00", "UTC")
    assert "reminders" not in told.reply.text


async def test_zone_that_was_known_leaves_single_times(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, say: Say
) -> None:
    """The person has travelled."""
    clock.now = at("2026-11-25T09:00", HERE)
    await say("Remind me tomorrow at 10am to call mum")
    await say("/zone New York")

    async with app.db.begin_read() as tx:
        (task,) = await list_tasks(tx, chat_context.person.id)
    assert task.due_at == at("2026-11-26T10:00", HERE)
